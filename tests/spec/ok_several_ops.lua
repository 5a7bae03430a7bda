for _, t in ipairs { f16, bf16 } do
  gemm("each_" .. tostring(t)) {
    types = { { a = t, b = t, e = t } }, layouts = { "rcr" }, epilogue = function(acc) return acc end }
end
gemm("in_brackets")({ types = { { a = f16, b = f16, e = f16 } }, layouts = { "rcr" },
                      epilogue = function(acc) return acc end })
