#!/bin/bash
# SPDX-License-Identifier: MIT
# Host kernels on every instruction set this machine has, with few threads and with more than it has cores: the corners of
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
# Enough work for every thread: slabs shared, rows divided, whole batches to each thread, single rows, several blocks of k.
threaded=(
    "corner_blocks f32,f32,f32 rcr m=300 n=200 k=1000"
    "corner_blocks f32,f32,f32 rrr m=1100 n=40 k=300 batch=2"
    "corner_blocks i8,i8,i32 rrr m=65 n=130 k=700 batch=7 lda=710"
    "corner_blocks i8,i8,i32 rcr m=1 n=3001 k=901 batch=6"
    "corner_blocks f32,f32,f32 rrr m=1 n=3001 k=901"
    "corner_inputs bf16,i8,f16 rrc m=200 n=310 k=600 batch=6"
    "corner_inputs bf16,i8,f16 ccr m=310 n=290 k=700 batch=3"
    "corner_pair i8,i8,i8 rrc m=260 n=500 k=2100"
)
for isa in avx512 avx2 plain; do
    export KILN_HOST_ISA=$isa
    for threads in 2 5; do
        "$KILN_BIN" verify --device host --threads $threads "${threaded[@]}" >"$tmp/out" 2>&1; check $? "$isa: $threads threads"
    done
    for op in $ops; do
        "$KILN_BIN" verify --all --device host --op "$op" >"$tmp/out" 2>&1; check $? "$isa: $op"
    done
    [ $isa = avx512 ] && continue # the run of all tests has that
    "$KILN_BIN" verify --all --device host --quick >"$tmp/out" 2>&1; check $? "$isa: all instances"
done
echo "1..$n"
