-- expect: 5:27: error: gemm "x": simt on gfx942 leaves nothing: 2 swept, 2 cut by where (line 6)
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  tiles    = { gfx942 = { simt { m = { 32, 64 }, n = 64, k = 16, tm = 4, tn = 4 } },
               where  = function(t) return t.lds_bytes > 100000 and t.threads > 0 end },
  epilogue = function(acc) return acc end,
}
