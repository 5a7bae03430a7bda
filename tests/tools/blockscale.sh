#!/bin/bash
# SPDX-License-Identifier: MIT
# Block-scaled fp8 products, all column by column, against a program of their own in float64: every kernel for the host
# and, on the simulator, for gfx942; and faults that the library's bounds must see.
# shellcheck source-path=SCRIPTDIR source=lib/kiln.sh disable=SC2154
. "$(dirname "$0")/lib/kiln.sh"
lib=$BUILD/lib
gcc -std=c11 -Wall -Wextra -Wconversion -Wshadow -Werror -O2 -Iruntime -Iabi tests/tools/lib/blockscale.c \
    -o "$tmp/blockscale" -L"$lib" -lkiln -Wl,-rpath,"$lib" -lm 2>"$tmp/out"
result $? "the program compiles"
found=
for target in host gfx942; do
    folder=$(modules $target) || continue
    found=1 device=$target
    [ $target = host ] || device=sim:$target
    "$tmp/blockscale" $device "$folder" >"$tmp/tap" 2>&1
    while read -r line; do
        case $line in
        ok*) result 0 "$target: ${line#*- }" ;;
        not*) result 1 "$target: ${line#*- }" ;;
        '#'*) echo "$line" ;;
        esac
    done <"$tmp/tap"
    tail -n 1 "$tmp/tap" | grep -q '^1\.\.'; result $? "$target: the program ends"
done
[ -n "$found" ] || skip "block-scaled products" "no modules for the host or gfx942"
finish
