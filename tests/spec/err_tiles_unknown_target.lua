-- expect: 6:16: error: gemm "x": tiles: unknown target 'gfx943' (did you mean 'gfx942'?)
-- expect: 6:46: error: gemm "x": tiles: unknown target 'mars'
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  tiles    = { gfx943 = { simt { m = 64 } }, mars = { simt { m = 64 } } },
  epilogue = function(acc) return acc end,
}
