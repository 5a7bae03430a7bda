-- expect: 5:16: error: gemm "sums": types: row 1: acc must be f32 or i32
-- expect: 12:16: error: attention "bytes": types: row 1: k must be f32, f16, bf16 or an fp8
-- Unsigned bytes are summed in i32, and are no keys.
gemm "sums" {
  types    = { { a = u8, b = i8, e = u8, acc = u8 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return acc end,
}
attention "bytes" {
  heads    = { { 64, 64 } },
  score    = function(x) return x end,
  types    = { { q = f16, k = u8, v = f16, o = f16 } },
}
