-- SPDX-License-Identifier: MIT
-- Y = body(X) with rows and columns exchanged: the least family there can be.  It is made of files alone, so that what
-- the generator, the library and the tools know of families they know from data.
return family {
  name = "transpose",
  title = "Y = body(X) transposed",
  sizes = { "rows", "cols" },
  rows = "rows", cols = "cols",
  empty = { "rows", "cols" },
  independent = { "rows", "cols" },
  types = { { "x" }, { "y" } },
  tensors = {
    { "x", rows = "rows", cols = "cols", label = "X" },
    { "y", rows = "cols", cols = "rows", label = "Y", out = true },
  },
  inputs = { most = 2, first = 2, prefix = "", kinds = { "per_row", "per_tensor" }, type = "x" },
  functions = { { "body", required = true, args = { "x", "d", "s" } } },
  example = "flip f32,f16 rows=30 cols=50",
}
