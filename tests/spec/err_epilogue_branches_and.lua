-- expect: 5:46: error: gemm "x": 'and' branches on a traced value ('acc'): write and_(x, y) for conditions, select(lt(x, y), a, b) for values
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return lt(acc, 0) and 0 or acc end,
}
