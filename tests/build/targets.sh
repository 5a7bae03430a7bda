#!/bin/bash
# SPDX-License-Identifier: MIT
# One op compiles for every target that this machine has a compiler for, and the report finds no spills.  TAP.
set -u
cd "$KILN_ROOT" || exit 2
tmp=$(mktemp -d) && trap 'rm -rf "$tmp" build/modules/all_targets' EXIT
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
unset MAKEFLAGS MAKELEVEL MFLAGS
n=0
for target in $(sed -n 's/^KILN_TARGETS_AVAILABLE *:= *//p' build/toolchain.mk); do
    n=$((n + 1))
    if make instances TARGETS="$target" INSTANCES="$tmp/all_targets" >"$tmp/out" 2>&1 &&
        [ -s "build/modules/all_targets/libkiln-$target.so" ]; then
        echo "ok $n - compiles for $target"
    else
        echo "not ok $n - compiles for $target"
        tail -n 20 "$tmp/out" | sed 's/^/# /'
    fi
done
n=$((n + 1))
KILN_MODULE_PATH=build/modules/all_targets build/bin/kiln report --op probe --json >"$tmp/json" 2>"$tmp/out" &&
    python3 - "$tmp/json" >"$tmp/out" 2>&1 <<'EOF'
import json, sys
rows = json.load(open(sys.argv[1]))
assert rows, "no rows"
bad = [r for r in rows if r.get("spills", 0) or r.get("scratch", 0)]
assert not bad, bad
EOF
if [ $? -eq 0 ]; then echo "ok $n - no spills, no scratch"; else echo "not ok $n - no spills, no scratch"; sed 's/^/# /' "$tmp/out"; fi
echo "1..$n"
