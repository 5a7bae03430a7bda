-- expect: 16:110: error: gemm "code": code gives one value, and the op has two outputs: write a function
-- expect: 18:48: error: gemm "bare": epilogue returns one value, and the op has two outputs: write return { e = ..., m = ... }
-- expect: 19:53: error: gemm "forgotten": epilogue returns no 'm', which is an output
-- expect: 20:87: error: gemm "unknown": epilogue returns 'amax', which is no output: outputs are e and m
-- expect: 21:71: error: gemm "condition": output 'm' is a condition: write select(cond, x, y)
-- expect: 22:69: error: gemm "per_row": output 'm' is per_row, but its value varies along columns: acc does (line 16)
-- expect: 23:69: error: gemm "per_col": output 'm' is per_col, but its value varies along rows: acc does (line 16)
-- expect: 24:82: error: gemm "blocks": output 'm' has one value for 64 columns, but its value varies within them: block_max(..., 32) does (line 24)
-- expect: 27:12: error: gemm "late": output 'e' depends on row_max (line 26), which is known when all of E is: return it as an output, and use it in an op that reads E
-- expect: 30:21: error: gemm "late_block": output 'm' depends on col_mean (line 30), which is known when all of E is: return it as an output, and use it in an op that reads E
-- expect: 34:21: error: gemm "twice": output 'm' is row_sum (line 34) of what depends on row_max (line 33): one of them is for an op that reads E
-- expect: 37:37: error: gemm "no_outputs": epilogue returns a table, expected a value
-- expect: 38:47: error: gemm "reduces": row_sum: epilogue gets one element at a time, so it has nothing to reduce
-- Outputs beside E: what the epilogue returns.
local function op(name, outputs, epilogue)
  gemm(name) { types = { { a = f16, b = f16, e = f16 } }, layouts = { "rcr" }, outputs = outputs, epilogue = epilogue }
end
op("bare", { m = per_row(f32) }, function(acc) return acc end)
op("forgotten", { m = per_row(f32) }, function(acc) return { e = acc } end)
op("unknown", { m = per_row(f32) }, function(acc) return { e = acc, m = row_max(acc), amax = acc } end)
op("condition", { m = per_row(f32) }, function(acc) return { e = acc, m = lt(row_max(acc), 0) } end)
op("per_row", { m = per_row(f32) }, function(acc) return { e = acc, m = abs(acc) } end)
op("per_col", { m = per_col(f32) }, function(acc) return { e = acc, m = row_max(acc) } end)
op("blocks", { m = per_block("e", f32, 1, 64) }, function(acc) return { e = acc, m = block_max(acc, 32) } end)
op("late", { m = per_row(f32) }, function(acc)
  local m = row_max(abs(acc))
  return { e = acc / m, m = m }
end)
op("late_block", { m = per_block("e", f32, 1, 64) }, function(acc)
  return { e = acc, m = block_max(acc, 64) - col_mean(acc) }
end)
op("twice", { m = per_row(f32) }, function(acc)
  local x = exp(acc - row_max(acc))
  return { e = acc, m = row_sum(x) }
end)
op("code", { m = per_row(f32) }, code [[ acc ]])
op("no_outputs", nil, function(acc) return { e = acc } end)
op("reduces", nil, function(acc) return acc / row_sum(acc) end)
