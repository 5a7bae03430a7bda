-- SPDX-License-Identifier: MIT
-- Microseconds that L2 takes for E's lines of 128 bytes, which come in rows of `row` bytes: most of those touch one
-- more where rows of E begin inside of lines.  Fitted to tiles of one step of K and an E of 4 bytes, on an H100 and an
-- H200.
return function(p, t, row)
  local lines = p.batch * p.m * p.n * t.bytes_e * (1 / 128 + select(eq(p.lde * t.bytes_e % 128, 0), 0, 0.4 / row))
  return lines * 19e-6
end
