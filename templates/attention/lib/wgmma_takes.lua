-- SPDX-License-Identifier: MIT
-- What schedules of the matrix unit of Hopper cannot compute: each function gives the sentence for it, or nil.
local takes = {}

function takes.any(target, op, types, layout)
  if not target.wgmma then return "needs Hopper's matrix unit (sm_90a)" end
  if types.q.bytes ~= 2 or types.k.name ~= types.q.name or types.v.name ~= types.q.name then
    return "Q, K and V go to the matrix unit as they are: all f16 or all bf16"
  end
  if types.o.bytes == 1 then return "O of one byte is not stored here: f32, f16 or bf16" end
  for _, d in ipairs(op.d) do
    if d.kind == "full" then return d.name .. " is full: scores here take inputs per head, not per key" end
  end
end

function takes.prefill(target, op, types, layout)
  local why = takes.any(target, op, types, layout)
  if why then return why end
  if op.lengths then return "ragged lengths: maps here have a matrix for each batch" end
  if op.page then return "K and V in pages: a block of keys here is one piece of memory" end
  if layout.dim % 64 ~= 0 or layout.dimv % 64 ~= 0 or max(layout.dim, layout.dimv) > 256 then
    local text = "heads of %d and %d elements: both must be 64, 128, 192 or 256"
    return text:format(layout.dim, layout.dimv)
  end
end

function takes.decode(target, op, types, layout)
  local why = takes.any(target, op, types, layout)
  if why then return why end
  local whole = layout.dim % 64 == 0 and layout.dimv % 64 == 0
  if not whole or layout.dim > 576 or (layout.dimv > 256 and layout.dimv ~= 512) then
    local text = "heads of %d and %d elements: of K a multiple of 64 up to 576, of V 64, 128, 192, 256 or 512"
    return text:format(layout.dim, layout.dimv)
  end
  local page = op.page or 64
  if page % 16 ~= 0 or (page % 64 ~= 0 and 64 % page ~= 0) then
    return ("pages of %d keys: 16, 32 or a multiple of 64"):format(page)
  end
end

return takes
