#!/bin/bash
# SPDX-License-Identifier: MIT
# kiln verify passes what is right and finds what is wrong: a correct host kernel is built once, then linked again behind
# a function that spoils one thing.
# shellcheck source-path=SCRIPTDIR source=lib/tap.sh
. "$(dirname "$0")/lib/tap.sh"

ok 'one op of the host' exits 0 verify --all --device host --op bias_relu --quick --seed 1
closes() { tail -n 1 "$tmp/out" | grep -qx '[1-9][0-9]* passed, 0 failed'; }
ok 'closes with N passed, 0 failed' closes
ok 'an int8 op' exits 0 verify --all --device host --op linear_relu_abde_i8 --quick --seed 2
ok 'two products' exits 0 verify --all --device host --op swiglu --quick --seed 3
ok 'nothing of that name' exits 1 verify --all --device host --op no_such_op
large='bias_relu bf16,bf16,bf16 rcr m=300 n=2000 k=3000'
sampled() { exits 0 verify --device host --seed 5 "$large" && says 'of 300 rows' && says 'seed 5'; }
ok 'a large problem is sampled, the seed printed' sampled
ok 'a padded, batched one' exits 0 verify --device host 'bias_relu f16,f16,f16 rcr m=9 n=8 k=7 batch=3 lda=11 lde=13 sa=-1'

# ---- faults ----
mkdir "$tmp/faults"
cat >"$tmp/faults/spoiled.lua" <<'LUA'
-- E = relu(A·B + bias), for the tests of verify
gemm "spoiled" {
  types    = { { a = f32, b = f32, e = f32 } },
  layouts  = { "rrr" },
  d        = { bias = per_col "e" },
  epilogue = function(acc, d) return relu(acc + d.bias) end,
}
LUA
out=$tmp/gen
generate() { "$KILN_GEN" --templates templates --out "$out" --target host "$tmp/faults"; }
ok 'the op to spoil is generated' generate
sources=$(find "$out/host" -name '*.c' ! -name module.c)
cc_flags='-std=gnu11 -O2 -fPIC -fopenmp -fvisibility=hidden -Iabi -Itemplates/device'

# Every instance's own function gets another name; the wrapper takes the old one.
# shellcheck disable=SC2086
names=$(grep -ho '^void kiln_[a-z0-9_]*(const kiln_gemm_args \*' $sources | sed 's/^void //; s/(.*//' | sort -u)
renames=$(for n in $names; do echo "-D$n=right_$n"; done)
compile() {
    for s in $sources; do
        # shellcheck disable=SC2086
        gcc $cc_flags $renames -c -o "${s%.c}.o" "$s" || return 1
    done
    "$KILN_GEN" --pack "$out/host"
}
ok 'and compiled' compile

build_fault() { # statements in terms of g, real (the right kernel) and e
    mkdir -p "$tmp/module"
    rm -f "$tmp/module"/*.so
    {
        echo '#include "kiln_args.h"'
        for n in $names; do
            printf 'void right_%s(const kiln_gemm_args *);\nvoid %s(const kiln_gemm_args *);\n' "$n" "$n"
            printf 'void %s(const kiln_gemm_args *g)\n{\n    void (*const real)(const kiln_gemm_args *) = right_%s;\n' "$n" "$n"
            printf '    float *e = g->e;\n    (void)e;\n    %s\n}\n' "$1"
        done
    } >"$tmp/fault.c"
    # shellcheck disable=SC2046,SC2086
    gcc $cc_flags -c -o "$tmp/fault.o" "$tmp/fault.c" &&
        gcc $cc_flags -I"$out/host" -Wa,-I"$out/host" -shared -o "$tmp/module/libkiln-host.so" "$out/host/module.c" \
            $(for s in $sources; do echo "${s%.c}.o"; done) "$tmp/fault.o" -lm &&
        "$KILN_GEN" --seal "$tmp/module/libkiln-host.so"
}
finds() { # exit code, text in the output, fault
    build_fault "$3" && KILN_MODULE_PATH=$tmp/module exits "$1" verify --all --device host --op spoiled --seed 4 --threads 1 &&
        says "$2"
}
ok 'unspoiled, it passes' finds 0 ', 0 failed' 'real(g);'
ok 'a wrong last element' finds 1 'expected' 'real(g); if (g->m > 1 && g->n > 1) e[(g->m - 1) * g->lde + g->n - 1] += 1;'
ok "a neighbour's bias" finds 1 'expected' \
    'kiln_gemm_args h = *g; if (g->n > 1) { h.d[0] = (const float *)g->d[0] + 1; h.n--; } real(g); if (g->n > 1) real(&h);'
ok 'one wrong element in a tile of 128' finds 1 'expected' 'real(g); if (g->m > 128 && g->n > 200) e[128 * g->lde + 200] += 1;'
ok 'an unwritten last row' finds 1 'was not written' 'kiln_gemm_args h = *g; if (g->m > 2) h.m--; real(&h);'
ok 'an unwritten batch' finds 1 'was not written' 'kiln_gemm_args h = *g; if (g->batch > 1) h.batch--; real(&h);'
ok 'nothing done where K is 0' finds 1 'was not written' 'if (g->k) real(g);'
ok 'a write past E' finds 1 'past the end of E' 'real(g); if (g->m && g->n) e[(g->batch - 1) * g->stride_e + (g->m - 1) * g->lde + g->n] = 0;'
ok 'a write before E' finds 1 'before the start of E' 'real(g); e[-1] = 0;'
ok 'a write into the padding of E' finds 1 'padding of E' 'real(g); if (g->lde > g->n && g->m > 1) e[g->n] = 0;'
ok 'a write into an input' finds 1 'input A' 'real(g); if (g->m > 3 && g->k > 3) ((float *)g->a)[1] = 7;'
ok 'results that change from run to run' finds 1 'differs from run to run' \
    'static int runs; real(g); if (g->m > 1 && g->n > 1) { union { float f; int i; } u = { e[1] }; u.i ^= runs++ & 1; e[1] = u.f; }'
ok 'a read of padding behind a row of A' finds 1 'expected' \
    'real(g); if (g->k % 4 && g->m && g->n) e[0] += ((const float *)g->a)[g->k] * 0;'
ok 'a lost NaN' finds 1 'expected' \
    'real(g); for (long i = 0; i < g->m * (g->batch == 1); i++) for (long j = 0; j < g->n; j++) if (e[i * g->lde + j] != e[i * g->lde + j]) e[i * g->lde + j] = 0;'
ok 'a wrong batch stride' finds 1 'expected' 'kiln_gemm_args h = *g; h.stride_d[0] = 0; real(&h);'
ok 'values stored with too few bits' finds 1 'expected' \
    'real(g); for (long i = 0; i < g->m * (g->batch == 1); i++) for (long j = 0; j < g->n; j++) { union { float f; unsigned i; } u = { e[i * g->lde + j] }; u.i &= ~0xfffu; e[i * g->lde + j] = u.f; }'
ok 'a fault in a sampled problem, at an edge' build_fault 'real(g); if (g->n > 1000) e[(g->m - 1) * g->lde + 1024] += 1;'
edge() { KILN_MODULE_PATH=$tmp/module exits 1 verify --device host --seed 6 'spoiled f32,f32,f32 rrr m=700 n=3000 k=300' && says 'of 3000 columns'; }
ok 'is found' edge
finish
