#!/bin/bash
# SPDX-License-Identifier: MIT
# One op compiles for every target that this machine has a compiler for, and the report finds no spills.  TAP.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
trap 'rm -rf "$tmp" build/modules/all_targets' EXIT
mkdir "$tmp/all_targets"
cat >"$tmp/all_targets/probe.lua" <<'EOF'
gemm "probe" {
  types = { { a = f16, b = f16, e = f16 }, { a = i8, b = i8, e = i8 }, { a = bf16, b = i8, e = bf16 } },
  layouts = { "rcr" },
  d = { bias = per_col "e", res = full "e" },
  scalars = { "alpha" },
  b_op = function(x) return x * 0.5 end,
  epilogue = function(acc, d, s) return gelu(acc * s.alpha + d.bias) + d.res end,
}
EOF
compiles() { # TARGET
    make instances TARGETS="$1" INSTANCES="$tmp/all_targets" && test -s "build/modules/all_targets/libkiln-$1.so"
}
read -ra targets < <(sed -n 's/^KILN_TARGETS_AVAILABLE *:= *//p' build/toolchain.mk)
for target in "${targets[@]}"; do check "compiles for $target" compiles "$target"; done
clean() {
    KILN_MODULE_PATH=build/modules/all_targets "$kiln" report --op probe --json >"$tmp/json" && python3 - "$tmp/json" <<'EOF'
import json, sys
rows = json.load(open(sys.argv[1]))
assert rows, "no rows"
bad = [r for r in rows if r.get("spills", 0) or r.get("scratch", 0)]
assert not bad, bad
EOF
}
check "no spills, no scratch" clean
finish
