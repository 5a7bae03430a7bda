#!/bin/bash
# SPDX-License-Identifier: MIT
# kiln tune: where problems come from (a run's log, TunableOp's files), what of them is tuned, what never wins, and how
# files become one.
# shellcheck source-path=SCRIPTDIR source=lib/kiln.sh disable=SC2154
. "$(dirname "$0")/lib/kiln.sh"
export KILN_DEVICE=host
mkdir "$tmp/modules" "$tmp/wrong"
cp "$BUILD/tests/libfixture_host.so" "$tmp/modules/libkiln-host.so" && "$gen" --seal "$tmp/modules/libkiln-host.so"
cp "$BUILD/tests/libfixture_wrong.so" "$tmp/wrong/libkiln-host.so" && "$gen" --seal "$tmp/wrong/libkiln-host.so"
brief="--threads 1 --seconds 0.02 --idle 0 --seed 1"
sized() { echo "bias_relu f32,f32,f32 rcr m=$1 n=8 k=8 align=256"; }
# shellcheck disable=SC2086
tune() { local rc=$1; shift; exits "$rc" tune $brief --modules "$tmp/modules" "$@"; }

# ---- what TunableOp wrote ----
cat >"$tmp/untuned.csv" <<'EOF'
Validator,PT_VERSION,2.5.0
GemmTunableOp_float_TN,tn_200_100_20
GemmTunableOp_float_NN,nn_64_32_16_ld_72_16_80
GemmTunableOp_BFloat16_NT,nt_25_49_64_ld_25_49_25,Gemm_Default,1.2
GemmStridedBatchedTunableOp_Half_TT,tt_64_32_16_B_8_ld_16_40_64
GemmTunableOp_double_TN,tn_1_2_3
GemmAndBiasTunableOp_BFloat16_TN,tn_1_2_3
GemmTunableOp_Half_TN,tn_8_8_8_ld_4_8_8
GemmTunableOp_Half_TN,tn_8_0_8
hello
GemmTunableOp_float_TN,tn_200_100_20,Gemm_Default,0.5
EOF
cat >"$tmp/expected" <<'EOF'
gemm f32,f32,f32 rcr m=100 n=200 k=20 align=256
gemm f32,f32,f32 rrr m=32 n=64 k=16 ldb=72 lde=80 align=256
gemm bf16,bf16,bf16 crr m=49 n=25 k=64 align=256
gemm f16,f16,f16 ccr m=32 n=64 k=16 batch=8 lda=40 align=256
EOF
shapes() { exits 0 tune --from-tunableop "$tmp/untuned.csv" --dry-run && diff "$tmp/out" "$tmp/expected"; }
check 'shapes of TunableOp, row-major, each once' shapes
left_out() {
    says "untuned.csv:6: 'GemmTunableOp_double_TN,tn_1_2_3': its type is none of float, Half, BFloat16; left out" &&
        says 'untuned.csv:7: .*its op is no plain product' && says 'untuned.csv:8: .*a leading dimension is less than its column' &&
        says 'untuned.csv:9: .*not `Op_type_TN,tn_m_n_k`' && says "untuned.csv:10: 'hello'" && says 'untuned.csv: 5 of 10 lines left out'
}
check 'what cannot be used is named and counted' left_out
check 'no such file' exits 2 tune --from-tunableop "$tmp/none" --dry-run

# ---- what a run asked for ----
cat >"$tmp/finds.c" <<'EOF'
#include <kiln.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static kiln_ctx *ctx;
static _Atomic int finding, allocated;
void *__libc_malloc(size_t);
void *malloc(size_t size)
{
    allocated += finding;
    return __libc_malloc(size);
}

static void *finds(void *arg)
{
    const kiln_kernel *k;
    for (int i = 0; i < 200; i++) {
        kiln_problem p = {.struct_size = sizeof p, .op = "bias_relu", .m = 1 + i % 50, .n = 8, .k = 8};
        p.a.dtype = p.b.dtype = p.e.dtype = KILN_F32;
        p.a.layout = p.e.layout = KILN_ROW, p.b.layout = KILN_COL;
        if (i % 2) p.a.align = p.b.align = p.e.align = p.d[0].align = 64;
        if (kiln_find(ctx, &p, &k)) abort();
    }
    return arg;
}

int main(void)
{
    pthread_t thread[4];
    if (kiln_open(&ctx, NULL)) return puts(kiln_error()), 1;
    finding = 1;
    finds(NULL);
    finding = 0;
    for (int i = 0; i < 4; i++) pthread_create(&thread[i], NULL, finds, NULL);
    for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
    kiln_close(ctx);
    return allocated ? printf("%d allocations\n", allocated), 1 : 0;
}
EOF
lib=$(cd "$BUILD/lib" && pwd)
${CC:-cc} -Iruntime -Iabi -o "$tmp/finds" "$tmp/finds.c" -L"$lib" -lkiln -lpthread -Wl,-rpath,"$lib" 2>"$tmp/log" || cat "$tmp/log"
run() { KILN_MODULE_PATH=$tmp/modules KILN_LOG=problems:$tmp/run.problems "$tmp/finds"; }
check 'a program that logs its problems; finding allocates nothing' run
once() {
    [ "$(wc -l <"$tmp/run.problems")" = 50 ] && [ "$(sort -u "$tmp/run.problems" | wc -l)" = 50 ] &&
        grep -qx 'bias_relu f32,f32,f32 rcr m=1 n=8 k=8 align=1' "$tmp/run.problems" &&
        grep -qx 'bias_relu f32,f32,f32 rcr m=2 n=8 k=8 align=64' "$tmp/run.problems"
}
check 'each problem once, with the alignment that it promises' once
appends() {
    run && [ "$(wc -l <"$tmp/run.problems")" = 100 ] && tune 0 --problems "$tmp/run.problems" --dry-run && [ "$(wc -l <"$tmp/out")" = 50 ]
}
check 'a second run adds its own; a problem that is there twice is tuned once' appends
cannot() {
    KILN_LOG=problems:$tmp/none/x exits 0 list --op gemm &&
        says 'refused: KILN_LOG=problems:.*/none/x: No such file or directory: no problems are written; name a file'
}
check 'a log of problems that cannot be written' cannot

# ---- what of them ----
shards() {
    local i
    for i in 1 2 3; do tune 0 --problems "$tmp/run.problems" --shard $i/3 --dry-run && cp "$tmp/out" "$tmp/shard$i" || return 1; done
    [ "$(wc -l <"$tmp/shard1")" = 17 ] && [ "$(sort -u "$tmp/shard"? | wc -l)" = 50 ]
}
check 'shards have each problem once' shards
check 'a shard that is none' tune 2 --dry-run --shard 4/3 "$(sized 1)"
check 'a shard that is no number' tune 2 --dry-run --shard 1 "$(sized 1)"
progress() {
    tune 0 -o "$tmp/a.csv" "$(sized 1)" "$(sized 2)" && says '\[1/2\] bias_relu .*, about [0-9]* s left' &&
        says '2 problems tuned, 0 failed, 0 were there'
}
check 'progress, and what is left' progress
resumes() { tune 0 --resume -o "$tmp/a.csv" "$(sized 1)" "$(sized 2)" "$(sized 3)" && says '1 problems tuned, 0 failed, 2 were there'; }
check '--resume leaves out what the file has' resumes
stale() {
    sed -i '/m=2 /s/,[0-9a-f]*$/,0123456789abcdef/' "$tmp/a.csv" && tune 0 --resume -o "$tmp/a.csv" "$(sized 1)" "$(sized 2)" &&
        says 'before this run: .*a.csv: 1 of 3 rows dropped .*kernels that have changed: 1' && says '1 problems tuned, 0 failed, 1 were there' &&
        tune 0 --resume -o "$tmp/a.csv" "$(sized 2)" "$(sized 3)" && says '0 problems tuned, 0 failed, 2 were there'
}
check 'a row whose kernel has changed is counted, and its problem tuned again' stale
check '--resume without a file' tune 2 --resume "$(sized 1)"

# ---- what wins ----
pruned() { tune 0 -o "$tmp/p.csv" "$(sized 8)" && says 'best of 1 (3 legal, 2 modelled too slow, 0 wrong)' && grep -q '/wide_128,' "$tmp/p.csv"; }
check 'what is modelled far behind is not timed' pruned
whole() { tune 0 --prune 0 -o "$tmp/p.csv" "$(sized 8)" && says 'best of 3 (3 legal, 0 modelled too slow, 0 wrong)'; }
check '--prune 0 times all' whole
least() { tune 2 --prune 0.5 "$(sized 8)" && says '0.5 would leave out the best, too'; }
check '--prune leaves the best' least
# shellcheck disable=SC2086
wrong() {
    exits 0 tune $brief --modules "$tmp/wrong" --prune 0 -o "$tmp/w.csv" "$(sized 64)" && says 'wide_128 is left out: ' &&
        says 'best of 2 (3 legal, 0 modelled too slow, 1 wrong)' && grep -q '/plain_[0-9]*,' "$tmp/w.csv"
}
check 'a fast kernel that is wrong does not win' wrong
# shellcheck disable=SC2086
none() { exits 1 tune $brief --modules "$tmp/wrong" -o "$tmp/none.csv" "$(sized 64)" && says 'no instance computes it' && [ ! -e "$tmp/none.csv" ]; }
check 'where all that the model leaves are wrong there is no row' none

# ---- several files become one ----
head=$(grep '^Validator' "$tmp/a.csv")
row() { echo "\"$(sized "$1")\",host/bias_relu/f32_f32_f32/rcr/$2,$3,0,0123456789abcdef"; }
made() { local to=$1; shift; { echo "$head"; printf '%s\n' "$@"; } >"$tmp/$to"; }
made x.csv "$(row 1 slow 5)" "$(row 2 fast 1)" 'no row'
made y.csv "$(row 1 fast 2.5e0)" "$(row 3 only 7)"
merges() {
    exits 0 tune --merge "$tmp/x.csv" "$tmp/y.csv" -o "$tmp/xy.csv" && says "x.csv:7: 'no row': not .*; left out" && says 'xy.csv: 3 problems, of 4 rows' &&
        exits 0 tune --merge "$tmp/y.csv" "$tmp/x.csv" -o "$tmp/yx.csv" && cmp "$tmp/xy.csv" "$tmp/yx.csv" &&
        diff "$tmp/xy.csv" <(echo "$head"; row 1 fast 2.5e0; row 2 fast 1; row 3 only 7)
}
check '--merge keeps the fastest row of each problem' merges
into() { made z.csv "$(row 1 best 1)" && exits 0 tune --merge "$tmp/y.csv" -o "$tmp/z.csv" && diff "$tmp/z.csv" <(echo "$head"; row 1 best 1; row 3 only 7); }
check 'what the file has counts, too' into
writers() {
    local i pids=()
    for i in 1 2 3 4 5 6; do
        made "part$i.csv" "$(row "$i" a 1)" "$(row "1$i" a 1)"
        "$kiln" tune --merge "$tmp/part$i.csv" -o "$tmp/all.csv" >>"$tmp/writers" 2>&1 &
        pids+=($!)
    done
    for i in "${pids[@]}"; do wait "$i" || { cat "$tmp/writers"; return 1; }; done
    [ "$(grep -vc Validator "$tmp/all.csv")" = 12 ]
}
check 'six that merge into one file lose nothing' writers
marked() { sed $'1s/^/\xef\xbb\xbf/' "$tmp/x.csv" >"$tmp/m.csv" && exits 0 tune --merge "$tmp/m.csv" "$tmp/y.csv" -o "$tmp/my.csv" && cmp "$tmp/my.csv" "$tmp/xy.csv"; }
check 'a file that a spreadsheet marked as UTF-8' marked
foreign() {
    sed 's/UNITS,.*/UNITS,77/' "$tmp/y.csv" >"$tmp/f.csv" && exits 2 tune --merge "$tmp/x.csv" "$tmp/f.csv" -o "$tmp/no.csv" &&
        says "f.csv:4: 'Validator,UNITS,77', where" && [ ! -e "$tmp/no.csv" ]
}
check "another device's rows are not merged" foreign
check '--merge needs files' exits 2 tune --merge -o "$tmp/no.csv"
check '--merge needs a place' exits 2 tune --merge "$tmp/x.csv"
headless() { row 1 a 1 >"$tmp/h.csv" && exits 2 tune --merge "$tmp/h.csv" -o "$tmp/no.csv" && says 'h.csv:1: no validators'; }
check 'a file without validators' headless
finish
