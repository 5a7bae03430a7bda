# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Shared by the tests of kiln: TAP lines, a scratch folder, where things are.  Sourced, not run.
set -u
ROOT=${KILN_ROOT:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)}
cd "$ROOT" || exit 2
BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$ROOT/$BUILD ;; esac
KILN=${KILN_BIN:-$BUILD/bin/kiln}
KILN_GEN=${KILN_GEN:-$BUILD/bin/kiln-gen}
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
unset MAKEFLAGS MAKELEVEL MFLAGS KILN_DEVICE KILN_TUNING KILN_LOG
tests=0 failures=0

# ok NAME COMMAND...: passes if the command does
ok() {
    local name=$1
    shift
    tests=$((tests + 1))
    if "$@" >"$tmp/ok.out" 2>&1; then
        echo "ok $tests - $name"
    else
        failures=$((failures + 1))
        echo "not ok $tests - $name"
        head -n 20 "$tmp/ok.out" | sed 's/^/# /'
    fi
}

# kiln ARGUMENTS...: leaves $tmp/out, $tmp/err and the exit code in $code
kiln() {
    "$KILN" "$@" >"$tmp/out" 2>"$tmp/err"
    code=$?
}

# exits CODE ARGUMENTS...: kiln with these arguments ends so
exits() {
    local want=$1
    shift
    kiln "$@"
    [ "$code" = "$want" ] || {
        echo "exit code $code instead of $want: kiln $*"
        cat "$tmp/out" "$tmp/err"
        return 1
    }
}
says() { grep -q -- "$1" "$tmp/out" "$tmp/err" || { cat "$tmp/out" "$tmp/err"; return 1; }; }
valid_json() { python3 -m json.tool "$1" >"$tmp/json"; }
finish() {
    echo "1..$tests"
    [ "$failures" = 0 ]
    exit
}
