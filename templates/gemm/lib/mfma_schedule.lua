-- SPDX-License-Identifier: MIT
-- The instruction scheduler of the mfma schedule: which memory instruction stands behind which matrix instruction.
--
-- While a wave multiplies the tile that lies in one of the two LDS buffers, it brings the next ones along.  A tile
-- takes `steps` steps, of so many `multiplications` each, and there is this to do meanwhile:
--   reads   in every step: the pieces of A and B of the next step, from LDS to registers;
--   moves   in every step but the last, a share of them: of the next tile, which is in registers, a `stash` writes
--           something to the other LDS buffer, and a `fetch` loads of a later one into the registers that are free now.
-- Before the last step stands the tile's only barrier: then the other buffer is whole, and the last step's reads are
-- the next tile's first.
--
-- A matrix instruction runs for some cycles in which the wave issues others.  Were all memory instructions at the
-- beginning of a step, the matrix unit would wait for the wave; at its end, the wave for memory.  So they are spread
-- over the step's multiplications by what they cost, in the order in which the wave issues them.  The template unrolls
-- all of this, and asks a table how many of them are `due` before each multiplication:
--
--     multiplication      0     1     2     3   ...   end
--     due[step]           0     2     3     5          n     of a step's n memory instructions
--     behind it stand    0 1    2    3 4   ...
--
-- Steps other than the last have theirs done after three quarters of the multiplications: the barrier, which waits
-- until the last of all waves has written, should find that done.
local schedule = {}

local READ_COST = 2 -- about how many instructions a read takes, and
local FETCH_COST = 1 -- a load; of a write, it is the operand's `work`

-- The moves of a tile, numbered through.  For each of A, B and another B a part:
--   name, x           of the field of `in_flight`, of the operand
--   from, to          its moves are those from `from` to before `to`;
--   group             they come in groups of so many: first writes to LDS, then
--   group_loads       as many loads into the registers which these have left;
--   fetch_from, _to   its loads, numbered through without the writes
--   base              where its tile begins in an LDS buffer, in C
--   early             where it is not 0, loads are the last step's; and so many groups, the first ones, have but one
--                     write: what they write was made in the last step of the tile before, of `parts` moves each
-- Where K is contiguous, a group is one write, or `parts` steps up to it, and one load; else the rows of a little tile,
-- and its loads.
-- Returns the parts; what each move costs; how many loads there are; and what the moves of the last step cost.
function schedule.moves(A, B)
  local parts, costs, fetches, last = {}, {}, 0, {}
  local function add(x, name, base)
    local part = { x = x, name = name, base = base, from = #costs, fetch_from = fetches }
    part.group, part.group_loads = x.along_k and 1 + (x.parts or 1) or x.wide + x.deep, x.along_k and 1 or x.deep
    part.early = x.early or 0
    if part.early > 0 then
      part.group, part.group_loads = x.parts, 0
      for _ = 1, x.loads do last[#last + 1] = x.fetch or FETCH_COST end
      for _ = 1, part.early * x.parts do last[#last + 1] = x.work end
      for _ = 1, part.early do costs[#costs + 1] = 2 end
    end
    local all = x.stashes + (part.early > 0 and 0 or x.loads)
    for i = 0, all - part.early * part.group - 1 do
      costs[#costs + 1] = i % part.group < part.group - part.group_loads and x.work or x.fetch or FETCH_COST
    end
    fetches = fetches + x.loads
    part.to, part.fetch_to = #costs, fetches
    parts[#parts + 1] = part
  end
  add(A, "a", "")
  for p = 0, B.count - 1 do add(B, "b" .. p, " + PIECES * (TILE_M + " .. p .. " * TILE_N)") end
  return parts, costs, fetches, last
end

-- One step's row of `due`: how many of the memory instructions, whose costs those are, stand before each
-- multiplication, and all of them at the end.  At most `pace` stand together.  `share` of the multiplications (false:
-- no matter when) have them evenly by cost: another is due as soon as its part of them has gone by, or when too
-- few are left for the rest at that pace.  `room` (absent: the same) is what there is behind each.
local function spread(costs, multiplications, pace, share, room)
  local total, row, done, spent = 0, { 0 }, 0, 0
  for _, cost in ipairs(costs) do total = total + cost end
  local gone, all = { 0 }, 0 -- room up to each multiplication
  for i = 1, multiplications do gone[i + 1] = gone[i] + (room and room[i] or 1) end
  if share then all = gone[share + 1] end
  for i = 1, multiplications do
    for _ = 1, min(pace, #costs - done) do
      local early = share and (spent + costs[done + 1]) * all > total * gone[i + 1]
      local enough = #costs - done <= pace * (multiplications - i)
      if early and enough then break end
      done = done + 1
      spent = spent + costs[done]
    end
    row[#row + 1] = done
  end
  return row
end

-- The table: a row per step; and `pace`, the most memory instructions that stand between two multiplications.  `rooms`
-- (absent: the same everywhere): of each of so many times `steps` steps, what room there is behind each multiplication.
-- `late`: what the last step's moves cost.
function schedule.due(steps, multiplications, reads, moves, rooms, late)
  local most = max(ceil_div(#moves, steps - 1), #late)
  local pace = ceil_div(reads + most, multiplications) + ((rooms or #late > 0) and 1 or 0)
  local due = {}
  for i = 1, rooms and #rooms or steps do
    local costs, step = {}, (i - 1) % steps + 1
    for _ = 1, reads do costs[#costs + 1] = READ_COST end
    local first, last = #moves * (step - 1) // (steps - 1) + 1, min(#moves * step // (steps - 1), #moves)
    for j = first, last do costs[#costs + 1] = moves[j] end
    local share = step < steps and multiplications * 3 // 4
    if step == steps and #late > 0 then
      for _, cost in ipairs(late) do costs[#costs + 1] = cost end
      share = multiplications
    end
    due[i] = spread(costs, multiplications, pace, share, rooms and rooms[i])
  end
  return due, pace
end

-- Sums over blocks of K are scaled and added to those before, four of a lane's at a time: `quads` times for each of so
-- many matrix `tiles`, which have `each` multiplications in a step.  That is done behind multiplications of a block's
-- last step and of the step after it.  A tile's sums are ready two multiplications after its last one.  The registers
-- of four tiles or more should be free before the next block's sums want them; fewer tiles take others.  `group`: tiles
-- whose multiplications take turns, so that none waits for the one before.  Returns how many of them stand before each
-- multiplication of the two steps; and the most behind one.
function schedule.additions(tiles, each, group, quads)
  local count = tiles * each
  local function at(tile, h) return tile // group * group * each + h * group + tile % group end
  local rows, done, most = { { 0 }, {} }, 0, 0
  for i = 0, 2 * count - 1 do
    local before = done
    while done < tiles * quads do
      local tile = done // quads
      local must = i >= count + (tiles < 4 and count or at(tile, 0)) - 1
      if not must and (i < at(tile, each - 1) + 2 or done - before == ceil_div(quads, each)) then break end
      done = done + 1
    end
    most = max(most, done - before)
    local row = rows[i // count + 1]
    row[#row + 1] = done
    if i == count - 1 then rows[2][1] = done end
  end
  return rows, most
end

-- What room there is behind each multiplication of `count` steps, of which every `length`-th ends a block and the next
-- begins one, with those additions.
local ROOM, ADD_COST = 8, 2
function schedule.rooms(count, length, rows)
  local rooms = {}
  for step = 1, count do
    local room = {}
    for i = 1, #rows[1] - 1 do
      local adds = (step % length == 0 and rows[1][i + 1] - rows[1][i] or 0)
        + ((step - 1) % length == 0 and rows[2][i + 1] - rows[2][i] or 0)
      room[i] = max(ROOM - ADD_COST * adds, 1)
    end
    rooms[step] = room
  end
  return rooms
end

return schedule
