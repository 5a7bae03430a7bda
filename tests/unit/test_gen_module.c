// SPDX-License-Identifier: MIT
// Modules that kiln-gen writes: the toys of tests/gen are generated, compiled, packed, sealed and
// opened, their tables read and their functions called.
#define _GNU_SOURCE
#include "gen_test.h"
#include <dlfcn.h>
#include <math.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* kiln_gemm_args.h as it is generated. */
typedef struct gemm_args {
    const void *a, *b[2];
    void *e;
    const void *d[8];
    void *workspace;
    long long lda, ldb, lde, ldd[8], stride_a, stride_b, stride_e, stride_d[8];
    int m, n, k, tokens, batch;
    float s[8];
    int units, reserved;
} gemm_args;

static void generate(void)
{
    run r;
    open_run(&r, KILN_TEST_ROOT "/tests/gen/templates");
    bool good = expand(&r, KILN_TEST_ROOT "/tests/gen/instances") && kg_emit(&r.cx);
    close_run(&r);
    if (!good) fail_msg("%s", r.err);
    free(r.err);
}

/* Packs, compiles without a warning, seals and opens the module of a target; objects are in place.
 */
static const kiln_module *load(const char *target, const char *objects, void **handle)
{
    char folder[512], so[520];
    snprintf(folder, sizeof folder, "%s", at(target));
    snprintf(so, sizeof so, "%s.so", folder);
    assert_int_equal(kg_pack(folder), KG_EXIT_OK);
    shell("cc -std=gnu11 -O1 -Wall -Wextra -Werror -fPIC -shared -fvisibility=hidden -I%s/abi -I%s "
          "-Wa,-I%s -o %s %s/module.c %s",
          KILN_TEST_ROOT, folder, folder, so, folder, objects);
    assert_int_equal(kg_seal(so), KG_EXIT_OK);
    *handle = dlopen(so, RTLD_NOW | RTLD_LOCAL);
    if (!*handle) fail_msg("%s", dlerror());
    const kiln_module *m = dlsym(*handle, KILN_MODULE_SYMBOL);
    assert_non_null(m);
    assert_int_equal(m->magic, KILN_MODULE_MAGIC);
    assert_int_equal(m->abi_version, KILN_ABI_VERSION);
    assert_int_equal(m->size, sizeof(kiln_module));
    assert_int_equal(m->row_size, sizeof(kiln_row));
    assert_int_equal(m->op_size, sizeof(kiln_op_row));
    assert_int_equal(m->family_size, sizeof(kiln_family));
    return m;
}

static const char *text(const kiln_module *m, kiln_str s)
{
    assert_true(s < m->strings_size);
    return m->strings + s;
}

static const kiln_row *row(const kiln_module *m, const char *name)
{
    for (uint32_t i = 0; i < m->nrows; i++)
        if (strcmp(text(m, m->rows[i].name), name) == 0) return &m->rows[i];
    fail_msg("no row %s", name);
    return NULL;
}

static void check_rows(const kiln_module *m)
{
    for (uint32_t i = 0; i < m->nrows; i++) {
        const kiln_row *r = &m->rows[i];
        assert_true(r->op < m->nops);
        assert_true(r->schedule < m->nschedules);
        const kiln_op_row *op = &m->ops[r->op];
        assert_true(op->family < m->nfamilies);
        const int n = op->ntypes + m->families[op->family].nlayouts;
        assert_int_equal(n, 7);
        assert_int_equal(r->key, kiln_key_of(kiln_name_hash(text(m, op->name)), r->sig, n));
        if (i)
            assert_true(r[-1].key < r->key ||
                        (r[-1].key == r->key && strcmp(text(m, r[-1].name), text(m, r->name)) < 0));
    }
}

static void check_code(const kiln_module *m)
{
    for (uint32_t i = 0; i < m->nrows; i++) {
        const kiln_row *r = &m->rows[i];
        assert_int_equal(r->code_offset % 64, 0);
        assert_true(r->code_offset + r->code_size <= m->code_size);
        assert_int_equal(r->code_hash, XXH3_64bits(m->code + r->code_offset, r->code_size));
        /* Its object holds its own name, in a line. */
        char line[256];
        snprintf(line, sizeof line, "%s\n", text(m, r->name));
        assert_non_null(memmem(m->code + r->code_offset, r->code_size, line, strlen(line)));
        assert_int_equal(r->content, r->code_hash); /* it is no code object */
    }
}

/* Instances of an op and a schedule share objects, at most eight one; each object is there once. */
static void check_units(const kiln_module *m)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < m->nrows; i++) {
        const kiln_row *r = &m->rows[i];
        uint32_t before = 0, all = 0;
        for (uint32_t k = 0; k < m->nrows; k++) {
            const kiln_row *other = &m->rows[k];
            if (other->code_offset != r->code_offset) continue;
            assert_true(other->op == r->op && other->schedule == r->schedule);
            assert_true(other->code_hash == r->code_hash && other->code_size == r->code_size);
            before += k < i;
            all++;
        }
        assert_in_range(all, 1, 8);
        const char *tile = strrchr(text(m, r->name), '/');
        if (strstr(text(m, r->name), "toy_gated/") && strncmp(tile, "/toy_", 5) == 0)
            assert_int_equal(all, 5); /* of ten */
        if (!before) bytes += (r->code_size + 63) / 64 * 64;
    }
    assert_int_equal(bytes, m->code_size);
}

static void check_plan(const kiln_module *m)
{
    const kiln_row *r = row(m, "toygpu/toy_bias/f16_f16_f16/rcr/toy_64x64x32_d3_s4");
    const kiln_schedule *s = &m->schedules[r->schedule];
    kiln_shape p = {.size = {100, 130, 256, 3}, .align = {16, 16}, .units = 100};
    kiln_plan plan = {0};
    assert_string_equal(text(m, s->name), "toy");
    assert_int_equal(s->tunables, 5);
    assert_int_equal(s->slots, 9);
    assert_string_equal(text(m, s->slot_name[3]), "split");
    assert_int_equal(r->t[3], 4);
    assert_string_equal(text(m, s->slot_name[6]), "lds_bytes");
    assert_int_equal(r->t[6], 3 * 128 * 32 * 2);
    assert_string_equal(text(m, r->symbol[0]), "kiln_toy_bias_f16_f16_f16_rcr_toy_64x64x32_d3_s4");
    assert_string_equal(text(m, r->symbol[1]),
                        "kiln_toy_bias_f16_f16_f16_rcr_toy_64x64x32_d3_s4_2");
    assert_int_equal(s->check(&p, r->t), 0);
    p.size[2] = 100;
    assert_int_equal(s->check(&p, r->t), 1);
    assert_string_equal(text(m, s->rule_text[0]), "K is not a multiple of 8");
    p.size[2] = 64;
    assert_int_equal(s->check(&p, r->t), 3);
    p.size[2] = 256;
    p.align[1] = 8;
    assert_int_equal(s->check(&p, r->t), 2);
    s->plan(&p, r->t, &plan);
    const kiln_stage_plan want[2] = {
        {{2 * 3, 4, 3}, {64, 1, 1}, {2, 1, 1}, 3 * 128 * 32 * 2, 1},
        {{(100 * 130 + 255) / 256, 1, 3}, {256, 1, 1}, {1, 1, 1}, 0, 1},
    };
    assert_int_equal(plan.stages, 2);
    assert_memory_equal(plan.stage, want, sizeof want);
    assert_int_equal(s->workspace(&p, r->t), 4ull * 3 * 100 * 130 * 4);
    double waves = 1, flops = 2.0 * 64 * 64 * 256 /
                              4; /* 2 * 3 tiles, 3 batches, 4 parts: 72 blocks on 100 units */
    double want_cost = 4 + waves * flops / (1000 * 1e6 / 100) + (100 + 130) * 256.0 * 2 / 5e6;
    assert_true(fabs(s->cost(&p, r->t) - want_cost) < 1e-9);
    p.gbps = 2500; /* what a device says of itself */
    assert_true(fabs(s->cost(&p, r->t) - want_cost - (100 + 130) * 256.0 * 2 / 5e6) < 1e-9);
    p.gbps = 0;
    double part[KILN_MAX_PARTS] = {0};
    s->parts(&p, r->t, part);
    assert_int_equal(s->nparts, 4);
    assert_string_equal(text(m, s->part[1].name), "multiplying");
    assert_int_equal(s->part[1].kind, KILN_PART_TIME);
    assert_int_equal(s->part[2].kind, KILN_PART_COUNT);
    assert_int_equal(s->part[3].kind, KILN_PART_LEAST);
    assert_true(fabs(part[0] + part[1] + part[3] - want_cost) < 1e-9 && part[2] == waves);
    p.size[0] = p.size[1] = p.size[3] = INT32_MAX; /* too large for 64 bits: said, not wrapped */
    assert_int_equal(s->workspace(&p, r->t), UINT64_MAX);
    s->plan(&p, r->t, &plan);
    assert_int_equal(plan.stage[1].grid[0], UINT32_MAX);
    p.size[1] = 0;
    plan = (kiln_plan){0};
    s->plan(&p, r->t, &plan);
    assert_int_equal(plan.stages, 0);
    r = row(m, "toygpu/toy_bias/f16_f16_f16/rcr/toy_128x128x32_d2");
    p.size[1] = 7;
    s->plan(&p, r->t, &plan);
    assert_int_equal(plan.stages, 1);
    assert_int_equal(r->symbol[1], 0);
    assert_int_equal(plan.stage[0].early, 0); /* early = gt(t.split, 1) */
    assert_int_equal(s->workspace(&p, r->t), 0);
}

static void check_family(const kiln_module *m)
{
    assert_int_equal(m->nfamilies, 1);
    const kiln_family *f = &m->families[0];
    assert_string_equal(text(m, f->name), "gemm");
    assert_string_equal(text(m, f->size[2]), "k");
    assert_string_equal(text(m, f->own[1]), "b");
    assert_string_equal(text(m, f->prefix), "d.");
    assert_string_equal(text(m, f->function[0]), "epilogue");
    assert_string_equal(text(m, f->function[3]), "block");
    assert_string_equal(text(m, f->place[1]), "col");
    assert_int_equal(m->units, 100);
    assert_int_equal(f->nsizes, 4);
    assert_int_equal(f->nown, 3);
    assert_int_equal(f->ntypes, 4);
    assert_int_equal(f->nlayouts, 3);
    assert_int_equal(f->empty, 3);
    assert_int_equal(f->summed, 2);
    assert_int_equal(f->extra, 3);
    assert_int_equal(f->most_extra, 8);
    assert_int_equal(f->pointers, 12);
    assert_int_equal(f->pitches, 11);
    assert_int_equal(f->args_size, sizeof(gemm_args));
    for (uint8_t i = 0; i < 3; i++) {
        assert_int_equal(f->at[i], i);
        assert_int_equal(f->layout_of[i], i);
        assert_int_equal(f->type[i].tensor, i);
        assert_int_equal(f->type[i].real, KILN_DTYPE_NONE);
    }
    assert_string_equal(text(m, f->type[3].name), "acc");
    assert_int_equal(f->type[3].tensor, KILN_NOWHERE);
    assert_int_equal(f->type[3].of, 3);
    assert_int_equal(f->type[3].integer, KILN_I32);
    assert_int_equal(f->type[3].real, KILN_F32);
}

/* Name, at, arg, own, kind, type, layout, rows, cols, pointer, pitch, out of each tensor. */
static void check_tensors(const kiln_module *m, const kiln_op_row *op)
{
    enum { T = 0x80, NO = KILN_NOWHERE };
    static const struct {
        const char *name;
        uint8_t v[11];
    } want[] = {
        {"A", {0, 0, 0, 0, T | 0, T | 0, 0, 2, 0, 0, 0}},
        {"B", {1, 1, 1, 0, T | 1, T | 1, 2, 1, 1, 1, 0}},
        {"E", {2, 11, 2, 0, T | 2, T | 2, 0, 1, 3, 2, 1}},
        {"bias", {3, 3, NO, KILN_D_PER_COL, T | 2, 0, NO, 1, 4, 3, 0}},
        {"rest", {4, 4, NO, KILN_D_FULL, T | 2, KILN_ROW, 0, 1, 5, 4, 0}},
    };
    assert_int_equal(op->ntensors, 5);
    for (size_t i = 0; i < 5; i++) {
        const kiln_tensor_row *t = &op->tensor[i];
        assert_string_equal(text(m, t->name), want[i].name);
        const uint8_t got[] = {t->at,   t->arg,  t->own,     t->kind,  t->type, t->layout,
                               t->rows, t->cols, t->pointer, t->pitch, t->out};
        for (size_t k = 0; k < sizeof got; k++)
            if (got[k] != want[i].v[k] && !(i == 3 && k == 5))
                fail_msg("%s, %zu: %u, wanted %u", want[i].name, k, got[k], want[i].v[k]);
        assert_int_equal(t->row_block, 1);
        assert_int_equal(t->col_block, 1);
    }
}

static void check_ops(const kiln_module *m)
{
    const kiln_row *r = row(m, "toygpu/toy_bias/f16_f16_f16/rcr/toy_64x64x32_d3_s4");
    const kiln_op_row *op = &m->ops[r->op];
    assert_string_equal(text(m, op->name), "toy_bias");
    assert_string_equal(text(m, op->file), "instances/toys.lua");
    assert_int_equal(op->line, 3);
    check_tensors(m, op);
    assert_string_equal(text(m, op->scalar[0]), "alpha");
    assert_int_equal(op->shapes, 2);
    assert_int_equal(m->shapes[op->first_shape + 1], 33);
    assert_int_equal(m->nodes[op->function[0].first + op->function[0].count - 1].op, KILN_X_ADD);
    const kiln_map want[] = {
        {0, 64, 32, 64, 1, 3, 0, 0, 0}, {1, 64, 32, 64, 0, 3, 0, 0, 0}, {4, 0, 64, 64, 0, 2, 0, 0, 0}};
    assert_int_equal(r->maps, 3);
    assert_memory_equal(m->map + r->first_map, want, sizeof want);
    r = row(m, "toygpu/toy_scaled/f16_i8_f16/rcr/plain_m1");
    op = &m->ops[r->op];
    assert_int_equal(op->function[1].count, 0);
    assert_int_equal(m->nodes[op->function[2].first + op->function[2].count - 1].op, KILN_X_DIV);
    assert_int_equal(r->sig[3], KILN_F32);
}

static void test_module_gpu(void **state)
{
    (void)state;
    void *handle;
    generate();
    shell("cd %s && rm -f toygpu/*/*.co && while read -r name source object; do "
          "echo \"$name\" >>\"$object\"; done <toygpu/manifest",
          at("out"));
    const kiln_module *m = load("out/toygpu", "", &handle);
    assert_string_equal(text(m, m->target), "toygpu");
    assert_int_equal(m->nrows, 22);
    assert_int_equal(m->nops, 3);
    check_rows(m);
    check_code(m);
    check_units(m);
    check_plan(m);
    check_family(m);
    check_ops(m);
    dlclose(handle);
}

static void run_bias(const kiln_module *m, const kiln_row *r)
{
    enum { M = 3, N = 4, K = 5 };
    float a[M * K], b[K * N], e[M * N], bias[N], rest[M * N];
    for (int i = 0; i < M * K; i++) a[i] = (float)(i % 7 - 3);
    for (int i = 0; i < K * N; i++) b[i] = (float)(i % 5 - 2);
    for (int i = 0; i < N; i++) bias[i] = (float)i;
    for (int i = 0; i < M * N; i++) rest[i] = 100.0f * (float)i;
    gemm_args g = {.a = a,
                   .b = {b},
                   .e = e,
                   .d = {bias, rest},
                   .lda = K,
                   .ldb = K,
                   .lde = N,
                   .ldd = {0, N},
                   .m = M,
                   .n = N,
                   .k = K,
                   .batch = 1,
                   .s = {2}};
    m->host_fns[r->host_fn](&g, NULL);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float acc = 0;
            for (int k = 0; k < K; k++) acc += a[i * K + k] * b[k + j * K];
            float want = 2 * acc + bias[j];
            assert_float_equal(e[i * N + j], (want > 0 ? want : 0) + rest[i * N + j], 0);
        }
}

static void test_module_host(void **state)
{
    (void)state;
    void *handle;
    generate();
    shell("cd %s && while read -r name source object; do cc -std=gnu11 -O1 -fPIC -I%s/abi "
          "-I%s/templates/device -c -o $object "
          "$source || exit 1; done <toyhost/manifest",
          at("out"), KILN_TEST_ROOT, KILN_TEST_ROOT);
    const kiln_module *m = load("out/toyhost", at("out/toyhost/*/*.o"), &handle);
    assert_int_equal(m->nrows, 6);
    assert_int_equal(m->nhost_fns, 6);
    assert_int_equal(m->code_size, 0);
    check_rows(m);
    run_bias(m, row(m, "toyhost/toy_bias/f32_f32_f32/rcr/plain_m1"));
    dlclose(handle);
}

/* ---- packing and sealing ---- */
static kiln_seal seal_of(const char *file, char **content, size_t *len)
{
    kiln_seal s;
    *content = slurp(file, len);
    memcpy(&s, *content + *len - sizeof s, sizeof s);
    assert_int_equal(s.magic, KILN_SEAL_MAGIC);
    return s;
}

static uint64_t hash_of(const char *p, size_t len, const kiln_seal *s)
{
    kg_buf b = {0};
    kg_put(&b, p, s->code_offset);
    kg_put(&b, p + s->code_offset + s->code_size, len - sizeof *s - s->code_offset - s->code_size);
    kg_put(&b, (const char *)s, offsetof(kiln_seal, hash));
    uint64_t h = XXH3_64bits(b.p, b.len);
    kg_buf_free(&b);
    return h;
}

static void test_seal(void **state)
{
    (void)state;
    char *first, *second;
    size_t len, again;
    const char *so = at("out/toygpu.so"), *copy = at("copy.so");
    if (access(so, F_OK) != 0) test_module_gpu(NULL);
    kiln_seal s = seal_of(so, &first, &len);
    assert_int_equal(s.hash, hash_of(first, len, &s));
    assert_true(s.code_size > 0);
    assert_non_null(memmem(first + s.code_offset, s.code_size, "toygpu/toy_bias", 15));
    shell("cp %s %s", so, copy);
    assert_int_equal(kg_seal(copy), KG_EXIT_OK); /* again: replaced, not added */
    seal_of(copy, &second, &again);
    assert_int_equal(again, len);
    assert_memory_equal(first, second, len);
    free(second);
    first[s.code_offset] ^= 1; /* the blob is outside the hash, the rest inside */
    assert_int_equal(s.hash, hash_of(first, len, &s));
    first[s.code_offset - 1] ^= 1;
    assert_int_not_equal(s.hash, hash_of(first, len, &s));
    free(first);
    spit(
        "not.so",
        "a text that is longer than an ELF header is, and that is not one of those for all that\n");
    assert_int_equal(kg_seal(at("not.so")), KG_EXIT_USAGE);
    assert_int_equal(kg_seal(at("missing.so")), KG_EXIT_USAGE);
    shell("head -c 3000 %s >%s", so, at("cut.so"));
    assert_int_equal(kg_seal(at("cut.so")), KG_EXIT_USAGE);
}

static void test_pack(void **state)
{
    (void)state;
    char *before, *after;
    size_t len;
    if (access(at("out/toygpu/code.h"), F_OK) != 0) test_module_gpu(NULL);
    before = slurp(at("out/toygpu/code.h"), &len);
    shell("touch -d 2001-01-01 %s/out/toygpu/code.h %s/out/toygpu/code.bin", dir, dir);
    assert_int_equal(kg_pack(at("out/toygpu")), KG_EXIT_OK);
    struct stat st;
    assert_int_equal(stat(at("out/toygpu/code.bin"), &st), 0);
    assert_true(st.st_mtime < 1000000000); /* nothing changed, nothing written */
    spit("out/toygpu/toy_bias/plain.1.co", "other code");
    assert_int_equal(kg_pack(at("out/toygpu")), KG_EXIT_OK);
    after = slurp(at("out/toygpu/code.h"), &len);
    assert_string_not_equal(before, after);
    free(before);
    free(after);
    spit("out/toygpu/toy_bias/plain.1.co", "");
    assert_int_equal(kg_pack(at("out/toygpu")), KG_EXIT_USAGE);
    unlink(at("out/toygpu/toy_bias/plain.1.co"));
    assert_int_equal(kg_pack(at("out/toygpu")), KG_EXIT_USAGE);
    assert_int_equal(kg_pack(at("nowhere")), KG_EXIT_USAGE);
}

/* What the host's compiler makes of a text, as an object. */
static char *compiled(const char *name, const char *text, size_t *len)
{
    char file[64];
    snprintf(file, sizeof file, "%s.c", name);
    spit(file, text);
    shell("cd %s && cc -O1 -c -o %s.o %s.c", dir, name, name);
    snprintf(file, sizeof file, "%s.o", name);
    return slurp(at(file), len);
}

/* A kernel is told from its neighbours by its code. */
static void test_content(void **state)
{
    (void)state;
    static const char one[] = "toy/op/f16/rcr/plain_m1", two[] = "toy/op/f16/rcr/plain_m2";
#define ONE "int kiln_op_f16_rcr_plain_m1(int x) { return x * 3 + 1; }\n"
#define DESCRIPTOR(entry, registers)                                                               \
    "__asm__(\".section .rodata\\n.type kiln_op_f16_rcr_plain_m1.kd, @object\\n\"\n"               \
    "\".size kiln_op_f16_rcr_plain_m1.kd, 64\\nkiln_op_f16_rcr_plain_m1.kd: .zero 16\\n\"\n"       \
    "\".quad " entry "\\n.quad " registers "\\n.zero 32\\n.text\");\n"
    const char *const text[] = {
        ONE,
        "int kiln_op_f16_rcr_plain_m2(int x) { return x - 1; }\n" ONE,
        "int kiln_op_f16_rcr_plain_m1(int x) { return x * 3 + 2; }\n",
        ONE "int kiln_op_f16_rcr_plain_m1_2(int x) { return x; }\n",
        ONE DESCRIPTOR("1", "7"),
        ONE DESCRIPTOR("9", "7"),
        ONE DESCRIPTOR("1", "8"),
    };
    enum { N = sizeof text / sizeof *text };
    uint64_t content[N];
    for (int i = 0; i < N; i++) {
        size_t len;
        char *object = compiled("content", text[i], &len);
        content[i] = kg_content(one, object, len);
        const uint64_t whole = XXH3_64bits(object, len);
        assert_int_not_equal(content[i], whole);
        assert_int_equal(kg_content(two, object, len) == whole, i != 1); /* it is not in there */
        for (size_t at = 0; i == 4 && at < len; at += at < 64 ? 1 : 7) { /* damaged ones */
            kg_content(one, object, at);
            object[at] ^= 0x5a;
            kg_content(one, object, len);
            object[at] ^= 0x5a;
        }
        free(object);
    }
    assert_int_equal(content[0], content[1]);
    assert_int_not_equal(content[0], content[2]);
    assert_int_not_equal(content[0], content[3]); /* its second kernel */
    assert_int_not_equal(content[0], content[4]);
    assert_int_equal(content[4], content[5]); /* where its code is says nothing */
    assert_int_not_equal(content[4], content[6]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_module_gpu), cmocka_unit_test(test_module_host),
        cmocka_unit_test(test_seal),       cmocka_unit_test(test_pack),
        cmocka_unit_test(test_content),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
