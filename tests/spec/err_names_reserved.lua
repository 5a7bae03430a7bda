-- expect: 11:16: error: gemm "x": input 'int': this word is reserved
-- expect: 12:16: error: gemm "x": scalar 'class': this word is reserved
-- expect: 12:25: error: gemm "x": scalar 'Alpha': a name is a letter a-z followed by letters a-z, digits and '_'
-- expect: 12:34: error: gemm "x": scalar '2x': a name is a letter a-z followed by letters a-z, digits and '_'
-- expect: 12:40: error: gemm "x": scalar 'kiln': this word is reserved
-- expect: 12:48: error: gemm "x": scalar '': a name is a letter a-z followed by letters a-z, digits and '_'
-- expect: 15:6: error: op 'manifest': this word is reserved
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  d        = { int = per_col() },
  scalars  = { "class", "Alpha", "2x", "kiln", "" },
  epilogue = function(acc) return acc end,
}
gemm "manifest" { -- a file beside the ops' folders
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return acc end,
}
