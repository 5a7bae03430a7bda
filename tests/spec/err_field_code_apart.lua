-- expect: 5:3: error: gemm "x": unknown field 'code': write epilogue = code [[...]]
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  code     = [[ acc ]],
  ref      = function(acc) return acc end,
  epilogue = function(acc) return acc end,
}
