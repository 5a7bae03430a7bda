#!/bin/bash
# SPDX-License-Identifier: MIT
# The CMake package, as a project sees it: an installed Kiln, found, linked, its own ops compiled and launched.  TAP.
# Alone: runs make in the build folder.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh disable=SC2154
. "$(dirname "$0")/../lib/tap.sh"
unset KILN_MODULE_PATH
export TARGETS=host # else all of gfx942 is built first
if ! command -v cmake >/dev/null; then
    skip 'the CMake package' 'no cmake'
    finish
    exit
fi
make install DESTDIR="$tmp" PREFIX=/opt/first >"$tmp/out" 2>&1; result $? 'make install'
mv "$tmp/opt/first" "$tmp/opt/kiln"
cp -r tests/build/cmake_package "$tmp/project"
mkdir "$tmp/project/my_ops"
# The README's program, of an op that the project has.
sed 's/"bias_relu"/"mine"/' instances/bias_relu.lua >"$tmp/project/my_ops/mine.lua"
sed 's/"bias_relu /"mine /' examples/readme.c >"$tmp/project/launch.c"
configure() { cmake -S "$tmp/project" -B "$tmp/build" -DCMAKE_PREFIX_PATH="$tmp/opt/kiln" >"$tmp/out" 2>&1; }
compile() { cmake --build "$tmp/build" >"$tmp/out" 2>&1; }
configure; result $? 'find_package(kiln) in an installation that was moved'
compile; result $? 'program and instances build'
[ -e "$tmp/build/ops/my_ops/libkiln-host.so" ]; result $? 'into modules below the build folder'
(cd "$tmp/build" && ctest --output-on-failure) >"$tmp/out" 2>&1; result $? 'the program finds library and modules'
compile && ! grep -q '^\[ *[0-9]*/' "$tmp/out"; result $? 'nothing is compiled a second time'
sleep 0.02
sed -i 's/relu(/2 * relu(/' "$tmp/project/my_ops/mine.lua"
compile && grep -q '^\[ *1/.*host/mine/' "$tmp/out"; result $? 'an edited file is'
! (cd "$tmp/build" && ctest --output-on-failure) >"$tmp/out" 2>&1 && grep -q 'E\[0\] = wrong' "$tmp/out"; result $? 'and computes something else'
[ -z "$(find "$tmp/project" -name build)" ]; result $? 'nothing is written beside the sources'

wrong() { # NAME MESSAGE LINE
    cp tests/build/cmake_package/CMakeLists.txt "$tmp/project"
    echo "$3" >>"$tmp/project/CMakeLists.txt"
    # CMake wraps messages.
    ! configure && tr -s ' \n' ' ' <"$tmp/out" | grep -qF -e "$2"
    result $? "$1"
}
wrong 'no folder given' 'kiln_add_instances(more): no folder of instance files is given' 'kiln_add_instances(more TARGETS host)'
wrong 'no such folder' 'there is no folder' 'kiln_add_instances(more no_such_folder)'
wrong 'two folders of one name' 'two folders with the last name my_ops; rename one' 'kiln_add_instances(more my_ops ../project/my_ops)'
wrong 'a version that this is not' 'compatible with requested version "99"' 'find_package(kiln 99 REQUIRED)'
rm "$tmp/opt/kiln/include/kiln.h"
wrong 'an installation with a part gone' 'include/kiln.h, which this installation of Kiln had, is not there' ''
finish
