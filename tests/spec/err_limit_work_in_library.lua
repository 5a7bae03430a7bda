-- expect: 3:1: error: runs too long: stopped after 20 million instructions or 1 second
local s = ("x"):rep(1000000)
while true do local u = s:upper() end
