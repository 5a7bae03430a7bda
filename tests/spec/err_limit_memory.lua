-- expect: 3:1: error: needs too much memory: the limit is 128 MiB, and 4 MiB at once
local t = {}
for i = 1, 1e9 do t[i] = { i } end
