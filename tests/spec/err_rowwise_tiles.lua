-- expect: 7:27: error: rowwise "x": tiles.gfx942: 'mfma' is no schedule of rowwise; schedules are host, simt
rowwise "x" {
  types    = { { x = f16 } },
  d        = { x = full "x" },
  outputs  = { y = full "x" },
  body     = function(d) return d.x end,
  tiles    = { gfx942 = { mfma { m = 64 }, simt { m = 64 } } },
}
