-- expect: error: describes no op: write attention "name" { ... } or gemm "name" { ... } or rowwise "name" { ... }
local x = 1
