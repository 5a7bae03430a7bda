-- expect: 5:24: error: gemm "x": tiles.where: expected a function, got true
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  tiles    = { where = true },
  epilogue = function(acc) return acc end,
}
