#!/bin/bash
# SPDX-License-Identifier: MIT
# What the simulator's library exports: all of ROCm 5.2's, so that every program loads, also with -z now; what it does
# not do is refused by name; what depends on the name by which it is opened.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
case $BUILD in /*) ;; *) BUILD=$root/$BUILD ;; esac
library=$BUILD/lib/libkilnsim.so
list=tests/sim/exports_5.2.txt # name and version node, of Debian's libamdhip64-5 but its debugger's
unset KILN_SIM
export LC_ALL=C # one order for all

nodes() { nm -D --defined-only --with-symbol-versions "$1" | sed -nE 's/.* ([a-zA-Z_]\w+)@@?(hip_[0-9.]+)$/\1 \2/p' | sort; }
nodes "$library" >"$tmp/ours"
check "every entry point of ROCm 5.2 is exported, in its version node" \
    sh -c "[ \$(wc -l <$list) -gt 400 ] && comm -23 $list $tmp/ours | tee /dev/stderr | wc -l | grep -qx 0"
real=
for f in /usr/lib/*/libamdhip64.so.5; do [ -e "$f" ] && real=$f; done
if [ -n "$real" ] && nodes "$real" >"$tmp/theirs" && grep -q hipMemcpy_spt "$tmp/theirs" && ! grep -q hip_5.3 "$tmp/theirs"; then
    check "the list is that of the library here" diff <(grep -v '^amd_dbgapi' "$tmp/theirs") $list
else
    skip "the list is that of the library here" "no libamdhip64 of ROCm 5.2"
fi

# Linked with each name that ROCm 5.2 has, resolved when it is loaded.
{
    sed -E 's/ .*//; s/.*/int &(void);/' $list
    echo 'int (*const all[])(void) = {'
    sed -E 's/ .*/,/' $list
    echo '};'
    echo 'int main(void) { return all[0] == 0; }'
} >"$tmp/all.c"
gcc -w -fno-builtin -o "$tmp/all" "$tmp/all.c" -Wl,-z,now "$BUILD/lib/sim/libamdhip64.so.5" >"$tmp/log" 2>&1 &&
    gcc -w -fno-builtin -shared -fPIC -o "$tmp/all.so" "$tmp/all.c" "$BUILD/lib/sim/libamdhip64.so.5" &&
    gcc -std=gnu11 -o "$tmp/exports" tests/sim/exports.c -ldl
result $? "programs are linked with all of them"
export LD_LIBRARY_PATH=$BUILD/lib:$BUILD/lib/sim
check "a program with -z now and all names runs" "$tmp/all"
check "an extension with all names is opened at once" "$tmp/exports" load "$tmp/all.so"
for name in libamdhip64 libhiprtc; do
    for v in so so.5 so.6 so.7; do check "$name.$v is there" "$tmp/exports" load "$BUILD/lib/sim/$name.$v"; done
done

# What is not done.
names=$(sed 's/^#define.*//' sim/hip_absent.h | grep -oE 'X\(\w+\)' | sed 's/X(//; s/)//')
# shellcheck disable=SC2086
check "what is not done returns hipErrorNotSupported, hiprtc's an internal error" \
    "$tmp/exports" refused "$BUILD/lib/sim/libamdhip64.so.6" $names
# shellcheck disable=SC2086
"$tmp/exports" refused "$library" $names 2>&1 | sed -nE 's/^kilnsim: (\w+): .*/\1/p' | sort >"$tmp/told"
check "and each names itself" diff <(echo "$names" | sort) "$tmp/told"

# hipGetLastError: until ROCm 6 the next call overwrites it.
for v in 5 6; do
    check "libamdhip64.so.$v: a success overwrites the last error" \
        sh -c "$tmp/exports error $BUILD/lib/sim/libamdhip64.so.$v | grep -qx '0 0 1 0'"
done
check "libamdhip64.so.7: the last error stays until it is asked for" \
    sh -c "$tmp/exports error $BUILD/lib/sim/libamdhip64.so.7 | grep -qx '1 0 1 1'"
finish
