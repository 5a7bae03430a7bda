-- Each kind of extra input, by type, by "same as", with and without layout; 8 inputs are the most.
gemm "inputs" {
  types    = { { a = i8, b = i8, e = f16 } },
  layouts  = { "rcr" },
  d        = { d1 = full(), d2 = full "e", d3 = full(f32, "c"), d4 = full("acc", "r"), rows = per_row "a",
               cols = per_col(i32), one = per_tensor(f8e4m3), same_b = per_row("b") },
  epilogue = function(acc, d)
    return acc + d.d1 + d.d2 + d.d3 + d.d4 + d.rows * d.cols * d.one + d.same_b
  end,
}
