-- expect: 5:53: error: gemm "x": operator '&' on a condition is not part of the language: conditions take and_(x, y)
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return select(lt(acc, 0) & gt(acc, -1), 0, acc) end,
}
