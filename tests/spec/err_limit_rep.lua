-- expect: 2:17: error: string.rep of more than 1048576 bytes
local s = ("x"):rep(1e9)
