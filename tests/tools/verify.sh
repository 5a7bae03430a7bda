#!/bin/bash
# SPDX-License-Identifier: MIT
# kiln verify passes what is right and finds what is wrong: a correct host kernel is built once, then linked again behind
# a function that spoils one thing.
# shellcheck source-path=SCRIPTDIR source=lib/kiln.sh disable=SC2154
. "$(dirname "$0")/lib/kiln.sh"

check 'one op of the host' exits 0 verify --all --device host --op bias_relu --quick --seed 1
closes() { tail -n 1 "$tmp/out" | grep -qx '[1-9][0-9]* passed, 0 failed'; }
check 'closes with N passed, 0 failed' closes
check 'an int8 op' exits 0 verify --all --device host --op linear_relu_abde_i8 --quick --seed 2
check 'two products' exits 0 verify --all --device host --op swiglu --quick --seed 3
check 'nothing of that name' exits 1 verify --all --device host --op no_such_op
large='bias_relu bf16,bf16,bf16 rcr m=300 n=2000 k=3000'
sampled() { exits 0 verify --device host --seed 5 "$large" && says 'of 300 rows' && says 'seed 5'; }
check 'a large problem is sampled, the seed printed' sampled
check 'a padded, batched one' exits 0 verify --device host 'bias_relu f16,f16,f16 rcr m=9 n=8 k=7 batch=3 lda=11 lde=13 sa=-1'

# ---- faults ----
mkdir "$tmp/faults"
cat >"$tmp/faults/spoiled.lua" <<'LUA'
-- E = relu(A·B + bias) + rest, for the tests of verify
gemm "spoiled" {
  types    = { { a = f32, b = f32, e = f32 } },
  layouts  = { "rrr" },
  d        = { bias = per_col "e", rest = full "e" },
  epilogue = function(acc, d) return relu(acc + d.bias) + d.rest end,
}
LUA
cat >"$tmp/faults/spoiled_rows.lua" <<'LUA'
-- y = x * w + rest, the sums of its rows, the largest of each block
rowwise "spoiled_rows" {
  types   = { { t = f32 } },
  d       = { rest = full "t", w = per_col "t", x = full "t" },
  outputs = { largest = per_block(f32, 1, 64), total = per_row(f32), y = full "t" },
  body    = function(d)
    local y = d.x * d.w + d.rest
    return { largest = block_max(abs(y), 64), total = row_sum(y), y = y }
  end,
}
LUA
out=$tmp/gen
generate() { "$gen" --templates templates --out "$out" --target host "$tmp/faults"; }
check 'the op to spoil is generated' generate
sources=$(find "$out/host" -name '*.c' ! -name module.c)
cc_flags='-std=gnu11 -O2 -fPIC -fopenmp-simd -fvisibility=hidden -Iabi -Itemplates/device'

# Every instance's own function gets another name; the wrapper takes the old one.
# shellcheck disable=SC2086
names=$(grep -ho '^void kiln_[a-z0-9_]*(const kiln_[a-z]*_args \*' $sources | sed 's/^void //; s/(.*//' | sort -u)
renames=$(for name in $names; do echo "-D$name=right_$name"; done)
compile() {
    for s in $sources; do
        # shellcheck disable=SC2086
        gcc $cc_flags $renames -c -o "${s%.c}.o" "$s" || return 1
    done
    "$gen" --pack "$out/host"
}
check 'and compiled' compile

family=gemm prologue='float *e = g->e; (void)e;'
build_fault() { # statements in terms of g, real (the right kernel) and what the prologue declares
    local name type fault
    mkdir -p "$tmp/module"
    rm -f "$tmp/module"/*.so
    {
        printf '#include "kiln_args.h"\n#include "kiln_gemm_args.h"\n#include "kiln_rowwise_args.h"\n#define real(args) right(args, each)\n'
        for name in $names; do
            case $name in kiln_spoiled_rows_*) type=kiln_rowwise_args ;; *) type=kiln_gemm_args ;; esac
            case $type in kiln_"${family}"_args) fault="$prologue $1" ;; *) fault='real(g);' ;; esac
            printf 'void right_%s(const %s *, kiln_each);\nvoid %s(const %s *, kiln_each);\n' "$name" "$type" "$name" "$type"
            printf 'void %s(const %s *g, kiln_each each)\n{\n    void (*const right)(const %s *, kiln_each) = right_%s;\n' "$name" "$type" "$type" "$name"
            printf '    %s\n}\n' "$fault"
        done
    } >"$tmp/fault.c"
    # shellcheck disable=SC2046,SC2086
    gcc $cc_flags -I"$out/host" -c -o "$tmp/fault.o" "$tmp/fault.c" &&
        gcc $cc_flags -I"$out/host" -Wa,-I"$out/host" -shared -o "$tmp/module/libkiln-host.so" "$out/host/module.c" \
            $(for s in $sources; do echo "${s%.c}.o"; done) "$tmp/fault.o" -lm &&
        "$gen" --seal "$tmp/module/libkiln-host.so"
}
finds() { # exit code, text in the output, fault
    build_fault "$3" && exits "$1" verify --modules "$tmp/module" --all --device host --op "${op:-spoiled}" --seed 4 --threads 1 &&
        says "$2"
}
check 'unspoiled, it passes' finds 0 ', 0 failed' 'real(g);'
check 'a wrong last element' finds 1 'expected' 'real(g); if (g->m > 1 && g->n > 1) e[(g->m - 1) * g->lde + g->n - 1] += 1;'
check "a neighbour's bias" finds 1 'expected' \
    'kiln_gemm_args h = *g; if (g->n > 1) { h.d[0] = (const float *)g->d[0] + 1; h.n--; } real(g); if (g->n > 1) real(&h);'
check 'one wrong element in a tile of 128' finds 1 'expected' 'real(g); if (g->m > 128 && g->n > 200) e[128 * g->lde + 200] += 1;'
check 'an unwritten last row' finds 1 'was not written' 'kiln_gemm_args h = *g; if (g->m > 2) h.m--; real(&h);'
check 'an unwritten batch' finds 1 'was not written' 'kiln_gemm_args h = *g; if (g->batch > 1) h.batch--; real(&h);'
check 'nothing done where K is 0' finds 1 'was not written' 'if (g->k) real(g);'
check 'E written before an input in its place is read' finds 1 'expected' 'if (g->m && g->n) e[0] = 0; real(g);'
check 'a write past E' finds 1 'past the end of E' 'real(g); if (g->m && g->n) e[(g->batch - 1) * g->stride_e + (g->m - 1) * g->lde + g->n] = 0;'
check 'a write before E' finds 1 'before the start of E' 'real(g); e[-1] = 0;'
check 'a write into the padding of E' finds 1 'padding of E' 'real(g); if (g->lde > g->n && g->m > 1) e[g->n] = 0;'
check 'a write into an input' finds 1 'input A' 'real(g); if (g->m > 3 && g->k > 3) ((float *)g->a)[1] = 7;'
check 'results that change from run to run' finds 1 'differs from run to run' \
    'static int runs; real(g); if (g->m > 1 && g->n > 1) { union { float f; int i; } u = { e[1] }; u.i ^= runs++ & 1; e[1] = u.f; }'
check 'a read of padding behind a row of A' finds 1 'expected' \
    'real(g); if (g->k % 4 && g->m && g->n) e[0] += ((const float *)g->a)[g->k] * 0;'
check 'a lost NaN' finds 1 'expected' \
    'real(g); for (long i = 0; i < g->m * (g->batch == 1); i++) for (long j = 0; j < g->n; j++) if (e[i * g->lde + j] != e[i * g->lde + j]) e[i * g->lde + j] = 0;'
check 'a wrong batch stride' finds 1 'expected' 'kiln_gemm_args h = *g; h.stride_d[0] = 0; real(&h);'
check 'values stored with too few bits' finds 1 'expected' \
    'real(g); for (long i = 0; i < g->m * (g->batch == 1); i++) for (long j = 0; j < g->n; j++) { union { float f; unsigned i; } u = { e[i * g->lde + j] }; u.i &= ~0xfffu; e[i * g->lde + j] = u.f; }'
check 'a fault in a sampled problem, at an edge' build_fault 'real(g); if (g->n > 1000) e[(g->m - 1) * g->lde + 256] += 1;'
edge() { exits 1 verify --modules "$tmp/module" --device host --seed 6 'spoiled f32,f32,f32 rrr m=700 n=3000 k=300' && says 'of 3000 columns'; }
check 'is found' edge

# Several outputs: d[0] rest, d[1] w, d[2] x, then largest, total, y.
family=rowwise op=spoiled_rows prologue='float *largest = g->d[3], *total = g->d[4], *y = g->d[5]; (void)largest, (void)total, (void)y; const long blocks = (g->cols + 63) / 64; (void)blocks;'
check 'rows: unspoiled, it passes' finds 0 ', 0 failed' 'real(g);'
check 'rows: a wrong last sum' finds 1 'total\[batch .*expected' 'real(g); if (g->rows > 1 && g->cols) total[g->rows - 1] += 1;'
check 'rows: a wrong last block' finds 1 'largest\[batch .*cols/64 .*expected' 'real(g); if (g->rows && g->cols > 64) largest[blocks - 1] += 0.25f;'
check 'rows: an unwritten block' finds 1 'largest\[.* was not written' \
    'float was = g->rows && g->cols > 64 ? largest[blocks - 1] : 0; real(g); if (g->rows && g->cols > 64) largest[blocks - 1] = was;'
check 'rows: a write past the sums' finds 1 'past the end of total' 'real(g); if (g->rows && g->cols) total[(g->batch - 1) * g->stride_d[4] + g->rows] = 0;'
check 'rows: a write into the padding of the blocks' finds 1 'padding of largest' 'real(g); if (g->ldd[3] > blocks && g->rows > 1) largest[blocks] = 0;'
check 'rows: a write into an input' finds 1 'input w' 'real(g); if (g->cols > 3) ((float *)g->d[1])[1] = 7;'
check 'rows: y written before what is in its place is read' finds 1 'expected' 'if (g->rows && g->cols) y[0] = 0; real(g);'
check 'rows: a wrong batch stride' finds 1 'expected' 'kiln_rowwise_args h = *g; h.stride_d[1] = 0; real(&h);'
check 'rows: an unwritten row' finds 1 'was not written' 'kiln_rowwise_args h = *g; if (g->rows > 2) h.rows--; real(&h);'
check 'rows: a fault in few of many rows' build_fault 'real(g); if (g->rows > 10000) total[g->rows - 1] += 1;'
row() { exits 1 verify --modules "$tmp/module" --device host --seed 6 'spoiled_rows f32 rows=20000 cols=300' && says 'of 20000 rows, 300 of 300 columns'; }
check 'rows: is found' row

# ---- many instances, and bounds that say little: kernels of three loops, for the host ----
mkdir -p "$tmp/loops/gemm" "$tmp/loops/targets" "$tmp/few"
cp tests/gen/templates/gemm/plain.c.tmpl templates/gemm/family.lua "$tmp/loops/gemm"
sed "s/values = { 1, 2, 4 }/values = { $(seq -s, 300) }/" tests/gen/templates/gemm/plain.lua >"$tmp/loops/gemm/plain.lua"
cp templates/targets/host.lua "$tmp/loops/targets"
cat >"$tmp/few/few.lua" <<LUA
gemm "many" {
  types    = { { a = f32, b = f32, e = f32 } },
  layouts  = { "rrr" },
  epilogue = function(acc) return acc end,
  tiles    = { host = { plain { m = { $(seq -s, 300) } } } },
}
-- Anything where acc is 0: for one of the problems, K = 0, all of E.
gemm "pole" {
  types    = { { a = f32, b = f32, e = f32 } },
  layouts  = { "rrr" },
  epilogue = function(acc) return 1 / acc end,
}
-- Of acc = 0 zero, or what f32 may flush to it.
gemm "little" {
  types    = { { a = f32, b = f32, e = f32 } },
  layouts  = { "rrr" },
  epilogue = function(acc) return acc / 3 end,
}
-- Nothing is known of any element.
gemm "noise" {
  types    = { { a = f32, b = f32, e = f32 } },
  layouts  = { "rrr" },
  epilogue = function(acc) return 1 / (acc - acc) end,
}
LUA
few=$tmp/few/gen
loops() { # All instances of `many` are one kernel under their names.
    "$gen" --templates "$tmp/loops" --out "$few" --target host "$tmp/few" && mkdir -p "$tmp/loops/module" || return 1
    local source one name names
    one=$(find "$few/host/many" -name '*.c' | sort | head -n 1)
    names=$(grep -rho '^void kiln_many[a-z0-9_]*' "$few/host/many" | sed 's/^void //' | sort -u)
    {
        echo '#include "kiln_gemm_args.h"'
        echo 'void one(const kiln_gemm_args *);'
        for name in $names; do echo "void $name(const kiln_gemm_args *g); void $name(const kiln_gemm_args *g) { one(g); }"; done
    } >"$tmp/many.c"
    # shellcheck disable=SC2086
    gcc $cc_flags -D"$(grep -o '^void kiln_many[a-z0-9_]*' "$one" | head -n 1 | sed 's/^void //')"=one -c -o "$tmp/one.o" "$one" || return 1
    for source in "$few"/host/many/*.c; do cp "$tmp/one.o" "${source%.c}.o"; done # what --pack asks for
    for source in "$few"/host/{pole,little,noise}/*.c; do
        # shellcheck disable=SC2086
        gcc $cc_flags -c -o "${source%.c}.o" "$source" || return 1
    done
    # shellcheck disable=SC2086
    "$gen" --pack "$few/host" &&
        gcc $cc_flags -I"$few/host" -Wa,-I"$few/host" -shared -o "$tmp/loops/module/libkiln-host.so" "$few/host/module.c" \
            "$few"/host/{pole,little,noise}/*.o "$tmp/many.c" "$tmp/one.o" -lm &&
        "$gen" --seal "$tmp/loops/module/libkiln-host.so"
}
check 'instances by the hundred are compiled' loops
of_loops() { # exit code, text in the output, arguments
    KILN_MODULE_PATH=$tmp/loops/module exits "$1" verify --device host --seed 8 "${@:3}" && says "$2"
}
check 'all instances of a problem are looked at' of_loops 0 '^300 passed, 0 failed' 'many f32,f32,f32 rrr m=5 n=6 k=7'
check 'how many elements were determined is said' of_loops 0 '30 of 30 elements determined' --op many 'many f32,f32,f32 rrr m=5 n=6 k=7'
check 'a problem that determines nothing is no failure among others' of_loops 0 '^1 passed, 0 failed' --all --op pole
check 'alone it is' of_loops 1 'determine 0 of 30 elements' 'pole f32,f32,f32 rrr m=5 n=6 k=0'
check 'zeros are known' of_loops 0 '30 of 30 elements determined' 'little f32,f32,f32 rrr m=5 n=6 k=0'
check 'nor do many problems that do not determine much pass' of_loops 1 'too few to tell right from wrong' --all --op noise
finish
