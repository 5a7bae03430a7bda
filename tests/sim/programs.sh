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
names='vector_add reduce histogram transpose symbols matmul graph faulty textured'
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
    for p in vector_add reduce histogram transpose symbols matmul graph; do check "$p on $t" silent "$t" "$p"; done
    check "module on $t: a bundle" silent "$t" module "$out/module_kernels.hipfb"
    check "faulty on $t: the finding names the line" says 'faulty.hip:9' "$t" faulty
    check "faulty on $t: and the lane" says 'lane 40' "$t" faulty
done
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
