-- expect: 6:35: error: rowwise "x": undeclared input 'eps': the op has no d; scalars come second: function(d, s, at)
rowwise "x" {
  types    = { { y = f32 } },
  scalars  = { "eps" },
  outputs  = { y = full "y" },
  body     = function(s) return s.eps end,
}
