-- expect: 5:27: error: gemm "x": tiles.gfx942: expected a list of sweeps, schedule { tunable = values }, found the key 'm'
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  tiles    = { gfx942 = { m = 64 } },
  epilogue = function(acc) return acc end,
}
