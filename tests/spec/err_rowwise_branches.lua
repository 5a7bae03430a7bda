-- expect: 6:33: error: rowwise "x": 'if' branches on a traced value ('at'): write select(lt(x, y), a, b)
rowwise "x" {
  types    = { { x = f16 } },
  d        = { x = full "x" },
  outputs  = { y = full "x" },
  body     = function(d, s, at) if at.row > 2 then return d.x end return 0 end,
}
