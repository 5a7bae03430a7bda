-- expect: 2:36: error: gemm "x": compares a traced value with '<' or '>'; write select(lt(x, y), a, b)
local function less(t) return t[1] < t[2] end
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc)
    local c = less { acc, 0 }
    return acc
  end,
}
