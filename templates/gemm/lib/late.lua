-- SPDX-License-Identifier: MIT
-- The launch of the last stage of outputs that are made of whole rows or columns (late_outputs.tmpl).
return function(p, batches)
  return { grid = { max(min(ceil_div(max(p.m, p.n), 8), 1048576), 1), batches, 1 }, block = { 256 } }
end
