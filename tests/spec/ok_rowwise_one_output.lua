-- one output: its value alone will do, or a table
local function softmax(x)
  local e = exp(x - row_max(x))
  return e / row_sum(e)
end

rowwise "softmax" {
  types   = { { x = bf16 }, { x = f16 }, { x = f32 } },
  d       = { x = full "x" },
  outputs = { y = full "x" },
  body    = function(d) return softmax(d.x) end,
}

rowwise "softmax_table" {
  types   = { { x = bf16 } },
  d       = { x = full "x" },
  outputs = { y = full "x" },
  body    = function(d) return { y = softmax(d.x) } end,
}

-- without inputs: the place alone
rowwise "iota" {
  types   = { { y = f32 } },
  outputs = { y = full "y" },
  body    = function(_, _, at) return at.row * 1000 + at.col end,
  tiles   = { host = { host {} } },
}
