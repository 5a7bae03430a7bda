-- expect: 11:37: error: gemm "x": host.mr: not a number (NaN)
-- expect: 11:49: error: gemm "x": host.nr: infinite
-- expect: 11:61: error: gemm "x": host.mc: -16 is negative
-- expect: 11:71: error: gemm "x": host.nc: 0 is not possible, the least is 1
-- expect: 11:79: error: gemm "x": host.kc: 12.5 is not a whole number
-- expect: 11:89: error: gemm "x": host.a: expected a whole number, got the text '8'
-- expect: 11:98: error: gemm "x": host.b: 1099511627776 is larger than 2147483647
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  tiles    = { host = { host { mr = 0 / 0, nr = 1 / 0, mc = -16, nc = 0, kc = 12.5, a = "8", b = 2 ^ 40 } } },
  epilogue = function(acc) return acc end,
}
