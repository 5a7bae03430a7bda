// SPDX-License-Identifier: MIT
// The front half of kiln-gen from the inside: arena and buffers, suggestions and quoting, the lexer
// and the places of table fields, and the C text that traced expressions are lowered to.
#define _GNU_SOURCE /* memfd_create */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "gen.h"
#include "srcmap.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- arena, buffers ---- */

static void arena_is_zeroed_and_aligned(void **state)
{
    (void)state;
    kg_arena *a = kg_arena_new();
    unsigned char *last = NULL;
    static const size_t sizes[] = {1, 15, 16, 17, 1000, 20000, 70000, 1 << 20, 3, 0, 64};
    for (int round = 0; round < 20; round++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            unsigned char *p = kg_alloc(a, sizes[i]);
            assert_int_equal((uintptr_t)p % 16, 0);
            for (size_t k = 0; k < sizes[i]; k++) assert_int_equal(p[k], 0);
            if (last && sizes[i]) assert_true(p != last);
            memset(p, 0xA5, sizes[i]); /* a neighbour that is not zero later was handed out twice */
            if (sizes[i]) last = p;
        }
    }
    assert_string_equal(kg_strndup(a, "abcdef", 3), "abc");
    assert_string_equal(kg_printf(a, "%d-%s", 42, "x"), "42-x");
    kg_arena_free(a);
}

static void buffers_grow(void **state)
{
    (void)state;
    kg_buf b = {0};
    for (int i = 0; i < 5000; i++) kg_putf(&b, "%d,", i);
    kg_puts(&b, "end");
    kg_put(&b, "", 0);
    assert_int_equal(b.len, 10 + 90 * 2 + 900 * 3 + 4000 * 4 + 5000 + 3);
    assert_int_equal(strlen(b.p), b.len);
    assert_string_equal(b.p + b.len - 8, "4999,end");
    kg_buf_free(&b);
    assert_null(b.p);
}

static jmp_buf jump;

static void out_of_memory_jumps(void **state)
{
    (void)state;
    kg_arena *a = kg_arena_new();
    kg_on_oom(&jump);
    if (setjmp(jump) == 0) {
        kg_alloc(a, SIZE_MAX - 100);
        fail_msg("an impossible size was allocated");
    }
    kg_on_oom(NULL);
    kg_arena_free(a);
}

/* ---- messages ---- */

typedef struct run {
    kg_ctx cx;
    char *text;
    size_t len;
    int fd;
} run;

static void start(run *r)
{
    memset(r, 0, sizeof *r);
    r->fd = -1;
    r->cx.arena = kg_arena_new();
    r->cx.err = open_memstream(&r->text, &r->len);
    r->cx.templates = KILN_TEST_ROOT "/templates";
    assert_non_null(r->cx.err);
}

static void end_run(run *r)
{
    kg_lang_close(&r->cx);
    fclose(r->cx.err);
    free(r->text);
    kg_arena_free(r->cx.arena);
    if (r->fd >= 0) close(r->fd);
}

static void messages_are_sorted_and_counted(void **state)
{
    (void)state;
    static const char source[] = "one\n\ttwo\xC3\xA9 x\nthree\n";
    run r;
    start(&r);
    kg_source_add(&r.cx, "a.lua", source, strlen(source));
    kg_error(&r.cx, (kg_pos){"a.lua", 3, 2}, "later %d", 2);
    kg_error(&r.cx, (kg_pos){"a.lua", 2, 8}, "earlier\nline");
    kg_note(&r.cx, (kg_pos){"a.lua", 1, 1}, "belongs to it");
    kg_error(&r.cx, (kg_pos){"a.lua", 3, 2}, "later %d", 2);
    kg_error(&r.cx, (kg_pos){"b.lua", 0, 0}, "no place");
    kg_diag_flush(&r.cx);
    fflush(r.cx.err);
    assert_string_equal(r.text, "a.lua:2:8: error: earlier line\n"
                                "    2 |  two\xC3\xA9 x\n"
                                "      |       ^\n"
                                "a.lua:1:1: note: belongs to it\n"
                                "    1 | one\n"
                                "      | ^\n"
                                "a.lua:3:2: error: later 2\n"
                                "    3 | three\n"
                                "      |  ^\n"
                                "b.lua: error: no place\n");
    end_run(&r);
}

static void suggestions_are_close(void **state)
{
    (void)state;
    static const char *const names[] = {"epilogue", "types", "layouts", "bias", "m", "io"};
    static const struct {
        const char *word, *want;
    } cases[] = {{"epilog", "epilogue"}, {"eplogue", "epilogue"},
                 {"bais", "bias"},       {"typse", "types"},
                 {"layout", "layouts"},  {"n", NULL},
                 {"colour", NULL},       {"", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *got = kg_closest(cases[i].word, names, 6);
        if (cases[i].want) assert_string_equal(got, cases[i].want);
        else assert_null(got);
    }
}

static void quoting_is_safe(void **state)
{
    (void)state;
    run r;
    start(&r);
    assert_string_equal(kg_quote(&r.cx, "plain", 5), "'plain'");
    assert_string_equal(kg_quote(&r.cx, "a\n\x1b\xff\0b", 6), "'a\\x0a\\x1b\\xff\\x00b'");
    char large[5000];
    memset(large, 'y', sizeof large);
    assert_string_equal(kg_quote(&r.cx, large, sizeof large),
                        "'yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy...' (5000 bytes)");
    end_run(&r);
}

/* ---- lexer and places ---- */

static void tokens(void **state)
{
    (void)state;
    static const char text[] =
        "local x <const> = 0x1p-4 --[==[ ]] \n ]==] .. [[a\n]] ~= 'q\\'r' // 3e+2 -- end";
    static const char *const want[] = {"local", "x",       "<",  "const",   ">",  "=",   "0x1p-4",
                                       "..",    "[[a\n]]", "~=", "'q\\'r'", "//", "3e+2"};
    kg_arena *a = kg_arena_new();
    kg_tokens *t = kg_lex(a, text, strlen(text));
    assert_int_equal(t->n, sizeof want / sizeof *want);
    for (size_t i = 0; i < t->n; i++) assert_true(kg_token_is(t, i, want[i]));
    assert_int_equal(t->v[0].kind, KG_TOK_KEYWORD);
    assert_int_equal(t->v[8].kind, KG_TOK_STRING);
    assert_int_equal(t->v[8].line, 2);
    assert_int_equal(t->v[9].line, 3);
    assert_int_equal(t->v[9].col, 4);
    assert_int_equal(kg_column(t, 1, "const"), 10);
    assert_int_equal(kg_column(t, 1, "absent"), 1);
    assert_int_equal(kg_column(t, 9, "x"), 0);
    assert_int_equal(t->v[t->n].kind, KG_TOK_END);
    kg_arena_free(a);
}

static void unfinished_text_ends(void **state)
{
    (void)state;
    static const char *const texts[] = {"",   "[[", "[==",    "--[[",         "\"a\\",   "'",
                                        "0x", "a.", "[=[ ]]", "gemm \"x\" {", "gemm {{{"};
    kg_arena *a = kg_arena_new();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        kg_tokens *t = kg_lex(a, texts[i], strlen(texts[i]));
        assert_int_equal(t->v[t->n].kind, KG_TOK_END);
        kg_place_of_call(a, t, "gemm", 1, "x");
    }
    kg_arena_free(a);
}

static void places(void **state)
{
    (void)state;
    static const char text[] =
        "local gemm = gemm\n"
        "gemm \"a\" { x = 1 } gemm(\"b\")({\n"
        "  types = { { a = f16 },\n"
        "            { a = f32, [\"b\"] = g(1, { 2 }) } },\n"
        "  epilogue = function(t) if t then return { types = 3 } end end, tail = 4;\n"
        "  tiles = { gfx942 = { simt { m = { 1, 2 } } } },\n"
        "})\n";
    kg_arena *a = kg_arena_new();
    kg_tokens *t = kg_lex(a, text, strlen(text));
    const kg_place *p = kg_place_of_call(a, t, "gemm", 2, "b");
    assert_non_null(p);
    assert_null(kg_place_field(p, "x"));
    const kg_place *b = kg_place_field(kg_place_item(kg_place_field(p, "types"), 2), "b");
    assert_non_null(b);
    assert_int_equal(t->v[b->tok].line, 4);
    assert_int_equal(t->v[b->tok].col, 32);
    assert_int_equal(t->v[b->key_tok].col, 24);
    const kg_place *tail = kg_place_field(p, "tail");
    assert_non_null(tail);
    assert_true(kg_token_is(t, tail->tok, "4"));
    const kg_place *m =
        kg_place_field(kg_place_item(kg_place_field(kg_place_field(p, "tiles"), "gfx942"), 1), "m");
    assert_true(kg_token_is(t, kg_place_item(m, 2)->tok, "2"));
    assert_non_null(kg_place_field(kg_place_of_call(a, t, "gemm", 2, "a"), "x"));
    assert_null(kg_place_of_call(a, t, "gemm", 5, "a"));
    assert_null(kg_place_field(NULL, "x"));
    kg_arena_free(a);
}

/* ---- lowering ---- */

static const char *leaf(void *arg, const kiln_xnode *x)
{
    static const char *const d[] = {"d_p", "d_q"};
    (void)arg;
    switch (x->op) {
    case KILN_X_ACC: return x->index ? "acc1" : "acc0";
    case KILN_X_D: return d[x->index];
    case KILN_X_SCALAR: return "s_alpha";
    default: return "x";
    }
}

/* Loads a text as an instance file; its one op. */
static const kg_op *load(run *r, const char *text)
{
    char path[64];
    start(r);
    r->fd = memfd_create("op", 0);
    assert_true(r->fd >= 0);
    dprintf(r->fd, "%s", text);
    snprintf(path, sizeof path, "/proc/self/fd/%d", r->fd);
    const char *paths[] = {path};
    bool ok = kg_families_load(&r->cx) && kg_lang_load(&r->cx, paths, 1);
    kg_diag_flush(&r->cx);
    fflush(r->cx.err);
    if (!ok) print_error("%s", r->text);
    assert_true(ok);
    assert_int_equal(r->cx.nops, 1);
    return r->cx.op[0];
}

/* The C text of `return <expression>` with acc, d.p, d.q and s.alpha. */
static void lowers_to(const char *body, const char *want)
{
    run r;
    kg_buf source = {0};
    kg_putf(&source,
            "gemm \"x\" { types = { { a = f32, b = f32, e = f32 } }, layouts = { \"rrr\" },\n"
            "d = { p = full(), q = per_row() }, scalars = { \"alpha\" },\n"
            "epilogue = function(acc, d, s)\n  local all = (d.p + d.q) * s.alpha\n  %s\nend }\n",
            body);
    const kg_op *op = load(&r, source.p);
    kg_buf_free(&source);
    kg_buf text = {0};
    kg_expr_lower(&op->function[0], &(kg_names){leaf, NULL}, "", &text);
    assert_string_equal(text.p, want);
    kg_buf_free(&text);
    end_run(&r);
}

#define ALL "((d_p + d_q) * s_alpha)"
#define ALL_BARE "(d_p + d_q) * s_alpha"
static void lowering(void **state)
{
    (void)state;
    lowers_to("return acc - d.p + d.q - all * acc / 2",
              "return acc0 - d_p + d_q - (" ALL_BARE " * acc0 / 2.0f);\n");
    lowers_to("return acc - (d.p - all) / (acc / 3)",
              "return acc0 - ((d_p - " ALL ") / (acc0 / 3.0f));\n");
    lowers_to("return acc + all", "return acc0 + " ALL ";\n");
    lowers_to("return relu(acc - all)", "return kiln_relu(acc0 - " ALL ");\n");
    lowers_to("return -(-acc) + -1 * all", "return (-(-acc0)) + ((-1.0f) * " ALL ");\n");
    lowers_to("return select(lt(acc, 0), all, max(acc, 1))",
              "return (acc0 < 0.0f) ? " ALL " : kiln_max(acc0, 1.0f);\n");
    lowers_to("return clamp(acc * all, -127, 127)",
              "return kiln_clamp(acc0 * " ALL ", (-127.0f), 127.0f);\n");
    lowers_to("return cast(acc + all, bf16)",
              "return kiln_bf16_to_f32(kiln_f32_to_bf16(acc0 + " ALL "));\n");
    lowers_to("return cast(acc, f32) + all", "return acc0 + " ALL ";\n");
}

static void shared_values_become_variables(void **state)
{
    (void)state;
    lowers_to("local y = acc + all; return y * tanh(y)",
              "const float t0 = acc0 + " ALL ";\nreturn t0 * kiln_tanh(t0);\n");
    lowers_to("local c = lt(acc, all); return select(c, acc, all) + select(c, 1, 2)",
              "const float t0 = (d_p + d_q) * s_alpha;\nconst int t1 = acc0 < t0;\n"
              "return ((t1) ? acc0 : t0) + ((t1) ? 1.0f : 2.0f);\n");
    /* The same expression written twice is one value. */
    lowers_to("return (acc + all) * (acc + all)",
              "const float t0 = acc0 + " ALL ";\nreturn t0 * t0;\n");
}

static void powers(void **state)
{
    (void)state;
    lowers_to("return acc ^ 2 + all", "return (acc0 * acc0) + " ALL ";\n");
    lowers_to("return acc ^ 3 * all", "return acc0 * (acc0 * acc0) * " ALL ";\n");
    lowers_to("return acc ^ -1 * all", "return 1.0f / acc0 * " ALL ";\n");
    lowers_to("return acc ^ 0.5 * all", "return kiln_sqrt(acc0) * " ALL ";\n");
    lowers_to("return acc ^ -0.5 * all", "return kiln_rsqrt(acc0) * " ALL ";\n");
    lowers_to("return acc ^ 2.5 * all", "return kiln_pow(acc0, 2.5f) * " ALL ";\n");
    lowers_to("return 2 ^ acc * all", "return kiln_pow(2.0f, acc0) * " ALL ";\n");
}

static void constants_are_exact(void **state)
{
    (void)state;
    lowers_to("return acc * 0.1 + all", "return (acc0 * 0.1f) + " ALL ";\n");
    lowers_to("return acc * 1e-30 + all", "return (acc0 * 1e-30f) + " ALL ";\n");
    lowers_to("return acc * 16777217 + all", "return (acc0 * 16777216.0f) + " ALL ";\n");
    lowers_to("return acc * (1 / 3) + all", "return (acc0 * 0.33333334f) + " ALL ";\n");
    lowers_to("return min(acc, math.huge) + all",
              "return kiln_min(acc0, __builtin_huge_valf()) + " ALL ";\n");
    lowers_to("return acc * sqrt(16) + all", "return (acc0 * 4.0f) + " ALL ";\n");
}

/* ---- families ---- */

/* name at arg own kind type layout rows cols pointer pitch out row_block col_block */
static void tensor_is(const kg_op *op, size_t i, const char *want)
{
    const kg_tensor *t = &op->tensor[i];
    char text[200];
    assert_true(i < op->ntensors);
    snprintf(text, sizeof text, "%s at %d arg %d own %d kind %d type %02x layout %02x %d x %d pointer %d pitch %d%s %d %d",
             t->name, t->at, t->arg, t->own, t->kind, t->type, t->layout, t->rows, t->cols, t->pointer, t->pitch,
             t->out ? " out" : "", t->row_block, t->col_block);
    assert_string_equal(text, want);
    if (op->family->planes == KILN_NOWHERE) assert_int_equal(t->planes, KILN_NOWHERE);
}

static void tensors_of_gemm(void **state)
{
    (void)state;
    run r;
    const kg_op *op = load(&r, "gemm 'x' { types = { { a = f16, b = i8, e = f32 } }, layouts = { 'rcr' },\n"
                               "b = { 'gate', 'up' }, d = { bias = per_col(f16), c = full('acc', 'c'), r = full() },\n"
                               "epilogue = function(acc, d) return acc.gate * acc.up + d.bias + d.c - d.r end }\n");
    assert_int_equal(op->ntensors, 7);
    tensor_is(op, 0, "A at 0 arg 0 own 0 kind 0 type 80 layout 80 0 x 2 pointer 0 pitch 0 1 1");
    tensor_is(op, 1, "gate at 1 arg 1 own 1 kind 0 type 81 layout 81 2 x 1 pointer 1 pitch 1 1 1");
    tensor_is(op, 2, "up at 1 arg 2 own 1 kind 0 type 81 layout 81 2 x 1 pointer 2 pitch 1 1 1");
    tensor_is(op, 3, "E at 2 arg 11 own 2 kind 0 type 82 layout 82 0 x 1 pointer 3 pitch 2 out 1 1");
    tensor_is(op, 4, "bias at 3 arg 3 own 255 kind 3 type 02 layout 00 255 x 1 pointer 4 pitch 3 1 1");
    tensor_is(op, 5, "c at 4 arg 4 own 255 kind 1 type 83 layout 02 0 x 1 pointer 5 pitch 4 1 1");
    tensor_is(op, 6, "r at 5 arg 5 own 255 kind 1 type 82 layout 82 0 x 1 pointer 6 pitch 5 1 1");
    assert_int_equal(op->first_input, 4);
    assert_int_equal(op->ninputs, 3);
    assert_int_equal(op->noutputs, 1);
    assert_ptr_equal(kg_output(op, 0), &op->tensor[3]);
    assert_string_equal(kg_output_name(op, 0), "e");
    assert_false(kg_names_outputs(op));
    assert_int_equal(op->products, 2);
    assert_int_equal(op->tensor[3].result, op->function[0].count - 1);
    assert_int_equal(op->types[0].type[3], KILN_F32);
    assert_int_equal(op->family->pointers, 12);
    assert_int_equal(op->family->pitches, 11);
    assert_int_equal(op->family->args_size, 344);
    end_run(&r);
}

static const char rmsnorm[] =
    "rowwise 'x' {\n"
    "  types = { { y = f8e4m3, x = bf16 }, { x = f16, y = i8 } }, scalars = { 'eps' },\n"
    "  d = { x = full 'x', residual = full 'x', weight = per_col 'x', by = per_row(f32) },\n"
    "  outputs = { sum = full 'x', y = full 'y', scale = per_row(f32), block = per_block(f32, 1, 128), one = full(f32) },\n"
    "  body = function(d, s, at)\n"
    "    local sum = cast(d.x + d.residual, bf16)\n"
    "    local y = sum * rsqrt(row_mean(sum * sum) + s.eps) * d.weight\n"
    "    local scale = max(row_max(abs(y)), 1e-12) / 448\n"
    "    return { sum = sum, y = select(lt(at.col, at.row), y / scale, d.by), scale = scale,\n"
    "             block = block_max(block_sum(y, 32), 128), one = 1 }\n"
    "  end }\n";

static void tensors_of_rowwise(void **state)
{
    (void)state;
    run r;
    const kg_op *op = load(&r, rmsnorm);
    assert_int_equal(op->nsig_types, 2);
    assert_string_equal(op->type_name[0], "x");
    assert_string_equal(op->type_name[1], "y");
    assert_int_equal(op->types[0].type[0], KILN_BF16);
    assert_int_equal(op->types[1].type[1], KILN_I8);
    assert_int_equal(op->nlayouts, 1);
    assert_int_equal(op->products, 0);
    tensor_is(op, 0, "by at 0 arg 0 own 255 kind 2 type 01 layout 00 0 x 255 pointer 0 pitch 0 1 1");
    tensor_is(op, 1, "residual at 1 arg 1 own 255 kind 1 type 80 layout 01 0 x 1 pointer 1 pitch 1 1 1");
    tensor_is(op, 2, "weight at 2 arg 2 own 255 kind 3 type 80 layout 00 255 x 1 pointer 2 pitch 2 1 1");
    tensor_is(op, 3, "x at 3 arg 3 own 255 kind 1 type 80 layout 01 0 x 1 pointer 3 pitch 3 1 1");
    tensor_is(op, 4, "block at 4 arg 4 own 255 kind 5 type 01 layout 01 0 x 1 pointer 4 pitch 4 out 1 128");
    tensor_is(op, 5, "one at 5 arg 5 own 255 kind 1 type 01 layout 01 0 x 1 pointer 5 pitch 5 out 1 1");
    tensor_is(op, 6, "scale at 6 arg 6 own 255 kind 2 type 01 layout 00 0 x 255 pointer 6 pitch 6 out 1 1");
    tensor_is(op, 8, "y at 8 arg 8 own 255 kind 1 type 81 layout 01 0 x 1 pointer 8 pitch 8 out 1 1");
    assert_int_equal(op->ntensors, 9);
    assert_int_equal(op->first_input, 0);
    assert_int_equal(op->ninputs, 4);
    assert_int_equal(op->noutputs, 5);
    assert_ptr_equal(kg_output(op, 4), &op->tensor[8]);
    assert_string_equal(kg_output_name(op, 4), "y");
    assert_true(kg_names_outputs(op));
    assert_true(op->uses_at);
    assert_int_equal(op->family->pointers, 12);
    assert_int_equal(op->family->pitches, 12);
    assert_int_equal(op->family->args_size, 8 * 13 + 16 * 12 + 12 + 32 + 8 + 4);
    end_run(&r);
}

static void outputs_share_one_graph(void **state)
{
    (void)state;
    run r;
    const kg_op *op = load(&r, rmsnorm);
    const kg_expr *e = &op->function[0];
    kg_vary v[64];
    assert_true(e->count < 64);
    kg_expr_vary(op, v);
    static const struct {
        kiln_xop root;
        bool rows;
        unsigned block, phase;
    } want[] = {{KILN_X_BLOCK_MAX, true, 128, 1}, {KILN_X_CONST, false, 0, 0}, {KILN_X_DIV, true, 0, 2},
                {KILN_X_CAST, true, 1, 0},        {KILN_X_SELECT, true, 1, 2}}; /* block one scale sum y */
    for (size_t i = 0; i < 5; i++) {
        size_t at = op->tensor[4 + i].result;
        assert_int_equal(e->node[at].op, want[i].root);
        assert_int_equal(v[at].rows, want[i].rows);
        assert_int_equal(v[at].block, want[i].block);
        assert_int_equal(v[at].phase, want[i].phase);
    }
    for (size_t i = 0; i < e->count; i++) { /* operands first; the same value once */
        for (size_t k = 0; k < i; k++) assert_memory_not_equal(&e->node[i], &e->node[k], sizeof *e->node);
        if (e->node[i].op == KILN_X_BLOCK_SUM) assert_int_equal(e->node[i].value, 32);
        if (e->node[i].op == KILN_X_BLOCK_SUM) assert_int_equal(v[i].block, 32);
    }
    end_run(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_is_zeroed_and_aligned),
        cmocka_unit_test(buffers_grow),
        cmocka_unit_test(out_of_memory_jumps),
        cmocka_unit_test(messages_are_sorted_and_counted),
        cmocka_unit_test(suggestions_are_close),
        cmocka_unit_test(quoting_is_safe),
        cmocka_unit_test(tokens),
        cmocka_unit_test(unfinished_text_ends),
        cmocka_unit_test(places),
        cmocka_unit_test(lowering),
        cmocka_unit_test(shared_values_become_variables),
        cmocka_unit_test(powers),
        cmocka_unit_test(constants_are_exact),
        cmocka_unit_test(tensors_of_gemm),
        cmocka_unit_test(tensors_of_rowwise),
        cmocka_unit_test(outputs_share_one_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
