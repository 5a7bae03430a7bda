// SPDX-License-Identifier: MIT
// A module written by hand, for tests of the runtime.  A file that includes this sets
// FIXTURE_TARGET (and FIXTURE_GPU for a GPU's, FIXTURE_CLASH for another meaning of `bias_relu`,
// FIXTURE_ABI and FIXTURE_VERSION for other versions, FIXTURE_MANY for an op with as many inputs of
// as long names as there can be). Keys, hashes and the rows' order are made
// when it is loaded: a generated module has them as constants.
#define XXH_INLINE_ALL
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <kiln.h>
#include <kiln_module.h>
#include "fixture.h"
#include "fixture_families.h"

#ifndef FIXTURE_ABI
#define FIXTURE_ABI KILN_ABI_VERSION
#endif
#ifndef FIXTURE_VERSION
#define FIXTURE_VERSION KILN_VERSION
#endif
#ifdef FIXTURE_GPU
#define HOST_FN(x) 0
#else
#define HOST_FN(x) x
#endif

/* ---- text ---- */
#ifdef FIXTURE_MANY
#define FIFTY "_________1_________2_________3_________4_________5"
#define MANY_STRINGS(X)                                                                            \
    X(many, "many")                                                                                \
    X(many_0, "input_number0" FIFTY)                                                               \
    X(many_1, "input_number1" FIFTY)                                                               \
    X(many_2, "input_number2" FIFTY)                                                               \
    X(many_3, "input_number3" FIFTY)                                                               \
    X(many_4, "input_number4" FIFTY)                                                               \
    X(many_5, "input_number5" FIFTY)                                                               \
    X(many_6, "input_number6" FIFTY)                                                               \
    X(many_7, "input_number7" FIFTY)                                                               \
    X(r_many, FIXTURE_TARGET "/many/f32_f32_f32/rrr/plain_16")
#else
#define MANY_STRINGS(X)
#endif
#define STRINGS(X)                                                                                 \
    FAMILY_STRINGS(X)                                                                              \
    MANY_STRINGS(X)                                                                                \
    X(target, FIXTURE_TARGET)                                                                      \
    X(version, FIXTURE_VERSION)                                                                    \
    X(file, "instances/fixture.lua")                                                               \
    X(bias_relu, "bias_relu")                                                                      \
    X(axpby, "axpby")                                                                              \
    X(swiglu, "swiglu")                                                                            \
    X(linear_i8, "linear_i8")                                                                      \
    X(dequant, "dequant")                                                                          \
    X(product, "product")                                                                          \
    X(bias, "bias")                                                                                \
    X(in_c, "c")                                                                                   \
    X(scale, "scale")                                                                              \
    X(zero, "zero")                                                                                \
    X(alpha, "alpha")                                                                              \
    X(beta, "beta")                                                                                \
    X(gate, "gate")                                                                                \
    X(up, "up")                                                                                    \
    X(plain, "plain")                                                                              \
    X(wide, "wide")                                                                                \
    X(split, "split")                                                                              \
    X(slot_m, "m")                                                                                 \
    X(slot_cost, "cost")                                                                           \
    X(part_launch, "launching")                                                                    \
    X(part_work, "multiplying")                                                                    \
    X(part_blocks, "blocks")                                                                       \
    X(part_memory, "memory")                                                                       \
    X(rule_k, "K is not a multiple of 8")                                                          \
    X(rule_align, "A is not aligned to 16 bytes")                                                  \
    X(rule_large, "K is less than 1024")                                                           \
    X(sym, "fixture_kernel")                                                                       \
    X(sym2, "fixture_kernel_2")                                                                    \
    X(r_f32_rcr_a, FIXTURE_TARGET "/bias_relu/f32_f32_f32/rcr/plain_16")                           \
    X(r_f32_rcr_b, FIXTURE_TARGET "/bias_relu/f32_f32_f32/rcr/plain_64")                           \
    X(r_f32_rcr_c, FIXTURE_TARGET "/bias_relu/f32_f32_f32/rcr/split_64")                           \
    X(r_f32_rcr_d, FIXTURE_TARGET "/bias_relu/f32_f32_f32/rcr/wide_128")                           \
    X(r_f32_rrr, FIXTURE_TARGET "/bias_relu/f32_f32_f32/rrr/wide_128")                             \
    X(r_f16, FIXTURE_TARGET "/bias_relu/f16_f16_f16/rcr/plain_16")                                 \
    X(r_axpby, FIXTURE_TARGET "/axpby/f32_f32_f32/rrr/plain_16")                                   \
    X(r_swiglu, FIXTURE_TARGET "/swiglu/f32_f32_f32/rcr/plain_16")                                 \
    X(r_i8, FIXTURE_TARGET "/linear_i8/i8_i8_i8/rcr/plain_16")                                     \
    X(r_dequant, FIXTURE_TARGET "/dequant/bf16_i8_f32/rrc/plain_16")

static const struct pool {
    char empty;
#define X(name, text) char name[sizeof(text)];
    STRINGS(X)
#undef X
} pool = {0,
#define X(name, text) text,
          STRINGS(X)
#undef X
};
#define S(name) ((kiln_str)offsetof(struct pool, name))

/* ---- schedules: t = { m, modelled microseconds } ---- */
static uint32_t check_plain(const kiln_shape *s, const int32_t *t)
{
    (void)s;
    (void)t;
    return 0;
}

static uint32_t check_wide(const kiln_shape *s, const int32_t *t)
{
    (void)t;
    if (s->size[SIZE_K] % 8) return 1;
    return s->align[0] % 16 ? 2 : 0;
}

static uint32_t check_split(const kiln_shape *s, const int32_t *t)
{
    (void)t;
    return s->size[SIZE_K] < 1024;
}

static void plan_one(const kiln_shape *s, const int32_t *t, kiln_plan *p)
{
    p->stages = 1;
    p->stage[0] = (kiln_stage_plan){{(uint32_t)((s->size[SIZE_M] + t[0] - 1) / t[0]),
                                     (uint32_t)((s->size[SIZE_N] + t[0] - 1) / t[0]),
                                     (uint32_t)s->size[KILN_BATCH]},
                                    {256, 1, 1},
                                    {1, 1, 1},
                                    1024,
                                    0};
}

static void plan_wide(const kiln_shape *s, const int32_t *t, kiln_plan *p)
{
    plan_one(s, t, p);
    p->stage[0].cluster[0] = 2;
    p->stage[0].lds = 160 * 1024;
    p->stage[0].early = 1;
}

static void plan_split(const kiln_shape *s, const int32_t *t, kiln_plan *p)
{
    plan_one(s, t, p);
    p->stages = 2;
    p->stage[1] =
        (kiln_stage_plan){{s->size[SIZE_K] < 4096 ? 7 : 0, 1, 1}, {64, 1, 1}, {1, 1, 1}, 0, 1};
}

static uint64_t no_workspace(const kiln_shape *s, const int32_t *t)
{
    (void)s;
    (void)t;
    return 0;
}

static uint64_t split_workspace(const kiln_shape *s, const int32_t *t)
{
    (void)t;
    return (uint64_t)(s->size[SIZE_M] * s->size[SIZE_N]) * 4;
}

static double cost(const kiln_shape *s, const int32_t *t)
{
    return (double)t[1] +
           (double)s->size[SIZE_M] * (double)s->size[SIZE_N] * (double)s->size[SIZE_K] * 1e-9;
}

static void parts(const kiln_shape *s, const int32_t *t, double *out)
{
    out[0] = 0.5;
    out[1] = cost(s, t) - 0.5;
    out[2] = (double)s->size[SIZE_M];
    out[3] = 2.25;
}
static const kiln_part part[] = {{S(part_launch), KILN_PART_TIME},
                                 {S(part_work), KILN_PART_TIME},
                                 {S(part_blocks), KILN_PART_COUNT},
                                 {S(part_memory), KILN_PART_LEAST}};

static const kiln_str slot_name[] = {S(slot_m), S(slot_cost)};
static const kiln_str wide_rules[] = {S(rule_k), S(rule_align)}, split_rules[] = {S(rule_large)};
static const kiln_schedule schedule[] = {
    {S(plain), 0, NULL, 2, 1, slot_name, check_plain, plan_one, no_workspace, cost, 4, part, parts},
    {S(wide), 2, wide_rules, 2, 1, slot_name, check_wide, plan_wide, no_workspace, cost, 0, NULL,
     NULL},
    {S(split), 1, split_rules, 2, 1, slot_name, check_split, plan_split, split_workspace, cost, 4,
     part, parts},
};

/* ---- ops ---- */
static const kiln_xnode node[] = {
    /* 0: bias_relu = relu(acc + bias) */
    {KILN_X_ACC, 0, {0}, 0},
    {KILN_X_D, 0, {0}, 0},
    {KILN_X_ADD, 0, {0, 1}, 0},
    {KILN_X_RELU, 0, {2}, 0},
    /* 4: axpby = alpha*acc + beta*c */
    {KILN_X_ACC, 0, {0}, 0},
    {KILN_X_SCALAR, 0, {0}, 0},
    {KILN_X_MUL, 0, {0, 1}, 0},
    {KILN_X_D, 0, {0}, 0},
    {KILN_X_SCALAR, 1, {0}, 0},
    {KILN_X_MUL, 0, {3, 4}, 0},
    {KILN_X_ADD, 0, {2, 5}, 0},
    /* 11: swiglu = silu(gate) * up */
    {KILN_X_ACC, 0, {0}, 0},
    {KILN_X_SILU, 0, {0}, 0},
    {KILN_X_ACC, 1, {0}, 0},
    {KILN_X_MUL, 0, {1, 2}, 0},
    /* 15: linear_i8 = alpha*acc */
    {KILN_X_ACC, 0, {0}, 0},
    {KILN_X_SCALAR, 0, {0}, 0},
    {KILN_X_MUL, 0, {0, 1}, 0},
    /* 18: dequant = acc * scale + zero;  21: its b_op = (x - 3) * 0.3, a_op = x * 2 */
    {KILN_X_ACC, 0, {0}, 0},
    {KILN_X_D, 0, {0}, 0},
    {KILN_X_MUL, 0, {0, 1}, 0},
    {KILN_X_D, 1, {0}, 0},
    {KILN_X_ADD, 0, {2, 3}, 0},
    /* 23 */
    {KILN_X_ARG, 0, {0}, 0},
    {KILN_X_CONST, 0, {0}, 3},
    {KILN_X_SUB, 0, {0, 1}, 0},
    {KILN_X_CONST, 0, {0}, 0.3f},
    {KILN_X_MUL, 0, {2, 3}, 0},
    /* 28 */
    {KILN_X_ARG, 0, {0}, 0},
    {KILN_X_CONST, 0, {0}, 2},
    {KILN_X_MUL, 0, {0, 1}, 0},
};

static const int64_t shapes[] = {5, 7, 9, 1, 1, 1};
#ifdef FIXTURE_CLASH
enum { CLASH = 1000 };
#else
enum { CLASH = 0 };
#endif
static const kiln_family family[] = {GEMM_FAMILY, ROWWISE_FAMILY};
static const kiln_op_row op[] = {
    {.hash = 1 + CLASH,
     .name = S(bias_relu),
     .file = S(file),
     .line = 3,
     .products = 1,
     GEMM_TYPES,
     .ntensors = 4,
     .tensor = {GEMM_A, GEMM_B(S(f_big_b), 0), GEMM_E(3),
                GEMM_D(S(bias), 0, KILN_D_PER_COL, 0x82, 0)},
     .function = {{0, 4}},
     .first_shape = 0,
     .shapes = 2},
    {.hash = 2,
     .name = S(axpby),
     .file = S(file),
     .line = 9,
     .nscalars = 2,
     .products = 1,
     GEMM_TYPES,
     .ntensors = 4,
     .tensor = {GEMM_A, GEMM_B(S(f_big_b), 0), GEMM_E(6),
                GEMM_D(S(in_c), 0, KILN_D_FULL, 0x82, 0x82)},
     .scalar = {S(alpha), S(beta)},
     .function = {{4, 7}}},
    {.hash = 3,
     .name = S(swiglu),
     .file = S(file),
     .line = 15,
     .products = 2,
     GEMM_TYPES,
     .ntensors = 4,
     .tensor = {GEMM_A, GEMM_B(S(gate), 0), GEMM_B(S(up), 1), GEMM_E(3)},
     .function = {{11, 4}},
     .rtol = 1e-5f},
    {.hash = 4,
     .name = S(linear_i8),
     .file = S(file),
     .line = 21,
     .nscalars = 1,
     .products = 1,
     GEMM_TYPES,
     .ntensors = 3,
     .tensor = {GEMM_A, GEMM_B(S(f_big_b), 0), GEMM_E(2)},
     .scalar = {S(alpha)},
     .function = {{15, 3}}},
    {.hash = 5,
     .name = S(dequant),
     .file = S(file),
     .line = 27,
     .products = 1,
     GEMM_TYPES,
     .ntensors = 5,
     .tensor = {GEMM_A, GEMM_B(S(f_big_b), 0), GEMM_E(4),
                GEMM_D(S(scale), 0, KILN_D_PER_ROW, KILN_F32, 0),
                GEMM_D(S(zero), 1, KILN_D_PER_TENSOR, KILN_BF16, 0)},
     .function = {{18, 5}, {28, 3}, {23, 5}}},
    {.hash = 6,
     .name = S(product),
     .file = S(file),
     .line = 30,
     .products = 1,
     GEMM_TYPES,
     .ntensors = 3,
     .tensor = {GEMM_A, GEMM_B(S(f_big_b), 0), GEMM_E(0)},
     .function = {{0, 1}}},
#ifdef FIXTURE_MANY
#define INPUT(i) GEMM_D(S(many_##i), i, KILN_D_FULL, KILN_F32, 0x82)
    {.hash = 7,
     .name = S(many),
     .file = S(file),
     .line = 33,
     .products = 1,
     GEMM_TYPES,
     .ntensors = 11,
     .tensor = {GEMM_A, GEMM_B(S(f_big_b), 0), GEMM_E(0), INPUT(0), INPUT(1), INPUT(2), INPUT(3),
                INPUT(4), INPUT(5), INPUT(6), INPUT(7)},
     .function = {{0, 1}}},
#endif
};
enum { BIAS_RELU, AXPBY, SWIGLU, LINEAR_I8, DEQUANT, PRODUCT, MANY };

/* ---- code: the object of row i is 64 bytes from 16 + 64*i ---- */
#ifdef FIXTURE_GPU
static const uint8_t code[FIXTURE_CODE_SIZE] = FIXTURE_CODE_MARK;
/* Where B is row-major E and A, without copies; else A and B, whose lines come as two panels of 8.
 */
static const kiln_map map[] = {{2, 128, 32, 128, KILN_CLIP_ALL, 0, 0, 0, 0},
                               {0, 128, 32, 128, KILN_CLIP_ALL, 3, 0, 0, 0},
                               {1, 32, 16, 64, KILN_CLIP_REST, 1, 0, 0, 0}};
#else
#include "fixture_kernels.h"
static const kiln_host_fn host_fn[] = {bias_relu_rcr, bias_relu_rrr, axpby,
                                       swiglu,        linear_i8,     nothing};
#endif

/* ---- rows ---- */
#ifndef FIXTURE_WIDE
#define FIXTURE_WIDE 0 /* the function of the instance that is modelled fastest */
#endif
#define F32 KILN_F32
#define ROW(name_, op_, sched, fn, a_, b_, e_, acc_, la, lb, le, ...)                              \
    {                                                                                              \
        .name = S(name_), .op = op_, .schedule = sched, .host_fn = HOST_FN(fn),                    \
        .sig = {a_, b_, e_, acc_, la, lb, le}, __VA_ARGS__                                         \
    }
#define R KILN_ROW
#define C KILN_COL
static kiln_row row[] = {
    ROW(r_f32_rcr_a, BIAS_RELU, 0, 0, F32, F32, F32, F32, R, C, R, .t = {16, 100}),
    ROW(r_f32_rcr_b, BIAS_RELU, 0, 0, F32, F32, F32, F32, R, C, R, .t = {64, 50}),
    ROW(r_f32_rcr_c, BIAS_RELU, 2, 0, F32, F32, F32, F32, R, C, R, .t = {64, 5}),
    ROW(r_f32_rcr_d, BIAS_RELU, 1, FIXTURE_WIDE, F32, F32, F32, F32, R, C, R, .t = {128, 10}),
    ROW(r_f32_rrr, BIAS_RELU, 1, 1, F32, F32, F32, F32, R, R, R, .t = {128, 10}),
    ROW(r_f16, BIAS_RELU, 0, 5, KILN_F16, KILN_F16, KILN_F16, F32, R, C, R, .t = {16, 100}),
    ROW(r_axpby, AXPBY, 0, 2, F32, F32, F32, F32, R, R, R, .t = {16, 100}),
    ROW(r_swiglu, SWIGLU, 0, 3, F32, F32, F32, F32, R, C, R, .t = {16, 100}),
    ROW(r_i8, LINEAR_I8, 0, 4, KILN_I8, KILN_I8, KILN_I8, KILN_I32, R, C, R, .t = {16, 100}),
    ROW(r_dequant, DEQUANT, 0, 5, KILN_BF16, KILN_I8, F32, F32, R, R, C, .t = {16, 100}),
#ifdef FIXTURE_MANY
    ROW(r_many, MANY, 0, 5, F32, F32, F32, F32, R, R, R, .t = {16, 100}),
#endif
};
enum { ROWS = sizeof row / sizeof *row };

static int by_key(const void *x, const void *y)
{
    const kiln_row *a = x, *b = y;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return strcmp((const char *)&pool + a->name, (const char *)&pool + b->name);
}

__attribute__((constructor)) static void finish(void)
{
    for (int i = 0; i < ROWS; i++) {
        kiln_row *r = &row[i];
        const kiln_op_row *of = &op[r->op];
        r->key = kiln_key_of(kiln_name_hash((const char *)&pool + of->name), r->sig,
                             of->ntypes + family[of->family].nlayouts);
#ifdef FIXTURE_GPU
        /* swiglu's kernel and axpby's are in one object. */
        r->code_offset = 16 + 64 * (uint64_t)(r->op == SWIGLU ? i - 1 : i);
        r->code_size = 64;
        /* Every object is zeros, unless the file was damaged. */
        static const uint8_t undamaged[64];
        r->code_hash = r->content = XXH3_64bits(undamaged, sizeof undamaged);
        r->symbol[0] = S(sym);
        r->symbol[1] = r->schedule == 2 ? S(sym2) : 0;
        if (r->schedule == 1) {
            r->first_map = r->sig[5] == C;
            r->maps = 2;
#ifdef FIXTURE_REALIGNS
            r->realigns = r->sig[5] == C;
#endif
        }
#endif
    }
    qsort(row, ROWS, sizeof *row, by_key);
}

__attribute__((visibility("default"))) const kiln_module kiln_module_table = {
    .magic = KILN_MODULE_MAGIC,
    .abi_version = FIXTURE_ABI,
    .size = sizeof(kiln_module),
    .row_size = sizeof(kiln_row),
    .op_size = sizeof(kiln_op_row),
    .family_size = sizeof(kiln_family),
    .nfamilies = sizeof family / sizeof *family,
    .families = family,
    .target = S(target),
    .version = S(version),
    .id = 0x1234 + sizeof(FIXTURE_TARGET),
    .nrows = ROWS,
    .nops = sizeof op / sizeof *op,
    .nschedules = sizeof schedule / sizeof *schedule,
    .nnodes = sizeof node / sizeof *node,
    .nshapes = 6,
    .strings_size = sizeof pool,
    .rows = row,
    .ops = op,
    .schedules = schedule,
    .nodes = node,
    .shapes = shapes,
    .strings = (const char *)&pool,
#ifdef FIXTURE_GPU
    .nmaps = sizeof map / sizeof *map,
    .map = map,
    .code = code,
    .code_size = sizeof code,
#ifdef FIXTURE_REALIGNS
    .realign = {16, 0x2ffb6918c12c256eull, 64}, /* XXH3_64bits of 64 zeros */
#endif
#else
    .nhost_fns = sizeof host_fn / sizeof *host_fn,
    .host_fns = host_fn,
#endif
};
