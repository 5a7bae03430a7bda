-- Elements of B that become others on their way to LDS in mfma, each way once: of 4 bits and of two products, bytes of
-- every kind, inputs of every kind, expressions of any form, A turned round, rows of groups.
local of_one = { gfx942 = { mfma { m = 64, n = 64, k = 64, wm = 2, wn = 1, wk = 2, split_k = 4, stream = 0 } } }
local of_few = { gfx942 = { mfma { m = 32, n = 16, k = 128, wm = 2, wn = 1, wk = 2, mfma = 16 } } }
-- Inputs called as variables of the kernels are.
local function dequantised(w, d) return (w - d.word) * d.x end
local function gated(acc) return silu(acc.gate) * acc.up end
gemm "forms_made_two" {
  types    = { { a = bf16, b = u4, e = bf16 }, { a = f16, b = i4, e = f16 } },
  layouts  = { "rcr" },
  targets  = { "gfx942" },
  b        = { "gate", "up" },
  d        = { x = per_block("b", "a", 1, 64), word = per_block("b", u4, 1, 32, "r") },
  b_op     = dequantised,
  epilogue = gated,
  tiles    = of_few,
}
gemm "forms_made_bytes" {
  types    = { { a = bf16, b = i8, e = bf16 }, { a = f16, b = u8, e = f16 }, { a = bf16, b = u8, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "gfx942" },
  d        = { x = per_block("b", "a", 1, 32), word = per_block("b", "b", 1, 128) },
  b_op     = dequantised,
  epilogue = function(acc) return acc end,
  tiles    = of_one,
}
gemm "forms_made_fp8" {
  types    = { { a = bf16, b = f8e4m3fnuz, e = bf16 }, { a = f16, b = f8e5m2, e = f16 } },
  layouts  = { "rcr" },
  targets  = { "gfx942" },
  d        = { scale = per_block("b", "a", 1, 128) },
  b_op     = function(w, d) return w * d.scale end,
  epilogue = function(acc) return acc end,
  tiles    = of_one,
}
gemm "forms_made_any" {
  types    = { { a = bf16, b = f8e5m2fnuz, e = bf16 }, { a = f16, b = i8, e = f16 } },
  layouts  = { "ccr" },
  targets  = { "gfx942" },
  d        = { made = per_block("b", f32, 128, 128) },
  b_op     = function(w, d) return w * d.made end,
  epilogue = function(acc) return acc end,
  tiles    = of_one,
}
gemm "forms_made_product" {
  types    = { { a = bf16, b = u8, e = bf16 }, { a = f16, b = u4, e = f16 } },
  layouts  = { "rcr" },
  targets  = { "gfx942" },
  groups   = true, gather = true,
  b        = { "gate", "up" },
  d        = { y = per_col(f32), part = per_tensor(f32) },
  b_op     = function(w, d, product) return product == "up" and w * d.y + d.part or w * d.y end,
  epilogue = gated,
  tiles    = of_few,
}
