# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
# What the generator's test scripts share: TAP, a folder of their own, the program.  Environment: KILN_GEN, KILN_ROOT.
root=${KILN_ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
gen=${KILN_GEN:-$root/build/bin/kiln-gen}
case $gen in /*) ;; *) gen=$PWD/$gen ;; esac
toys=$root/tests/gen/templates
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
n=0 failed=0

# check NAME COMMAND...: ok where the command succeeds; what it printed is shown where it fails.
check() {
    local name=$1
    shift
    n=$((n + 1))
    if "$@" >"$tmp/log" 2>&1; then
        echo "ok $n - $name"
    else
        failed=$((failed + 1))
        echo "not ok $n - $name"
        head -n 20 "$tmp/log" | sed 's/^/# /'
    fi
}

finish() {
    echo "1..$n"
    [ "$failed" -eq 0 ]
}

# Names, times, inodes and content of all files: what a run that writes nothing must leave alone.
state() {
    (cd "$1" && find . -type f -printf '%p %T@ %i\n' | LC_ALL=C sort && find . -type f -exec sha256sum {} + | LC_ALL=C sort -k 2)
}
content() {
    (cd "$1" && find . -type f -exec sha256sum {} + | LC_ALL=C sort -k 2 && find . -type d | LC_ALL=C sort)
}
same_state() { diff <(state "$1") "$2"; }
same_content() { diff <(content "$1") "$2"; }
