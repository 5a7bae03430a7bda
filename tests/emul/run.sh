#!/bin/bash
# SPDX-License-Identifier: MIT
# GPU kernels on the CPU: generates simt kernels, compiles them with the host's C++ compiler as shared objects, packs those as
# code objects, and lets `kiln verify` run them against the reference through an emulated HIP runtime.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
BUILD=${BUILD:-build}
KILN_BIN=${KILN_BIN:-$BUILD/bin/kiln} KILN_GEN=${KILN_GEN:-$BUILD/bin/kiln-gen}
command -v g++ >/dev/null || { echo "1..0 # SKIP no g++"; exit 77; }
work=$BUILD/tests/emul
rm -rf "$work"
mkdir -p "$work/modules"
work=$(cd "$work" && pwd)
gen=$work/gen

gcc -std=gnu11 -O1 -g -fPIC -shared -Wl,-soname,libkilnsim.so -Itests/emul -Iabi -o "$work/libkilnsim.so" tests/emul/driver.c tests/emul/fibers.c -ldl

"$KILN_GEN" --templates templates --out "$gen" --target gfx942 tests/emul/instances
compile() { # SOURCE OBJECT
    g++ -std=c++17 -O1 -w -fPIC -shared -fno-strict-aliasing -ffp-contract=off -DKILN_EMULATE -Itests/emul -Iabi -Itemplates/device \
        -x c++ "$gen/$1" -o "$gen/$2" -x none -L"$work" -lkilnsim -Wl,-rpath,"$work"
}
export -f compile
export gen work
# Words 2 and 3 of a line of the manifest.
awk '{ print $2, $3 }' "$gen/gfx942/manifest" | xargs -P "$(nproc)" -n 2 bash -c 'compile "$@"' compile
"$KILN_GEN" --pack "$gen/gfx942"
gcc -std=gnu11 -O1 -fPIC -shared -fvisibility=hidden -Iabi -I"$gen/gfx942" -Wa,-I"$gen/gfx942" \
    -o "$work/modules/libkiln-gfx942.so" "$gen/gfx942/module.c"
"$KILN_GEN" --seal "$work/modules/libkiln-gfx942.so"

export KILN_MODULE_PATH=$work/modules LD_LIBRARY_PATH=$work${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
failed=0
for op in $(sed -n 's/^gemm "\(.*\)" {/\1/p' tests/emul/instances/simt.lua); do
    # Its lines of single instances would count as tests of their own beside the total.
    "$KILN_BIN" verify --all --quick --device sim:gfx942 --op "$op" --seed 1 | sed '/^ok /d' || failed=1
done
exit $failed
