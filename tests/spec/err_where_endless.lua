-- expect: 6:16: error: gemm "x": runs too long: stopped after 20 million instructions or 1 second
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  tiles    = { gfx942 = { simt { m = { 32, 64 }, n = 64, k = 16, tm = 4, tn = 4 } },
               where  = function(t) while true do end end },
  epilogue = function(acc) return acc end,
}
