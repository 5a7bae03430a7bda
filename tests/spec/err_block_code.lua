-- expect: 7:28: error: gemm "x": code: undeclared input 'd_s'
gemm "x" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr" },
  d        = { s = per_block("b", f32, 1, 128) },
  block    = function(acc, d) return acc * d.s end,
  epilogue = code [[ acc + d_s ]],
  ref      = function(acc) return acc end,
}
