-- both families have a schedule `simt`: the op's own is meant
gemm "product" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return acc end,
  tiles    = { gfx942 = { simt { m = 64 } } },
}

rowwise "copy" {
  types    = { { x = f16 } },
  d        = { x = full "x" },
  outputs  = { y = full "x" },
  body     = function(d) return d.x end,
  tiles    = { gfx942 = { simt {} } },
}
