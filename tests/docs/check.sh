#!/bin/bash
# SPDX-License-Identifier: MIT
# What the documents say is true: examples pass, compile and run, messages and lists are the program's own.  TAP.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
lib=$(realpath -m "$BUILD/lib")
checked=("$gen" --templates "$root/templates" --check)

outcome() { # exit status, name; what is in $tmp/out explains a failure
    result "$1" "$2"
    : >"$tmp/out"
}
same() { diff "$1" "$2" >"$tmp/out"; outcome $? "$3"; }
: >"$tmp/out"

docs=(README.md CONTRIBUTING.md docs/*.md)
blocks=$tmp/blocks
mkdir "$blocks"
for f in "${docs[@]}"; do
    awk -v dir="$blocks" -v doc="$(basename "$f" .md)" -f tests/docs/blocks.awk "$f" 2>>"$tmp/out" || outcome 1 "$f"
done
block() { find "$blocks" -name "$1" | sort | head -n 1; } # first block whose file name fits the pattern

# ---- instance files: a gemm in a file of its name under its formula; several row-wise ops in one, listed in rowwise.md ----
for f in instances/*.lua; do
    case $f in *.d.lua) continue ;; esac
    name=$(basename "$f" .lua)
    { "${checked[@]}" "$f" 2>"$tmp/out" && [ ! -s "$tmp/out" ]; }; outcome $? "$f is right"
    "$gen" --templates templates --out "$tmp/ops/$name" --target host "$f" >"$tmp/out" 2>&1 # a folder for each op
    find "$tmp/ops/$name/host" -mindepth 1 -maxdepth 1 -type d -printf '%f\n' 2>/dev/null | sort >"$tmp/described"
    if grep -q '^gemm "' "$f"; then
        { [ "$(cat "$tmp/described")" = "$name" ] && head -n 1 "$f" | grep -q '^-- E = '; }
        outcome $? "$f describes one op of its name, under its formula"
    elif [ -s "$tmp/described" ]; then
        grep -v '^-- SPDX' "$f" | head -n 1 | grep -q '^-- ' || echo 'no comment on top' >"$tmp/out"
        page=docs/rowwise.md
        grep -q '^attention "' "$f" && page=docs/attention.md
        awk -F '|' -v f="\`$name.lua\`" 'index($4, f) { print $2 }' $page | grep -oE '`[a-z0-9_]+`' | tr -d '`' >"$tmp/row"
        while read -r op; do # NAME, or NAME with endings that the row has, too
            base=$(sed -E 's/_(fnuz|i8)$//; s/_(static|quant|quant_block)$//; s/_f16$//' <<<"$op")
            grep -qxF -e "$op" -e "$base" "$tmp/row" || echo "$op is not beside $name.lua in $page"
        done <"$tmp/described" >>"$tmp/out"
        grep '^[a-z]' "$tmp/row" | grep -vxFf "$tmp/described" | sed "s/$/ is not described/" >>"$tmp/out"
        [ ! -s "$tmp/out" ]; outcome $? "$f has a comment on top, and $page lists its ops"
    else
        grep -q "require \"$name\"" instances/*.lua; outcome $? "$f describes no op: another requires it"
    fi
done
{ "${checked[@]}" examples/ops 2>"$tmp/out" && [ ! -s "$tmp/out" ]; }; outcome $? "ops of the programs of whole models are right"
for f in "$blocks"/*.lua.instance; do
    cp "$f" "$tmp/example.lua"
    { "${checked[@]}" "$tmp/example.lua" 2>"$tmp/out" && [ ! -s "$tmp/out" ]; }
    outcome $? "Lua example $(basename "$f" .lua.instance)"
done

# ---- a mistake and its message, and the same op built and launched as adding-an-op says ----
mkdir "$tmp/instances"
cp "$(block 'adding-an-op.*.lua.mistake')" "$tmp/instances/bias_leaky_relu.lua"
(cd "$tmp" && "${checked[@]}" instances/bias_leaky_relu.lua >"$tmp/message" 2>&1)
[ $? -eq 1 ]; outcome $? 'the mistake in adding-an-op is one'
same "$(block 'adding-an-op.*.text.message')" "$tmp/message" 'and gets the message shown'

mkdir "$tmp/docs_ops"
cp "$(block 'adding-an-op.*.lua.instance')" "$tmp/docs_ops/bias_leaky_relu.lua"
prog=$(block 'adding-an-op.*.c.program.bias_leaky_relu')
cp "$prog" "$tmp/prog.c"
if [ -e "$lib/libkiln.so" ] && make instances BUILD="$BUILD" TARGETS=host INSTANCES="$tmp/docs_ops" >"$tmp/out" 2>&1; then
    outcome 0 'the op of adding-an-op builds'
    { gcc -std=c11 -Wall -Wextra -Werror "$tmp/prog.c" -Iruntime -Iabi -L"$lib" -lkiln -Wl,-rpath,"$lib" \
        -o "$tmp/prog" 2>"$tmp/out" && KILN_DEVICE=host KILN_MODULE_PATH=$BUILD/modules/docs_ops "$tmp/prog" >"$tmp/printed" 2>"$tmp/out"; }
    outcome $? 'and its program runs'
    same "$(block 'adding-an-op.*.text.output.bias_leaky_relu')" "$tmp/printed" 'and prints what is shown'
else
    outcome 1 'the op of adding-an-op builds'
fi
rm -rf "${BUILD:?}/modules/docs_ops"

# ---- C programs ----
for f in "$blocks"/*.c.program; do
    name=$(basename "$f" .c.program)
    cp "$f" "$tmp/prog.c"
    { gcc -std=c11 -Wall -Wextra -Wconversion -Wshadow -Werror "$tmp/prog.c" -Iruntime -Iabi -L"$lib" -lkiln -Wl,-rpath,"$lib" \
        -o "$tmp/prog" 2>"$tmp/out" && KILN_DEVICE=host "$tmp/prog" >"$tmp/out" 2>&1; }
    outcome $? "C example $name compiles and runs"
    [ -s "$tmp/out" ] && : >"$tmp/out"
done
block 'README.*.c.program' >/dev/null && same "$(block 'README.*.c.program')" examples/readme.c "README's program is examples/readme.c"
same "$(block 'README.*.lua.instance')" instances/swiglu.lua "README's op is instances/swiglu.lua"
same "$(block 'language.*.lua.instance')" instances/bias_relu.lua "the language page's first op is instances/bias_relu.lua"

# ---- the language: documents and editor annotations name what the generator's tables hold ----
"$gen" --language >"$tmp/language" 2>"$tmp/out"; outcome $? 'kiln-gen --language'
words() { awk -v k="$1" '$1 == k { print $2 }' "$tmp/language" | sort -u; }
documented() { # kind, file, sed program that lists what the file has
    words "$1" >"$tmp/want"
    sed -nE "$3" "$2" | tr ' ,' '\n' | grep -xE '[a-z_0-9]+' | sort -u >"$tmp/have"
    [ -s "$tmp/want" ] || echo "kiln-gen --language lists no $1" >"$tmp/out"
    diff "$tmp/want" "$tmp/have" >>"$tmp/out"
    { [ -s "$tmp/want" ] && cmp -s "$tmp/want" "$tmp/have"; }; outcome $? "every $1 is in $2, and no other"
}
documented field docs/language.md '/^## Fields/,/^### types/ { /^\| `/ { s/^\| ([^|]*)\|.*/\1/; s/`//g; p } }'
documented dtype docs/language.md '/^### types/,/^### layouts/ s/^\| `([a-z0-9]+)` \|.*/\1/p'
documented kind docs/language.md '/^### d: /,/^### scalars/ s/^\| `([a-z_]+)\(t[^)]*\)`.*/\1/p'
documented function docs/language.md '/^## Functions/,/^## Arithmetic/ { /^\| `/ { s/^\| (.*) \|[^|]*\|$/\1/; s/\([^)]*\)//g; s/`//g; p } }'
documented gemm-field instances/kiln.d.lua '/^---@class kiln.Gemm$/,/^$/ s/^---@field ([a-z_]+)\??.*/\1/p'
documented rowwise-field instances/kiln.d.lua '/^---@class kiln.Rowwise$/,/^$/ s/^---@field ([a-z_]+)\??.*/\1/p'
documented attention-field instances/kiln.d.lua '/^---@class kiln.Attention$/,/^$/ s/^---@field ([a-z_]+)\??.*/\1/p'
documented family instances/kiln.d.lua 's/^function (attention|gemm|rowwise)\(.*/\1/p'
documented gemm-type instances/kiln.d.lua '/^---@class kiln.Types$/,/^$/ s/^---@field ([a-z_]+)\??.*/\1/p'
documented check-field instances/kiln.d.lua '/^---@class kiln.Check$/,/^$/ s/^---@field ([a-z_]+)\??.*/\1/p'
documented dtype instances/kiln.d.lua 's/^([a-z0-9]+) = \{\}$/\1/p'
documented kind instances/kiln.d.lua 's/^function (full|per_[a-z_]+)\(.*/\1/p'
"$gen" --templates templates --annotations >"$tmp/have" 2>"$tmp/out"; outcome $? 'kiln-gen --annotations'
same "$tmp/have" instances/schedules.d.lua 'instances/schedules.d.lua is what kiln-gen --annotations prints'
grep -vE '^function (attention|gemm|rowwise|code|require|paged|full|per_[a-z_]+)\(' instances/kiln.d.lua >"$tmp/functions.lua"
documented function "$tmp/functions.lua" 's/^function ([a-z_]+)\(.*/\1/p'
awk '$1 == "global" && $2 != "code" { print $2 }' "$tmp/language" | sort -u >"$tmp/want"
sed -nE '/^## The sandbox/,/^## Limits/ s/^\| `?([a-z]+\.)?`? ?\| (`.*`) \|$/\1 \2/p' docs/language.md | tr -d '`' |
    awk '{ p = $1 ~ /\.$/ ? $1 : ""; for (i = 1 + (p != ""); i <= NF; i++) print p $i }' | sort -u >"$tmp/have"
same "$tmp/want" "$tmp/have" 'every sandbox name is in docs/language.md, and no other'
for w in $(words family) $(words dtype) $(words kind) $(words function); do
    grep -q "\"$w\"" .luacheckrc || echo "$w" >>"$tmp/out"
done
[ ! -s "$tmp/out" ]; outcome $? '.luacheckrc knows the language'

# ---- messages: each line of the language page's tables gets the answer shown ----
# shellcheck disable=SC2034 # op_with reads them by name
declare -A gemm=([types]='{ { a = f16, b = f16, e = f16 } }' [layouts]='{ "rcr" }' [d]='{ bias = per_col "e" }'
    [epilogue]='function(acc, d) return relu(acc + d.bias) end')
# shellcheck disable=SC2034
declare -A rowwise=([types]='{ { x = f16, y = f8e4m3 } }' [d]='{ x = full "x" }'
    [outputs]='{ y = full "y", scale = per_row(f32) }'
    [body]='function(d) return { y = d.x / (row_max(abs(d.x)) / 448), scale = row_max(abs(d.x)) / 448 } end')
# shellcheck disable=SC2034
declare -A attention=([types]='{ { q = f16, k = f16, v = f16, o = f16 } }' [heads]='{ { 64, 64 } }'
    [d]='{ bias = full(f16) }' [score]='function(x, at, s, d) return x + d.bias end')
# shellcheck disable=SC2034
declare -A scaled=([types]='{ { a = f8e4m3, b = f8e4m3, e = bf16 } }' [layouts]='{ "rcr" }'
    [d]='{ sa = per_block("a", f32, 1, 128), sb = per_block("b", f32, 128, 128), bias = per_col "e" }'
    [block]='function(acc, d) return acc * d.sa * d.sb end' [epilogue]='function(acc, d) return acc + d.bias end')
# shellcheck disable=SC2034
declare -A beside=([types]='{ { a = f16, b = f16, e = f16 } }' [layouts]='{ "rcr" }' [outputs]='{ amax = per_row(f32) }'
    [epilogue]='function(acc) return { e = acc, amax = row_max(abs(acc)) } end')
op_with() { # the right fields, one that replaces or joins them
    local -n right=$1
    echo '{'
    for k in types layouts heads d epilogue block outputs body score; do
        [ "$k" = "${2%% = *}" ] || [ -z "${right[$k]:-}" ] || echo "  $k = ${right[$k]},"
    done
    [ -z "$2" ] || echo "  $2,"
    echo '}'
}
messages() { # family, sed's range of lines, least number of messages, the right fields where not of the family's name
    sed -nE "$2"' s/^\| (`.+` \| `.+`) \|$/\1/p' docs/language.md >"$tmp/messages"
    [ "$(wc -l <"$tmp/messages")" -ge "$3" ]; outcome $? "the language page lists messages of $1"
    while IFS= read -r row; do
        wrote=${row%%'` | `'*} says=${row#*'` | `'}
        wrote=${wrote#'`'} says=${says%'`'}
        case $wrote in
        *'{ ... }'*) echo "${wrote/'{ ... }'/$(op_with "${4:-$1}" '')}" ;;
        [a-z]*' = function(x)'* | while* | local*) echo "$wrote" ;;
        *) echo "$1 \"my_op\" $(op_with "${4:-$1}" "$wrote")" ;;
        esac >"$tmp/instances/my_op.lua"
        (cd "$tmp" && "${checked[@]}" instances/my_op.lua >"$tmp/out" 2>&1)
        [ $? -eq 1 ] && grep -m 1 ' error: ' "$tmp/out" | sed -E "s/^[^ ]* error: ($1 \"my_op\": )?//" | grep -qxF -- "$says"
        outcome $? "message for: $wrote"
    done <"$tmp/messages"
}
messages gemm '/^## Messages/,/^### Blocks and operators/' 30
messages gemm '/^### Blocks and operators/,/^### Tables returned/' 8 scaled
messages gemm '/^### Tables returned/,/^### Row-wise/' 5 beside
messages rowwise '/^### Row-wise/,/^### Attention/' 15
messages attention '/^### Attention/,$' 12

# ---- the C API: statuses and functions ----
sed -nE 's/^ *X\((KILN_[A-Z_]+), "([a-z_]+)".*/\1 \2/p' runtime/kiln.h | sort >"$tmp/want"
sed -nE 's/^\| `(KILN_[A-Z_]+)` \| ([a-z_]+) \|.*/\1 \2/p' docs/c-api.md | sort >"$tmp/have"
same "$tmp/want" "$tmp/have" 'the C API page has every status'
grep -oE '\bkiln_[a-z_]+\(' runtime/kiln.h | tr -d '(' | sort -u >"$tmp/want"
grep -ohE '\bkiln_[a-z_]+\b' docs/c-api.md | sort -u | grep -xFf "$tmp/want" >"$tmp/have"
same "$tmp/want" "$tmp/have" 'the C API page has every function'

# ---- man pages and commands ----
if command -v scdoc >/dev/null; then
    for f in docs/man/*.scd; do scdoc <"$f" >"$tmp/page" 2>"$tmp/out"; outcome $? "$f builds"; done
else
    skip 'man pages' 'no scdoc'
fi
"$gen" --help 2>&1 | grep -oE -- '--[a-z]+(-[a-z]+)*' | sort -u | while read -r o; do
    case $o in --help | --usage | --version) continue ;; esac
    grep -qF -- "*$o*" docs/man/kiln-gen.1.scd || echo "kiln-gen $o"
done >"$tmp/out"
[ ! -s "$tmp/out" ]; outcome $? 'kiln-gen(1) has every option'
"$kiln" list --help >/dev/null 2>&1 || echo "no $kiln" >"$tmp/out"
for c in list explain verify bench tune report new build; do
    { "$kiln" $c --help 2>&1; } | grep -oE -- '--[a-z]+(-[a-z]+)*' | sort -u | while read -r o; do
        case $o in --help | --usage | --version) continue ;; esac
        grep -qF -- "*$o*" docs/man/kiln.1.scd || echo "kiln $c $o"
    done >>"$tmp/out"
done
[ ! -s "$tmp/out" ]; outcome $? 'kiln(1) has every option'
grep -ohE '^    make [a-z-]+|`make [a-z-]+' "${docs[@]}" | awk '{ print $NF }' | sort -u | while read -r goal; do
    cat Makefile mk/*.mk | grep -qE "^([a-z-]+ )*$goal( [a-z-]+)*:" || echo "make $goal"
done >"$tmp/out"
[ ! -s "$tmp/out" ]; outcome $? 'every make goal in the documents exists'

for f in templates/*/new/*.lua; do
    grep -qF "_$(basename "$f" .lua)_" docs/man/kiln.1.scd || echo "kiln new --template $(basename "$f" .lua)"
done >"$tmp/out"
[ ! -s "$tmp/out" ]; outcome $? 'kiln(1) has every file that kiln new starts from'

# ---- width ----
LC_ALL=C.UTF-8 grep -nE '^.{121}' "${docs[@]}" | grep -vE '^[^:]+:[0-9]+:\|' >"$tmp/out"
[ ! -s "$tmp/out" ]; outcome $? 'lines of documents have at most 120 columns, those of tables apart'

# ---- counts: what README says `make test` executes is what the generator makes ----
for t in host gfx942 gfx90a; do
    made=$("$gen" --templates templates --out "$tmp/counted" --target $t --stats instances 2>&1 | sed -nE 's/.* ([0-9]+) instances.*/\1/p')
    grep "^| \`$t\`" README.md | grep -q " ${made:-none} instances" || echo "$t: kiln-gen makes $made instances" >>"$tmp/out"
done
[ ! -s "$tmp/out" ]; outcome $? "README's numbers of instances"

# ---- links ----
anchors() { # GitHub's: lower case, punctuation gone, blanks to hyphens
    awk '/^```/ { code = !code } !code && /^#+ /' "$1" | sed -E 's/^#+ //; s/.*/\L&/; s/[^a-z0-9_ -]//g; s/ /-/g'
}
for f in "${docs[@]}"; do
    awk '/^```/ { code = !code } !code' "$f" | grep -oE '\]\([^)]+\)' | sed -E 's/^\]\((.*)\)$/\1/' | while read -r link; do
        case $link in http*) continue ;; esac
        path=${link%%#*} anchor=
        case $link in *#*) anchor=${link#*#} ;; esac
        target=$(dirname "$f")/$path
        [ -n "$path" ] || target=$f
        [ -e "$target" ] || { echo "$f: $link: no such file"; continue; }
        [ -z "$anchor" ] || anchors "$target" | grep -qx -- "$anchor" || echo "$f: $link: no such heading"
    done
done >"$tmp/out"
[ ! -s "$tmp/out" ]; outcome $? 'links lead somewhere'

# ---- spelling, lint ----
if command -v codespell >/dev/null; then
    codespell -q 3 "${docs[@]}" docs/man instances tests/docs >"$tmp/out" 2>&1; outcome $? 'codespell'
else
    skip codespell 'not installed'
fi
if command -v luacheck >/dev/null; then
    luacheck -q --no-color instances examples/ops templates/*/*.lua templates/*/lib/*.lua templates/*/new/*.lua tests/gpu tests/host tests/sim tests/family >"$tmp/out" 2>&1; outcome $? 'luacheck'
else
    skip luacheck 'not installed'
fi
if command -v shellcheck >/dev/null; then
    find tests mk -name "*.sh" -exec shellcheck -x -S warning {} + >"$tmp/out" 2>&1; outcome $? 'shellcheck'
else
    skip shellcheck 'not installed'
fi
finish
