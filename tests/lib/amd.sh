# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Device code of tests, compiled for an AMD target as modules are: amd_compile TARGET OUT SOURCE [FLAG...].
# amd_available TARGET: whether that compiler is there.
amd_available() {
    grep -q "^KILN_HIPCC_$1 := " "${BUILD:-build}/toolchain.mk" 2>/dev/null
}
amd_compile() {
    local target=$1 out=$2 source=$3
    shift 3
    sh -c "$(sed -n "s/^KILN_HIPCC_$target := //p" "${BUILD:-build}/toolchain.mk") \"\$@\"" sh "$@" -o "$out" "$source"
}
