-- expect: 9:1: error: rowwise "x" is described twice
-- expect: 3:1: note: gemm "x" is first described here
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return acc end,
}

rowwise "x" {
  types    = { { x = f16 } },
  d        = { x = full "x" },
  outputs  = { y = full "x" },
  body     = function(d) return d.x end,
}
