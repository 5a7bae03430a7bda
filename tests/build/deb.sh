#!/bin/bash
# SPDX-License-Identifier: MIT
# make deb: the files of the package pass the README's program, and it says what it needs.  TAP.
# Alone: runs make in the build folder.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh disable=SC2154
. "$(dirname "$0")/../lib/tap.sh"
unset KILN_MODULE_PATH
export KILN_DEVICE=host TARGETS=host # else all of gfx942 is built first
if ! command -v dpkg-deb >/dev/null; then
    skip 'make deb' 'no dpkg-deb'
    finish
    exit
fi
version=$(sed -n 's/.*KILN_VERSION "\(.*\)"/\1/p' abi/kiln_version.h)
deb=$BUILD/kiln_${version}_$(dpkg --print-architecture).deb
(umask 077 && SOURCE_DATE_EPOCH=1700000000 make deb) >"$tmp/out" 2>&1 && [ "$(cat "$tmp/out")" = "PACKAGE $deb" ]; result $? 'make deb, and compiles nothing that is built'
cp "$deb" "$tmp/first.deb"
SOURCE_DATE_EPOCH=1700000000 make deb >"$tmp/out" 2>&1 && cmp "$deb" "$tmp/first.deb" >>"$tmp/out" 2>&1; result $? 'the same bytes again'
dpkg-deb -x "$deb" "$tmp/files" >"$tmp/out" 2>&1; result $? 'dpkg-deb takes it'
[ "$(for field in Package Version Architecture; do dpkg-deb -f "$deb" $field; done | paste -sd_).deb" = "${deb##*/}" ]
result $? 'it is named after what it is'
depends=$(dpkg-deb -f "$deb" Depends)
echo "$depends" >"$tmp/out"
[[ $depends == *'libc6 (>= '* && $depends == *'liblua5.4-0 (>= '* && $depends != *'kiln'* ]]; result $? 'and names the packages that it links'
dpkg-deb -c "$deb" >"$tmp/list" && ! grep -v ' root/root ' "$tmp/list" >"$tmp/out" && ! grep -v '^.......r..' "$tmp/list" >>"$tmp/out"
result $? "all of it is root's, and readable by everybody"
(cd "$tmp/files" && dpkg-deb --ctrl-tarfile "$root/$deb" | tar -xO ./md5sums | md5sum -c --quiet) >"$tmp/out" 2>&1; result $? 'its sums are right'

usr=$tmp/files/usr
export PKG_CONFIG_PATH=$usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$tmp/files
# shellcheck disable=SC2046
gcc -std=c11 examples/readme.c -o "$tmp/readme" $(pkg-config --cflags --libs kiln) >"$tmp/out" 2>&1 &&
    LD_LIBRARY_PATH=$usr/lib "$tmp/readme" >"$tmp/out" 2>&1 && grep -q '^E\[0\] = 100$' "$tmp/out"
result $? "README's program passes on its files"
mkdir "$tmp/my_ops"
sed 's/"bias_relu"/"mine"/' instances/bias_relu.lua >"$tmp/my_ops/mine.lua"
"$usr/bin/kiln" build "$tmp/my_ops" --target host >"$tmp/out" 2>&1; result $? 'and a folder of ops builds with them'
finish
