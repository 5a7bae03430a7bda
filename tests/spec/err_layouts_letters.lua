-- expect: 7:23: error: gemm "x": layouts: expected three letters, r (row-major) or c (column-major) for A, B and E, got the text 'rcx'
-- expect: 7:30: error: gemm "x": layouts: expected three letters, r (row-major) or c (column-major) for A, B and E, got the text 'rc'
-- expect: 7:36: error: gemm "x": layouts: expected three letters, r (row-major) or c (column-major) for A, B and E, got the text 'RCR'
-- expect: 7:43: error: gemm "x": layouts: expected three letters, r (row-major) or c (column-major) for A, B and E, got the number 3
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr", "rcx", "rc", "RCR", 3 },
  epilogue = function(acc) return acc end,
}
