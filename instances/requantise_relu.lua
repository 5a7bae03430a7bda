-- E = max(round((A·B - a_zero * col_offset[n] - row_offset[m] * b_zero[n] + bias[n]) * multiplier[n]), 0) + c_zero
-- ReQuantizeOutput<FUSE_RELU>; what inputs mean: fbgemm.lua.
local fbgemm = require "fbgemm"

gemm "requantise_relu" (fbgemm.requantise(function(x) return max(x, 0) end))
