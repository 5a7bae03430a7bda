-- More reductions one after the other than a launch has kernels: no schedule may stumble over its split tile.
rowwise "norm_of_norm" {
  types   = { { x = f32 } },
  d       = { x = full "x" },
  outputs = { y = full "x", v = per_row(f32) },
  body    = function(d)
    local centred = d.x - row_mean(d.x)
    local v = row_mean(centred * centred)
    local n = centred * rsqrt(v + 1e-5)
    local most = row_max(abs(n))
    local z = n / most
    return { y = z - row_mean(z ^ 3), v = v * most }
  end,
}

rowwise "split_or_not" {
  types   = { { x = f32 } },
  d       = { x = full "x" },
  outputs = { y = full "x" },
  body    = function(d)
    local x = d.x
    for _ = 1, 6 do x = x - row_mean(x * x) end
    return x
  end,
  tiles   = { gfx942 = { simt { split = { 1, 32 }, rows = 1, resident = 0, lanes = 256 } } },
}
