-- E = A·((W - zero) * scale): 16-bit activations, weights of 4 bits in groups along K, each with a scale and a zero
-- point of its own; w4a16_sym: without zero points, the weights being -8 .. 7.
for _, group in ipairs { 128, 64, 32 } do
  gemm("w4a16_g" .. group) {
    types    = { { a = bf16, b = u4, e = bf16 },
                 { a = f16,  b = u4, e = f16  } },
    layouts  = { "rcr" },
    d        = { scale = per_block("b", "a", 1, group), zero = per_block("b", u4, 1, group) },
    b_op     = function(w, d) return (w - d.zero) * d.scale end,
    epilogue = function(acc) return acc end,
  }
  gemm("w4a16_sym_g" .. group) {
    types    = { { a = bf16, b = i4, e = bf16 },
                 { a = f16,  b = i4, e = f16  } },
    layouts  = { "rcr" },
    d        = { scale = per_block("b", "a", 1, group) },
    b_op     = function(w, d) return w * d.scale end,
    epilogue = function(acc) return acc end,
  }
end
