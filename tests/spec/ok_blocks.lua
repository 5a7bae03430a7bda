gemm "blockscale" {
  types    = { { a = f8e4m3, b = f8e4m3, e = bf16 }, { a = i8, b = i8, e = f16 } },
  layouts  = { "rcr", "crr" },
  d        = { sa = per_block("a", f32, 1, 128, "c"), sb = per_block("b", f16, 128, 128), bias = per_col "e" },
  block    = function(acc, d) return acc * d.sa * d.sb end,
  epilogue = function(acc, d) return acc + d.bias end,
}
gemm "any_factor" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  b        = { "gate", "up" },
  d        = { sa = per_block("a", f32, 3, 100), sb = per_block("b", f32, 5, 100), g = per_block("gate", f32, 1, 100) },
  block    = function(acc, d, product)
    local x = -(d.sa + 1) * (acc / sqrt(d.sb)) / 2
    return product == "gate" and d.g * x or x
  end,
  epilogue = function(acc) return silu(acc.gate) * acc.up end,
}
