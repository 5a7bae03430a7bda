-- expect: 5:35: error: gemm "x": relu: operand 1 is a condition, which only select, and_, or_ and not_ take
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return relu(gt(acc, 0)) end,
}
