-- expect: 6:5: error: gemm "x": the expression is too large: more than 4096 operations
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc)
    while true do acc = acc + 1 - acc end
  end,
}
