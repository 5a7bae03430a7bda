#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The simulator's speed: a 1024^3 f16 GEMM of 128x128 tiles with all checks, on one core in at most 3 s of its time.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/tap.sh"
# shellcheck source=../lib/amd.sh
. tests/lib/amd.sh
amd_available gfx942 || { echo "1..0 # SKIP no AMD compiler"; exit 77; }
lib=$(cd "$(dirname "$bin")/lib" && pwd)

check "host program" "${CC:-cc}" -std=gnu11 -O3 -Wall -Wextra -o "$tmp/speed" tests/sim/mfma_speed.c -L"$lib" -lkilnsim \
    -Wl,-rpath,"$lib"
check "kernel" amd_compile gfx942 "$tmp/gemm.co" tests/sim/kernels/gemm_f16.hip
KILN_SIM=arch=gfx942,threads=1 timeout 120 "$tmp/speed" "$tmp/gemm.co" 1024 3 >"$tmp/out" 2>&1
status=$?
result $status "$(head -n 1 "$tmp/out")"
finish
