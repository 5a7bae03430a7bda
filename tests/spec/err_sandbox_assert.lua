-- expect: 2:1: error: arithmetic is broken
assert(1 > 2, "arithmetic is broken")
