-- Tiles whose steps along K several blocks share: some of them (stream), or all.

gemm "matrix_stream" {
  types = { { a = f16, b = f16, e = f16 }, { a = i8, b = i8, e = i32 } },
  layouts = { "rcr", "crc" },
  d = { bias = per_col(f32) },
  epilogue = function(acc, d) return acc + d.bias end,
  targets = { "gfx942", "gfx90a" },
  tiles = { gfx942 = { mfma { m = 64, n = 64, split_k = { 4, 16 }, stream = 1 } },
            gfx90a = { mfma { m = 64, n = 64, split_k = 4, stream = 1 } } },
}
gemm "matrix_stream_two" {
  types = { { a = bf16, b = bf16, e = bf16 } },
  layouts = { "rcr" },
  b = { "gate", "up" },
  epilogue = function(acc) return silu(acc.gate) * acc.up end,
  targets = { "gfx942" },
  tiles = { gfx942 = { mfma { m = 64, n = 64, split_k = 8, stream = { 0, 1 } } } },
}
