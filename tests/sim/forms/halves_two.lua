-- Of two products, with an operator.
gemm "forms_halves_two" {
  types    = { { a = f16, b = i4, e = f16 }, { a = i8, b = u4, e = i32 } },
  layouts  = { "rcr", "crc" },
  b        = { "gate", "up" },
  b_op     = function(x) return x - 3 end,
  epilogue = function(acc) return acc.gate + 0.5 * acc.up end,
}
