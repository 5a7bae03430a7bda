-- SPDX-License-Identifier: MIT
-- Blocks that run at once in clusters of s, one on a unit: at least one.
local fitting = require "clusters"

return function(units, s) return max(fitting(units, s) // s * s, 1) end
