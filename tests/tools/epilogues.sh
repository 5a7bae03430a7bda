#!/bin/bash
# SPDX-License-Identifier: MIT
# Random epilogues are built for the host and must verify: kernels are right, so a failure is the bounds' (or a find).
# Arguments: how many epilogues (32), of which seed (1), and with how many seeds of inputs (3); by hand, a few hundred:
#     bash tests/tools/epilogues.sh 400 7 5
# shellcheck source-path=SCRIPTDIR source=lib/kiln.sh disable=SC2154
. "$(dirname "$0")/lib/kiln.sh"
count=${1:-32} seed=${2:-1} inputs=${3:-3}

mkdir "$tmp/ops"
awk -v count="$count" -v seed="$seed" -f tests/tools/lib/epilogues.awk >"$tmp/ops/random.lua"
check "$count random epilogues compile" make --no-print-directory -j"$(nproc)" -f mk/instances.mk DIR="$tmp/ops" OUT="$tmp/gen" \
    LIB="$tmp/lib" BUILD="$BUILD" TARGETS=host all
verifies() { # all that computes anything at all: of some, as of rsqrt(acc - acc), no element is determined
    kiln verify --modules "$tmp/lib" --all --quick --device host --seed "$1"
    grep '/random_' "$tmp/out" >"$tmp/random"
    [ "$(wc -l <"$tmp/random")" -eq "$count" ] || { cat "$tmp/err"; return 1; }
    awk '/^FAIL/ && !/ elements .*determine/ { print; bad = 1 }
         /^FAIL/ && / elements .*determine/ { few++ }
         END { printf "%d of %d determine too little\n", few, NR; exit bad || few > NR / 8 }' "$tmp/random"
}
for ((i = 1; i <= inputs; i++)); do check "they verify with inputs of seed $i" verifies "$i"; done
finish
