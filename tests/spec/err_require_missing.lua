-- expect: 2:19: error: require 'nowhere': no file 'tests/spec/nowhere.lua'
local m = require "nowhere"
