-- expect: 4:16: error: gemm "x": types: row 1: expected { a =, b =, e = }, got the dtype f16
gemm "x" {
  layouts  = { "rcr" },
  types    = { f16 },
  epilogue = function(acc) return acc end,
}
