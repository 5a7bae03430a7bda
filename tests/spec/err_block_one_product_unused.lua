-- expect: 6:16: error: gemm "x": input 's_gate' is never used
gemm "x" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr" },
  b        = { "gate", "up" },
  d        = { s = per_block("b", f32, 1, 128), r = per_block("a", f32, 1, 128) },
  block    = function(acc, d, product) return product == "up" and acc * d.s or acc * d.r end,
  epilogue = function(acc) return acc.gate + acc.up end,
}
