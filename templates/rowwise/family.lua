-- SPDX-License-Identifier: MIT
-- Element-wise operations and reductions of rows: the signature.  What each field means is in docs/families.md.
return family {
  name = "rowwise",
  title = "outputs = body(D..), row by row",
  sizes = { "rows", "cols" },
  rows = "rows", cols = "cols",
  empty = { "rows", "cols" },
  independent = { "rows" },
  options = {
    { "sums", words = { "compensated" }, of = { "row_sum", "row_mean", "block_sum", "block_mean" } },
  },
  inputs = { most = 12, first = 0, prefix = "", kinds = { "full", "per_row", "per_col", "per_tensor" } },
  outputs = { kinds = { "full", "per_row", "per_block" } },
  functions = {
    { "body", required = true, args = { "d", "s", "at" }, reduces = true },
  },
  shapes = {                    -- beside common ones: rows, cols
    quick = { { 3, 4099 }, { 2, 8192 }, { 1, 20000 } },
    { 5, 1024 }, { 130, 768 }, { 3, 5120 }, { 2, 16384 }, { 1, 33000 }, { 700, 24 },
  },
  example = "add_rmsnorm bf16 rows=512 cols=7168",
}
