-- The tiles whose main loops tests/sim/mfma_share.sh prices.
local function same(type) return { a = type, b = type, e = type == i8 and i32 or bf16 } end
gemm "shares" {
  types = { { a = f16, b = f16, e = f16 }, same(bf16), same(i8), same(f8e4m3fnuz) },
  layouts = { "rcr", "rrr" },
  epilogue = function(acc) return acc end,
  targets = { "gfx942" },
}
gemm "shares_cdna2" {
  types = { { a = f16, b = f16, e = f16 }, same(bf16), same(i8) },
  layouts = { "rcr", "rrr" },
  epilogue = function(acc) return acc end,
  targets = { "gfx90a" },
}
-- Both operands turned round; b widened. The tiles for any alignment of the first are priced, too.
local two = { gfx942 = { mfma { m = { 128, 256 } } } }
gemm "shares_turned" {
  types = { { a = f16, b = f16, e = f16 }, same(i8) },
  layouts = { "crr" },
  epilogue = function(acc) return acc end,
  targets = { "gfx942" },
  tiles = two,
}
gemm "shares_widened" {
  types = { { a = bf16, b = i8, e = bf16 }, { a = f16, b = f8e4m3fnuz, e = f16 } },
  layouts = { "rcr", "rrr" },
  epilogue = function(acc) return acc end,
  targets = { "gfx942" },
  tiles = two,
}
