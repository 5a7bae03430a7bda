-- expect: 2:14: error: row_sum outside of a traced function: there are rows in one alone
local half = row_sum(3)
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  a_op     = function(x) return x / row_sum(x) end,
  epilogue = function(acc) return acc end,
}
