#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs what building (`build`), testing (`test`) or the Python package (`python`) needs and is missing, on Debian 12 and
# later and its kin, as root.
# Without root or network it prints the one command to run and stops.
set -eu
# Where releases differ in a name: a|b, of which one that is installed does, else the first that there is to install.
build='gcc libc6-dev pkg-config liblua5.4-dev libxxhash-dev libjansson-dev libelf-dev libdw-dev libmsgpack-c-dev|libmsgpack-dev'
test='libcmocka-dev libopenblas0-pthread scdoc lua-check codespell python3 shellcheck g++'
python='python3-dev python3-venv'
# For AMD kernels: hipcc, which brings device libraries, and a clang of one of these versions, the first being what kernels
# are measured with (the fact `clang` of templates/targets/).
clangs='19 20 21 22 23'

installed() { dpkg-query -W -f='${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed; }
known() { apt-cache show --no-all-versions "$1" 2>/dev/null | grep -q '^Filename:'; } # one to install, no virtual one

pick() { # pick A|B...: prints one
    names=$(echo "$1" | tr '|' ' ')
    for name in $names; do if installed "$name"; then echo "$name"; return; fi; done
    for name in $names; do if known "$name"; then echo "$name"; return; fi; done
    echo "${1%%|*}"
}
pick_clang() { # prints a version: all its packages are there, or can be
    for try in installed known; do
        for v in $clangs; do
            if $try "clang-$v" && $try "lld-$v" && $try "llvm-$v"; then echo "$v"; return; fi
        done
    done
    echo "${clangs%% *}"
}
find_missing() { # sets $missing, packages of $1 that are not installed
    clang=$(pick_clang)
    want=$build
    if [ "$1" = python ]; then
        want=$python
    elif [ "$1" = test ]; then
        want="$test libclang-rt-$clang-dev"
    elif ! { command -v hipcc && [ -d "${ROCM_PATH:-/opt/rocm}" ]; } >/dev/null 2>&1; then # a ROCm of the user's own serves as it is
        want="$want hipcc clang-$clang lld-$clang llvm-$clang"
    fi
    missing=
    for entry in $want; do
        p=$(pick "$entry")
        installed "$p" || missing="$missing $p"
    done
}

case ${1-} in
build | test | python) ;;
*) echo "usage: $0 build|test|python" >&2; exit 2 ;;
esac
if ! command -v dpkg-query >/dev/null 2>&1; then
    command -v "${CC:-gcc}" >/dev/null 2>&1 && exit 0 # another system: let the compiler say what is missing
    echo "kiln: not a Debian system; install the counterparts of: $build hipcc clang-${clangs%% *}" >&2
    exit 1
fi
find_missing "$1"
[ -n "$missing" ] || exit 0
if [ "$(id -u)" -eq 0 ]; then
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    # Which names there are to install is known only after the update.
    # shellcheck disable=SC2086 # a list
    if apt-get update >"$log" 2>&1 && find_missing "$1" && echo "installing:$missing" &&
        DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing >"$log" 2>&1; then
        exit 0
    fi
    tail -n 5 "$log" >&2
    echo "kiln: these packages could not be installed; with a network, run:" >&2
    echo "  apt-get update && apt-get install -y --no-install-recommends$missing" >&2
    exit 1
fi
echo "kiln: some packages are missing; run this, then make again:" >&2
echo "  sudo sh -c 'apt-get update && apt-get install -y --no-install-recommends$missing'" >&2
exit 1
