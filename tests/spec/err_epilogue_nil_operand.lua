-- expect: 7:12: error: gemm "x": leaky_relu: operand 2 is nil
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc)
    local slope
    return leaky_relu(acc, slope)
  end,
}
