// SPDX-License-Identifier: MIT
// kiln-gen's back half: templates, what a wrong schedule says, files.
#define _GNU_SOURCE
#include "gen_test.h"
#include <errno.h>

static const char target_text[] =
    "return target { name = 'here', vendor = 'host', source = 'c', ext = '.c', arch = 'x' }\n";
static const char schedule_text[] =
    "return schedule { family = 'gemm', title = 'test', supports = function() return true end,\n"
    "  tunables = { { 'm', values = { 1, 2 } } }, defaults = function() return { { m = 1 }, { m = "
    "2 } } end,\n"
    "  name = function(t) return 'm' .. t.m end,\n"
    "  launch = function(p, t) return { { grid = { p.m }, block = { 1 } } } end, cost = function() "
    "return 1 end }\n";
static const char op_text[] =
    "gemm 'it' { types = { { a = f32, b = f32, e = f32 } }, layouts = { 'rcr' }, d = { bias = "
    "per_col 'e' },\n"
    "  scalars = { 'alpha' },\n"
    "  epilogue = function(acc, d, s) return s.alpha * acc + d.bias end }\n";

static void spit_all(const char *schedule, const char *op, const char *tmpl)
{
    spit("templates/targets/here.lua", target_text);
    spit_family("gemm");
    spit("templates/gemm/one.lua", schedule);
    spit("templates/gemm/one.c.tmpl", tmpl);
    spit("instances/it.lua", op);
}

/* Renders the first instance (m = 1); the text, or NULL and the messages in *err.  Both are the
 * caller's. */
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
    if (!strstr(err, place) || !strstr(err, want))
        fail_msg("wanted %s ... %s, got %s", place, want, err);
    free(err);
}

/* ---- templates ---- */
/* What one rendering writes into its tables, the next one does not see. */
static void test_renderings_apart(void **state)
{
    (void)state;
    static const char *const tmpl =
        "%% if op.d[1].seen or types.seen or layout.seen then\nleaked\n%% end\n"
        "%% op.d[1].seen, types.seen, layout.seen, t.seen = true, true, true, true\nm@{t.m}\n";
    static const char *const want[] = {"m1\n", "m2\n", "m1\n"};
    run r;
    spit_all(schedule_text, op_text, tmpl);
    open_run(&r, at("templates"));
    assert_true(expand(&r, at("instances/it.lua")));
    assert_int_equal(r.cx.ninstances, 2);
    for (size_t i = 0; i < 3; i++) {
        kg_buf out = {0};
        assert_true(kg_render(&r.cx, r.cx.instance[i % 2], &out));
        kg_put(&out, "", 1);
        assert_string_equal(out.p, want[i]);
        kg_buf_free(&out);
    }
    close_run(&r);
    free(r.err);
    refuses("%% types.a.wide = true\n", 1, "'wide' cannot be set: all instances share this table");
    refuses("\n%% target.seen = 1\n", 2, "'seen' cannot be set");
    refuses("%% fn.mine = 1\n", 1, "'mine' cannot be set");
}

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
    renders("%% for i = 1, 2 do\n  row @{i}\n%% end\n   %% local x = 'indented'\n@{x}\n",
            "  row 1\n  row 2\nindented\n");
    renders("50 %% of\n", "50 %% of\n");
    renders("%% if t.m == 2 then\ngone\n%% else\nkept\n\n%% end\n", "kept\n\n");
    renders(
        "@{call.epilogue(function(i) return 'A' .. i end, function(i, d) return d.kind .. i end, "
        "function(i, name) return name end)}\n",
        "kiln_epilogue(A0, per_col0, alpha)\n");
}

static void test_spelling(void **state)
{
    (void)state;
    renders("@{to_f32(types.a, 'x')} @{from_f32(types.a, 'x')} @{to_bits(types.a, 'x')}\n",
            "x x kiln_bits(x)\n");
    renders("%% local h, b = { name = 'f16', bits = 16 }, { name = 'i8', bits = 8 }\n"
            "@{to_f32(h, 'x')} @{from_f32(h, 'x')} @{to_bits(h, 'x')} @{element(h, 'w', 'i')}\n"
            "@{bits(b)} @{words(b, 4)} @{words(b, 5)} @{words(h, 8)} @{element(types.a, 'w', 3)}\n",
            "kiln_f16_to_f32(x) kiln_f32_to_f16(x) (unsigned)(kiln_uint16)kiln_f32_to_f16(x) "
            "(kiln_f16_t)KILN_ELEMENT16(w, i)\n"
            "8 1 2 4 kiln_from_bits(KILN_ELEMENT32(w, 3))\n");
    renders("@{to_bits({ name = 'i32', bits = 32 }, 'x')}\n", "(unsigned)kiln_f32_to_i32(x)\n");
    renders("@{bits({ name = 'u4', bits = 4 })} @{words({ name = 'u4', bits = 4 }, 9)}\n", "4 2\n");
    refuses("a\n@{to_f32(1, 'x')}\n", 2, "table expected");
    refuses("@{bits({})}\n", 1, "an element type is needed");
    refuses("@{to_f32(types.a)}\n", 1, "string expected");
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
    refuses("%% local function f() return nil .. 'x' end\ntext\ntext\n@{f()}\n", 1,
            "concatenate a nil");
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

/* What a template is told of b_op, given types and operator. */
static void element_op(const char *types, const char *b_op, const char *want)
{
    run r;
    char op[512];
    kg_buf out = {0};
    snprintf(op, sizeof op,
             "gemm 'it' { types = { { %s, e = f32 } }, layouts = { 'rcr' }, b_op = %s,\n"
             "epilogue = function(acc) return acc end }\n",
             types, b_op);
    spit_all(schedule_text, op, "@{op.has_b_op} @{fn.b_op ~= ''} @{op.has_a_op}\n");
    open_run(&r, at("templates"));
    assert_true(expand(&r, at("instances/it.lua")));
    assert_true(kg_render(&r.cx, r.cx.instance[0], &out));
    kg_put(&out, "", 1);
    if (strcmp(out.p, want)) fail_msg("%s, %s: %s", types, b_op, out.p);
    close_run(&r);
    kg_buf_free(&out);
    free(r.err);
}

/* An operator that only converts is the template's own conversion, and no operator. */
static void test_identity_ops(void **state)
{
    (void)state;
    static const char *const none = "false false false\n", *const some = "true true false\n";
    element_op("a = bf16, b = i8", "function(x) return x end", none);
    element_op("a = bf16, b = i8", "function(x) return cast(x, bf16) end", none);
    element_op("a = bf16, b = i8", "function(x) return cast(cast(x, f16), f32) end", none);
    element_op("a = f16, b = f8e5m2", "function(x) return cast(x, bf16) end", none);
    element_op("a = f32, b = bf16", "function(x) return cast(x, f32) end", none);
    element_op("a = i8, b = f32", "function(x) return cast(cast(x, f32), f32) end", none);
    element_op("a = bf16, b = i8", "function(x) return x * 1 end", some);
    element_op("a = bf16, b = i8", "function(x) return cast(x, f8e4m3) end", some);
    element_op("a = f32, b = f32", "function(x) return cast(x, bf16) end", some);
    element_op("a = f32, b = bf16", "function(x) return cast(x, f16) end", some);
    element_op("a = f16, b = f16", "function(x) return cast(x, i8) end", some);
    element_op("a = bf16, b = i8", "function(x) return cast(-cast(x, f16), bf16) end", some);
}

/* gemm's family.lua says what A and B are multiplied as, as abi/kiln_values.h does for the
 * reference. */
static void test_mul_types(void **state)
{
    (void)state;
    run r;
    kg_buf out = {0}, op = {0};
    static const kiln_dtype in[] = {KILN_F32,    KILN_F16,    KILN_BF16,       KILN_I8,
                                    KILN_F8E4M3, KILN_F8E5M2, KILN_F8E4M3FNUZ, KILN_F8E5M2FNUZ};
    kg_puts(&op, "gemm 'it' { types = {");
    for (size_t i = 0; i < 64; i++)
        kg_putf(&op, " { a = %s, b = %s, e = f32 },", kiln_formats[in[i / 8]].name,
                kiln_formats[in[i % 8]].name);
    kg_puts(&op, " }, layouts = { 'rcr' }, epilogue = function(acc) return acc end }\n");
    spit_all(schedule_text, op.p, "@{types.mul_a.name} @{types.mul_b.name}");
    open_run(&r, at("templates"));
    assert_true(expand(&r, at("instances/it.lua")));
    assert_int_equal(r.cx.ninstances, 128);
    for (size_t i = 0; i < r.cx.ninstances; i++) {
        const kg_instance *it = r.cx.instance[i];
        char want[64];
        kiln_dtype a, b;
        kiln_mul_types(it->types->type[0], it->types->type[1], &a, &b);
        snprintf(want, sizeof want, "%s %s", kiln_formats[a].name, kiln_formats[b].name);
        out.len = 0;
        assert_true(kg_render(&r.cx, it, &out));
        kg_put(&out, "", 1);
        assert_string_equal(out.p, want);
    }
    close_run(&r);
    kg_buf_free(&out);
    kg_buf_free(&op);
    free(r.err);
}

/* What op says of tensors, whatever the family. */
static void test_tensors(void **state)
{
    (void)state;
    renders(
        "%% for _, x in ipairs(op.tensors) do\n"
        "@{x.name} @{x.own or x.kind} @{x.type.name} @{x.layout} @{x.index} @{x.pitch} @{x.out}\n"
        "%% end\n@{#op.outputs} @{op.outputs[1].name} @{op.graph == nil}\n",
        "A a f32 r 0 0 false\nB b f32 c 1 1 false\nE e f32 r 3 2 true\n"
        "bias per_col f32 r 4 3 false\n1 E true\n");
}

/* ---- a family with outputs and reductions ---- */
static const char row_schedule[] =
    "return schedule { family = 'rowwise', title = 'test', supports = function() return true end,\n"
    "  tunables = {}, defaults = function() return { {} } end,\n"
    "  stages = function() return 4 end,\n"
    "  problem_rules = { { 'never', function(p) return ge(p.vector, 1) end } },\n"
    "  launch = function(p) local s = { grid = { p.rows }, block = { 64 } } return { s, s, s, s } "
    "end,\n"
    "  cost = function(p) return p.rows * p.cols * p.batch / p.units end }\n";
static const char row_op[] =
    "rowwise 'it' { types = { { x = bf16, y = f8e4m3 } },\n"
    "  d = { x = full 'x', w = per_col(f32), z = per_row(f32) }, scalars = { 'eps' },\n"
    "  outputs = { y = full 'y', scale = per_row(f32), top = per_block(f32, 1, 64) },\n"
    "  body = function(d, s, at)\n"
    "    local h = cast(d.x * rsqrt(row_mean(d.x * d.x) + s.eps), bf16) * d.w\n"
    "    local scale = max(row_max(abs(h)), 1e-12) / 448\n"
    "    return { y = select(lt(at.col, d.z), h / scale, 0), scale = scale, top = "
    "block_max(abs(h), 64) }\n"
    "  end }\n";

/* Renders the op with a schedule of its family; the text is the caller's. */
static char *render_rows(const char *tmpl, kg_instance *in)
{
    run r;
    kg_buf out = {0};
    spit("templates/targets/here.lua", target_text);
    spit_family("rowwise");
    spit("templates/rowwise/one.lua", row_schedule);
    spit("templates/rowwise/one.c.tmpl", tmpl);
    spit("instances/it.lua", row_op);
    open_run(&r, at("templates"));
    r.cx.out = at("rows");
    const bool good = expand(&r, at("instances/it.lua")) &&
                      kg_render(&r.cx, r.cx.instance[0], &out) && kg_emit(&r.cx);
    if (good) *in = *r.cx.instance[0];
    if (good) {
        assert_string_equal(in->name, "here/it/bf16_f8e4m3/one");
        assert_string_equal(in->id, "kiln_it_bf16_f8e4m3_one");
        assert_string_equal(in->path, "here/it/bf16_f8e4m3-one.c");
        assert_true(in->any_size);
    }
    close_run(&r);
    if (!good) fail_msg("%s", r.err);
    free(r.err);
    kg_put(&out, "", 1);
    return out.p;
}

static void test_graph(void **state)
{
    (void)state;
    kg_instance in;
    char *text = render_rows(
        "%% for _, x in ipairs(op.tensors) do\n"
        "@{x.name} @{x.kind} @{x.type.name} @{x.index} @{x.pitch} @{x.out} @{x.block or ''}\n%% "
        "end\n"
        "%% for _, x in ipairs(op.outputs) do\n"
        "@{x.name} @{x.index} @{op.graph[x.node].varies} @{op.graph[x.node].block}\n%% end\n"
        "%% for i, x in ipairs(op.graph) do\n"
        "%%   if x.op ~= 'const' or x.value ~= x.value then\n"
        "@{x.op} @{#x.args} @{x.name or x.text or x.index} @{x.cond} @{x.varies} @{x.block} "
        "@{x.phase}\n"
        "%%   end\n%% end\n@{call.body == nil} @{fn.body == nil}\n",
        &in);
    static const char *const want[] = {
        "w per_col f32 0 0 false \n", "x full bf16 1 1 false \n", "z per_row f32 2 2 false \n",
        "scale per_row f32 3 3 true \n", "top per_block f32 4 4 true 64\n",
        "y full f8e4m3 5 5 true \n",
        /* outputs */
        "scale 3 row 0\n", "top 4 both 64\n", "y 5 both 1\n",
        /* nodes */
        "d 0 x false both 1 0\n", "d 0 w false col 1 0\n", "d 0 z false row 0 0\n",
        "scalar 0 eps false none 0 0\n", "at 0 1 false col 1 0\n",
        "mul 2 (%0 * %1) false both 1 0\n", "row_mean 1 0 false row 0 1\n",
        "rsqrt 1 kiln_rsqrt(%0) false row 0 1\n",
        "cast 1 kiln_bf16_to_f32(kiln_f32_to_bf16(%0)) false both 1 1\n",
        "row_max 1 0 false row 0 2\n", "block_max 1 0 false both 64 1\n",
        "lt 2 (%0 < %1) true both 1 0\n", "select 3 ((%0) ? %1 : %2) false both 1 2\n",
        "true true\n"};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        if (!strstr(text, want[i])) fail_msg("no '%s' in\n%s", want[i], text);
    free(text);
}

static void test_stages(void **state)
{
    (void)state;
    kg_instance in;
    size_t len;
    free(render_rows("text\n", &in));
    assert_int_equal(in.stages, 4);
    char *module = slurp(at("rows/here/module.c"), &len);
    static const char *const want[] = {
        "    if (p->size[0] <= 0 || p->size[1] <= 0 || p->size[3] <= 0) return;\n",
        "static uint32_t rowwise_one_check(",
        "    if (!(p->vector >= 1)) return 1; /* never */\n",
        "    out->stage[3] = (kiln_stage_plan){ ",
        "kiln_it_bf16_f8e4m3_one_4\\0",
        ".sig = { KILN_BF16, KILN_F8E4M3 }",
        "struct kiln_rowwise_args;\n",
        "void kiln_it_bf16_f8e4m3_one(const struct kiln_rowwise_args *, kiln_each);\n"};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        if (!strstr(module, want[i])) fail_msg("no '%s' in\n%s", want[i], module);
    free(module);
    char *args = slurp(at("rows/here/kiln_rowwise_args.h"), &len);
    assert_non_null(strstr(args, "    void *d[12];"));
    assert_non_null(strstr(args, "sizeof(kiln_rowwise_args) == 352"));
    free(args);
}

/* A schedule's flags are in the source, so that other flags are another source. */
static void test_flags(void **state)
{
    (void)state;
    run r;
    kg_buf out = {0}, b = {0};
    const char *cut = strstr(schedule_text, "launch =");
    kg_put(&b, schedule_text, (size_t)(cut - schedule_text));
    kg_puts(&b, "flags = function(target) return { '-mllvm', '-of=' .. target.name } end, ");
    kg_puts(&b, cut);
    spit_all(b.p, op_text, "@{inst.banner}\n");
    kg_buf_free(&b);
    open_run(&r, at("templates"));
    r.cx.out = at("generated");
    assert_true(expand(&r, at("instances/it.lua")));
    assert_true(kg_render(&r.cx, r.cx.instance[0], &out));
    kg_put(&out, "", 1);
    assert_non_null(strstr(out.p, "TARGETS=here\n// Compiled with: -mllvm -of=here\n"));
    assert_true(kg_emit(&r.cx));
    close_run(&r);
    size_t len;
    char *rules = slurp(at("generated/here/rules.mk"), &len);
    assert_non_null(
        strstr(rules, "\nKILN_FLAGS_here/it/f32_f32_f32-rcr-one_m2.o := -mllvm -of=here\n"));
    free(rules);
    kg_buf_free(&out);
    free(r.err);
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
    schedule_refused("title = 'test'", "tilte = 'test'",
                     "unknown field 'tilte' (did you mean 'title'?)");
    schedule_refused("cost = function() return 1 end", "", "missing field 'cost'");
    schedule_refused("family = 'gemm'", "family = 'rows'",
                     "one.lua:1:19: error: family must be 'gemm'");
    schedule_refused("values = { 1, 2 }", "values = { 1.5 }",
                     "values must be a list of whole numbers");
    schedule_refused("{ { m = 1 }, { m = 2 } }", "{ { m = 3 } }",
                     "'m' is missing or not one of 1, 2");
    schedule_refused("{ { m = 1 }, { m = 2 } }", "{ { m = 1, n = 2 } }", "no tunable 'n'");
    schedule_refused("return 1 end", "return 1, 2 end", "list of parts beside the number");
    schedule_refused("return 1 end", "return 1, { 2 } end", "no list of a name and a number");
    schedule_refused("return 1 end", "return 1, { { '', 2 } } end", "a part without a name");
    schedule_refused("return 1 end", "return 1, { { 'x' } } end", "part 'x' is no number");
    schedule_refused("return 1 end", "return 1, { { 'x', 2, 'most' } } end",
                     "part 'x' is no time, least or count");
    schedule_refused("return 1 end",
                     "local l = {} for i = 1, 17 do l[i] = { 'x', i } end return 1, l end",
                     "has more than 16 parts");
    schedule_refused("return 1 end", "return p.m end", "unknown name 'p'");
    schedule_refused("grid = { p.m }", "grid = { p.bach }",
                     "p has no field 'bach' (did you mean 'batch'?)");
    schedule_refused("grid = { p.m }", "grid = { t.k }", "t has no field 'k'");
    schedule_refused("grid = { p.m }", "grid = { p.m / 2 }", "grid[1] has a fraction");
    /* Also where it is behind a condition, and where a constant has it. */
    schedule_refused("grid = { p.m }", "grid = { select(lt(p.m / 2, 3), 1, 2) }",
                     "one.lua:4:61: error: launch on here: grid[1] has a fraction: use whole "
                     "numbers, // or ceil_div");
    schedule_refused("launch =",
                     "workspace = function(p)\n local part = p.m * 0.95\n"
                     " return select(any(eq(p.n, 1), lt(part + 1, 9)), 1, 2)\nend, launch =",
                     "one.lua:5:19: error: workspace on here: the number has a fraction");
    schedule_refused("launch =",
                     "problem_rules = { { 'small', function(p) return not_(lt(min(p.m, 0.5), 1)) "
                     "end } }, launch =",
                     "error: problem rule 1 on here: the condition has a fraction");
    schedule_refused("grid = { p.m }", "grid = { 2.5 }",
                     "one.lua:4: error: launch on here: grid[1] has a fraction");
    schedule_refused("grid = { p.m }", "grid = { lt(p.m, 2) }",
                     "grid[1] is a condition, not a number");
    schedule_refused("grid = { p.m }", "grid = { p.m < 2 and 1 or 2 }", "use lt(x, y)");
    schedule_refused("grid = { p.m }", "grid = { 0 }", "grid[1] is 0");
    schedule_refused("block = { 1 }", "blok = { 1 }",
                     "unknown field 'blok' (did you mean 'block'?)");
    schedule_refused("block = { 1 }", "block = { 1 }, early = 1",
                     "launch on here: early is a number, not a condition");
    schedule_refused("block = { 1 }", "block = { 1 }, early = eq(p.m / 2, 1)",
                     "launch on here: early's condition has a fraction");
    schedule_refused("block = { 1 }", "block = { 1 }, erly = true",
                     "unknown field 'erly' (did you mean 'early'?)");
#define MAP_REFUSED(fields, want)                                                                  \
    schedule_refused("launch =",                                                                   \
                     "maps = function() return { { operand = 'a', inner = 64, outer = 64, " fields \
                     " } } end, launch =",                                                         \
                     want)
    MAP_REFUSED("outer = 300", "maps: 'outer' must be a whole number from 1 to 256");
    MAP_REFUSED("swizzle = 48", "maps: 'swizzle' must be 0, 32, 64 or 128");
    MAP_REFUSED("clip = 1", "maps: 'clip' must be true, false or 'rest'");
    MAP_REFUSED("clip = 'm'", "maps: 'clip' must be true, false or 'rest'");
    MAP_REFUSED("optional = 1", "maps: 'optional' must be true or false");
    MAP_REFUSED("promote = 96", "maps: 'promote' must be 0, 64, 128 or 256");
    MAP_REFUSED("promote = 128.5", "maps: 'promote' must be 0, 64, 128 or 256");
    MAP_REFUSED("clipp = true", "maps: unknown field 'clipp' (did you mean 'clip'?)");
    MAP_REFUSED("3", "maps: unknown field");
    schedule_refused("block = { 1 } } }", "block = { 1 } }, { grid = { 1 }, block = { 1 } } }",
                     "two stages");
    schedule_refused("'m' .. t.m", "'../x'", "letters, digits and _");
    schedule_refused("'m' .. t.m", "'same'",
                     "two tiles are called here/it/f32_f32_f32/rcr/one_same: 'm' is 1 and 2");
    schedule_refused("launch =", "rules = { { '{m} is odd', function(t) return 1 end } }, launch =",
                     "true or false");
    schedule_refused("launch =", "flags = function() return { '-O2;reboot' } end, launch =",
                     "flags on here: must return a list of options made of letters, digits");
    schedule_refused("launch =", "flags = function() return '-O2' end, launch =",
                     "flags on here: must return a list");
    schedule_refused(
        "launch =", "rules = { { 'm = {m}', function(t) return false end } }, launch =",
        "2 default tiles, 2 cut by e.g. m = 1 (here)");
    schedule_refused(
        "launch =",
        "problem_rules = { { 'K is odd', function(p) return eq(p.k % 2, 0) end } }, launch =",
        "of any size: one: K is odd");
}

/* ---- files ---- */
static void test_write_if_changed(void **state)
{
    (void)state;
    bool changed;
    struct stat first, second;
    size_t len;
    assert_true(kg_write_if_changed(at("file"), "text", 4, &changed));
    assert_true(changed);
    assert_int_equal(stat(at("file"), &first), 0);
    assert_true(kg_write_if_changed(at("file"), "text", 4, &changed));
    assert_false(changed);
    assert_int_equal(stat(at("file"), &second), 0);
    assert_memory_equal(&first.st_mtim, &second.st_mtim, sizeof first.st_mtim);
    assert_int_equal(first.st_ino, second.st_ino);
    assert_true(kg_write_if_changed(at("file"), "next", 4, &changed));
    assert_true(changed);
    char *text = slurp(at("file"), &len);
    assert_memory_equal(text, "next", 4);
    free(text);
    assert_true(kg_write_if_changed(at("file"), "", 0, &changed));
    assert_true(changed);
    assert_false(kg_write_if_changed(at("file/below"), "x", 1, &changed));
    assert_int_equal(errno, ENOTDIR);
    assert_int_not_equal(access(at("file.tmp"), F_OK), 0);
}

static void test_stage(void **state)
{
    (void)state;
    run r;
    kg_changes *s;
    size_t len;
    open_run(&r, "");
    spit("staged/.stage/7", "left by a killed run");
    spit("staged/kept", "old");
    assert_true(kg_changes_open(&r.cx, at("staged"), &s));
    assert_int_not_equal(access(at("staged/.stage/7"), F_OK), 0);
    assert_true(kg_changes_put(s, "sub/new", "1", 1));
    assert_true(kg_changes_put(s, "kept", "new", 3));
    kg_changes_close(s); /* not committed: nothing changed */
    assert_int_not_equal(access(at("staged/sub"), F_OK), 0);
    assert_int_not_equal(access(at("staged/.stage"), F_OK), 0);
    char *text = slurp(at("staged/kept"), &len);
    assert_string_equal(text, "old");
    free(text);
    assert_true(kg_changes_open(&r.cx, at("staged"), &s));
    assert_true(kg_changes_put(s, "sub/new", "1", 1));
    assert_true(kg_changes_put(s, "kept", "new", 3));
    assert_true(kg_changes_commit(s));
    kg_changes_close(s);
    text = slurp(at("staged/kept"), &len);
    assert_string_equal(text, "new");
    free(text);
    assert_int_equal(access(at("staged/sub/new"), F_OK), 0);
    assert_int_not_equal(access(at("staged/.stage"), F_OK), 0);
    close_run(&r);
    free(r.err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_holes),
        cmocka_unit_test(test_renderings_apart),
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_spelling),
        cmocka_unit_test(test_hole_errors),
        cmocka_unit_test(test_lua_lines),
        cmocka_unit_test(test_fresh_globals),
        cmocka_unit_test(test_epilogue_lines),
        cmocka_unit_test(test_identity_ops),
        cmocka_unit_test(test_mul_types),
        cmocka_unit_test(test_tensors),
        cmocka_unit_test(test_graph),
        cmocka_unit_test(test_stages),
        cmocka_unit_test(test_schedule_errors),
        cmocka_unit_test(test_write_if_changed),
        cmocka_unit_test(test_stage),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
