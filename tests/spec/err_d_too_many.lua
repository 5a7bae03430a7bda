-- expect: 6:52: error: gemm "x": d.i: an op has at most 8 extra inputs and outputs
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  d        = { aa = full(), bb = full(), c = full(), dd = full(), ee = full(),
               f = full(), g = full(), h = full(), i = full() },
  epilogue = function(acc) return acc end,
}
