-- SPDX-License-Identifier: MIT
-- What hopper.sh plants faults in.  A small tile of simt takes any size: without one the default tiles that do would be
-- compiled, too.
local any = { m = 32, n = 32, k = 32, tm = 2, tn = 2, split_k = 1 }

gemm "emul_fault" {
  types    = { { a = bf16, b = bf16, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 64, depth = 3, cluster = 2, e_depth = 1 }, simt(any) } },
}

gemm "emul_fault_shared" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 64, wg = 1, depth = 4, cluster = 4, e_depth = 1, swap = 1 },
                          simt(any) } },
}

gemm "emul_fault_share_x" {
  types    = { { a = f16, b = f16, e = f32 } },
  layouts  = { "rrr" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 64, n = 64, wg = 1, depth = 3, cluster = 4, e_depth = 1, share_x = 1 }, simt(any) } },
}

gemm "emul_fault_broad" {
  types    = { { a = bf16, b = bf16, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 320, n = 64, wg = 1, depth = 3, cluster = 2, e_depth = 1, swap = 1 },
                          simt(any) } },
}

gemm "emul_fault_rows" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 64, depth = 3, cluster = 1, e_depth = 0 }, simt(any) } },
}

gemm "emul_fault_op" {
  types    = { { a = bf16, b = bf16, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  a_op     = function(a) return 1 / a end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 64, depth = 3, cluster = 2, e_depth = 1 }, simt(any) } },
}

gemm "emul_fault_any" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 64, n = 64, wg = 1, depth = 4, cluster = 1, e_depth = 1, gather = 1 },
                          simt(any) } },
}

gemm "emul_fault_block" {
  types    = { { a = f8e4m3, b = f8e4m3, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { a_scale = per_block("a", f32, 1, 128), b_scale = per_block("b", f32, 128, 128) },
  block    = function(acc, d) return acc * d.a_scale * d.b_scale end,
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 64, depth = 3, cluster = 2, e_depth = 1 }, simt(any) } },
}

-- Each warpgroup multiplies a product; and both.
for name, n in pairs { emul_fault_apart = 64, emul_fault_valued = 128 } do
  gemm(name) {
    types    = { { a = bf16, b = u4, e = bf16 } },
    layouts  = { "rcr" },
    targets  = { "sm_90a" },
    b        = { "gate", "up" },
    d        = { scale = per_block("b", bf16, 1, 64), zero = per_block("b", u4, 1, 64) },
    b_op     = function(w, d) return (w - d.zero) * d.scale end,
    epilogue = function(acc) return acc.gate - acc.up * 3 end,
    tiles    = { sm_90a = { wgmma { m = 64, n = n, wg = 2, depth = 3, cluster = 1, e_depth = 1 },
                            simt { m = 32, n = 64, k = 32, tm = 4, tn = 4, split_k = 1 } } },
  }
end
