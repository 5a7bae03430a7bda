-- expect: 3:1: error: op 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...' (64 bytes): a name has at most 63 characters
-- expect: 4:1: error: op 'yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy...' (10000 bytes): a name has at most 63 characters
gemm(("x"):rep(64)) {}
gemm(("y"):rep(10000)) {}
