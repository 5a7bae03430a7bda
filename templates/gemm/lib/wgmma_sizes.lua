-- SPDX-License-Identifier: MIT
-- Default tiles of wgmma: X's side, Y's, cluster, stream, swap and what else.  What each kind of op has of them is what
-- problems drawn at random miss most, for the time that compiling takes (docs/benchmarks/shapes.md); those with full
-- inputs, and operands across K, have fewer.  A swapped tile's rows of A are Y's, which can be any multiple of 8 or 16;
-- more than 256 make whole waves where 128 by 256 does not, and have less come from L2.  Of two products Y's side is
-- both's where that is B's, and twice A's rows else.
-- `kind`: products; outputs beside E (columns of the largest block of those); of blocks of K (`block`); bytes, 4 bits
-- (`half`) or what is `widened`; both operands `along` K, B (`b_along`), A not (`a_across`); full inputs; bytes of an
-- element of E.
return function(kind)
  -- One strip of E leaves 288 rows a ring of four tiles.
  local in_turn, one_strip = { pingpong = 1 }, { e_depth = 1 }
  -- 129 to 192 rows of A beside as many columns as make one round of the device: clusters lie along those.
  local one_row = { share_x = 1 }
  -- A product for each of two warpgroups (wgmma_apart.lua).
  local one_each = { wg = 2 }
  if kind.groups and (kind.block or kind.widened) then
    -- Rows of A are Y's where they are few; where B's elements change on their way they always are.  Those that are
    -- numbers are brought together ahead.
    local list = {}
    local function add(x, y, cluster, more)
      local t = { collect = kind.gather and 1 or 0 }
      for name, value in pairs(more or {}) do t[name] = value end
      list[#list + 1] = { x, y, cluster, 0, t.swap or 0, t }
    end
    local swapped = { swap = not kind.widened and 1 or 0 }
    if kind.half and kind.products > 1 then
      add(64, 512, 2, one_each)
      add(128, 256, 2)
      add(128, 128, 1, { slabs = 2 })
      add(128, 64, 1, { slabs = 4 })
      add(128, 32, 1, { slabs = 4 })
      add(128, 16, 1, { slabs = 4 })
      return list
    end
    if kind.half then
      local warps = kind.e_bytes < 4 and 4 or 2
      add(128, 256, 2)
      add(128, 256, 1)
      add(192, 128, 1, { slabs = 2, e_depth = 1 })
      add(256, 64, 1, { slabs = 4, e_depth = 1, wg = warps })
      add(192, 32, 1, { slabs = 4 })
      add(192, 16, 1, { slabs = 4 })
      return list
    end
    if not kind.widened then
      add(128, 256, 2)
      add(128, 256, 1)
    elseif not kind.block then
      add(128, 256, 2, swapped)
      if kind.products > 1 then add(64, 512, 2, one_each) else add(128, 256, 1, swapped) end
    end
    for _, y in ipairs(kind.products > 1 and { 256, 128, 64, 32 } or { 192, 128, 64, 32, 16 }) do
      if y <= 128 or not kind.block then add(128, y, 1, swapped) end
    end
    return list
  end
  -- Many rows are brought together ahead, few tile by tile; so is what a sweep does not say, as the first one here.
  if kind.groups and kind.gather then
    local ahead, ahead_one = { collect = 1 }, { collect = 1, e_depth = 1 }
    return kind.products > 1
      and { { 128, 256, 1 }, { 128, 256, 2, 0, 0, ahead }, { 128, 256, 1, 0, 0, ahead },
            { 128, 320, 1, 0, 1, ahead_one }, { 128, 128, 1, 0, 1 }, { 128, 64, 1, 0, 1 }, { 128, 32, 1, 0, 1 } }
      or { { 128, 128, 1 }, { 128, 256, 2, 0, 0, ahead }, { 128, 256, 1, 0, 0, ahead },
           { 128, 160, 1, 0, 1, ahead }, { 128, 128, 1, 0, 1 }, { 128, 64, 1, 0, 1 }, { 128, 32, 1, 0, 1 },
           { 128, 16, 1, 0, 1 } }
  end
  if kind.groups then -- of few rows, which are Y, or many
    return kind.products > 1
      and { { 128, 256, 2 }, { 128, 256, 1 }, { 128, 320, 1, 0, 1, one_strip }, { 128, 256, 1, 0, 1 },
            { 128, 128, 1, 0, 1 }, { 128, 64, 1, 0, 1 }, { 128, 32, 1, 0, 1 } }
      or { { 128, 256, 2 }, { 128, 256, 1 }, { 128, 192, 1 }, { 128, 192, 1, 0, 1 }, { 128, 160, 1, 0, 1 },
           { 128, 128, 1, 0, 1 }, { 128, 64, 1, 0, 1 }, { 128, 32, 1, 0, 1 }, { 128, 16, 1, 0, 1 } }
  end
  if kind.block and kind.nibbles then return { { 128, 128, 2 }, { 128, 64, 1 }, { 128, 32, 1 }, { 128, 16, 1 } } end
  if kind.block and kind.widened then return { { 128, 128, 2 } } end
  if kind.block then
    return { { 128, 256, 2 }, { 128, 192, 2 }, { 128, 128, 2 }, { 128, 96, 2 }, { 128, 64, 2 }, { 256, 128, 2 },
             not kind.full and { 192, 128, 2 } or nil }
  end
  if kind.outputs and not kind.widened then -- of whole blocks of columns, which are Y's here or X's
    local list, two = {}, kind.products > 1
    local wide = two and { { 128, 256, 2 }, { 128, 256, 1 }, { 64, 256, 2 }, { 64, 256, 4 }, { 64, 128, 2 } }
      or { { 128, 256, 2 }, { 128, 192, 2 }, { 128, 160, 2 }, { 128, 128, 2 }, { 64, 256, 4 }, { 64, 160, 2 },
           { 64, 128, 1 }, { 64, 96, 4 }, { 64, 64, 1 } }
    local few = two and { { 128, 304, 2, 0, 1, one_strip }, { 128, 288, 2, 0, 1, one_strip }, { 128, 224, 2, 0, 1 },
                          { 128, 128, 4, 0, 1 }, { 128, 64, 2, 0, 1 }, { 64, 256, 4, 0, 1 }, { 64, 128, 4, 0, 1 },
                          { 64, 64, 1, 0, 1 } }
      or { { 128, 288, 2, 0, 1, one_strip }, { 128, 256, 2, 0, 1 }, { 128, 224, 2, 0, 1 }, { 128, 192, 2, 0, 1 },
           { 128, 160, 2, 0, 1 }, { 128, 144, 2, 0, 1 }, { 128, 112, 1, 0, 1 }, { 64, 192, 1, 0, 1 },
           { 128, 64, 2, 0, 1 }, { 64, 128, 4, 0, 1 }, { 64, 64, 1, 0, 1 }, { 64, 64, 4, 0, 1 } }
    for _, size in ipairs(wide) do
      if size[2] // kind.products % kind.outputs == 0 then list[#list + 1] = size end
    end
    for _, size in ipairs(few) do
      local fits = not kind.full or size[2] <= 256 -- those take registers
      if fits and size[1] % kind.outputs == 0 then list[#list + 1] = size end
    end
    return list
  end
  if kind.outputs and not kind.half then -- through registers, of which outputs take some
    return kind.products > 1 and { { 128, 256, 2 }, { 128, 128, 1 }, { 128, 64, 1 }, { 128, 32, 1 } }
      or { { 128, 256, 2 }, { 128, 192, 2 }, { 128, 128, 2 }, { 128, 64, 2 }, { 64, 64, 1 }, { 128, 16, 1 } }
  end
  if (kind.valued and not kind.half or kind.nibbles) and kind.products > 1 then
    return { { 64, 512, 2, 0, 0, one_each }, { 64, 384, 2, 0, 0, one_each }, { 128, 256, 2 }, { 128, 128, 1 },
             { 128, 64, 1 }, { 128, 32, 1 } }
  end
  if kind.nibbles or kind.valued and not kind.half then
    return { { 128, 256, 2 }, { 128, 192, 2 }, { 128, 128, 2 }, { 128, 128, 1 }, { 128, 96, 2 }, { 64, 64, 2 },
             { 128, 32, 1 }, { 128, 16, 1 } }
  end
  if kind.products > 1 and kind.half then
    local four = { slabs = 4, e_depth = 1 }
    local warps = (kind.full or kind.e_bytes == 4) and { slabs = 2 } or { slabs = 2, e_depth = 1, wg = 4 }
    return { { 64, 512, 2, 0, 0, one_each }, { 64, 384, 2, 0, 0, one_each }, { 128, 256, 2 }, { 128, 192, 2 },
             { 128, 128, 2, 0, 0, warps }, { 128, 64, 2, 0, 0, four }, { 128, 32, 1, 0, 0, four } }
  end
  if kind.products > 1 and kind.widened then
    return { { 64, 512, 2, 0, 0, one_each }, { 128, 256, 2 }, { 128, 256, 1, 1 } }
  end
  if kind.products > 1 and kind.bytes then
    return { { 128, 256, 2 }, { 128, 256, 1, 1 }, { 128, 320, 2, 0, 1, one_strip }, { 128, 224, 2, 0, 1 } }
  end
  if kind.products > 1 and kind.along then
    return { { 128, 256, 2 }, { 128, 224, 2 }, { 128, 192, 2 }, { 128, 192, 1 }, { 128, 160, 1 }, { 64, 96, 2 },
             { 64, 64, 1 }, { 128, 320, 2, 0, 1, one_strip }, { 128, 288, 2, 0, 1, one_strip }, { 128, 224, 2, 0, 1 },
             { 128, 208, 1, 0, 1 }, { 64, 256, 1, 0, 1 }, { 64, 192, 4, 0, 1 }, { 64, 128, 4, 0, 1 } }
  end
  if kind.products > 1 then
    return { { 128, 256, 2 }, { 128, 256, 1 }, { 192, 128, 1 }, { 192, 128, 2 }, { 128, 128, 2 }, { 64, 256, 4 },
             { 64, 128, 2 }, { 64, 128, 4 }, { 128, 320, 2, 0, 1, one_strip }, { 128, 288, 2, 0, 1, one_strip },
             { 128, 224, 2, 0, 1 }, { 128, 128, 4, 0, 1 }, { 64, 256, 4, 0, 1 }, { 64, 192, 4, 0, 1 },
             { 64, 128, 4, 0, 1 } }
  end
  if kind.half and kind.along then -- few rows want many warps that widen, and long rows of weights
    local two, one, four = { slabs = 2 }, { slabs = 2, e_depth = 1 }, { slabs = 4 }
    local warps = { slabs = 4, e_depth = 1, wg = kind.e_bytes < 4 and 4 or 2 }
    return kind.full and { { 128, 256, 2 }, { 128, 128, 2, 0, 0, two }, { 128, 64, 2, 0, 0, two } }
      or { { 128, 256, 2 }, { 192, 128, 1, 0, 0, one }, { 192, 128, 2, 0, 0, one }, { 256, 64, 1, 0, 0, warps },
           { 256, 64, 2, 0, 0, warps }, { 192, 64, 2, 0, 0, four }, { 192, 32, 2, 0, 0, four } }
  end
  if kind.widened and kind.along then
    return { { 128, 320, 2 }, { 128, 304, 2 }, { 128, 288, 2 }, { 128, 272, 2 }, { 128, 256, 2 }, { 128, 256, 4 },
             { 128, 240, 2 }, { 128, 224, 2 }, { 128, 208, 1 }, { 128, 192, 2 }, { 128, 176, 1 }, { 128, 144, 1 },
             { 128, 128, 2 }, { 128, 96, 2 }, { 192, 96, 2 }, { 64, 256, 1 }, { 64, 256, 2 }, { 64, 192, 4 },
             { 64, 160, 4 }, { 64, 128, 2 }, { 64, 112, 1 }, { 64, 96, 1 }, { 64, 96, 4 }, { 64, 64, 1 },
             { 128, 256, 2, 1 }, { 128, 240, 2, 1 }, { 128, 192, 2, 1 } }
  end
  if kind.a_across and kind.b_along then
    return { { 128, 256, 2 }, { 128, 224, 2 }, { 128, 192, 2 }, { 128, 160, 2 }, { 64, 256, 4 }, { 64, 128, 8 },
             { 64, 80, 1 }, { 64, 80, 2 }, { 64, 48, 1 }, { 128, 192, 1, 0, 1 }, { 128, 192, 2, 0, 1 },
             { 128, 128, 1, 0, 1 }, { 64, 192, 4, 0, 1 }, { 64, 128, 1, 0, 1 }, { 64, 64, 2, 0, 1 },
             { 64, 64, 8, 0, 1 } }
  end
  if kind.a_across then
    return { { 128, 256, 1 }, { 128, 256, 2 }, { 128, 192, 1 }, { 64, 256, 4 }, { 64, 192, 4 }, { 128, 192, 2, 0, 1 },
             { 128, 128, 2, 0, 1 }, { 128, 128, 4, 0, 1 }, { 128, 64, 4, 0, 1 }, { 64, 192, 4, 0, 1 },
             { 64, 128, 8, 0, 1 }, { 64, 64, 1, 0, 1 }, { 64, 64, 2, 0, 1 }, { 64, 64, 8, 0, 1 } }
  end
  if kind.widened and not kind.full then
    return { { 128, 304, 2 }, { 128, 288, 2 }, { 128, 256, 2 }, { 128, 192, 2 }, { 128, 128, 2 },
             { 128, 128, 1, 0, 0, in_turn } }
  end
  if not kind.along and kind.full then
    return { { 64, 192, 2 }, { 64, 192, 4 }, { 128, 320, 2, 0, 1 }, { 128, 288, 2, 0, 1, one_strip },
             { 128, 256, 2, 0, 1 }, { 128, 192, 2, 0, 1 }, { 192, 96, 2, 0, 1 }, { 128, 128, 1, 0, 1 },
             { 64, 128, 1, 0, 1 }, { 64, 64, 1, 0, 1 } }
  end
  if not kind.along then
    return { { 128, 256, 2 }, { 128, 192, 2 }, { 128, 128, 2 }, { 64, 192, 4 }, { 128, 320, 2, 0, 1 },
             { 128, 304, 2, 0, 1 }, { 128, 288, 2, 0, 1, one_strip }, { 128, 272, 2, 0, 1 }, { 128, 224, 2, 0, 1 },
             { 128, 192, 2, 0, 1 }, { 128, 160, 2, 0, 1 }, { 128, 144, 2, 0, 1 }, { 128, 112, 1, 0, 1 },
             { 64, 192, 1, 0, 1 }, { 64, 192, 4, 0, 1 }, { 64, 128, 8, 0, 1 }, { 64, 96, 1, 0, 1 }, { 64, 96, 4, 0, 1 },
             { 64, 64, 4, 0, 1 }, { 64, 48, 1, 0, 1 } }
  end
  if kind.bytes then
    return { { 128, 256, 2 }, { 128, 224, 2 }, { 128, 192, 2 }, { 128, 160, 2 }, { 128, 144, 2 }, { 64, 160, 1 },
             { 128, 160, 4 }, { 128, 128, 4 }, { 64, 160, 2 }, { 64, 128, 1 }, { 64, 128, 4 }, { 64, 80, 2 },
             { 192, 144, 2, 0, 0, one_row }, { 192, 96, 2, 0, 0, one_row }, { 192, 144, 1, 0, 1 },
             { 128, 320, 2, 0, 1 }, { 128, 304, 2, 0, 1 }, { 128, 288, 2, 0, 1, one_strip }, { 128, 272, 2, 0, 1 },
             { 128, 240, 2, 0, 1 }, { 128, 192, 2, 0, 1 }, { 128, 176, 1, 0, 1 }, { 128, 160, 2, 0, 1 },
             { 128, 144, 2, 0, 1 }, { 128, 128, 4, 0, 1 }, { 64, 128, 1, 0, 1 }, { 64, 96, 1, 0, 1 },
             { 64, 80, 1, 0, 1 }, { 64, 64, 4, 0, 1 }, { 64, 48, 1, 0, 1 },
             not kind.full and { 128, 128, 1, 0, 0, in_turn } or nil }
  end
  if kind.full then
    return { { 128, 256, 2 }, { 128, 224, 1 }, { 128, 192, 2 }, { 128, 160, 1 }, { 128, 144, 2 }, { 64, 160, 2 },
             { 64, 80, 2 }, { 192, 144, 2, 0, 0, one_row }, { 192, 112, 2, 0, 0, one_row },
             { 192, 80, 2, 0, 0, one_row }, { 128, 320, 2, 0, 1 }, { 128, 304, 2, 0, 1 },
             { 128, 288, 2, 0, 1, one_strip }, { 128, 272, 2, 0, 1 }, { 128, 192, 2, 0, 1 }, { 128, 176, 1, 0, 1 },
             { 128, 160, 2, 0, 1 }, { 128, 112, 1, 0, 1 }, { 64, 128, 4, 0, 1 }, { 64, 96, 1, 0, 1 },
             { 64, 64, 1, 0, 1 }, { 64, 64, 4, 0, 1 } }
  end
  return { { 128, 256, 2 }, { 128, 224, 2 }, { 128, 192, 2 }, { 128, 160, 2 }, { 128, 144, 2 }, { 128, 128, 2 },
           { 64, 160, 2 }, { 64, 128, 1 }, { 64, 112, 2 }, { 64, 96, 4 }, { 64, 80, 2 }, { 192, 144, 2, 0, 0, one_row },
           { 192, 112, 2, 0, 0, one_row }, { 192, 96, 2, 0, 0, one_row }, { 192, 80, 2, 0, 0, one_row },
           { 128, 192, 4, 0, 1 }, { 128, 160, 4, 0, 1 }, { 128, 320, 2, 0, 1 },
           { 128, 304, 2, 0, 1 }, { 128, 288, 2, 0, 1, one_strip }, { 128, 272, 2, 0, 1 }, { 128, 224, 2, 0, 1 },
           { 128, 192, 2, 0, 1 }, { 128, 160, 2, 0, 1 }, { 128, 144, 2, 0, 1 }, { 128, 112, 1, 0, 1 },
           { 64, 192, 1, 0, 1 }, { 64, 128, 4, 0, 1 }, { 64, 96, 1, 0, 1 }, { 64, 64, 1, 0, 1 }, { 64, 64, 4, 0, 1 },
           { 128, 128, 1, 0, 0, in_turn } }
end
