-- SPDX-License-Identifier: MIT
-- memory(p, target): GB/s that the device's memory moves: its driver's word, else the target's.
return function(p, target)
  if target.vendor ~= "nvidia" then return target.gbps end
  return select(gt(p.gbps, 0), p.gbps, target.gbps)
end
