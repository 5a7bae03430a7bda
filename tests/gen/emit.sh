#!/bin/bash
# SPDX-License-Identifier: MIT
# What is written when: nothing for unchanged input; stale files go; a kill, a full disk, a size limit or an error leaves
# the files of the run before as they were, and the next run completes them.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh disable=SC2016,SC2015
. "$(dirname "$0")/../lib/tap.sh"
toys=$root/tests/gen/templates
out=$tmp/gen src=$tmp/src

# Names, times, inodes and content of all files: what a run that writes nothing must leave alone.
state() {
    (cd "$1" && find . -type f -printf '%p %T@ %i\n' | LC_ALL=C sort && find . -type f -exec sha256sum {} + | LC_ALL=C sort -k 2)
}
content() {
    (cd "$1" && find . -type f -exec sha256sum {} + | LC_ALL=C sort -k 2 && find . -type d | LC_ALL=C sort)
}
same_state() { diff <(state "$1") "$2"; }
same_content() { diff <(content "$1") "$2"; }

mkdir -p "$src/ops"
cp -rL "$toys" "$src/templates"
cp "$root/tests/gen/instances/toys.lua" "$src/ops"

run() { "$gen" --templates "$src/templates" --out "$out" "$@" "$src/ops"; }
quiet_run() { run "$@" && [ ! -s "$tmp/log" ]; }

check "a first run" quiet_run
state "$out" >"$tmp/first"
content "$out" >"$tmp/whole"
sleep 0.05
check "unchanged input" run
check "... writes nothing" same_state "$out" "$tmp/first"
check "... and leaves nothing beside" bash -c '! find "$1" -name ".stage" -o -name "*.tmp" | grep .' - "$out"
check "--check writes nothing" "$gen" --check --templates "$src/templates" "$src/ops"
check "... indeed" same_state "$out" "$tmp/first"

# One op changed: its own files only.
sed -i 's/acc \* d.scale + d.offset/acc * d.scale - d.offset/' "$src/ops/toys.lua"
check "one epilogue changed" run
only_scaled() {
    changed=$(diff <(state "$out") "$tmp/first" | sed -n 's/^< \.\/\([^ ]*\) .*\..*$/\1/p' | LC_ALL=C sort -u)
    [ -n "$changed" ] && ! printf '%s\n' "$changed" | grep -vE '^toy(gpu|host)/(toy_scaled/.*|module\.c)$'
}
check "... rewrites that op and the tables" only_scaled

# An op goes: its sources, objects and folder go; other files in the folder stay.
for t in toygpu toyhost; do
    while read -r _ _ object; do : >"$out/$object"; done <"$out/$t/manifest"
done
echo mine >"$out/toygpu/toy_gated/notes"
sed -i '/^gemm "toy_scaled"/,$d; s/^gemm "toy_gated"/gemm "toy_other"/' "$src/ops/toys.lua"
check "an op goes and one is renamed" run
check "... with its folder" test ! -e "$out/toygpu/toy_scaled" -a ! -e "$out/toyhost/toy_gated"
check "... but not with a file that is not ours" test "$(cat "$out/toygpu/toy_gated/notes")" = mine
check "... and no object" bash -c '! find "$1/toygpu/toy_gated" -name "*.co" | grep .' - "$out"
check "... others keep theirs" bash -c 'ls "$1"/toygpu/toy_bias/*.co' - "$out"
rm -r "$out/toygpu/toy_gated"
find "$out" -name '*.co' -delete -o -name '*.o' -delete

fresh() { rm -rf "$tmp/fresh" && "$gen" --templates "$src/templates" --out "$tmp/fresh" "$src/ops" && content "$tmp/fresh" >"$tmp/want"; }
fresh
check "the result is what a fresh run writes" same_content "$out" "$tmp/want"

# Kernels are left that were compiled together with others: what was of both stays, of a unit that is no more nothing.
cp "$src/ops/toys.lua" "$tmp/toys.lua"
units() { (cd "$out/toygpu/toy_other" && for f in toy.*; do echo "$f $(grep -c '^#include "f16' "$f")"; done | tr '\n' ','); }
check "ten kernels are two units" test "$(units)" = 'toy.1.hip 5,toy.2.hip 5,'
for object in toy.1.co toy.2.co; do touch "$out/toygpu/toy_other/$object" "$out/toygpu/toy_other/$object.d"; done
state "$out/toygpu/toy_bias" >"$tmp/bias"
sed -i 's/t\.m \* t\.n <= 128 \* 128/t.m * t.n < 128 * 128 and t.m > 64/' "$src/ops/toys.lua"
check "eight of them go" run
check "... one unit is left" test "$(cd "$out/toygpu/toy_other" && echo toy.*)" = 'toy.1.co toy.1.co.d toy.1.hip'
check "... of two" test "$(grep -c '^namespace' "$out/toygpu/toy_other/toy.1.hip")" -eq 2
check "... others' are left alone" same_state "$out/toygpu/toy_bias" "$tmp/bias"
rm "$out"/toygpu/toy_other/*.co*
fresh
check "... and all is as a fresh run writes it" same_content "$out" "$tmp/want"
cp "$tmp/toys.lua" "$src/ops/toys.lua"
run
check "and as it was with all ten" test "$(units)" = 'toy.1.hip 5,toy.2.hip 5,'

# No instance is left on a target.
sed -i 's/^gemm "\(.*\)" {/gemm "\1" {\n  targets = { "toyhost" },/; /tiles *= {/,/^  },/d' "$src/ops/toys.lua"
check "no op wants a target any more" run
check "... so it has no folder" test ! -e "$out/toygpu"
cp "$tmp/toys.lua" "$src/ops/toys.lua"
run

# A wrong instance or template: nothing changes.
content "$out" >"$tmp/whole"
echo 'gemm "bad" {' >>"$src/ops/toys.lua"
wrong() { run; [ $? -eq "$1" ]; }
check "a wrong instance file is status 1" wrong 1
check "... and changes nothing" same_content "$out" "$tmp/whole"
cp "$tmp/toys.lua" "$src/ops/toys.lua"
echo '@{t.nothing}' >>"$src/templates/gemm/toy.hip.tmpl"
sed -i 's/relu(/gelu(/' "$src/ops/toys.lua"
check "a wrong template is status 1" wrong 1
check "... and changes nothing" same_content "$out" "$tmp/whole"
sed -i '$d' "$src/templates/gemm/toy.hip.tmpl"

# Full disk and size limits, while everything would change.
limited() { (ulimit -f "$1" && run) >"$tmp/limit" 2>&1; [ $? -eq 2 ] && grep -q "cannot write it: File too large" "$tmp/limit"; }
check "a file size limit is status 2 and says which file" limited 1
check "... and changes nothing" same_content "$out" "$tmp/whole"
if [ "$(id -u)" -eq 0 ] && mkdir "$tmp/small" && mount -t tmpfs -o size=160k tmpfs "$tmp/small" 2>/dev/null; then
    cp "$tmp/toys.lua" "$src/ops/toys.lua"
    full() { "$gen" --templates "$src/templates" --out "$tmp/small/out" --target toyhost "$src/ops"; }
    full && content "$tmp/small/out" >"$tmp/small.whole"
    sed -i 's/relu(/gelu(/' "$src/ops/toys.lua"
    head -c 1000000 /dev/zero >"$tmp/small/filler" 2>/dev/null
    no_space() { full >"$tmp/limit" 2>&1; [ $? -eq 2 ] && grep -q "No space left on device" "$tmp/limit"; }
    check "a full disk is status 2 and says which file" no_space
    check "... and changes nothing" same_content "$tmp/small/out" "$tmp/small.whole"
    rm "$tmp/small/filler"
    check "with room again it runs" full
    umount "$tmp/small"
else
    skip "a full disk" "cannot mount a small file system"
fi
if [ "$(id -u)" -ne 0 ]; then
    chmod a-w "$out/toygpu"
    check "a folder that cannot be written is status 2" wrong 2
    chmod u+w "$out/toygpu"
fi

# Killed before any one of its changes to the file system: no file is half, what the folder held of the run before or holds
# of this one is whole, and the next run, of a third set of ops, leaves what a fresh one would.
ops() {
    rm -f "$src"/ops/*
    for op in "$@"; do
        echo "gemm \"$op\" { types = { { a = f32, b = f32, e = f32 } }, layouts = { \"rcr\", \"rrr\" }," \
            "epilogue = function(acc) return $value * acc end }" >"$src/ops/$op.lua"
    done
}
whole() { # every source is one of the two that it may be, and the tables are of one of the two runs
    (cd "$out" && find . -name .stage -prune -o -type f -printf '%P\n') | while read -r file; do
        cmp -s "$out/$file" "$tmp/before/$file" || cmp -s "$out/$file" "$tmp/after/$file" || [ "$file" = toyhost/manifest ] ||
            { echo "$file is neither"; return 1; }
    done
}
small() { "$gen" --templates "$src/templates" --target toyhost --out "$1" "$src/ops"; }
kill_everywhere() {
    cc -shared -fPIC -o "$tmp/kill_at.so" "$root/tests/gen/lib/kill_at.c" -ldl || return 1
    value=1 && ops kept gone && small "$tmp/before" && cp -r "$src/ops" "$tmp/ops.before" || return 1
    value=2 && ops kept come && small "$tmp/after" && cp -r "$src/ops" "$tmp/ops.after" || return 1
    value=3 && ops third && small "$tmp/third" && cp -r "$src/ops" "$tmp/ops.third" || return 1
    content "$tmp/third" >"$tmp/want"
    for ((at = 1; ; at++)); do
        rm -rf "$out" && cp -r "$tmp/before" "$out"
        rm -rf "$src/ops" && cp -r "$tmp/ops.after" "$src/ops"
        KILL_AT=$at LD_PRELOAD=$tmp/kill_at.so small "$out" 2>/dev/null && break
        whole || { echo "killed at change $at"; return 1; }
        rm -rf "$src/ops" && cp -r "$tmp/ops.third" "$src/ops"
        small "$out" && same_content "$out" "$tmp/want" || { echo "killed at change $at"; return 1; }
    done
    echo "$at changes"
    [ "$at" -gt 20 ] && diff -r "$out" "$tmp/after"
} 2>&1
case $gen in
*/san/*) skip "killed before any change" "sanitizers do not take a preloaded library" ;;
*) check "killed before any change, the next run completes" kill_everywhere ;;
esac
finish
