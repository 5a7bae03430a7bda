-- expect: 6:16: error: gemm "x": outputs.ssq: of an op with groups = true an output is full or per_block: what is made of all rows or columns of a group is another launch
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  groups   = true,
  outputs  = { ssq = per_row(f32) },
  epilogue = function(acc) return { e = acc, ssq = row_sum(acc * acc) } end,
}
