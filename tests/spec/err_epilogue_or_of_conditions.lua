-- expect: 5:53: error: gemm "x": 'or' branches on a traced value ('acc'): write or_(x, y) for conditions, select(lt(x, y), a, b) for values
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return select(lt(acc, 0) or gt(acc, 1), 0, acc) end,
}
