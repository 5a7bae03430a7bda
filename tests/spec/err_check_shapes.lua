-- expect: 9:27: error: gemm "x": check.shapes: shape 1: expected { m, n, k }, got 2 numbers
-- expect: 9:39: error: gemm "x": check.shapes: shape 2: -1 is negative
-- expect: 9:53: error: gemm "x": check.shapes: shape 3: 1.5 is not a whole number
-- expect: 9:66: error: gemm "x": check.shapes: shape 4: expected a list of m, n, k, got the number 7
-- expect: 9:71: error: gemm "x": check.shapes: shape 5: expected a list of m, n, k, found the key 'm'
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  check    = { shapes = { { 1, 2 }, { -1, 2, 3 }, { 1.5, 2, 3 }, 7, { m = 1 } } },
  epilogue = function(acc) return acc end,
}
