#!/bin/bash
# SPDX-License-Identifier: MIT
# What tests/bench/rowwise_peers.py has peers compute of each shipped problem is right; it joins times with Kiln's.  Needs
# a python3 that has torch (Debian: python3-torch, python3-numpy); no GPU.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh disable=SC2154
. "$(dirname "$0")/../lib/tap.sh"
for python in python3 /usr/bin/python3; do "$python" -c 'import numpy, torch' 2>/dev/null && break; python=; done
[ -n "$python" ] || { echo "1..0 # SKIP no python3 with torch and numpy"; exit 77; }
"$python" tests/bench/rowwise_peers.py --dry-run >"$tmp/out" 2>&1 && grep -qE '^[1-9][0-9]* passed, 0 failed' "$tmp/out"
result $? "every shipped problem, in float64"
for wrong in 's/(x\.float\(\) \+ residual\.float\(\))/(x.float() - residual.float())/' 's/\.abs\(\)\.amax/.amax/' \
    's/torch\.softmax\(x\.float\(\)/torch.softmax(0.99 * x.float()/'; do
    mkdir -p "$tmp/tests/bench"
    cp tests/bench/peers.py "$tmp/tests/bench"
    sed -E "$wrong" tests/bench/rowwise_peers.py >"$tmp/tests/bench/wrong.py"
    ! cmp -s tests/bench/rowwise_peers.py "$tmp/tests/bench/wrong.py" &&
        ! "$python" "$tmp/tests/bench/wrong.py" --dry-run --problems docs/benchmarks/rowwise.problems >"$tmp/out" 2>&1 && grep -q '^FAIL' "$tmp/out"
    result $? "found: $wrong"
done
cat >"$tmp/kiln.csv" <<'EOF'
set,problem,implementation,us,spread,TFLOP/s,GB/s,ratio,replays,note
softmax,softmax bf16 rows=64 cols=8192 align=256,kiln,2.00,0.001,-,1,1.000,20,sm_90a/softmax/bf16/simt_t256x1_v4_r
softmax,softmax bf16 rows=1 cols=8192 align=256,kiln,4.00,0.001,-,1,1.000,20,sm_90a/softmax/bf16/simt_t512x1_v2_r
EOF
"$python" - "$tmp/kiln.csv" >"$tmp/out" 2>&1 <<'EOF'
import argparse, io, sys
sys.path.insert(0, "tests/bench")
import rowwise_peers as r
problems = r.read_problems("docs/benchmarks/rowwise.problems", ["softmax"])
kiln = r.kiln_times(argparse.Namespace(kiln=sys.argv[1]))
few = [p for p in problems if p.key in kiln]
assert len(few) == 2, few
out = io.StringIO()
r.put_table(problems, {p.key: {"torch.compile": 3.0, "quack": 5.0} for p in few}, kiln, ["torch.compile", "quack"], out)
lines = [l.split(",")[-2] for l in out.getvalue().splitlines()[1:]]
assert sorted(lines) == ["0.750", "1.500"], out.getvalue()
assert abs(r.peers.geomean([0.75, 1.5]) - 1.0606602) < 1e-6
EOF
result $? "times are joined by problem"
finish
