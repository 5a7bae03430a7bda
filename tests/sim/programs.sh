#!/bin/bash
# SPDX-License-Identifier: MIT
# Ordinary HIP programs, as hipcc builds them against the real library, run on the simulator in its place; on each
# device.  And what the library exports.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
case $BUILD in /*) ;; *) BUILD=$root/$BUILD ;; esac
library=$BUILD/lib/libkilnsim.so
map=sim/kilnsim.map
programs=tests/sim/programs
out=$BUILD/tests/programs
targets='gfx942 gfx90a'
unset KILN_SIM

# ---- what is exported ----
listed=$(sed -nE 's/^ +(_*[a-zA-Z0-9_]+);$/\1/p' $map | sort)
exported=$(nm -D --defined-only "$library" | awk '$2 != "A" && $3 !~ /^kilnsim_/ { sub(/@.*/, "", $3); print $3 }' | sort)
check "the library exports the entry points that kilnsim.map lists" diff <(echo "$listed") <(echo "$exported")
defined=$(gcc -E -P -Isim sim/hip_*.c 2>"$tmp/log" | grep -oE 'visibility\("default"\)\)\) [a-z ]+\**(\w+)\(|visibility\("default"\)\)\) int \w+ ' |
    sed -E 's/.*[ *](_*\w+)[( ]$/\1/' | sort -u)
check "kilnsim.map lists what sim/hip_*.c defines" diff <(echo "$listed") <(echo "$defined")

# The version node of each name that the real library has, too: the linker compares them.
nodes() { nm -D --defined-only --with-symbol-versions "$1" | sed -nE 's/.* ([a-zA-Z_]\w+)@@?(hip_[0-9.]+)$/\1 \2/p' | sort; }
real=
for f in /opt/rocm/lib/libamdhip64.so /usr/lib/*/libamdhip64.so; do [ -e "$f" ] && real=$f; done
if [ -n "$real" ]; then
    nodes "$library" >"$tmp/ours"
    nodes "$real" >"$tmp/theirs"
    join "$tmp/ours" "$tmp/theirs" | awk '$2 != $3 { print; bad = 1 } END { exit bad || NR < 100 }' >"$tmp/out"
    result $? "names stand in the real library's version nodes"
else
    skip "names stand in the real library's version nodes" "no libamdhip64 here"
fi

# ---- programs ----
command=$(sed -n 's/^KILN_HIPCC_PROGRAMS := //p' "$BUILD/toolchain.mk" 2>/dev/null)
if [ -z "$command" ] || [ -z "$real" ] || ! grep -q '^KILN_TARGETS_AVAILABLE.* gfx90a.* gfx942' "$BUILD/toolchain.mk"; then
    skip "programs" "no hipcc, or no libamdhip64 to link with"
    finish
    exit
fi
hipcc() { sh -c "$command \"\$@\"" sh -O2 -g -std=c++17 "$@"; }
mkdir -p "$out"
offload=
for t in $targets; do offload="$offload --offload-arch=$t"; done

# build NAME COMMAND...: unless it is newer than its sources.
build() {
    local to=$out/$1
    shift
    if [ -e "$to" ] && [ -z "$(find $programs "$BUILD/toolchain.mk" -newer "$to" -type f)" ]; then return; fi
    "$@" -o "$to" >"$to.log" 2>&1 || { rm -f "$to"; return 1; }
}
names='vector_add reduce histogram transpose symbols matmul graph cooperative spin again faulty textured prints allocates peers'
# shellcheck disable=SC2086
{
    for p in $names; do
        build "$p" hipcc $offload $programs/"$p".hip &
        [ "$(jobs -r | wc -l)" -lt 2 ] || wait -n
    done
    wait
    build module_kernels.hipfb hipcc --genco $offload $programs/module_kernels.hip
    build module_kernels.co hipcc --genco --no-gpu-bundle-output --offload-arch=gfx90a $programs/module_kernels.hip
    build module gcc -std=gnu11 -D__HIP_PLATFORM_AMD__ -I"$(dirname "$real")/../include" $programs/module.c "$real"
}

# run TARGET PROGRAM...: on the simulator; its standard output must be "ok".
run() {
    local target=$1 program=$2
    shift 2
    if [ ! -x "$out/$program" ]; then cat "$out/$program.log"; return 1; fi
    KILN_SIM=arch=$target${options:+,$options} LD_LIBRARY_PATH=$BUILD/lib/sim timeout 60 "$out/$program" "$@" \
        >"$tmp/stdout" 2>"$tmp/stderr"
    local rc=$?
    cat "$tmp/stdout" "$tmp/stderr"
    [ $rc -eq 0 ] && [ "$(cat "$tmp/stdout")" = ok ]
}
# Neither findings nor the loader's warnings.
silent() { run "$@" && [ ! -s "$tmp/stderr" ]; }
# says TEXT TARGET PROGRAM...: runs, and its standard error has the text.
says() {
    local text=$1
    shift
    run "$@" && grep -qF -- "$text" "$tmp/stderr"
}

options=
for t in $targets; do
    for p in vector_add reduce histogram transpose symbols matmul graph cooperative spin again; do check "$p on $t" silent "$t" "$p"; done
    check "module on $t: a bundle" silent "$t" module "$out/module_kernels.hipfb"
    check "faulty on $t: the finding names the line" says 'faulty.hip:9' "$t" faulty
    check "faulty on $t: and the lane" says 'lane 40' "$t" faulty
done
# printf and malloc in kernels
cat >"$tmp/printed" <<'END'
lane 0 of 3: text even, and longer than one packet of seven words can hold 0.000000 0.0e+00|0   |a 0 %
lane 1 of 3: text odd 0.500000 1.0e+06|-1  |b 1099511627776 %
lane 2 of 3: text even, and longer than one packet of seven words can hold 1.000000 2.0e+06|-2  |c 2199023255552 %
from memory|0x1000
other 1
other 2
other 4
third 0
third 3
third 6
END
printed() { run "$1" prints; [ ! -s "$tmp/stderr" ] && head -n 10 "$tmp/stdout" | diff "$tmp/printed" - && [ "$(tail -n 1 "$tmp/stdout")" = ok ]; }
in_order() { # every wave's three lines
    for w in 'block 0 wave 0' 'block 0 wave 1' 'block 1 wave 0' 'block 1 wave 1'; do
        grep "^$w" "$tmp/stdout" | sed 's/.* //' | tr -d '\n' | grep -qx 012 || return 1
    done
}
many() {
    run "$1" prints many >"$tmp/out"
    sort "$tmp/stdout" | uniq -c | awk '/returned/ { r = $3; next } { n++; bad += $1 != 40 }
        END { print n, bad + 0, r }' | grep -qx "4096 0 $((4096 * 40 * 7))"
}
for t in $targets; do
    check "prints on $t: conversions, lanes in order" printed "$t"
    check "prints on $t: each wave's lines in its order" in_order
    check "prints on $t: 163840 lines, none lost" many "$t"
    check "allocates on $t: small, large, too much, by three kernels" silent "$t" allocates
    options=heap=64M
    check "allocates on $t: what is given back is there again" silent "$t" allocates exhaust
    options=
    check "allocates on $t: past a block's end" says 'just past the end of kernels'"'"' heap' "$t" allocates outside
done

# several equal devices
for t in $targets; do
    options=devices=2
    check "two devices of $t" silent "$t" peers
    options=devices=8
    check "eight devices of $t" silent "$t" peers
done
options=
check "module: a code object" silent gfx90a module "$out/module_kernels.co"
if [ -x "$out/textured" ]; then
    check "a program with a texture is refused by its name" says "texture 'image'" gfx942 textured
else
    skip "a program with a texture is refused by its name" "this HIP has no texture references"
fi
KILN_SIM='races=maybe' LD_LIBRARY_PATH=$BUILD/lib/sim "$out/vector_add" >"$tmp/stdout" 2>"$tmp/stderr"
check "a bad KILN_SIM is told once" grep -cqx 'kilnsim: KILN_SIM: races=maybe: it takes on or off' "$tmp/stderr"
check "findings go to a file" sh -c "KILN_SIM=arch=gfx942,log=$tmp/findings LD_LIBRARY_PATH=$BUILD/lib/sim $out/faulty &&
    grep -q 'kilnsim: bounds' $tmp/findings && grep -q '1 finding' $tmp/findings"
finish
