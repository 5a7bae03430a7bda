-- expect: 5:14: error: gemm "x": tiles: no target and no where: leave the field out for the schedules' own sets
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  tiles    = {},
  epilogue = function(acc) return acc end,
}
