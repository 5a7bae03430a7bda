gemm "plain" { types = { { a = f32, b = f32, e = f32 } }, layouts = { "rrr" }, epilogue = function(acc) return acc end }
