#!/bin/bash
# SPDX-License-Identifier: MIT
# A family that the project does not have, tests/family, from its files to the tools: the generator as it is, the library
# with its reference and the one line that registers it.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh disable=SC2016,SC2015
. "$(dirname "$0")/../lib/tap.sh"
family=$root/tests/family out=$tmp/gen/host
export KILN_MODULE_PATH=$tmp/modules LD_LIBRARY_PATH=$tmp/lib
mkdir -p "$tmp/runtime" "$tmp/lib" "$tmp/modules"

library() { # libkiln of this checkout, of which what reads references.h is compiled again
    cp "$root"/runtime/*.[ch] "$tmp/runtime" && cp "$family/ref_transpose.c" "$tmp/runtime" || return 1
    sed -i 's/^    X(gemm) /    X(gemm) X(transpose) /' "$tmp/runtime/references.h" && grep -q 'X(transpose)' "$tmp/runtime/references.h" || return 1
    ${CC:-cc} -std=gnu11 -O1 -fPIC -fvisibility=hidden -I"$root/abi" -I"$tmp/runtime" -shared -Wl,-soname,libkiln.so.0 \
        -Wl,--version-script="$root/runtime/kiln.map" -o "$tmp/lib/libkiln.so.0" "$tmp"/runtime/*.c \
        "$root"/tools/harness*.c "$root"/tools/tuning_rows.c -ldl -lpthread -lm
}
module() { # [WHAT SED DOES TO THE KERNELS]
    "$gen" --templates "$family/templates" --out "$tmp/gen" "$family/instances" && sed -i "${1-}" "$out"/*/*.c || return 1
    local name source object
    while read -r name source object; do
        ${CC:-cc} -std=gnu11 -O2 -fPIC -I"$root/abi" -I"$root/templates/device" -c -o "$tmp/gen/$object" "$tmp/gen/$source" || return 1
    done <"$out/manifest"
    "$gen" --pack "$out" && ${CC:-cc} -std=gnu11 -O1 -fPIC -shared -fvisibility=hidden -I"$root/abi" -I"$out" -Wa,-I"$out" \
        -o "$tmp/modules/libkiln-host.so" "$out/module.c" "$out"/*/*.o -lm && "$gen" --seal "$tmp/modules/libkiln-host.so"
}
says() { # TEXT COMMAND...
    local want=$1
    shift
    "$@" >"$tmp/said" 2>&1 && grep -qE -- "$want" "$tmp/said" || { cat "$tmp/said"; false; }
}
case $BUILD in */san | */san/*) skip "a family of files alone" "the library is one without sanitizers"; finish; exit ;; esac
check "the library with another family's reference" library
check "the family's module" module
check "its instances are listed" says '^host/flip/bf16_f32/host_32 +bf16,f32 +- +tile=32' "$kiln" list
check "a problem of it is explained" says 'host/flip/f32_f32/host_.*chosen' "$kiln" explain 'flip f32,f32 rows=30 cols=50 ldx=64 sx=broadcast'
check "... and one that it cannot have is refused" bash -c '"$1" explain "flip f32,f32 rows=30 cols=50 ldy=29" 2>&1 | grep -q "ldy"' - "$kiln"
check "all instances are verified" says ', 0 failed' "$kiln" verify --all --device host
check "... strided and batched, too" says '^[1-9][0-9]* passed, 0 failed' "$kiln" verify --device host 'turn i8,f32 rows=33 cols=70 batch=3 ldx=77 ldy=40'
check "a large one is sampled" says '^[1-9][0-9]* passed, 0 failed' "$kiln" verify --device host 'flip f32,f32 rows=3000 cols=2000'
check "it is timed" says 'GB/s' "$kiln" bench 'flip bf16,f32 rows=300 cols=500'
check "a kernel that leaves out a row is built" module 's/i < g->rows &&/i + 1 < g->rows \&\&/'
misses() { ! "$kiln" verify --device host 'flip f32,f32 rows=30 cols=20' >"$tmp/said" 2>&1 && grep -q 'was not written' "$tmp/said"; }
check "... and found" misses
finish
