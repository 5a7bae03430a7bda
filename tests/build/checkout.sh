#!/bin/bash
# SPDX-License-Identifier: MIT
# A built checkout that is copied to a path with a space in it, and moved: nothing is compiled again.  There, with each clang
# of this machine that is good for gfx942: a header of the device code that was touched makes kernels out of date.  And
# modules that TARGETS leaves out.  TAP.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh disable=SC2154
. "$(dirname "$0")/../lib/tap.sh"
copy="$tmp/a copy"
mkdir -p "$copy/build/lib"
cp -a Makefile mk abi gen runtime sim tools examples templates instances "$copy"
cp -a "$BUILD"/bin "$BUILD"/obj "$BUILD"/deps.stamp "$copy/build"
cp -a "$BUILD"/lib/libkiln* "$BUILD/lib/sim" "$copy/build/lib"
cd "$copy" || exit
mkdir my_ops
cat >my_ops/mine.lua <<'EOF'
gemm "mine" {
  types = { { a = f32, b = f32, e = f32 } },
  layouts = { "rrr" },
  epilogue = function(acc) return relu(acc) end,
}
EOF
out=build/modules/my_ops
build() { make instances INSTANCES=my_ops "$@" >"$tmp/out" 2>&1; }
compiled() { grep -q '^\[' "$tmp/out"; }

make programs >"$tmp/out" 2>&1 && ! grep -q '^[A-Z]' "$tmp/out"; result $? 'copied to a path with a space: programs are up to date'
build TARGETS=host INSTANCES="$copy/my_ops"; result $? 'a module for the host, from a folder with its whole path'
KILN_MODULE_PATH="$copy/$out" "$copy/build/bin/kiln" verify 'mine f32,f32,f32 rrr m=33 n=17 k=29' --device host >"$tmp/out" 2>&1
result $? 'works'
! make BUILD='/tmp/no such place' programs >"$tmp/out" 2>&1 && grep -q 'BUILD: make takes no folder with a space' "$tmp/out"
result $? 'a build folder elsewhere, with a space in its name, is refused'
if grep -q '^KILN_NEEDS_gfx942' build/toolchain.mk; then
    skip 'kernels' 'nothing here compiles gfx942'
    finish
    exit
fi

clangs=
for dir in /usr/lib/llvm-*; do
    if [ "${dir##*-}" -ge 19 ] && [ -x "$dir/bin/clang++" ] && [ -x "$dir/bin/ld.lld" ]; then clangs="$dir $clangs"; fi
done
for llvm in ${clangs:-}; do # the last is the one that make would take
    export KILN_LLVM=$llvm
    name=${llvm##*/}
    build TARGETS=gfx942 && compiled; result $? "$name: compiles"
    grep -q "^WITH .*clang ${name#llvm-}.* for gfx942" "$tmp/out"; result $? "$name: is said"
    build TARGETS=gfx942 && ! compiled; result $? "$name: a second make compiles nothing"
    objects=$(find "$out/gen/gfx942" -name '*.co' | wc -l)
    sleep 0.02; touch templates/device/kiln_math.h "$tmp/mark"; sleep 0.02
    build TARGETS=gfx942 && [ "$objects" -gt 0 ] && [ "$(find "$out/gen/gfx942" -name '*.co' -newer "$tmp/mark" | wc -l)" -eq "$objects" ]
    result $? "$name: a touched header of the device code makes every kernel anew"
done
unset KILN_LLVM
build TARGETS='host gfx942'; result $? 'host and gfx942'
! grep -n "$tmp" build/toolchain.mk; result $? 'no path in the toolchain leads to this checkout'

mv "$copy" "$tmp/moved"
cd "$tmp/moved" || exit
build TARGETS='host gfx942' && [ ! -s "$tmp/out" ]; result $? 'moved: nothing is compiled again'
cp -a "$tmp/moved" "$tmp/third"
cd "$tmp/third" || exit
build TARGETS='host gfx942' && [ ! -s "$tmp/out" ]; result $? 'copied: nothing is compiled again'

find "$out" -name '*.co' -delete
build TARGETS='host gfx942' && diff -r "$out/gen" "$tmp/moved/$out/gen" >"$tmp/out"; result $? 'compiled there, kernels are the same'

# Quick iteration: what is left out is said, and comes back with a make that names no targets.
sed -i 's/relu(acc)/relu(acc) + 1/' my_ops/mine.lua
build TARGETS=host && compiled && grep -q "out of date in $out and left so.*: gfx942 " "$tmp/out"; result $? 'a module that TARGETS leaves out is said to be out of date'
build TARGETS=host && ! compiled && grep -q 'out of date' "$tmp/out"; result $? 'again, as long as it is'
build TARGETS=gfx1100; rc=$?
if ! grep -q 'nothing here compiles' "$tmp/out"; then
    result $rc 'a target that is built by itself'
    build && compiled && ! grep -q 'out of date' "$tmp/out"; result $? 'make without TARGETS builds all that is there'
    sed -i 's/ + 1/ + 2/' my_ops/mine.lua
    build && grep -q ' LINK *gfx1100' "$tmp/out" && grep -q ' LINK *gfx942' "$tmp/out"; result $? 'and remembers those built once'
fi
finish
