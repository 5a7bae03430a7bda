-- expect: 5:35: error: gemm "x": 'not' branches on a traced value ('acc'): write not_(x) for conditions, select(lt(x, y), a, b) for values
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return not acc end,
}
