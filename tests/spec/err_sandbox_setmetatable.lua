-- expect: 2:1: error: Lua's 'setmetatable' is not available here
setmetatable({}, {})
