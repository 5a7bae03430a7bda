# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Shared by the tests of kiln: running it, what it printed.  Sourced, not run.
# shellcheck source-path=SCRIPTDIR source=../../lib/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../lib/tap.sh"
case $BUILD in /*) ;; *) BUILD=$root/$BUILD ;; esac

# kiln ARGUMENTS...: leaves $tmp/out, $tmp/err and the exit code in $code
kiln() {
    "$kiln" "$@" >"$tmp/out" 2>"$tmp/err"
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
