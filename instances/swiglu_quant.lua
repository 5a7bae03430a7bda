-- y = silu(A·gate) * (A·up), leaving in fp8: swiglu_quant with a scale for each row and 128 columns, which it writes
-- beside E; swiglu_quant_static with a scale for each row that is known beforehand.
gemm "swiglu_quant" {
  types    = { { a = bf16, b = bf16, e = f8e4m3 } },
  layouts  = { "rcr" },
  b        = { "gate", "up" },
  outputs  = { scale = per_block("e", f32, 1, 128) },
  epilogue = function(acc)
    local y = silu(acc.gate) * acc.up
    local scale = max(block_max(abs(y), 128), 1e-10) / 448
    return { e = y / scale, scale = scale }
  end,
}

gemm "swiglu_quant_static" {
  types    = { { a = bf16, b = bf16, e = f8e4m3 } },
  layouts  = { "rcr" },
  b        = { "gate", "up" },
  d        = { scale = per_row(f32) },
  epilogue = function(acc, d) return silu(acc.gate) * acc.up / d.scale end,
}
