-- Rows of groups, gathered or not; a flag that is false is as if it were left out.
local types, layouts = { { a = f16, b = f16, e = f16 } }, { "rcr" }
local function plain(acc) return acc end
gemm "grouped" { types = types, layouts = layouts, groups = true, epilogue = plain }
gemm "gathered" { types = types, layouts = layouts, groups = true, gather = true, epilogue = plain,
                  check = { shapes = { { 40, 8, 16, 30 } } } }
gemm "ungrouped" { types = types, layouts = layouts, groups = false, gather = false, epilogue = plain,
                   check = { shapes = { { 40, 8, 16 } } } }
gemm "scaled" {
  types    = { { a = f8e4m3, b = f8e4m3, e = bf16 } },
  layouts  = layouts,
  groups   = true,
  d        = { a_scale = per_block("a", f32, 1, 128), b_scale = per_block("b", f32, 128, 128), bias = per_col(f32) },
  block    = function(acc, d) return acc * d.a_scale * d.b_scale end,
  outputs  = { copy = full(f32), scale = per_block("e", f32, 1, 64) },
  epilogue = function(acc, d)
    local y = acc + d.bias
    return { e = y, copy = acc, scale = block_max(abs(y), 64) }
  end,
}
