-- SPDX-License-Identifier: MIT
-- One instance each, for faults that tests/sim/attention.sh plants in them.
attention "sim_faults" {
  types   = { { q = bf16, k = bf16, v = bf16, o = bf16 } }, heads = { { 64, 64 } }, mask = causal,
  targets = { "gfx942" },
  tiles   = { gfx942 = { mfma {} } },
  check   = { shapes = { { 2, 1, 200, 300, 0, 0, 0 } } },
}
attention "sim_lengths" {
  types   = { { q = f16, k = f16, v = f16, o = f16 } }, heads = { { 32, 32 } }, mask = causal,
  lengths = ragged, kv = paged(16), targets = { "gfx942" },
  tiles   = { gfx942 = { simt {} } },
}
