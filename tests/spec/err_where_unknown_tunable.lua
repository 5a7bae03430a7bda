-- expect: 6:46: error: gemm "x": where: simt has no tunable 'tmm' (did you mean 'tm'?)
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  tiles    = { gfx942 = { simt { m = { 32, 64 }, n = 64, k = 16, tm = 4, tn = 4 } },
               where  = function(t) return t.tmm > 1 end },
  epilogue = function(acc) return acc end,
}
