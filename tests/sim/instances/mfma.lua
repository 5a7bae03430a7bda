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
