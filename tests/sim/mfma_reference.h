// SPDX-License-Identifier: MIT
// Matrix instructions stated anew, for tests: where every element of A, B and D is, in words of AMD's matrix
// instruction calculator and the MI200 and CDNA3 ISA documents (a formula each for register, bit and lane), and the
// product as the simulator promises it: k ascending, products exact, one rounding an addition.  Nothing here is the
// simulator's.
#ifndef MFMA_REFERENCE_H
#define MFMA_REFERENCE_H
#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Row (A) or column (B) r of block b at k is in register `reg`, from bit `bit` on, of lane `lane`; D's row i, column j
   in register out_reg of lane out_lane.  bits: of one element of A and B.  forms: target, name, types of A and B. */
typedef struct layout {
    int m, k, blocks, bits;
    const char *reg, *bit, *lane, *out_reg, *out_lane, *forms;
} layout;
#define D32  "4*(i/8) + i%4", "32*(i/4)%64 + j"
#define D32B "16*b + 4*(i/8) + i%4", "32*(i/4)%64 + j"
#define D16  "i%4", "16*(i/4) + j"
#define D16B "4*b + i%4", "16*(i/4) + j"
#define D4   "i", "4*b + j"
static const layout layouts[] = {
    { 32, 1, 2, 32, "0", "0", "32*b + r", D32B,
      "gfx90a v_mfma_f32_32x32x1f32 f32 f32\n"
      "gfx942 v_mfma_f32_32x32x1_2b_f32 f32 f32\n" },
    { 16, 1, 4, 32, "0", "0", "16*b + r", D16B,
      "gfx90a v_mfma_f32_16x16x1f32 f32 f32\n"
      "gfx942 v_mfma_f32_16x16x1_4b_f32 f32 f32\n" },
    { 4, 1, 16, 32, "0", "0", "4*b + r", D4,
      "gfx90a v_mfma_f32_4x4x1f32 f32 f32\n"
      "gfx942 v_mfma_f32_4x4x1_16b_f32 f32 f32\n" },
    { 32, 2, 1, 32, "0", "0", "32*k + r", D32,
      "gfx90a v_mfma_f32_32x32x2f32 f32 f32\n"
      "gfx942 v_mfma_f32_32x32x2_f32 f32 f32\n" },
    { 16, 4, 1, 32, "0", "0", "16*k + r", D16,
      "gfx90a v_mfma_f32_16x16x4f32 f32 f32\n"
      "gfx942 v_mfma_f32_16x16x4_f32 f32 f32\n" },
    { 32, 4, 1, 32, "k%2", "0", "32*(k/2) + r", D32, "gfx942 v_mfma_f32_32x32x4_xf32 xf32 xf32\n" },
    { 16, 8, 1, 32, "k%2", "0", "16*(k/2) + r", D16, "gfx942 v_mfma_f32_16x16x8_xf32 xf32 xf32\n" },
    { 32, 4, 2, 16, "k/2", "16*(k%2)", "32*b + r", D32B,
      "gfx90a v_mfma_f32_32x32x4f16 f16 f16\n"
      "gfx90a v_mfma_f32_32x32x4bf16_1k bf16 bf16\n"
      "gfx942 v_mfma_f32_32x32x4_2b_f16 f16 f16\n"
      "gfx942 v_mfma_f32_32x32x4_2b_bf16 bf16 bf16\n" },
    { 16, 4, 4, 16, "k/2", "16*(k%2)", "16*b + r", D16B,
      "gfx90a v_mfma_f32_16x16x4f16 f16 f16\n"
      "gfx90a v_mfma_f32_16x16x4bf16_1k bf16 bf16\n"
      "gfx942 v_mfma_f32_16x16x4_4b_f16 f16 f16\n"
      "gfx942 v_mfma_f32_16x16x4_4b_bf16 bf16 bf16\n" },
    { 4, 4, 16, 16, "k/2", "16*(k%2)", "4*b + r", D4,
      "gfx90a v_mfma_f32_4x4x4f16 f16 f16\n"
      "gfx90a v_mfma_f32_4x4x4bf16_1k bf16 bf16\n"
      "gfx942 v_mfma_f32_4x4x4_16b_f16 f16 f16\n"
      "gfx942 v_mfma_f32_4x4x4_16b_bf16 bf16 bf16\n" },
    { 32, 8, 1, 16, "k/2%2", "16*(k%2)", "32*(k/4) + r", D32,
      "gfx90a v_mfma_f32_32x32x8f16 f16 f16\n"
      "gfx90a v_mfma_f32_32x32x8bf16_1k bf16 bf16\n"
      "gfx942 v_mfma_f32_32x32x8_f16 f16 f16\n"
      "gfx942 v_mfma_f32_32x32x8_bf16 bf16 bf16\n" },
    { 16, 16, 1, 16, "k/2%2", "16*(k%2)", "16*(k/4) + r", D16,
      "gfx90a v_mfma_f32_16x16x16f16 f16 f16\n"
      "gfx90a v_mfma_f32_16x16x16bf16_1k bf16 bf16\n"
      "gfx942 v_mfma_f32_16x16x16_f16 f16 f16\n"
      "gfx942 v_mfma_f32_16x16x16_bf16 bf16 bf16\n" },
    { 32, 2, 2, 16, "0", "16*k", "32*b + r", D32B, "gfx90a v_mfma_f32_32x32x2bf16 bf16 bf16\n" },
    { 16, 2, 4, 16, "0", "16*k", "16*b + r", D16B, "gfx90a v_mfma_f32_16x16x2bf16 bf16 bf16\n" },
    { 4, 2, 16, 16, "0", "16*k", "4*b + r", D4, "gfx90a v_mfma_f32_4x4x2bf16 bf16 bf16\n" },
    { 32, 4, 1, 16, "0", "16*(k%2)", "32*(k/2) + r", D32, "gfx90a v_mfma_f32_32x32x4bf16 bf16 bf16\n" },
    { 16, 8, 1, 16, "0", "16*(k%2)", "16*(k/2) + r", D16, "gfx90a v_mfma_f32_16x16x8bf16 bf16 bf16\n" },
    { 32, 4, 2, 8, "0", "8*k", "32*b + r", D32B,
      "gfx90a v_mfma_i32_32x32x4i8 i8 i8\n"
      "gfx942 v_mfma_i32_32x32x4_2b_i8 i8 i8\n" },
    { 16, 4, 4, 8, "0", "8*k", "16*b + r", D16B,
      "gfx90a v_mfma_i32_16x16x4i8 i8 i8\n"
      "gfx942 v_mfma_i32_16x16x4_4b_i8 i8 i8\n" },
    { 4, 4, 16, 8, "0", "8*k", "4*b + r", D4,
      "gfx90a v_mfma_i32_4x4x4i8 i8 i8\n"
      "gfx942 v_mfma_i32_4x4x4_16b_i8 i8 i8\n" },
    { 32, 8, 1, 8, "0", "8*(k%4)", "32*(k/4) + r", D32, "gfx90a v_mfma_i32_32x32x8i8 i8 i8\n" },
    { 16, 16, 1, 8, "0", "8*(k%4)", "16*(k/4) + r", D16, "gfx90a v_mfma_i32_16x16x16i8 i8 i8\n" },
    { 32, 16, 1, 8, "k/4%2", "8*(k%4)", "32*(k/8) + r", D32,
      "gfx942 v_mfma_i32_32x32x16_i8 i8 i8\n"
      "gfx942 v_mfma_f32_32x32x16_bf8_bf8 bf8 bf8\n"
      "gfx942 v_mfma_f32_32x32x16_bf8_fp8 bf8 fp8\n"
      "gfx942 v_mfma_f32_32x32x16_fp8_bf8 fp8 bf8\n"
      "gfx942 v_mfma_f32_32x32x16_fp8_fp8 fp8 fp8\n" },
    { 16, 32, 1, 8, "k/4%2", "8*(k%4)", "16*(k/8) + r", D16,
      "gfx942 v_mfma_i32_16x16x32_i8 i8 i8\n"
      "gfx942 v_mfma_f32_16x16x32_bf8_bf8 bf8 bf8\n"
      "gfx942 v_mfma_f32_16x16x32_bf8_fp8 bf8 fp8\n"
      "gfx942 v_mfma_f32_16x16x32_fp8_bf8 fp8 bf8\n"
      "gfx942 v_mfma_f32_16x16x32_fp8_fp8 fp8 fp8\n" },
    { 16, 4, 1, 64, "0", "0", "16*k + r", "2*(i/4)", "16*(i%4) + j",
      "gfx90a v_mfma_f64_16x16x4f64 f64 f64\n"
      "gfx942 v_mfma_f64_16x16x4_f64 f64 f64\n" },
    { 4, 4, 4, 64, "0", "0", "4*b + 16*k + r", "0", "16*(i%4) + 4*b + j",
      "gfx90a v_mfma_f64_4x4x4f64 f64 f64\n"
      "gfx942 v_mfma_f64_4x4x4_4b_f64 f64 f64\n" },
    /* SMFMAC: this is B's place; A's is in the sparse table below. */
    { 32, 16, 1, 16, "k/2%4", "16*(k%2)", "32*(k/8) + r", D32,
      "gfx942 v_smfmac_f32_32x32x16_f16 f16 f16\n"
      "gfx942 v_smfmac_f32_32x32x16_bf16 bf16 bf16\n" },
    { 16, 32, 1, 16, "k/2%4", "16*(k%2)", "16*(k/8) + r", D16,
      "gfx942 v_smfmac_f32_16x16x32_f16 f16 f16\n"
      "gfx942 v_smfmac_f32_16x16x32_bf16 bf16 bf16\n" },
    { 32, 32, 1, 8, "k/4%4", "8*(k%4)", "32*(k/16) + r", D32,
      "gfx942 v_smfmac_i32_32x32x32_i8 i8 i8\n"
      "gfx942 v_smfmac_f32_32x32x32_bf8_bf8 bf8 bf8\n"
      "gfx942 v_smfmac_f32_32x32x32_bf8_fp8 bf8 fp8\n"
      "gfx942 v_smfmac_f32_32x32x32_fp8_bf8 fp8 bf8\n"
      "gfx942 v_smfmac_f32_32x32x32_fp8_fp8 fp8 fp8\n" },
    { 16, 64, 1, 8, "k/4%4", "8*(k%4)", "16*(k/16) + r", D16,
      "gfx942 v_smfmac_i32_16x16x64_i8 i8 i8\n"
      "gfx942 v_smfmac_f32_16x16x64_bf8_bf8 bf8 bf8\n"
      "gfx942 v_smfmac_f32_16x16x64_bf8_fp8 bf8 fp8\n"
      "gfx942 v_smfmac_f32_16x16x64_fp8_bf8 fp8 bf8\n"
      "gfx942 v_smfmac_f32_16x16x64_fp8_fp8 fp8 fp8\n" },
};
/* SMFMAC's A has values 2g and 2g+1 for k = 4g .. 4g+3: value k of row r is in register reg from bit `bit` on; which of
   the four it is stands in two bits of the same lane's index register, from `index` on, in a set of `set` bits. */
static const struct sparse {
    int bits;
    const char *reg, *bit, *lane, *index;
    int set;
} sparse[] = {
    { 16, "k/2%2", "16*(k%2)", "m*(k/4) + r", "4*(k/2%2) + 2*(k%2)", 8 },
    { 8, "k/4%2", "16*(k/2%2) + 8*(k%2)", "m*(k/8) + r", "4*(k/2%4) + 2*(k%2)", 16 },
};
/* blgp: quarter q of the lanes of B is read from this quarter. */
static const char *const blgp_quarters[8] = { "0123", "0101", "2323", "1230", "0000", "1111", "2222", "3333" };

/* ---- formulas: + - * / % ( ), numbers, variables of one letter ---- */
typedef struct vars {
    int v[26];
} vars;
static inline int formula(const char **p, const vars *x, int level)
{
    int left;
    while (**p == ' ') ++*p;
    if (level == 2) {
        if (isdigit((unsigned char)**p)) return (int)strtol(*p, (char **)p, 10);
        if (*(*p)++ != '(') return x->v[(*p)[-1] - 'a'];
        left = formula(p, x, 0);
        while (*(*p)++ != ')') {}
        return left;
    }
    left = formula(p, x, level + 1);
    for (;;) {
        while (**p == ' ') ++*p;
        const char op = **p;
        if (!op || !strchr(level ? "*/%" : "+-", op)) return left;
        ++*p;
        const int right = formula(p, x, level + 1);
        left = op == '+' ? left + right : op == '-' ? left - right : op == '*' ? left * right
             : op == '/' ? left / right : left % right;
    }
}
static inline int at(const char *text, const vars *x)
{
    return formula(&text, x, 0);
}

/* ---- a form, with every place worked out ---- */
typedef struct place {
    int reg, bit, lane;
} place;
typedef struct form {
    const layout *l;
    const struct sparse *sparse; /* NULL: dense */
    char target[8], name[40], a[8], b[8];
    bool i32, f64;
    int a_regs, b_regs, d_regs;
    place in_a[16][64][32], in_b[16][64][32], out[16][32][32]; /* [block][k][row], [block][i][j] */
    int index_bit[64];                                         /* of A's value k */
} form;

static inline void read_form(form *f, const layout *l, const char *line)
{
    memset(f, 0, sizeof(*f));
    f->l = l;
    sscanf(line, "%7s %39s %7s %7s", f->target, f->name, f->a, f->b);
    f->i32 = !strcmp(f->a, "i8");
    f->f64 = !strcmp(f->a, "f64");
    if (strstr(f->name, "smfmac")) f->sparse = &sparse[l->bits == 8];
    for (int b = 0; b < l->blocks; b++)
        for (int r = 0; r < l->m; r++) {
            for (int k = 0; k < l->k; k++) {
                vars x = { { ['b' - 'a'] = b, ['r' - 'a'] = r, ['k' - 'a'] = k, ['m' - 'a'] = l->m } };
                place *p = &f->in_b[b][k][r], *q = &f->in_a[b][k][r];
                *p = *q = (place){ at(l->reg, &x), at(l->bit, &x), at(l->lane, &x) };
                if (p->reg >= f->b_regs) f->b_regs = p->reg + 1;
                if (f->sparse && k < l->k / 2) {
                    *q = (place){ at(f->sparse->reg, &x), at(f->sparse->bit, &x), at(f->sparse->lane, &x) };
                    f->index_bit[k] = at(f->sparse->index, &x);
                }
                if ((!f->sparse || k < l->k / 2) && q->reg >= f->a_regs) f->a_regs = q->reg + 1;
            }
            for (int j = 0; j < l->m; j++) {
                vars x = { { ['b' - 'a'] = b, ['i' - 'a'] = r, ['j' - 'a'] = j } };
                place *p = &f->out[b][r][j];
                *p = (place){ at(l->out_reg, &x), 0, at(l->out_lane, &x) };
                if (p->reg >= f->d_regs) f->d_regs = p->reg + 1;
            }
        }
    if (f->f64) f->a_regs++, f->b_regs++, f->d_regs++;
}
/* Calls visit for every form. */
static inline void each_form(void (*visit)(form *, void *), void *user)
{
    static form f;
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
        for (const char *line = layouts[i].forms; *line; line = strchr(line, '\n') + 1) {
            read_form(&f, &layouts[i], line);
            visit(&f, user);
        }
}

/* ---- values ---- */
typedef struct rows {
    uint32_t a[8][64], b[8][64], c[32][64], index[64], d[32][64];
} rows;
typedef struct modifiers {
    int cbsz, abid, blgp;
} modifiers;

static inline double small_float(uint32_t bits, int exponent_bits, int mantissa_bits, int bias)
{
    const int sign = (int)(bits >> (exponent_bits + mantissa_bits));
    const int exponent = (int)(bits >> mantissa_bits & ((1u << exponent_bits) - 1));
    const double mantissa = bits & ((1u << mantissa_bits) - 1);
    const double v = exponent ? ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits)
                              : ldexp(mantissa, 1 - bias - mantissa_bits);
    return sign ? -v : v;
}
/* An element's value.  flush: denormals of f16 and bf16 are zero (gfx90a). */
static inline double value(const char *type, uint32_t bits, bool flush)
{
    float f;
    if (!strcmp(type, "i8")) return (int8_t)bits;
    if (!strcmp(type, "fp8")) return bits == 0x80 ? NAN : small_float(bits, 4, 3, 8);
    if (!strcmp(type, "bf8")) return bits == 0x80 ? NAN : small_float(bits, 5, 2, 16);
    if (!strcmp(type, "f16")) {
        if ((bits & 0x7c00) == 0x7c00) return bits & 0x3ff ? NAN : bits >> 15 ? -INFINITY : INFINITY;
        return flush && !(bits & 0x7c00) ? 0 : small_float(bits, 5, 10, 15);
    }
    if (!strcmp(type, "bf16")) {
        bits <<= 16;
        if (flush && !(bits & 0x7f800000)) return 0;
    } else if (!strcmp(type, "xf32") && !((bits & 0x7f800000) == 0x7f800000)) {
        bits = bits >> 13 << 13;
    }
    memcpy(&f, &bits, 4);
    return f;
}
static inline double fetch(const char *type, const uint32_t (*regs)[64], place p, bool flush)
{
    if (!strcmp(type, "f64")) {
        const uint64_t bits = (uint64_t)regs[p.reg + 1][p.lane] << 32 | regs[p.reg][p.lane];
        double v;
        memcpy(&v, &bits, 8);
        return v;
    }
    const int bits = strstr(type, "8") ? 8 : strstr(type, "16") ? 16 : 32;
    return value(type, regs[p.reg][p.lane] >> p.bit & (0xffffffffu >> (32 - bits)), flush);
}

/* Element (block, i, j) of D into out; 1 or 2 words. */
static inline void element(const form *f, const rows *x, modifiers mod, int block, int i, int j, uint32_t out[2])
{
    const bool flush = !strcmp(f->target, "gfx90a") && f->l->bits == 16;
    const bool negates = f->f64 && !strcmp(f->target, "gfx942");
    const place c = f->out[block][i][j];
    const int group = 1 << mod.cbsz, a_block = f->sparse || f->f64 ? block : block / group * group + mod.abid;
    double d = fetch(f->f64 ? "f64" : "f32", x->c, c, false);
    float s = (float)d;
    uint32_t n = x->c[c.reg][c.lane];
    if (flush && fabsf(s) < 0x1p-126f) s = 0;
    if (negates && mod.blgp & 4) d = -d;
    for (int k = 0; k < (f->sparse ? f->l->k / 2 : f->l->k); k++) {
        const place pa = f->in_a[a_block][k][i];
        int at_k = k;
        if (f->sparse) {
            const int set = mod.cbsz ? 0 : mod.abid * f->sparse->set;
            at_k = k / 2 * 4 + (int)(x->index[pa.lane] >> (set + f->index_bit[k]) & 3);
        }
        place pb = f->in_b[block][at_k][j];
        if (!f->sparse && !f->f64) pb.lane = pb.lane % 16 + 16 * (blgp_quarters[mod.blgp][pb.lane / 16] - '0');
        double a = fetch(f->a, x->a, pa, flush), b = fetch(f->b, x->b, pb, flush);
        if (negates && mod.blgp & 1) a = -a;
        if (negates && mod.blgp & 2) b = -b;
        if (f->i32)
            n += (uint32_t)((int)a * (int)b);
        else if (f->f64)
            d = fma(a, b, d);
        else
            s = fmaf((float)a, (float)b, s);
    }
    if (flush && fabsf(s) < 0x1p-126f) s *= 0.0f;
    if (f->i32) {
        out[0] = n;
    } else if (f->f64) {
        uint64_t bits;
        memcpy(&bits, &d, 8);
        if (isnan(d)) bits = 0x7ff8000000000000;
        out[0] = (uint32_t)bits, out[1] = (uint32_t)(bits >> 32);
    } else {
        memcpy(out, &s, 4);
        if (isnan(s)) out[0] = 0x7fc00000;
    }
}
/* D as it has to be.  In C's and D's registers every lane is an element of D. */
static inline void reference(const form *f, const rows *x, modifiers mod, uint32_t (*want)[64])
{
    for (int b = 0; b < f->l->blocks; b++)
        for (int i = 0; i < f->l->m; i++)
            for (int j = 0; j < f->l->m; j++) {
                const place p = f->out[b][i][j];
                uint32_t word[2];
                element(f, x, mod, b, i, j, word);
                want[p.reg][p.lane] = word[0];
                if (f->f64) want[p.reg + 1][p.lane] = word[1];
            }
}
/* 0, or how many words are wrong; the first is written to text. */
static inline int compare(const form *f, const uint32_t (*got)[64], const uint32_t (*want)[64], char *text, size_t size)
{
    int wrong = 0;
    for (int r = 0; r < f->d_regs; r++)
        for (int l = 0; l < 64; l++)
            if (got[r][l] != want[r][l] && !wrong++)
                snprintf(text, size, "%s %s: register %d of lane %d is %08x, not %08x", f->target, f->name, r, l,
                         got[r][l], want[r][l]);
    return wrong;
}
/* Inputs: whole numbers from -limit to limit in every element of a register. */
static inline uint32_t random_word(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 32);
}
static inline uint32_t whole(const char *type, int v)
{
    const float f = (float)v;
    uint32_t bits;
    memcpy(&bits, &f, 4);
    if (!strcmp(type, "f32") || !strcmp(type, "xf32")) return bits;
    if (!strcmp(type, "bf16")) return bits >> 16;
    if (!strcmp(type, "i8")) return (uint32_t)v & 0xff;
    for (uint32_t code = 0; code < 0x10000; code++)
        if (value(type, code, false) == v) return code;
    return 0;
}
static inline void fill_small(const char *type, uint32_t (*regs)[64], int count, int limit, uint64_t *state)
{
    const int bits = strstr(type, "8") ? 8 : strstr(type, "16") ? 16 : 32;
    uint32_t code[201];
    const bool f64 = !strcmp(type, "f64"), i32 = !strcmp(type, "i32");
    for (int v = -limit; v <= limit; v++) code[v + limit] = f64 || i32 ? 0 : whole(type, v);
    for (int r = 0; r < count; r++)
        for (int l = 0; l < 64; l++) {
            int v = (int)(random_word(state) % (2u * (unsigned)limit + 1)) - limit;
            if (f64) {
                const double d = v;
                if (r % 2 == 0) memcpy(&regs[r][l], &d, 4), memcpy(&regs[r + 1][l], (const char *)&d + 4, 4);
                continue;
            }
            regs[r][l] = i32 ? (uint32_t)v : 0;
            for (int bit = 0; !i32 && bit < 32; bit += bits) {
                regs[r][l] |= code[v + limit] << bit;
                v = (int)(random_word(state) % (2u * (unsigned)limit + 1)) - limit;
            }
        }
}
#endif
