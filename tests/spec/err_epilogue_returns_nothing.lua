-- expect: 5:14: error: gemm "x": epilogue returns nothing: write 'return ...'
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc)
    local y = relu(acc)
  end,
}
