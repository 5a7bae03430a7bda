-- expect: 4:3: error: '}' expected (to close '{' at line 3) near 'layouts': is a comma missing before it?
gemm "x" {
  types = { { a = f16, b = f16, e = f16 }
  layouts = { "rcr" },
}
