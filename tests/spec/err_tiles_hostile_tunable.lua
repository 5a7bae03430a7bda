-- expect: 5:34: error: gemm "x": simt: tunable 'm; system(1)': a name is a letter a-z followed by letters a-z, digits and '_'
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  tiles    = { gfx942 = { simt { ["m; system(1)"] = 64 } } },
  epilogue = function(acc) return acc end,
}
