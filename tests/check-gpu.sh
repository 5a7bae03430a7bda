#!/bin/bash
# SPDX-License-Identifier: MIT
# Every instance for this machine's GPU against the reference, and launches that depend on each other; on NVIDIA, the test
# schedule of tests/gpu, too.  Exit 77 where there is no GPU.
kiln=$1/bin/kiln
for device in nvidia amd; do
    "$kiln" verify --all --device $device
    rc=$?
    [ $rc -ne 77 ] || continue
    if [ $rc -eq 0 ]; then
        KILN_DEVICE=$device KILN_MODULE_PATH=$1/lib/kiln "$1/tests/launch_chain" \
            'gemm bf16,bf16,bf16 rcr m=512 n=512 k=512 align=256'
        rc=$?
    fi
    # Scales beside the largest numbers, whose multiples are none.
    for m in 1 16 64 200; do
        [ $rc -eq 0 ] || break
        KILN_DEVICE=$device KILN_MODULE_PATH=$1/lib/kiln "$1/tests/large_scales" \
            "w4a16_g128 bf16,u4,bf16 rcr m=$m n=304 k=1056 align=256"
        rc=$?
    done
    if [ $rc -eq 0 ] && [ $device = nvidia ]; then
        "${0%/*}/gpu/check.sh" "$1"
        rc=$?
        [ $rc -ne 77 ] || rc=0
    fi
    exit $rc
done
echo "no GPU here" >&2
exit 77
