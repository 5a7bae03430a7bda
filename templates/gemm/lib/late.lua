-- SPDX-License-Identifier: MIT
-- The launch of the last stage of outputs that are made of whole rows or columns (late_outputs.tmpl); rows, columns:
-- conditions, whether there are such of each.
return function(p, batches, rows, columns)
  local lines = max(select(rows, p.m, 1), select(columns, p.n, 1))
  local blocks = max(ceil_div(lines, 8), min(lines, 128)) -- of eight lines, or fewer where those are few
  return { grid = { max(min(blocks, 1048576), 1), batches, 1 }, block = { 256 } }
end
