-- expect: 7:16: error: gemm "x": d.scale: gather = true gathers rows of A alone, not the blocks that go with them: gather both before the product, or scale rows by per_row
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  groups   = true,
  gather   = true,
  d        = { scale = per_block("a", f32, 1, 64) },
  block    = function(acc, d) return acc * d.scale end,
  epilogue = function(acc) return acc end,
}
