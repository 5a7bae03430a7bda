-- expect: 6:5: error: gemm "x": the expression is too large: more than 4096 operations
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc)
    for i = 1, 10000 do acc = acc * 1.5 + i end
    return acc
  end,
}
