-- expect: 2:1: error: calls are nested more than 2000 deep (endless recursion?)
local function f(n) return 1 + f(n + 1) end
f(1)
