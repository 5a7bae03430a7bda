#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs what building (`build`) or testing (`test`) needs and is missing, on Debian and its kin, as root.
# Without root or network it prints the one command to run and stops.
set -eu
build='gcc libc6-dev pkg-config liblua5.4-dev libxxhash-dev libjansson-dev libelf-dev libdw-dev libmsgpack-dev'
hip='hipcc rocm-device-libs clang-19 lld-19 llvm-19'
test='libcmocka-dev libopenblas0-pthread scdoc lua-check codespell python3-minimal shellcheck g++ libclang-rt-19-dev'

case ${1-} in
build) want=$build
    # A ROCm of the user's own serves as it is.
    if ! { command -v hipcc && [ -d "${ROCM_PATH:-/opt/rocm}" ]; } >/dev/null 2>&1; then want="$want $hip"; fi ;;
test) want=$test ;;
*) echo "usage: $0 build|test" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null 2>&1; then
    command -v "${CC:-gcc}" >/dev/null 2>&1 && exit 0 # another system: let the compiler say what is missing
    echo "kiln: not a Debian system; install the counterparts of: $want" >&2
    exit 1
fi
missing=
for p in $want; do
    dpkg-query -W -f='${db:Status-Status}\n' "$p" 2>/dev/null | grep -qx installed || missing="$missing $p"
done
[ -n "$missing" ] || exit 0
line="apt-get update && apt-get install -y --no-install-recommends$missing"
if [ "$(id -u)" -eq 0 ]; then
    echo "installing:$missing"
    log=$(mktemp)
    if { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1; then
        rm -f "$log"
        exit 0
    fi
    tail -n 5 "$log" >&2
    rm -f "$log"
    echo "kiln: the packages above could not be installed; with a network, run:" >&2
    echo "  $line" >&2
    exit 1
fi
echo "kiln: some packages are missing; run this, then make again:" >&2
echo "  sudo sh -c '$line'" >&2
exit 1
