#!/bin/bash
# SPDX-License-Identifier: MIT
# What the cost models choose for an H200, without one: of docs/benchmarks/h200.problems the instances that choices.txt
# lists, which change only on purpose; and what they say of the instances that an H200 timed is close to that.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
command -v python3 >/dev/null || { echo "1..0 # SKIP no python3"; exit 77; }
problems=docs/benchmarks/h200.problems
OPS=$(grep -oE '^[a-z][a-z_0-9]* ' $problems | sort -u | tr -d '\n')
export OPS
MOST=999 tests/bench/choices.sh "$tmp/choices" $problems >"$tmp/all" 2>"$tmp/out"
result $? 'every problem is explained for a device that is not there'
grep -q ' none$' "$tmp/all"
result $((!$?)) 'each has an instance'
awk '{ problem = $0; sub(/ +[^ ]+ +[^ ]+$/, "", problem) } problem != last { last = problem; print problem, $(NF - 1) }' "$tmp/all" |
    diff tests/tools/lib/choices.txt - >"$tmp/out"
result $? 'chosen are those of tests/tools/lib/choices.txt'
python3 tests/bench/model_fit.py docs/benchmarks/h200.csv "$tmp/all" >"$tmp/fit" &&
    awk -F'[:, ]+' '/^wgmma: / { wgmma = $2 == 30 && $4 > 0.98 && $4 < 1.02 && $6 < 0.05 }
        /^wgmma_decode: / { decode = $2 == 16 && $4 > 0.98 && $4 < 1.02 && $6 < 0.08 }
        END { exit !(wgmma && decode) }' "$tmp/fit"
result $? 'modelled times are within 5 % (wgmma) and 8 % (wgmma_decode) of those that an H200 took, root mean square' "$tmp/fit"
diff docs/benchmarks/h200-model.txt "$tmp/fit" >"$tmp/out"
result $? 'docs/benchmarks/h200-model.txt has them'
"$kiln" explain --modules "$tmp/choices/lib" --device none:sm_90a:132 'bias_relu bf16,bf16,bf16 rrr m=128 n=5120 k=8192 align=256' >"$tmp/out" 2>&1 &&
    grep -A2 'wgmma_decode_128x192x64' "$tmp/out" | grep -q '108 blocks, 4 blocks that share'
result $? '27 tiles of many rows are shared by four blocks each, of which all fit, not by three'
# Blocks of a tile of mma, and how many of them a unit holds at once: of 32x32 there is memory for three, of 64x64 for four.
at_once() {
    "$kiln" explain --json --modules "$tmp/choices/lib" --device none:sm_90a:132 "$2" | python3 -c '
import json, sys
parts = [c["parts"] for c in json.load(sys.stdin)["candidates"] if "/mma_" + sys.argv[1] in c["instance"]][0]
print(*[int(p["count"]) for p in parts if p["name"] in ("blocks", "blocks on a unit at once")])' "$1"
}
{
    at_once 32x32x128_w1x2x2_ 'bias_relu bf16,bf16,bf16 rcr m=64 n=256 k=8194 align=4'
    at_once 32x32x128_w1x2x2_ 'bias_relu bf16,bf16,bf16 rcr m=128 n=256 k=8194 align=4'
    at_once 64x64x128_w2x2_d3_b2_ 'linear_relu_abde_i8 i8,i8,i8 rcr m=20 n=7464 k=9212 align=4'
} >"$tmp/out" 2>&1
[ "$(paste -sd, "$tmp/out")" = '128 2,256 3,234 2' ]
result $? 'blocks of clusters are kept apart, no more on a unit than each has to hold'
sets() { python3 tests/bench/tile_sets.py "$@"; }
sets costs --modules "$tmp/choices/lib" --count 5 'bias_relu bf16,bf16,bf16 rcr' >"$tmp/costs" 2>"$tmp/out" &&
    [ "$(cut -d'"' -f4 "$tmp/costs" | grep -c 'bias_relu .* m=')" -ge 5 ]
result $? 'tile_sets.py draws problems of a view'
sets never --modules "$tmp/choices/lib" --count 20 --names 'bias_relu bf16,bf16,bf16 rcr' >"$tmp/out" &&
    grep -qE '^bias_relu bf16,bf16,bf16 rcr wgmma_[^ ]+$' "$tmp/out" &&
    [ "$(grep -cE '^\| gemm \| (wgmma|wgmma_decode|mma|simt|simt_decode) \| [0-9]+ \| [0-9]+ \| [0-9]+ \|$' "$tmp/out")" = 5 ]
result $? 'what few problems do not choose'
best=$(awk -F'"' 'NR == 2 { problem = $4 }
    $4 == problem { split($5, of, ","); if (!least || of[3] + 0 < least) { least = of[3] + 0; best = of[2] } }
    END { print best }' "$tmp/costs")
grep -v ",$best," "$tmp/costs" >"$tmp/less"
sets least "$tmp/costs" >"$tmp/out" && grep -q '^left: ' "$tmp/out" && sets against "$tmp/costs" "$tmp/costs" >"$tmp/out" &&
    grep -q '^| all | 5 | | | 1.0000 | 1.000 | 1.000 |$' "$tmp/out" && sets against "$tmp/less" "$tmp/costs" >"$tmp/out" &&
    grep '^| all ' "$tmp/out" | grep -q ' 0\.'
result $? 'a set keeps all of its own time, and less without the best tile of a problem'
{ head -1 docs/benchmarks/tiles.csv; grep '^"bias_relu bf16' docs/benchmarks/tiles.csv | head -60; } >"$tmp/times.csv"
fit() { tests/bench/cost_fit.py templates/gemm/wgmma.lua --times "$tmp/$1" "${@:2}" >"$tmp/out" 2>&1; }
fit times.csv && [ "$(grep -cE '^0\.[0-9]+: of [0-9]+ problems chosen at 0\.[0-9]+ of the best' "$tmp/out")" = 1 ]
result $? 'cost_fit.py says what a cost is worth by times that a GPU took'
fit times.csv --only 'local waits' --seconds 2 --step 4 --out "$tmp/wgmma.lua" && [ "$(grep -c 'problems chosen' "$tmp/out")" = 2 ] &&
    grep -qE '^([1-9][0-9]*) of \1 costs of this schedule are followed' "$tmp/out" &&
    [ "$(diff templates/gemm/wgmma.lua "$tmp/wgmma.lua" | grep -c '^[<>]')" -le 2 ] && grep -q 'local waits' "$tmp/wgmma.lua"
result $? 'it moves no constant but of the lines that it was given'
head -2 "$tmp/times.csv" >"$tmp/one.csv"
! fit one.csv &&
    grep -q 'no problem has three instances that were timed and are built' "$tmp/out"
result $? 'of single times there is nothing to choose'
"$kiln" verify --modules "$tmp/choices/lib" --device none:sm_90a:132 'bias_relu bf16,bf16,bf16 rcr m=8 n=8 k=8' >"$tmp/out" 2>&1
[ $? -eq 77 ] && grep -q 'a device for sm_90a with 132 units is not here' "$tmp/out"
result $? 'such a device runs nothing'
for device in none none:sm_90a none:sm_90a:0 none::132 none:sm_90a:x; do
    "$kiln" explain --modules "$tmp/choices/lib" --device $device 'bias_relu bf16,bf16,bf16 rcr m=8 n=8 k=8' >"$tmp/out" 2>&1
    [ $? -eq 2 ] && grep -q 'or none:TARGET:UNITS' "$tmp/out"
    result $? "$device is none"
done
finish
