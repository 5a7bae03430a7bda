-- expect: 2:1: error: makes text of a table
local s = ("%s"):format({})
