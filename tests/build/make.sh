#!/bin/bash
# SPDX-License-Identifier: MIT
# make itself: nothing to do is quick, an edit recompiles its op alone, folders of one's own give modules.  TAP.
# Alone: times make, and touches what all is made from.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

# Of what is there: a clean checkout's first make would compile all of gfx942.
targets=$(for f in "$BUILD"/lib/kiln/libkiln-*.so; do f=${f##*/libkiln-} && echo "${f%.so}"; done)
make TARGETS="$targets" >"$tmp/out" 2>&1
start=$(date +%s%N)
make TARGETS="$targets" >"$tmp/out" 2>&1
rc=$?
ms=$((($(date +%s%N) - start) / 1000000))
result $rc 'make, once built, succeeds'
[ ! -s "$tmp/out" ]; result $? 'make, once built, does nothing and says nothing'
[ $ms -le "$(slowed 1000)" ]; result $? "make, once built, takes at most 1 s (took $ms ms)"
touch "$tmp/mark"
make BUILD="$PWD/build" "$PWD/build/toolchain.mk" >"$tmp/out" 2>&1 && [ ! build/toolchain.mk -nt "$tmp/mark" ]
result $? 'nor does another name of the build folder make the kernels out of date'
touch templates/targets/gfx1201.lua
make build/toolchain.mk >"$tmp/out" 2>&1 && [ -z "$(find build/toolchain* -newer "$tmp/mark" -type f)" ]
result $? "nor does a target's file that was touched, not changed"

# A folder of one's own, two ops; then an edit of one.
ops=$tmp/my_ops
mkdir "$ops"
for op in mine_one mine_two; do
    cat >"$ops/$op.lua" <<EOF
gemm "$op" {
  types = { { a = f32, b = f32, e = f32 } },
  layouts = { "rrr" },
  epilogue = function(acc) return relu(acc) end,
}
EOF
done
build() { make instances TARGETS=host INSTANCES="$ops" >"$tmp/out" 2>&1; }
out=build/modules/my_ops
rm -rf $out
build; result $? 'a folder of one'"'"'s own builds'
[ -e $out/libkiln-host.so ]; result $? 'and gives a module'
KILN_MODULE_PATH=$out build/bin/kiln verify "mine_one f32,f32,f32 rrr m=33 n=17 k=29" --device host >"$tmp/out" 2>&1
result $? 'which KILN_MODULE_PATH adds to the registry'
# OPS: some of them; what was compiled before is not compiled again.
has() { build/bin/kiln list --modules $out | grep -q "host/$1/"; }
touch "$tmp/mark"; sleep 0.02
make instances TARGETS=host INSTANCES="$ops" OPS=mine_one >"$tmp/out" 2>&1 && has mine_one && ! has mine_two
result $? 'OPS: a module of one op'
! make instances TARGETS=host INSTANCES="$ops" OPS=mine_oen >"$tmp/out" 2>&1 && grep -q "op 'mine_oen' (did you mean 'mine_one'?)" "$tmp/out"
result $? 'OPS: one that is not there is named'
has mine_one; result $? 'and leaves the module as it was'
build && has mine_one && has mine_two; result $? 'without OPS it has all again'
[ -z "$(find $out/gen -name '*mine_one*.o' -newer "$tmp/mark")" ]; result $? 'and compiles what was missing'
touch "$tmp/mark"; sleep 0.02
touch "$ops/mine_one.lua"; build
[ -z "$(find $out/gen -name '*.o' -newer "$tmp/mark")" ]; result $? 'a touched, unchanged file recompiles nothing'
touch "$tmp/mark"; sleep 0.02
sed -i 's/relu(acc)/relu(acc) + 1/' "$ops/mine_one.lua"; build
list=$(find $out/gen -name '*.o' -newer "$tmp/mark")
[ -n "$list" ] && ! grep -qv mine_one <<<"$list"; result $? 'an edited file recompiles its own op alone'
rm "$ops/mine_two.lua"; build
[ -z "$(find $out/gen -name '*mine_two*')" ] && [ ! -d $out/gen/host/mine_two ]; result $? 'a removed file takes its sources and objects along'
echo 'gemm "mine_one" { }' >"$ops/mine_one.lua"; cp $out/libkiln-host.so "$tmp/before"
! build && grep -q "mine_one.lua:1" "$tmp/out"; result $? 'a wrong file stops make with its place'
cmp -s $out/libkiln-host.so "$tmp/before"; result $? 'and leaves the module as it was'
rm -rf $out

# make run where nothing has been built, and where all has: what it builds and takes away, by what make would run.
wants() { make -n run BUILD="$1" 2>/dev/null | grep -o "DIR='instances'.*OPS='[^']*'" | sed "s/.*OPS=//"; }
[ "$(wants "$tmp/none")" = "'bias_relu linear_relu_abde_i8'" ]; result $? 'make run at first builds what the main job needs'
mkdir -p "$tmp/some/gen" && echo swiglu >"$tmp/some/gen/generated.stamp"
[ "$(wants "$tmp/some")" = "'bias_relu linear_relu_abde_i8 swiglu'" ]; result $? 'beside what has been asked for'
: >"$tmp/some/gen/generated.stamp"
[ "$(wants "$tmp/some")" = "''" ]; result $? 'and takes nothing from a build that is whole'

! make instances TARGETS=host INSTANCES="$tmp/no_such" >"$tmp/out" 2>&1 && grep -q 'no folder.*no_such' "$tmp/out"
result $? 'a folder that is not there is named'
mkdir -p "$tmp/twin/my_ops"
! make instances TARGETS=host INSTANCES="$ops $tmp/twin/my_ops" >"$tmp/out" 2>&1 && grep -q 'one last name' "$tmp/out"
result $? 'two folders of one name are refused'
! make instances TARGETS= INSTANCES="$ops" >"$tmp/out" 2>&1 && grep -q 'TARGETS is empty: name some of .*host' "$tmp/out"
result $? 'no targets: an error that says so'
finish
