-- What the sandbox has, and that it gives the same every time.
local keys = {}
for k, v in pairs { z = 1, a = 2, [10] = 3, [2] = 4, [1.5] = 5, m = 6 } do keys[#keys + 1] = tostring(k) .. "=" .. v end
assert(table.concat(keys, " ") == "1.5=5 2=4 10=3 a=2 m=6 z=1", table.concat(keys, " "))
assert(("x"):rep(3, "-") == "x-x-x" and ("abc"):upper() == "ABC" and #"abc" == 3 and ("a.b"):find(".") == 2)
assert(("%d %s %5.2f"):format(3, "x", 1.5) == "3 x  1.50" and tostring(f16) == "f16" and type(relu) == "function")
assert(math.max(1, 2) == 2 and math.floor(2.5) == 2 and tonumber("0x10") == 16 and tonumber("x") == nil)
assert(max(1, 2) == 2 and math.type(min(64, 32)) == "integer" and clamp(7, 0, 6) == 6 and lt(1, 2) == true)
local t = { 3, 1, 2 }
table.sort(t)
table.insert(t, 4)
assert(table.concat(t) == "1234" and table.remove(t) == 4 and (table.unpack(t)) == 1)
gemm "library" { types = { { a = f16, b = f16, e = f16 } }, layouts = { "rcr" }, epilogue = function(acc) return acc end }
