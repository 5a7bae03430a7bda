-- expect: 6:5: error: gemm "x": epilogue returns 2 values, one is needed
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc)
    return acc, acc
  end,
}
