-- expect: 3:17: error: n is too large
local function check(n)
  if n > 3 then error("n is too large") end
end
check(4)
