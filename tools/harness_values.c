// SPDX-License-Identifier: MIT
// Operands of a problem as strided arrays, and the numbers that tests put into them.
// Where products are summed, inputs are scaled so that sums stay near 1 for floats; where they
// can't (int8), scales among the extra inputs make up for it, so that results spread over the
// output's range instead of all saturating.  Elsewhere some rows are larger than others, as what is
// normalised or given a scale per row must tell them apart.
#include "harness.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* What KILN_DTYPES says, and the rest of a small float's format. */
typedef struct format {
    int bits, is_float, exponent, mantissa, bias;
    unsigned largest, nan, infinity; /* 0: has none */
} format;

#define BIAS(e) ((1 << ((e) > 0 ? (e)-1 : 0)) - 1)
static const format formats[KILN_DTYPE_COUNT] = {
#define X(name, id, bits, fl, e, m, text) [id] = {bits, fl, e, m, BIAS(e), 0, 0, 0},
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
    case KILN_I4:
    case KILN_U4:
    case KILN_U8:
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
    case KILN_U8:
        return (double)*(const uint8_t *)element;
    case KILN_U4:
        return (double)(*(const uint8_t *)element & 15);
    case KILN_I4:
        return (double)((*(const uint8_t *)element & 15) ^ 8) - 8;
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
    case KILN_I4:
        *(uint8_t *)element = (uint8_t)((int)clip(x, -8, 7) & 15);
        break;
    case KILN_U4:
        *(uint8_t *)element = (uint8_t)clip(x, 0, 15);
        break;
    case KILN_U8:
        *(uint8_t *)element = (uint8_t)clip(x, 0, 255);
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
int64_t *kh_size(kiln_problem *p, int position)
{
    return position <= KILN_BATCH ? &p->size[position] : &p->more[position - KILN_BATCH - 1];
}

int64_t kh_size_of(const kiln_problem *p, int position)
{
    return position <= KILN_BATCH ? p->size[position] : p->more[position - KILN_BATCH - 1];
}

const char *kh_size_name(const kiln_op_info *op, int position)
{
    if (position > KILN_BATCH) return op->more_size_name[position - KILN_BATCH - 1];
    return position == KILN_BATCH || position < (int)op->nsizes ? op->size_name[position] : NULL;
}

static int64_t extent(const kiln_problem *p, int size, int block)
{
    const int64_t n = size < 0 ? 1 : kh_size_of(p, size);
    return block > 1 ? (n + block - 1) / block : n;
}

int kh_pieces(const kh_operand *o)
{
    const int bits = formats[o->dtype].bits;
    return bits > 0 && bits < 8 ? 8 / bits : 1;
}

static int is_empty(const kh_shape *s)
{
    int empty = 0;
    for (int i = 0; i < KH_SIZES; i++)
        empty |= s->op.empty >> i & 1 && !kh_size_of(&s->problem, i);
    return empty;
}

static void set_operand(kh_shape *s, const kiln_tensor_info *info)
{
    const int stacked = s->op.tensor_planes[info - s->op.tensor];
    kh_operand *o = &s->operand[s->count++];
    const kiln_tensor *t = &s->problem.tensor[info->at];
    /* Where there is nothing to do nothing is written, not even what has an element for each row.
     */
    const int none = info->out && is_empty(s);
    const kiln_rows_info *of = &s->op.rows_of[info - s->op.tensor];
    const int64_t rows = none       ? 0
                         : of->page ? of->page
                                    : extent(&s->problem, info->rows, info->row_block) + of->beyond,
                  cols = none ? 0 : extent(&s->problem, info->cols, info->col_block);
    const int vector = info->kind == KILN_D_PER_ROW || info->kind == KILN_D_PER_COL ||
                       info->kind == KILN_D_PER_TENSOR || info->kind == KILN_D_PER_HEAD ||
                       info->kind == KILN_D_PER_KV_HEAD || info->kind == KILN_D_PER_QUERY ||
                       (of->index && info->cols < 0);
    const int column = info->kind == KILN_D_PER_ROW || info->kind == KILN_D_PER_QUERY || of->index;
    const kiln_layout layout = vector ? (column ? KILN_COL : KILN_ROW)
                               : t->layout == KILN_COL ? KILN_COL
                                                       : KILN_ROW;
    const int64_t inner = layout == KILN_ROW ? cols : rows,
                  outer = layout == KILN_ROW ? rows : cols;
    *o = (kh_operand){.name = info->name,
                      .at = info->at,
                      .arg = info->arg,
                      .out = info->out,
                      .extra = info->kind != KILN_D_NONE,
                      .vector = vector,
                      .scaled = info->summed && info->at > 0,
                      .dtype = t->dtype,
                      .layout = layout,
                      .along = {info->rows, info->cols},
                      .block = {info->row_block > 1 ? info->row_block : 1,
                                info->col_block > 1 ? info->col_block : 1},
                      .rows = rows,
                      .cols = cols,
                      .batch = of->batches < 0 ? 1 : kh_size_of(&s->problem, of->batches),
                      .batches = of->batches,
                      .index = (int)of->index,
                      .within = of->within,
                      .planes = stacked < 0 ? 1 : kh_size_of(&s->problem, stacked),
                      .stacked = stacked,
                      .size = (size_t)(kiln_dtype_bits(t->dtype) + 7) / 8};
    const int pieces = kh_pieces(o);
    const int64_t plane = s->problem.plane_stride[info->at];
    o->ld = !vector && t->ld == KILN_BROADCAST ? 0 : !vector && t->ld > 0 ? t->ld
                                                     : (inner + pieces - 1) / pieces * pieces;
    o->plane = stacked < 0 || plane == KILN_BROADCAST ? 0 : plane;
    o->stride = t->batch_stride == KILN_BROADCAST ? 0
                : t->batch_stride > 0             ? t->batch_stride
                                                  : o->ld * outer;
    o->align = t->align ? t->align : o->size;
    o->span =
        inner && outer && o->batch && o->planes
            ? (o->batch - 1) * o->stride + (o->planes - 1) * o->plane + (outer - 1) * o->ld + inner
            : 0;
}

kiln_status kh_shape_of(kiln_ctx *ctx, const kiln_problem *problem, kh_shape *s)
{
    memset(s, 0, sizeof *s);
    s->problem.struct_size = sizeof s->problem;
    kiln_status status = kiln_problem_resolve(problem, &s->problem);
    if (status) return status;
    kiln_problem *p = &s->problem;
    s->op.struct_size = sizeof s->op;
    status = kiln_op_describe(ctx, p->op, &s->op);
    if (status) return status;
    if (p->batch == 0) p->batch = 1;
    for (int out = 0; out <= 1; out++) {
        for (size_t i = 0; i < s->op.ntensors; i++)
            if (!s->op.tensor[i].out == !out) set_operand(s, &s->op.tensor[i]);
        if (!out) s->inputs = s->count;
    }
    return KILN_OK;
}

static int is_full(const kh_shape *s, const kh_operand *o)
{
    return !o->vector && o->along[0] == s->op.rows && o->along[1] == s->op.cols &&
           o->block[0] == 1 && o->block[1] == 1;
}

static int may_be(const kh_shape *s, const kh_operand *out, const kh_operand *in)
{
    return in->extra && is_full(s, in) && is_full(s, out) && in->dtype == out->dtype &&
           in->layout == out->layout;
}

int kh_in_place(const kh_shape *s, int nth, int input[KH_MAX_OPERANDS])
{
    int taken[KH_MAX_OPERANDS] = {0}, count = 0;
    for (int i = 0; i < KH_MAX_OPERANDS; i++) input[i] = -1;
    for (int o = s->inputs; o < s->count; o++)
        for (int i = 0; i < s->inputs && input[o] < 0; i++)
            if (!taken[i] && may_be(s, &s->operand[o], &s->operand[i]))
                input[o] = i, taken[i] = 1, count++;
    if (nth == 0 || s->count == s->inputs + 1) return nth == 0 && count > 0;
    for (int i = 0; i < KH_MAX_OPERANDS; i++) input[i] = -1;
    for (int o = s->inputs; o < s->count; o++)
        for (int i = 0; i < s->inputs; i++)
            if (may_be(s, &s->operand[o], &s->operand[i]) && --nth == 0) return input[o] = i, 1;
    return 0;
}

int64_t kh_matrices(const kh_operand *o)
{
    return o->batch * o->planes;
}

int64_t kh_stored(const kh_operand *o)
{
    return (o->stride ? o->batch : 1) * (o->plane ? o->planes : 1);
}

/* Where the nth matrix begins, of all or of those that are stored. */
static int64_t matrix_at(const kh_operand *o, int64_t nth, int64_t planes)
{
    return planes < 2 ? nth * o->stride : nth / planes * o->stride + nth % planes * o->plane;
}

int64_t kh_place(const kh_operand *o, int64_t matrix, int64_t i, int64_t j)
{
    if (o->rows == 1) i = 0;
    if (o->cols == 1) j = 0;
    return matrix_at(o, matrix, o->planes) +
           (o->layout == KILN_ROW ? i * o->ld + j : i + j * o->ld);
}

int64_t kh_elements(const kh_operand *o)
{
    return o->rows * o->cols * kh_matrices(o);
}

size_t kh_span(const kh_operand *o)
{
    const int pieces = kh_pieces(o);
    return (size_t)((o->span + pieces - 1) / pieces) * o->size;
}

double kh_get(const kh_operand *o, const void *base, int64_t at)
{
    const int pieces = kh_pieces(o);
    const unsigned char *p = (const unsigned char *)base + (size_t)(at / pieces) * o->size;
    if (pieces == 1) return kh_decode(o->dtype, p);
    const unsigned char piece = (unsigned char)(*p >> (8 / pieces * (int)(at % pieces)));
    return kh_decode(o->dtype, &piece);
}

/* Puts a piece into its byte. */
static void put_piece(const kh_operand *o, char *base, int64_t at, unsigned piece)
{
    const int pieces = kh_pieces(o), bits = 8 / pieces, shift = bits * (int)(at % pieces);
    unsigned char *p = (unsigned char *)base + at / pieces;
    *p = (unsigned char)((*p & ~(((1u << bits) - 1) << shift)) | piece << shift);
}

void kh_put(const kh_operand *o, void *base, int64_t at, double x)
{
    unsigned char piece;
    if (kh_pieces(o) == 1) {
        kh_encode(o->dtype, x, (char *)base + (size_t)at * o->size);
        return;
    }
    kh_encode(o->dtype, x, &piece);
    put_piece(o, base, at, piece);
}

double kh_flops(const kh_shape *s)
{
    const kiln_problem *p = &s->problem;
    if (s->op.summed < 0) return 0;
    int shared = 0; /* rows are all batches' together */
    for (int i = 0; i < s->count; i++) shared |= s->operand[i].index == KILN_INDEX_FIRST;
    return 2.0 * (double)kh_size_of(p, s->op.rows) * (double)kh_size_of(p, s->op.cols) *
           (double)kh_size_of(p, s->op.summed) * (shared ? 1 : (double)p->batch) *
           (double)s->op.products;
}

int kh_within(const kh_shape *s, int operand)
{
    const kh_operand *o = &s->operand[operand];
    for (int i = 0; i < operand && operand < s->inputs; i++) {
        const kh_operand *x = &s->operand[i];
        if (x->cols > o->cols && x->rows == o->rows && x->ld == o->ld && x->stride == o->stride &&
            x->plane == o->plane && x->planes == o->planes && x->batch == o->batch &&
            x->dtype == o->dtype && x->align == o->align && x->along[0] == o->along[0] &&
            !x->extra && !o->extra)
            return i;
    }
    return -1;
}

double kh_bytes(const kh_shape *s)
{
    double sum = 0;
    for (int i = 0; i < s->count; i++) {
        const kh_operand *o = &s->operand[i];
        if (kh_within(s, i) >= 0) continue;
        sum += (double)o->rows * (double)o->cols * (double)kh_stored(o) * (double)o->size /
               kh_pieces(o);
    }
    return sum;
}

void **kh_slot(kiln_args *args, const kh_operand *o)
{
    return &args->tensor[o->arg];
}

void *kh_pointer(const kiln_args *args, const kh_operand *o)
{
    return args->tensor[o->arg];
}

/* ---- filling ---- */
/* Of products' sums: how many there are in one. */
static double depth_of(const kh_shape *s)
{
    const int64_t k = s->op.summed >= 0 ? kh_size_of(&s->problem, s->op.summed) : 1;
    return (double)(k > 0 ? k : 1);
}

static int is_unsigned(kiln_dtype t)
{
    return !formats[t].is_float && formats[t].mantissa == formats[t].bits;
}

/* The largest of the values given to a tensor of the family's own. */
static double scale_of(const kh_shape *s, const kh_operand *o)
{
    if (o->dtype == KILN_I32) return 1000;
    if (!formats[o->dtype].is_float) return ldexp(1, formats[o->dtype].mantissa) - 1;
    if (!o->scaled) return 1;
    const double least = o->size == 1 ? 0.25 : 1.0 / 64; /* fp8 has little room below */
    const double scale = 2 / sqrt(depth_of(s));
    return scale > 1 ? 1 : scale < least ? least : scale;
}

/* Size to expect of an accumulator; the family's first two inputs are multiplied.  Products of
 * unsigned numbers have one sign. */
static double accumulator_size(const kh_shape *s)
{
    if (s->op.summed < 0) return 1;
    const double a = 0.6 * scale_of(s, &s->operand[0]), b = 0.6 * scale_of(s, &s->operand[1]);
    const int one_sign = is_unsigned(s->operand[0].dtype) && is_unsigned(s->operand[1].dtype);
    return a * b * (one_sign ? depth_of(s) : sqrt(depth_of(s)));
}

static double draw(const kh_shape *s, const kh_operand *o, kh_values values, uint64_t *state)
{
    if (values == KH_INTEGERS) {
        const double v = (double)(1 + kh_random(state) % 3);
        return is_unsigned(o->dtype) ? v : either_sign(state, v);
    }
    const double scale = scale_of(s, o), size = accumulator_size(s);
    if (o->dtype == KILN_I8) {
        const int v = (int)(kh_random(state) % 255) - 128;
        return v < 0 ? v : v + 1;
    }
    if (o->dtype == KILN_U8) return (double)(1 + kh_random(state) % 255);
    if (o->dtype == KILN_I4 || o->dtype == KILN_U4) /* 0 too: weights that were quantised have it */
        return (double)(kh_random(state) % 16) - (o->dtype == KILN_I4 ? 8 : 0);
    if (o->dtype == KILN_I32) return either_sign(state, (double)(1 + kh_random(state) % 1000));
    if (o->extra && size > 8 &&
        o->rows * o->cols <
            kh_size_of(&s->problem, s->op.rows) * kh_size_of(&s->problem, s->op.cols))
        return exp(uniform(state, log(0.5 / size),
                           0)); /* may be a scale: from taming the sum to leaving it */
    /* What has a value for a block of products scales them: all are positive, some octaves apart. */
    if (o->extra && s->op.summed >= 0 &&
        (o->along[0] == s->op.summed || o->along[1] == s->op.summed))
        return exp2(uniform(state, -3, 1));
    const double v = uniform(state, 0.125, 1) * scale;
    const int biased = o->extra && (s->op.summed >= 0 || !is_full(s, o));
    return biased && kh_random(state) % 4 ? v : either_sign(state, v);
}

static void fill_one(const kh_operand *o, char *base, int64_t matrix, double x, uint64_t *state)
{
    const int64_t i = (int64_t)(kh_random(state) % (uint64_t)o->rows),
                  j = (int64_t)(kh_random(state) % (uint64_t)o->cols);
    kh_put(o, base, kh_place(o, matrix, i, j), x);
}

/* Few and far between, so that most rows and columns stay finite. */
static void fill_specials(const kh_operand *o, uint64_t *state, char *base)
{
    if (!formats[o->dtype].is_float || o->rows * o->cols < 4) return;
    const int inf = o->dtype == KILN_F32 || format_of(o->dtype).infinity != 0;
    for (int64_t b = 0; b < kh_matrices(o); b += kh_matrices(o) / kh_stored(o)) {
        fill_one(o, base, b, NAN, state);
        if (!inf) continue;
        fill_one(o, base, b, INFINITY, state);
        if (!o->scaled) fill_one(o, base, b, -INFINITY, state);
    }
}

enum { POOL = 4096 }; /* a power of two */

/* Elements are drawn from a pool of encoded values: encoding each would take longer than the
 * kernel.  Where several share a byte, what is no element of the row in the last byte stays. */
static void fill_row(const kh_operand *o, char *to, const unsigned char *pool, int64_t n,
                     uint64_t *state)
{
    const size_t size = o->size;
    const int pieces = kh_pieces(o);
    uint64_t bits = 0;
    int left = 0;
    for (int64_t i = 0; i < n; i++, left--, bits >>= 12) {
        if (!left) {
            bits = kh_random(state);
            left = 5;
        }
        const unsigned char *from = pool + (bits & (POOL - 1)) * size;
        if (pieces > 1) {
            put_piece(o, to, i, *from);
            continue;
        }
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
    const unsigned char *pool, *larger; /* for some of the rows; NULL: none are */
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
        const int64_t at =
            matrix_at(o, row / f->outer, o->plane ? o->planes : 1) + row % f->outer * o->ld;
        const unsigned char *pool = f->larger && row % 4 == 2 ? f->larger : f->pool;
        fill_row(o, f->base + at / kh_pieces(o) * (int64_t)o->size, pool, f->inner, &state);
    }
}

static void fill_rows(const kh_operand *o, const unsigned char *pool, const unsigned char *larger,
                      uint64_t seed, char *base)
{
    filling f = {.o = o, .pool = pool, .larger = larger, .base = base, .seed = seed};
    f.inner = o->layout == KILN_ROW ? o->cols : o->rows;
    f.outer = o->layout == KILN_ROW ? o->rows : o->cols;
    if (o->ld == 0 && f.inner) f.outer = 1; /* all rows are one */
    f.rows = f.outer * kh_stored(o);
    f.each = f.inner < PART ? PART / f.inner : 1;
    kh_parts((f.rows + f.each - 1) / f.each, fill_part, &f);
}

void kh_fill(const kh_shape *s, const kh_operand *o, kh_values values, uint64_t *state, void *base)
{
    enum { LARGER = 8 };
    unsigned char pool[POOL * 4], larger[POOL * 4];
    if (!o->span) return;
    if (o->index) {
        kh_fill_indices(s, o, KH_EVEN, state, base);
        return;
    }
    const int uneven =
        values != KH_INTEGERS && s->op.summed < 0 && formats[o->dtype].is_float && is_full(s, o);
    const int64_t count = kh_elements(o);
    for (int64_t i = 0; i < POOL && (i < 64 || i < 2 * count); i++)
        kh_encode(o->dtype, draw(s, o, values, state), pool + (size_t)i * o->size);
    for (int64_t i = 64; i < POOL; i++) /* a small operand needs no large pool */
        if (i >= 2 * count)
            memcpy(pool + (size_t)i * o->size, pool + (size_t)(i % 64) * o->size, o->size);
    for (size_t at = 0; uneven && at < POOL * o->size; at += o->size)
        kh_encode(o->dtype, LARGER * kh_decode(o->dtype, pool + at), larger + at);
    fill_rows(o, pool, uneven ? larger : NULL, kh_random(state), base);
    if (values == KH_SPECIALS) fill_specials(o, state, base);
}

/* Which of a few magnitudes suits a scalar depends on where the op has it: attempt, in base 4, says
 * which to use. */
void kh_fill_scalars(const kh_shape *s, kh_values values, int attempt, uint64_t *state,
                     float *scalars)
{
    const double sum = accumulator_size(s), size = sum > 8 ? sum : 1;
    const double range = formats[s->operand[s->inputs].dtype].is_float ? 2 : 96;
    const double first[4] = {range / size, 1 / size, 1, range},
                 other[4] = {1, range, 1 / size, range / size};
    const double plain[4] = {0.125, 1, 2, 0x1p-7}; /* may be added to a mean, or multiply */
    for (size_t i = 0; i < s->op.nscalars; i++, attempt /= 4) {
        const double *from = s->op.summed < 0 ? plain : i ? other : first;
        const double v = uniform(state, 0.5, 1) * from[attempt % 4];
        scalars[i] = (float)(values == KH_INTEGERS ? (double)(1 + kh_random(state) % 2) : v);
    }
}
