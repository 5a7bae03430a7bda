-- expect: 5:14: error: gemm "x": targets: expected a list of target names, got the text 'host'
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  targets  = "host",
  epilogue = function(acc) return acc end,
}
