-- expect: 7:14: error: gemm "x": input 'a'b\x0a"': a name is a letter a-z followed by letters a-z, digits and '_'
-- expect: 7:14: error: gemm "x": input 'gr\xc3\xb6\xc3\x9fe': a name is a letter a-z followed by letters a-z, digits and '_'
-- expect: 7:41: error: gemm "x": input '../../etc': a name is a letter a-z followed by letters a-z, digits and '_'
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  d        = { ["a'b\n\""] = per_col(), ["../../etc"] = per_row(), ["gr\xc3\xb6\xc3\x9fe"] = full() },
  epilogue = function(acc) return acc end,
}
