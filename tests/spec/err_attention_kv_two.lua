-- expect: 5:8: error: paged takes a number: paged(keys of a page)
attention "my_op" {
  types = { { q = f16, k = f16, v = f16, o = f16 } },
  heads = { { 64, 64 } },
  kv = paged(16, 32),
}
