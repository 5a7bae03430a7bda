-- expect: 4:24: error: attention "x": wgmma_decode on sm_90a leaves nothing: 1 swept, 1 cut by 16 rows of a tile: with K and V in f16 or bf16 it has 64 (sm_90a)
attention "x" {
  types = { { q = bf16, k = bf16, v = bf16, o = bf16 } }, heads = { { 128, 128 } },
  tiles = { sm_90a = { wgmma_decode { rows = 16, keys = 64, depth = 4, blocks = 1, parts = 1 } } },
}
