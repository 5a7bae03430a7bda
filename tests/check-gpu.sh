#!/bin/bash
# SPDX-License-Identifier: MIT
# Every instance for this machine's GPU against the reference; on NVIDIA, the test schedule of tests/gpu, too.  Exit 77
# where there is no GPU.
kiln=$1/bin/kiln
for device in nvidia amd; do
    "$kiln" verify --all --device $device
    rc=$?
    [ $rc -ne 77 ] || continue
    if [ $rc -eq 0 ] && [ $device = nvidia ]; then
        "${0%/*}/gpu/check.sh" "$1"
        rc=$?
        [ $rc -ne 77 ] || rc=0
    fi
    exit $rc
done
echo "no GPU here" >&2
exit 77
