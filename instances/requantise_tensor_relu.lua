-- E = max(round((A·B - a_zero * col_offset[n] - row_offset[m] * b_zero + bias[n]) * multiplier), 0) + c_zero
-- FBGEMM's ReQuantizeOutput<FUSE_RELU> with one scale and one zero point of B: A - a_zero and B - b_zero are what
-- numbers stand for, multiplier = a_scale * b_scale / c_scale, bias in units of a_scale * b_scale. col_offset[n] = sum
-- of B's column - K * b_zero, row_offset[m] = sum of A's row.  Numbers of u8 are these with 128 taken away, from zero
-- points, too: a byte's highest bit flipped.
gemm "requantise_tensor_relu" {
  types    = { { a = i8, b = i8, e = i8 } },
  layouts  = { "rcr" },
  d        = { col_offset = per_col(i32), row_offset = per_row(i32), bias = per_col(i32) },
  scalars  = { "a_zero", "b_zero", "multiplier", "c_zero" },
  targets  = { "host" },
  epilogue = function(acc, d, s)
    local x = acc - s.a_zero * d.col_offset - d.row_offset * s.b_zero + d.bias
    return max(round(x * s.multiplier), 0) + s.c_zero
  end,
}
