// SPDX-License-Identifier: MIT
// Operands of a problem as strided arrays, and the numbers that tests put into them.
// Inputs are scaled so that sums over K stay near 1 for floats; where they can't (int8), scales
// among the extra inputs make up for it, so that results spread over E's range instead of all
// saturating.
#include "harness.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* What KILN_DTYPES says, and the rest of a small float's format. */
typedef struct format {
    int bytes, is_float, exponent, mantissa, bias;
    unsigned largest, nan, infinity; /* 0: has none */
} format;

#define BIAS(e) ((1 << ((e) > 0 ? (e)-1 : 0)) - 1)
static const format formats[KILN_DTYPE_COUNT] = {
#define X(name, id, bytes, fl, e, m, text) [id] = {bytes, fl, e, m, BIAS(e), 0, 0, 0},
    KILN_DTYPES(X)
#undef X
};

static format format_of(kiln_dtype t)
{
    format f = formats[t];
    const unsigned ones = f.exponent > 0 ? ((1u << f.exponent) - 1) << f.mantissa : 0;
    switch (t) {
    case KILN_F16:
    case KILN_BF16:
    case KILN_F8E5M2:
        f.infinity = ones;
        f.largest = ones - 1;
        f.nan = ones | 1u << (f.mantissa - 1);
        break;
    case KILN_F8E4M3:
        f.largest = 0x7e;
        f.nan = 0x7f;
        break;
    case KILN_F8E4M3FNUZ:
    case KILN_F8E5M2FNUZ:
        f.bias++;
        f.largest = 0x7f;
        f.nan = 0x80;
        break;
    case KILN_F32:
    case KILN_I8:
    case KILN_I32:
    case KILN_DTYPE_NONE:
    case KILN_DTYPE_COUNT:
        break;
    }
    return f;
}

static int is_fnuz(kiln_dtype t)
{
    return t == KILN_F8E4M3FNUZ || t == KILN_F8E5M2FNUZ;
}

static double decode_small(kiln_dtype t, unsigned code)
{
    const format f = format_of(t);
    const unsigned sign = code >> (f.exponent + f.mantissa);
    const unsigned magnitude = code & ((1u << (f.exponent + f.mantissa)) - 1);
    const unsigned exponent = magnitude >> f.mantissa,
                   fraction = magnitude & ((1u << f.mantissa) - 1);
    if (is_fnuz(t) ? code == f.nan : magnitude > (f.infinity ? f.infinity : f.largest)) return NAN;
    if (f.infinity && magnitude == f.infinity) return sign ? -INFINITY : INFINITY;
    const double v =
        exponent ? ldexp((double)(fraction | 1u << f.mantissa), (int)exponent - f.bias - f.mantissa)
                 : ldexp((double)fraction, 1 - f.bias - f.mantissa);
    return sign ? -v : v;
}

static unsigned encode_small(kiln_dtype t, double x)
{
    const format f = format_of(t);
    const unsigned sign = signbit(x) ? 1u << (f.exponent + f.mantissa) : 0;
    if (isnan(x)) return f.nan;
    x = fabs(x);
    if (isinf(x)) return sign | (f.infinity ? f.infinity : f.largest);
    if (x == 0) return is_fnuz(t) ? 0 : sign;
    int e;
    frexp(x, &e);
    e = e - 1 < 1 - f.bias ? 1 - f.bias : e - 1;
    const double steps = nearbyint(ldexp(x, f.mantissa - e)); /* of the last place */
    const double code = ldexp((double)(e + f.bias - 1), f.mantissa) + steps;
    if (code > (double)f.largest) return sign | f.largest;
    return code == 0 && is_fnuz(t) ? 0 : sign | (unsigned)code;
}

double kh_decode(kiln_dtype t, const void *element)
{
    float f32;
    int32_t i32;
    uint16_t u16;
    switch (t) {
    case KILN_F32:
        memcpy(&f32, element, 4);
        return (double)f32;
    case KILN_I32:
        memcpy(&i32, element, 4);
        return (double)i32;
    case KILN_I8:
        return (double)*(const int8_t *)element;
    case KILN_F16:
    case KILN_BF16:
        memcpy(&u16, element, 2);
        return decode_small(t, u16);
    case KILN_F8E4M3:
    case KILN_F8E5M2:
    case KILN_F8E4M3FNUZ:
    case KILN_F8E5M2FNUZ:
        return decode_small(t, *(const uint8_t *)element);
    case KILN_DTYPE_NONE:
    case KILN_DTYPE_COUNT:
        break;
    }
    return NAN;
}

static double clip(double x, double lo, double hi)
{
    return isnan(x) ? 0 : x < lo ? lo : x > hi ? hi : nearbyint(x);
}

void kh_encode(kiln_dtype t, double x, void *element)
{
    const float f32 = (float)x;
    int32_t i32;
    uint16_t u16;
    switch (t) {
    case KILN_F32:
        memcpy(element, &f32, 4);
        break;
    case KILN_I32:
        i32 = (int32_t)clip(x, INT32_MIN, INT32_MAX);
        memcpy(element, &i32, 4);
        break;
    case KILN_I8:
        *(int8_t *)element = (int8_t)clip(x, -128, 127);
        break;
    case KILN_F16:
    case KILN_BF16:
        u16 = (uint16_t)encode_small(t, x);
        memcpy(element, &u16, 2);
        break;
    case KILN_F8E4M3:
    case KILN_F8E5M2:
    case KILN_F8E4M3FNUZ:
    case KILN_F8E5M2FNUZ:
        *(uint8_t *)element = (uint8_t)encode_small(t, x);
        break;
    case KILN_DTYPE_NONE:
    case KILN_DTYPE_COUNT:
        break;
    }
}

unsigned char kh_poison(kiln_dtype t)
{
    return formats[t].is_float ? (is_fnuz(t) ? 0x80 : 0xff) : 0x5a; /* NaN where the type has one */
}

/* ---- random numbers: splitmix64 ---- */
uint64_t kh_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

static double uniform(uint64_t *state, double lo, double hi)
{
    return lo + (hi - lo) * (double)(kh_random(state) >> 11) * 0x1p-53;
}

static double either_sign(uint64_t *state, double x)
{
    return kh_random(state) & 1 ? -x : x;
}

uint64_t kh_seed(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t state = (uint64_t)now.tv_sec * 1000000007u + (uint64_t)now.tv_nsec;
    return kh_random(&state) % 1000000000u; /* short enough to be typed */
}

/* ---- operands ---- */
static void set_operand(kh_shape *s, kh_role role, int index, const char *name,
                        const kiln_tensor *t, int64_t rows, int64_t cols)
{
    kh_operand *o = &s->operand[s->count++];
    const int vector = role == KH_D && s->op.d_kind[index] != KILN_D_FULL;
    const kiln_layout layout =
        vector ? (s->op.d_kind[index] == KILN_D_PER_ROW ? KILN_COL : KILN_ROW) : t->layout;
    const int64_t inner = layout == KILN_ROW ? cols : rows,
                  outer = layout == KILN_ROW ? rows : cols;
    *o = (kh_operand){.role = role,
                      .index = index,
                      .name = name,
                      .dtype = t->dtype,
                      .layout = layout,
                      .rows = rows,
                      .cols = cols,
                      .batch = s->problem.batch,
                      .size = kiln_dtype_size(t->dtype)};
    o->ld = !vector && t->ld > 0 ? t->ld : inner;
    o->stride = t->batch_stride == KILN_BROADCAST ? 0
                : t->batch_stride > 0             ? t->batch_stride
                                                  : o->ld * outer;
    o->align = t->align ? t->align : o->size;
    o->span =
        inner && outer && o->batch ? (o->batch - 1) * o->stride + (outer - 1) * o->ld + inner : 0;
}

kiln_status kh_shape_of(kiln_ctx *ctx, const kiln_problem *problem, kh_shape *s)
{
    memset(s, 0, sizeof *s);
    kiln_status status = kiln_problem_resolve(problem, &s->problem);
    if (status) return status;
    kiln_problem *p = &s->problem;
    s->op.struct_size = sizeof s->op;
    status = kiln_op_describe(ctx, p->op, &s->op);
    if (status) return status;
    if (p->batch == 0) p->batch = 1;
    set_operand(s, KH_A, 0, "A", &p->a, p->m, p->k);
    for (size_t i = 0; i < s->op.products; i++)
        set_operand(s, KH_B, (int)i, s->op.products > 1 ? s->op.b_name[i] : "B", &p->b, p->k, p->n);
    for (size_t i = 0; i < s->op.nd; i++) {
        const kiln_dkind kind = s->op.d_kind[i];
        set_operand(s, KH_D, (int)i, s->op.d_name[i], &p->d[i],
                    kind == KILN_D_FULL || kind == KILN_D_PER_ROW ? p->m : 1,
                    kind == KILN_D_FULL || kind == KILN_D_PER_COL ? p->n : 1);
    }
    s->e = s->count;
    set_operand(s, KH_E, 0, "E", &p->e, p->m, p->n);
    return KILN_OK;
}

int kh_in_place(const kh_shape *s)
{
    const kh_operand *e = &s->operand[s->e];
    for (int i = 0; i < s->count; i++) {
        const kh_operand *d = &s->operand[i];
        if (d->role == KH_D && s->op.d_kind[d->index] == KILN_D_FULL && d->dtype == e->dtype &&
            d->layout == e->layout)
            return i;
    }
    return -1;
}

int64_t kh_place(const kh_operand *o, int64_t batch, int64_t i, int64_t j)
{
    if (o->rows == 1) i = 0;
    if (o->cols == 1) j = 0;
    return batch * o->stride + (o->layout == KILN_ROW ? i * o->ld + j : i + j * o->ld);
}

double kh_flops(const kh_shape *s)
{
    const kiln_problem *p = &s->problem;
    return 2.0 * (double)p->m * (double)p->n * (double)p->k * (double)p->batch *
           (double)s->op.products;
}

double kh_bytes(const kh_shape *s)
{
    double sum = 0;
    for (int i = 0; i < s->count; i++) {
        const kh_operand *o = &s->operand[i];
        sum += (double)o->rows * (double)o->cols * (double)(o->stride ? o->batch : 1) *
               (double)o->size;
    }
    return sum;
}

const void **kh_slot(kiln_args *args, const kh_operand *o)
{
    return o->role == KH_A ? &args->a : o->role == KH_B ? &args->b[o->index] : &args->d[o->index];
}

/* ---- filling ---- */
/* Half the width of the values given to A or B. */
static double scale_of(const kh_shape *s, const kh_operand *o)
{
    if (!formats[o->dtype].is_float) return o->dtype == KILN_I8 ? 127 : 1000;
    if (o->role != KH_B) return 1;
    const double k = (double)(s->problem.k > 0 ? s->problem.k : 1);
    const double least = o->size == 1 ? 0.25 : 1.0 / 64; /* fp8 has little room below */
    const double scale = 2 / sqrt(k);
    return scale > 1 ? 1 : scale < least ? least : scale;
}

/* Standard deviation to expect of an accumulator. */
static double accumulator_size(const kh_shape *s)
{
    const double a = 0.6 * scale_of(s, &s->operand[0]), b = 0.6 * scale_of(s, &s->operand[1]);
    return a * b * sqrt((double)(s->problem.k > 0 ? s->problem.k : 1));
}

static double draw(const kh_shape *s, const kh_operand *o, kh_values values, uint64_t *state)
{
    if (values == KH_INTEGERS) return either_sign(state, (double)(1 + kh_random(state) % 3));
    const double scale = scale_of(s, o), size = accumulator_size(s);
    if (o->dtype == KILN_I8) {
        const int v = (int)(kh_random(state) % 255) - 128;
        return v < 0 ? v : v + 1;
    }
    if (o->dtype == KILN_I32) return either_sign(state, (double)(1 + kh_random(state) % 1000));
    if (o->role == KH_D && size > 8 && o->rows * o->cols < s->problem.m * s->problem.n)
        return exp(uniform(state, log(0.5 / size),
                           0)); /* may be a scale: from taming the sum to leaving it */
    const double v = uniform(state, 0.125, 1) * scale;
    return o->role == KH_D && kh_random(state) % 4 ? v : either_sign(state, v);
}

static void fill_one(const kh_operand *o, char *base, int64_t batch, double x, uint64_t *state)
{
    const int64_t i = (int64_t)(kh_random(state) % (uint64_t)o->rows),
                  j = (int64_t)(kh_random(state) % (uint64_t)o->cols);
    kh_encode(o->dtype, x, base + kh_place(o, batch, i, j) * (int64_t)o->size);
}

/* Few and far between, so that most rows and columns stay finite. */
static void fill_specials(const kh_operand *o, uint64_t *state, char *base)
{
    if (!formats[o->dtype].is_float || o->rows * o->cols < 4) return;
    const int inf = o->dtype == KILN_F32 || format_of(o->dtype).infinity != 0;
    for (int64_t b = 0; b < (o->stride ? o->batch : 1); b++) {
        fill_one(o, base, b, NAN, state);
        if (!inf) continue;
        fill_one(o, base, b, INFINITY, state);
        if (o->role != KH_B) fill_one(o, base, b, -INFINITY, state);
    }
}

enum { POOL = 4096 }; /* a power of two */

/* Elements are drawn from a pool of encoded values: encoding each would take longer than the
 * kernel. */
static void fill_row(char *to, const unsigned char *pool, size_t size, int64_t n, uint64_t *state)
{
    uint64_t bits = 0;
    int left = 0;
    for (int64_t i = 0; i < n; i++, left--, bits >>= 12) {
        if (!left) {
            bits = kh_random(state);
            left = 5;
        }
        const unsigned char *from = pool + (bits & (POOL - 1)) * size;
        switch (size) {
        case 1:
            to[i] = (char)*from;
            break;
        case 2:
            memcpy(to + 2 * i, from, 2);
            break;
        default:
            memcpy(to + 4 * i, from, 4);
            break;
        }
    }
}

/* Rows are filled in parts, each from random numbers of its own, so that threads can share them and
 * the values do not depend on how many there are. */
enum { PART = 1 << 18 };
typedef struct filling {
    const kh_operand *o;
    const unsigned char *pool;
    char *base;
    uint64_t seed;
    int64_t inner, outer, rows, each; /* rows of all batches; rows of a part */
} filling;

static void fill_part(void *arg, int64_t part)
{
    const filling *f = arg;
    const kh_operand *o = f->o;
    uint64_t state = f->seed ^ (uint64_t)part;
    state = kh_random(&state);
    const int64_t end = (part + 1) * f->each < f->rows ? (part + 1) * f->each : f->rows;
    for (int64_t row = part * f->each; row < end; row++) {
        const int64_t at = row / f->outer * o->stride + row % f->outer * o->ld;
        fill_row(f->base + at * (int64_t)o->size, f->pool, o->size, f->inner, &state);
    }
}

static void fill_rows(const kh_operand *o, const unsigned char *pool, uint64_t seed, char *base)
{
    filling f = {.o = o, .pool = pool, .base = base, .seed = seed};
    f.inner = o->layout == KILN_ROW ? o->cols : o->rows;
    f.outer = o->layout == KILN_ROW ? o->rows : o->cols;
    f.rows = f.outer * (o->stride ? o->batch : 1);
    f.each = f.inner < PART ? PART / f.inner : 1;
    kh_parts((f.rows + f.each - 1) / f.each, fill_part, &f);
}

void kh_fill(const kh_shape *s, const kh_operand *o, kh_values values, uint64_t *state, void *base)
{
    unsigned char pool[POOL * 4];
    if (!o->span) return;
    const int64_t count = o->rows * o->cols * o->batch;
    for (int64_t i = 0; i < POOL && (i < 64 || i < 2 * count); i++)
        kh_encode(o->dtype, draw(s, o, values, state), pool + (size_t)i * o->size);
    for (int64_t i = 64; i < POOL; i++) /* a small operand needs no large pool */
        if (i >= 2 * count)
            memcpy(pool + (size_t)i * o->size, pool + (size_t)(i % 64) * o->size, o->size);
    fill_rows(o, pool, kh_random(state), base);
    if (values == KH_SPECIALS) fill_specials(o, state, base);
}

/* Which of a few magnitudes suits a scalar depends on where the epilogue has it: attempt, in base
 * 4, says which to use. */
void kh_fill_scalars(const kh_shape *s, kh_values values, int attempt, uint64_t *state,
                     float *scalars)
{
    const double sum = accumulator_size(s), size = sum > 8 ? sum : 1;
    const double range = formats[s->problem.e.dtype].is_float ? 2 : 96;
    const double first[4] = {range / size, 1 / size, 1, range},
                 other[4] = {1, range, 1 / size, range / size};
    for (size_t i = 0; i < s->op.nscalars; i++, attempt /= 4) {
        const double v = uniform(state, 0.5, 1) * (i ? other : first)[attempt % 4];
        scalars[i] = (float)(values == KH_INTEGERS ? (double)(1 + kh_random(state) % 2) : v);
    }
}
