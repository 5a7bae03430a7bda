#!/bin/bash
# SPDX-License-Identifier: MIT
# kiln report: figures from the gfx942 module's code objects agree with LLVM's own reading; damaged objects do no harm.
# shellcheck source-path=SCRIPTDIR source=lib/kiln.sh
. "$(dirname "$0")/lib/kiln.sh"
gcc -std=gnu11 -g -O1 -Wall -fsanitize=address,undefined -fno-sanitize-recover=undefined -Itools -o "$tmp/damage" \
    tests/tools/report/damage.c tools/resources*.c tools/elf.c tools/msgpack.c >"$tmp/cc" 2>&1
check 'the reader compiles with sanitizers' test -x "$tmp/damage"
if folder=$(modules gfx942); then
    objects=$BUILD/gen/gfx942
    [ "$folder" = "$BUILD/lib/kiln" ] || objects=$folder/gen/gfx942
    object=$(find "$objects" -name '*.co' | sort | head -n 1)
    table() { exits 0 report --modules "$folder" --target gfx942 --op bias_relu && says 'gfx942/bias_relu/' && says 'VGPR'; }
    check 'a table for gfx942' table
    json() {
        exits 0 report --modules "$folder" --target gfx942 --json && valid_json "$tmp/out" && python3 - "$tmp/out" <<'PY'
import json, sys
rows = json.load(open(sys.argv[1]))
assert len(rows) > 40, len(rows)
for r in rows:
    assert 0 < r["vgprs"] <= 512 and 0 < r["sgprs"] <= 112 and 0 <= r["lds_bytes"] <= 65536, r
    assert 0 < r["threads"] <= 1024 and 1 <= r["waves"] <= r["most_waves"] == 8 and r["limit"], r
PY
    }
    check 'json for every instance' json
    symbol=$(llvm-readelf-19 --notes "$object" 2>/dev/null | sed -n 's/^ *\.name: *//p' | tail -n 1)
    if [ -n "$symbol" ]; then
        llvm() { llvm-readelf-19 --notes "$object" | sed -n "s/^ *\.$1: *//p" | tail -n 1; }
        agree() {
            "$tmp/damage" "$object" "$symbol" 0 >"$tmp/read" || return 1
            for f in vgpr_count sgpr_count group_segment_fixed_size private_segment_fixed_size max_flat_workgroup_size; do
                grep -qx "$f $(llvm "$f")" "$tmp/read" || { echo "$f $(llvm "$f")"; cat "$tmp/read"; return 1; }
            done
        }
        check 'agrees with llvm-readelf' agree
    fi
    check '20000 damaged objects' "$tmp/damage" "$object" "${symbol:-kernel}" 20000
fi
cubin=$(find "$BUILD/gen/sm_90a" -name '*.cubin' 2>/dev/null | sort | head -n 1)
if [ -n "$cubin" ]; then
    symbol=$(readelf -sW "$cubin" 2>/dev/null | awk '$4 == "FUNC" && $5 == "GLOBAL" { print $NF; exit }')
    check '20000 damaged cubins' "$tmp/damage" "$cubin" "$symbol" 20000
    cubins() { exits 0 report --target sm_90a --json && valid_json "$tmp/out" && grep -q '"waves": [1-9]' "$tmp/out"; }
    check 'json for sm_90a' cubins
fi
check 'a target without code objects' exits 1 report --target host
finish
