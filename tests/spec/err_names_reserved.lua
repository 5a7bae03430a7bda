-- expect: 10:16: error: gemm "x": input 'int': this word is reserved
-- expect: 11:16: error: gemm "x": scalar 'class': this word is reserved
-- expect: 11:25: error: gemm "x": scalar 'Alpha': a name is a letter a-z followed by letters a-z, digits and '_'
-- expect: 11:34: error: gemm "x": scalar '2x': a name is a letter a-z followed by letters a-z, digits and '_'
-- expect: 11:40: error: gemm "x": scalar 'kiln': this word is reserved
-- expect: 11:48: error: gemm "x": scalar '': a name is a letter a-z followed by letters a-z, digits and '_'
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  d        = { int = per_col() },
  scalars  = { "class", "Alpha", "2x", "kiln", "" },
  epilogue = function(acc) return acc end,
}
