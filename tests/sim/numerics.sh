#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Expressions and conversions of numerics_cases.h: compiled for gfx90a and gfx942 at -O0, -O1 and
# -O3, run on the simulator and compared bit for bit with the same lines compiled for this host.
# Ends with `N passed, N failed`.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh disable=SC2154,SC2054,SC2015
. "$(dirname "${BASH_SOURCE[0]}")/../lib/tap.sh"
. tests/lib/amd.sh
amd_available gfx942 && amd_available gfx90a || { echo "1..0 # SKIP no AMD compiler"; exit 77; }
lib=$(cd "$(dirname "$bin")/lib" && pwd)

# A host compiler that has _Float16 and rounds each operation on it: gcc 12, clang 16 and later.
host() {
    local cc flag
    for cc in "${CC:-cc}" cc gcc; do
        for flag in -fexcess-precision=16 -Xclang=-ffloat16-excess-precision=none; do
            # shellcheck disable=SC2086
            $cc -std=gnu11 -O1 -w -fwrapv -ffp-contract=off ${flag/clang=/clang } \
                -o "$tmp/numerics" tests/sim/numerics.c -L"$lib" -lkilnsim -Wl,-rpath,"$lib" -lm &&
                return
        done
    done
}
host >"$tmp/out" 2>&1 || {
    cat "$tmp/out"
    echo "FAIL host program"
    echo "0 passed, 1 failed"
    exit 1
}

one() { # TARGET LEVEL
    local out=$tmp/$1.$2
    if amd_compile "$1" "$out.co" tests/sim/kernels/numerics.hip "-$2" -fwrapv \
        -ffp-contract=off >"$out" 2>&1; then
        KILN_SIM=arch=$1 timeout 120 "$tmp/numerics" "$out.co" "$1" "$2" >"$out" 2>&1
    fi
    grep -qE '^[0-9]+ passed, [0-9]+ failed' "$out" ||
        printf 'FAIL %s %s\n0 passed, 1 failed\n' "$1" "$2" >>"$out"
}
for target in gfx90a gfx942; do
    for level in O0 O1 O3; do one $target $level & done
    wait
done
cat "$tmp"/gfx*.O? >"$tmp/all"
grep -vE '^[0-9]+ passed, ' "$tmp/all" | head -n 100
awk '/^[0-9]+ passed, [0-9]+ failed/ { p += $1; f += $3 }
    END { print p + 0 " passed, " f + 0 " failed"; exit f > 0 }' "$tmp/all"
