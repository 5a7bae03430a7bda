-- expect: 4:24: error: attention "x": wgmma_decode on sm_90a leaves nothing: 1 swept, 1 cut by blocks of 32 keys: in fp8 they are multiplied by 64 (sm_90a)
attention "x" {
  types = { { q = bf16, k = f8e4m3, v = f8e5m2, o = bf16 } }, heads = { { 128, 128 } },
  tiles = { sm_90a = { wgmma_decode { rows = 16, keys = 32, depth = 4, blocks = 1, parts = 1 } } },
}
