-- expect: 5:14: error: gemm "x": ref goes with epilogue = code [[...]]; an epilogue that is a function is its own reference
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  ref      = function(acc) return acc end,
  epilogue = function(acc) return acc end,
}
