#!/bin/bash
# SPDX-License-Identifier: MIT
# kiln_widen.h against kiln_types.h: every value of every 1-byte type, on both targets' simulators.  TAP.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh disable=SC2154,SC2015
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=../lib/amd.sh
. tests/lib/amd.sh
amd_available gfx942 && amd_available gfx90a || { echo "1..0 # SKIP no AMD compiler"; exit 77; }
lib=$(cd "$(dirname "$bin")/lib" && pwd)

check "host program" "${CC:-cc}" -std=gnu11 -O1 -Isim -o "$tmp/driver" tests/sim/kernels/cost_driver.c -L"$lib" -lkilnsim -Wl,-rpath,"$lib"
for target in gfx942 gfx90a; do
    for wrong in 0 1; do
        check "$target: compiled" amd_compile $target "$tmp/widen.co" tests/sim/kernels/widen.hip -Itemplates/device -Iabi -DWRONG=$wrong
        KILN_SIM=arch=$target timeout 60 "$tmp/driver" "$tmp/widen.co" widen 1 1 256 1024 >"$tmp/out" 2>&1
        [ $(($? == 0)) -ne $wrong ]
        result $? "$target: $([ $wrong = 0 ] && echo 'all values are the same' || echo 'a wrong bit is found')"
    done
done
finish
