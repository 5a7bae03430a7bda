-- Blocks of every size, reductions of what depends on another, E and others column-major, sums of whole numbers.
gemm "forms_blocks" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = i8, b = i8, e = f32 } },
  layouts  = { "rcr", "rcc" },
  d        = { w = per_row(f32), r = full(bf16, "c"), t = per_tensor(f32) },
  outputs  = { two = per_block("e", bf16, 1, 2), four = per_block("e", f32, 1, 4, "c"), copy = full(f16, "c") },
  epilogue = function(acc, d)
    local y = acc * d.t + d.r
    local mean = block_mean(y, 32)
    local spread = block_max(abs(y - mean), 128)
    return { e = y - mean, copy = select(lt(y, mean), y, block_min(y, 16)) + spread,
             two = block_sum(y, 2) * d.w, four = block_max(y, 4) }
  end,
}
