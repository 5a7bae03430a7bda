local shared = require "ok_shared"
assert(shared == require "ok_shared")
gemm "with_shared" {
  types    = shared.types,
  layouts  = shared.layouts,
  epilogue = function(acc) return shared.hardswish(acc) end,
}
