#!/bin/bash
# SPDX-License-Identifier: MIT
# A family that is made of files alone, tests/family: generated, compiled for the host and run.  And what is written of a
# family on a target goes with its last kernel there.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh disable=SC2016,SC2015
. "$(dirname "$0")/../lib/tap.sh"
family=$root/tests/family

cp -rL "$family/templates" "$tmp/templates"
cp -rL "$root/templates/gemm" "$root/templates/rowwise" "$root/templates/lib" "$tmp/templates"
mkdir "$tmp/instances"
cp "$family"/instances/*.lua "$tmp/instances"
cat >"$tmp/instances/product.lua" <<'END'
gemm "product" { types = { { a = f32, b = f32, e = f32 } }, layouts = { "rrr" }, targets = { "host" }, epilogue = function(acc) return acc end }
END
out=$tmp/gen
run() { "$gen" --templates "$tmp/templates" --out "$out" "$tmp/instances"; }
alone() { "$gen" --templates "$family/templates" --out "$tmp/alone" "$family/instances"; }

check "the family alone is generated" alone
check "beside the others, too" run
check "... with the same sources" diff -r "$tmp/alone/host/flip" "$out/host/flip"
compile() {
    for f in "$out"/host/flip/*.c "$out"/host/turn/*.c; do
        cc -std=gnu11 -O1 -Wall -Wextra -fPIC -I"$root/abi" -I"$root/templates/device" -c -o "${f%.c}.o" "$f" || return 1
    done
    cc -std=gnu11 -Wall -Wextra -I"$out/host" -I"$root/abi" -o "$tmp/run" "$family/run.c" "$out"/host/flip/*.o "$out"/host/turn/*.o -lm
}
check "its kernels compile" compile
check "... and compute what they say" "$tmp/run"
table() {
    while read -r _ _ object; do [ -e "$out/$object" ] || echo none >"$out/$object"; done <"$out/host/manifest"
    "$gen" --pack "$out/host" && cc -std=gnu11 -Wall -Wextra -Werror -fsyntax-only -I"$root/abi" -I"$out/host" "$out/host/module.c"
}
check "the module's table compiles" table
check "... with both families" grep -qF '.nfamilies = 2,' "$out/host/module.c"
check "two schedules of one name are kept apart" grep -q '^static uint32_t transpose_host_check' "$out/host/module.c"
find "$out" -name '*.o' -delete

# What a wrong family file says behind what gen/family.c does.
says() { # NAME SED MESSAGE
    rm -rf "$tmp/wrong" && cp -r "$tmp/templates" "$tmp/wrong" && sed -i "$2" "$tmp/wrong/transpose/family.lua"
    "$gen" --check --templates "$tmp/wrong" "$tmp/instances" >"$tmp/log" 2>&1
    [ $? -eq 1 ] && grep -qF -- "$3" "$tmp/log"
    result $? "$1" "$tmp/log"
}
says "two fields of one name" 's/"cols"/"units"/g' "/transpose/family.lua:4:15: error: kiln_transpose_args would have two fields 'units'"
says "... among those of p" 's/"y"/"d"/; s/{ "y"/{ "d"/' "two fields 'd'"
says "present that fails, with its line" 's/^  example/  present = function(op) op.d.x.y = 1 end,\n&/' \
    "/transpose/family.lua:18:31: error: attempt to index a nil value"

check "no args of a family without kernels" test ! -e "$out/host/kiln_rowwise_args.h" -a -e "$out/host/kiln_gemm_args.h"
rm "$tmp"/instances/flip.lua
check "the last op of a family goes" run
check "... and what its kernels were given" test ! -e "$out/host/kiln_transpose_args.h" -a -e "$out/host/kiln_gemm_args.h"
rm "$tmp"/instances/product.lua
echo 'gemm "elsewhere" { types = { { a = f32, b = f32, e = f32 } }, layouts = { "rrr" }, targets = { "gfx942" }, epilogue = function(acc) return acc end }' >"$tmp/instances/elsewhere.lua"
check "the last op of a target goes" run
check "... and its folder" test ! -e "$out/host"
finish
