// SPDX-License-Identifier: MIT
// Every matrix instruction of both targets, in every variant that this CPU runs, against mfma_reference.h: whole
// numbers, any bits, denormals, infinities and NaNs; every cbsz, abid and blgp; SMFMAC's index sets; D in C's place and
// over A and B.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <fenv.h>
#include <cmocka.h>
#include "mfma.h"
#include "mfma_reference.h"

ks_op_table ks_mfma_ops_base(void), ks_mfma_ops_v3(void), ks_mfma_ops_v4(void);
static ks_op_table tables[3];
static int table_count;
static int tested[KS_MFMA_COUNT][KS_ARCH_COUNT];
static uint64_t seed = 1;
static rows x;

static int find_tables(void **state)
{
    (void)state;
    tables[table_count++] = ks_mfma_ops_base();
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) tables[table_count++] = ks_mfma_ops_v3();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        tables[table_count++] = ks_mfma_ops_v4();
#endif
    return 0;
}
static const ks_op *find(ks_op_table t, const char *name)
{
    for (size_t i = 0; i < t.count; i++)
        if (!strcmp(t.op[i].name, name)) return &t.op[i];
    fail_msg("no instruction %s", name);
    return NULL;
}
static ks_arch arch_of(const form *f)
{
    return strcmp(f->target, "gfx90a") ? KS_GFX942 : KS_GFX90A;
}

/* Runs it with d where the instruction is to write. */
static void run(const form *f, const ks_op *op, modifiers mod, uint32_t (*d)[64])
{
    ks_inst inst = { .op = op, .cbsz = (uint8_t)mod.cbsz, .abid = (uint8_t)mod.abid, .blgp = (uint8_t)mod.blgp };
    ks_lanes l = { .d = { d[0] }, .s = { x.a[0], x.b[0], f->sparse ? x.index : x.c[0], f->sparse ? x.c[0] : NULL },
                   .arch = arch_of(f), .inst = &inst, .mode = 0 };
    assert_null(ks_mfma_bad_modifier(&inst, arch_of(f)));
    op->lanes(&l);
}
static void check(const form *f, modifiers mod)
{
    static uint32_t want[32][64];
    reference(f, &x, mod, want);
    for (int t = 0; t < table_count; t++) {
        char text[256];
        memset(x.d, 0x55, sizeof(x.d));
        run(f, find(tables[t], f->name), mod, x.d);
        if (compare(f, (const uint32_t(*)[64])x.d, (const uint32_t(*)[64])want, text, sizeof(text)))
            fail_msg("%s (cbsz:%d abid:%d blgp:%d, variant %d)", text, mod.cbsz, mod.abid, mod.blgp, t);
    }
}

enum fill { WHOLE, NEAR, ANY };
/* NEAR: floats within a few binades of 1, of both signs; ANY: any bits, one word in four made special. */
static void fill_bits(const char *type, uint32_t (*regs)[64], int count, enum fill how)
{
    static const uint32_t special32[] = { 0,          0x80000000, 1,          0x807fffff, 0x7f800000,
                                          0xff800000, 0x7fc00000, 0x7f7fffff, 0x00800000 };
    static const uint32_t special16[] = { 0,      0x8000, 1,      0x83ff, 0x7c00, 0xfc00,
                                          0x7bff, 0x0400, 0x7f80, 0x807f, 0x0080, 0x7f7f };
    const bool wide = strstr(type, "32") || strstr(type, "64");
    for (int r = 0; r < count; r++)
        for (int l = 0; l < 64; l++) {
            uint32_t w = random_word(&seed);
            const bool chosen = how == ANY && random_word(&seed) % 4 == 0;
            if (how == NEAR && strstr(type, "64")) w = r % 2 ? (w & 0x803fffff) | 0x3fc00000 : w;
            else if (how == NEAR && strstr(type, "32")) w = (w & 0x81ffffff) | 0x3e000000;
            else if (how == NEAR && !strcmp(type, "bf16")) w = (w & 0x81ff81ff) | 0x3e003e00;
            else if (how == NEAR && strstr(type, "16")) w = (w & 0x8fff8fff) | 0x30003000;
            else if (chosen && wide) w = special32[w % 9];
            else if (chosen && strstr(type, "16")) w = special16[w % 12] | special16[w / 16 % 12] << 16;
            regs[r][l] = w;
        }
}
static void fill(const form *f, enum fill how)
{
    const char *c = f->i32 ? "i32" : f->f64 ? "f64" : "f32";
    fill_bits("u32", &x.index, 1, ANY);
    if (how == WHOLE) {
        fill_small(f->a, x.a, f->a_regs, 8, &seed);
        fill_small(f->b, x.b, f->b_regs, 8, &seed);
        fill_small(c, x.c, f->d_regs, 100, &seed);
        return;
    }
    fill_bits(f->a, x.a, f->a_regs, how);
    fill_bits(f->b, x.b, f->b_regs, how);
    fill_bits(c, x.c, f->d_regs, how);
}

/* ---- the table against the layouts: names, register counts; every form with every kind of input ---- */
static void visit_form(form *f, void *user)
{
    const modifiers none = { 0, 0, 0 };
    (void)user;
    for (int t = 0; t < table_count; t++) {
        const ks_op *op = find(tables[t], f->name);
        const ks_mfma_form *row = ks_mfma_form_of(op);
        assert_int_equal(row->m, f->l->m);
        assert_int_equal(row->k, f->l->k);
        assert_int_equal(op->s[0].count, f->a_regs);
        assert_int_equal(op->s[1].count, f->b_regs);
        assert_int_equal(op->s[f->sparse ? 3 : 2].count, f->d_regs);
        assert_int_equal(op->d[0].count, f->d_regs);
        assert_true(row->cycles[arch_of(f)] > 0);
        tested[op->form][arch_of(f)] = 1;
    }
    for (enum fill how = WHOLE; how <= ANY; how++) {
        fill(f, how);
        check(f, none);
        /* LLVM 15 prints some of gfx90a's names for gfx942. */
        if (arch_of(f) == KS_GFX90A && ks_mfma_form_of(find(tables[0], f->name))->cycles[KS_GFX942]) {
            strcpy(f->target, "gfx942");
            check(f, none);
            strcpy(f->target, "gfx90a");
        }
    }
}
static void every_form(void **state)
{
    (void)state;
    each_form(visit_form, NULL);
    int dense = 0, all = 0;
    for (size_t i = 0; i < tables[0].count; i++) {
        const ks_op *op = &tables[0].op[i];
        const ks_mfma_form *row = ks_mfma_form_of(op);
        assert_true(i == 0 || strcmp(tables[0].op[i - 1].name, op->name) < 0);
        assert_true(tested[op->form][KS_GFX90A] || tested[op->form][KS_GFX942]);
        if (!row->sparse) dense += tested[op->form][KS_GFX90A] + tested[op->form][KS_GFX942];
        all += tested[op->form][KS_GFX90A] + tested[op->form][KS_GFX942];
    }
    assert_int_equal(dense, 59);
    assert_int_equal(all, 73);
}

/* ---- modifiers ---- */
static bool has_blgp(const form *f)
{
    if (f->sparse) return false;
    if (arch_of(f) == KS_GFX90A) return !f->f64;
    return f->f64 || !strcmp(f->a, "f32") || f->l->blocks > 1;
}
static void visit_modifiers(form *f, void *user)
{
    int *count = user;
    fill(f, NEAR);
    for (int cbsz = 0; f->f64 ? !cbsz : 1 << cbsz <= f->l->blocks; cbsz++)
        for (int abid = 0; abid < 1 << cbsz && !f->sparse; abid++)
            for (int blgp = 0; blgp < (has_blgp(f) ? 8 : 1); blgp++, ++*count)
                check(f, (modifiers){ cbsz, abid, blgp });
}
static void every_modifier(void **state)
{
    int count = 0;
    (void)state;
    each_form(visit_modifiers, &count);
    assert_true(count > 2000);
}
static void visit_sets(form *f, void *user)
{
    (void)user;
    if (!f->sparse) return;
    for (int abid = 0; abid < 32 / f->sparse->set; abid++)
        for (int cbsz = 0; cbsz < 2; cbsz++) {
            fill(f, NEAR);
            check(f, (modifiers){ cbsz, abid, 0 });
        }
}
static void index_sets(void **state)
{
    (void)state;
    each_form(visit_sets, NULL);
}
static void refused_modifiers(void **state)
{
    static const struct {
        const char *name;
        ks_arch arch;
        int cbsz, abid, blgp;
        const char *bad;
    } rows_[] = {
        { "v_mfma_f32_32x32x8f16", KS_GFX90A, 0, 0, 3, NULL },
        { "v_mfma_f32_32x32x8_f16", KS_GFX942, 0, 0, 3, "blgp" },
        { "v_mfma_f32_32x32x8_f16", KS_GFX942, 1, 0, 0, "cbsz" },
        { "v_mfma_f32_32x32x8_f16", KS_GFX942, 0, 1, 0, "abid" },
        { "v_mfma_f32_4x4x1f32", KS_GFX90A, 5, 0, 0, "cbsz" },
        { "v_mfma_f32_4x4x1f32", KS_GFX90A, 2, 4, 0, "abid" },
        { "v_mfma_f64_4x4x4f64", KS_GFX90A, 0, 0, 1, "blgp" },
        { "v_mfma_f64_4x4x4_4b_f64", KS_GFX942, 0, 0, 7, NULL },
        { "v_smfmac_f32_16x16x32_f16", KS_GFX942, 1, 3, 0, NULL },
        { "v_smfmac_f32_16x16x32_f16", KS_GFX942, 0, 0, 1, "blgp" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows_) / sizeof(rows_[0]); i++) {
        ks_inst inst = { .op = find(tables[0], rows_[i].name), .cbsz = (uint8_t)rows_[i].cbsz,
                         .abid = (uint8_t)rows_[i].abid, .blgp = (uint8_t)rows_[i].blgp };
        const char *bad = ks_mfma_bad_modifier(&inst, rows_[i].arch);
        assert_true(rows_[i].bad ? bad && !strcmp(bad, rows_[i].bad) : !bad);
    }
}

/* ---- operands that share registers; MODE ---- */
static void visit_places(form *f, void *user)
{
    static uint32_t want[32][64], regs[40][64];
    const modifiers none = { 0, 0, 0 };
    (void)user;
    fill(f, NEAR);
    reference(f, &x, none, want);
    for (int t = 0; t < table_count; t++)
        for (int where = 0; where < 4; where++) { /* D is C; D covers A; D covers B; D covers the index */
            const ks_op *op = find(tables[t], f->name);
            memcpy(regs, where == 1 ? x.a : x.b, sizeof(x.a));
            if (where == 0) memcpy(regs, x.c, sizeof(x.c));
            if (where == 3) memcpy(regs[2], x.index, sizeof(x.index));
            ks_inst inst = { .op = op };
            const uint32_t *c = where == 0 ? regs[0] : x.c[0];
            const uint32_t *a = where == 1 ? regs[0] : x.a[0], *b = where == 2 ? regs[0] : x.b[0];
            const uint32_t *index = where == 3 ? regs[2] : x.index;
            ks_lanes l = { .d = { regs[0] }, .s = { a, b, f->sparse ? index : c, c }, .arch = arch_of(f),
                           .inst = &inst, .mode = 0xff };
            char text[256];
            fesetround(where == 0 ? FE_UPWARD : FE_TOWARDZERO);
            op->lanes(&l);
            assert_int_equal(fegetround(), where == 0 ? FE_UPWARD : FE_TOWARDZERO);
            fesetround(FE_TONEAREST);
            if (compare(f, (const uint32_t(*)[64])regs, (const uint32_t(*)[64])want, text, sizeof(text)))
                fail_msg("%s (D over %c, variant %d)", text, "CABI"[where], t);
        }
}
static void shared_registers(void **state)
{
    (void)state;
    each_form(visit_places, NULL);
}

/* gfx90a flushes f16's and bf16's denormals, C's and D's with them; f32 forms and gfx942 keep them. */
static void denormals(void **state)
{
    static const struct {
        const char *name;
        ks_arch arch;
        uint32_t a, b, c, d;
    } rows_[] = {
        { "v_mfma_f32_32x32x8f16", KS_GFX90A, 0x0001, 0x3c00, 0, 0 },
        { "v_mfma_f32_32x32x8_f16", KS_GFX942, 0x0001, 0x3c00, 0, 0x33800000 },
        { "v_mfma_f32_32x32x8f16", KS_GFX90A, 0, 0, 0x00400000, 0 },
        { "v_mfma_f32_32x32x8_f16", KS_GFX942, 0, 0, 0x00400000, 0x00400000 },
        { "v_mfma_f32_32x32x8bf16_1k", KS_GFX90A, 0x0040, 0x4000, 0, 0 },
        { "v_mfma_f32_32x32x8_bf16", KS_GFX942, 0x0040, 0x4000, 0, 0x00800000 },
        { "v_mfma_f32_32x32x8bf16_1k", KS_GFX90A, 0x8080, 0x3f00, 0, 0x80000000 },
        { "v_mfma_f32_32x32x8_bf16", KS_GFX942, 0x8080, 0x3f00, 0, 0x80400000 },
        { "v_mfma_f32_32x32x2f32", KS_GFX90A, 0x00400000, 0x3f800000, 1, 0x00400001 },
        { "v_mfma_f32_32x32x4_xf32", KS_GFX942, 0x3fffffff, 0x3f800000, 0, 0x3fffe000 },
    };
    (void)state;
    for (int t = 0; t < table_count; t++)
        for (size_t i = 0; i < sizeof(rows_) / sizeof(rows_[0]); i++) {
            ks_inst inst = { .op = find(tables[t], rows_[i].name) };
            ks_lanes l = { .d = { x.d[0] }, .s = { x.a[0], x.b[0], x.c[0] }, .arch = rows_[i].arch, .inst = &inst };
            memset(&x, 0, sizeof(x));
            for (int c = 0; c < 32; c++)
                for (int lane = 0; lane < 64; lane++) x.c[c][lane] = rows_[i].c;
            x.a[0][0] = rows_[i].a; /* A[0][0] */
            x.b[0][0] = rows_[i].b; /* B[0][0] */
            inst.op->lanes(&l);
            if (x.d[0][0] != rows_[i].d)
                fail_msg("%s, variant %d: %08x, not %08x", rows_[i].name, t, x.d[0][0], rows_[i].d);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form),        cmocka_unit_test(every_modifier),   cmocka_unit_test(index_sets),
        cmocka_unit_test(refused_modifiers), cmocka_unit_test(shared_registers), cmocka_unit_test(denormals),
    };
    return cmocka_run_group_tests_name("mfma", tests, find_tables, NULL);
}
