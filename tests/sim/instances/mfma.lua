-- The tiles whose main loops tests/sim/mfma_share.sh prices: the two large ones that ship, and larger ones.
local function same(type) return { a = type, b = type, e = type == i8 and i32 or bf16 } end
local whole = { split_k = 1, stream = 0 }
local low = mfma { m = 64, ahead = 4, split_k = 16 }
local large = mfma { m = 256, split_k = whole.split_k, stream = whole.stream }
local wide = mfma { m = 256, n = 256, wn = 4, ahead = 1, split_k = whole.split_k, stream = whole.stream }
local function tiles(target, more) return { [target] = { mfma {}, low, large, more } } end
gemm "shares" {
  types = { { a = f16, b = f16, e = f16 }, same(bf16), same(i8), same(f8e4m3fnuz) },
  layouts = { "rcr", "rrr" },
  epilogue = function(acc) return acc end,
  targets = { "gfx942" },
  tiles = tiles "gfx942",
}
gemm "shares_cdna2" {
  types = { { a = f16, b = f16, e = f16 }, same(bf16), same(i8) },
  layouts = { "rcr", "rrr" },
  epilogue = function(acc) return acc end,
  targets = { "gfx90a" },
  tiles = tiles "gfx90a",
}
-- Eight waves: a few registers are enough where both operands lie along K.
gemm "shares_wide" {
  types = { { a = f16, b = f16, e = f16 }, same(i8) },
  layouts = { "rcr" },
  epilogue = function(acc) return acc end,
  targets = { "gfx942" },
  tiles = tiles("gfx942", wide),
}
-- Both operands turned round; b widened.
gemm "shares_turned" {
  types = { { a = f16, b = f16, e = f16 }, same(i8) },
  layouts = { "crr" },
  epilogue = function(acc) return acc end,
  targets = { "gfx942" },
  tiles = tiles "gfx942",
}
local widened = { { a = bf16, b = i8, e = bf16 }, { a = f16, b = f8e4m3fnuz, e = f16 } }
gemm "shares_widened" {
  types = widened,
  layouts = { "rcr", "rrr" },
  epilogue = function(acc) return acc end,
  targets = { "gfx942" },
  tiles = tiles "gfx942",
}
-- Sums over blocks of K scaled, 1 x 128 of A and 128 x 128 of B: eight waves have 256x128.
local function scaled(name, types, layouts, ahead)
  gemm(name) {
    types = types,
    layouts = layouts,
    d = { a_scale = per_block("a", f32, 1, 128), b_scale = per_block("b", f32, 128, 128) },
    block = function(acc, d) return acc * d.a_scale * d.b_scale end,
    epilogue = function(acc) return acc end,
    targets = { "gfx942" },
    tiles = { gfx942 = { mfma {}, mfma { m = 256, wm = 4, ahead = ahead, split_k = 1, stream = 0 } } },
  }
end
scaled("scaled", { same(f8e4m3fnuz), widened[1], widened[2] }, { "rcr" }, 2)
scaled("scaled_turned", { same(f8e4m3fnuz) }, { "rrr", "crr" }, 1)
-- Weights of 4 bits, with a scale and a zero point for each 128 along K.
local bits = { { a = bf16, b = u4, e = bf16 }, { a = f16, b = i4, e = f16 } }
gemm "shares_bits" {
  types = bits,
  layouts = { "rcr" },
  d = { scale = per_block("b", "a", 1, 128), zero = per_block("b", "b", 1, 128) },
  b_op = function(w, d) return (w - d.zero) * d.scale end,
  epilogue = function(acc) return acc end,
  targets = { "gfx942" },
  tiles = { gfx942 = { mfma {}, large } },
}
