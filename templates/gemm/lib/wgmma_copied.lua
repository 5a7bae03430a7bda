-- SPDX-License-Identifier: MIT
-- Microseconds of a unit's shared memory to copy `bytes` of an operand from any address (wgmma_lines.tmpl): 16 cycles
-- for 512 of them, and 18 more where lines begin within words.  Fitted to an H200's times.
return function(bytes, align) return bytes / 512 * select(ge(align, 16), 16, 34) / 1750 end
