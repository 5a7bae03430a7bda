-- expect: 23:29: error: gemm "op1": types: expected a list of rows { a =, b =, e = [, acc =] }, got the number 1
-- expect: 23:29: error: gemm "op2": types: expected a list of rows { a =, b =, e = [, acc =] }, got the number 1
-- expect: 23:29: error: gemm "op3": types: expected a list of rows { a =, b =, e = [, acc =] }, got the number 1
-- expect: 23:29: error: gemm "op4": types: expected a list of rows { a =, b =, e = [, acc =] }, got the number 1
-- expect: 23:29: error: gemm "op5": types: expected a list of rows { a =, b =, e = [, acc =] }, got the number 1
-- expect: 23:29: error: gemm "op6": types: expected a list of rows { a =, b =, e = [, acc =] }, got the number 1
-- expect: 23:29: error: gemm "op7": types: expected a list of rows { a =, b =, e = [, acc =] }, got the number 1
-- expect: 23:29: error: gemm "op8": types: expected a list of rows { a =, b =, e = [, acc =] }, got the number 1
-- expect: 23:29: error: gemm "op9": types: expected a list of rows { a =, b =, e = [, acc =] }, got the number 1
-- expect: 23:29: error: gemm "op10": types: expected a list of rows { a =, b =, e = [, acc =] }, got the number 1
-- expect: 23:29: error: gemm "op11": types: expected a list of rows { a =, b =, e = [, acc =] }, got the number 1
-- expect: 23:29: error: gemm "op12": types: expected a list of rows { a =, b =, e = [, acc =] }, got the number 1
-- expect: 23:29: error: gemm "op13": types: expected a list of rows { a =, b =, e = [, acc =] }, got the number 1
-- expect: 23:29: error: gemm "op14": types: expected a list of rows { a =, b =, e = [, acc =] }, got the number 1
-- expect: 23:29: error: gemm "op15": types: expected a list of rows { a =, b =, e = [, acc =] }, got the number 1
-- expect: 23:29: error: gemm "op16": types: expected a list of rows { a =, b =, e = [, acc =] }, got the number 1
-- expect: 23:29: error: gemm "op17": types: expected a list of rows { a =, b =, e = [, acc =] }, got the number 1
-- expect: 23:29: error: gemm "op18": types: expected a list of rows { a =, b =, e = [, acc =] }, got the number 1
-- expect: 23:29: error: gemm "op19": types: expected a list of rows { a =, b =, e = [, acc =] }, got the number 1
-- expect: 23:29: error: gemm "op20": types: expected a list of rows { a =, b =, e = [, acc =] }, got the number 1
-- expect: 10 more errors
for i = 1, 30 do
  gemm("op" .. i) { types = 1, layouts = { "rcr" }, epilogue = function(acc) return acc end }
end
