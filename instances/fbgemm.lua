-- SPDX-License-Identifier: MIT
-- requantise(activation): FBGEMM's ReQuantizeOutput, with a scale and a zero point of B for each column (for groups, or
-- all of B, repeat theirs).  A less a_zero and B less b_zero are what numbers stand for, multiplier = a_scale *
-- b_scale[n] / c_scale, bias in units of a_scale * b_scale, col_offset[n] = sum of B's column - K * b_zero,
-- row_offset[m] = sum of A's row.
local fbgemm = {}

function fbgemm.requantise(activation)
  return {
    types    = { { a = u8, b = i8, e = u8 }, { a = i8, b = i8, e = i8 } },
    layouts  = { "rcr" },
    d        = { col_offset = per_col(i32), row_offset = per_row(i32), bias = per_col(i32),
                 b_zero = per_col(i32), multiplier = per_col(f32) },
    scalars  = { "a_zero", "c_zero" },
    targets  = { "host" },
    epilogue = function(acc, d, s)
      local x = acc - s.a_zero * d.col_offset - d.row_offset * d.b_zero + d.bias
      return activation(round(x * d.multiplier)) + s.c_zero
    end,
  }
end

return fbgemm
