-- SPDX-License-Identifier: MIT
-- y = f(gate) * up, plain and quantised.  gate and up may be two halves of one matrix: each has a leading dimension of
-- its own (rows x 2 h: ldgate = ldup = 2 h, up begins h columns later).
local quantised = require "quantised"

for name, f in pairs { silu_mul = silu, gelu_mul = gelu } do
  local inputs = { gate = full "x", up = full "x" }
  rowwise(name) {
    types   = { { x = bf16 }, { x = f16 } },
    d       = inputs,
    outputs = { y = full "x" },
    body    = function(d) return f(d.gate) * d.up end,
  }
  quantised(name, { d = inputs }, function(d) return f(d.gate) * d.up end)
end
