-- expect: 10:37: error: gemm "x": host.mr: not a number (NaN)
-- expect: 10:49: error: gemm "x": host.nr: infinite
-- expect: 10:61: error: gemm "x": host.mc: -16 is negative
-- expect: 10:71: error: gemm "x": host.kc: 12.5 is not a whole number
-- expect: 10:81: error: gemm "x": host.a: expected a whole number, got the text '8'
-- expect: 10:90: error: gemm "x": host.b: 1099511627776 is larger than 2147483647
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  tiles    = { host = { host { mr = 0 / 0, nr = 1 / 0, mc = -16, kc = 12.5, a = "8", b = 2 ^ 40 } } },
  epilogue = function(acc) return acc end,
}
