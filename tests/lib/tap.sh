# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
# What the test scripts share: TAP lines, a scratch folder, where things are.  Sourced, not run; leaves the script in the
# repository's root.  Environment: KILN_ROOT, KILN_GEN, KILN_BIN, BUILD.
set -u
root=${KILN_ROOT:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
BUILD=${BUILD:-build}
case $BUILD in /*) bin=$BUILD/bin ;; *) bin=$root/$BUILD/bin ;; esac
gen=${KILN_GEN:-$bin/kiln-gen} kiln=${KILN_BIN:-$bin/kiln}
case $gen in /*) ;; *) gen=$PWD/$gen ;; esac
case $kiln in /*) ;; *) kiln=$PWD/$kiln ;; esac
cd "$root" || exit 2
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
unset MAKEFLAGS MAKELEVEL MFLAGS KILN_DEVICE KILN_TUNING KILN_TUNE KILN_LOG
n=0 failed=0

# result STATUS NAME [FILE]: ok where STATUS is 0; else FILE ($tmp/out where it is left out) is shown.
result() {
    n=$((n + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $n - $2"
        return
    fi
    failed=$((failed + 1))
    echo "not ok $n - $2"
    [ ! -s "${3-$tmp/out}" ] || head -n 30 "${3-$tmp/out}" | sed 's/^/# /'
}

# check NAME COMMAND...: ok where the command succeeds; what it printed is shown where it fails.
check() {
    local name=$1
    shift
    "$@" >"$tmp/log" 2>&1
    result $? "$name" "$tmp/log"
}

# modules TARGET: the folder of its module, among the default ones or made for the tests (mk/tests.mk).
modules() {
    local folder
    for folder in "$BUILD/lib/kiln" "$BUILD/tests/$1"; do
        [ ! -e "$folder/libkiln-$1.so" ] || { echo "$folder"; return; }
    done
    return 1
}

# slowed MS: so many milliseconds of a core at rest, on this one as slow as it is just now (tests/bench/pace.h).
slowed() {
    echo $(($1 * $("$BUILD/tests/pace") / 100))
}

skip() { # NAME WHY
    n=$((n + 1))
    echo "ok $n - $1 # SKIP $2"
}

finish() {
    echo "1..$n"
    [ "$failed" -eq 0 ]
}
