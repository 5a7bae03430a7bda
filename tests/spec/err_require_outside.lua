-- expect: 2:19: error: require '../secret': only a file of the same folder, by its name without '.lua'
local m = require "../secret"
