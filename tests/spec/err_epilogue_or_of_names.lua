-- expect: 7:25: error: gemm "x": 'or' branches on a traced value ('below'): write or_(x, y) for conditions, select(lt(x, y), a, b) for values
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc)
    local below, above = lt(acc, 0), gt(acc, 1)
    return select(below or above, 0, acc)
  end,
}
