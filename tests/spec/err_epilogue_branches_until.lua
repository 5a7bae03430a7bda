-- expect: 6:26: error: gemm "x": 'until' branches on a traced value ('acc'): write select(lt(x, y), a, b)
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc)
    repeat acc = acc * 2 until gt(acc, 1)
    return acc
  end,
}
