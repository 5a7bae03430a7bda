-- SPDX-License-Identifier: MIT
-- What hopper.sh plants faults of wgmma_decode in.
gemm "emul_fault_decode" {
  types    = { { a = bf16, b = bf16, e = f32 } },
  layouts  = { "rrr" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma_decode { m = { 16, 64 }, n = { 64, 128 }, across = { 0, 1 } } },
               where = function(t) return (t.n == 128) == (t.across == 1) and (t.m == 64) == (t.across == 1) end },
}

gemm "emul_fault_decode_turned" {
  types    = { { a = f16, b = f16, e = f32 } },
  layouts  = { "crr" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma_decode { m = 128, n = 64, gather = 0 },
                          simt { m = 32, n = 32, k = 32, tm = 2, tn = 2, split_k = 1 } } },
}

gemm "emul_fault_decode_block" {
  types    = { { a = f8e4m3, b = f8e4m3, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { a_scale = per_block("a", f32, 1, 128), b_scale = per_block("b", f32, 128, 128) },
  block    = function(acc, d) return acc * d.a_scale * d.b_scale end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma_decode { m = 16, n = 56 },
                          simt { m = 32, n = 32, k = 32, tm = 2, tn = 2, split_k = 1 } } },
}

gemm "emul_fault_decode_bits" {
  types    = { { a = bf16, b = u4, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { scale = per_block("b", "a", 1, 32), zero = per_block("b", u4, 1, 32) },
  b_op     = function(w, d) return (w - d.zero) * d.scale end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma_decode { m = 16, n = 64, wg = 1, blocks = 2, box = { 128, 32 },
                                         slabs = { 1, 2 }, order = { 0, 1 } } } },
}

gemm "emul_fault_decode_two" {
  types    = { { a = bf16, b = u4, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  d        = { scale = per_block("b", "a", 1, 32), zero = per_block("b", u4, 1, 32) },
  b_op     = function(w, d) return (w - d.zero) * d.scale end,
  epilogue = function(acc) return relu(acc.gate) + acc.up end,
  tiles    = { sm_90a = { wgmma_decode { m = 8, n = 112, wg = 2, blocks = 1, sets = 1, slabs = { 1, 2 },
                                         order = { 0, 1 } } },
               where = function(t) return t.slabs == t.order + 1 end },
}

gemm "emul_fault_decode_bytes" {
  types    = { { a = bf16, b = i8, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { scale = per_block("b", "a", 1, 32) },
  b_op     = function(w, d) return w * d.scale end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma_decode { m = 16, n = 64, wg = 1, blocks = 1, slabs = 2, sets = 2 } } },
}

gemm "emul_fault_decode_w4a8" {
  types    = { { a = i8, b = i4, e = i32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma_decode { m = 16, n = 64, wg = 1, blocks = 1, slabs = 1, box = { 64, 128 }, sets = 1 } } },
}
