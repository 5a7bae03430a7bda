// SPDX-License-Identifier: MIT
// kiln-gen's back half: templates, files, keys, modules and seals.  Throwaway schedules and targets are written to a
// folder of their own; the module test uses those of tests/gen/templates, compiles what comes out and calls it.
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "back.h"

static char dir[] = "/tmp/kiln-gen-back-XXXXXX";

static const char *at(const char *name)
{
    static char path[8][512];
    static int turn;
    turn = (turn + 1) % 8;
    snprintf(path[turn], sizeof path[turn], "%s/%s", dir, name);
    return path[turn];
}

static void spit(const char *name, const char *text)
{
    char command[600];
    snprintf(command, sizeof command, "mkdir -p \"$(dirname %s)\"", at(name));
    assert_int_equal(system(command), 0);
    FILE *f = fopen(at(name), "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static char *slurp(const char *path, size_t *len)
{
    kg_buf b = {0};
    assert_true(kg_read_file(path, &b));
    *len = b.len;
    return b.p;
}

/* ---- one run of the generator ---- */
typedef struct run { kg_ctx cx; char *err; size_t len; } run;

static void open_run(run *r, const char *templates)
{
    memset(r, 0, sizeof *r);
    r->cx.arena = kg_arena_new();
    r->cx.err = open_memstream(&r->err, &r->len);
    r->cx.templates = templates;
    r->cx.out = at("out");
}

static bool expand(run *r, const char *file)
{
    return kg_schedules_load(&r->cx, NULL, 0) && kg_lang_load(&r->cx, &file, 1) && kg_expand(&r->cx);
}

static void close_run(run *r)
{
    kg_diag_flush(&r->cx);
    kg_lang_close(&r->cx);
    kg_schedules_close(&r->cx);
    kg_arena_free(r->cx.arena);
    fclose(r->cx.err);
}

static const char target_text[] =
    "return target { name = 'here', vendor = 'host', source = 'c', ext = '.c', arch = 'x' }\n";
static const char schedule_text[] =
    "return schedule { family = 'gemm', title = 'test', supports = function() return true end,\n"
    "  tunables = { { 'm', values = { 1, 2 } } }, defaults = function() return { { m = 1 }, { m = 2 } } end,\n"
    "  name = function(t) return 'm' .. t.m end,\n"
    "  launch = function(p, t) return { { grid = { p.m }, block = { 1 } } } end, cost = function() return 1 end }\n";
static const char op_text[] =
    "gemm 'it' { types = { { a = f32, b = f32, e = f32 } }, layouts = { 'rcr' }, d = { bias = per_col 'e' },\n"
    "  scalars = { 'alpha' },\n"
    "  epilogue = function(acc, d, s) return s.alpha * acc + d.bias end }\n";

static void spit_all(const char *schedule, const char *op, const char *tmpl)
{
    spit("templates/targets/here.lua", target_text);
    spit("templates/gemm/one.lua", schedule);
    spit("templates/gemm/one.c.tmpl", tmpl);
    spit("instances/it.lua", op);
}

/* Renders the first instance (m = 1); the text, or NULL and the messages in *err.  Both are the caller's. */
static char *render(const char *tmpl, char **err)
{
    run r;
    kg_buf out = {0};
    spit_all(schedule_text, op_text, tmpl);
    open_run(&r, at("templates"));
    bool good = expand(&r, at("instances/it.lua")) && kg_render(&r.cx, r.cx.instance[0], &out);
    close_run(&r);
    if (good && !out.p) kg_put(&out, "", 0);
    if (!good) kg_buf_free(&out);
    *err = r.err;
    return out.p;
}

static void renders(const char *tmpl, const char *want)
{
    char *err, *got = render(tmpl, &err);
    if (!got) fail_msg("%s", err);
    assert_string_equal(got, want);
    free(got);
    free(err);
}

static void refuses(const char *tmpl, int line, const char *want)
{
    char *err, *got = render(tmpl, &err), place[64];
    assert_null(got);
    snprintf(place, sizeof place, "one.c.tmpl:%d:", line);
    if (!strstr(err, place) || !strstr(err, want)) fail_msg("wanted %s ... %s, got %s", place, want, err);
    free(err);
}

/* ---- templates ---- */
static void test_holes(void **state)
{
    (void)state;
    renders("plain\n", "plain\n");
    renders("", "");
    renders("no newline", "no newline");
    renders("a @{t.m} b @{t.m + 0.5} c @{t.m == 1}\n", "a 1 b 1.5 c true\n");
    renders("@{op.name}@{types.a.name}\n", "itf32\n");
    renders("quotes \" \\ \\n \t@ @@ {} @ {}\n", "quotes \" \\ \\n \t@ @@ {} @ {}\n");
    renders("@{({ 4, 5 })[2]} @{'}'} @{\"\\\"}\"}\n", "5 } \"}\n");
    renders("@{\"@{\"}\n", "@{\n");
    renders("%% for i = 1, 2 do\n  row @{i}\n%% end\n   %% local x = 'indented'\n@{x}\n", "  row 1\n  row 2\nindented\n");
    renders("50 %% of\n", "50 %% of\n");
    renders("%% if t.m == 2 then\ngone\n%% else\nkept\n\n%% end\n", "kept\n\n");
    renders("@{call.epilogue(function(i) return 'A' .. i end, function(i, d) return d.kind .. i end, "
            "function(i, name) return name end)}\n", "kiln_epilogue(A0, per_col0, alpha)\n");
}

static void test_hole_errors(void **state)
{
    (void)state;
    refuses("one\ntwo\n\nx @{t.m} @{t.missing}\n", 4, "@{t.missing} is nil");
    refuses("@{types}\n", 1, "@{types} is a table");
    refuses("@{op.d}\n", 1, "@{op.d} is a table");
    refuses("a\n@{ipairs}\n", 2, "@{ipairs} is a function");
    refuses("a\n@{t.m\n}\n", 2, "@{ is not closed on its line");
    refuses("@{'}\n", 1, "@{ is not closed on its line");
    refuses("@{t.m) (1}\n", 1, "is not an expression");
    refuses("@{1, 2}\n", 1, "is not an expression");
    refuses("@{t.m -- no}\n", 1, "is not an expression");
    refuses("@{}\n", 1, "is not an expression");
}

static void test_lua_lines(void **state)
{
    (void)state;
    refuses("text\ntext\n%% local = 3\ntext\n", 3, "<name> expected");
    refuses("text\n@{t.m} text\ntext\n%% local x = nil + 1\nmore\n", 4, "arithmetic on a nil");
    refuses("%% local function f() return nil .. 'x' end\ntext\ntext\n@{f()}\n", 1, "concatenate a nil");
    refuses("text\n%% if t.m == 1 then\ntext\n", 3, "'end' expected");
    refuses("text\n\n%% wrong()\n", 3, "unknown name 'wrong'");
    refuses("%% error('mine')\n", 1, "mine");
}

static void test_fresh_globals(void **state)
{
    (void)state;
    run r;
    kg_buf out = {0};
    spit_all(schedule_text, op_text, "%% if t.m == 1 then left = 7 end\n@{left}\n");
    open_run(&r, at("templates"));
    assert_true(expand(&r, at("instances/it.lua")));
    assert_int_equal(r.cx.ninstances, 2);
    assert_true(kg_render(&r.cx, r.cx.instance[0], &out));
    assert_string_equal(out.p, "7\n");
    assert_false(kg_render(&r.cx, r.cx.instance[1], &out));
    close_run(&r);
    assert_non_null(strstr(r.err, "unknown name 'left'"));
    kg_buf_free(&out);
    free(r.err);
}

static void test_epilogue_lines(void **state)
{
    (void)state;
    renders("@{inst.banner}\n@{fn.a_op}@{fn.epilogue}\nafter @{inst.id}\n",
            "// Generated by kiln-gen 0.1.0 from instances/it.lua:1; do not edit.\n"
            "// here/it/f32_f32_f32/rcr/one_m1\n"
            "// To rebuild: make instances TARGETS=here\n"
            "static KILN_DEVICE float kiln_epilogue(float acc0, float d_bias, float s_alpha)\n"
            "{\n"
            "#line 3 \"instances/it.lua\"\n"
            "    return (s_alpha * acc0) + d_bias;\n"
            "}\n"
            "#line 10 \"here/it/f32_f32_f32-rcr-one_m1.c\"\n"
            "after kiln_it_f32_f32_f32_rcr_one_m1\n");
}

/* ---- schedules: what a wrong one says ---- */
static void schedule_refused(const char *from, const char *to, const char *want)
{
    run r;
    kg_buf b = {0};
    const char *cut = strstr(schedule_text, from);
    assert_non_null(cut);
    kg_put(&b, schedule_text, (size_t)(cut - schedule_text));
    kg_puts(&b, to);
    kg_puts(&b, cut + strlen(from));
    spit_all(b.p, op_text, "text\n");
    kg_buf_free(&b);
    open_run(&r, at("templates"));
    bool good = expand(&r, at("instances/it.lua"));
    close_run(&r);
    if (good || !strstr(r.err, want)) fail_msg("wanted %s, got %s", want, r.err);
    free(r.err);
}

static void test_schedule_errors(void **state)
{
    (void)state;
    schedule_refused("title = 'test'", "tilte = 'test'", "unknown field 'tilte' (did you mean 'title'?)");
    schedule_refused("cost = function() return 1 end", "", "missing field 'cost'");
    schedule_refused("family = 'gemm'", "family = 'rows'", "one.lua:1:19: error: family must be 'gemm'");
    schedule_refused("values = { 1, 2 }", "values = { 1.5 }", "values must be a list of whole numbers");
    schedule_refused("{ { m = 1 }, { m = 2 } }", "{ { m = 3 } }", "'m' is missing or not one of 1, 2");
    schedule_refused("{ { m = 1 }, { m = 2 } }", "{ { m = 1, n = 2 } }", "no tunable 'n'");
    schedule_refused("return 1 end", "return p.m end", "unknown name 'p'");
    schedule_refused("grid = { p.m }", "grid = { p.bach }", "p has no field 'bach' (did you mean 'batch'?)");
    schedule_refused("grid = { p.m }", "grid = { t.k }", "t has no field 'k'");
    schedule_refused("grid = { p.m }", "grid = { p.m / 2 }", "grid[1] has a fraction");
    schedule_refused("grid = { p.m }", "grid = { lt(p.m, 2) }", "grid[1] is a condition, not a number");
    schedule_refused("grid = { p.m }", "grid = { p.m < 2 and 1 or 2 }", "use lt(x, y)");
    schedule_refused("grid = { p.m }", "grid = { 0 }", "grid[1] is 0");
    schedule_refused("block = { 1 }", "blok = { 1 }", "unknown field 'blok' (did you mean 'block'?)");
    schedule_refused("block = { 1 } } }", "block = { 1 } }, { grid = { 1 }, block = { 1 } } }", "two stages");
    schedule_refused("'m' .. t.m", "'../x'", "letters, digits and _");
    schedule_refused("'m' .. t.m", "'same'", "two tiles are called here/it/f32_f32_f32/rcr/one_same: 'm' is 1 and 2");
    schedule_refused("launch =", "rules = { { '{m} is odd', function(t) return 1 end } }, launch =", "true or false");
    schedule_refused("launch =", "rules = { { 'm = {m}', function(t) return false end } }, launch =",
                     "2 default tiles, 2 cut by e.g. m = 1 (here)");
    schedule_refused("launch =", "problem_rules = { { 'K is odd', function(p) return eq(p.k % 2, 0) end } }, launch =",
                     "of any size: one: K is odd");
}

/* ---- files ---- */
static void test_write_if_changed(void **state)
{
    (void)state;
    run r;
    bool changed;
    struct stat first, second;
    size_t len;
    open_run(&r, "");
    assert_true(kg_write_if_changed(&r.cx, at("file"), "text", 4, &changed));
    assert_true(changed);
    assert_int_equal(stat(at("file"), &first), 0);
    assert_true(kg_write_if_changed(&r.cx, at("file"), "text", 4, &changed));
    assert_false(changed);
    assert_int_equal(stat(at("file"), &second), 0);
    assert_memory_equal(&first.st_mtim, &second.st_mtim, sizeof first.st_mtim);
    assert_int_equal(first.st_ino, second.st_ino);
    assert_true(kg_write_if_changed(&r.cx, at("file"), "next", 4, &changed));
    assert_true(changed);
    char *text = slurp(at("file"), &len);
    assert_memory_equal(text, "next", 4);
    free(text);
    assert_true(kg_write_if_changed(&r.cx, at("file"), "", 0, &changed));
    assert_true(changed);
    assert_int_equal(r.cx.errors, 0);
    assert_false(kg_write_if_changed(&r.cx, at("file/below"), "x", 1, &changed));
    assert_true(r.cx.io_failed);
    close_run(&r);
    assert_non_null(strstr(r.err, "file/below: error: cannot write it: Not a directory"));
    assert_int_not_equal(access(at("file.tmp"), F_OK), 0);
    free(r.err);
}

static void test_stage(void **state)
{
    (void)state;
    run r;
    kg_stage *s;
    size_t len;
    open_run(&r, "");
    spit("staged/.stage/7", "left by a killed run");
    spit("staged/kept", "old");
    assert_true(kg_stage_open(&r.cx, at("staged"), &s));
    assert_int_not_equal(access(at("staged/.stage/7"), F_OK), 0);
    assert_true(kg_stage_put(s, "sub/new", "1", 1));
    assert_true(kg_stage_put(s, "kept", "new", 3));
    kg_stage_close(s); /* not committed: nothing changed */
    assert_int_not_equal(access(at("staged/sub"), F_OK), 0);
    assert_int_not_equal(access(at("staged/.stage"), F_OK), 0);
    char *text = slurp(at("staged/kept"), &len);
    assert_string_equal(text, "old");
    free(text);
    assert_true(kg_stage_open(&r.cx, at("staged"), &s));
    assert_true(kg_stage_put(s, "sub/new", "1", 1));
    assert_true(kg_stage_put(s, "kept", "new", 3));
    assert_true(kg_stage_commit(s));
    kg_stage_close(s);
    text = slurp(at("staged/kept"), &len);
    assert_string_equal(text, "new");
    free(text);
    assert_int_equal(access(at("staged/sub/new"), F_OK), 0);
    assert_int_not_equal(access(at("staged/.stage"), F_OK), 0);
    close_run(&r);
    free(r.err);
}

/* ---- a whole module ---- */
static void shell(const char *format, ...)
{
    char command[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    assert_int_equal(system(command), 0);
}

static void generate(void)
{
    run r;
    open_run(&r, KILN_TEST_ROOT "/tests/gen/templates");
    bool good = expand(&r, KILN_TEST_ROOT "/tests/gen/instances") && kg_emit(&r.cx);
    close_run(&r);
    if (!good) fail_msg("%s", r.err);
    free(r.err);
}


/* Packs, compiles without a warning, seals and opens the module of a target; objects are in place. */
static const kiln_module *load(const char *target, const char *objects, void **handle)
{
    char folder[512], so[520];
    snprintf(folder, sizeof folder, "%s", at(target));
    snprintf(so, sizeof so, "%s.so", folder);
    assert_int_equal(kg_pack(folder), KG_EXIT_OK);
    shell("cc -std=gnu11 -O1 -Wall -Wextra -Werror -fPIC -shared -fvisibility=hidden -I%s/abi -I%s -Wa,-I%s -o %s %s/module.c %s",
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
    return m;
}

static const char *text(const kiln_module *m, kiln_str s)
{
    assert_in_range(s, 0, m->strings_size - 1);
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
        const uint8_t sig[7] = { r->a, r->b, r->e, r->acc, r->layout_a, r->layout_b, r->layout_e };
        assert_in_range(r->op, 0, m->nops - 1);
        assert_in_range(r->schedule, 0, m->nschedules - 1);
        assert_int_equal(r->key, kiln_key(text(m, m->ops[r->op].name), sig));
        if (i) assert_true(r[-1].key < r->key || (r[-1].key == r->key && strcmp(text(m, r[-1].name), text(m, r->name)) < 0));
    }
}

static void check_code(const kiln_module *m)
{
    for (uint32_t i = 0; i < m->nrows; i++) {
        const kiln_row *r = &m->rows[i];
        assert_int_equal(r->code_offset % 64, 0);
        assert_true(r->code_offset + r->code_size <= m->code_size);
        assert_int_equal(r->code_hash, XXH3_64bits(m->code + r->code_offset, r->code_size));
        /* Its object holds its own name. */
        assert_int_equal(r->code_size, strlen(text(m, r->name)));
        assert_memory_equal(m->code + r->code_offset, text(m, r->name), r->code_size);
    }
}

static void check_plan(const kiln_module *m)
{
    const kiln_row *r = row(m, "toygpu/toy_bias/f16_f16_f16/rcr/toy_64x64x32_d3_s4");
    const kiln_schedule *s = &m->schedules[r->schedule];
    kiln_shape p = { .m = 100, .n = 130, .k = 256, .batch = 3, .align_a = 16, .align_b = 16, .units = 100 };
    kiln_plan plan = {0};
    assert_string_equal(text(m, s->name), "toy");
    assert_int_equal(s->tunables, 5);
    assert_int_equal(s->slots, 9);
    assert_string_equal(text(m, s->slot_name[3]), "split");
    assert_int_equal(r->t[3], 4);
    assert_string_equal(text(m, s->slot_name[6]), "lds_bytes");
    assert_int_equal(r->t[6], 3 * 128 * 32 * 2);
    assert_string_equal(text(m, r->symbol[0]), "kiln_toy_bias_f16_f16_f16_rcr_toy_64x64x32_d3_s4");
    assert_string_equal(text(m, r->symbol[1]), "kiln_toy_bias_f16_f16_f16_rcr_toy_64x64x32_d3_s4_2");
    assert_int_equal(s->check(&p, r->t), 0);
    p.k = 100;
    assert_int_equal(s->check(&p, r->t), 1);
    assert_string_equal(text(m, s->rule_text[0]), "K is not a multiple of 8");
    p.k = 64;
    assert_int_equal(s->check(&p, r->t), 3);
    p.k = 256;
    p.align_b = 8;
    assert_int_equal(s->check(&p, r->t), 2);
    s->plan(&p, r->t, &plan);
    const kiln_stage_plan want[2] = {
        { { 2 * 3, 4, 3 }, { 64, 1, 1 }, { 2, 1, 1 }, 3 * 128 * 32 * 2 },
        { { (100 * 130 + 255) / 256, 1, 3 }, { 256, 1, 1 }, { 1, 1, 1 }, 0 },
    };
    assert_int_equal(plan.stages, 2);
    assert_memory_equal(plan.stage, want, sizeof want);
    assert_int_equal(s->workspace(&p, r->t), 4ull * 3 * 100 * 130 * 4);
    double waves = 1, flops = 2.0 * 64 * 64 * 256 / 4; /* 2 * 3 tiles, 3 batches, 4 parts: 72 blocks on 100 units */
    double want_cost = 4 + waves * flops / (1000 * 1e6 / 100) + (100 + 130) * 256.0 * 2 / 5e6;
    assert_true(fabs(s->cost(&p, r->t) - want_cost) < 1e-9);
    p.m = p.n = p.batch = INT32_MAX; /* too large for 64 bits: said, not wrapped */
    assert_int_equal(s->workspace(&p, r->t), UINT64_MAX);
    s->plan(&p, r->t, &plan);
    assert_int_equal(plan.stage[1].grid[0], UINT32_MAX);
    p.n = 0;
    plan = (kiln_plan){0};
    s->plan(&p, r->t, &plan);
    assert_int_equal(plan.stages, 0);
    r = row(m, "toygpu/toy_bias/f16_f16_f16/rcr/toy_128x128x32_d2");
    p.n = 7;
    s->plan(&p, r->t, &plan);
    assert_int_equal(plan.stages, 1);
    assert_int_equal(r->symbol[1], 0);
    assert_int_equal(s->workspace(&p, r->t), 0);
}

static void check_ops(const kiln_module *m)
{
    const kiln_row *r = row(m, "toygpu/toy_bias/f16_f16_f16/rcr/toy_64x64x32_d3_s4");
    const kiln_op_row *op = &m->ops[r->op];
    assert_string_equal(text(m, op->name), "toy_bias");
    assert_string_equal(text(m, op->file), "instances/toys.lua");
    assert_int_equal(op->line, 3);
    assert_int_equal(op->nd, 2);
    assert_string_equal(text(m, op->d[1].name), "rest");
    assert_int_equal(op->d[1].kind, KILN_D_FULL);
    assert_int_equal(op->d[1].type, 0x80 | 'e');
    assert_int_equal(op->d[1].layout, KILN_ROW);
    assert_string_equal(text(m, op->scalar[0]), "alpha");
    assert_int_equal(op->shapes, 2);
    assert_int_equal(m->shapes[op->first_shape][1], 33);
    assert_int_equal(m->nodes[op->epilogue.first + op->epilogue.count - 1].op, KILN_X_ADD);
    const kiln_map want[] = { { KILN_OP_A, 64, 32, 64, 0 }, { KILN_OP_B0, 64, 32, 64, 0 }, { KILN_OP_D0 + 1, 0, 64, 64, 0 } };
    assert_int_equal(r->maps, 3);
    assert_memory_equal(m->map + r->first_map, want, sizeof want);
    r = row(m, "toygpu/toy_scaled/f16_i8_f16/rcr/plain_m1");
    op = &m->ops[r->op];
    assert_int_equal(op->a_op.count, 0);
    assert_int_equal(m->nodes[op->b_op.first + op->b_op.count - 1].op, KILN_X_DIV);
    assert_int_equal(r->acc, KILN_F32);
}

static void test_module_gpu(void **state)
{
    (void)state;
    void *handle;
    generate();
    shell("cd %s && while read -r name source object; do printf %%s \"$name\" >\"$object\"; done <toygpu/manifest", at("out"));
    const kiln_module *m = load("out/toygpu", "", &handle);
    assert_string_equal(text(m, m->target), "toygpu");
    assert_int_equal(m->nrows, 22);
    assert_int_equal(m->nops, 3);
    check_rows(m);
    check_code(m);
    check_plan(m);
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
    kiln_gemm_args g = { .a = a, .b = { b }, .e = e, .d = { bias, rest }, .lda = K, .ldb = K, .lde = N, .ldd = { 0, N },
                         .m = M, .n = N, .k = K, .batch = 1, .s = { 2 } };
    m->host_fns[r->host_fn](&g);
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
    shell("cd %s && while read -r name source object; do cc -std=gnu11 -O1 -fPIC -I%s/abi -I%s/templates/device -c -o $object "
          "$source || exit 1; done <toyhost/manifest", at("out"), KILN_TEST_ROOT, KILN_TEST_ROOT);
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
    spit("not.so", "a text that is longer than an ELF header is, and that is not one of those for all that\n");
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
    spit("out/toygpu/toy_bias/f16_f16_f16-rcr-plain_m1.co", "other code");
    assert_int_equal(kg_pack(at("out/toygpu")), KG_EXIT_OK);
    after = slurp(at("out/toygpu/code.h"), &len);
    assert_string_not_equal(before, after);
    free(before);
    free(after);
    spit("out/toygpu/toy_bias/f16_f16_f16-rcr-plain_m1.co", "");
    assert_int_equal(kg_pack(at("out/toygpu")), KG_EXIT_USAGE);
    unlink(at("out/toygpu/toy_bias/f16_f16_f16-rcr-plain_m1.co"));
    assert_int_equal(kg_pack(at("out/toygpu")), KG_EXIT_USAGE);
    assert_int_equal(kg_pack(at("nowhere")), KG_EXIT_USAGE);
}

static int make_dir(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_holes),           cmocka_unit_test(test_hole_errors),
        cmocka_unit_test(test_lua_lines),       cmocka_unit_test(test_fresh_globals),
        cmocka_unit_test(test_epilogue_lines),  cmocka_unit_test(test_schedule_errors),
        cmocka_unit_test(test_write_if_changed), cmocka_unit_test(test_stage),
        cmocka_unit_test(test_module_gpu),      cmocka_unit_test(test_module_host),
        cmocka_unit_test(test_seal),            cmocka_unit_test(test_pack),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
