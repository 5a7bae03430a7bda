-- expect: 5:34: error: gemm "x": schedule 'simt' has no tunable 'mm'
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  tiles    = { gfx942 = { simt { mm = 64 } } },
  epilogue = function(acc) return acc end,
}
