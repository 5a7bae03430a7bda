-- SPDX-License-Identifier: MIT
-- Problem rules of schedules that count rows, columns, K and tiles in 32 bits, behind rules of their own.
return function(rules)
  for _, rule in ipairs {
    { "M or N is above 2^30", function(p, t) return le(max(p.m, p.n), 1073741824) end },
    { "K is above 2^30", function(p, t) return le(p.k, 1073741824) end },
    { "a leading dimension is above 2^37 elements", function(p, t) return le(max(p.lda, p.ldb), 137438953472) end },
    { "more than 2^27 tiles", function(p, t)
      return le(ceil_div(p.m, t.m) * ceil_div(p.n, t.n) * p.batch, 134217728)
    end },
  } do
    rules[#rules + 1] = rule
  end
  return rules
end
