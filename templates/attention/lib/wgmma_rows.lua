-- SPDX-License-Identifier: MIT
-- What row `row + r * 8` of a tile `w` is in C, for what wgmma schedules share.  `vars`, at its place in a loop over r,
-- declares what lib/calls.lua needs; `keys`: how many keys there are; `place`: the row's among them, `first_place` the
-- least of the warpgroup's, `first_row` the one of the first of both rows; `there`: whether it is one; `of_o`: its row
-- in O, with what `out` declares, and `column`, behind it, the warpgroup's first, `first_column` whether that is the
-- row's; `sink(x)`: the sink's score.
local function vars(i, place, head)
  local text = "        const int i = %s, place = %s, head = %s, kv_head = w.kv_head, batch = w.batch;\n"
  return text:format(i, place, head) .. "        (void)i, (void)place, (void)head, (void)kv_head, (void)batch;"
end

return {
  -- Queries of a head, one behind the other; ragged: of a sequence.
  of_a_head = function(ragged)
    local n_q, n_kv = ragged and "w.s.n_q" or "g.n_q", ragged and "w.s.n_kv" or "g.kv"
    local behind = (" + %s - %s"):format(n_kv, n_q)
    return {
      vars = vars("w.q0 + row + r * 8", "i" .. behind, "w.head"),
      keys = n_kv, place = "w.q0 + row + r * 8" .. behind, first_place = "w.q0 + group * 64" .. behind,
      first_row = "w.q0 + row" .. behind,
      there = "i < " .. n_q, out = ragged and "const sequence s = w.s;" or nil,
      of_o = ragged and "((long long)s.q_first + i)" or "i", column = "", first_column = "",
      sink = function(x) return x end,
    }
  end,
  -- Queries of all heads that share K and V: each thread knows its own.
  of_a_group = {
    vars = vars("w.i[r]", "w.place[r]", "w.head[r]"),
    keys = "w.s.n_kv", place = "w.place[r]", first_place = "w.first_place", there = "w.there[r]",
    out = "const sequence s = w.s;", of_o = "((long long)s.q_first + i)", column = " + w.column",
    first_column = " && w.column == 0",
    sink = function(x) return ("(w.part == 0 ? %s : -KILN_INF)"):format(x) end,
  },
}
