// SPDX-License-Identifier: MIT
// Matrix instructions (MFMA, SMFMAC) as functions of rows: inputs to f32, lanes moved as cbsz, abid and blgp say, sums
// in vec_mfma_dot.c.  D may be C (all of it) or share registers with A and B in any way, but not with a part of C.
// gfx90a flushes denormals of f16 and bf16 forms on the way in (to +0, C too) and out (the sign stays); all else keeps
// them.  Sums of i8 products are below 2^21, exact in f32, and are added to C as integers, wrapping: the encoding has
// no clamp bit.  MODE's rounding and denormal bits mean nothing here.
#include <fenv.h>
#include <string.h>
#include "vec_mfma.h"

/* cbsz: A's blocks in groups of 2^cbsz, block abid of each group stands for all of it. */
static void broadcast_a(const ks_mfma_form *f, unsigned cbsz, unsigned abid, unsigned per, float (*a)[KS_LANES])
{
    for (unsigned e = 0; e < per; e++) {
        float old[KS_LANES];
        memcpy(old, a[e], sizeof(old));
        for (unsigned l = 0; l < KS_LANES; l++) {
            const unsigned block = l / f->m % f->blocks;
            const unsigned from = ((block >> cbsz << cbsz) + abid) % f->blocks;
            a[e][l] = old[l + from * f->m - block * f->m];
        }
    }
}
/* blgp: 1, 2: one half of the lanes for both; 3: each from sixteen lanes on; 4 to 7: one quarter for all. */
static void move_b(unsigned blgp, unsigned per, float (*b)[KS_LANES])
{
    const unsigned run = blgp < 3 ? 32 : blgp == 3 ? KS_LANES : 16;
    const unsigned first = blgp < 3 ? 32 * (blgp - 1) : blgp == 3 ? 16 : 16 * (blgp - 4);
    for (unsigned e = 0; e < per; e++) {
        float old[KS_LANES];
        memcpy(old, b[e], sizeof(old));
        for (unsigned l = 0; l < KS_LANES; l++) b[e][l] = old[(l % run + first) % KS_LANES];
    }
}
static void flush(const float *in, float *out, unsigned words, bool keep_sign)
{
    for (unsigned i = 0; i < words; i++) {
        uint32_t bits;
        memcpy(&bits, in + i, sizeof(bits));
        bits &= bits & 0x7f800000u ? 0xffffffffu : keep_sign ? 0x80000000u : 0;
        memcpy(out + i, &bits, sizeof(bits));
    }
}

static unsigned bits_of(uint8_t type)
{
    static const uint8_t bits[] = {
#define X(name, bits, sum, sum_bits) [KS_MFMA_##name] = bits,
        KS_MFMA_TYPES(X)
#undef X
    };
    return bits[type];
}
static void products(ks_lanes *l, const ks_mfma_form *f)
{
    const unsigned bits = bits_of(f->b), per = (unsigned)f->m * f->k * f->blocks / KS_LANES;
    const unsigned words = (unsigned)f->m * f->m * f->blocks;
    const bool flushes = l->arch == KS_GFX90A && bits == 16;
    ks_mfma_rows a __attribute__((aligned(64))), b __attribute__((aligned(64)));
    float c[32 * KS_LANES] __attribute__((aligned(64)));
    uint32_t index[KS_LANES];
    const uint32_t *old = l->s[f->sparse ? 3 : 2];
    ks_mfma_work w = { .form = f, .per = per, .exact = bits == 8 || f->b == KS_MFMA_F16, .a = a, .b = b,
                       .c = (const float *)old, .d = (float *)l->d[0] };
    KS_V(ks_mfma_load)(f->a, l->s[0], per * bits / 32 / (f->sparse ? 2 : 1), flushes, a);
    KS_V(ks_mfma_load)(f->b, l->s[1], per * bits / 32, flushes, b);
    if (f->sparse) {
        w.index = memcpy(index, l->s[2], sizeof(index));
        w.set = l->inst->cbsz ? 0 : per * l->inst->abid % 32; /* a set has 2 bits for each of per / 2 values */
    } else {
        if (l->inst->cbsz) broadcast_a(f, l->inst->cbsz, l->inst->abid, per, a);
        if (l->inst->blgp) move_b(l->inst->blgp, per, b);
    }
    if (f->b == KS_MFMA_I8) {
        memset(c, 0, words * sizeof(float));
        w.c = w.d = c;
    } else if (flushes) {
        flush(w.c, c, words, false);
        w.c = w.d = c;
    }
    (f->sparse ? KS_V(ks_mfma_dot_sparse) : KS_V(ks_mfma_dot))(&w);
    if (f->b == KS_MFMA_I8)
        for (unsigned i = 0; i < words; i++) l->d[0][i] = old[i] + (uint32_t)(int32_t)c[i];
    else if (flushes)
        flush(c, (float *)l->d[0], words, true);
}

static void run(ks_lanes *l, const ks_mfma_form *f)
{
    const int rounding = fegetround();
    if (rounding != FE_TONEAREST) fesetround(FE_TONEAREST);
    if (f->a == KS_MFMA_F64)
        KS_V(ks_mfma_f64)(l, f);
    else
        products(l, f);
    if (rounding != FE_TONEAREST) fesetround(rounding);
}

#define X(name, ...)                            \
    static void name(ks_lanes *l)               \
    {                                           \
        run(l, &ks_mfma_forms[KS_ROW_##name]);  \
    }
KS_MFMA_FORMS(X)
#undef X

/* Registers of a matrix of m x n elements a block.  SMFMAC: A, B, the index, and D as the last source. */
#define REGS(m, n, blocks, bits) ((m) * (n) * (blocks) * (bits) / 32 / KS_LANES)
#define IN(m, k, blocks, type)   { KS_B32, REGS(m, k, blocks, KS_MFMA_BITS_##type) }
#define SUM(m, blocks, type)     { KS_MFMA_SUM_##type, REGS(m, m, blocks, KS_MFMA_SUM_BITS_##type) }
#define FROM_DENSE(m, k, blocks, a, b) { IN(m, k, blocks, a), IN(m, k, blocks, b), SUM(m, blocks, a) }
#define FROM_SPARSE(m, k, blocks, a, b) \
    { IN(m, k / 2, blocks, a), IN(m, k, blocks, b), { KS_B32, 1 }, SUM(m, blocks, a) }
#define FLAGS_DENSE  KS_F_NO_EXEC
#define FLAGS_SPARSE (KS_F_NO_EXEC | KS_F_DST_IN)
#define X(nm, m, k, blocks, a, b, kind, c90a, c942)                                             \
    { .name = #nm, .exec = KS_V(ks_run_lanes), .lanes = nm, .flags = FLAGS_##kind,              \
      .class = KS_MFMA_OP, .form = KS_ROW_##nm,                                                 \
      .d = { SUM(m, blocks, a) }, .s = FROM_##kind(m, k, blocks, a, b) },
static const ks_op ops[] = { KS_MFMA_FORMS(X) };
#undef X

ks_op_table KS_V(ks_mfma_ops)(void)
{
    return (ks_op_table){ ops, sizeof(ops) / sizeof(ops[0]) };
}
