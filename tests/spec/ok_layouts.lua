local all = {}
for _, a in ipairs { "r", "c" } do
  for _, b in ipairs { "r", "c" } do
    for _, e in ipairs { "r", "c" } do all[#all + 1] = a .. b .. e end
  end
end
gemm "all_layouts" {
  types = { { a = f16, b = f16, e = f16 } }, layouts = all, epilogue = function(acc) return acc end,
}
