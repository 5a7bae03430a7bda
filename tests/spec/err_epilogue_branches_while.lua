-- expect: 6:5: error: gemm "x": 'while' branches on a traced value ('acc'): write select(lt(x, y), a, b)
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc)
    while acc do acc = acc - 1 end
    return acc
  end,
}
