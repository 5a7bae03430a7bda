-- SPDX-License-Identifier: MIT
-- The instruction scheduler of the mfma schedule: which memory instruction stands behind which matrix instruction.
--
-- While a wave multiplies the tile that lies in one of the two LDS buffers, it brings the next ones along.  A tile
-- takes `steps` steps, of so many `multiplications` each, and there is this to do meanwhile:
--   reads   in every step: the pieces of A and B of the next step, from LDS to registers;
--   moves   in every step a share of a later tile's, which is in registers: a `stash` writes something of it to the LDS
--           buffer that is free, and a `fetch` loads of a tile further away into the registers that are free now.
-- Before the last step stands the tile's only barrier.  By then every wave has read all of this tile, and written all
-- of the next: the last step's reads are the next tile's first, and its moves the first ones of the tile after that.
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
-- The step ahead of the barrier has its own done with an eighth of its multiplications left: the barrier, which waits
-- until the last of all waves has written, should find that done.
local schedule = {}

local BEFORE_BARRIER = 0.125 -- of the multiplications of the step ahead of it have nothing else to do
local READ_COST = 2 -- about how many instructions a read takes, and
local FETCH_COST, PLACE_COST = 1.5, 2 -- a load, and where the tile is, for its first one; of other moves, it is `cost`

-- The moves of a tile, numbered through.  For each of A, B and another B a part:
--   name, x           of the field of `in_flight`, of the operand
--   from, to          its moves are those from `from` to before `to`;
--   group             they come in groups of so many: first what puts elements into LDS, then
--   group_loads       as many loads into the registers which these have left; `stashes`: the former;
--   fetch_from, _to   its loads, numbered through without the writes
--   fetches           those that come at once: elements, then `values` of what their operator has (mfma_made.lua)
--   make              the function that makes a piece, if any
--   base              where its tile begins in an LDS buffer, in C
-- Where K is contiguous, a group is a load's pieces, of x.parts moves each, and the load; else the rows of a little
-- tile, and its loads.
-- Returns the parts; what each move costs; and how many loads there are.
function schedule.moves(A, B)
  local parts, costs, fetches = {}, {}, 0
  local function add(x, q, name, base)
    local part = { x = x, name = name, base = base, from = #costs, fetch_from = fetches }
    part.values, part.make, part.fetches = x.values[q], x.make[q], 1 + #x.values[q]
    part.stashes, part.group_loads = x.along_k and x.per_load * x.parts or x.wide, x.along_k and part.fetches or x.deep
    part.group = part.stashes + part.group_loads
    for i = 0, x.loads // (x.along_k and 1 or x.deep) * part.group - 1 do
      local at = i % part.group
      local first = i == part.stashes and PLACE_COST or 0
      costs[#costs + 1] = at < part.stashes and x.cost(at) or (at > part.stashes and x.fetch or FETCH_COST) + first
    end
    fetches = fetches + x.loads * part.fetches
    part.to, part.fetch_to = #costs, fetches
    parts[#parts + 1] = part
  end
  add(A, 1, "a", "")
  for p = 0, B.count - 1 do add(B, p + 1, "b" .. p, " + PIECES * (TILE_M + " .. p .. " * TILE_N)") end
  return parts, costs, fetches
end

-- One step's row of `due`: how many of the memory instructions, whose costs those are, stand before each
-- multiplication, and all of them at the end.  At most `pace` stand together.  The first `share` of the multiplications
-- have them evenly by cost: another is due as soon as its part of them has gone by, or when too few are left for the
-- rest at that pace.  `room` (absent: the same) is what there is behind each.
local function spread(costs, multiplications, pace, share, room)
  local total, row, done, spent = 0, { 0 }, 0, 0
  for _, cost in ipairs(costs) do total = total + cost end
  local gone = { 0 } -- room up to each multiplication
  for i = 1, multiplications do gone[i + 1] = gone[i] + (room and room[i] or 1) end
  local all = gone[share + 1]
  for i = 1, multiplications do
    for _ = 1, min(pace, #costs - done) do
      local early = (spent + costs[done + 1]) * all > total * gone[i + 1]
      local enough = #costs - done <= pace * (multiplications - i)
      if early and enough then break end
      done = done + 1
      spent = spent + costs[done]
    end
    row[#row + 1] = done
  end
  return row
end

-- Moves before each step, and all of them at the end: the last step has the first ones.  As much to do for each
-- multiplication that has any.  `early`: whether the last step has any.  It is to have none where what is loaded must
-- be there a tile later, for memory needs all of that time; nor where waves share a tile's K, which wait for LDS and
-- gain nothing by a longer way into the loop.
local function share_out(steps, reads, moves, early)
  local total, first, done, spent, due = 0, { [steps] = 0 }, 0, 0, 0
  for _, cost in ipairs(moves) do total = total + cost end
  local count = early and steps or steps - 1
  local each = (total + count * reads * READ_COST) / (count - BEFORE_BARRIER)
  for nth = 0, steps - 2 do -- the last step, then those from the first
    local share = nth > 0 and 1 or early and 1 or 0
    due = due + max(share * each - reads * READ_COST, 0)
    while done < #moves and spent + moves[done + 1] / 2 <= due do
      done = done + 1
      spent = spent + moves[done]
    end
    first[nth + 1] = done
  end
  first[steps + 1] = #moves
  return first
end

-- The table: a row per step; and the moves before each step, `early` as above.  `rooms` (absent: the same everywhere):
-- of each of so many times `steps` steps, what room there is behind each multiplication.
function schedule.due(steps, multiplications, reads, moves, early, rooms)
  local first, most = share_out(steps, reads, moves, early), 0
  local function behind(step) return step == steps and first[1] or step == steps - 1 and #moves or first[step + 1] end
  for step = 1, steps do most = max(most, reads + behind(step) - first[step]) end
  local pace = ceil_div(most, multiplications) + 1
  local due = {}
  for i = 1, rooms and #rooms or steps do
    local costs, step = {}, (i - 1) % steps + 1
    for _ = 1, reads do costs[#costs + 1] = READ_COST end
    for j = first[step] + 1, behind(step) do costs[#costs + 1] = moves[j] end
    local share = multiplications - (step == steps - 1 and max(multiplications * BEFORE_BARRIER // 1, 1) or 0)
    due[i] = spread(costs, multiplications, pace, share, rooms and rooms[i])
  end
  return due, first
end

-- Sums over blocks of K are scaled and added to those before, four of a lane's at a time: `quads` times for each of so
-- many matrix `tiles`, which have `each` multiplications in a step.  That is done behind multiplications of a block's
-- last step and of the step after it.  A tile's sums are ready two multiplications after its last one.  The registers
-- of four tiles or more should be free before the next block's sums want them; fewer tiles take others.  `group`: tiles
-- whose multiplications take turns, so that none waits for the one before.  Returns how many of them stand before each
-- multiplication of the two steps.
function schedule.additions(tiles, each, group, quads)
  local count = tiles * each
  local function at(tile, h) return tile // group * group * each + h * group + tile % group end
  local rows, done = { { 0 }, {} }, 0
  for i = 0, 2 * count - 1 do
    local before = done
    while done < tiles * quads do
      local tile = done // quads
      local must = i >= count + (tiles < 4 and count or at(tile, 0)) - 1
      if not must and (i < at(tile, each - 1) + 2 or done - before == ceil_div(quads, each)) then break end
      done = done + 1
    end
    local row = rows[i // count + 1]
    row[#row + 1] = done
    if i == count - 1 then rows[2][1] = done end
  end
  return rows
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
