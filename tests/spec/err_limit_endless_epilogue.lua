-- expect: 7:5: error: gemm "x": runs too long: stopped after 20 million instructions or 1 second
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc)
    local n = 0
    while true do n = n + 1 end
    return acc
  end,
}
