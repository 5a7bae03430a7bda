-- expect: 2:1: error: gemm takes the name alone and then the table, without brackets and comma: gemm "name" { ... }
gemm("x", {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return acc end,
})
