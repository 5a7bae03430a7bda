#!/bin/bash
# SPDX-License-Identifier: MIT
# choices.sh OUT FILE...: the instance that the cost model chooses for each problem of FILE (as in docs/benchmarks/*.problems,
# "-": standard input), and its modelled time, for an H200; needs no GPU and no compiler for one.  What is chosen depends on a
# module's table alone, so its code objects are empty here.  OUT keeps the module, for OPS (names of files in INSTANCES,
# default all); TARGET, default sm_90a; UNITS of the device, default its target's; MOST=N: the N best of each.
set -eu
out=${1:?usage: choices.sh OUT FILE...}
shift
cd "$(dirname -- "$0")/../.."
build=${BUILD:-build} gen=$out/gen instances=${INSTANCES:-instances} schedules=${SCHEDULES:-templates} target=${TARGET:-sm_90a}
units=${UNITS:-$(sed -n 's/.*\<units = \([0-9]*\).*/\1/p' "$schedules/targets/$target.lua")}
mkdir -p "$out/lib" "$gen"
if [ -n "${OPS:-}" ]; then
    rm -rf "$out/ops" && mkdir "$out/ops"
    for op in $OPS; do cp "$instances/$op.lua" "$out/ops/"; done
    instances=$out/ops
fi
"$build/bin/kiln-gen" --templates "$schedules" --out "$gen" --target "$target" "$instances"
while read -r _ _ object; do [ -s "$gen/$object" ] || echo none >"$gen/$object"; done <"$gen/$target/manifest"
"$build/bin/kiln-gen" --pack "$gen/$target"
module=$out/lib/libkiln-$target.so
${CC:-gcc} -std=gnu11 -O1 -fPIC -shared -fvisibility=hidden -Iabi -I"$gen/$target" -Wa,-I"$gen/$target" -o "$module.tmp" "$gen/$target/module.c"
"$build/bin/kiln-gen" --seal "$module.tmp"
mv "$module.tmp" "$module"
cat "$@" | sed 's/ vs .*//' | grep -vE '^(#|\[|$)' | while read -r problem; do
    "$build/bin/kiln" explain --modules "$out/lib" --device "none:$target:$units" "$problem" |
        awk -v problem="$problem" -v most="${MOST:-1}" '
            /chosen: |slower: / && n++ < most { sub(/.*\//, "", $1); printf "%-90s %-44s %s\n", problem, $1, $(NF - 1) }
            END { if (!n) printf "%-90s none\n", problem }'
done
