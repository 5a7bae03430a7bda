-- expect: 5:35: error: gemm "x": select needs a condition (lt, le, gt, ge, eq, ne, and_, or_, not_) first, got a traced value
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return select(acc, 1, acc) end,
}
