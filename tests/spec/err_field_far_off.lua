-- expect: 5:3: error: gemm "x": unknown field 'flavour'; fields are types, layouts, groups, gather, b, d, scalars, outputs, epilogue, ref, a_op, b_op, block, tiles, targets and check
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  flavour  = "sweet",
  epilogue = function(acc) return acc end,
}
