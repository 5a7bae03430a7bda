// SPDX-License-Identifier: MIT
// Read-modify-write of a word of memory by each lane, lowest lane first.  Global memory is changed
// by the host's own atomics, since other workgroups run on other threads; LDS belongs to one
// thread. Floating-point atomics round to nearest even whatever MODE says.  Denormals (LLVM's
// target features say so): f64 and packed ones are kept; f32 in LDS goes by MODE; f32 in memory is
// flushed on gfx90a and kept on gfx942.
#include <string.h>
#include "memory.h"
#include "replay.h"

enum { DENORM_IN = 1 << 4, DENORM_OUT = 1 << 5 }; /* MODE: f32 */
enum { DATA_SLOT = 4 };
typedef struct maths {
    unsigned bits;
    bool flush_in, flush_out;
} maths;

static float to_f32(uint64_t bits, bool flush)
{
    uint32_t b = (uint32_t)bits;
    float f;
    if (flush && !(b & 0x7f800000)) b &= 0x80000000;
    memcpy(&f, &b, 4);
    return f;
}
static uint64_t of_f32(float f, bool flush)
{
    uint32_t b;
    memcpy(&b, &f, 4);
    return flush && !(b & 0x7f800000) ? b & 0x80000000 : b;
}
static double to_f64(uint64_t bits)
{
    double d;
    memcpy(&d, &bits, 8);
    return d;
}
static uint64_t of_f64(double d)
{
    uint64_t b;
    memcpy(&b, &d, 8);
    return b;
}

static uint64_t float_add(const maths *k, uint64_t m, uint64_t d)
{
    if (k->bits == 64) return of_f64(to_f64(m) + to_f64(d));
    return of_f32(to_f32(m, k->flush_in) + to_f32(d, k->flush_in), k->flush_out);
}
/* A number wins over a NaN. */
static bool float_takes_data(const maths *k, uint64_t m, uint64_t d, bool least)
{
    double x = k->bits == 64 ? to_f64(m) : (double)to_f32(m, k->flush_in);
    double y = k->bits == 64 ? to_f64(d) : (double)to_f32(d, k->flush_in);
    if (x != x || y != y) return y == y;
    return least ? y < x : y > x;
}
static uint64_t float_min(const maths *k, uint64_t m, uint64_t d)
{
    return float_takes_data(k, m, d, true) ? d : m;
}
static uint64_t float_max(const maths *k, uint64_t m, uint64_t d)
{
    return float_takes_data(k, m, d, false) ? d : m;
}
static bool float_equal(const maths *k, uint64_t m, uint64_t c)
{
    if (k->bits == 64) return to_f64(m) == to_f64(c);
    return to_f32(m, k->flush_in) == to_f32(c, k->flush_in);
}

/* A double of which `fraction` bits are kept, above the smallest step 2^least, rounded to nearest
 * even. */
static uint16_t narrow(double x, unsigned fraction, unsigned exponent)
{
    int bias = (1 << (exponent - 1)) - 1, top = bias;
    uint64_t b = of_f64(x);
    uint16_t sign = (uint16_t)(b >> 63 << 15),
             most = (uint16_t)(((1u << exponent) - 1) << fraction);
    int e = (int)(b >> 52 & 0x7ff) - 1023;
    if (x != x) return (uint16_t)(most | 1u << (fraction - 1));
    if (e > top) return sign | most;
    unsigned drop = 52 - fraction; /* bits of the double's significand that go */
    if (e < 1 - bias) drop += (unsigned)(1 - bias - e);
    if (drop > 54) return sign;
    uint64_t significand = (b & 0xfffffffffffffull) | 1ull << 52;
    uint64_t kept = significand >> drop, rest = significand & ((1ull << drop) - 1),
             half = 1ull << (drop - 1);
    kept += rest > half || (rest == half && (kept & 1));
    /* the implicit bit adds itself to the exponent, as a carry out of the fraction does */
    uint64_t field = e < 1 - bias ? kept : kept + ((uint64_t)(e + bias - 1) << fraction);
    return (uint16_t)(sign | (field > most ? most : (uint16_t)field));
}
static double half_value(uint16_t h)
{
    unsigned e = h >> 10 & 31u, f = h & 0x3ffu;
    uint64_t sign = (uint64_t)(h >> 15) << 63;
    if (e == 0) {
        double v = f / 16777216.0;
        return sign ? -v : v;
    }
    return to_f64(sign | (uint64_t)(e == 31 ? 0x7ff : e - 15 + 1023) << 52 | (uint64_t)f << 42);
}
static uint16_t half_add(uint16_t x, uint16_t y)
{
    return narrow(half_value(x) + half_value(y), 10, 5);
}
/* The sum of two bf16 as a double is exact, or so far above the smaller one that it is no tie. */
static uint16_t bfloat_add(uint16_t x, uint16_t y)
{
    double a = (double)to_f32((uint64_t)x << 16, false);
    return narrow(a + (double)to_f32((uint64_t)y << 16, false), 7, 8);
}
static uint64_t packed_add(uint64_t m, uint64_t d, uint16_t (*add)(uint16_t, uint16_t))
{
    return (uint64_t)add((uint16_t)(m >> 16), (uint16_t)(d >> 16)) << 16 |
           add((uint16_t)m, (uint16_t)d);
}

static int64_t with_sign(const maths *k, uint64_t x)
{
    return k->bits == 64 ? (int64_t)x : (int32_t)x;
}

static uint64_t result(ks_atomic fn, const maths *k, uint64_t m, uint64_t d, uint64_t c)
{
    uint64_t v = m;
    switch (fn) {
#define S(x)               with_sign(k, x)
#define FLOAT2(name, x, y) float_##name(k, x, y)
#define X(name, value)                                                                             \
    case KS_ATOMIC_##name:                                                                         \
        v = value;                                                                                 \
        break;
        KS_ATOMICS(X)
#undef X
#undef FLOAT2
#undef S
    }
    return k->bits == 32 ? (uint32_t)v : v;
}

static inline uint64_t get(uint64_t at, unsigned bits)
{
    uint64_t wide;
    uint32_t word;
    if (bits == 32) {
        memcpy(&word, (const void *)(uintptr_t)at, 4);
        return word;
    }
    memcpy(&wide, (const void *)(uintptr_t)at, 8);
    return wide;
}
static inline void put(uint64_t at, unsigned bits, uint64_t value)
{
    uint32_t word = (uint32_t)value;
    if (bits == 32)
        memcpy((void *)(uintptr_t)at, &word, 4);
    else
        memcpy((void *)(uintptr_t)at, &value, 8);
}

/* Memory's value before. */
static uint64_t shared_word(ks_atomic fn, const maths *k, uint64_t at, uint64_t d, uint64_t c)
{
    if (k->bits == 32) {
        uint32_t *p = (uint32_t *)(uintptr_t)at, m = __atomic_load_n(p, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(p, &m, (uint32_t)result(fn, k, m, d, c), false,
                                            __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
            ;
        return m;
    }
    uint64_t *p = (uint64_t *)(uintptr_t)at, m = __atomic_load_n(p, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(p, &m, result(fn, k, m, d, c), false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED))
        ;
    return m;
}
static uint64_t own_word(ks_atomic fn, const maths *k, uint64_t at, uint64_t d, uint64_t c)
{
    uint64_t m = get(at, k->bits);
    put(at, k->bits, result(fn, k, m, d, c));
    return m;
}

static uint64_t word_of(const uint32_t *rows, unsigned l, unsigned words)
{
    return rows ? rows[l] | (words == 2 ? (uint64_t)rows[l + KS_LANES] << 32 : 0) : 0;
}

/* One undefined bit of what goes in makes all of the word undefined: a carry, a comparison depend
 * on it. */
static uint64_t undefined_word(ks_access *a, unsigned l, uint64_t from_data)
{
    uint64_t beside = a->at[l] + (uint64_t)a->shadow, in_memory = get(beside, a->bytes * 8);
    if (in_memory | from_data)
        put(beside, a->bytes * 8, a->mem->fn == KS_ATOMIC_SWAP ? from_data : ~0ull);
    return in_memory;
}

typedef struct operands {
    const uint32_t *data, *data_u, *other, *other_u;
    maths maths;
} operands;

static void each_lane(ks_access *a, void *with)
{
    const operands *o = with;
    const maths *k = &o->maths;
    ks_atomic fn = (ks_atomic)a->mem->fn;
    unsigned words = k->bits / 32;
    bool shared = a->space == KS_SPACE_GLOBAL, shadow = a->shadow && a->w->undefined_checked;
    KS_EACH_LANE (l, a->lanes) {
        uint64_t d = word_of(o->data, l, words), c = word_of(o->other, l, words), u = 0;
        uint64_t m = (shared ? shared_word : own_word)(fn, k, a->at[l], d, c);
        if (shadow)
            u = undefined_word(a, l, word_of(o->data_u, l, words) | word_of(o->other_u, l, words));
        a->temp[0][0][l] = (uint32_t)m;
        a->temp[0][1][l] = (uint32_t)(m >> 32);
        a->temp[1][0][l] = (uint32_t)u;
        a->temp[1][1][l] = (uint32_t)(u >> 32);
    }
}

static maths maths_of(const ks_access *a)
{
    const ks_wave *w = a->w;
    maths k = {.bits = a->bytes * 8u};
    if (a->space == KS_SPACE_LDS) {
        k.flush_in = !(w->mode & DENORM_IN);
        k.flush_out = !(w->mode & DENORM_OUT);
    } else {
        k.flush_in = k.flush_out = w->launch->object->arch == KS_GFX90A;
    }
    return k;
}

/* data: one operand with both values (FLAT, MUBUF: data, then compare) or two operands (DS: what
   is compared with first). */
static operands operands_of(ks_access *a, const ks_operand *data)
{
    operands o = {0};
    ks_atomic fn = (ks_atomic)a->mem->fn;
    bool compare = fn == KS_ATOMIC_CMPSWAP || fn == KS_ATOMIC_FCMPSWAP;
    o.data = ks_rows_read(a->w, data, DATA_SLOT, &o.data_u);
    if (!compare && fn != KS_ATOMIC_MSKOR && fn != KS_ATOMIC_WRAP) return o;
    if (a->mem->two) {
        o.other = ks_rows_read(a->w, data + 1, DATA_SLOT + 1, &o.other_u);
        if (!compare) return o;
        return (operands){
            .data = o.other, .data_u = o.other_u, .other = o.data, .other_u = o.data_u};
    }
    size_t second = a->bytes / 4u * KS_LANES;
    o.other = o.data + second;
    o.other_u = o.data_u ? o.data_u + second : NULL;
    return o;
}

void ks_mem_atomic(ks_access *a, const ks_operand *data)
{
    a->rows = NULL;
    ks_mem_place(a);
    if (!a->lanes) return;
    operands o = operands_of(a, data);
    if (o.data_u &&
        (a->space == KS_SPACE_GLOBAL || !a->shadow)) { /* elsewhere undefined bits go to memory's */
        a->reg = data->reg;
        a->undefined = o.data_u;
        ks_mem_defined_data(a);
    }
    o.maths = maths_of(a);
    if (a->space == KS_SPACE_GLOBAL) ks_replay_atomic(a);
    ks_mem_parts(a, each_lane, &o);
    if (a->w->launch->cost) ks_mem_cost(a);
}

void ks_mem_returned(ks_access *a, unsigned reg, uint64_t wanted)
{
    unsigned words = a->bytes / 4u;
    for (unsigned r = 0; r < words; r++)
        KS_EACH_LANE (l, a->lanes) {
            a->w->v[reg + r][l] = a->temp[0][r][l];
        }
    if (a->lanes)
        ks_rows_written(a->w, reg, words,
                        (a->shadow || a->many) && a->w->undefined_checked ? a->temp[1][0] : NULL,
                        a->lanes);
    ks_mem_fill(a->w, reg, words, wanted & ~a->lanes, KS_POISON);
    ks_polled(a->w, a->in, a->w->v[reg], words, a->lanes);
}
