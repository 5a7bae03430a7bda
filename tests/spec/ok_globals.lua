-- New global names belong to the file.
function twice(x) return x + x end
factor = 0.25
gemm "file_globals" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return twice(acc) * factor end,
}
