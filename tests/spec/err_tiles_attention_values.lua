-- expect: 4:24: error: attention "x": wgmma_decode on sm_90a leaves nothing: 1 swept, 1 cut by V of 512 elements: its two warpgroups take two blocks of 64 keys (sm_90a)
attention "x" {
  types = { { q = bf16, k = bf16, v = bf16, o = bf16 } }, heads = { { 576, 512 } },
  tiles = { sm_90a = { wgmma_decode { keys = 32, depth = 2, blocks = 1, parts = 1 } } },
}
