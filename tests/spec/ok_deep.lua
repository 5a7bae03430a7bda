-- 2000 operations in a chain: compilers must not see 2000 nested brackets.
gemm "deep" {
  types    = { { a = f32, b = f32, e = f32 } },
  layouts  = { "rrr" },
  targets  = { "host" },
  epilogue = function(acc)
    for i = 1, 1000 do acc = acc * 0.5 + i end
    return acc
  end,
}
