gemm "constants" {
  types    = { { a = f32, b = f32, e = f32 } },
  layouts  = { "rrr" },
  epilogue = function(acc) return clamp(acc * 0.1 + 1e-30 - 3.4e38, -math.huge, math.pi) + 16777217 end,
}
