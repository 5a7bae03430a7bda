-- expect: 4:1: error: needs too much memory: the limit is 128 MiB, and 4 MiB at once
local t = {}
for i = 1, 5000 do t[i] = ("y"):rep(1000) end
local s = table.concat(t)
