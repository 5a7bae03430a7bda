-- expect: 7:46: error: gemm "x": block: input 's' is per_block "gate", and this call is for 'up': the last argument says which
gemm "x" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr" },
  b        = { "gate", "up" },
  d        = { s = per_block("gate", f32, 1, 128) },
  block    = function(acc, d) return acc * d.s end,
  epilogue = function(acc) return acc.gate + acc.up end,
}
