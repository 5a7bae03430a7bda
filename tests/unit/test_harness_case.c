// SPDX-License-Identifier: MIT
// Cases of the harness on an op of several outputs, by a library that is made up here: y = x * w +
// residual, the sums of its rows, the largest of each block of eight columns.  Mistakes in any
// output are found and named; sampled rows, padding, batches and outputs in place are right.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "harness_parts.c"
#include "harness_values.c"
#include "harness_indices.c"
#include "harness_compare.c"
#define by_value by_place // of harness.c
#include "harness.c"

enum { RESIDUAL, W, X, LARGEST, TOTAL, Y, TENSORS, BLOCK = 8 };
enum fault {
    NONE,
    WRONG_TOTAL,  /* of one row */
    WRONG_BLOCK,  /* the last of a row */
    LEFT_OUT,     /* an element of y */
    IN_PADDING,   /* of y */
    PAST_THE_END, /* of the blocks */
    INPUT_WRITTEN,
    NOT_THE_SAME /* from run to run */
};
static enum fault fault;
static int uses_at, launches;

static const struct {
    const char *name;
    kiln_dkind kind;
    int out, rows, cols, col_block;
} tensors[TENSORS] = {
    {"residual", KILN_D_FULL, 0, 0, 1, 1},  {"w", KILN_D_PER_COL, 0, -1, 1, 1},
    {"x", KILN_D_FULL, 0, 0, 1, 1},         {"largest", KILN_D_PER_BLOCK, 1, 0, 1, BLOCK},
    {"total", KILN_D_PER_ROW, 1, 0, -1, 1}, {"y", KILN_D_FULL, 1, 0, 1, 1},
};

/* ---- the library ---- */
kiln_status kiln_op_describe(kiln_ctx *ctx, const char *name, kiln_op_info *op)
{
    (void)ctx;
    *op = (kiln_op_info){.struct_size = sizeof *op,
                         .name = name,
                         .family = "rows",
                         .ntensors = TENSORS,
                         .nsizes = 2,
                         .ntypes = 1,
                         .size_name = {"rows", "cols", NULL, "batch"},
                         .rows = 0,
                         .cols = 1,
                         .summed = -1,
                         .empty = 3,
                         .independent = 1,
                         .planes = -1,
                         .groups = -1,
                         .uses_at = uses_at};
    for (int i = 0; i < TENSORS; i++) op->tensor_planes[i] = -1;
    for (int i = 0; i < TENSORS; i++)
        op->rows_of[i] = (kiln_rows_info){.batches = KILN_BATCH, .within = -1};
    for (int i = 0; i < TENSORS; i++)
        op->tensor[i] = (kiln_tensor_info){.name = tensors[i].name,
                                           .at = i,
                                           .arg = i,
                                           .kind = tensors[i].kind,
                                           .out = tensors[i].out,
                                           .rows = tensors[i].rows,
                                           .cols = tensors[i].cols,
                                           .row_block = 1,
                                           .col_block = tensors[i].col_block};
    return KILN_OK;
}

kiln_status kiln_problem_resolve(const kiln_problem *from, kiln_problem *to)
{
    *to = *from;
    for (int i = 0; i < TENSORS; i++)
        to->tensor[i].dtype = KILN_F32, to->tensor[i].layout = KILN_ROW;
    return KILN_OK;
}

int kiln_dtype_bits(kiln_dtype t)
{
    return t == KILN_F32 ? 32 : 8;
}

kiln_status kiln_malloc(kiln_ctx *ctx, size_t size, void **out)
{
    (void)ctx;
    *out = aligned_alloc(256, (size + 256) / 256 * 256);
    return *out ? KILN_OK : KILN_NO_MEMORY;
}

kiln_status kiln_free(kiln_ctx *ctx, void *p)
{
    (void)ctx;
    free(p);
    return KILN_OK;
}

kiln_status kiln_upload(kiln_ctx *ctx, void *to, const void *from, size_t size)
{
    (void)ctx;
    memcpy(to, from, size);
    return KILN_OK;
}

kiln_status kiln_download(kiln_ctx *ctx, void *to, const void *from, size_t size)
{
    return kiln_upload(ctx, to, from, size);
}

kiln_status kiln_synchronize(kiln_ctx *ctx, void *stream)
{
    (void)ctx, (void)stream;
    return KILN_OK;
}

size_t kiln_workspace_size(const kiln_kernel *k, const kiln_problem *p)
{
    (void)k, (void)p;
    return 0;
}

kiln_status kiln_kernel_describe(const kiln_kernel *k, kiln_kernel_info *info)
{
    (void)k, (void)info;
    return KILN_OK;
}

typedef void put_fn(void *to, int tensor, int64_t batch, int64_t i, int64_t j, double value);
static void compute(const kiln_problem *problem, const kiln_args *args, put_fn *put, void *to)
{
    kh_shape s;
    assert_int_equal(kh_shape_of(NULL, problem, &s), KILN_OK);
    const kh_operand *x = &s.operand[X], *w = &s.operand[W], *r = &s.operand[RESIDUAL];
    const float *at[] = {args->tensor[RESIDUAL], args->tensor[W], args->tensor[X]};
    for (int64_t b = 0; b < s.problem.batch; b++)
        for (int64_t i = 0; i < s.problem.rows; i++) {
            double total = 0, largest = 0;
            for (int64_t j = 0; j < s.problem.cols; j++) {
                const double v =
                    (double)at[X][kh_place(x, b, i, j)] * (double)at[W][kh_place(w, b, i, j)] +
                    (double)at[RESIDUAL][kh_place(r, b, i, j)] + (uses_at ? (double)i : 0) +
                    (uses_at & 8 ? (double)b : 0);
                total += v, largest = j % BLOCK && largest > fabs(v) ? largest : fabs(v);
                if (j % BLOCK == BLOCK - 1 || j + 1 == s.problem.cols)
                    put(to, LARGEST, b, i, j / BLOCK, largest);
                put(to, Y, b, i, j, v);
            }
            put(to, TOTAL, b, i, 0, total);
        }
}

typedef struct launched {
    kh_shape s;
    const kiln_args *args;
} launched;

static void store(void *to, int tensor, int64_t batch, int64_t i, int64_t j, double value)
{
    const launched *l = to;
    const kh_operand *o = &l->s.operand[tensor];
    if (fault == LEFT_OUT && tensor == Y && i == 1 && j == 2) return;
    if (fault == WRONG_TOTAL && !batch && tensor == TOTAL && i == l->s.problem.rows - 1) value += 1;
    if (fault == WRONG_BLOCK && !batch && tensor == LARGEST && i == 2 && j == o->cols - 1)
        value *= 1.01;
    if (fault == NOT_THE_SAME && tensor == TOTAL && i == 0) value += launches;
    ((float *)l->args->tensor[tensor])[kh_place(o, batch, i, j)] = (float)value;
}

kiln_status kiln_launch(kiln_ctx *ctx, const kiln_kernel *k, const kiln_problem *p,
                        const kiln_args *args, void *stream)
{
    launched l = {.args = args};
    (void)ctx, (void)k, (void)stream;
    assert_int_equal(kh_shape_of(NULL, p, &l.s), KILN_OK);
    const kh_operand *y = &l.s.operand[Y], *blocks = &l.s.operand[LARGEST];
    if (y->span) compute(p, args, store, &l);
    launches++;
    if (fault == IN_PADDING) ((float *)args->tensor[Y])[y->cols] = 1;
    if (fault == PAST_THE_END) ((float *)args->tensor[LARGEST])[blocks->span] = 1;
    if (fault == INPUT_WRITTEN) ((float *)args->tensor[W])[0] += 1;
    return KILN_OK;
}

typedef struct bounds {
    kh_shape s;
    double *lo, *hi;
} bounds;

static void bound(void *to, int tensor, int64_t batch, int64_t i, int64_t j, double value)
{
    const bounds *x = to;
    size_t at = 0;
    for (int o = LARGEST; o < tensor; o++) at += (size_t)kh_elements(&x->s.operand[o]);
    const kh_operand *o = &x->s.operand[tensor];
    at += (size_t)((batch * o->rows + i) * o->cols + j);
    const double room = 1e-5 + 1e-6 * fabs(value);
    x->lo[at] = value - room, x->hi[at] = value + room;
}

kiln_status kiln_reference_bounds(const kiln_problem *p, const kiln_args *args, double *lo,
                                  double *hi)
{
    bounds x = {.lo = lo, .hi = hi};
    assert_int_equal(kh_shape_of(NULL, p, &x.s), KILN_OK);
    compute(p, args, bound, &x);
    return KILN_OK;
}

/* ---- tests ---- */
static kh_result run(const kiln_problem *p, const kh_options *o, char *sampling)
{
    kh_case *c;
    kh_result r;
    assert_int_equal(kh_case_open(NULL, p, o, &c), KILN_OK);
    if (sampling) strcpy(sampling, kh_case_sampling(c));
    assert_int_equal(kh_case_run(c, NULL, &r), KILN_OK);
    kh_case_close(c);
    return r;
}

static const kiln_problem usual = {.op = "sums",
                                   .rows = 5,
                                   .cols = 27,
                                   .batch = 2,
                                   .tensor = {[Y] = {.ld = 30}, [LARGEST] = {.ld = 6}}};

static void all_outputs(void **state)
{
    kiln_problem p = usual;
    (void)state;
    fault = NONE;
    kh_result r = run(&p, &(kh_options){.seed = 1}, NULL);
    assert_true(r.ok);
    assert_int_equal(r.checked, 2 * 5 * (27 + 1 + 4));
    assert_int_equal(r.output[0].checked, 2 * 5 * 4);
    assert_int_equal(r.output[1].checked, 2 * 5);
    p.tensor[X].batch_stride = KILN_BROADCAST;
    p.tensor[RESIDUAL] = p.tensor[Y];
    for (int way = 1; way <= 3; way++) { /* residual, x as y; x is of another ld */
        p.tensor[X] = way == 3 ? p.tensor[Y] : (kiln_tensor){.batch_stride = KILN_BROADCAST};
        assert_true(run(&p, &(kh_options){.seed = 1, .in_place = way}, NULL).ok);
    }
    p.cols = 0; /* nothing is written, not even totals */
    p.tensor[RESIDUAL] = p.tensor[X] = (kiln_tensor){0};
    r = run(&p, &(kh_options){.seed = 1}, NULL);
    assert_true(r.ok);
    assert_int_equal(r.checked, 0);
    assert_string_equal(r.text, "nothing to compute, nothing written");
}

static void mistakes(void **state)
{
    static const struct {
        enum fault fault;
        const char *text;
    } cases[] = {
        {WRONG_TOTAL, "total[batch 0, rows 4] = "},
        {WRONG_BLOCK, "largest[batch 0, rows 2, cols/8 3] = "},
        {LEFT_OUT, "y[batch 0, rows 1, cols 2] was not written"},
        {IN_PADDING, "wrote into the padding of y: element 27, ld 30"},
        {PAST_THE_END, "wrote past the end of largest (0 bytes after it)"},
        {INPUT_WRITTEN, "wrote into or around input w"},
        {NOT_THE_SAME, "total[batch 0, rows 0] differs from run to run"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fault = cases[i].fault;
        const kh_result r = run(&usual, &(kh_options){.seed = 1}, NULL);
        assert_false(r.ok);
        assert_memory_equal(r.text, cases[i].text, strlen(cases[i].text));
    }
    fault = NONE;
}

/* Rows are left out, columns never; where an element's place counts nothing is. */
static void sampling(void **state)
{
    char text[160];
    kiln_problem p = {.op = "sums", .rows = 3000, .cols = 50, .batch = 5};
    kh_options o = {.seed = 4, .budget = 64.0 * 50 * 3 * 40};
    (void)state;
    kh_result r = run(&p, &o, text);
    assert_true(r.ok && r.output[0].checked < 5 * 3000 * 7);
    assert_non_null(strstr(text, " of 3000 rows, 50 of 50 columns, "));
    assert_null(strstr(text, "3000 of 3000"));
    uses_at = 1;
    r = run(&p, &o, text);
    uses_at = 0;
    assert_true(r.ok);
    assert_non_null(strstr(text, "3000 of 3000 rows, 50 of 50 columns, "));
    assert_int_equal(r.output[0].checked, 4 * 3000 * 7);
    uses_at = 8; /* where a batch's number counts no batch is left out, or compared by itself */
    r = run(&p, &o, text);
    uses_at = 0;
    assert_true(r.ok);
    assert_int_equal(r.output[0].checked, 5 * 3000 * 7);
    fault = WRONG_TOTAL; /* of the last row, which is always there */
    assert_false(run(&p, &o, text).ok);
    fault = NONE;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_outputs), cmocka_unit_test(mistakes),
                                       cmocka_unit_test(sampling)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
