-- expect: error: describes no op: write gemm "name" { ... } or rowwise "name" { ... }
local x = 1
