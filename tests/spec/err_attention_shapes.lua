-- expect: 5:53: error: attention "my_op": check.shapes: shape 2: expected { heads, kv_heads, q, kv, dim, dimv, window, pages }, got 7 numbers
attention "my_op" {
  types = { { q = f16, k = f16, v = f16, o = f16 } },
  heads = { { 64, 64 } }, kv = paged(16),
  check = { shapes = { { 1, 1, 1, 40, 0, 0, 0, 5 }, { 1, 1, 1, 1, 0, 0, 0 } } },
}
