-- expect: 2:1: error: gemm "x": missing field 'types': a list of rows { a =, b =, e = [, acc =] }
gemm "x" {
  layouts  = { "rcr" },
  epilogue = function(acc) return acc end,
}
