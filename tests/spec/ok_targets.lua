gemm "some_targets" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return acc end,
  targets  = { "host", "gfx942" },
}
