-- expect: 5:42: error: gemm "x": and_: operand 2 must be a condition (lt, le, gt, ge, eq, ne, and_, or_, not_), got a traced value
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return select(and_(lt(acc, 1), acc), 0, acc) end,
}
