#!/bin/bash
# SPDX-License-Identifier: MIT
# Host kernels on every instruction set this machine has, with one thread and with more than it has cores: the corners of
# the language in full, the default instances quickly.  TAP.
set -u
cd "$KILN_ROOT" || exit 2
n=0
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
check() { # condition's exit status, name
    n=$((n + 1))
    if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; sed 's/^/# /' "$tmp/out" | tail -n 20; fi
}
unset MAKEFLAGS MAKELEVEL MFLAGS

make BUILD="$BUILD" instances TARGETS=host INSTANCES=tests/build/corners >"$tmp/out" 2>&1; check $? 'corners compile'
export KILN_MODULE_PATH=$BUILD/modules/corners
ops=$(sed -n 's/^gemm "\(.*\)".*/\1/p' tests/build/corners/*.lua)
for isa in avx512 avx2 plain; do
    export KILN_HOST_ISA=$isa
    for op in $ops; do
        "$KILN_BIN" verify --all --device host --threads 1 --op "$op" >"$tmp/out" 2>&1; check $? "$isa: $op"
        "$KILN_BIN" verify --all --device host --threads 5 --quick --op "$op" >"$tmp/out" 2>&1; check $? "$isa: $op, 5 threads"
    done
    [ $isa = avx512 ] && continue # the run of all tests has that
    "$KILN_BIN" verify --all --device host --quick >"$tmp/out" 2>&1; check $? "$isa: all instances"
done
echo "1..$n"
