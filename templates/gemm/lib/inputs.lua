-- SPDX-License-Identifier: MIT
-- Extra inputs as an epilogue reads them that goes along E's contiguous dimension, some elements at once.  Of each:
--   full      it has an element for each of E's
--   chunked   the elements for neighbours in E are neighbours, too: they are read like E is written
--   apart     full and not chunked: they are a leading dimension apart
--   T         the type of an element, in C
--   pitch     its leading dimension, in C; "0" where it has none
return function(op, layout)
  for _, d in ipairs(op.d) do
    d.full = d.kind == "full"
    d.chunked = d.full and d.layout == layout.e or d.kind == (layout.e == "r" and "per_col" or "per_row")
    d.apart = d.full and not d.chunked
    d.T = "kiln_" .. d.type.name .. "_t"
    d.pitch = d.full and "g.ldd[" .. d.index .. "]" or "0"
  end
end
