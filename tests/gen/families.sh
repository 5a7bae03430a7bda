#!/bin/bash
# SPDX-License-Identifier: MIT
# Files of families that are wrong: each gets its message at its place.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh disable=SC2016
. "$(dirname "$0")/../lib/tap.sh"
mkdir "$tmp/templates"
ln -s "$root/templates/targets" "$root/templates/device" "$tmp/templates"
mkdir "$tmp/templates/pair"
cat >"$tmp/good" <<'END'
return family {
  name = "pair", title = "E = body(A·B)",
  sizes = { "m", "n", "k" }, rows = "m", cols = "n", empty = { "m", "n" }, independent = { "m" }, summed = "k",
  types = { { "a", of = { "f32", "i8" }, says = "a is f32 or i8" }, { "b" }, { "e" },
            { "acc", default = { from = { "a", "b" }, integer = "i32", real = "f32" }, needs = "whole numbers" } },
  tensors = { { "a", rows = "m", cols = "k", label = "A" }, { "b", rows = "k", cols = "n", label = "B", count = 2 },
              { "e", rows = "m", cols = "n", label = "E", out = true } },
  layouts = { "a", "b", "e" },
  inputs = { most = 8, first = 3, prefix = "d.", kinds = { "full", "per_row" }, type = "e" },
  functions = { { "body", required = true, args = { "acc", "d", "s" }, code = true }, { "a_op", args = { "x" } } },
  shapes = { quick = { { 1, 2, 3 } }, { 4, 5, 6 } },
  example = "x f32,f32,f32 rrr m=1 n=1 k=1",
}
END
cp "$root/tests/spec/ok_minimal.lua" "$tmp/op.lua"
sed -i 's/gemm/pair/; s/epilogue/body/' "$tmp/op.lua"
file=$tmp/templates/pair/family.lua

# wrong SED EXPECTED: the file above, edited, gets exactly this message.
wrong() {
    sed -E "$1" "$tmp/good" >"$file"
    if cmp -s "$tmp/good" "$file"; then echo "nothing was edited" >"$tmp/out"; result 1 "${2%%$'\n'*}"; return; fi
    "$gen" --check --templates "$tmp/templates" "$tmp/op.lua" >/dev/null 2>"$tmp/err"
    status=$?
    sed -n "s|^$file:||p" "$tmp/err" >"$tmp/out"
    [ "$status" -eq 1 ] && [ "$(cat "$tmp/out")" = "$2" ]
    result $? "${2%%$'\n'*}"
}

wrong 's/"pair"/"pear"/' "2:10: error: name: must be 'pair', as its folder is called, not 'pear'"
wrong 's/title = /titel = /' "2:18: error: unknown field 'titel' (did you mean 'title'?)"
wrong 's/example = .*/example = 3/' '12:13: error: example: expected a problem as text, got the number 3'
wrong 's/example = /flavour = 1, example = /' "12:3: error: unknown field 'flavour'; fields are name, title, sizes, rows, cols, planes, groups, fixed, options, ragged, paged, only, at, empty, independent, types, tensors, gathered, summed, layouts, inputs, outputs, functions, shapes, example and present"
wrong 's/"k" \},/"k", "l", "o", "p", "r", "s", "t" },/' '3:11: error: sizes: 9 names, at most 8 are possible'
wrong 's/"m", "n", "k" \}/"m", "n", "batch" }/; s/summed = "k",//; s/"k"/"batch"/g' '3:23: error: sizes: every family has batch: leave it out'
wrong 's/"k", label/"n", label/; s/rows = "k"/rows = "m"/' "3:23: error: sizes: nothing uses 'k': no tensor's rows or cols, nor the family's"
wrong 's/rows = "m", cols = "n", empty/rows = "mm", cols = "n", empty/' "3:37: error: rows: unknown size 'mm'; there are m, n and k"
wrong 's/rows = "m", cols = "n", empty/rows = "m", cols = "m", empty/' '3:49: error: cols: is the same size as rows'
wrong 's/empty = \{ "m", "n" \}/empty = { "m", "m" }/' "3:69: error: empty: 'm' is there twice"
wrong 's/independent = \{ "m" \}/independent = { 1 }/' '3:92: error: independent: expected a name, got the number 1'
wrong 's/summed = "k"/summed = "kk"/' "3:108: error: summed: unknown size 'kk'; there are m, n and k"
wrong 's/"f32", "i8"/"f32", "i9"/' "4:34: error: types.a.of: unknown type 'i9'; there are f32, f16, bf16, i8, i32, f8e4m3, f8e5m2, f8e4m3fnuz, f8e5m2fnuz, i4, u4 and u8"
wrong 's/, says = "a is f32 or i8"//' '4:13: error: types.a: `of` goes with `says`, the message for another type'
wrong 's/\{ "b" \},/{ "b", needs = "x" },/' '4:69: error: types.b: `needs` goes with `default`'
wrong 's/\{ "b" \},/{ "a" },/' "4:69: error: types: 'a' is there twice
5:48: error: types.acc.default.from: unknown type before this one 'b'; there are a and e"
wrong 's/integer = "i32"/integer = "f16"/' "5:65: error: types.acc.default.integer: 'f16' is no integer type"
wrong 's/real = "f32"/reel = "f32"/' "5:32: error: missing field 'types.acc.default.real': a dtype's name
5:72: error: types.acc.default: unknown field 'reel' (did you mean 'real'?)"
wrong 's/\{ "b" \},/"b",/' "4:69: error: types: expected { \"name\", ... }, got the text 'b'
5:48: error: types.acc.default.from: unknown type before this one 'b'; there are a and e"
wrong 's/count = 2/count = 3/' '6:113: error: tensors.b.count: expected 1 .. 2'
wrong 's/label = "A"/label = "A", count = 2/' '6:72: error: tensors.b: another tensor may be several already'
wrong 's/out = true/out = false/; s/most = 8, first = 3/most = 7, first = 4/' '1:15: error: nothing is written: no tensor has out = true, and there is no `outputs`'
wrong 's/label = "E", out = true/out = true/' "7:15: error: missing field 'tensors.e.label': what messages call it"
wrong 's/layouts = \{ "a", "b", "e" \}/layouts = { "a", "b", "f" }/' "8:25: error: layouts: unknown tensor 'f'; there are a, b and e"
wrong 's/first = 3/first = 2/' "9:12: error: inputs.first: 2 is taken by the family's own tensors"
wrong 's/most = 8/most = 9/' '9:12: error: inputs: 9 from position 3 and 1 outputs: there are 12 positions'
wrong 's/prefix = "d."/prefix = "D="/' "9:44: error: inputs.prefix: expected letters a-z and '.', got the text 'D='"
wrong 's/"per_row" \}/"per_rows" }/' "9:68: error: inputs.kinds: unknown kind 'per_rows' (did you mean 'per_row'?)"
wrong 's/type = "e"/type = "f"/' "9:88: error: inputs.type: unknown type 'f'; there are a, b, e and acc"
wrong 's/functions = .*/functions = {},/' '10:15: error: functions: the list is empty'
wrong 's/"a_op", args = \{ "x" \}/"a_op", args = { "y" }/' "10:106: error: functions.a_op.args: unknown argument 'y'; there are acc, d, s, at, x and product"
wrong 's/"a_op", args/"d", args/' "10:87: error: functions: 'd' is a field of instance files already"
wrong 's/"a_op", args/"b", args/' "10:87: error: functions: 'b' is a field of instance files already"
wrong 's/"a_op", args/"a_op", reduces = true, args/' '10:107: error: functions.a_op.reduces: only the first function, body, may'
wrong 's/\{ 4, 5, 6 \}/{ 4, 5 }/' '11:39: error: shapes: shape 1: expected { m, n, k }, got 2 numbers'
wrong 's/\{ 1, 2, 3 \}/{ 1, -2, 3 }/' '11:29: error: shapes.quick: shape 1: -2 is negative'
wrong '1s/.*/local x = {/; 2s/.*/  name = "pair",/' '1:1: error: the file must `return family { ... }`'
wrong 's/return family \{/return family "x" {/' "1:8: error: family needs a table: return family { ... }, got the text 'x'"
wrong 's/title = "/title = nothing .. "/' "2:26: error: unknown name 'nothing'"

wrong 's/summed = "k",/summed = "k", groups = "m",/' '3:122: error: groups: goes with planes, which are a multiple of it'
wrong 's/summed = "k",/summed = "k", planes = "p",/' "3:122: error: planes: unknown size 'p'; there are m, n and k"
wrong 's/summed = "k",/summed = "k", fixed = { sizes = { "k" } },/' '3:121: error: fixed: expected a name, got nothing'
wrong 's/summed = "k",/summed = "k", fixed = { "depth", sizes = { "kk" } },/' "3:140: error: fixed.sizes: unknown size 'kk'; there are m, n and k"
wrong 's/summed = "k",/summed = "k", fixed = { "depth", sizes = { "m", "n", "k" } },/' '3:140: error: fixed.sizes: 3 names, at most 2 are possible'
wrong 's/summed = "k",/summed = "k", options = { { "mask" } },/' "3:125: error: options.mask: expected words = { ... } or flag = true"
wrong 's/summed = "k",/summed = "k", options = { "mask" },/' "3:125: error: options: expected { \"name\", ... }, got the text 'mask'"
wrong 's/summed = "k",/summed = "k", options = { { "a1", words = { "x" } }, { "a2", words = { "x" } }, { "a3", words = { "x" } }, { "a4", words = { "x" } }, { "a5", words = { "x" } } },/' '3:233: error: options: a family has at most 4'
wrong 's/summed = "k",/summed = "k", only = { k = "mask" },/' '3:126: error: only.k: expected { option, word }'
wrong 's/summed = "k",/summed = "k", only = { k = { "mask", "causal" } },/' "3:126: error: only: unknown option 'mask': there is none"
wrong 's/summed = "k",/summed = "k", options = { { "mask", words = { "causal" } } }, only = { k = { "mask", "casual" } },/' "3:174: error: only: unknown word 'casual' (did you mean 'causal'?)"
wrong 's/summed = "k",/summed = "k", options = { { "lie", words = { "paged" }, number = 3 } },/' '3:164: error: options.lie.number: expected what is counted, got the number 3'
wrong 's/summed = "k",/summed = "k", options = { { "lie", words = { "w" }, of = { "row_sun" } } },/' "3:156: error: options.lie.of: unknown function 'row_sun' (did you mean 'row_sum'?)"
wrong 's/summed = "k",/summed = "k", options = { { "lie", words = { "w" }, of = "row_sum" } },/' "3:156: error: options.lie.of: expected a list of functions, got the text 'row_sum'"
wrong 's/summed = "k",/summed = "k", ragged = { "lie", sizes = { "m" } },/' "3:122: error: ragged: unknown option 'lie': there is none"
wrong 's/summed = "k",/summed = "k", options = { { "lie", words = { "w" } } }, ragged = { "lie", sizes = { "mm" } },/' "3:183: error: ragged.sizes: unknown size 'mm'; there are m, n and k"
wrong 's/summed = "k",/summed = "k", options = { { "lie", words = { "w" } } }, paged = { "lie", size = "m", pages = "n" },/' "3:163: error: paged: the words of 'lie' take no number: how long is a page?"
wrong 's/summed = "k",/summed = "k", options = { { "lie", flag = true }, { "go", flag = true } }, ragged = { "lie", sizes = { "m" }, arrays = { "one" } },/' "3:218: error: ragged.arrays: expected the names of two"
wrong 's/summed = "k",/summed = "k", options = { { "lie", flag = true }, { "go", flag = true } }, ragged = { "lie", sizes = { "m" }, batch = "n" },/' "3:217: error: ragged.batch: 'n' is a size of the family"
wrong 's/summed = "k",/summed = "k", options = { { "lie", flag = true }, { "go", flag = true } }, only = { k = { "lie", "w" } },/' "3:187: error: only.k: expected { option, word }, or { option } of a flag"
wrong 's/summed = "k",/summed = "k", options = { { "lie", flag = true }, { "go", flag = true } }, gathered = { "go", tensor = "a", size = "k", rows = "index" },/' "3:202: error: gathered.tensor: 'a' is no input with rows along a size of ragged"
wrong 's/summed = "k",/summed = "k", options = { { "lie", flag = true }, { "go", flag = true } }, ragged = { "lie", sizes = { "m" } }, gathered = { "go", tensor = "e", size = "k", rows = "index" },/' "3:239: error: gathered.tensor: 'e' is no input with rows along a size of ragged"
wrong 's/summed = "k",/summed = "k", options = { { "lie", flag = true }, { "go", flag = true } }, ragged = { "lie", sizes = { "m" } }, gathered = { "go", tensor = "c", size = "k", rows = "index" },/' "3:239: error: gathered.tensor: unknown tensor 'c'; there are a, b and e"
wrong 's/summed = "k",/summed = "k", options = { { "lie", flag = true }, { "go", flag = true } }, ragged = { "lie", sizes = { "m" } }, gathered = { "go", tensor = "a", size = "kk", rows = "index" },/' "3:251: error: gathered.size: unknown size 'kk'; there are m, n and k"
wrong 's/summed = "k",/summed = "k", options = { { "lie" } },/' "3:125: error: options.lie: expected words = { ... } or flag = true"
wrong 's/summed = "k",/summed = "k", options = { { "lie", words = { "w" } } }, paged = { "lie", size = "m" },/' "3:163: error: missing field 'paged.pages': a size's name"
wrong 's/summed = "k",/summed = "k", only = { kk = { "mask", "causal" } },/' "3:127: error: only: unknown size 'kk'; there are m, n and k"
wrong 's/summed = "k",/summed = "k", at = { "row" },/' '3:118: error: at: expected the names of row and column'
wrong 's/summed = "k",/summed = "k", planes = "m", at = { "row", "col" },/' '3:132: error: at: expected the names of row, column, plane and batch'
wrong 's/"a", rows = "m"/"a", planes = "m", rows = "m"/' '6:31: error: tensors.a.planes: the family has no planes'
wrong 's/functions = /outputs = { kinds = { "full" }, computed = { 1 } }, functions = /' "10:48: error: outputs.computed: expected a name, got the number 1"
wrong 's/"a_op", args/"a_op", over = { "l" }, args/' "10:106: error: functions.a_op.over: unknown size 'l'; there are m, n and k"
wrong 's/"a_op", args/"mask", args/; s/summed = "k",/summed = "k", options = { { "mask", words = { "causal" } } },/' "10:87: error: functions: 'mask' is a field of instance files already"
wrong 's/"a_op", args/"depth", args/; s/summed = "k",/summed = "k", fixed = { "depth", sizes = { "k" } },/' "10:87: error: functions: 'depth' is a field of instance files already"

cp "$tmp/good" "$file"
"$gen" --check --templates "$tmp/templates" "$tmp/op.lua" >"$tmp/out" 2>&1
grep -q 'pair "plain": no schedule' "$tmp/out"
result $? "the file as it is gives a family, without schedules so far"
rm "$file"
"$gen" --check --templates "$tmp/templates" "$tmp/op.lua" >"$tmp/out" 2>&1
grep -q 'templates: error: no folder here has a family.lua$' "$tmp/out"
result $? "templates without a family are refused"
finish
