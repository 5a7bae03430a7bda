-- SPDX-License-Identifier: MIT
-- E = epilogue(A·B, D..): the signature of every matrix product.  What each field means is in docs/families.md.
local input = { "f32", "f16", "bf16", "i8", "f8e4m3", "f8e5m2", "f8e4m3fnuz", "f8e5m2fnuz" } -- i32 is a type of results alone

return family {
  name = "gemm",
  title = "E = epilogue(A·B, D..)",
  sizes = { "m", "n", "k" },
  rows = "m", cols = "n",       -- what full, per_row and per_col mean
  empty = { "m", "n" },         -- one that is 0 leaves nothing to do
  independent = { "m", "n" },   -- elements along them do not depend on each other
  summed = "k",
  types = {
    { "a", of = input, says = "a must be f32, f16, bf16, i8 or an fp8" },
    { "b", of = input, says = "b must be f32, f16, bf16, i8 or an fp8" },
    { "e" },
    { "acc", of = { "f32", "i32" }, says = "acc must be f32 or i32",
      default = { from = { "a", "b" }, integer = "i32", real = "f32" }, needs = "acc = i32 needs a = i8 and b = i8" },
  },
  tensors = {
    { "a", rows = "m", cols = "k", label = "A" },
    { "b", rows = "k", cols = "n", label = "B", count = 2, word = "product" },
    { "e", rows = "m", cols = "n", label = "E", out = true },
  },
  layouts = { "a", "b", "e" },  -- a letter each; full inputs lie like the last unless they say otherwise
  inputs = { most = 8, first = 3, prefix = "d.", kinds = { "full", "per_row", "per_col", "per_tensor" }, type = "e" },
  functions = {
    { "epilogue", required = true, args = { "acc", "d", "s" }, code = true },
    { "a_op", args = { "x" }, name = "kiln_a_op" },
    { "b_op", args = { "x" }, name = "kiln_b_op" },
  },
  example = "bias_relu f16,f16,f16 rcr m=4096 n=11008 k=4096",
}
