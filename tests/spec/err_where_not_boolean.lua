-- expect: 6:25: error: gemm "x": where: expected true or false, got the number 32
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  tiles    = { gfx942 = { simt { m = { 32, 64 }, n = 64, k = 16, tm = 4, tn = 4 } },
               where  = function(t) return t.m end },
  epilogue = function(acc) return acc end,
}
