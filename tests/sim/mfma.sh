#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every matrix builtin of the AMD compiler for gfx90a and gfx942, compiled at -O3, run on the simulator through HIP's
# entry points and compared with a statement of the layouts of its own (mfma_device.c).
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/tap.sh"
# shellcheck source=../lib/amd.sh
. tests/lib/amd.sh
if ! amd_available gfx942 || ! amd_available gfx90a; then echo "1..0 # SKIP no AMD compiler"; exit 77; fi
lib=$(cd "$(dirname "$bin")/lib" && pwd)

check "host program" "${CC:-cc}" -std=gnu11 -O1 -Wall -Wextra -o "$tmp/device" tests/sim/mfma_device.c -L"$lib" \
    -lkilnsim -Wl,-rpath,"$lib" -lm
for target in gfx90a gfx942; do
    check "$target: compiled" amd_compile $target "$tmp/$target.co" tests/sim/kernels/mfma.hip
    KILN_SIM=arch=$target timeout 120 "$tmp/device" "$tmp/$target.co" $target >"$tmp/out" 2>&1
    result $? "$target: every form and modifier ($(grep -c '^ok' "$tmp/out") checks)"
done
finish
