-- expect: 3:16: error: rowwise "x": types: row 1: expected { NAME =, ... }, got the dtype f16
rowwise "x" {
  types    = { f16, { x = f16 } },
  d        = { x = full "x" },
  outputs  = { y = full "x" },
  body     = function(d) return d.x end,
}
