-- expect: 5:13: error: attention "my_op": lengths: expected ragged, got the text 'jagged'
attention "my_op" {
  types = { { q = f16, k = f16, v = f16, o = f16 } },
  heads = { { 64, 64 } },
  lengths = "jagged",
}
