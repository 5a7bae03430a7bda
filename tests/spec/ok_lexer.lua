-- Text that a careless reader of Lua would trip over: none of it is a branch or a field.
local text = [==[ if acc then ]] gemm "fake" { epilogue = 1 } ]==] --[[ gemm "comment" { ]] .. "\"}{" .. '\'' -- }
gemm "lexer" --[=[ { ]=] {
  ["types"] = { { a = f16, b = f16, e = f16 }; }; layouts = { "rcr" };
  epilogue = function(acc, --[[ not acc ]] d) local n <const> = 0x1p4 return acc * n + #text - 0xA.8p0 + 3e-2 // 1 end,
}
