// SPDX-License-Identifier: MIT
// Module files: what is opened and found, and that no damage to a file gets past the seal, the
// table's checks or the code objects' own hashes; whatever is refused is refused by name and the
// rest keeps working.
#define _GNU_SOURCE
#include <sys/stat.h>
#include "fixture_families.h"
#include "runtime_test.h"

static bytes whole; /* the host's fixture, sealed */

static int set_up(void **state)
{
    (void)state;
    make_folder();
    whole = sealed_fixture("host");
    write_bytes("libkiln-host.so", whole.p, whole.size);
    install_fixture("sm90", "libkiln-sm_90a.so");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(whole.p);
    return 0;
}

static size_t count_refused(kiln_ctx *ctx)
{
    size_t n = 0;
    while (kiln_refused_at(ctx, n)) n++;
    return n;
}

static size_t count_kernels(kiln_ctx *ctx)
{
    size_t n = 0;
    const kiln_kernel *k;
    while (kiln_kernel_at(ctx, n, &k) == KILN_OK) n++;
    return n;
}

/* Opens with one more file in the folder, which must be refused in words that contain both texts.
 */
static void refused_with(const char *file, const char *why)
{
    kiln_ctx *ctx = open_ctx("host");
    assert_int_equal(count_refused(ctx), 1);
    assert_says(kiln_refused_at(ctx, 0), file);
    assert_says(kiln_refused_at(ctx, 0), why);
    assert_int_equal(count_kernels(ctx), 20);
    const kiln_problem p = problem("bias_relu f32,f32,f32 rcr m=1 n=1 k=1");
    const kiln_kernel *k;
    assert_ok(kiln_find(ctx, &p, &k));
    kiln_close(ctx);
}

static void test_opened(void **state)
{
    (void)state;
    write_bytes("libkiln-ignored.txt", "x", 1);
    write_bytes("other.so", "x", 1);
    kiln_ctx *ctx = open_ctx("host");
    assert_int_equal(count_refused(ctx), 0);
    assert_int_equal(count_kernels(ctx), 20);
    assert_null(kiln_refused_at(ctx, 5));
    assert_true(kiln_registry_id(ctx) != 0);

    const kiln_kernel *k;
    assert_ok(kiln_kernel_by_name(ctx, "sm_90a/bias_relu/f32_f32_f32/rcr/wide_128", &k));
    kiln_kernel_info info = {.struct_size = sizeof info};
    assert_ok(kiln_kernel_describe(k, &info));
    assert_string_equal(info.op, "bias_relu");
    assert_string_equal(info.target, "sm_90a");
    assert_string_equal(info.schedule, "wide");
    assert_string_equal(info.file, "instances/fixture.lua");
    assert_int_equal(info.line, 3);
    assert_int_equal(info.nvalues, 2);
    assert_int_equal(info.ntunables, 1);
    assert_string_equal(info.value_name[1], "cost");
    assert_int_equal(info.value[0], 128);
    assert_int_equal(info.code_size, 64);
    assert_non_null(info.code);
    assert_int_equal(info.nsymbols, 1);
    assert_string_equal(info.symbol[0], "fixture_kernel");
    assert_int_equal(info.runnable, 0);
    assert_ok(kiln_kernel_by_name(ctx, "host/bias_relu/f32_f32_f32/rcr/wide_128", &k));
    assert_ok(kiln_kernel_describe(k, &info));
    assert_int_equal(info.runnable, 1);
    assert_null(info.code);
    assert_status(kiln_kernel_by_name(ctx, "host/nothing", &k), KILN_NOT_FOUND);
    assert_null(k);

    kiln_op_info op = {.struct_size = sizeof op};
    assert_ok(kiln_op_describe(ctx, "dequant", &op));
    assert_int_equal(op.nd, 2);
    assert_string_equal(op.d_name[0], "scale");
    assert_int_equal(op.d_kind[0], KILN_D_PER_ROW);
    assert_ok(kiln_op_describe(ctx, "swiglu", &op));
    assert_int_equal(op.products, 2);
    assert_string_equal(op.b_name[1], "up");
    assert_true(op.rtol == 1e-5f);
    assert_ok(kiln_op_describe(ctx, "bias_relu", &op));
    assert_int_equal(op.nshapes, 2);
    assert_int_equal(op.shapes[0][2], 9);
    assert_status(kiln_op_describe(ctx, "nothing", &op), KILN_NOT_FOUND);
    size_t len = 0;
    assert_status(kiln_op_text(ctx, "nothing", NULL, &len), KILN_NOT_FOUND);
    assert_status(kiln_op_text(ctx, NULL, NULL, &len), KILN_INVALID);
    assert_ok(kiln_op_text(ctx, "bias_relu", NULL, &len));
    char part[4];
    assert_status(kiln_op_text(ctx, "bias_relu", part, &(size_t){sizeof part}), KILN_TRUNCATED);
    assert_text(ctx, "bias_relu", "epilogue:\n    e = relu(acc + d.bias)\n");
    assert_text(ctx, "axpby", "epilogue:\n    e = acc * s.alpha + d.c * s.beta\n");
    assert_text(ctx, "swiglu", "epilogue:\n    e = silu(acc.gate) * acc.up\n");
    assert_text(ctx, "dequant",
                "epilogue:\n    e = acc * d.scale + d.zero\na_op:\n    return x * 2\n"
                "b_op:\n    return (x - 3) * 0.3\n");

    kiln_device_info dev = {.struct_size = sizeof dev};
    assert_ok(kiln_device_describe(ctx, &dev));
    assert_string_equal(dev.target, "host");
    assert_int_equal(dev.units, 2);
    assert_true(dev.memory > 0);
    kiln_close(ctx);
    remove_file("libkiln-ignored.txt");
    remove_file("other.so");
}

static void test_truncated(void **state)
{
    (void)state;
    for (size_t part = 0; part <= 16; part++) {
        const size_t size = part == 16 ? whole.size - 1 : whole.size * part / 16;
        write_bytes("libkiln-cut.so", whole.p, size);
        refused_with("libkiln-cut.so", size == 0 ? "empty" : "build it again");
    }
    remove_file("libkiln-cut.so");
}

static void test_not_modules(void **state)
{
    (void)state;
    char path[400];
    bytes b = {calloc(1, 64), 32};
    strcpy((char *)b.p, "this is no module");
    write_bytes("libkiln-text.so", b.p, b.size);
    refused_with("libkiln-text.so", "never sealed");
    seal_bytes(&b);
    write_bytes("libkiln-text.so", b.p, b.size);
    refused_with("libkiln-text.so", "the dynamic linker refused it");
    free(b.p);
    remove_file("libkiln-text.so");

    snprintf(path, sizeof path, "%s/libkiln-folder.so", test_folder);
    assert_int_equal(mkdir(path, 0700), 0);
    refused_with("libkiln-folder.so", "no plain file");
    rmdir(path);
    snprintf(path, sizeof path, "%s/libkiln-pipe.so", test_folder);
    assert_int_equal(mkfifo(path, 0600), 0); /* opening one waits for who writes */
    refused_with("libkiln-pipe.so", "no plain file");
    remove_file("libkiln-pipe.so");
    snprintf(path, sizeof path, "%s/libkiln-link.so", test_folder);
    assert_int_equal(symlink("nowhere", path), 0);
    refused_with("libkiln-link.so", "No such file");
    unlink(path);
}

static void test_other_versions(void **state)
{
    (void)state;
    install_fixture("abi", "libkiln-other.so");
    refused_with("libkiln-other.so", "made for module ABI 99, this libkiln reads");
    install_fixture("version", "libkiln-other.so");
    refused_with("libkiln-other.so", "made by kiln-gen 9.9.9, this is libkiln " KILN_VERSION);
    remove_file("libkiln-other.so");
}

/* A flip anywhere outside the code objects is caught before the linker sees the file. */
static void test_bit_flips(void **state)
{
    (void)state;
    uint64_t random = 0x9e3779b97f4a7c15ull;
    const kiln_config config = test_config("host");
    bytes copy = {malloc(whole.size), whole.size};
    for (int i = 0; i < 1000; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        const size_t bit = random % (whole.size * 8);
        memcpy(copy.p, whole.p, whole.size);
        copy.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
        write_bytes("libkiln-host.so", copy.p, copy.size);
        kiln_ctx *ctx;
        assert_ok(kiln_open(&ctx, &config));
        if (count_refused(ctx) != 1) fail_msg("bit %zu was not noticed", bit);
        assert_says(kiln_refused_at(ctx, 0), "libkiln-host.so");
        assert_int_equal(count_kernels(ctx), 10);
        kiln_close(ctx);
    }
    free(copy.p);
    write_bytes("libkiln-host.so", whole.p, whole.size);
}

/* Random bytes written into the table and sealed anew: the checks behind the seal must stand alone.
 */
static void test_resealed_damage(void **state)
{
    (void)state;
    uint64_t random = 0x243f6a8885a308d3ull;
    bytes plain = sealed_fixture("host");
    plain.size -= sizeof(kiln_seal);
    /* The string pool: offsets and names; the file's own headers are the linker's business. */
    uint8_t *pool = memmem(plain.p, plain.size, "instances/fixture.lua", 21);
    assert_non_null(pool);
    bytes copy = {malloc(plain.size + sizeof(kiln_seal)), 0};
    for (int i = 0; i < 300; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        memcpy(copy.p, plain.p, plain.size);
        copy.size = plain.size;
        copy.p[(size_t)(pool - plain.p) + random % 600] = (uint8_t)(random >> 32);
        seal_bytes(&copy);
        write_bytes("libkiln-host.so", copy.p, copy.size);
        const kiln_config config = test_config("host");
        kiln_ctx *ctx;
        assert_ok(kiln_open(&ctx, &config));
        const kiln_problem p = problem("bias_relu f32,f32,f32 rcr m=1 n=1 k=1");
        const kiln_kernel *k;
        const kiln_status status = kiln_find(ctx, &p, &k);
        assert_true(status == KILN_OK || status == KILN_NOT_FOUND || status == KILN_NOT_SUPPORTED);
        kiln_close(ctx);
    }
    free(copy.p);
    free(plain.p);
    write_bytes("libkiln-host.so", whole.p, whole.size);
}

/* Fields of a table one at a time: each wrong one is noticed by the checks behind the seal. */
#define SPOIL(lvalue, bad)                                                                         \
    do {                                                                                           \
        __typeof__(lvalue) *field_ = &(lvalue);                                                    \
        const __typeof__(lvalue) good_ = *field_;                                                  \
        *field_ = (__typeof__(lvalue))(bad);                                                       \
        if (kr_table_check("table", t) != KILN_BAD_MODULE)                                         \
            fail_msg("%s = %s was not noticed", #lvalue, #bad);                                    \
        *field_ = good_;                                                                           \
        assert_ok(kr_table_check("table", t));                                                     \
    } while (0)

static void spoil_header(kiln_module *t)
{
    SPOIL(t->magic, 0);
    SPOIL(t->abi_version, KILN_ABI_VERSION - 1);
    SPOIL(t->size, 8);
    SPOIL(t->row_size, 8);
    SPOIL(t->op_size, 8);
    SPOIL(t->family_size, 8);
    SPOIL(t->nfamilies, 0);
    SPOIL(t->nfamilies, 1u << 30);
    SPOIL(t->families, NULL);
    SPOIL(t->target, 0);
    SPOIL(t->target, 1u << 31);
    SPOIL(t->version, 1u << 31);
    SPOIL(t->nrows, 1u << 30);
    SPOIL(t->nops, 1u << 30);
    SPOIL(t->nops, 1);
    SPOIL(t->nschedules, 1u << 30);
    SPOIL(t->nnodes, 1u << 30);
    SPOIL(t->nnodes, 3);
    SPOIL(t->nshapes, 1u << 30);
    SPOIL(t->nshapes, 1);
    SPOIL(t->nhost_fns, 1);
    SPOIL(t->strings_size, 0);
    SPOIL(t->strings_size, 100);
    SPOIL(t->strings_size, 1ull << 40);
    SPOIL(t->code_size, 1ull << 40);
    SPOIL(t->rows, NULL);
    SPOIL(t->ops, NULL);
    SPOIL(t->schedules, NULL);
    SPOIL(t->nodes, NULL);
    SPOIL(t->strings, (const char *)t + (1 << 30));
    SPOIL(t->rows, (const kiln_row *)((const char *)t->rows + 1));
}

static void spoil_row(const kiln_module *t, kiln_row *r)
{
    SPOIL(r->key, r->key + 1);
    SPOIL(r->name, 0);
    SPOIL(r->name, 1u << 31);
    SPOIL(r->symbol[1], 1u << 31);
    SPOIL(r->op, t->nops);
    SPOIL(r->schedule, t->nschedules);
    SPOIL(r->host_fn, t->nhost_fns);
    SPOIL(r->first_map, 1);
    SPOIL(r->maps, 1);
    SPOIL(r->sig[0], 0);
    SPOIL(r->sig[3], KILN_DTYPE_COUNT);
    SPOIL(r->sig[6], 3);
    SPOIL(r->sig[7], 1); /* of no type, no layout */
}

static void spoil_op(const kiln_module *t, kiln_op_row *op)
{
    SPOIL(op->name, 0);
    SPOIL(op->file, 1u << 31);
    SPOIL(op->family, 9);
    SPOIL(op->family, FAMILY_ROWWISE);
    SPOIL(op->ntensors, KILN_MAX_TENSORS + 1);
    SPOIL(op->ntensors, 3); /* its epilogue uses an input */
    SPOIL(op->ntensors, 0);
    SPOIL(op->ntypes, 3);
    SPOIL(op->ntypes, KILN_MAX_TYPES + 1);
    SPOIL(op->type[0], 0);
    SPOIL(op->nscalars, KILN_MAX_SCALARS + 1);
    SPOIL(op->products, 0);
    SPOIL(op->products, 2); /* has one B */
    SPOIL(op->products, 3);
    kiln_tensor_row *const a = &op->tensor[0], *e = &op->tensor[2], *d = &op->tensor[3];
    SPOIL(d->kind, 0);
    SPOIL(d->kind, 9);
    SPOIL(d->layout, 3);
    SPOIL(d->layout, 0x83);
    SPOIL(d->type, 0);
    SPOIL(d->type, 0x84);
    SPOIL(d->name, 0);
    SPOIL(d->at, KILN_MAX_TENSORS);
    SPOIL(d->at, 2); /* E's */
    SPOIL(d->arg, KILN_MAX_TENSORS);
    SPOIL(d->arg, 0);
    SPOIL(d->pointer, 12);
    SPOIL(d->pointer, 0);
    SPOIL(d->pitch, 11);
    SPOIL(d->pitch, 1);
    SPOIL(d->own, 3);
    SPOIL(d->own, 1);
    SPOIL(d->rows, 3);
    SPOIL(d->cols, 3);
    SPOIL(d->col_block, 0);
    SPOIL(d->row_block, 2); /* of no rows */
    SPOIL(d->out, 2);
    SPOIL(d->planes, 5);
    SPOIL(op->sizes, 1u << 3); /* batch is none of them */
    SPOIL(op->option[0], 1u << 31);
    SPOIL(op->nfixed, 1); /* the family has none */
    SPOIL(a->at, 1);
    SPOIL(a->own, KILN_NOWHERE);
    SPOIL(e->result, 4);
    SPOIL(op->function[0].count, 0);
    SPOIL(op->function[0].count, KILN_EXPR_MAX + 1);
    SPOIL(op->function[0].first, 1u << 31);
    SPOIL(op->function[2].count, 4); /* an epilogue is no b_op */
    SPOIL(op->shapes, 3);
}

static void spoil_nodes(const kiln_module *t, kiln_xnode *n)
{
    SPOIL(n[0].op, KILN_X_COUNT);
    SPOIL(n[0].op, KILN_X_ARG);     /* not in an epilogue */
    SPOIL(n[0].op, KILN_X_AT);      /* not in this op */
    SPOIL(n[3].op, KILN_X_ROW_SUM); /* not in a gemm's epilogue */
    SPOIL(n[3].op, KILN_X_BLOCK_MAX);
    SPOIL(n[0].index, 1);
    SPOIL(n[1].index, 1);
    SPOIL(n[0].arg[1], 1); /* unused: must be 0 */
    SPOIL(n[2].arg[0], 2); /* itself */
    SPOIL(n[2].arg[1], 3); /* a later one */
}

static void spoil_family(const kiln_module *t, kiln_family *f)
{
    SPOIL(f->name, 0);
    SPOIL(f->size[2], 0);
    SPOIL(f->own[0], 0);
    SPOIL(f->prefix, 1u << 31);
    SPOIL(f->function[3], 1u << 31);
    SPOIL(f->place[3], 1u << 31);
    SPOIL(f->nsizes, 0);
    SPOIL(f->nsizes, KILN_MAX_SIZES + 1);
    SPOIL(f->nsizes, 2); /* sums are over the third */
    SPOIL(f->nown, KILN_MAX_OWN + 1);
    SPOIL(f->nown, 2);
    SPOIL(f->ntypes, KILN_MAX_TYPES + 1);
    SPOIL(f->ntypes, 3);
    SPOIL(f->nlayouts, KILN_MAX_LAYOUTS + 1);
    SPOIL(f->nlayouts, 2);
    SPOIL(f->type[0].name, 0);
    SPOIL(f->type[0].tensor, 3);
    SPOIL(f->type[0].tensor, KILN_NOWHERE); /* as acc */
    SPOIL(f->type[3].of, 8);                /* itself */
    SPOIL(f->type[3].real, KILN_DTYPE_COUNT);
    SPOIL(f->rows, 3);
    SPOIL(f->planes, 0); /* arguments have no strides of planes */
    SPOIL(f->groups, 0); /* of planes that it has not */
    SPOIL(f->nfixed, 1);
    SPOIL(f->noptions, KILN_MAX_OPTIONS + 1);
    SPOIL(f->cols, KILN_NOWHERE);
    SPOIL(f->empty, 8);
    SPOIL(f->independent, 8);
    SPOIL(f->summed, 3);
    SPOIL(f->at[1], 0); /* A's */
    SPOIL(f->at[1], KILN_MAX_TENSORS);
    SPOIL(f->layout_of[0], 3);
    SPOIL(f->extra, 2); /* E's */
    SPOIL(f->most_extra, 10);
    SPOIL(f->pointers, 11);
    SPOIL(f->pitches, 10);
    SPOIL(f->args_size, f->args_size + 8);
    SPOIL(f->shapes, 3);
    SPOIL(f->quick, 1);
}

static void spoil_schedule(const kiln_module *t, kiln_schedule *s)
{
    SPOIL(s->name, 0);
    SPOIL(s->slots, KILN_MAX_SLOTS + 1);
    SPOIL(s->tunables, 3);
    SPOIL(s->rules, 1);
    SPOIL(s->slot_name, NULL);
    SPOIL(s->check, NULL);
    SPOIL(s->cost, NULL);
}

static void test_table_fields(void **state)
{
    (void)state;
    kiln_ctx *ctx = open_ctx("host");
    kiln_module *t = (kiln_module *)(uintptr_t)ctx->module[0]->table;
    make_writable(t, sizeof *t);
    make_writable(t->rows, t->nrows * sizeof *t->rows);
    make_writable(t->ops, t->nops * sizeof *t->ops);
    make_writable(t->families, t->nfamilies * sizeof *t->families);
    make_writable(t->nodes, t->nnodes * sizeof *t->nodes);
    make_writable(t->schedules, t->nschedules * sizeof *t->schedules);
    spoil_header(t);
    spoil_row(t, (kiln_row *)(uintptr_t)&t->rows[3]);
    spoil_op(t, (kiln_op_row *)(uintptr_t)&t->ops[0]);
    spoil_family(t, (kiln_family *)(uintptr_t)&t->families[0]);
    spoil_nodes(t, (kiln_xnode *)(uintptr_t)t->nodes);
    spoil_schedule(t, (kiln_schedule *)(uintptr_t)&t->schedules[0]);
    const kiln_module copy = *t; /* a table outside any object */
    assert_error(kr_table_check("copy", &copy), KILN_BAD_MODULE, "copy: ");
    kiln_close(ctx);
}

static void test_map_fields(void **state)
{
    (void)state;
    kr_module *module;
    char path[600];
    snprintf(path, sizeof path, "%s/libkiln-sm_90a.so", test_folder);
    assert_ok(kr_module_open(path, &module));
    const kiln_module *t = module->table;
    kiln_map *m = (kiln_map *)(uintptr_t)t->map;
    make_writable(m, t->nmaps * sizeof *m);
    SPOIL(m->operand, KILN_MAX_TENSORS);
    SPOIL(m->swizzle, 48);
    SPOIL(m->box_inner, 0);
    SPOIL(m->box_inner, 257);
    SPOIL(m->box_outer, 0);
    SPOIL(m->box_outer, 257);
    SPOIL(m->clip, KILN_CLIP_REST + 1);
    SPOIL(m->promote, 4);
    SPOIL(m->optional, 2);
    kr_module_close(module);
}

static void test_missing_folder(void **state)
{
    (void)state;
    char path[600];
    snprintf(path, sizeof path, "/nonexistent/kiln:%s::", test_folder);
    kiln_config config = test_config("host");
    config.module_path = path;
    kiln_ctx *ctx;
    assert_ok(kiln_open(&ctx, &config));
    assert_int_equal(count_refused(ctx), 1);
    assert_says(kiln_refused_at(ctx, 0), "/nonexistent/kiln: No such file");
    assert_int_equal(count_kernels(ctx), 20);
    kiln_close(ctx);
}

static void test_environment(void **state)
{
    (void)state;
    kiln_ctx *ctx;
    setenv("KILN_MODULE_PATH", test_folder, 1);
    setenv("KILN_DEVICE", "host", 1);
    setenv("OMP_NUM_THREADS", "3,2", 1);
    assert_ok(kiln_open(&ctx, NULL));
    kiln_device_info dev = {.struct_size = sizeof dev};
    assert_ok(kiln_device_describe(ctx, &dev));
    assert_int_equal(dev.units, 3);
    assert_int_equal(count_kernels(ctx), 20);
    kiln_close(ctx);
    setenv("KILN_DEVICE", "gpu", 1);
    assert_error(kiln_open(&ctx, NULL), KILN_INVALID,
                 "no device 'gpu': a device is host, amd[:i], nvidia[:i], sim:ARCH or "
                 "none:TARGET:UNITS, and here "
                 "there are: host");
    assert_null(ctx);
    unsetenv("KILN_DEVICE");
    unsetenv("KILN_MODULE_PATH");
    unsetenv("OMP_NUM_THREADS");
}

/* A file replaced while it is open stays what it was; once closed, the new one is opened. */
static void test_replaced(void **state)
{
    (void)state;
    kiln_ctx *first = open_ctx("host");
    bytes cut = {whole.p, whole.size / 2};
    write_bytes("libkiln-host.so", cut.p, cut.size);
    kiln_ctx *second = open_ctx("host");
    assert_int_equal(count_refused(second), 0);
    kiln_close(first);
    kiln_close(second);
    kiln_ctx *third = open_ctx("host");
    assert_int_equal(count_refused(third), 1);
    kiln_close(third);
    write_bytes("libkiln-host.so", whole.p, whole.size);
}

static void test_misuse(void **state)
{
    (void)state;
    kiln_ctx *ctx;
    kiln_config config = test_config("host");
    assert_status(kiln_open(NULL, &config), KILN_INVALID);
    config.struct_size = 7;
    assert_error(kiln_open(&ctx, &config), KILN_INVALID, "kiln_config.struct_size is 7");
    config = test_config("host");
    config.threads = -1;
    assert_error(kiln_open(&ctx, &config), KILN_INVALID, "threads is negative");
    kiln_close(NULL);
    assert_null(kiln_refused_at(NULL, 0));
    assert_int_equal(kiln_registry_id(NULL), 0);
    static const char *const devices[] = {"",    "amd:", "amd:x", "nvidia:1x", "nvidia:99999",
                                          "sim", "sim:", "hosts", "host:0"};
    for (size_t i = 1; i < sizeof devices / sizeof *devices; i++) {
        config = test_config(devices[i]);
        assert_error(kiln_open(&ctx, &config), KILN_INVALID, "no device '");
    }
    config = test_config("sim:gfx942");
    const kiln_status status = kiln_open(&ctx, &config);
    if (status == KILN_OK)
        kiln_close(ctx);
    else
        assert_error(kiln_open(&ctx, &config), KILN_NO_DEVICE, "simulator");
    const kiln_kernel *k;
    kiln_kernel_info info = {.struct_size = 3};
    ctx = open_ctx("host");
    assert_ok(kiln_kernel_at(ctx, 0, &k));
    assert_error(kiln_kernel_describe(k, &info), KILN_INVALID, "kiln_kernel_info.struct_size is 3");
    assert_status(kiln_kernel_describe(NULL, &info), KILN_INVALID);
    assert_status(kiln_kernel_at(ctx, 20, &k), KILN_NOT_FOUND);
    assert_status(kiln_kernel_at(NULL, 0, &k), KILN_INVALID);
    assert_status(kiln_op_describe(ctx, NULL, NULL), KILN_INVALID);
    assert_status(kiln_device_describe(ctx, NULL), KILN_INVALID);
    kiln_close(ctx);
    assert_string_equal(kiln_status_name(KILN_BAD_MODULE), "bad_module");
    assert_string_equal(kiln_status_name((kiln_status)99), "unknown");
    assert_string_equal(kiln_version(), KILN_VERSION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opened),         cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_not_modules),    cmocka_unit_test(test_other_versions),
        cmocka_unit_test(test_bit_flips),      cmocka_unit_test(test_resealed_damage),
        cmocka_unit_test(test_table_fields),   cmocka_unit_test(test_map_fields),
        cmocka_unit_test(test_missing_folder), cmocka_unit_test(test_environment),
        cmocka_unit_test(test_replaced),       cmocka_unit_test(test_misuse),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
