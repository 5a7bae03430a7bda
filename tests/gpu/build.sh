#!/bin/sh
# SPDX-License-Identifier: MIT
# build.sh BUILD: compiles tests/gpu/instances with the schedules of templates/ and of tests/gpu/templates together into
# BUILD/gpu/lib/libkiln-sm_90a.so.  Needs no GPU.  What ptxas says of wgmma that it had to serialise (its remarks C75xx) is a
# failure, and so is any other warning but of spilled registers: where CUDA's nvdisasm is at hand, those are one in loops of
# products, as registers written under wgmma and loops over lanes around loads are (registers.awk).
set -eu
build=${1:?usage: build.sh BUILD}
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
build=$(CDPATH='' cd -- "$build" && pwd)
templates=$build/gpu/templates

sh "$root/tests/gpu/templates.sh" "$templates"
cd "$root"
log=$build/gpu/log
"${MAKE:-make}" --no-print-directory -f mk/instances.mk DIR=tests/gpu/instances OUT="$build/gpu/gen" LIB="$build/gpu/lib" BUILD="$build" \
    TARGETS=sm_90a SCHEDULES="$templates" CC="${CC:-gcc}" V="${V:-}" all 2>&1 | tee "$log"
[ -e "$build/gpu/lib/libkiln-sm_90a.so" ] || exit 1
if grep -E 'C75[0-9]{2}|warning' "$log" | grep -v 'Registers are spilled' >&2; then
    echo "build.sh: ptxas serialised wgmma, or nvcc warned, see above" >&2
    exit 1
fi
if command -v nvdisasm >/dev/null; then
    # shellcheck disable=SC2016
    find "$build/gpu/gen/sm_90a" -name '*wgmma*.cubin' -print0 |
        xargs -0 -P "$(nproc)" -I {} sh -c 'nvdisasm -c "$1" | awk -v name="$1" -f tests/gpu/registers.awk' sh {} >&2 || {
        echo "build.sh: machine code is not as it is to be, see above" >&2
        exit 1
    }
else
    echo "build.sh: no nvdisasm (CUDA toolkit): machine code was not looked at" >&2
fi
