-- expect: 7:16: error: gemm "x": d.a2345678901234567890123456789012345678901234567890123456789012: one for each product: input 'a234567890123456789012345678901234567890...' (67 bytes): a name has at most 63 characters
-- expect: 7:16: error: gemm "x": d.a2345678901234567890123456789012345678901234567890123456789012: one for each product: input 'a234567890123456789012345678901234567890...' (65 bytes): a name has at most 63 characters
gemm "x" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr" },
  b        = { "gate", "up" },
  d        = { a2345678901234567890123456789012345678901234567890123456789012 = per_block("b", f32, 1, 128) },
  block    = function(acc, d) return acc * d.a2345678901234567890123456789012345678901234567890123456789012 end,
  epilogue = function(acc) return acc.gate + acc.up end,
}
