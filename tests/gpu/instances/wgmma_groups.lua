-- SPDX-License-Identifier: MIT
-- Ops that take schedule `wgmma` through its corners where rows of E are of groups: either operand on the side of 64
-- rows, strips and whole rows of E, clusters along M and along N, rows of A that are numbers, inputs of each kind.
local any = { m = 32, n = 32, k = 16, tm = 2, tn = 2, split_k = 1 }
local packed = { m = 64, n = 64, k = 32, tm = 4, tn = 4, split_k = 1 } -- elements of a byte and of 4 bits

gemm "wgmma_groups" {
  types    = { { a = f16, b = f16, e = f16 }, { a = bf16, b = bf16, e = f32 } },
  layouts  = { "rcr", "rrr" },
  targets  = { "sm_90a" },
  groups   = true,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 128, n = { 128, 256 }, depth = 4, cluster = { 1, 2 } },
                          wgmma { m = 128, n = 128, depth = 4, cluster = { 1, 2 }, e_depth = 0 },
                          wgmma { m = { 8, 16, 64, 128, 256 }, n = 128, depth = 4, cluster = { 1, 2 }, swap = 1 },
                          wgmma { m = 192, n = 128, wg = 3, depth = 4, cluster = 2, share_x = { 0, 1 } },
                          simt(any) } },
}

gemm "wgmma_groups_gathered" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rrr" },
  targets  = { "sm_90a" },
  groups   = true,
  gather   = true,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 128, n = { 128, 256 }, depth = 4, cluster = { 1, 2 } },
                          wgmma { m = 128, n = 128, depth = 4, cluster = 1, e_depth = 0 },
                          wgmma { m = { 8, 16, 64, 128 }, n = 128, depth = 4, cluster = { 1, 2 }, swap = 1 },
                          wgmma { m = 64, n = 64, wg = 1, depth = 8, cluster = 2, share_x = { 0, 1 } },
                          wgmma { m = 128, n = 256, depth = 4, cluster = { 1, 2 }, collect = 1 },
                          wgmma { m = { 16, 192 }, n = 128, depth = 4, cluster = 2, swap = 1, collect = 1 },
                          simt(any) } },
}

gemm "wgmma_groups_gated" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = f8e4m3, b = f8e4m3, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  groups   = true,
  gather   = true,
  b        = { "gate", "up" },
  d        = { weight = per_row(f32) },
  epilogue = function(acc, d) return silu(acc.gate) * acc.up * d.weight end,
  tiles    = { sm_90a = { wgmma { m = 128, n = { 64, 128 }, depth = 4, cluster = { 1, 2 } },
                          wgmma { m = { 16, 32, 128 }, n = 128, depth = 4, cluster = { 1, 2 }, swap = 1 },
                          wgmma { m = 128, n = 128, depth = 4, cluster = 2, collect = 1 },
                          simt(any) } },
}

gemm "wgmma_groups_inputs" {
  types    = { { a = f16, b = f16, e = f16 }, { a = f8e4m3, b = f8e4m3, e = bf16 }, { a = i8, b = i8, e = i8 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  groups   = true,
  gather   = true,
  d        = { bias = per_col(f32), weight = per_row(f32), scale = per_tensor(f32), all = full "e" },
  epilogue = function(acc, d) return (acc * d.scale + d.bias) * d.weight + d.all end,
  tiles    = { sm_90a = { wgmma { m = 128, n = { 128, 192 }, depth = 4, cluster = { 1, 2 } },
                          wgmma { m = { 16, 64 }, n = 128, depth = 4, cluster = { 1, 2 }, swap = 1 },
                          wgmma { m = 128, n = 128, depth = 4, cluster = 2, collect = 1 },
                          simt(any) } },
}

gemm "wgmma_groups_blocks" {
  types    = { { a = f8e4m3, b = f8e4m3, e = bf16 }, { a = i8, b = i8, e = f16 }, { a = bf16, b = f8e4m3, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  groups   = true,
  d        = { of_a = per_block("a", f32, 1, 128), of_b = per_block("b", f32, 128, 128), weight = per_row(f32) },
  block    = function(acc, d) return acc * d.of_a * d.of_b end,
  epilogue = function(acc, d) return acc * d.weight end,
  tiles    = { sm_90a = { wgmma { m = 128, n = { 128, 256 }, depth = 4, cluster = { 1, 2 }, e_depth = 1 },
                          wgmma { m = { 16, 64, 128 }, n = 128, depth = 4, cluster = { 1, 2 }, swap = { 0, 1 } },
                          wgmma { m = 192, n = 128, wg = 3, depth = 4, cluster = 2, share_x = { 0, 1 } },
                          simt(packed) } },
}

gemm "wgmma_groups_block_gated" {
  types    = { { a = f8e4m3, b = f8e4m3, e = bf16 }, { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  groups   = true,
  gather   = true,
  b        = { "gate", "up" },
  d        = { of_a = per_block("a", f32, 1, 64, "c"), of_b = per_block("b", f32, 64, 64) },
  block    = function(acc, d) return acc * d.of_a * d.of_b end,
  epilogue = function(acc) return silu(acc.gate) * acc.up end,
  tiles    = { sm_90a = { wgmma { m = 64, n = 64, wg = 1, depth = 3, cluster = { 1, 2 }, collect = 1 },
                          wgmma { m = { 16, 64 }, n = 128, depth = 3, cluster = { 1, 2 }, collect = 1, swap = 1 },
                          simt(packed) } },
}

gemm "wgmma_groups_bytes" {
  types    = { { a = bf16, b = i8, e = bf16 }, { a = f16, b = f8e4m3, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  groups   = true,
  gather   = true,
  d        = { scale = per_col(f32), all = full "e" },
  epilogue = function(acc, d) return acc * d.scale + d.all end,
  tiles    = { sm_90a = { wgmma { m = { 16, 64, 128 }, n = 128, depth = 4, cluster = { 1, 2 } },
                          wgmma { m = { 32, 192 }, n = 128, depth = 4, cluster = { 1, 2 }, collect = 1 },
                          simt(packed) } },
}

for _, deep in ipairs { 32, 128 } do
  gemm("wgmma_groups_half_" .. deep) {
    types    = { { a = bf16, b = u4, e = bf16 }, { a = f16, b = u4, e = f16 } },
    layouts  = { "rcr" },
    targets  = { "sm_90a" },
    groups   = true,
    gather   = deep == 32,
    d        = { scale = per_block("b", "a", 1, deep), zero = per_block("b", u4, 1, deep), weight = per_row(f32) },
    b_op     = function(w, d) return (w - d.zero) * d.scale end,
    epilogue = function(acc, d) return acc * d.weight end,
    tiles    = { sm_90a = { wgmma { m = { 16, 64, 128 }, n = 128, depth = 3, cluster = { 1, 2 }, slabs = { 1, 2 },
                                    collect = deep == 32 and 1 or 0 },
                            wgmma { m = 32, n = 192, wg = 3, depth = 3, cluster = 1, slabs = 2,
                                    collect = deep == 32 and 1 or 0 },
                            wgmma { m = 64, n = 256, wg = 4, depth = 2, cluster = 1, e_depth = 1, slabs = 4,
                                    collect = deep == 32 and 1 or 0 },
                            simt(packed) } },
  }
end
