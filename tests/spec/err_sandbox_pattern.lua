-- expect: 2:19: error: string has no 'gsub' (did you mean 'sub'?)
local s = ("aaa"):gsub("a", "b")
