-- SPDX-License-Identifier: MIT
-- What hopper.sh plants faults of row-wise kernels in: sums of what is nowhere 0, over several warps and several blocks.
rowwise "emul_row_fault" {
  types   = { { x = bf16 } },
  targets = { "sm_90a" },
  d       = { x = full "x" },
  outputs = { y = full "x", sum = per_row(f32) },
  body    = function(d)
    local sum = row_sum(exp(d.x))
    return { y = d.x - sum, sum = sum }
  end,
  tiles   = { sm_90a = { simt { lanes = 128, rows = 1, v = 1, resident = 0, split = 1 },
                         simt { lanes = 64, rows = 1, v = 1, resident = 0, split = 4 },
                         simt { lanes = 64, rows = 1, v = 1, resident = 1, split = 1, cluster = 2 } } },
}

-- A sum of which nothing but its rounding is lost.
rowwise "emul_sum_fault" {
  types   = { { x = f32 } },
  targets = { "sm_90a" },
  sums    = compensated,
  d       = { x = full "x" },
  outputs = { sum = per_row "x" },
  body    = function(d) return row_sum(d.x) end,
  tiles   = { sm_90a = { simt { lanes = 128, rows = 1, v = 1, resident = 0, split = 1 },
                         simt { lanes = 64, rows = 1, v = 1, resident = 0, split = 4 },
                         simt { lanes = 64, rows = 1, v = 1, resident = 1, split = 1, cluster = 2 } } },
}

-- And of rows that lie one behind the other.
rowwise "emul_flat_fault" {
  types   = { { x = bf16 } },
  targets = { "sm_90a" },
  d       = { x = full "x", up = full "x" },
  outputs = { y = full "x" },
  body    = function(d) return { y = d.x - d.up } end,
  tiles   = { sm_90a = { simt { lanes = 32, rows = 4, v = 1, resident = 0, split = 1 } } },
}
