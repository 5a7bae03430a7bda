#!/bin/bash
# SPDX-License-Identifier: MIT
# What mk/deps.sh asks for, on systems whose packages have other names.  Its dpkg-query, apt-cache and id are fakes.  TAP.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh disable=SC2154
. "$(dirname "$0")/../lib/tap.sh"
mkdir "$tmp/bin"
cat >"$tmp/bin/dpkg-query" <<EOF
#!/bin/sh
for name; do :; done
grep -qx "\$name" $tmp/installed && echo installed
EOF
cat >"$tmp/bin/apt-cache" <<EOF
#!/bin/sh
for name; do :; done
grep -qx "\$name" $tmp/known && echo "Filename: pool/\$name.deb"
EOF
printf '#!/bin/sh\necho 1000\n' >"$tmp/bin/id"
chmod +x "$tmp/bin/"*

asks() { # build|test: the packages that it would install
    PATH=$tmp/bin:$PATH ROCM_PATH=/nonexistent mk/deps.sh "$1" >"$tmp/out" 2>&1
    sed -n "s/^  sudo .*--no-install-recommends \(.*\)'/\1/p" "$tmp/out"
}
common='gcc libc6-dev pkg-config liblua5.4-dev libxxhash-dev libjansson-dev libelf-dev libdw-dev'
release() { # NAME MSGPACK KNOWN...
    local name=$1 msgpack=$2
    shift 2
    printf '%s\n' "$@" >"$tmp/known"
    : >"$tmp/installed"
    [ "$(asks build)" = "$common $msgpack hipcc clang-19 lld-19 llvm-19" ]
    result $? "$name: what building needs"
    asks build | tr ' ' '\n' >"$tmp/log"
    cp "$tmp/log" "$tmp/installed"
    PATH=$tmp/bin:$PATH ROCM_PATH=/nonexistent mk/deps.sh build >"$tmp/out" 2>&1 && [ ! -s "$tmp/out" ]
    result $? "$name: once installed, nothing more"
}
clang19='hipcc clang-19 lld-19 llvm-19'
# shellcheck disable=SC2086
{
    release 'Debian 12' libmsgpack-dev $common libmsgpack-dev rocm-device-libs $clang19 clang-22 lld-22 llvm-22
    release 'Debian 13' libmsgpack-c-dev $common libmsgpack-dev libmsgpack-c-dev $clang19 clang-22 lld-22 llvm-22
    release 'sid' libmsgpack-c-dev $common libmsgpack-c-dev $clang19 clang-21 lld-21 llvm-21 clang-22 lld-22 llvm-22
}
printf '%s\n' python3-dev python3-venv >"$tmp/known"
: >"$tmp/installed"
[ "$(asks python)" = 'python3-dev python3-venv' ]; result $? 'the Python package needs headers, and venv for its tests'
printf '%s\n' clang-21 lld-21 llvm-21 hipcc >"$tmp/installed"
[ "$(asks build)" = "$common libmsgpack-c-dev" ]; result $? 'a later clang that is installed does'
asks test | grep -q 'libclang-rt-21-dev'; result $? 'and tests take what goes with it'
printf '%s\n' clang-22 >"$tmp/installed"
asks build | grep -q 'clang-19 lld-19 llvm-19'; result $? 'one without its linker does not'
: >"$tmp/installed"
asks build >"$tmp/log" && grep -q '^  sudo .*apt-get install.*liblua5.4-dev' "$tmp/out"
result $? 'without root, missing packages give the one command and a stop'
finish
