-- expect: 6:23: error: gemm "x": compares a traced value with '~=' ('acc'): write select(ne(x, y), a, b)
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc)
    local other = acc ~= 0
    return acc
  end,
}
