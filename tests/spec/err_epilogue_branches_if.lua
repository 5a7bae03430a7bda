-- expect: 7:5: error: gemm "x": 'if' branches on a traced value ('y'): write select(lt(x, y), a, b)
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc)
    local y = acc + 1
    if y then return 0 end
    return acc
  end,
}
