-- E = y / scale, y = silu(A·gate) * (A·up), in fp8, and beside it scale: one for each row and 128 columns.
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
