-- expect: 6:39: error: rowwise "x": row_sum: operand 1 is a condition, which only select, and_, or_ and not_ take
rowwise "x" {
  types    = { { x = bf16, y = f8e4m3 } },
  d        = { x = full "x" },
  outputs  = { y = full "y" },
  body     = function(d) return d.x / row_sum(lt(d.x, 0)) end,
}
