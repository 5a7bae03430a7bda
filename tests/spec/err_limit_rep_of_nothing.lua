-- expect: 4:1: error: done
local s = (""):rep(math.maxinteger, "")
s = (""):rep(math.maxinteger, "")
error("done")
