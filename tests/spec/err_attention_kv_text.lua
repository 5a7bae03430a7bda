-- expect: 5:8: error: attention "my_op": kv: expected paged(keys of a page), got the text 'paged'
attention "my_op" {
  types = { { q = f16, k = f16, v = f16, o = f16 } },
  heads = { { 64, 64 } },
  kv = "paged",
}
