-- Experts in fp8 with a scale for each row and 128 columns of activations and for each 128 x 128 of weights.
local scales = { a_scale = per_block("a", f32, 1, 128), b_scale = per_block("b", f32, 128, 128) }
local function scaled(acc, d) return acc * d.a_scale * d.b_scale end

-- E = A·B in blocks of 128 along K, rows of E with the B of their group
gemm "moe_blockscale" {
  types    = { { a = f8e4m3,     b = f8e4m3,     e = bf16 },
               { a = f8e4m3fnuz, b = f8e4m3fnuz, e = bf16 } },
  layouts  = { "rcr" },
  groups   = true,
  d        = scales,
  block    = scaled,
  epilogue = function(acc) return acc end,
}

-- E = silu(A[index]·gate) * (A[index]·up): rows of A and their scales are those of tokens
gemm "moe_gate_up_blockscale" {
  types    = { { a = f8e4m3,     b = f8e4m3,     e = bf16 },
               { a = f8e4m3fnuz, b = f8e4m3fnuz, e = bf16 } },
  layouts  = { "rcr" },
  groups   = true, gather = true,
  b        = { "gate", "up" },
  d        = scales,
  block    = scaled,
  epilogue = function(acc) return silu(acc.gate) * acc.up end,
}
