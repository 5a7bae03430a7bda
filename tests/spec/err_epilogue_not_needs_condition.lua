-- expect: 5:42: error: gemm "x": not_: operand 1 must be a condition (lt, le, gt, ge, eq, ne, and_, or_, not_), got a number
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return select(not_(0), 0, acc) end,
}
