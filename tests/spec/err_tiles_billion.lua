-- expect: 7:14: error: gemm "x": tiles: sweeps 1000000000 combinations, at most 1000000 are possible
local many = {}
for i = 1, 1000 do many[i] = i end
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  tiles    = { gfx942 = { simt { m = many, n = many, k = many } } },
  epilogue = function(acc) return acc end,
}
