-- expect: 5:24: error: attention "x": wgmma_decode on sm_90a leaves nothing: 1 swept, 1 cut by pages of 24 keys: 16, 32 or a multiple of 64 (sm_90a)
attention "x" {
  types = { { q = bf16, k = bf16, v = bf16, o = bf16 } }, heads = { { 128, 128 } },
  kv    = paged(24),
  tiles = { sm_90a = { wgmma_decode { keys = 64 } } },
}
