-- expect: 5:39: error: gemm "x": constant 1e+39 does not fit f32
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return acc * 1e39 end,
}
