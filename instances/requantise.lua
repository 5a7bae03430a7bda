-- E = round((A·B - a_zero * col_offset[n] - row_offset[m] * b_zero[n] + bias[n]) * multiplier[n]) + c_zero
-- What inputs mean: fbgemm.lua.
local fbgemm = require "fbgemm"

gemm "requantise" (fbgemm.requantise(function(x) return x end))
