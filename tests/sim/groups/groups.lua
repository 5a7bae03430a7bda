-- SPDX-License-Identifier: MIT
-- Rows of groups, for tests/sim/groups.sh: what no shipped op asks of them.
local few = { m = 16, n = 64, k = 32, tm = 2, tn = 4, split_k = 4 }
gemm "groups_gated" {
  types    = { { a = bf16, b = bf16, e = f8e4m3 } },
  layouts  = { "rcr", "ccr" },
  groups   = true, gather = true,
  b        = { "gate", "up" },
  outputs  = { scale = per_block("e", f32, 1, 64), pre = full(bf16, "c") },
  epilogue = function(acc)
    local y = silu(acc.gate) * acc.up
    local scale = max(block_max(abs(y), 64), 1e-10) / 448
    return { e = y / scale, scale = scale, pre = y }
  end,
}
gemm "groups_scaled" {
  types    = { { a = f8e4m3, b = f8e4m3, e = bf16 } },
  layouts  = { "rcr", "rrc" },
  groups   = true,
  d        = { a_scale = per_block("a", f32, 1, 128), b_scale = per_block("b", f32, 128, 128), row = per_row(f32) },
  block    = function(acc, d) return acc * d.a_scale * d.b_scale end,
  epilogue = function(acc, d) return acc * d.row end,
  tiles    = { gfx942 = { simt(few), simt {} } },
}
gemm "groups_packed" {
  types    = { { a = f16, b = u4, e = f16 } },
  layouts  = { "rcr", "ccc" },
  groups   = true, gather = true,
  d        = { scale = per_block("b", f16, 1, 32), zero = per_block("b", u4, 1, 32), x = per_row(f32),
               r = per_row(f32) },
  a_op     = function(x, d) return x * d.x end,
  b_op     = function(w, d) return (w - d.zero) * d.scale end,
  epilogue = function(acc, d) return acc * d.r end,
}
gemm "groups_bytes" {
  types    = { { a = i8, b = i8, e = i8 }, { a = i4, b = i8, e = f32 } },
  layouts  = { "rrr", "rcc" },
  groups   = true, gather = true,
  d        = { res = full(f32, "c"), c = per_col(f32), t = per_tensor(f32) },
  scalars  = { "alpha" },
  epilogue = function(acc, d, s) return (acc * s.alpha + d.res) * d.c + d.t end,
}
-- Blocks of rows of A that are numbers, by rows and by columns; integer sums of blocks, in f32.
gemm "groups_blocks" {
  types    = { { a = i8, b = i8, e = f16 }, { a = f8e4m3fnuz, b = f8e4m3fnuz, e = bf16 } },
  layouts  = { "rcr", "crr", "rcc" },
  groups   = true, gather = true,
  d        = { of_a = per_block("a", f32, 1, 64), of_b = per_block("b", f32, 64, 64), row = per_row(f32) },
  block    = function(acc, d) return acc * d.of_a * d.of_b end,
  epilogue = function(acc, d) return acc * d.row end,
}
gemm "groups_blocks_gated" {
  types    = { { a = f8e4m3fnuz, b = f8e4m3fnuz, e = bf16 } },
  layouts  = { "rcr" },
  groups   = true, gather = true,
  b        = { "gate", "up" },
  d        = { of_a = per_block("a", bf16, 1, 128, "c"), of_b = per_block("b", f32, 64, 128) },
  block    = function(acc, d) return acc * d.of_a * d.of_b end,
  epilogue = function(acc) return silu(acc.gate) * acc.up end,
}
gemm "groups_placed" {
  types    = { { a = i8, b = bf16, e = bf16 } },
  layouts  = { "rcr", "crr" },
  groups   = true, gather = true,
  d        = { scale = per_block("a", f16, 1, 32, "c"), zero = per_block("a", u4, 1, 32, "c"), row = per_row(f32) },
  a_op     = function(x, d) return (x - d.zero) * d.scale * d.row end,
  epilogue = function(acc) return acc end,
}
gemm "groups_faults" {
  types    = { { a = f32, b = f32, e = f32 } },
  layouts  = { "rrr" },
  groups   = true, gather = true,
  d        = { bias = per_col(f32) },
  epilogue = function(acc, d) return acc + d.bias end,
  targets  = { "gfx942", "host" },
  tiles    = { gfx942 = { simt(few), mfma { m = 32, n = 32, k = 32, mfma = 16 } } },
}
-- What relu lets through, and NaN, as unsigned bytes: no groups.
gemm "relu_bytes" {
  types    = { { a = f32, b = u8, e = u8 } },
  layouts  = { "rrr" },
  epilogue = function(acc) return relu(acc) end,
}
