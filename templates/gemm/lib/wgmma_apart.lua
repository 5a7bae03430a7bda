-- SPDX-License-Identifier: MIT
-- Whether each warpgroup of wgmma multiplies one of an op's two products, 64 rows of X: where X goes through registers,
-- twice as many of Y's rows are multiplied by what has been widened once.  They share their sums behind the main loop
-- (wgmma_apart.tmpl).
return function(t, op)
  return op.products > 1 and t.in_registers == 1 and t.x_is_a == 0 and t.pingpong == 0 and t.x == 32 * t.wg
end
