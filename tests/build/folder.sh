#!/bin/bash
# SPDX-License-Identifier: MIT
# kiln build from the checkout: a folder anywhere gives modules, beside it or where -o says; what is wrong or missing is said
# with its remedy, and nothing else is touched.  tests/build/install.sh has the installed one.  TAP.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh disable=SC2154
. "$(dirname "$0")/../lib/tap.sh"
unset KILN_MODULE_PATH
export KILN_DEVICE=host
mkdir "$tmp/my_ops" "$tmp/none" "$tmp/full" "$tmp/a folder"
for op in mine_one mine_two; do
    cat >"$tmp/my_ops/$op.lua" <<END
gemm "$op" {
  types = { { a = f32, b = f32, e = f32 } },
  layouts = { "rrr" },
  epilogue = function(acc) return relu(acc) end,
}
END
done
cp "$tmp/my_ops/mine_one.lua" "$tmp/a folder"
touch "$tmp/full/notes"
cd "$tmp" || exit
build() { PATH=${path-$PATH} "$kiln" build "$@" >"$tmp/out" 2>&1; }
lib=$tmp/my_ops/build
build my_ops --target host -j 1; result $? 'a folder builds'
grep -qx "libkiln-host.so in $lib; programs find it with" out && [ "$(tail -n 1 out)" = "export KILN_MODULE_PATH=$lib" ]
result $? 'and is told where'
KILN_MODULE_PATH=$lib "$kiln" verify 'mine_one f32,f32,f32 rrr m=33 n=17 k=29' >out 2>&1; result $? 'its module works'
touch mark; sleep 0.02
build my_ops --target host && ! grep -q '^\[' out && [ -z "$(find "$lib" -newer mark)" ]; result $? 'a second time nothing is done'
build my_ops --target host --op mine_two && "$kiln" list --modules "$lib" >list && grep -q mine_two list && ! grep -q mine_one list
result $? '--op: a module of one op'
build my_ops/ --target host -o elsewhere --verbose && [ -e elsewhere/libkiln-host.so ] && grep -q 'mine_one.*\.o ' out
result $? '-o, and the commands'
flock "$lib" sleep 1 & sleep 0.3
build my_ops --target host && grep -q "another build is at work in $lib: waiting for it" out
result $? 'two builds of one folder take turns'
wait
MAKELEVEL=1 MAKEFLAGS='n --jobserver-auth=3,4' build my_ops --target host && "$kiln" list --modules "$lib" | grep -q mine_one
result $? "another make's flags are not taken"

wrong() { # NAME CODE MESSAGE ARGUMENTS...
    local name=$1 code=$2 message=$3
    shift 3
    build "$@"
    [ $? -eq "$code" ] && grep -qF -e "$message" out
    result $? "$name"
}
wrong 'no such folder' 2 'kiln: no_such: No such file' no_such
wrong 'a file' 2 'mine_one.lua is not a folder' my_ops/mine_one.lua
wrong 'a folder without instance files' 2 'kiln new NAME --folder none' none
wrong 'a folder with a space in its name' 2 "a folder' has something else; rename it" 'a folder'
[ ! -e 'a folder/build' ]; result $? 'which is left as it is'
touch 'none/one op.lua' 'none/b:c.lua'
wrong 'a file with a space in its name' 1 "none: make takes no blanks and none of : ; | in a file's name: rename " none
rm -r none/*
wrong 'modules to such a folder' 2 '-o names another folder' my_ops -o 'x y'
[ ! -e 'x y' ]; result $? 'which is not made'
wrong 'modules among files of somebody else' 2 'full has files that kiln build did not write' my_ops -o full
[ "$(ls -A full)" = notes ]; result $? 'which stay alone'
wrong 'modules to where nothing can be made' 2 'my_ops/mine_one.lua/x: Not a directory; -o names another' my_ops -o my_ops/mine_one.lua/x
wrong 'a target that nobody knows' 1 'there is no target gfx9; known are' my_ops --target gfx9
wrong 'an op that the folder lacks' 1 "op 'mine_oen' (did you mean 'mine_one'?)" my_ops --target host --op mine_oen
wrong 'a target that is no name' 2 "--target 'host;ls' is no name" my_ops --target 'host;ls'
wrong '-j 0' 2 "'0' is not a number from 1" my_ops -j 0
CC=no_such_cc wrong 'no C compiler' 1 'there is no no_such_cc, which modules are linked with; install gcc' my_ops --target host
path=/nonexistent wrong 'no make' 1 'kiln build needs GNU make and a C compiler: install them' my_ops --target host
mkdir by_clang
cat >by_clang/ops.lua <<'END'
local f = { { x = f32 } }
rowwise "mine_rows" { types = f, d = { x = full "x" }, outputs = { y = full "x" }, body = function(d) return exp(d.x - row_max(d.x * 2)) end }
attention "mine_heads" { types = { { q = f16, k = f16, v = f16, o = f16 } }, heads = { { 16, 16 } } }
END
cp my_ops/mine_one.lua by_clang
if command -v clang >/dev/null; then
    CC=clang build by_clang --target host && "$kiln" verify --modules by_clang/build --all --quick --device host >out 2>&1
    result $? 'clang compiles an op of each family'
fi
echo 'gemm "mine_one" { }' >my_ops/mine_one.lua
cp "$lib/libkiln-host.so" before
wrong 'a wrong description' 1 'my_ops/mine_one.lua:1' my_ops --target host
cmp -s "$lib/libkiln-host.so" before; result $? 'leaves the module as it was'

# Nothing around the program: it says what it looked for.
mkdir -p alone/bin alone/lib
cp "$kiln" alone/bin && cp "$(dirname "$kiln")/../lib/libkiln.so.0" alone/lib
kiln=$tmp/alone/bin/kiln wrong 'no build rules' 2 'share/kiln nor a checkout around it has mk/folder.mk; install Kiln' my_ops
mkdir -p alone/share/kiln/mk && touch alone/share/kiln/mk/folder.mk
kiln=$tmp/alone/bin/kiln wrong 'no generator' 2 'bin/kiln-gen: No such file or directory; ' my_ops
finish
