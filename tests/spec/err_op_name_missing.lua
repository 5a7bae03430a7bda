-- expect: 2:1: error: gemm needs a name and a table: gemm "name" { ... }, got a table
gemm {
  layouts = { "rcr" },
}
