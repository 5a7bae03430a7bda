-- expect: 3:3: error: gemm "x": 'if' branches on a traced value ('x'): write select(lt(x, y), a, b)
local function step(x)
  if x > 0 then return 1 end
  return 0
end
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return step(acc) end,
}
