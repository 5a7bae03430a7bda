gemm "powers" {
  types    = { { a = f32, b = f32, e = f32 } },
  layouts  = { "rrr" },
  scalars  = { "p" },
  epilogue = function(acc, d, s)
    return acc ^ 2 + acc ^ 3 + acc ^ 7 + acc ^ -2 + acc ^ 0.5 + acc ^ -0.5 + acc ^ 1.5 + acc ^ s.p + 2 ^ acc + acc ^ 0
  end,
}
