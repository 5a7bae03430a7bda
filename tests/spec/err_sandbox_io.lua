-- expect: 2:11: error: Lua's 'io' is not available here
local f = io.open("/etc/passwd")
