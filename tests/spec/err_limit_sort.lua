-- expect: 4:1: error: runs too long: stopped after 20 million instructions or 1 second
local t = {}
for i = 1, 60000 do t[i] = i end
while true do table.sort(t, function(a, b) return a > b end) end
