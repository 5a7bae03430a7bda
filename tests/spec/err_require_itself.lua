-- expect: 2:19: error: require 'err_require_itself': the two files need each other
local m = require "err_require_itself"
