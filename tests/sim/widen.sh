#!/bin/bash
# SPDX-License-Identifier: MIT
# What mfma computes in its own way, on both targets' simulators: kiln_widen.h against kiln_types.h, every value of every
# 1-byte type; kiln_quotient against division.  TAP.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh disable=SC2154,SC2015
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=../lib/amd.sh
. tests/lib/amd.sh
amd_available gfx942 && amd_available gfx90a || { echo "1..0 # SKIP no AMD compiler"; exit 77; }
lib=$(cd "$(dirname "$bin")/lib" && pwd)

check "host program" "${CC:-cc}" -std=gnu11 -O1 -Isim -o "$tmp/driver" tests/sim/kernels/cost_driver.c -L"$lib" -lkilnsim -Wl,-rpath,"$lib"
for target in gfx942 gfx90a; do
    for what in "widen 1 256" "quotient 24 64"; do
        read -r kernel blocks threads <<<"$what"
        for wrong in 0 1; do
            check "$target: $kernel compiled" amd_compile $target "$tmp/k.co" "tests/sim/kernels/$kernel.hip" \
                -Itemplates/device -Iabi -DWRONG=$wrong
            KILN_SIM=arch=$target timeout 60 "$tmp/driver" "$tmp/k.co" "$kernel" "$blocks" 1 "$threads" 1024 >"$tmp/out" 2>&1
            [ $(($? == 0)) -ne $wrong ]
            result $? "$target: $kernel: $([ $wrong = 0 ] && echo 'all values are the same' || echo 'a wrong bit is found')"
        done
    done
done
finish
