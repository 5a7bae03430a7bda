-- E = silu(gate) * up, of sums over blocks of 128 along K as in moe_blockscale
-- The first half of a mixture of experts in fp8: rows of A, and their scales, are those of the tokens that index names.
gemm "moe_gate_up_blockscale" {
  types    = { { a = f8e4m3,     b = f8e4m3,     e = bf16 },
               { a = f8e4m3fnuz, b = f8e4m3fnuz, e = bf16 } },
  layouts  = { "rcr" },
  groups   = true, gather = true,
  b        = { "gate", "up" },
  d        = { a_scale = per_block("a", f32, 1, 128), b_scale = per_block("b", f32, 128, 128) },
  block    = function(acc, d) return acc * d.a_scale * d.b_scale end,
  epilogue = function(acc) return silu(acc.gate) * acc.up end,
}
