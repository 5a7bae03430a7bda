-- expect: error: describes no op: write gemm "name" { ... }
local x = 1
