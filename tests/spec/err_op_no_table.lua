-- expect: 2:1: error: gemm "x" has no description: write gemm "x" { ... }
gemm "x"
gemm "y" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return acc end,
}
