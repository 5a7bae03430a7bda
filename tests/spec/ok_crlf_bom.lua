-- Byte order mark and CRLF line ends.
gemm "crlf" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc)
    return acc
  end,
}
