-- expect: 2:16: error: math has no 'random' here
local x = math.random()
