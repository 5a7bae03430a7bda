#!/bin/bash
# SPDX-License-Identifier: MIT
# The same input gives the same bytes: in other folders, from other working directories, however the instances are named,
# in whatever environment, whichever targets come along.  And no path of this machine nor date is in them.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh disable=SC2016,SC2015
. "$(dirname "$0")/../lib/tap.sh"
toys=$root/tests/gen/templates

mkdir -p "$tmp/a" "$tmp/b/very/deep/below" "$tmp/copy"
cp -rL "$root/tests/gen/instances" "$root/tests/gen/templates" "$tmp/copy"
(cd "$root" && "$gen" --templates tests/gen/templates --out "$tmp/a/out" tests/gen/instances) || exit 1
(cd "$tmp/b/very/deep/below" && TZ=Pacific/Auckland LC_ALL=C HOME=/nowhere USER=somebody \
    "$gen" --templates "$tmp/copy/templates" --out ../../out "$tmp/copy/instances") || exit 1
check "other folders give the same bytes" diff -r "$tmp/a/out" "$tmp/b/very/out"

(cd "$tmp/copy/instances" && "$gen" --templates ../templates --out "$tmp/c" toys.lua) || exit 1
check "so does a file named from its own folder" diff -r "$tmp/a/out" "$tmp/c"
(cd "$tmp/copy/instances" && "$gen" --templates ../templates --out "$tmp/c2" ./toys.lua) || exit 1
check "and from there with a dot" diff -r "$tmp/a/out" "$tmp/c2"

for t in toygpu toyhost; do "$gen" --templates "$toys" --target $t --out "$tmp/d" "$root/tests/gen/instances" || exit 1; done
check "so do single targets, one after the other" diff -r "$tmp/a/out" "$tmp/d"

check "no path of this machine is in them" bash -c '! grep -rF -e "$1" -e "$2" -e "$HOME/" "$3"' - "$root" "$tmp" "$tmp/a/out"
check "nor this year" bash -c '! grep -rE "\b$(date +%Y)\b" "$1" --include="*.[ch]*" --include=manifest --include=rules.mk' - "$tmp/a/out"

if [ -d "$root/instances" ]; then
    (cd "$root" && "$gen" --templates templates --out "$tmp/e" instances) || exit 1
    (cd / && "$gen" --templates "$root/templates" --out "$tmp/b/f" "$root/instances") || exit 1
    check "the real instances, too" diff -r "$tmp/e" "$tmp/b/f"
fi
finish
