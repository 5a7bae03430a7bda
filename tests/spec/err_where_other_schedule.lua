-- expect: 8:63: error: gemm "x": where: host has no tunable 'threads'
-- Each schedule's values are its own; `schedule` says whose they are.
local op = { types = { { a = f16, b = f16, e = f16 } }, layouts = { "rcr" }, epilogue = function(acc) return acc end }
local sweeps = { host = { host {} }, gfx942 = { simt {} } }
sweeps.where = function(t) return t.schedule == "host" or t.threads <= 256 end
op.tiles = sweeps
gemm "w" (op)
op.tiles = { host = { host {} }, where = function(t) return t.threads <= 256 end }
gemm "x" (op)
