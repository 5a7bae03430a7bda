-- SPDX-License-Identifier: MIT
-- What hopper.sh plants faults of gemm's mma in.
gemm "emul_fault_mma" {
  types    = { { a = bf16, b = bf16, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { mma { m = 64, n = 64, wm = 2, wn = 2, depth = 3, blocks = 2, split_k = 2 } } },
}
gemm "emul_fault_words" {
  types    = { { a = bf16, b = bf16, e = f32 } },
  layouts  = { "rcr", "crr" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { mma { m = 64, n = 64, wm = 2, wn = 2, depth = 3, blocks = 2, split_k = 2, word = 4 },
                          simt { m = 32, n = 32, k = 32, tm = 2, tn = 2, split_k = 1 } } },
}
gemm "emul_fault_lines" {
  types    = { { a = bf16, b = bf16, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { mma { m = 16, n = 64, wm = 1, wn = 8, slabs = 2, lines = 1, depth = 2, blocks = 1, split_k = 2 },
                          simt { m = 32, n = 32, k = 32, tm = 2, tn = 2, split_k = 1 } } },
}
