-- expect: 3:1: error: needs too much memory: the limit is 128 MiB, and 4 MiB at once
local s = "x"
while true do s = s .. s end
