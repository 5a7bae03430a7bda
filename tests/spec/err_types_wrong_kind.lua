-- expect: 4:14: error: gemm "x": types: expected a list of rows { a =, b =, e = [, acc =] }, got the text 'f16'
gemm "x" {
  layouts  = { "rcr" },
  types    = "f16",
  epilogue = function(acc) return acc end,
}
