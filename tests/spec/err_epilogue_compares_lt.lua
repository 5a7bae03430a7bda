-- expect: 5:39: error: gemm "x": compares a traced value with '<' ('acc'): write select(lt(x, y), a, b)
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return acc < 0 and 0 or acc end,
}
