-- expect: 4:24: error: attention "x": wgmma_decode on sm_90a leaves nothing: 1 swept, 1 cut by V of 512 elements in fp8: here it has up to 256 (sm_90a)
attention "x" {
  types = { { q = bf16, k = f8e4m3, v = f8e4m3, o = bf16 } }, heads = { { 576, 512 } },
  tiles = { sm_90a = { wgmma_decode { rows = 16, keys = 64, depth = 4, blocks = 1, parts = 1 } } },
}
