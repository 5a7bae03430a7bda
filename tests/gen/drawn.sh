#!/bin/bash
# SPDX-License-Identifier: MIT
# Ops drawn at random: whatever types, layouts, products, operators, blocks of K and outputs are together,
# each target has kernels of them.  Argument: another first seed.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
first=${1:-1}
for seed in $(seq "$first" $((first + 3))); do
    python3 tests/gen/drawn.py "$seed" 60 >"$tmp/drawn.lua" || exit 1
    "$gen" --templates templates --out "$tmp/out.$seed" --target sm_90a --target gfx942 "$tmp/drawn.lua" >"$tmp/log" 2>&1
    result $? "60 ops of seed $seed" "$tmp/log"
    rm -rf "$tmp/out.$seed"
done
finish
