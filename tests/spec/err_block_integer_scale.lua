-- expect: 5:16: error: gemm "x": block: input 's' is i8: what scales sums is of a floating-point type
gemm "x" {
  types    = { { a = i8, b = i8, e = f16 } },
  layouts  = { "rcr" },
  d        = { s = per_block("a", "a", 1, 128), t = per_block("b", f32, 1, 128) },
  block    = function(acc, d) return acc * d.s * d.t end,
  epilogue = function(acc) return acc end,
}
