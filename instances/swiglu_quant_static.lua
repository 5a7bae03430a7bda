-- E = silu(A·gate) * (A·up) / scale[m], in fp8, with scales that are known beforehand.
gemm "swiglu_quant_static" {
  types    = { { a = bf16, b = bf16, e = f8e4m3 } },
  layouts  = { "rcr" },
  b        = { "gate", "up" },
  d        = { scale = per_row(f32) },
  epilogue = function(acc, d) return silu(acc.gate) * acc.up / d.scale end,
}
