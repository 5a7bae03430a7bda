-- expect: 2:1: error: Lua's 'load' is not available here
load("return 1")()
