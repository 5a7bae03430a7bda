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
    if [ $rc -eq 0 ] && [ $device = nvidia ]; then
        "${0%/*}/gpu/check.sh" "$1"
        rc=$?
        [ $rc -ne 77 ] || rc=0
    fi
    exit $rc
done
echo "no GPU here" >&2
exit 77
