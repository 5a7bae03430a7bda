-- expect: 6:22: error: gemm "x": compares a traced value with '==' ('acc'): write select(eq(x, y), a, b)
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc)
    local zero = acc == 0
    return acc
  end,
}
