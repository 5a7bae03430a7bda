#!/bin/sh
# SPDX-License-Identifier: MIT
# deb.sh ROOT VERSION OUT: the Debian package OUT of what `make install DESTDIR=ROOT PREFIX=/usr` left there.  It depends on the
# packages that the libraries its programs link come from, in this machine's versions or later, and is the same bytes for the
# same files where SOURCE_DATE_EPOCH is set.  Needs dpkg-deb and no root.
set -eu
root=$1 version=$2 out=$3
die() { echo "kiln: $*" >&2; exit 1; }
command -v dpkg-deb >/dev/null || die 'make deb needs dpkg-deb, of the package dpkg'

# Libraries that link to none of ours, by the package that brought each.
depends=$(for f in "$root"/usr/bin/* "$root"/usr/lib/libkiln*.so*; do
    [ -L "$f" ] || LD_LIBRARY_PATH=$root/usr/lib ldd "$f"
done | sed -n 's/.* => \(\/[^ ]*\) (.*/\1/p' | grep -v "^$root/" | sort -u | while read -r library; do
    # dpkg knows a file by one of its names: /lib may be a link to /usr/lib.
    real=$(readlink -f "$library")
    package=$(dpkg-query -S "$real" "${real#/usr}" "$library" 2>/dev/null | sed -n '1s/:.*//p')
    if [ -z "$package" ]; then echo "!$library"; continue; fi
    dpkg-query -W -f='${Package} (>= ${source:Upstream-Version})\n' "$package" | head -n 1
done | sort -u | paste -sd, | sed 's/,/, /g')
case $depends in *!*) die "to no package belong, so that none can be named to depend on:$(echo "$depends" | tr ',' '\n' | sed -n 's/.*!/ /p' | tr -d '\n')" ;; esac
[ -n "$depends" ] || die "no libraries found that $root links"

mkdir -p "$root/DEBIAN"
cat >"$root/DEBIAN/control" <<END
Package: kiln
Version: $version
Architecture: $(dpkg --print-architecture)
Maintainer: Kiln's authors <kiln@localhost>
Installed-Size: $(du -sk --apparent-size --exclude=DEBIAN "$root" | cut -f1)
Depends: $depends
Recommends: make, gcc
Suggests: hipcc, cmake, ccache, distcc
Section: math
Priority: optional
Description: fused operations for GPUs and CPUs from short Lua files
 Library, programs and compiled kernels, with the rules that compile more:
 matrix products with an epilogue, norms, softmax, gated units, quantisation
 and attention, for AMD and NVIDIA GPUs and the CPU.
END
echo 'activate-noawait ldconfig' >"$root/DEBIAN/triggers"
(cd "$root" && find . -path ./DEBIAN -prune -o -type f -printf '%P\n' | LC_ALL=C sort | xargs -d '\n' md5sum) >"$root/DEBIAN/md5sums"
chmod -R go=rX,u+w "$root"
# Modules are compressed already: a better compressor takes minutes and gains little.
dpkg-deb --root-owner-group -Zgzip -z1 --build "$root" "$out" >/dev/null
