-- expect: 4:18: error: gemm "x": types: row 1: entry 1 has no name: write name = value
gemm "x" {
  layouts  = { "rcr" },
  types    = { { f16, f16, f16 } },
  epilogue = function(acc) return acc end,
}
