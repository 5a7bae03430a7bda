-- Conditions beside traced values that do not depend on them.
local fast, n = true, 3
gemm "near_branches" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  d        = { bias = per_col "e" },
  epilogue = function(acc, d)
    local y, k = acc * 2, n
    if fast and n > 2 then y = y + d.bias end
    while k > 0 do y, k = y * 0.5, k - 1 end
    repeat k = k + 1 until k == 3
    local shift = not fast and 1 or 2
    y = y + (n < 4 and acc or d.bias) + shift
    local keep = { acc = 1, y = n == 3 }
    if keep.y == true then return y end
    return acc
  end,
}
