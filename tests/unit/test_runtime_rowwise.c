// SPDX-License-Identifier: MIT
// Ops that name their own types and tensors: problems as text, positions by name, kernels'
// arguments, outputs in place; and what rowwise ops mean, against plain loops.
#define _GNU_SOURCE
#include <float.h>
#include <math.h>
#include "fixture_families.h"
#include "runtime_test.h"

static kiln_ctx *ctx;

static int set_up(void **state)
{
    (void)state;
    make_folder();
    install_fixture("rowwise", "libkiln-host.so");
    ctx = open_ctx("host");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    kiln_close(ctx);
    return 0;
}

/* ---- problems ---- */

static void test_text(void **state)
{
    (void)state;
    static const char *const same[] = {
        "norm_quant f32,f32 rows=3 cols=5",
        "norm_quant bf16,f8e4m3 rows=0 cols=7168 batch=2",
        "add_sub f32 rows=3 cols=5 batch=2 ldx=8 sx=100 alignx=16 ldsum=7",
        "add_sub f32 rows=3 cols=5 batch=2 sy=broadcast",
        "add_sub f32 rows=3 cols=5 align=256",
        "block_stats f32 rows=3 cols=5 ldhi=9",
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        const kiln_problem p = problem(same[i]);
        char text[300];
        size_t len = sizeof text;
        assert_ok(kiln_problem_format(&p, text, &len));
        assert_string_equal(text, same[i]);
    }
}

static void test_mistakes(void **state)
{
    (void)state;
    static const char *const row[][2] = {
        {"add_sub", "'' is not one type as in f16 (of x)"},
        {"add_sub f32,f32 rows=1 cols=1", "is not one type as in f16 (of x)"},
        {"norm_quant f32 rows=1 cols=1", "is not two types as in f16,f16 (of x, y)"},
        {"add_sub f33 rows=1 cols=1", "unknown type 'f33'"},
        {"add_sub f32 rows=1", "cols= is missing"},
        {"add_sub f32 rcr rows=1 cols=1", "'rcr' is not of the form name=value"},
        {"add_sub f32 rows=1 cols=1 rows=2", "rows is given twice"},
        {"add_sub f32 rows=1 cols=1 ldx=1 ldx=2", "ldx is given twice"},
        {"add_sub f32 rows=2147483648 cols=1", "a size is a number from 0 to 2147483647"},
        {"add_sub f32 rows=1 cols=1 batch=0", "what computes nothing has rows=0"},
        {"add_sub f32 rows=1 cols=1 ldz=2", "unknown field 'ldz'; there are rows cols batch ldNAME "
                                            "sNAME align alignNAME, where NAME is one of x y diff "
                                            "sum"},
        {"add_sub f32 rows=1 cols=1 acc=f32", "unknown field 'acc'"},
        {"nobody f32 rows=1 cols=1", "op 'nobody' is not known here and read as a gemm"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        kiln_problem p;
        assert_error(kiln_problem_parse(row[i][0], &p), KILN_INVALID, row[i][1]);
    }
}

static kiln_problem plain(const char *op, int64_t rows, int64_t cols)
{
    kiln_problem p = {.struct_size = sizeof p, .rows = rows, .cols = cols};
    strcpy(p.op, op);
    return p;
}

static void test_types(void **state)
{
    (void)state;
    const kiln_kernel *k;
    kiln_problem p = plain("add_sub", 3, 5), r;
    assert_error(kiln_find(ctx, &p, &k), KILN_INVALID,
                 "add_sub's type 'x' is not given: set tensor[0].dtype, that of 'x'");
    p.tensor[3].dtype = KILN_F32; /* any of its tensors says the type */
    assert_ok(kiln_find(ctx, &p, &k));
    assert_ok(kiln_problem_resolve(&p, &r));
    for (int i = 0; i < 4; i++) {
        assert_int_equal(r.tensor[i].dtype, KILN_F32);
        assert_int_equal(r.tensor[i].ld, 5);
        assert_int_equal(r.tensor[i].batch_stride, 15);
    }
    p.tensor[1].dtype = KILN_F16;
    assert_error(kiln_find(ctx, &p, &k), KILN_NOT_FOUND, " is f16, not f32");
    p.tensor[1].dtype = (kiln_dtype)77;
    assert_error(kiln_find(ctx, &p, &k), KILN_INVALID, "tensor[1].dtype (add_sub's 'y') is 77");
    p.tensor[1].dtype = KILN_F32;
    p.tensor[0].layout = KILN_COL;
    assert_error(kiln_find(ctx, &p, &k), KILN_NOT_FOUND, "add_sub's input 'x' is row-major here");
    p.tensor[0].layout = KILN_ROW;
    p.size[2] = 4;
    assert_error(kiln_find(ctx, &p, &k), KILN_INVALID, "size[2] is 4: 'add_sub' has 2 sizes");
    p.size[2] = 0;
    p.rows = (int64_t)1 << 31;
    assert_error(kiln_find(ctx, &p, &k), KILN_INVALID, "rows is 2147483648: at most 2^31 - 1");
    p.rows = -1;
    assert_error(kiln_find(ctx, &p, &k), KILN_INVALID, "rows is negative (-1)");
    p.rows = 3;
    p.tensor[2].ld = 4;
    assert_error(kiln_find(ctx, &p, &k), KILN_INVALID, "diff's leading dimension is 4");
    p.tensor[2].ld = 0;
    p.batch = 2;
    p.tensor[2].batch_stride = KILN_BROADCAST;
    assert_error(kiln_find(ctx, &p, &k), KILN_INVALID, "every batch of the result needs");
    kiln_problem q = plain("norm_quant", 2, 2);
    q.tensor[0].dtype = KILN_BF16;
    assert_error(kiln_find(ctx, &q, &k), KILN_INVALID, "set tensor[3].dtype, that of 'y'");
    q.tensor[3].dtype = KILN_BF16;
    assert_error(kiln_find(ctx, &q, &k), KILN_NOT_FOUND,
                 "'norm_quant' is not described for bf16,bf16, but for ");
    q.tensor[2].dtype = KILN_F16;
    q.tensor[3].dtype = KILN_F8E4M3;
    assert_error(kiln_find(ctx, &q, &k), KILN_NOT_FOUND,
                 "norm_quant's output 'scale' is f32, not f16");
    kiln_problem nobody = plain("nrm_quant", 2, 2);
    assert_error(kiln_find(ctx, &nobody, &k), KILN_NOT_FOUND, "did you mean 'norm_quant'?");
}

/* align_d and vector are of full tensors. */
static void test_choice(void **state)
{
    (void)state;
    static const char *const row[][2] = {
        {"add_sub f32 rows=4 cols=8 align=16", "host/add_sub/f32/v4"},
        {"add_sub f32 rows=4 cols=8", "host/add_sub/f32/t1"},
        {"add_sub f32 rows=4 cols=8 align=16 ldx=9", "host/add_sub/f32/t1"},
        {"add_sub f32 rows=4 cols=8 alignx=16 aligny=16 aligndiff=16", "host/add_sub/f32/t1"},
        {"add_sub f16 rows=4 cols=8", "host/add_sub/f16/t1"},
    };
    for (int twice = 0; twice < 2; twice++)
        for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
            const kiln_problem p = problem(row[i][0]);
            const kiln_kernel *k;
            assert_ok(kiln_find(ctx, &p, &k));
            assert_string_equal(kr_kernel_name(k), row[i][1]);
        }
    const kiln_problem p = problem("add_sub f32 rows=4 cols=8");
    char text[2000];
    size_t len = sizeof text;
    assert_ok(kiln_explain(ctx, &p, text, &len));
    assert_says(text, "add_sub f32 rows=4 cols=8 on host");
    assert_says(text, "not legal: rows are not aligned to 16 bytes");
    assert_null(strstr(text, "no instance"));
    len = sizeof text;
    const kiln_problem slow = problem("add_sub f16 rows=4 cols=8");
    assert_ok(kiln_explain(ctx, &slow, text, &len));
    assert_says(
        text,
        "\n  host/add_sub/f16/fast  no instance: f16 comes one by one (rowwise/fast.lua:7)\n");
    len = sizeof text;
    assert_ok(kiln_explain_json(ctx, &slow, text, &len));
    assert_says(text, "], \"no_instance\": [\n  {\"schedule\": \"fast\", \"why\": \"f16 comes");
    len = sizeof text;
    const kiln_problem none = problem("add_sub bf16 rows=4 cols=8");
    assert_ok(kiln_explain(ctx, &none, text, &len));
    assert_says(text, "'add_sub' is not described for bf16, but for ");
}

static void test_descriptions(void **state)
{
    (void)state;
    assert_int_equal(kiln_tensor_index(ctx, "norm_quant", "weight"), 0);
    assert_int_equal(kiln_tensor_index(ctx, "norm_quant", "y"), 3);
    assert_int_equal(kiln_tensor_index(ctx, "norm_quant", "z"), -1);
    assert_says(kiln_error(),
                "op 'norm_quant' has no input or output 'z'; it has weight x scale y");
    assert_int_equal(kiln_tensor_index(ctx, "nobody", "z"), -1);
    assert_says(kiln_error(), "no open module describes an op 'nobody'");
    assert_int_equal(kiln_tensor_index(ctx, NULL, "z"), -1);
    kiln_op_info op = {.struct_size = sizeof op};
    assert_ok(kiln_op_describe(ctx, "norm_quant", &op));
    assert_string_equal(op.family, "rowwise");
    assert_int_equal(op.ntensors, 4);
    assert_int_equal(op.nd, 2);
    assert_int_equal(op.nsizes, 2);
    assert_string_equal(op.size_name[1], "cols");
    assert_string_equal(op.size_name[3], "batch");
    assert_int_equal(op.ntypes, 2);
    assert_int_equal(op.nlayouts, 0);
    assert_string_equal(op.type_name[1], "y");
    assert_string_equal(op.tensor[2].name, "scale");
    assert_int_equal(op.tensor[2].kind, KILN_D_PER_ROW);
    assert_int_equal(op.tensor[2].out, 1);
    assert_int_equal(op.tensor[2].cols, -1);
    assert_int_equal(op.tensor[2].type, -1);
    assert_int_equal(op.tensor[3].type, 1);
    assert_int_equal(op.tensor[1].at, 1);
    assert_string_equal(op.tensor_key[2], "scale");
    assert_int_equal(op.tensor_dtype[2], KILN_F32);
    assert_int_equal(op.tensor_dtype[3], 0);
    assert_int_equal(op.tensor_letter[3], -1);
    assert_int_equal(op.tensor_layout[3], KILN_ROW);
    assert_int_equal(op.tensor_layout[2], 0); /* no matrix */
    assert_int_equal(op.summed, -1);
    assert_int_equal(op.nshapes, 1);
    assert_int_equal(op.shapes[0][1], 8);
    assert_int_equal(op.nodes, 16);
    assert_text(ctx, "norm_quant",
                "body:\n    t1 = d.x * rsqrt(row_mean(d.x * d.x) + s.eps) * d.weight\n"
                "    t2 = max(row_max(abs(t1)), 1e-12) / 448\n    scale = t2\n    y = t1 / t2\n");
    assert_text(ctx, "softmax_at",
                "body:\n    t1 = select(le(at.col, at.row), d.x, -inf)\n"
                "    t2 = exp(t1 - row_max(t1))\n    y = t2 / row_sum(t2)\n");
    assert_ok(kiln_op_describe(ctx, "block_stats", &op));
    assert_int_equal(op.tensor[1].col_block, 4);
    const kiln_kernel *k;
    kiln_kernel_info info = {.struct_size = sizeof info};
    assert_ok(kiln_kernel_by_name(ctx, "host/norm_quant/bf16_f8e4m3/t1", &k));
    assert_ok(kiln_kernel_describe(k, &info));
    assert_string_equal(info.family, "rowwise");
    assert_int_equal(info.ntypes, 2);
    assert_int_equal(info.type[1], KILN_F8E4M3);
    assert_int_equal(info.a, 0);
}

/* ---- launching ---- */

enum { ELEMENTS = 1 << 12 };
static float memory[8][ELEMENTS];

static float uniform(void)
{
    static uint64_t x = 0x9e3779b97f4a7c15ull;
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    return (float)((double)(x >> 11) * 0x1p-52 - 1);
}

static void fill(void)
{
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < ELEMENTS; j++) memory[i][j] = uniform();
}

static kiln_args arguments(void)
{
    kiln_args args = {.struct_size = sizeof args, .scalars = {1e-6f}};
    for (int i = 0; i < 8; i++) args.tensor[i] = memory[i];
    return args;
}

static kiln_status launch(const kiln_problem *p, const kiln_args *args)
{
    const kiln_kernel *k;
    assert_ok(kiln_find(ctx, p, &k));
    return kiln_launch(ctx, k, p, args, NULL);
}

static void test_launch(void **state)
{
    (void)state;
    const kiln_problem p =
        problem("add_sub f32 rows=3 cols=5 batch=2 ldx=8 sx=100 sy=broadcast ldsum=7 ssum=50");
    kiln_args args = arguments();
    fill();
    assert_ok(launch(&p, &args));
    for (int b = 0; b < 2; b++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 5; j++) {
                const float x = memory[0][b * 100 + i * 8 + j], y = memory[1][i * 5 + j];
                assert_true(memory[2][b * 15 + i * 5 + j] == x - y);
                assert_true(memory[3][b * 50 + i * 7 + j] == x + y);
            }
    const kiln_problem other = problem("norm_quant f32,f32 rows=3 cols=5");
    const kiln_kernel *k;
    assert_ok(kiln_find(ctx, &p, &k));
    assert_error(kiln_launch(ctx, k, &other, &args, NULL), KILN_INVALID,
                 "does not compute this problem (norm_quant f32,f32)");
    const kiln_problem half = problem("add_sub f16 rows=3 cols=5");
    assert_error(kiln_launch(ctx, k, &half, &args, NULL), KILN_INVALID,
                 "does not compute this problem (add_sub f16)");
}

static void test_in_place(void **state)
{
    (void)state;
    const kiln_problem p = problem("add_sub f32 rows=3 cols=5 ldx=8 ldsum=8");
    kiln_args args = arguments();
    fill();
    float x[3][5], y[3][5];
    for (int i = 0; i < 15; i++) {
        x[i / 5][i % 5] = memory[0][i / 5 * 8 + i % 5];
        y[i / 5][i % 5] = memory[1][i];
    }
    args.tensor[2] = args.tensor[1]; /* diff where y was, sum where x was */
    args.tensor[3] = args.tensor[0];
    assert_ok(launch(&p, &args));
    for (int i = 0; i < 15; i++) {
        assert_true(memory[0][i / 5 * 8 + i % 5] == x[i / 5][i % 5] + y[i / 5][i % 5]);
        assert_true(memory[1][i] == x[i / 5][i % 5] - y[i / 5][i % 5]);
    }
    args.tensor[2] = args.tensor[3] = memory[5];
    assert_error(launch(&p, &args), KILN_INVALID, "give each output memory of its own");
    args.tensor[2] = args.tensor[0]; /* of another leading dimension */
    args.tensor[3] = memory[3];
    assert_error(launch(&p, &args), KILN_INVALID, "diff (");
    assert_says(kiln_error(), "overlaps x (");
    assert_says(kiln_error(), "or exactly this input's");
    args.tensor[2] = NULL;
    assert_error(launch(&p, &args), KILN_INVALID, "diff is NULL, but the problem has 60 bytes");
    const kiln_problem norm = problem("norm_quant f32,f32 rows=3 cols=5");
    args = arguments();
    args.tensor[3] = args.tensor[1]; /* y is x */
    assert_ok(launch(&norm, &args));
    args.tensor[3] = args.tensor[0]; /* y is weight */
    assert_error(launch(&norm, &args), KILN_INVALID, "(only a full extra input may be y)");
    args = arguments();
    args.tensor[2] = args.tensor[1]; /* scale in x */
    assert_error(launch(&norm, &args), KILN_INVALID, "scale (");
    assert_null(strstr(kiln_error(), "only a full"));
}

static void test_nothing_to_do(void **state)
{
    (void)state;
    static const char *const text[] = {"norm_quant f32,f32 rows=0 cols=5",
                                       "norm_quant f32,f32 rows=5 cols=0"};
    const kiln_args none = {.struct_size = sizeof none};
    double bound;
    for (int i = 0; i < 2; i++) {
        const kiln_problem p = problem(text[i]);
        assert_ok(launch(&p, &none));
        assert_ok(kiln_reference(&p, &none));
        assert_ok(kiln_reference_bounds(&p, &none, &bound, &bound));
    }
}

/* ---- the reference ---- */

static void near(double x, double y, double relative)
{
    if (!(fabs(x - y) <= relative * fmax(fabs(x), fabs(y)) + 1e-30))
        fail_msg("%.17g is not %.17g", x, y);
}

static void test_norm(void **state)
{
    (void)state;
    enum { ROWS = 4, COLS = 300, BATCH = 2 };
    const kiln_problem p = problem("norm_quant f32,f32 rows=4 cols=300 batch=2 sweight=broadcast");
    kiln_args args = arguments(), expected = arguments();
    fill();
    for (int j = 0; j < COLS; j++) memory[1][j] = 0; /* a row of zeros */
    expected.tensor[2] = memory[6];
    expected.tensor[3] = memory[7];
    assert_ok(launch(&p, &args));
    assert_ok(kiln_reference(&p, &expected));
    for (int r = 0; r < ROWS * BATCH; r++) {
        double sum = 0, most = 0;
        const float *x = &memory[1][r * COLS];
        for (int j = 0; j < COLS; j++) sum += (double)x[j] * (double)x[j];
        const double by = 1 / sqrt(sum / COLS + (double)1e-6f);
        for (int j = 0; j < COLS; j++)
            most = fmax(most, fabs((double)x[j] * by * (double)memory[0][j]));
        const double scale = fmax(most, (double)1e-12f) / 448;
        near((double)memory[6][r], scale, 1e-7);
        for (int j = 0; j < COLS; j++)
            near((double)memory[7][r * COLS + j], (double)x[j] * by * (double)memory[0][j] / scale,
                 1e-7);
    }
    static double lo[BATCH * ROWS * (COLS + 1)], hi[BATCH * ROWS * (COLS + 1)];
    assert_ok(kiln_reference_bounds(&p, &args, lo, hi)); /* scales, then y */
    for (int i = 0; i < BATCH * ROWS * (COLS + 1); i++) {
        const int y = i - BATCH * ROWS;
        const double got = (double)(y < 0 ? memory[2][i] : memory[3][y]),
                     known = (double)(y < 0 ? memory[6][i] : memory[7][y]);
        if (!(lo[i] <= got && got <= hi[i] && lo[i] <= known && known <= hi[i]))
            fail_msg("element %d: %.9g and %.9g are not in [%.9g, %.9g]", i, got, known, lo[i],
                     hi[i]);
        if (!(hi[i] - lo[i] <= 3e-5 * fabs(known) + 1e-20))
            fail_msg("element %d: [%.9g, %.9g] is wide", i, lo[i], hi[i]);
    }
}

/* Of quantised outputs most are determined, and the others to one step of the format. */
static void test_quantised(void **state)
{
    (void)state;
    enum { ROWS = 8, COLS = 512 };
    const kiln_problem p = problem("norm_quant bf16,f8e4m3 rows=8 cols=512");
    kiln_args args = arguments();
    for (int t = 0; t < 2; t++)
        for (int i = 0; i < ROWS * COLS; i++)
            kr_encode(KILN_BF16, (double)uniform(),
                      (kr_at){(char *)((uint16_t *)(void *)memory[t] + i), 0});
    assert_ok(kiln_reference(&p, &args));
    static double lo[ROWS * (COLS + 1)], hi[ROWS * (COLS + 1)];
    assert_ok(kiln_reference_bounds(&p, &args, lo, hi));
    int determined = 0, largest = 0;
    for (int i = 0; i < ROWS * COLS; i++) {
        const double l = lo[ROWS + i], h = hi[ROWS + i],
                     got = kr_decode(KILN_F8E4M3, (kr_at){(char *)memory[3] + i, 0});
        assert_true(l <= got && got <= h);
        determined += l == h;
        largest += fabs(got) == 448;
        if (l == h) continue;
        assert_true(kr_round_to(KILN_F8E4M3, (l + h) / 2) == l ||
                    kr_round_to(KILN_F8E4M3, (l + h) / 2) == h);
    }
    assert_true(determined > ROWS * COLS * 99 / 100);
    assert_true(largest >= ROWS);
}

static void test_softmax(void **state)
{
    (void)state;
    enum { ROWS = 6, COLS = 40 };
    const kiln_problem p = problem("softmax_at f32 rows=6 cols=40");
    kiln_args args = arguments();
    fill();
    for (int i = 0; i < ROWS * COLS; i++) memory[0][i] *= 50;
    static double lo[ROWS * COLS], hi[ROWS * COLS];
    assert_ok(kiln_reference_bounds(&p, &args, lo, hi));
    float x[ROWS * COLS];
    memcpy(x, memory[0], sizeof x);
    args.tensor[1] = args.tensor[0]; /* the reference, too, works in place */
    assert_ok(kiln_reference(&p, &args));
    for (int i = 0; i < ROWS; i++) {
        double most = -INFINITY, sum = 0;
        for (int j = 0; j <= i; j++) most = fmax(most, (double)x[i * COLS + j]);
        for (int j = 0; j <= i; j++) sum += exp((double)x[i * COLS + j] - most);
        for (int j = 0; j < COLS; j++) {
            const double v = j <= i ? exp((double)x[i * COLS + j] - most) / sum : 0,
                         l = lo[i * COLS + j], h = hi[i * COLS + j];
            near((double)memory[0][i * COLS + j], v, 1e-7);
            if (!(l <= v && v <= h && h <= 1.0001 && h - l <= 1e-4 * v + 1e-30))
                fail_msg("%d %d: %.9g in [%.9g, %.9g]", i, j, v, l, h);
        }
    }
}

static void test_blocks(void **state)
{
    (void)state;
    enum { ROWS = 3, COLS = 10, BLOCKS = 3 };
    const kiln_problem p = problem("block_stats f32 rows=3 cols=10 ldhi=5");
    const kiln_args args = arguments();
    fill();
    memory[0][COLS + 1] = NAN;
    memory[0][2 * COLS + 9] = INFINITY;
    assert_ok(kiln_reference(&p, &args));
    static double lo[ROWS * (3 * BLOCKS + 1)], hi[ROWS * (3 * BLOCKS + 1)];
    assert_ok(kiln_reference_bounds(&p, &args, lo, hi));
    for (int i = 0; i < ROWS; i++) {
        float least = INFINITY;
        for (int b = 0; b < BLOCKS; b++) {
            const int n = b == 2 ? 2 : 4; /* the last block is cut */
            double most = -INFINITY, sum = 0;
            for (int j = 4 * b; j < 4 * b + n; j++) {
                const double x = (double)memory[0][i * COLS + j];
                most = isnan(x) || isnan(most) ? NAN : fmax(most, x);
                sum += x;
            }
            const float h = memory[1][i * 5 + b], mean = memory[2][i * BLOCKS + b];
            const int at = i * BLOCKS + b;
            assert_int_equal(((int8_t *)memory[3])[at], n);
            assert_true(lo[2 * ROWS * BLOCKS + at] == n && hi[2 * ROWS * BLOCKS + at] == n);
            if (isnan(most)) {
                assert_true(isnan(h) && isnan(mean) && isnan(lo[at]));
                assert_true(isnan(hi[ROWS * BLOCKS + at]));
            } else {
                assert_true((double)h == most && lo[at] == most && hi[at] == most);
                assert_true(isinf(sum) ? isinf(mean) : fabs((double)mean - sum / n) < 1e-6);
                assert_true(lo[ROWS * BLOCKS + at] <= (double)mean &&
                            (double)mean <= hi[ROWS * BLOCKS + at]);
            }
            least = isnan(mean) || isnan(least) ? NAN : fminf(least, mean);
        }
        const float got = memory[4][i];
        assert_true(isnan(least) ? isnan(got) : fabsf(got - least) < 1e-6f);
    }
}

/* ---- sums of intervals ---- */

static void test_sums(void **state)
{
    (void)state;
    const kr_interval any = {-INFINITY, INFINITY, 1}, nan = kr_point(NAN), up = kr_point(INFINITY),
                      down = kr_point(-INFINITY), one = kr_point(1),
                      large = kr_point((double)FLT_MAX), maybe = {0, INFINITY, 0};
    const struct {
        kr_interval x[3], sum;
    } row[] = {
        {{one, nan, one}, nan},
        {{one, up, one}, up},
        {{one, down, up}, nan},
        {{one, any, one}, any},
        {{down, kr_point(-1), one}, down},
        {{large, large, one}, {(double)FLT_MAX, INFINITY, 0}},
        {{large, large, kr_point(-1)}, any},
        {{kr_point(0), kr_point(0), kr_point(0)}, kr_point(0)},
        {{one, {1, 1, 1}, one}, {2.9999, 3.0001, 1}},
        {{one, maybe, one}, {1.9999, INFINITY, 0}},
        {{one, maybe, kr_point(-1)}, any},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const kr_interval r = kr_interval_sum(row[i].x, 3, 0, false), e = row[i].sum;
        const bool ok = r.nan == e.nan &&
                        (r.nan == 2 || (r.lo <= r.hi && r.lo >= e.lo && r.hi <= e.hi &&
                                        isinf(r.hi) == isinf(e.hi) && isinf(r.lo) == isinf(e.lo)));
        if (!ok) fail_msg("row %zu: [%.9g, %.9g, %d]", i, r.lo, r.hi, r.nan);
    }
    /* The mean of zeros is known: nothing of it is rounded. */
    const kr_interval zero[3] = {kr_point(0), kr_point(0), kr_point(0)},
                      none = kr_interval_mean(zero, 3, 0, false);
    assert_true(none.lo == 0 && none.hi == 0 && none.nan == 0);
    /* Sums in f32, forwards, backwards and by halves, stay inside; of compensated ones the exact
     * sum, rounded, does, and many a plain one does not. */
    int plain_outside = 0;
    for (int n = 0; n < 2000; n++) {
        enum { MOST = 200 };
        kr_interval x[MOST];
        float v[MOST], sum = 0, back = 0;
        double exact = 0;
        const int count = 1 + n % MOST;
        const bool positive = n % 3 == 0;
        for (int i = 0; i < count; i++) {
            v[i] = uniform() * (n % 5 ? 1 : expf(40 * uniform()));
            if (positive) v[i] = fabsf(v[i]);
            x[i] = kr_point((double)v[i]);
            sum += v[i];
            exact += (double)v[i];
        }
        for (int i = count; i-- > 0;) back += v[i];
        const kr_interval r = kr_interval_sum(x, count, 0, false),
                          mean = kr_interval_mean(x, count, 0, false);
        assert_true(r.lo <= (double)sum && (double)sum <= r.hi);
        assert_true(r.lo <= (double)back && (double)back <= r.hi);
        assert_true(!positive || r.lo >= 0);
        const double m = (double)(sum * (1 / (float)count)), by = (double)(back / (float)count);
        assert_true(mean.lo <= m && m <= mean.hi && mean.lo <= by && by <= mean.hi);
        const kr_interval best = kr_interval_sum(x, count, 0, true);
        const double rounded = (double)(float)exact;
        assert_true(best.lo <= rounded && rounded <= best.hi && r.lo <= best.lo && best.hi <= r.hi);
        plain_outside += (double)sum < best.lo || (double)sum > best.hi;
    }
    assert_true(plain_outside > 500);
}

/* ---- damaged tables ---- */

#define SPOIL_OF(check, lvalue, bad)                                                               \
    do {                                                                                           \
        __typeof__(lvalue) *field_ = &(lvalue);                                                    \
        const __typeof__(lvalue) good_ = *field_;                                                  \
        *field_ = (__typeof__(lvalue))(bad);                                                       \
        if ((check) != KILN_BAD_MODULE) fail_msg("%s = %s was not noticed", #lvalue, #bad);        \
        *field_ = good_;                                                                           \
        assert_ok(check);                                                                          \
    } while (0)
#define SPOIL(lvalue, bad) SPOIL_OF(kr_table_check("table", t), lvalue, bad)

static void test_table_fields(void **state)
{
    (void)state;
    const kiln_module *t = ctx->module[0]->table;
    make_writable(t->ops, t->nops * sizeof *t->ops);
    make_writable(t->families, t->nfamilies * sizeof *t->families);
    make_writable(t->nodes, t->nnodes * sizeof *t->nodes);
    kiln_op_row *op = (kiln_op_row *)(uintptr_t)t->ops;
    kiln_xnode *n = (kiln_xnode *)(uintptr_t)t->nodes;
    kiln_family *f = (kiln_family *)(uintptr_t)t->families;
    SPOIL(op[0].tensor[3].result, 16);
    SPOIL(op[0].tensor[1].type, 0x82);
    SPOIL(op[0].tensor[1].layout, 0x80);
    SPOIL(op[0].tensor[0].pointer, 1);
    SPOIL(op[0].tensor[0].pitch, 3);
    SPOIL(op[0].tensor[0].own, 0);
    SPOIL(op[0].tensor[1].out, 1); /* an input less than the body reads */
    SPOIL(op[1].uses_at, 0);
    SPOIL(n[17].index, 2); /* at */
    SPOIL(n[28].value, 3); /* columns of a block */
    SPOIL(n[28].value, 1);
    SPOIL(n[28].value, 512);
    SPOIL(n[28].value, NAN);
    SPOIL(n[0].op, KILN_X_ACC); /* products of nothing */
    SPOIL(f->independent, 3);   /* nothing to reduce */
    SPOIL(f->cols, 2);
    SPOIL(f->pitches, 200);
    SPOIL(f->args_size, 1u << 20);

    const kiln_absents *a = ctx->module[0]->absent;
    make_writable(a, sizeof *a);
    kiln_absents *all = (kiln_absents *)(uintptr_t)a;
    kiln_absent *one = (kiln_absent *)(uintptr_t)a->list;
    SPOIL_OF(kr_absent_check("table", t, a), all->size, 8);
    SPOIL_OF(kr_absent_check("table", t, a), all->count, 1u << 20);
    SPOIL_OF(kr_absent_check("table", t, a), all->list, NULL);
    SPOIL_OF(kr_absent_check("table", t, a), one->schedule, 0);
    SPOIL_OF(kr_absent_check("table", t, a), one->why, t->strings_size);
}

static void test_tuning(void **state)
{
    (void)state;
    static const char rows[] =
        "add_sub f32 rows=64 cols=64 align=16,host/add_sub/f32/t1,1,0,@CODE\n"
        "\"norm_quant f32,f32 rows=4 cols=4\",host/add_sub/f32/t1,1,0,@CODE\n";
    char path[600];
    kiln_device_info dev = {.struct_size = sizeof dev};
    assert_ok(kiln_device_describe(ctx, &dev));
    snprintf(path, sizeof path, "%s/rows.csv", test_folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "Validator,KILN_VERSION,%s\nValidator,TARGET,host\n", KILN_VERSION);
    fprintf(f, "Validator,DEVICE,%s\nValidator,UNITS,%d\n", dev.name, dev.units);
    put_tuning_rows(f, ctx, rows, sizeof rows - 1);
    fclose(f);
    kiln_config config = test_config("host");
    config.tuning = path;
    kiln_ctx *tuned;
    assert_ok(kiln_open(&tuned, &config));
    const kiln_kernel *k;
    const kiln_problem p = problem("add_sub f32 rows=64 cols=64 align=16"),
                       far = problem("add_sub f32 rows=640 cols=64 align=16");
    assert_ok(kiln_find(tuned, &p, &k));
    assert_string_equal(kr_kernel_name(k), "host/add_sub/f32/t1");
    assert_ok(kiln_find(tuned, &far, &k));
    assert_string_equal(kr_kernel_name(k), "host/add_sub/f32/v4");
    assert_says(kiln_refused_at(tuned, 0), "1 of 2 rows dropped (line 6: its instance does not");
    kiln_close(tuned);
    remove_file("rows.csv");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),         cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_types),        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_descriptions), cmocka_unit_test(test_launch),
        cmocka_unit_test(test_in_place),     cmocka_unit_test(test_nothing_to_do),
        cmocka_unit_test(test_norm),         cmocka_unit_test(test_quantised),
        cmocka_unit_test(test_softmax),      cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_sums),         cmocka_unit_test(test_tuning),
        cmocka_unit_test(test_table_fields),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
