-- expect: 11:3: error: gemm "y": a traced value is used outside of the function call that it was made for
local kept
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) kept = acc; return acc end,
}
gemm "y" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return acc + kept end,
}
