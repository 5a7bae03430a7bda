-- expect: 5:11: error: 'window' is a text and no function: write it by itself
attention "x" {
  types = { { q = f16, k = f16, v = f16, o = f16 } },
  heads = { { 64, 64 } },
  mask  = window(128),
}
