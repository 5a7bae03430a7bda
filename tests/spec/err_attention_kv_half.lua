-- expect: 5:8: error: paged: keys of a page must be a whole number from 1 to 4096, got the number 16.5
attention "my_op" {
  types = { { q = f16, k = f16, v = f16, o = f16 } },
  heads = { { 64, 64 } },
  kv = paged(16.5),
}
