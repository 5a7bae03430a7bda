-- expect: 7:27: error: unknown name 'smit' (did you mean 'simt'?); schedules are host, simt
rowwise "x" {
  types    = { { x = f16 } },
  d        = { x = full "x" },
  outputs  = { y = full "x" },
  body     = function(d) return d.x end,
  tiles    = { gfx942 = { smit {} } },
}
