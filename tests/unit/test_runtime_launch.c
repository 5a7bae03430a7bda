// SPDX-License-Identifier: MIT
// Launches on the host: results, the arguments a kernel gets, every wrong argument's status and
// text, graphs, and that finding and launching allocate nothing.
#define _GNU_SOURCE
#include <math.h>
#include "runtime_test.h"

/* ---- allocations, counted where the sanitizers do not stand in the way ---- */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COUNTED 0
static size_t allocations;
#else
#define COUNTED 1
static _Thread_local size_t allocations;
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *malloc(size_t size)
{
    allocations++;
    return __libc_malloc(size);
}
void *calloc(size_t n, size_t size)
{
    allocations++;
    return __libc_calloc(n, size);
}
void *realloc(void *p, size_t size)
{
    allocations++;
    return __libc_realloc(p, size);
}
#endif

static kiln_ctx *ctx;

static int set_up(void **state)
{
    (void)state;
    make_folder();
    install_fixture("host", "libkiln-host.so");
    install_fixture("sm90", "libkiln-sm_90a.so");
    ctx = open_ctx("host");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    kiln_close(ctx);
    return 0;
}

static const kiln_kernel *kernel_for(const kiln_problem *p)
{
    const kiln_kernel *k;
    assert_ok(kiln_find(ctx, p, &k));
    return k;
}

static void fill(float *p, int n, int start)
{
    for (int i = 0; i < n; i++) p[i] = (float)((start + 7 * i) % 11 - 5);
}

/* ---- results ---- */

static void test_against_reference(void **state)
{
    (void)state;
    static const char *const text[] = {
        "axpby f32,f32,f32 rrr m=7 n=5 k=9",
        "axpby f32,f32,f32 rrr m=7 n=5 k=9 batch=3 sb=broadcast sd.c=50",
        "axpby f32,f32,f32 rrr m=7 n=5 k=9 batch=2 lda=13 ldb=6 lde=11 ldd.c=9",
        "axpby f32,f32,f32 rrr m=7 n=5 k=9 batch=3 lde=15 se=5", /* heads, interleaved */
        "axpby f32,f32,f32 rrr m=1 n=1 k=1",
        "axpby f32,f32,f32 rrr m=7 n=5 k=0",
    };
    static float a[1000], b[1000], c[1000], e[1000], want[1000];
    fill(a, 1000, 1);
    fill(b, 1000, 2);
    fill(c, 1000, 3);
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        const kiln_problem p = problem(text[i]);
        kiln_args args = {
            .struct_size = sizeof args, .a = a, .b = {b}, .d = {c}, .e = e, .scalars = {2, -1}};
        memset(e, 0x55, sizeof e);
        memset(want, 0x55, sizeof want);
        assert_ok(kiln_launch(ctx, kernel_for(&p), &p, &args, NULL));
        args.e = want;
        assert_ok(kiln_reference(&p, &args));
        assert_memory_equal(e, want, sizeof e);
    }
}

static void test_two_products(void **state)
{
    (void)state;
    float a[6] = {1, 2, 3, 4, 5, 6}, gate[6] = {1, 0, 1, 0, 1, 0}, up[6] = {0, 0, 1, 1, 1, 1}, e[4],
          want[4];
    const kiln_problem p = problem("swiglu f32,f32,f32 rcr m=2 n=2 k=3");
    kiln_args args = {.struct_size = sizeof args, .a = a, .b = {gate, up}, .e = e};
    assert_ok(kiln_launch(ctx, kernel_for(&p), &p, &args, NULL));
    args.e = want;
    assert_ok(kiln_reference(&p, &args));
    for (int i = 0; i < 4; i++) assert_true(fabsf(e[i] - want[i]) <= 1e-5f * fabsf(want[i]));
    args.b[1] = NULL;
    assert_error(kiln_launch(ctx, kernel_for(&p), &p, &args, NULL), KILN_INVALID, "up is NULL");
}

/* ---- wrong arguments ---- */

typedef struct situation {
    kiln_problem p;
    kiln_args args;
    const kiln_kernel *kernel;
    kiln_ctx *ctx;
} situation;

static float A[128], B[128], Cc[128], E[256]; /* for three batches */

static situation good(void)
{
    situation s = {.p = problem("axpby f32,f32,f32 rrr m=4 n=6 k=8"), .ctx = ctx};
    s.kernel = kernel_for(&s.p);
    s.args = (kiln_args){
        .struct_size = sizeof s.args, .a = A, .b = {B}, .d = {Cc}, .e = E, .scalars = {1, 1}};
    return s;
}

#define BAD(change, status, says)                                                                  \
    do {                                                                                           \
        situation s = good();                                                                      \
        change;                                                                                    \
        assert_error(kiln_launch(s.ctx, s.kernel, &s.p, &s.args, NULL), status, says);             \
    } while (0)

static void test_misuse(void **state)
{
    (void)state;
    kiln_ctx *other = open_ctx("host");
    const kiln_kernel *foreign, *elsewhere;
    assert_ok(kiln_kernel_at(other, 0, &foreign));
    assert_ok(kiln_kernel_by_name(ctx, "sm_90a/axpby/f32_f32_f32/rrr/plain_16", &elsewhere));
    BAD(s.ctx = NULL, KILN_INVALID, "the context is NULL");
    BAD(s.kernel = NULL, KILN_INVALID, "the kernel is NULL");
    BAD(s.kernel = foreign, KILN_INVALID, "belongs to another context");
    BAD(s.kernel = elsewhere, KILN_NOT_SUPPORTED,
        "is for sm_90a, and this context's device is host");
    BAD(s.p.e.dtype = KILN_F16, KILN_INVALID, "does not compute this problem (axpby f32,f32,f16)");
    BAD(s.p.b.layout = KILN_COL, KILN_INVALID, "does not compute this problem");
    BAD(s.p.struct_size = 1, KILN_INVALID, "kiln_problem.struct_size");
    BAD(s.args.struct_size = 1, KILN_INVALID, "kiln_args.struct_size is 1");
    BAD(s.p.m = -1, KILN_INVALID, "m is negative");
    BAD(s.args.a = NULL, KILN_INVALID, "A is NULL, but the problem has 128 bytes of it");
    BAD(s.args.b[0] = NULL, KILN_INVALID, "B is NULL");
    BAD(s.args.d[0] = NULL, KILN_INVALID, "c is NULL");
    BAD(s.args.e = NULL, KILN_INVALID, "E is NULL");
    BAD(s.args.a = (char *)A + 1, KILN_INVALID, "not a multiple of its element's 4 bytes");
    BAD(s.args.e = (char *)E + 2, KILN_INVALID, "not a multiple of its element's 4 bytes");
    BAD((s.p.b.align = 4096, s.args.b[0] = B + 1), KILN_INVALID,
        "is not aligned to the 4096 bytes that the problem promises");
    BAD(s.args.a = (void *)(UINTPTR_MAX - 15), KILN_INVALID, "pass the end of memory");
    BAD(s.args.e = A, KILN_INVALID, "overlaps A");
    BAD(s.args.e = A + 31, KILN_INVALID, "overlaps A");
    BAD(s.args.a = E + 23, KILN_INVALID, "overlaps A");
    BAD(s.args.b[0] = E, KILN_INVALID, "overlaps B");
    BAD((s.p.batch = 3, s.p.b.batch_stride = KILN_BROADCAST, s.args.b[0] = E + 40), KILN_INVALID,
        "overlaps B");
    const situation fine = good();
    assert_error(kiln_launch(ctx, fine.kernel, &fine.p, NULL, NULL), KILN_INVALID,
                 "the kiln_args is NULL");
    assert_error(kiln_launch(ctx, fine.kernel, NULL, NULL, NULL), KILN_INVALID,
                 "the kiln_problem is NULL");
    assert_status(kiln_prepare(ctx, foreign), KILN_INVALID);
    assert_status(kiln_prepare(ctx, elsewhere), KILN_NOT_SUPPORTED);
    assert_ok(kiln_prepare(ctx, fine.kernel));
    kiln_close(other);
}

/* Neighbours that only touch, and slices of one buffer, are no overlap. */
static void test_neighbours(void **state)
{
    (void)state;
    situation s = good();
    s.args.e = A + 32;
    assert_ok(kiln_launch(ctx, s.kernel, &s.p, &s.args, NULL));
    s.args.a = E + 24;
    s.args.e = E;
    assert_ok(kiln_launch(ctx, s.kernel, &s.p, &s.args, NULL));
    /* A and E as columns 0..7 and 8..13 of one 4 x 16 buffer, and the other way round. */
    s.p = problem("axpby f32,f32,f32 rrr m=4 n=6 k=8 lda=16 lde=16");
    s.args.a = E;
    s.args.e = E + 8;
    assert_ok(kiln_launch(ctx, s.kernel, &s.p, &s.args, NULL));
    s.args.a = E + 6;
    s.args.e = E;
    assert_ok(kiln_launch(ctx, s.kernel, &s.p, &s.args, NULL));
    s.args.a = E + 5;
    assert_error(kiln_launch(ctx, s.kernel, &s.p, &s.args, NULL), KILN_INVALID, "overlaps A");
    s.args.a = E + 11; /* its rows run into E's next row */
    assert_error(kiln_launch(ctx, s.kernel, &s.p, &s.args, NULL), KILN_INVALID, "overlaps A");
}

/* E may be exactly a full input, and nothing else of the inputs. */
static void test_in_place(void **state)
{
    (void)state;
    for (int i = 0; i < 32; i++) A[i] = 1;
    for (int i = 0; i < 48; i++) B[i] = 2;
    for (int i = 0; i < 24; i++) Cc[i] = (float)i;
    situation fine = good();
    fine.args.scalars[0] = 1, fine.args.scalars[1] = 3;
    fine.args.e = Cc;
    assert_ok(kiln_launch(ctx, fine.kernel, &fine.p, &fine.args, NULL));
    for (int i = 0; i < 24; i++) assert_true(Cc[i] == 16 + 3 * (float)i);
    assert_ok(kiln_reference(&fine.p, &fine.args));
    for (int i = 0; i < 24; i++) assert_true(Cc[i] == 64 + 9 * (float)i);

    static const char says[] = "overlaps c", what[] = "or exactly this input's: the same pointer, "
                                                      "type, layout, leading dimension and";
    BAD(s.args.e = Cc + 1, KILN_INVALID, what);
    BAD((s.p.e.ld = 7, s.args.e = Cc), KILN_INVALID, says);
    BAD((s.p.d[0].ld = 7, s.args.e = Cc), KILN_INVALID, says);
    BAD((s.p.batch = 2, s.p.e.batch_stride = 30, s.args.e = Cc), KILN_INVALID, says);
    BAD((s.p.batch = 2, s.p.d[0].batch_stride = KILN_BROADCAST, s.args.e = Cc), KILN_INVALID, says);
    BAD(s.args.e = A, KILN_INVALID, "give E memory of its own (only a full extra input may be E)");
    fine = good(); /* strides that nothing is at */
    fine.p.m = 1, fine.p.e.ld = 9, fine.p.e.batch_stride = 1000, fine.args.e = Cc;
    assert_ok(kiln_launch(ctx, fine.kernel, &fine.p, &fine.args, NULL));
    /* A vector as long as a row of E is no full input. */
    kiln_problem p = problem("bias_relu f32,f32,f32 rcr m=1 n=6 k=4");
    kiln_args args = {.struct_size = sizeof args, .a = A, .b = {B}, .d = {Cc}, .e = Cc};
    assert_error(kiln_launch(ctx, kernel_for(&p), &p, &args, NULL), KILN_INVALID, "overlaps bias");
}

static void test_zero_sizes(void **state)
{
    (void)state;
    static const char *const text[] = {"axpby f32,f32,f32 rrr m=0 n=6 k=8",
                                       "axpby f32,f32,f32 rrr m=4 n=0 k=8",
                                       "axpby f32,f32,f32 rrr m=0 n=0 k=0"};
    for (int i = 0; i < 3; i++) { /* nothing is touched, so every pointer may be NULL */
        const kiln_problem p = problem(text[i]);
        const kiln_args args = {.struct_size = sizeof args};
        assert_ok(kiln_launch(ctx, kernel_for(&p), &p, &args, NULL));
        assert_int_equal(kiln_workspace_size(kernel_for(&p), &p), 0);
    }
    /* K = 0: A and B are not touched. */
    const kiln_problem p = problem("axpby f32,f32,f32 rrr m=4 n=6 k=0");
    const kiln_args args = {.struct_size = sizeof args, .d = {Cc}, .e = E, .scalars = {1, 2}};
    for (int i = 0; i < 24; i++) Cc[i] = (float)i;
    assert_ok(kiln_launch(ctx, kernel_for(&p), &p, &args, NULL));
    for (int i = 0; i < 24; i++) assert_true(E[i] == 2 * (float)i);
}

static void test_workspace(void **state)
{
    (void)state;
    const kiln_problem p = problem("bias_relu f32,f32,f32 rcr m=2 n=2 k=1024"),
                       other = problem("axpby f32,f32,f32 rrr m=1 n=1 k=1");
    static float a[2048], b[2048], bias[2], e[4];
    _Alignas(256) static char workspace[512];
    const kiln_kernel *k = kernel_for(&p);
    assert_says(kr_kernel_name(k), "split_64");
    assert_int_equal(kiln_workspace_size(k, &p), 16);
    assert_int_equal(kiln_workspace_size(k, &other), SIZE_MAX);
    assert_int_equal(kiln_workspace_size(NULL, &p), SIZE_MAX);
    assert_int_equal(kiln_workspace_size(k, NULL), SIZE_MAX);
    kiln_problem small = p;
    small.k = 5;
    assert_int_equal(kiln_workspace_size(k, &small), SIZE_MAX);
    assert_says(kiln_error(), "K is less than 1024");
    kiln_args args = {.struct_size = sizeof args, .a = a, .b = {b}, .d = {bias}, .e = e};
    assert_error(kiln_launch(ctx, k, &small, &args, NULL), KILN_NOT_SUPPORTED,
                 "K is less than 1024");
    assert_error(kiln_launch(ctx, k, &p, &args, NULL), KILN_WORKSPACE,
                 "needs a workspace of 16 bytes (kiln_workspace_size) and gets 0");
    args.workspace_size = 100;
    assert_error(kiln_launch(ctx, k, &p, &args, NULL), KILN_WORKSPACE, "and gets 0");
    args.workspace = workspace;
    args.workspace_size = 15;
    assert_error(kiln_launch(ctx, k, &p, &args, NULL), KILN_WORKSPACE, "and gets 15");
    args.workspace = workspace + 128;
    args.workspace_size = 16;
    assert_error(kiln_launch(ctx, k, &p, &args, NULL), KILN_WORKSPACE, "not aligned to 256 bytes");
    args.workspace = workspace;
    assert_ok(kiln_launch(ctx, k, &p, &args, NULL));
    args.b[0] = workspace; /* would be overwritten while it is read */
    assert_error(kiln_launch(ctx, k, &p, &args, NULL), KILN_INVALID, "16 bytes) overlaps B (");
    args.b[0] = b;
    args.e = workspace + 12;
    assert_error(kiln_launch(ctx, k, &p, &args, NULL), KILN_INVALID, "16 bytes) overlaps E (");
    args.e = workspace + 16;
    assert_ok(kiln_launch(ctx, k, &p, &args, NULL));
}

/* ---- memory, streams, graphs ---- */

static void test_memory(void **state)
{
    (void)state;
    void *p = NULL, *stream = NULL;
    char in[100] = "text", out[100] = "";
    assert_ok(kiln_malloc(ctx, 100, &p));
    assert_int_equal((uintptr_t)p % 256, 0);
    assert_ok(kiln_upload(ctx, p, in, 100));
    assert_ok(kiln_download(ctx, out, p, 100));
    assert_string_equal(out, "text");
    assert_ok(kiln_free(ctx, p));
    assert_ok(kiln_malloc(ctx, 0, &p));
    assert_non_null(p);
    assert_ok(kiln_free(ctx, p));
    assert_ok(kiln_free(ctx, NULL));
    assert_status(kiln_malloc(ctx, SIZE_MAX, &p), KILN_NO_MEMORY);
    assert_null(p);
    assert_status(kiln_malloc(ctx, 8, NULL), KILN_INVALID);
    assert_status(kiln_malloc(NULL, 8, &p), KILN_INVALID);
    assert_status(kiln_upload(ctx, NULL, in, 8), KILN_INVALID);
    assert_status(kiln_download(ctx, out, NULL, 8), KILN_INVALID);
    assert_ok(kiln_upload(ctx, NULL, NULL, 0));
    assert_ok(kiln_stream_create(ctx, &stream));
    assert_ok(kiln_synchronize(ctx, stream));
    assert_ok(kiln_synchronize(ctx, NULL));
    assert_ok(kiln_stream_destroy(ctx, stream));
    assert_ok(kiln_stream_destroy(ctx, NULL));
}

static void test_graph(void **state)
{
    (void)state;
    void *stream, *graph = NULL;
    double seconds = -1;
    assert_ok(kiln_stream_create(ctx, &stream));
    assert_error(kiln_graph_begin(ctx, NULL), KILN_INVALID, "kiln_stream_create");
    assert_error(kiln_graph_end(ctx, stream, &graph), KILN_INVALID, "not being recorded");
    assert_ok(kiln_graph_begin(ctx, stream));
    assert_status(kiln_graph_begin(ctx, stream), KILN_INVALID);
    situation s = good();
    for (int i = 0; i < 72; i++) A[i] = B[i] = Cc[i] = 1;
    float first[24], second[24];
    s.args.e = first;
    memset(first, 0, sizeof first);
    memset(second, 0, sizeof second);
    for (int i = 0; i < 100; i++) assert_ok(kiln_launch(ctx, s.kernel, &s.p, &s.args, stream));
    s.args.d[0] = first; /* the second reads what the first wrote */
    s.args.e = second;
    assert_ok(kiln_launch(ctx, s.kernel, &s.p, &s.args, stream));
    assert_true(first[0] == 0); /* recorded, not run */
    assert_ok(kiln_graph_end(ctx, stream, &graph));
    assert_true(first[0] == 9 && second[0] == 17);
    memset(second, 0, sizeof second);
    assert_ok(kiln_graph_replay(ctx, graph, stream, &seconds));
    assert_true(second[5] == 17 && seconds >= 0 && seconds < 10);
    assert_ok(kiln_graph_replay(ctx, graph, stream, NULL));
    assert_ok(kiln_graph_destroy(ctx, graph));
    assert_ok(kiln_graph_destroy(ctx, NULL));
    assert_status(kiln_graph_replay(ctx, NULL, stream, NULL), KILN_INVALID);
    assert_ok(kiln_graph_begin(ctx, stream));
    assert_ok(kiln_stream_destroy(ctx, stream)); /* with its recording */
}

/* A stream of somebody else's is ignored by launches, and never followed. */
static void test_others_stream(void **state)
{
    (void)state;
    static char nobodys[64];
    void *const handle[] = {(void *)1, (void *)UINTPTR_MAX, nobodys};
    void *stream, *graph = NULL;
    situation s = good();
    memset(nobodys, 0xff, sizeof nobodys);
    assert_ok(kiln_stream_create(ctx, &stream));
    for (int recording = 0; recording < 2; recording++) {
        if (recording) assert_ok(kiln_graph_begin(ctx, stream));
        for (size_t i = 0; i < sizeof handle / sizeof *handle; i++) {
            E[0] = -1;
            assert_ok(kiln_launch(ctx, s.kernel, &s.p, &s.args, handle[i]));
            assert_true(E[0] == 9); /* A, B and c are ones */
            assert_ok(kiln_synchronize(ctx, handle[i]));
            assert_error(kiln_graph_begin(ctx, handle[i]), KILN_INVALID, "not a stream");
            assert_error(kiln_graph_end(ctx, handle[i], &graph), KILN_INVALID, "not a stream");
            assert_error(kiln_stream_destroy(ctx, handle[i]), KILN_INVALID, "not a stream");
        }
    }
    assert_ok(kiln_graph_end(ctx, stream, &graph));
    assert_ok(kiln_graph_destroy(ctx, graph));
    assert_ok(kiln_stream_destroy(ctx, stream));
    assert_error(kiln_stream_destroy(ctx, stream), KILN_INVALID,
                 "not a stream");                /* once is enough */
    assert_ok(kiln_stream_create(ctx, &stream)); /* goes with its context, recording or not */
    kiln_ctx *other = open_ctx("host");
    assert_ok(kiln_stream_create(other, &stream));
    assert_ok(kiln_graph_begin(other, stream));
    kiln_close(other);
}

static void test_nothing_is_allocated(void **state)
{
    (void)state;
    situation s = good();
    const kiln_kernel *k;
    assert_ok(kiln_launch(ctx, s.kernel, &s.p, &s.args, NULL));
    allocations = 0;
    for (int i = 1; i < 5000; i++) { /* the cache misses, hits and collides */
        s.p.e.ld = 6 + i % 100;
        s.p.k = i % 8;
        assert_ok(kiln_find(ctx, &s.p, &k));
    }
    s = good();
    for (int i = 0; i < 100; i++) assert_ok(kiln_launch(ctx, s.kernel, &s.p, &s.args, NULL));
    assert_int_equal(allocations, 0);
    void *p;
    assert_ok(kiln_malloc(ctx, 8, &p));
    free(malloc(8));
    if (COUNTED) assert_true(allocations > 0);
    assert_ok(kiln_free(ctx, p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_two_products),
        cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_zero_sizes),
        cmocka_unit_test(test_workspace),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_graph),
        cmocka_unit_test(test_others_stream),
        cmocka_unit_test(test_nothing_is_allocated),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
