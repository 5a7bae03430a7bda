-- SPDX-License-Identifier: MIT
-- Units that clusters of s blocks, one on each, find room on: of three 38 fit on 132, of four 30, of five 22, of six
-- 17, of seven 15, of eight 14: those of three, four, seven and eight by times on H100 and H200, where a cluster more
-- takes a second turn, those of five and six by an H200's driver (cuOccupancyMaxActiveClusters).  Cards differ: that
-- driver says 39 of three and 15 of eight.
return function(units, s)
  local of_40 = 40
  for _, x in ipairs { { 3, 35 }, { 4, 37 }, { 5, 34 }, { 6, 32 }, { 7, 33 }, { 8, 34 } } do
    of_40 = select(ge(s, x[1]), x[2], of_40)
  end
  return units * of_40 // 40
end
