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
assert list(rows[0]) == ["problem", "implementation", "us", "GFLOP/s", "GB/s", "ratio", "spread", "note"], rows[0]
kiln = [r for r in rows if r["implementation"] == "kiln"]
assert len(kiln) == 2 and all(float(r["ratio"]) == 1 for r in kiln), rows
for r in rows:
    assert float(r["us"]) > 0 and float(r["GFLOP/s"]) > 0 and float(r["spread"]) >= 0, r
blas = [r for r in rows if r["implementation"] == "openblas"]
if blas:
    assert blas[0]["note"] == "sgemm" and "converted" in blas[1]["note"], blas
assert any(r["implementation"] == "memory" for r in rows)
r = kiln[0]
assert abs(float(r["GFLOP/s"]) - 2e-3 * 96 * 80 * 64 / float(r["us"])) < 0.02 * float(r["GFLOP/s"]), r
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

gcc -std=gnu11 -O1 -fPIC -shared -Wall -o "$tmp/libcublasLt.so.13" tests/tools/blaslt/fake_blaslt.c -lm >"$tmp/cc" 2>&1 &&
    gcc -std=gnu11 -O1 -Wall -Itools -Iruntime -Iabi -o "$tmp/peer_test" tests/tools/blaslt/peer_test.c tools/peer_blaslt.c \
        tools/peer_cublaslt.c tools/peer_openblas.c tools/harness*.c -L"$BUILD/lib" -lkiln -ldl -lpthread -lm \
        -Wl,-rpath,"$BUILD/lib" >>"$tmp/cc" 2>&1
check 'the stand-in and its test compile' test -x "$tmp/peer_test"
while read -r same text; do
    agrees() { LD_LIBRARY_PATH=$tmp KILN_DEVICE=host "$tmp/peer_test" "$same" "$text"; }
    check "peer agrees: $text" agrees
done <<'EOP'
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
plain swiglu bf16,bf16,bf16 rcr m=16 n=8 k=24
EOP
finish
