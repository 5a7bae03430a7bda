#!/bin/bash
# SPDX-License-Identifier: MIT
# tests/bench/gemm_sample.py: a seed is one list everywhere, kiln takes every problem of it, and the tables say what
# stands in the figures.
# shellcheck source-path=SCRIPTDIR source=lib/kiln.sh disable=SC2154
. "$(dirname "$0")/lib/kiln.sh"
command -v python3 >/dev/null || { echo "1..0 # SKIP no python3"; exit 77; }
sample=tests/bench/gemm_sample.py
draws() { # FILE OPTION...
    python3 $sample draw "${@:2}" >"$1" 2>"$tmp/err"
}
problems() { grep -cE '^[a-z]' "$1"; }

# The sum is that of the list, whatever machine or Python drew it: a change of the tables is a change of every seed.
same() {
    draws "$tmp/1" --seed 1 && PYTHONHASHSEED=7 draws "$tmp/again" --seed 1 && cmp "$tmp/1" "$tmp/again" &&
        [ "$(cksum <"$tmp/1")" = "397776953 12563" ] && [ "$(problems "$tmp/1")" = 150 ]
}
check 'a seed is one list' same
others() {
    draws "$tmp/2" --seed 2 && ! cmp -s "$tmp/1" "$tmp/2" && draws "$tmp/few" --seed 1 --count 10 &&
        [ "$(problems "$tmp/few")" = 10 ] && [ "$(grep -cxFf "$tmp/1" <(grep -E '^[a-z]' "$tmp/few"))" = 10 ]
}
check 'another seed is another list, a shorter one its beginning' others
limits() {
    draws "$tmp/small" --seed 3 --most-m 16 --memory 64 --op swiglu --op bias_relu && python3 - "$tmp/small" <<'PY'
import re, sys
lines = [l for l in open(sys.argv[1]) if re.match("[a-z]", l)]
assert len(lines) == 150 and {l.split()[0] for l in lines} == {"swiglu", "bias_relu"}
for l in lines:
    m, n, k = [int(re.search(r"\b%s=(\d+)" % x, l).group(1)) for x in "mnk"]
    products = 2 if l.startswith("swiglu") else 1
    assert m <= 16 and 2 * (m * k + products * n * k + m * n) <= 64 << 20, l
PY
}
check 'limits of rows, memory and ops' limits
odd() {
    python3 - "$tmp/1" <<'PY'
import re, sys
lines = [l for l in open(sys.argv[1]) if re.match("[a-z]", l)]
odd = [l for l in lines if "aligna=" in l]
assert len(odd) == 30, len(odd)
assert any("aligna=2 " in l for l in odd) and any(re.search(r"lda=\d*[1357] ", l) for l in odd)
assert len({l.split()[0] for l in lines}) >= 8 and min(int(re.search(r"m=(\d+)", l).group(1)) for l in lines) == 1
PY
}
check 'a fifth has random sizes, pitches and alignments' odd

reads() { python3 $sample check --kiln "$kiln" --device host 1 2; }
check 'kiln reads every problem of two seeds, and has a kernel' reads

cat >"$tmp/a.csv" <<'CSV'
set,problem,implementation,us,spread,TFLOP/s,GB/s,ratio,replays,note
bias_relu/m=1,p1,kiln,10.00,0,1,1,1,9,one
bias_relu/m=1,p1,kiln,20.00,0,1,1,2,9,"two, chosen"
bias_relu/m=1,p1,cublaslt,30.00,0,1,1,3,9,"fused, best of 8 candidates"
bias_relu/m=1,p1,memory,1.00,0,1,1,3,9,reads
bias_relu/m=2..16/odd,p2,kiln,10.00,0,1,1,1,9,"one, chosen"
bias_relu/m=2..16/odd,p2,cublaslt,6.00,0,1,1,3,9,"fused, best of 8 candidates"
bias_relu/m=2..16/odd,p2,other,5.00,0,1,1,3,9,"fused, RESULTS DIFFER (relative rms 1)"
swiglu/m=1,p3,kiln,10.00,0,1,1,1,9,"one, chosen"
swiglu/m=1,p3,cublaslt,1.00,0,1,1,3,9,"plain GEMM only, best of 8 candidates"
CSV
tables() {
    python3 $sample tables "$tmp/a.csv" >"$tmp/out" 2>"$tmp/err" &&
        says '^| bias_relu | 2 | 0.949 | 0.600 | 0.600 | 0.500 | 0.500 | 0.500 |' &&
        says '^| m=2..16 | 1 | 0.600 | 0.600 | 0.600 |  |  |  |' && says '| m=1 | 1 | 1.500 | 1.500 | 1.500 | 0.500 |' &&
        says '^| random sizes, pitches, alignments | 1 | 0.600 ' && says '^1 problems without a figure' && ! says swiglu
}
# Every problem is counted once by op and once by M.
model() {
    python3 $sample model --kiln "$kiln" --modules "$folder" --device sim:gfx942 --op bias_relu --op swiglu --count 40 5 >"$tmp/out" 2>"$tmp/err" &&
        says '^seed 5: 40 problems, geomean 0\.' && [ "$(grep -c '^| all | 40 |' "$tmp/out")" = 2 ] && says '^| m=2..16 '
}
if folder=$(modules gfx942); then
    check 'model: the floor over what is chosen' model
else
    skip 'model: the floor over what is chosen' 'no module for gfx942'
fi
check 'tables: the best whole path, the chosen instance, the best that is built' tables
finish
