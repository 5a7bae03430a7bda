-- expect: 10:47: error: gemm "x": 'max' of Lua's library takes numbers; for traced values use the language's own functions
-- expect: 11:47: error: gemm "y": 'exp' of Lua's library takes numbers; for traced values use the language's own functions
local function op(f)
  return {
    types    = { { a = f16, b = f16, e = f16 } },
    layouts  = { "rcr" },
    epilogue = f,
  }
end
gemm "x"  (op(function(acc) return acc + math.max(acc, 0) end))
gemm "y"  (op(function(acc) return acc * math.exp(acc) end))
