-- expect: 5:24: error: attention "x": wgmma_decode on sm_90a leaves nothing: 1 swept, 1 cut by 40 lanes that load > 32 (sm_90a)
attention "x" {
  types = { { q = bf16, k = bf16, v = bf16, o = bf16 } }, heads = { { 320, 64 } },
  kv    = paged(16),
  tiles = { sm_90a = { wgmma_decode { keys = 128, depth = 2, blocks = 1, parts = 1 } } },
}
