-- expect: 8:26: error: gemm "x": targets: unknown target 'gfx90' (did you mean 'gfx90a'?)
-- expect: 8:35: error: gemm "x": targets: unknown target 'tpu'
-- expect: 8:42: error: gemm "x": targets: expected a name, got the number 3
-- expect: 8:45: error: gemm "x": targets: 'gfx942' is there twice
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  targets  = { "gfx942", "gfx90", "tpu", 3, "gfx942" },
  epilogue = function(acc) return acc end,
}
