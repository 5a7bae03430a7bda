local function small(t) return t.m * t.n <= 64 * 128 end
gemm "swept" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return acc end,
  tiles    = { gfx942 = { simt { m = { 32, 64, 128 }, n = { 64, 128.0 }, k = 16, tm = 4, tn = 4 } },
               sm_90a = simt { m = 64, n = 64, k = 16, tm = 4, tn = 4 },
               where  = small },
}
