// SPDX-License-Identifier: MIT
// The GPU path without a GPU: a stand-in driver (fake_driver.c), found as libcuda.so.1 and
// libamdhip64.so.6 through LD_LIBRARY_PATH, records what libkiln does and fails where the test
// wants it to.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <kiln_args.h>
#include <kiln_realign.h>
#include "driver.h"
#include "fake_driver.h"
#include "fixture_families.h"
#include "runtime_test.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static size_t allocations;
#else
static _Thread_local size_t allocations;
void *__libc_malloc(size_t);
void *malloc(size_t size)
{
    allocations++;
    return __libc_malloc(size);
}
#endif

static fake_state *fake, fresh;

static int set_up(void **state)
{
    (void)state;
    make_folder();
    install_fixture("host", "libkiln-host.so");
    install_fixture("sm90", "libkiln-sm_90a.so");
    install_fixture("gfx942", "libkiln-gfx942.so");
    void *dl = dlopen("libcuda.so.1", RTLD_NOW);
    fake = dl ? dlsym(dl, "fake_record") : NULL;
    if (!fake) return -1;
    fresh = *fake;
    return 0;
}

static int reset(void **state)
{
    (void)state;
    *fake = fresh;
    return 0;
}

static const char *target_of(kiln_ctx *ctx)
{
    static kiln_device_info dev;
    dev.struct_size = sizeof dev;
    assert_ok(kiln_device_describe(ctx, &dev));
    return dev.target;
}

/* ---- which device ---- */

static void test_detection(void **state)
{
    (void)state;
    kiln_device_info dev = {.struct_size = sizeof dev};
    kiln_ctx *ctx = open_ctx("nvidia");
    assert_ok(kiln_device_describe(ctx, &dev));
    assert_string_equal(dev.name, "Fake GPU 0");
    assert_string_equal(dev.vendor, "nvidia");
    assert_string_equal(dev.target, "sm_90a");
    assert_int_equal(dev.units, 132);
    assert_int_equal(dev.memory, 1u << 30);
    assert_int_equal(dev.l2, 50 << 20);
    assert_int_equal(dev.gbps, 4916);
    kiln_close(ctx);
    assert_int_equal(fake->retained, 1);
    assert_int_equal(fake->released, 1);
    for (int old = 0; old < 2; old++) {
        fake->old_properties = old; /* the struct's layout differs between versions */
        ctx = open_ctx("amd:0");
        assert_string_equal(target_of(ctx), "gfx942");
        kiln_close(ctx);
    }
    ctx = open_ctx(NULL); /* the best there is */
    assert_string_equal(target_of(ctx), "sm_90a");
    kiln_close(ctx);
    fake->major = 8; /* no module for sm_86: AMD's comes next */
    fake->minor = 6;
    ctx = open_ctx(NULL);
    assert_string_equal(target_of(ctx), "gfx942");
    kiln_close(ctx);
    fake->arch[0] = "gfx1030";
    ctx = open_ctx(NULL);
    assert_string_equal(target_of(ctx), "host");
    kiln_close(ctx);
    fake->arch[0] = NULL;
    ctx = open_ctx("amd");
    assert_string_equal(target_of(ctx), "");
    const kiln_problem p = problem("bias_relu f32,f32,f32 rcr m=1 n=1 k=1");
    const kiln_kernel *k;
    assert_error(kiln_find(ctx, &p, &k), KILN_NOT_SUPPORTED,
                 "and no target fits this device (Fake GPU 0)");
    kiln_close(ctx);
    ctx = open_ctx("nvidia"); /* asked for by name: opened, though nothing is compiled for it */
    assert_error(kiln_find(ctx, &p, &k), KILN_NOT_SUPPORTED, "run `make instances TARGETS=sm_86`");
    kiln_close(ctx);
}

static void test_devices_that_are_not_there(void **state)
{
    (void)state;
    kiln_ctx *ctx;
    kiln_config config = test_config("nvidia:3");
    assert_error(kiln_open(&ctx, &config), KILN_NO_DEVICE,
                 "nvidia:3 is not there: devices 0 to 0 are");
    fake->devices = 0;
    assert_error(kiln_open(&ctx, &config), KILN_NO_DEVICE,
                 "there is a driver for nvidia, but no device");
    config = test_config("gpu"); /* only those that are there are named */
    assert_status(kiln_open(&ctx, &config), KILN_INVALID);
    assert_null(strstr(kiln_error(), "nvidia:0"));
    fake->devices = 3;
    fake->arch[2] = "gfx90a";
    assert_error(kiln_open(&ctx, &config), KILN_INVALID,
                 "here there are: host, nvidia:0 (sm_90a), nvidia:1 (");
    assert_says(kiln_error(), ", amd:2 (gfx90a)");
    config = test_config("amd:2");
    assert_ok(kiln_open(&ctx, &config));
    assert_string_equal(target_of(ctx), "gfx90a");
    kiln_close(ctx);
    fake->fail = "cuDevicePrimaryCtxRetain";
    fake->fail_code = 2;
    config = test_config("nvidia");
    assert_error(kiln_open(&ctx, &config), KILN_NO_MEMORY,
                 "making a context: CUDA error 2: made-up error");
    fake->fail_code = 999;
    assert_error(kiln_open(&ctx, &config), KILN_DRIVER, "CUDA error 999: unknown");
    assert_null(ctx);
    fake->fail = "cuDeviceGetAttribute";
    assert_status(kiln_open(&ctx, &config), KILN_DRIVER);
}

/* ---- launching ---- */

static kiln_args arguments(void)
{
    /* Never dereferenced: made-up addresses, far apart. */
    return (kiln_args){.struct_size = sizeof(kiln_args),
                       .a = (void *)0x100000000,
                       .b = {(void *)0x200000000},
                       .d = {(void *)0x300000000},
                       .e = (void *)0x400000000,
                       .workspace = (void *)0x500000000,
                       .workspace_size = 1 << 30};
}

static const kiln_kernel *find(kiln_ctx *ctx, const kiln_problem *p)
{
    const kiln_kernel *k;
    assert_ok(kiln_find(ctx, p, &k));
    return k;
}

static void test_plain_launch(void **state)
{
    (void)state;
    static const char *const device[] = {"nvidia", "amd"};
    for (int i = 0; i < 2; i++) {
        reset(NULL);
        kiln_ctx *ctx = open_ctx(device[i]);
        const kiln_problem p =
            problem("axpby f32,f32,f32 rrr m=33 n=17 k=9 batch=3 sb=broadcast lda=12 ldd.c=20");
        kiln_args args = arguments();
        args.scalars[0] = 1.5f;
        args.scalars[1] = -2;
        assert_ok(kiln_launch(ctx, find(ctx, &p), &p, &args, (void *)0x77));
        assert_int_equal(fake->launches, 1);
        const fake_launch *l = &fake->launch[0];
        assert_int_equal(l->grid[0], 3);
        assert_int_equal(l->grid[1], 2);
        assert_int_equal(l->grid[2], 3);
        assert_int_equal(l->block[0], 256);
        assert_int_equal(l->lds, 1024);
        assert_ptr_equal(l->stream, (void *)0x77);
        assert_string_equal(l->function, "fixture_kernel");
        kiln_gemm_args g;
        memcpy(&g, l->args, sizeof g);
        assert_ptr_equal(g.a, args.a);
        assert_ptr_equal(g.b[0], args.b[0]);
        assert_ptr_equal(g.d[0], args.d[0]);
        assert_ptr_equal(g.e, args.e);
        assert_int_equal(g.m * 10000 + g.n * 100 + g.k, 331709);
        assert_int_equal(g.batch, 3);
        assert_int_equal(g.lda, 12);
        assert_int_equal(g.ldb, 17);
        assert_int_equal(g.ldd[0], 20);
        assert_int_equal(g.stride_a, 33 * 12);
        assert_int_equal(g.stride_b, 0);
        assert_int_equal(g.stride_e, 33 * 17);
        assert_int_equal(g.stride_d[0], 33 * 20);
        assert_true(g.s[0] == 1.5f && g.s[1] == -2);
        assert_int_equal(g.units, 132);
        assert_int_equal(fake->loads, 1);
        kiln_close(ctx);
        assert_int_equal(fake->unloads, 1);
    }
}

static void test_clusters_and_maps(void **state)
{
    (void)state;
    kiln_ctx *ctx = open_ctx("nvidia");
    const kiln_problem p =
        problem("bias_relu f32,f32,f32 rcr m=500 n=300 k=64 lda=72 batch=2 sb=broadcast align=256");
    kiln_args args = arguments();
    const kiln_kernel *k = find(ctx, &p);
    assert_says(kr_kernel_name(k), "wide_128");
    assert_ok(kiln_launch(ctx, k, &p, &args, NULL));
    const fake_launch *l = &fake->launch[0];
    assert_int_equal(l->cluster[0], 2);
    assert_int_equal(l->cluster[1], 1);
    assert_int_equal(l->lds, 160 * 1024);
    assert_int_equal(fake->function_attribute[8],
                     232448 - 1000); /* all the shared memory there is */
    assert_int_equal(fake->function_attribute[14], 1);
    assert_int_equal(fake->maps, 2);
    const fake_map *a = &fake->map[0], *b = &fake->map[1];
    assert_int_equal(a->type, 7);
    assert_int_equal(a->rank, 3);
    assert_ptr_equal(a->base, args.a);
    assert_int_equal(a->dim[0], 64);
    assert_int_equal(a->dim[1], 500);
    assert_int_equal(a->dim[2], 2);
    assert_int_equal(a->stride[0], 72 * 4);
    assert_int_equal(a->stride[1], 500 * 72 * 4);
    assert_int_equal(a->box[0] * 1000 + a->box[1],
                     32128); /* kiln_map: swizzle comes before the box */
    /* B's columns have 8 panels of 8 elements, of which a box has two, and the 44 columns that are
     * left over of boxes of 64; one B for all batches. */
    static const uint64_t size[] = {8, 300, 8, 1}, stride[] = {64 * 4, 8 * 4, 300 * 64 * 4};
    static const unsigned box[] = {8, 44, 2, 1};
    assert_int_equal(b->rank, 4);
    assert_memory_equal(b->dim, size, sizeof size);
    assert_memory_equal(b->stride, stride, sizeof stride);
    assert_memory_equal(b->box, box, sizeof box);
    assert_int_equal(l->map[1][0], 1); /* the second map is the second of the parameter */
    assert_int_equal(l->map[0][15] >> 56, 0x77);
    assert_int_equal(a->promotion, 2); /* 256 bytes but for lines that begin within 128 */
    assert_int_equal(b->promotion, 1);
    /* K = 0: maps of nothing are zero. */
    kiln_problem empty = p;
    empty.k = 0;
    args.a = NULL;
    args.b[0] = NULL;
    memset(fake->launch[1].map, 0xff, sizeof fake->launch[1].map);
    assert_ok(kiln_launch(ctx, k, &empty, &args, NULL));
    assert_int_equal(fake->maps, 2);
    assert_int_equal(fake->launch[1].map[0][0] | fake->launch[1].map[1][15], 0);
    args = arguments();
    fake->fail = "cuLaunchKernelEx";
    fake->fail_code = 1;
    assert_error(kiln_launch(ctx, k, &p, &args, NULL), KILN_DRIVER, "wide_128: CUDA error 1");
    kiln_close(ctx);
    ctx = open_ctx("amd"); /* no tensor maps there */
    assert_error(kiln_launch(ctx, find(ctx, &p), &p, &args, NULL), KILN_NOT_SUPPORTED,
                 "needs tensor maps");
    kiln_close(ctx);
}

/* What no map takes is copied to the workspace, at a pitch that one does. */
static void test_realigned(void **state)
{
    (void)state;
    kiln_ctx *ctx = open_ctx("nvidia");
    const kiln_problem p =
        problem("bias_relu f32,f32,f32 rcr m=500 n=300 k=64 ldb=66 batch=2 align=256");
    const kiln_kernel *k = find(ctx, &p);
    assert_says(kr_kernel_name(k), "wide_128");
    const size_t size = kiln_workspace_size(k, &p);
    assert_int_equal(size, 256 + 2 * 300 * 256 + 256);
    static _Alignas(256) char work[256 + 2 * 300 * 256 + 256];
    kiln_args args = arguments();
    args.workspace = NULL;
    assert_error(kiln_launch(ctx, k, &p, &args, NULL), KILN_WORKSPACE,
                 "needs a workspace of 154112");
    args.workspace = work;
    args.workspace_size = sizeof work;
    fake->fail = "cuModuleLoadData";
    fake->fail_code = 1;
    fake->fail_after = 0;
    assert_error(kiln_launch(ctx, k, &p, &args, NULL), KILN_DRIVER, KILN_REALIGN_SYMBOL);
    fake->fail = NULL;
    fake->loads = fake->launches = 0;
    assert_ok(kiln_launch(ctx, k, &p, &args, NULL));
    assert_int_equal(fake->loads, 2);
    assert_int_equal(fake->launches, 2);
    const fake_launch *copy = &fake->launch[0], *l = &fake->launch[1];
    assert_string_equal(copy->function, KILN_REALIGN_SYMBOL);
    assert_int_equal(copy->block[0], KILN_REALIGN_THREADS);
    /* 600 lines of 16 chunks, 16 lines to a block; the last ones of a batch leave threads idle. */
    assert_int_equal(copy->grid[0], 2 * 19);
    assert_int_equal(copy->grid[1] * 10 + copy->grid[2], 11);
    kiln_realign_args copies;
    memcpy(&copies, copy->args, sizeof copies < FAKE_ARGS ? sizeof copies : FAKE_ARGS);
    const kiln_realign_part *part = &copies.part[0];
    assert_int_equal(copies.chunks, 1);
    assert_int_equal(copies.parts, 1);
    assert_ptr_equal(part->from, args.b[0]);
    assert_ptr_equal(part->begin, args.b[0]);
    assert_ptr_equal(part->end, (char *)args.b[0] + (600 * 66 - 2) * 4);
    assert_ptr_equal(part->to, work + 256);
    assert_int_equal(part->from_pitch, 66 * 4);
    assert_int_equal(part->to_pitch, 64 * 4);
    assert_int_equal(part->from_stride, 300 * 66 * 4);
    assert_int_equal(part->to_stride, 300 * 64 * 4);
    assert_int_equal(part->bytes, 64 * 4);
    assert_int_equal(part->lines, 300);
    assert_int_equal(part->room, 64 * 4);
    assert_int_equal(part->chunks, 16);
    assert_int_equal(part->columns * 100 + part->rows, 1616);
    assert_int_equal(part->runs, 1);
    assert_int_equal(part->groups, 19);
    assert_int_equal(part->items, 2 * 19);
    assert_int_equal(part->first, 0);
    /* The kernel sees the copy, in its arguments and its map. */
    kiln_gemm_args g;
    memcpy(&g, l->args, sizeof g);
    assert_ptr_equal(g.a, args.a);
    assert_ptr_equal(g.b[0], work + 256);
    assert_int_equal(g.ldb, 64);
    assert_int_equal(g.stride_b, 300 * 64);
    assert_ptr_equal((void *)(uintptr_t)l->map[1][1], work + 256);
    /* It is loaded once, and not for a problem that needs none. */
    const kiln_problem aligned =
        problem("bias_relu f32,f32,f32 rcr m=500 n=300 k=64 batch=2 align=256");
    assert_int_equal(kiln_workspace_size(k, &aligned), 0);
    assert_ok(kiln_launch(ctx, k, &aligned, &args, NULL));
    assert_int_equal(fake->launches, 3);
    assert_int_equal(fake->loads, 2);
    fake->unloads = 0;
    kiln_close(ctx);
    assert_int_equal(fake->unloads, 2);
}

/* A store by a map writes whole pieces: without copies, E's lines must end at one. */
static void test_stores_behind_lines(void **state)
{
    (void)state;
    kiln_ctx *ctx = open_ctx("nvidia");
    const kiln_args args = arguments();
    kiln_problem p = problem("bias_relu f32,f32,f32 rrr m=500 n=302 k=64 lde=304 align=256");
    const kiln_kernel *k = find(ctx, &p);
    assert_says(kr_kernel_name(k), "rrr/wide_128");
    assert_int_equal(kiln_workspace_size(k, &p), 0);
    assert_error(kiln_launch(ctx, k, &p, &args, NULL), KILN_NOT_SUPPORTED,
                 "rrr/wide_128 writes E by tensor map: its lines must begin and end at multiples "
                 "of 16 bytes");
    assert_int_equal(fake->launches, 0);
    p.n = 304;
    assert_ok(kiln_launch(ctx, k, &p, &args, NULL));
    assert_int_equal(fake->launches, 1);
    assert_ptr_equal((void *)(uintptr_t)fake->launch[0].map[0][1], args.e);
    p.e.ld = 306; /* nor may they begin elsewhere */
    assert_error(kiln_launch(ctx, k, &p, &args, NULL), KILN_NOT_SUPPORTED,
                 "writes E by tensor map");
    kiln_close(ctx);
}

/* ---- tensor maps are encoded once per problem ---- */

static const char *const mapped = "bias_relu f32,f32,f32 rcr m=500 n=300 k=64 batch=2 align=256";

/* What the latest launch's map of A (0) or B (1) points to. */
static uintptr_t map_base(int map)
{
    return fake->launch[(fake->launches - 1) % FAKE_LAUNCHES].map[map][1];
}

/* Launches p with an A at `at`; how many maps were encoded and how many addresses replaced for it.
 */
static void launch_at(kiln_ctx *ctx, const kiln_problem *p, uintptr_t at, int encoded, int replaced)
{
    kiln_args args = arguments();
    const kiln_kernel *k = find(ctx, p);
    const int maps = fake->maps, addresses = fake->replaced;
    args.a = (void *)at;
    assert_says(kr_kernel_name(k), "wide_128");
    assert_ok(kiln_launch(ctx, k, p, &args, NULL));
    assert_int_equal(fake->maps - maps, encoded);
    assert_int_equal(fake->replaced - addresses, replaced);
    assert_int_equal(map_base(0), at);
    assert_ptr_equal((void *)map_base(1), args.b[0]);
    const uint64_t *a = fake->launch[(fake->launches - 1) % FAKE_LAUNCHES].map[0];
    assert_int_equal(a[2], p->k);
    assert_int_equal(a[3], p->m);
    assert_int_equal(a[15] >> 56, 0x77);
}

static void test_maps_are_kept(void **state)
{
    (void)state;
    kiln_ctx *ctx = open_ctx("nvidia");
    kiln_problem p = problem(mapped);
    const uintptr_t a = 0x100000000, other = 0x180000000;
    launch_at(ctx, &p, a, 2, 0);
    assert_int_equal(fake->map[0].promotion, 3); /* lines begin at multiples of 128 bytes */
    launch_at(ctx, &p, a, 0, 0);                 /* all as before */
    launch_at(ctx, &p, other, 0, 1);             /* another A: its address is replaced in a copy */
    launch_at(ctx, &p, a, 0, 0);                 /* ... that the kept one does not see */
    kiln_problem q = p; /* whatever else an encoding depends on makes another */
    q.m = 501;
    launch_at(ctx, &q, a, 1, 0); /* A's rows; B's are the same */
    q = p;
    q.k = 72;
    launch_at(ctx, &q, a, 2, 0);
    q = p;
    q.batch = 3;
    launch_at(ctx, &q, a, 2, 0);
    q = p;
    q.a.ld = 128;
    launch_at(ctx, &q, a, 1, 0);
    q = p;
    q.a.batch_stride = 500 * 128;
    launch_at(ctx, &q, a, 1, 0);
    q = p;
    q.a.batch_stride = KILN_BROADCAST;
    launch_at(ctx, &q, a, 1, 0);
    q = p;
    q.m = 100; /* A's box is clipped to its rows */
    launch_at(ctx, &q, a, 1, 0);
    q = problem("bias_relu f32,f32,f32 rcr m=500 n=300 k=64 batch=2 align=64");
    /* Lines begin within 128 bytes: less is fetched around them. */
    launch_at(ctx, &q, a + 64, 1, 0);
    launch_at(ctx, &p, a, 0, 0);
    kiln_close(ctx);
}

static void test_maps_without_replace(void **state)
{
    (void)state;
    kiln_ctx *ctx = open_ctx("nvidia");
    kr_driver old = *kr_driver_of(ctx->device);
    old.replace_address = NULL;
    ctx->device->driver = &old;
    const kiln_problem p = problem(mapped);
    launch_at(ctx, &p, 0x100000000, 2, 0);
    launch_at(ctx, &p, 0x180000000, 1, 0);
    launch_at(ctx, &p, 0x180000000, 0, 0);
    launch_at(ctx, &p, 0x100000000, 1, 0);
    kiln_close(ctx);
}

static void test_maps_fail(void **state)
{
    (void)state;
    kiln_ctx *ctx = open_ctx("nvidia");
    const kiln_problem p = problem(mapped);
    kiln_args args = arguments();
    fake->fail = "cuTensorMapEncodeTiled";
    fake->fail_code = 1;
    for (int i = 0; i < 2; i++) /* what failed is not kept */
        assert_error(kiln_launch(ctx, find(ctx, &p), &p, &args, NULL), KILN_DRIVER,
                     "wide_128: CUDA error 1");
    fake->fail = NULL;
    launch_at(ctx, &p, (uintptr_t)args.a, 2, 0);
    fake->fail = "cuTensorMapReplaceAddress";
    args.a = (void *)0x180000000;
    const int launches = fake->launches;
    assert_error(kiln_launch(ctx, find(ctx, &p), &p, &args, NULL), KILN_DRIVER,
                 "wide_128: CUDA error 1");
    assert_int_equal(fake->launches, launches);
    fake->fail = NULL;
    launch_at(ctx, &p, 0x180000000, 0, 1);
    kiln_close(ctx);
}

/* More problems than there are slots: the earlier ones are encoded again, correctly. */
static void test_maps_evicted(void **state)
{
    (void)state;
    kiln_ctx *ctx = open_ctx("nvidia");
    kiln_problem p = problem(mapped);
    kiln_args args = arguments();
    const kiln_kernel *k = find(ctx, &p);
    fake->check_maps = 1;
    enum { PROBLEMS = 3000 };
    for (int round = 0; round < 2; round++)
        for (p.m = 400; p.m < 400 + PROBLEMS; p.m++)
            assert_ok(kiln_launch(ctx, k, &p, &args, NULL));
    assert_int_equal(fake->wrong_maps, 0);
    assert_true(fake->maps >= 2 * PROBLEMS && fake->maps <= 2 * PROBLEMS + 64);
    /* Two dozen at a time stay, whatever was there before. */
    for (p.m = 500; p.m < 524; p.m++) assert_ok(kiln_launch(ctx, k, &p, &args, NULL));
    const int before = fake->maps;
    for (int round = 0; round < 50; round++)
        for (p.m = 500; p.m < 524; p.m++) assert_ok(kiln_launch(ctx, k, &p, &args, NULL));
    assert_true(fake->maps - before <= 24 * 2);
    assert_int_equal(fake->wrong_maps, 0);
    kiln_close(ctx);
}

/* What no map takes stays where it is where the map is optional, which is all zero then. */
static void test_optional_map(void **state)
{
    (void)state;
    kiln_ctx *ctx = open_ctx("nvidia");
    const kiln_problem p = problem("bias_relu f32,f32,f32 rcr m=500 n=300 k=64 ldb=66 align=256");
    const kiln_problem aligned = problem("bias_relu f32,f32,f32 rcr m=500 n=300 k=64 align=256");
    const kiln_kernel *k = find(ctx, &p);
    const kiln_module *t = k->module->table;
    kiln_map *m = (kiln_map *)(uintptr_t)&t->map[k->row->first_map + 1];
    make_writable(m, sizeof *m);
    m->optional = 1;
    const size_t size = kiln_workspace_size(k, &p);
    const kiln_args args = arguments();
    const kiln_status status = kiln_launch(ctx, k, &p, &args, NULL),
                      other = kiln_launch(ctx, k, &aligned, &args, NULL);
    m->optional = 0;
    assert_int_equal(size, 0);
    assert_ok(status);
    assert_ok(other);
    assert_int_equal(fake->launches, 2);
    for (int i = 0; i < 16; i++) assert_int_equal(fake->launch[0].map[1][i], 0);
    assert_ptr_equal((void *)(uintptr_t)fake->launch[1].map[1][1], args.b[0]);
    kiln_gemm_args g;
    memcpy(&g, fake->launch[0].args, sizeof g);
    assert_ptr_equal(g.b[0], args.b[0]);
    assert_int_equal(g.ldb, 66);
    kiln_close(ctx);
}

/* Boxes of a map that says so have no more rows than the operand, or those of the last box alone.
 */
static void test_clipped_boxes(void **state)
{
    (void)state;
    kiln_ctx *ctx = open_ctx("nvidia");
    static const int rows[] = {1, 127, 128, 129};
    for (int i = 0; i < 4; i++) {
        kiln_problem p = problem("bias_relu f32,f32,f32 rcr m=500 n=3 k=64 align=256");
        const kiln_args args = arguments();
        const kiln_kernel *k = find(ctx, &p);
        assert_says(kr_kernel_name(k), "wide_128");
        p.m = p.n = rows[i];
        assert_ok(kiln_launch(ctx, k, &p, &args, NULL));
        const fake_launch *l = &fake->launch[i];
        assert_int_equal(l->map[0][7] & UINT32_MAX, 32); /* the box */
        assert_int_equal(l->map[0][7] >> 32, rows[i] < 128 ? rows[i] : 128);
        assert_int_equal(l->map[0][3], rows[i]);
        assert_int_equal(l->map[1][7] >> 32, rows[i] % 64 ? rows[i] % 64 : 64);
    }
    kiln_close(ctx);
}

/* A stage that may begin early does so where the driver can do it, alone or in a cluster. */
static void test_early_stages(void **state)
{
    (void)state;
    const kiln_problem split = problem("bias_relu f32,f32,f32 rcr m=100 n=100 k=2048");
    const kiln_problem early = problem("bias_relu f32,f32,f32 rcr m=500 n=300 k=64 align=256");
    const kiln_args args = arguments();
    kiln_ctx *ctx = open_ctx("nvidia");
    assert_ok(kiln_launch(ctx, find(ctx, &split), &split, &args, NULL));
    assert_int_equal(fake->launches, 2);
    assert_int_equal(fake->launch[0].early, 0);
    assert_int_equal(fake->launch[1].early, 1);
    assert_int_equal(fake->launch[1].cluster[0], 1);
    assert_int_equal(fake->launch[1].grid[0], 7);
    assert_ok(kiln_launch(ctx, find(ctx, &early), &early, &args, NULL));
    assert_int_equal(fake->launch[2].cluster[0], 2);
    assert_int_equal(fake->launch[2].early, 1);
    kr_driver old = *kr_driver_of(ctx->device);
    old.early = false; /* before CUDA 12.3 */
    ctx->device->driver = &old;
    assert_ok(kiln_launch(ctx, find(ctx, &early), &early, &args, NULL));
    assert_int_equal(fake->launch[3].cluster[0], 2);
    assert_int_equal(fake->launch[3].early, 0);
    kiln_close(ctx);
    ctx = open_ctx("amd");
    assert_ok(kiln_launch(ctx, find(ctx, &split), &split, &args, NULL));
    assert_int_equal(fake->launches, 6);
    assert_int_equal(fake->launch[5].early, 0);
    kiln_close(ctx);
}

static void test_two_stages(void **state)
{
    (void)state;
    kiln_ctx *ctx = open_ctx("amd");
    const kiln_problem p = problem("bias_relu f32,f32,f32 rcr m=100 n=100 k=2048");
    const kiln_args args = arguments();
    assert_ok(kiln_launch(ctx, find(ctx, &p), &p, &args, NULL));
    assert_int_equal(fake->launches, 2);
    assert_string_equal(fake->launch[0].function, "fixture_kernel");
    assert_string_equal(fake->launch[1].function, "fixture_kernel_2");
    assert_int_equal(fake->launch[1].grid[0], 7);
    assert_int_equal(fake->launch[1].block[0], 64);
    kiln_gemm_args g;
    memcpy(&g, fake->launch[1].args, sizeof g);
    assert_ptr_equal(g.workspace, args.workspace);
    const kiln_problem whole = problem("bias_relu f32,f32,f32 rcr m=100 n=100 k=4096");
    assert_ok(kiln_launch(ctx, find(ctx, &whole), &whole, &args, NULL));
    assert_int_equal(fake->launches, 3); /* the second stage has no blocks */
    assert_string_equal(fake->launch[2].function, "fixture_kernel");
    const kiln_problem none = problem("bias_relu f32,f32,f32 rcr m=100 n=0 k=2048");
    assert_ok(kiln_launch(ctx, find(ctx, &none), &none, &args, NULL));
    assert_int_equal(fake->launches, 3);
    kiln_close(ctx);
}

static void test_capture(void **state)
{
    (void)state;
    static const char *const device[] = {"nvidia", "amd"};
    for (int i = 0; i < 2; i++) {
        reset(NULL);
        kiln_ctx *ctx = open_ctx(device[i]);
        const kiln_problem p = problem("axpby f32,f32,f32 rrr m=3 n=3 k=3");
        const kiln_args args = arguments();
        void *stream, *graph;
        double seconds;
        assert_ok(kiln_stream_create(ctx, &stream));
        assert_error(kiln_graph_begin(ctx, NULL), KILN_INVALID, "kiln_stream_create");
        assert_ok(kiln_graph_begin(ctx, stream));
        assert_int_equal(fake->capturing, 1);
        fake->capture_mode = 1; /* the capture's; loading code must run relaxed and put it back */
        assert_ok(kiln_launch(ctx, find(ctx, &p), &p, &args, stream));
        assert_int_equal(fake->worst_mode_at_load, -1);
        assert_int_equal(fake->loads, 1);
        assert_int_equal(fake->capture_mode, 1);
        assert_ok(kiln_graph_end(ctx, stream, &graph));
        assert_ok(kiln_graph_replay(ctx, graph, stream, &seconds));
        assert_true(seconds == 0.002);
        assert_ok(kiln_graph_replay(ctx, graph, stream, NULL));
        assert_int_equal(fake->graph_launches, 2);
        assert_ok(kiln_graph_destroy(ctx, graph));
        assert_ok(kiln_graph_begin(ctx, stream));
        fake->fail = i ? "hipGraphInstantiate" : "cuGraphInstantiateWithFlags";
        fake->fail_code = 2;
        assert_error(kiln_graph_end(ctx, stream, &graph), KILN_NO_MEMORY, "kiln_graph_end");
        assert_null(graph);
        assert_ok(kiln_stream_destroy(ctx, stream));
        kiln_close(ctx);
    }
}

/* KILN_TUNE leaves captures alone: it waits for those that it would spoil, and runs beside others
 * in relaxed mode.  What executes nothing computes nothing right: the model's choice stays. */
static void test_tuning_and_captures(void **state)
{
    (void)state;
    static const char *const spec[] = {"nvidia", "amd"};
    const kiln_problem p = problem("bias_relu f32,f32,f32 rcr m=8 n=8 k=8");
    for (int i = 0; i < 2; i++) {
        const kiln_kernel *k, *model, *again;
        void *stream, *graph;
        reset(state);
        setenv("KILN_TUNE", "first:0.05s", 1);
        kiln_ctx *ctx = open_ctx(spec[i]);
        unsetenv("KILN_TUNE");
        assert_null(kiln_refused_at(ctx, 0));
        fake->capture_mode = 1;
        fake->other_capture = 1;
        assert_ok(kiln_find(ctx, &p, &model));
        assert_int_equal(fake->loads, 0);
        assert_int_equal(fake->capture_mode, 1);
        fake->other_capture = 0;
        assert_ok(kiln_stream_create(ctx, &stream));
        assert_ok(kiln_graph_begin(ctx, stream));
        assert_ok(kiln_find(ctx, &p, &k));
        assert_int_equal(fake->loads, 0);
        assert_ok(kiln_graph_end(ctx, stream, &graph));
        assert_ok(kiln_find(ctx, &p, &k)); /* now it is tuned */
        const int loads = fake->loads;
        assert_true(loads > 0);
        assert_int_equal(fake->worst_mode_at_load, -1);
        assert_int_equal(fake->capture_mode, 1);
        assert_ptr_equal(k, model);
        assert_ok(kiln_find(ctx, &p, &again)); /* and not again, nor what is near it */
        assert_ptr_equal(again, model);
        assert_int_equal(fake->loads, loads);
        kiln_graph_destroy(ctx, graph);
        kiln_stream_destroy(ctx, stream);
        kiln_close(ctx);
    }
}

static void test_loading_fails(void **state)
{
    (void)state;
    kiln_ctx *ctx = open_ctx("nvidia");
    const kiln_problem p = problem("axpby f32,f32,f32 rrr m=3 n=3 k=3"),
                       q = problem("swiglu f32,f32,f32 rcr m=3 n=3 k=3");
    kiln_args args = arguments();
    args.b[1] = (void *)0x600000000;
    fake->fail = "cuModuleLoadData";
    fake->fail_code = 200;
    fake->capture_mode = 1;
    assert_error(kiln_launch(ctx, find(ctx, &p), &p, &args, NULL), KILN_BAD_MODULE,
                 "sm_90a/axpby/f32_f32_f32/rrr/plain_16: CUDA error 200: made-up image error");
    assert_int_equal(fake->capture_mode, 1);
    fake->fail = NULL; /* neither this kernel nor another one is spoilt by it */
    assert_ok(kiln_launch(ctx, find(ctx, &q), &q, &args, NULL));
    assert_ok(kiln_launch(ctx, find(ctx, &p), &p, &args, NULL));
    kiln_close(ctx);
    ctx = open_ctx("nvidia");
    fake->fail = "cuModuleGetFunction";
    fake->fail_code = 500;
    fake->unloads = 0;
    assert_error(kiln_prepare(ctx, find(ctx, &p)), KILN_DRIVER, "CUDA error 500");
    assert_int_equal(fake->unloads, 1); /* nothing is left loaded */
    kiln_close(ctx);
}

/* The first of them loads it, for both. */
static void test_kernels_of_one_object(void **state)
{
    (void)state;
    kiln_ctx *ctx = open_ctx("nvidia");
    const kiln_problem p = problem("axpby f32,f32,f32 rrr m=3 n=3 k=3"),
                       q = problem("swiglu f32,f32,f32 rcr m=3 n=3 k=3"),
                       r = problem("bias_relu f32,f32,f32 rcr m=3 n=3 k=3");
    fake->loads = fake->unloads = 0;
    assert_ok(kiln_prepare(ctx, find(ctx, &q)));
    assert_int_equal(fake->loads, 1);
    fake->fail = "cuModuleGetFunction"; /* of the second: the first keeps what is loaded */
    fake->fail_code = 500;
    assert_error(kiln_prepare(ctx, find(ctx, &p)), KILN_DRIVER, "CUDA error 500");
    fake->fail = NULL;
    assert_int_equal(fake->unloads, 0);
    assert_ok(kiln_prepare(ctx, find(ctx, &p)));
    assert_int_equal(fake->loads, 1);
    assert_ok(kiln_prepare(ctx, find(ctx, &r)));
    assert_int_equal(fake->loads, 2);
    kiln_close(ctx);
    assert_int_equal(fake->unloads, 2);
}

static void test_damaged_code(void **state)
{
    (void)state;
    bytes b = sealed_fixture("sm90");
    uint8_t *mark = memmem(b.p, b.size, FIXTURE_CODE_MARK, sizeof FIXTURE_CODE_MARK);
    assert_non_null(mark);
    mark[16 + 64 * 6 + 5] ^= 4; /* axpby's object; its place is not in the seal's hash */
    write_bytes("libkiln-sm_90a.so", b.p, b.size);
    kiln_ctx *ctx = open_ctx("nvidia");
    assert_null(kiln_refused_at(ctx, 0));
    const kiln_problem p = problem("axpby f32,f32,f32 rrr m=3 n=3 k=3"),
                       q = problem("bias_relu f32,f32,f32 rcr m=3 n=3 k=3");
    const kiln_args args = arguments();
    const int loads = fake->loads;
    assert_error(kiln_launch(ctx, find(ctx, &p), &p, &args, NULL), KILN_BAD_MODULE,
                 "sm_90a/axpby/f32_f32_f32/rrr/plain_16: its code object in /");
    assert_says(kiln_error(), "/libkiln-sm_90a.so is damaged");
    assert_int_equal(fake->loads, loads); /* the driver never sees it */
    assert_ok(kiln_launch(ctx, find(ctx, &q), &q, &args, NULL));
    kiln_close(ctx);
    free(b.p);
    install_fixture("sm90", "libkiln-sm_90a.so");
}

static void test_every_call_may_fail(void **state)
{
    (void)state;
    kiln_ctx *ctx = open_ctx("nvidia");
    const kiln_problem p = problem("axpby f32,f32,f32 rrr m=3 n=3 k=3");
    const kiln_args args = arguments();
    void *x = NULL;
    char byte = 0;
    assert_ok(kiln_malloc(ctx, 10, &x));
    assert_ok(kiln_upload(ctx, x, &byte, 1));
    fake->fail_code = 700;
#define FAILS(name, call)                                                                          \
    do {                                                                                           \
        fake->fail = name;                                                                         \
        assert_error(call, KILN_DRIVER, "CUDA error 700: made-up error");                          \
        fake->fail = NULL;                                                                         \
    } while (0)
    FAILS("cuLaunchKernel", kiln_launch(ctx, find(ctx, &p), &p, &args, NULL));
    FAILS("cuCtxGetCurrent", kiln_launch(ctx, find(ctx, &p), &p, &args, NULL));
    FAILS("cuCtxPushCurrent_v2", kiln_launch(ctx, find(ctx, &p), &p, &args, NULL));
    FAILS("cuMemcpyHtoDAsync_v2", kiln_upload(ctx, x, &byte, 1));
    FAILS("cuMemcpyDtoHAsync_v2", kiln_download(ctx, &byte, x, 1));
    FAILS("cuStreamSynchronize", kiln_upload(ctx, x, &byte, 1));
    FAILS("cuStreamSynchronize", kiln_synchronize(ctx, NULL));
    FAILS("cuStreamCreate", kiln_stream_create(ctx, &(void *){NULL}));
    FAILS("cuStreamBeginCapture_v2", kiln_graph_begin(ctx, x));
    FAILS("cuMemFree_v2", kiln_free(ctx, x));
    FAILS("cuMemAlloc_v2", kiln_malloc(ctx, 10, &(void *){NULL}));
    fake->fail_code = 2;
    fake->fail = "cuMemAlloc_v2";
    assert_status(kiln_malloc(ctx, 10, &(void *){NULL}), KILN_NO_MEMORY);
    fake->fail = NULL;
    assert_ok(kiln_free(ctx, x));
    kiln_close(ctx);
}

/* The caller's current device is left as it was. */
static void test_current_device(void **state)
{
    (void)state;
    kiln_ctx *ctx = open_ctx("nvidia");
    fake->current = (void *)0x1234;
    void *p;
    assert_ok(kiln_malloc(ctx, 8, &p));
    assert_int_equal(fake->pushes, 1);
    assert_int_equal(fake->pops, 1);
    assert_ptr_equal(fake->current, (void *)0x1234);
    fake->current = ctx->device->context; /* already current: nothing to switch */
    assert_ok(kiln_free(ctx, p));
    assert_int_equal(fake->pushes, 1);
    kiln_close(ctx);
    fake->devices = 2;
    fake->arch[1] = "gfx942";
    ctx = open_ctx("amd:1");
    fake->set_device = 0;
    assert_ok(kiln_malloc(ctx, 8, &p));
    assert_ok(kiln_free(ctx, p));
    assert_int_equal(fake->set_device, 0);
    kiln_close(ctx);
}

static void test_launch_allocates_nothing(void **state)
{
    (void)state;
    static const char *const text[] = {"axpby f32,f32,f32 rrr m=3 n=3 k=3",
                                       "bias_relu f32,f32,f32 rcr m=64 n=64 k=64 align=256"};
    kiln_ctx *ctx = open_ctx("nvidia");
    for (int i = 0; i < 2; i++) {
        const kiln_problem p = problem(text[i]);
        const kiln_args args = arguments();
        const kiln_kernel *k = find(ctx, &p);
        assert_ok(kiln_launch(ctx, k, &p, &args, NULL));
        const size_t before = allocations;
        const int synchronized = fake->calls;
        for (int n = 0; n < 50; n++) assert_ok(kiln_launch(ctx, k, &p, &args, NULL));
        assert_int_equal(allocations, before);
        /* Making the context current and the launch: nothing that waits, no map made again. */
        assert_int_equal(fake->calls - synchronized, 50 * 3);
    }
    kiln_close(ctx);
}

static kiln_ctx *shared;

/* Problems and addresses of its own and of others', by turns. */
static void *launch_many(void *arg)
{
    const unsigned me = *(unsigned *)arg;
    kiln_problem p = problem(mapped);
    kiln_args args = arguments();
    const kiln_kernel *k = find(shared, &p);
    for (unsigned i = 0; i < 4000; i++) {
        const unsigned r = (i * 2654435761u + me * 40503u) >> 7;
        p.m = 400 + (i % 16 == 0 ? r % 2000 : r % 8);
        args.a = (void *)(uintptr_t)(0x100000000 + (r % 5) * 0x1000000);
        if (kiln_launch(shared, k, &p, &args, NULL)) return NULL;
    }
    *(unsigned *)arg = 99;
    return NULL;
}

static void test_maps_of_many_threads(void **state)
{
    (void)state;
    shared = open_ctx("nvidia");
    kr_maps_free(shared->device->maps);
    shared->device->maps = kr_maps_new(1); /* two maps: written all the time */
    const kiln_problem p = problem(mapped);
    assert_ok(kiln_prepare(shared, find(shared, &p)));
    fake->check_maps = 1;
    fake->current = shared->device->context; /* the stand-in has one for all threads */
    pthread_t id[8];
    unsigned ok[8];
    for (unsigned i = 0; i < 8; i++) {
        ok[i] = i;
        pthread_create(&id[i], NULL, launch_many, &ok[i]);
    }
    for (int i = 0; i < 8; i++) pthread_join(id[i], NULL);
    for (int i = 0; i < 8; i++) assert_int_equal(ok[i], 99);
    assert_int_equal(fake->launches, 8 * 4000);
    assert_int_equal(fake->wrong_maps, 0);
    assert_true(fake->maps > 4000);
    kiln_close(shared);
}

static void *first_launch(void *arg)
{
    kiln_problem p;
    const kiln_kernel *k;
    const kiln_args args = arguments();
    const bool ok = kiln_problem_parse("axpby f32,f32,f32 rrr m=3 n=3 k=3", &p) == KILN_OK &&
                    kiln_find(shared, &p, &k) == KILN_OK && kiln_prepare(shared, k) == KILN_OK;
    (void)args;
    *(bool *)arg = ok;
    return NULL;
}

/* Eight threads load one kernel at once: it is loaded once. */
static void test_concurrent_first_use(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        reset(NULL);
        shared = open_ctx("amd");
        pthread_t id[8];
        bool ok[8];
        for (int i = 0; i < 8; i++) pthread_create(&id[i], NULL, first_launch, &ok[i]);
        for (int i = 0; i < 8; i++) pthread_join(id[i], NULL);
        for (int i = 0; i < 8; i++) assert_true(ok[i]);
        assert_int_equal(fake->loads, 1);
        kiln_close(shared);
    }
}

int main(int argc, char **argv)
{
    const char *path = getenv("LD_LIBRARY_PATH");
    const char *folder = KILN_TEST_BUILD "/tests/fake";
    (void)argc;
    if (!path || strncmp(path, folder, strlen(folder)) !=
                     0) { /* the linker reads it when a program starts */
        setenv("LD_LIBRARY_PATH", folder, 1);
        execv("/proc/self/exe", argv);
        return 1;
    }
#define TEST(f) cmocka_unit_test_setup(f, reset)
    const struct CMUnitTest tests[] = {
        TEST(test_detection),
        TEST(test_devices_that_are_not_there),
        TEST(test_plain_launch),
        TEST(test_clusters_and_maps),
        TEST(test_realigned),
        TEST(test_stores_behind_lines),
        TEST(test_maps_are_kept),
        TEST(test_maps_without_replace),
        TEST(test_maps_fail),
        TEST(test_maps_evicted),
        TEST(test_maps_of_many_threads),
        TEST(test_optional_map),
        TEST(test_clipped_boxes),
        TEST(test_early_stages),
        TEST(test_two_stages),
        TEST(test_capture),
        TEST(test_tuning_and_captures),
        TEST(test_loading_fails),
        TEST(test_kernels_of_one_object),
        TEST(test_damaged_code),
        TEST(test_every_call_may_fail),
        TEST(test_current_device),
        TEST(test_launch_allocates_nothing),
        TEST(test_concurrent_first_use),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
