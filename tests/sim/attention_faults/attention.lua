-- SPDX-License-Identifier: MIT
-- One instance, for faults that tests/sim/attention.sh plants in it.
attention "sim_faults" {
  types   = { { q = bf16, k = bf16, v = bf16, o = bf16 } }, heads = { { 64, 64 } }, mask = causal,
  targets = { "gfx942" },
  tiles   = { gfx942 = { mfma {} } },
  check   = { shapes = { { 2, 1, 200, 300, 0, 0, 0 } } },
}
