// SPDX-License-Identifier: MIT
// A module of rowwise ops for the host: several outputs, reductions over rows and blocks, places.
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <kiln.h>
#include "fixture_families.h"

#define STRINGS(X)                                                                                 \
    FAMILY_STRINGS(X)                                                                              \
    X(target, "host")                                                                              \
    X(version, KILN_VERSION)                                                                       \
    X(file, "instances/rows.lua")                                                                  \
    X(norm_quant, "norm_quant")                                                                    \
    X(softmax_at, "softmax_at")                                                                    \
    X(block_stats, "block_stats")                                                                  \
    X(add_sub, "add_sub")                                                                          \
    X(weight, "weight")                                                                            \
    X(x, "x")                                                                                      \
    X(y, "y")                                                                                      \
    X(scale, "scale")                                                                              \
    X(eps, "eps")                                                                                  \
    X(hi, "hi")                                                                                    \
    X(mean, "mean")                                                                                \
    X(ones, "ones")                                                                                \
    X(sum, "sum")                                                                                  \
    X(diff, "diff")                                                                                \
    X(plain, "plain")                                                                              \
    X(slot_t, "t")                                                                                 \
    X(rule, "rows are not aligned to 16 bytes")                                                    \
    X(fast, "fast")                                                                                \
    X(why, "f16 comes one by one (rowwise/fast.lua:7)")                                            \
    X(r_norm, "host/norm_quant/f32_f32/t1")                                                        \
    X(r_norm_8, "host/norm_quant/bf16_f8e4m3/t1")                                                  \
    X(r_softmax, "host/softmax_at/f32/t1")                                                         \
    X(r_blocks, "host/block_stats/f32/t1")                                                         \
    X(r_add, "host/add_sub/f32/t1")                                                                \
    X(r_add_fast, "host/add_sub/f32/v4")                                                           \
    X(r_add_16, "host/add_sub/f16/t1")

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

/* ---- schedules ---- */
static uint32_t check_plain(const kiln_shape *s, const int32_t *t)
{
    (void)s, (void)t;
    return 0;
}

static uint32_t check_fast(const kiln_shape *s, const int32_t *t)
{
    return s->align_d % 16 || s->vector < t[0];
}

static void plan(const kiln_shape *s, const int32_t *t, kiln_plan *p)
{
    (void)s, (void)t;
    p->stages = 1;
    p->stage[0] = (kiln_stage_plan){{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 0, 0};
}

static uint64_t workspace(const kiln_shape *s, const int32_t *t)
{
    (void)s, (void)t;
    return 0;
}

static double cost(const kiln_shape *s, const int32_t *t)
{
    return (double)s->size[SIZE_ROWS] * (double)s->size[SIZE_COLS] / t[0];
}

static const kiln_str slot_name[] = {S(slot_t)}, rules[] = {S(rule)};
static const kiln_schedule schedule[] = {
    {S(plain), 0, NULL, 1, 1, slot_name, check_plain, plan, workspace, cost, 0, NULL, NULL},
    {S(fast), 1, rules, 1, 1, slot_name, check_fast, plan, workspace, cost, 0, NULL, NULL},
};

/* ---- ops ---- */
static const kiln_xnode node[] = {
    /* 0: norm_quant: y = x * rsqrt(row_mean(x * x) + eps) * weight, scaled to 448 */
    {KILN_X_D, 1, {0}, 0},
    {KILN_X_MUL, 0, {0, 0}, 0},
    {KILN_X_ROW_MEAN, 0, {1}, 0},
    {KILN_X_SCALAR, 0, {0}, 0},
    {KILN_X_ADD, 0, {2, 3}, 0},
    {KILN_X_RSQRT, 0, {4}, 0},
    {KILN_X_MUL, 0, {0, 5}, 0},
    {KILN_X_D, 0, {0}, 0},
    {KILN_X_MUL, 0, {6, 7}, 0},
    {KILN_X_ABS, 0, {8}, 0},
    {KILN_X_ROW_MAX, 0, {9}, 0},
    {KILN_X_CONST, 0, {0}, 1e-12f},
    {KILN_X_MAX, 0, {10, 11}, 0},
    {KILN_X_CONST, 0, {0}, 448},
    {KILN_X_DIV, 0, {12, 13}, 0},
    {KILN_X_DIV, 0, {8, 14}, 0},
    /* 16: softmax_at: of columns up to the row's own number */
    {KILN_X_D, 0, {0}, 0},
    {KILN_X_AT, 1, {0}, 0},
    {KILN_X_AT, 0, {0}, 0},
    {KILN_X_LE, 0, {1, 2}, 0},
    {KILN_X_CONST, 0, {0}, -INFINITY},
    {KILN_X_SELECT, 0, {3, 0, 4}, 0},
    {KILN_X_ROW_MAX, 0, {5}, 0},
    {KILN_X_SUB, 0, {5, 6}, 0},
    {KILN_X_EXP, 0, {7}, 0},
    {KILN_X_ROW_SUM, 0, {8}, 0},
    {KILN_X_DIV, 0, {8, 9}, 0},
    /* 27: block_stats */
    {KILN_X_D, 0, {0}, 0},
    {KILN_X_BLOCK_MAX, 0, {0}, 4},
    {KILN_X_BLOCK_MEAN, 0, {0}, 4},
    {KILN_X_CONST, 0, {0}, 1},
    {KILN_X_BLOCK_SUM, 0, {3}, 4},
    {KILN_X_ROW_MIN, 0, {2}, 0},
    /* 33: add_sub */
    {KILN_X_D, 0, {0}, 0},
    {KILN_X_D, 1, {0}, 0},
    {KILN_X_ADD, 0, {0, 1}, 0},
    {KILN_X_SUB, 0, {0, 1}, 0},
};

static const int64_t shapes[] = {3, 5, 0, 2, 4099, 0, 1, 8, 0};
static const kiln_family family[] = {ROWWISE_FAMILY};
static kiln_op_row op[] = {
    {.hash = 101,
     .sizes = 3,
     .name = S(norm_quant),
     .file = S(file),
     .line = 2,
     .ntypes = 2,
     .type = {S(x), S(y)},
     .nscalars = 1,
     .scalar = {S(eps)},
     .ntensors = 4,
     .tensor = {ROWWISE_IN(S(weight), 0, KILN_D_PER_COL, 0x80),
                ROWWISE_IN(S(x), 1, KILN_D_FULL, 0x80),
                ROWWISE_OUT(S(scale), 2, KILN_D_PER_ROW, KILN_F32, 1, 14),
                ROWWISE_OUT(S(y), 3, KILN_D_FULL, 0x81, 1, 15)},
     .function = {{0, 16}},
     .first_shape = 6,
     .shapes = 1},
    {.hash = 102,
     .sizes = 3,
     .name = S(softmax_at),
     .file = S(file),
     .line = 8,
     .uses_at = 1,
     .ntypes = 1,
     .type = {S(x)},
     .ntensors = 2,
     .tensor = {ROWWISE_IN(S(x), 0, KILN_D_FULL, 0x80),
                ROWWISE_OUT(S(y), 1, KILN_D_FULL, 0x80, 1, 10)},
     .function = {{16, 11}}},
    {.hash = 103,
     .sizes = 3,
     .name = S(block_stats),
     .file = S(file),
     .line = 14,
     .ntypes = 1,
     .type = {S(x)},
     .ntensors = 5,
     .tensor = {ROWWISE_IN(S(x), 0, KILN_D_FULL, 0x80),
                ROWWISE_OUT(S(hi), 1, KILN_D_PER_BLOCK, KILN_F32, 4, 1),
                ROWWISE_OUT(S(mean), 2, KILN_D_PER_BLOCK, KILN_F32, 4, 2),
                ROWWISE_OUT(S(ones), 3, KILN_D_PER_BLOCK, KILN_I8, 4, 4),
                ROWWISE_OUT(S(sum), 4, KILN_D_PER_ROW, 0x80, 1, 5)},
     .function = {{27, 6}}},
    {.hash = 104,
     .sizes = 3,
     .name = S(add_sub),
     .file = S(file),
     .line = 20,
     .ntypes = 1,
     .type = {S(x)},
     .ntensors = 4,
     .tensor = {ROWWISE_IN(S(x), 0, KILN_D_FULL, 0x80), ROWWISE_IN(S(y), 1, KILN_D_FULL, 0x80),
                ROWWISE_OUT(S(diff), 2, KILN_D_FULL, 0x80, 1, 3),
                ROWWISE_OUT(S(sum), 3, KILN_D_FULL, 0x80, 1, 2)},
     .function = {{33, 4}}},
};

/* ---- kernels ---- */
static float *at(const kiln_rowwise_args *g, int tensor, int batch, int row)
{
    return (float *)g->d[tensor] + batch * g->stride_d[tensor] +
           (g->ldd[tensor] ? row * g->ldd[tensor] : 0);
}

static void norm_row(const kiln_rowwise_args *g, int batch, int row)
{
    const float *w = at(g, 0, batch, row), *x = at(g, 1, batch, row);
    float *y = at(g, 3, batch, row), sum = 0, largest = 0;
    for (int j = 0; j < g->cols; j++) sum += x[j] * x[j];
    const float r = 1 / sqrtf(sum / (float)g->cols + g->s[0]);
    for (int j = 0; j < g->cols; j++) largest = fmaxf(largest, fabsf(x[j] * r * w[j]));
    const float scale = fmaxf(largest, 1e-12f) / 448;
    for (int j = 0; j < g->cols; j++) y[j] = x[j] * r * w[j] / scale;
    at(g, 2, batch, 0)[row] = scale;
}

static void norm_quant(const void *args, kiln_each each)
{
    (void)each;
    const kiln_rowwise_args *g = args;
    for (int b = 0; b < g->batch; b++)
        for (int i = 0; i < g->rows; i++) norm_row(g, b, i);
}

static void add_sub(const void *args, kiln_each each)
{
    (void)each;
    const kiln_rowwise_args *g = args;
    for (int b = 0; b < g->batch; b++)
        for (int i = 0; i < g->rows; i++)
            for (int j = 0; j < g->cols; j++) {
                const float x = at(g, 0, b, i)[j], y = at(g, 1, b, i)[j];
                at(g, 2, b, i)[j] = x - y;
                at(g, 3, b, i)[j] = x + y;
            }
}

static void nothing(const void *args, kiln_each each)
{
    (void)args, (void)each;
}

static const kiln_host_fn host_fn[] = {norm_quant, add_sub, nothing};

/* ---- rows ---- */
enum { NORM, SOFTMAX, BLOCKS, ADD };
#define ROW(name_, op_, schedule_, fn_, t_, ...)                                                   \
    {                                                                                              \
        .name = S(name_), .op = op_, .schedule = schedule_, .host_fn = fn_, .t = {t_}, .sig = {    \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
static kiln_row row[] = {
    ROW(r_norm, NORM, 0, 0, 1, KILN_F32, KILN_F32),
    ROW(r_norm_8, NORM, 0, 2, 1, KILN_BF16, KILN_F8E4M3),
    ROW(r_softmax, SOFTMAX, 0, 2, 1, KILN_F32),
    ROW(r_blocks, BLOCKS, 0, 2, 1, KILN_F32),
    ROW(r_add, ADD, 0, 1, 1, KILN_F32),
    ROW(r_add_fast, ADD, 1, 1, 4, KILN_F32),
    ROW(r_add_16, ADD, 0, 2, 1, KILN_F16),
};
enum { ROWS = sizeof row / sizeof *row };

static int by_key(const void *x, const void *y)
{
    const kiln_row *a = x, *b = y;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return strcmp((const char *)&pool + a->name, (const char *)&pool + b->name);
}

/* Its key is the row's. */
static kiln_absent absent[] = {{0, S(fast), S(why)}};
__attribute__((visibility("default"))) const kiln_absents kiln_module_absent = {
    .size = sizeof *absent, .count = sizeof absent / sizeof *absent, .list = absent};

__attribute__((constructor)) static void finish(void)
{
    for (int i = 0; i < ROWS; i++)
        row[i].key = kiln_key_of(kiln_name_hash((const char *)&pool + op[row[i].op].name),
                                 row[i].sig, op[row[i].op].ntypes);
    for (int i = 0; i < ROWS; i++)
        if (row[i].name == S(r_add_16)) absent[0].key = row[i].key;
    qsort(row, ROWS, sizeof *row, by_key);
}

__attribute__((visibility("default"))) const kiln_module kiln_module_table = {
    .magic = KILN_MODULE_MAGIC,
    .abi_version = KILN_ABI_VERSION,
    .size = sizeof(kiln_module),
    .row_size = sizeof(kiln_row),
    .op_size = sizeof(kiln_op_row),
    .family_size = sizeof(kiln_family),
    .target = S(target),
    .version = S(version),
    .id = 0x5678,
    .nfamilies = 1,
    .families = family,
    .nrows = ROWS,
    .nops = sizeof op / sizeof *op,
    .nschedules = sizeof schedule / sizeof *schedule,
    .nnodes = sizeof node / sizeof *node,
    .nshapes = 9,
    .strings_size = sizeof pool,
    .rows = row,
    .ops = op,
    .schedules = schedule,
    .nodes = node,
    .shapes = shapes,
    .strings = (const char *)&pool,
    .nhost_fns = sizeof host_fn / sizeof *host_fn,
    .host_fns = host_fn,
};
