-- expect: 2:1: error: Lua's 'pcall' is not available here
pcall(function() end)
