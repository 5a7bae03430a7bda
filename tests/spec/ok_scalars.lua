gemm "eight_scalars" {
  types    = { { a = f32, b = f32, e = f32 } },
  layouts  = { "rrr" },
  scalars  = { "a", "b", "c", "d", "e", "f", "g", "h" },
  epilogue = function(acc, d, s)
    local sum = acc
    for _, name in ipairs { "a", "b", "c", "d", "e", "f", "g", "h" } do sum = sum + s[name] end
    return sum
  end,
}
