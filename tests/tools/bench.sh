#!/bin/bash
# SPDX-License-Identifier: MIT
# kiln bench: its columns, its peers, and the mapping of layouts to column-major libraries (checked with a stand-in that
# computes in plain C what cuBLASLt's interface asks for).
# shellcheck source-path=SCRIPTDIR source=lib/kiln.sh
. "$(dirname "$0")/lib/kiln.sh"
problem='gemm f32,f32,f32 rrr m=96 n=80 k=64'
brief='--device host --threads 1 --seconds 0.05 --idle 0 --seed 1'
# shellcheck disable=SC2086
csv() {
    exits 0 bench $brief --csv --peer all "$problem" 'gemm bf16,bf16,bf16 rcr m=33 n=65 k=17' &&
        python3 - "$tmp/out" <<'PY'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert list(rows[0]) == ["set", "problem", "implementation", "us", "spread", "TFLOP/s", "GB/s", "ratio", "replays", "note"], rows[0]
kiln = [r for r in rows if r["implementation"] == "kiln"]
assert len(kiln) == 2 and all(float(r["ratio"]) == 1 for r in kiln), rows
assert all(r["problem"].endswith(" align=256") for r in rows), rows # what is not said of alignment
for r in rows:
    assert float(r["us"]) > 0 and float(r["TFLOP/s"]) > 0 and float(r["spread"]) >= 0 and int(r["replays"]) > 0, r
blas = [r for r in rows if r["implementation"] == "openblas"]
if blas:
    assert blas[0]["note"] == "sgemm" and "converted" in blas[1]["note"], blas
assert any(r["implementation"] == "memory" for r in rows)
r = kiln[0]
assert abs(float(r["TFLOP/s"]) - 2e-6 * 96 * 80 * 64 / float(r["us"])) < 0.02 * float(r["TFLOP/s"]), r
PY
}
check 'csv: columns, peers, figures' csv
# shellcheck disable=SC2086
json() { exits 0 bench $brief --json "$problem" && valid_json "$tmp/out" && grep -q '"gflops"' "$tmp/out"; }
check 'json' json
# shellcheck disable=SC2086
check 'a peer of another device' exits 1 bench $brief --peer cublaslt "$problem"
# shellcheck disable=SC2086
check 'an instance by a name that is none' exits 1 bench $brief --instance host/none "$problem"

# ---- files of problems ----
cat >"$tmp/sets" <<'EOS'
# two sets
[one] each at least 0.5
gemm f32,f32,f32 rrr m=96 n=80 k=64   # one that sgemm does all of
bias_relu bf16,bf16,bf16 rcr m=33 n=65 k=17
[other]
a16w8_linear bf16,i8,bf16 rcr m=9 n=35 k=16 vs gemm f32,f32,f32 rcr m=9 n=35 k=16
[missing]
no_such_op f32,f32,f32 rrr m=9 n=9 k=9
EOS
# shellcheck disable=SC2086
sets() {
    exits 1 bench $brief --budget 3 --csv="$tmp/sets.csv" --peer openblas --problems "$tmp/sets" &&
        python3 - "$tmp/sets.csv" "$tmp/out" <<'PY'
import csv, math, re, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert [r["set"] for r in rows] == ["one"] * 4 + ["other"] * 2, rows
blas = [r for r in rows if r["implementation"] == "openblas"]
assert "f32,f32,f32" in blas[2]["note"], blas
for i in range(0, 6, 2): # ratio: that row's time over Kiln's
    assert abs(float(rows[i + 1]["ratio"]) - float(rows[i + 1]["us"]) / float(rows[i]["us"])) < 0.002 + 0.02 * float(rows[i + 1]["ratio"]), rows
summary = [l.split() for l in open(sys.argv[2]).read().split("to show\n")[1].splitlines()]
assert summary[2] == ["missing", "1", "0", "-", "-", "-"], summary
assert summary[0][:3] == ["one", "2", "1"] and summary[1][:3] == ["other", "1", "1"], summary
assert summary[0][3] == summary[0][4] == summary[0][5] == blas[0]["ratio"] and " ".join(summary[0][6:]) == "each at least 0.5", summary
PY
}
check 'sets, their summary, a peer of another problem' sets
# shellcheck disable=SC2086
one_set() { exits 0 bench $brief --csv --problems "$tmp/sets" --set 'oth*' && [ "$(wc -l <"$tmp/out")" = 2 ] && says '^other,"a16w8_linear'; }
check 'one set' one_set
# shellcheck disable=SC2086
no_set() { exits 2 bench $brief --problems "$tmp/sets" --set none && says "has no set 'none'"; }
check 'a set that is not there' no_set
# As an editor of another system writes it.
# shellcheck disable=SC2086
marked() { sed $'1s/^/\xef\xbb\xbf/; s/$/\r/' "$tmp/sets" >"$tmp/marked" && exits 0 bench $brief --csv --problems "$tmp/marked" --set 'oth*' && says '^other,"a16w8_linear'; }
check 'a file that begins with a mark of UTF-8' marked
# shellcheck disable=SC2086
no_problem() { printf '# none\n' >"$tmp/none" && exits 2 bench $brief --problems "$tmp/none" && says 'none has no problems'; }
check 'a file without problems' no_problem
# shellcheck disable=SC2086
no_file() { exits 2 bench $brief --problems "$tmp" && says "$tmp: Is a directory"; }
check 'a folder in place of a file' no_file
# shellcheck disable=SC2086
disk_full() { exits 2 bench $brief --csv=/dev/full "$problem" && says '/dev/full: No space left on device'; }
[ ! -e /dev/full ] || check 'a full disk, by its name' disk_full
no_module() { mkdir "$tmp/empty" && exits 1 bench --device host --modules "$tmp/empty" "$problem" && says 'no module is open; run'; }
check 'no modules' no_module
# shellcheck disable=SC2086
absent() { for c in bench verify 'verify --all' tune; do case $c in *all) set --;; *) set -- "$problem";; esac; exits 77 $c --device none:host:4 "$@" && says 'is not here' || return; done; }
check 'a device that is not here runs nothing' absent
mistakes() {
    printf '[a\n[b]\nbias_relu bf16 rcr m=1\n' >"$tmp/mistakes"
    exits 2 bench --device host --problems "$tmp/mistakes" && says "mistakes:1: '\[a'" && says "mistakes:3: 'bias_relu bf16 rcr m=1'"
}
check 'mistakes have their line' mistakes
latin() { printf '[caf\351] a set\nbias_relu bf16,bf16,bf16 rcr m=1 n=1 k=1\n' >"$tmp/latin" && exits 2 bench --device host --problems "$tmp/latin" && says "a set's name is not UTF-8"; }
check "a set's name of another encoding" latin
# shellcheck disable=SC2086
all() {
    exits 0 bench $brief --all --csv 'gemm f32,f32,f32 rrr m=9 n=9 k=9' && [ "$(grep -c ',.\{0,1\}host/gemm/' "$tmp/out")" -ge 1 ] &&
        [ "$(grep -c ', chosen"$' "$tmp/out")" = 1 ]
}
check 'all instances' all
# What a budget leaves is any part of the problems.
for i in $(seq 40); do echo "gemm f32,f32,f32 rrr m=$i n=8 k=8"; done >"$tmp/forty"
# shellcheck disable=SC2086
spent() { # OPTION...
    exits 0 bench $brief --seconds 0.2 --budget 1 --csv --problems "$tmp/forty" "$@" &&
        sed -n 's/.* m=\([0-9]*\) .*/\1/p' "$tmp/out" >"$tmp/order" && [ "$(wc -l <"$tmp/order")" -lt 40 ] &&
        says "^$(wc -l <"$tmp/order") of 40 problems were timed, then --budget was spent"
}
brief=${brief/--seconds 0.05 /}
in_order() { spent && sort -n "$tmp/order" | cmp - "$tmp/order" && says 'spent; --shuffle'; }
check 'a budget that ends a run' in_order
in_random_order() {
    spent --shuffle 5 && ! sort -n "$tmp/order" | cmp -s - "$tmp/order" && head -n 3 "$tmp/order" >"$tmp/first" &&
        ! says 'spent;' >"$tmp/none" && spent --shuffle 5 && head -n 3 "$tmp/order" | cmp - "$tmp/first" &&
        spent --shuffle 6 && ! head -n 3 "$tmp/order" | cmp -s - "$tmp/first"
}
check 'in random order, the same for a seed' in_random_order
brief="$brief --seconds 0.05"
shipped() { python3 - docs/benchmarks/*.problems <<'PY'
import re, sys
for f in sys.argv[1:]:
    lines = [l.split("#")[0].strip() for l in open(f)]
    problems = [p for l in lines if l and l[0] != "[" for p in l.split(" vs ")]
    assert problems and len(set(lines) - {""}) == len([l for l in lines if l]), f
    for p in problems:
        assert re.fullmatch(r"\w+ (\w+,\w+,\w+ [rc]{3} m=\d+ n=\d+ k=\d+( tokens=\d+)?( groups=\d+)?|\w+(,\w+)*( \w+=\d+)+) align=256", p), p
PY
}
check 'the shipped files of problems' shipped

# ---- the peer for cuBLASLt ----
gcc -std=gnu11 -O1 -fPIC -shared -Wall -o "$tmp/libcublasLt.so.13" tests/tools/blaslt/fake_blaslt.c -lm >"$tmp/cc" 2>&1 &&
    gcc -std=gnu11 -O1 -Wall -Itools -Iruntime -Iabi -o "$tmp/peer_test" tests/tools/blaslt/peer_test.c tools/peer_blaslt.c \
        tools/peer_path.c tools/peer_cublaslt.c tools/peer_openblas.c tools/harness*.c -L"$BUILD/lib" -lkiln -ldl -lpthread -lm \
        -Wl,-rpath,"$BUILD/lib" >>"$tmp/cc" 2>&1
check 'the stand-in and its test compile' test -x "$tmp/peer_test"
agrees() { LD_LIBRARY_PATH=$tmp KILN_DEVICE=host "$tmp/peer_test" "$@"; }
export -f agrees
export tmp
while read -r same text; do check "peer agrees: $text" agrees "$same" "$text"; done <<'EOP'
fused gemm f32,f32,f32 rrr m=17 n=23 k=31
fused gemm f32,f32,f32 crr m=17 n=23 k=31
fused gemm f32,f32,f32 ccr m=17 n=23 k=31
fused gemm bf16,bf16,bf16 rcr m=32 n=24 k=40 lda=48 ldb=56 lde=64
fused gemm f16,f16,f16 rrr m=12 n=20 k=28 batch=3
fused gemm i8,i8,i32 rcr m=16 n=24 k=32
fused bias_relu bf16,bf16,bf16 rcr m=33 n=17 k=25
fused bias_gelu f16,f16,f16 rrr m=9 n=35 k=12
fused add_relu bf16,bf16,bf16 rcr m=9 n=35 k=12 ldd.residual=40
fused linear_relu_abde_i8 i8,i8,i8 rcr m=16 n=32 k=64
fused add_fastgelu bf16,bf16,bf16 rcr m=33 n=17 k=25
fused add_add_fastgelu bf16,bf16,bf16 rcr m=33 n=17 k=25
either multiply_multiply f8e4m3,f8e4m3,bf16 rcr m=33 n=16 k=48
plain add_relu_add bf16,bf16,bf16 rcr m=16 n=8 k=24
steps swiglu bf16,bf16,bf16 rcr m=16 n=8 k=24
fused bias_relu bf16,bf16,bf16 rcr m=33 n=17 k=25 align=256
fused gemm f16,f16,f16 crr m=12 n=20 k=28 aligna=64 alignb=8 aligne=4
fused add_relu bf16,bf16,bf16 rcr m=9 n=35 k=12 align=2 alignd.residual=32
steps swiglu bf16,bf16,bf16 rcr m=16 n=8 k=24 align=2
fused add_fastgelu f16,f16,f16 rrr m=5 n=40 k=16 aligna=256 alignb=256 aligne=256
either multiply_multiply f8e4m3,f8e4m3,bf16 rcr m=33 n=16 k=48 aligna=16 alignb=16 aligne=16
EOP
# What follows a product; FAKE_ROWS leaves one of two paths: two products of n columns, or one of 2n.
while read -r rows text; do
    check "steps agree${rows:+ ($rows rows)}: $text" env FAKE_ROWS="${rows/any/}" bash -c 'agrees "$@"' - steps "$text"
done <<'EOP'
any multiply_multiply bf16,bf16,bf16 rcr m=33 n=16 k=48
any add_fastgelu_multiply bf16,bf16,bf16 rcr m=33 n=17 k=25 lde=24 ldd.gate=32 ldd.residual=40
8 swiglu bf16,bf16,bf16 rcr m=16 n=8 k=24
16 swiglu bf16,bf16,bf16 rcr m=16 n=8 k=24
72 swiglu bf16,bf16,bf16 rcr m=7 n=72 k=24 ldb=32
144 swiglu bf16,bf16,bf16 rcr m=7 n=72 k=24 ldb=32
72 swiglu bf16,bf16,bf16 rrr m=7 n=72 k=24
EOP
check 'a library without vectors of scales' env FAKE_NO_VECTORS=1 bash -c 'agrees "$@"' - \
    steps 'multiply_multiply f8e4m3,f8e4m3,bf16 rcr m=33 n=16 k=48'
finish
