-- expect: 7:16: error: gemm "x": arithmetic on nil
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc)
    local slope
    return acc * slope
  end,
}
