-- expect: 5:14: error: gemm "x": b: expected two names, for two products; leave it out for one
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  b        = { "gate" },
  epilogue = function(acc) return acc end,
}
