#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints the targets that this machine's own GPUs need, of those that Kiln knows.  Prints nothing where there is none.
for node in /sys/class/kfd/kfd/topology/nodes/*/properties; do
    [ -r "$node" ] || continue
    # gfx_target_version is 90402 for gfx942: major*10000 + minor*100 + stepping, stepping and minor in hex digits.
    version=$(sed -n 's/^gfx_target_version //p' "$node")
    [ "${version:-0}" -gt 0 ] || continue
    arch=$(printf 'gfx%d%x%x' $((version / 10000)) $((version / 100 % 100)) $((version % 100)))
    [ -e "templates/targets/$arch.lua" ] && echo "$arch"
done
if command -v nvcc >/dev/null 2>&1 && command -v nvidia-smi >/dev/null 2>&1; then
    nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | grep -qx '9\.0' && echo sm_90a
fi
exit 0
