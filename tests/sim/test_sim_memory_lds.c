// SPDX-License-Identifier: MIT
// DS instructions against what this file computes; undefined bits through LDS; bank conflicts and
// segments; races.
#include "memory_wave.h"

static uint32_t word_at(unsigned byte)
{
    uint32_t x;
    memcpy(&x, group.lds + byte, 4);
    return x;
}

/* ---- Values ---- */
/* name, bytes, sign, half (1 low, 2 high) */
static const struct {
    const char *name;
    unsigned bytes, sign, half;
} reads[] = {{"u8", 1, 0, 0},         {"i8", 1, 1, 0},        {"u16", 2, 0, 0},
             {"i16", 2, 1, 0},        {"u8_d16", 1, 0, 1},    {"u8_d16_hi", 1, 0, 2},
             {"i8_d16", 1, 1, 1},     {"i8_d16_hi", 1, 1, 2}, {"u16_d16", 2, 0, 1},
             {"u16_d16_hi", 2, 0, 2}, {"b32", 4, 0, 0},       {"b64", 8, 0, 0},
             {"b96", 12, 0, 0},       {"b128", 16, 0, 0}};
static void read_forms(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof(reads) / sizeof(reads[0]); i++)
        for (int full = 0; full < 2; full++) {
            char name[32];
            uint64_t exec = full ? ~0ull : 0xf0f0f0f0aaaa5555ull;
            uint32_t before[4][KS_LANES];
            reset();
            snprintf(name, sizeof(name), "ds_read_%s", reads[i].name);
            ks_inst in = make(name, 2, 2, ABSENT, ABSENT, ABSENT);
            in.offset = 64;
            ks_exec_set(w, exec);
            for (unsigned l = 0; l < KS_LANES; l++)
                w->v[2][l] = noise() % 500 * 16 + (reads[i].bytes < 4 ? noise() % 8 : 0);
            memcpy(before, w->v[2], sizeof(before));
            run(&in);
            for (unsigned l = 0; l < KS_LANES; l++)
                for (unsigned r = 0; r < 4; r++) {
                    uint32_t want = before[r][l], x = 0;
                    unsigned n = reads[i].bytes < 4 ? reads[i].bytes : 4;
                    if (exec >> l & 1 && 4 * r < reads[i].bytes) {
                        memcpy(&x, group.lds + before[0][l] + 64 + 4 * r, n);
                        if (reads[i].sign && x >> (n * 8 - 1)) x |= ~0u << n * 8;
                        want = reads[i].half == 1 ? x & 0xffff : reads[i].half == 2 ? x << 16 : x;
                    }
                    if (w->v[2 + r][l] != want)
                        fail_msg("%s lane %u register %u: 0x%x, expected 0x%x", name, l, r,
                                 w->v[2 + r][l], want);
                }
            assert_int_equal(findings(), 0);
        }
}

static void write_forms(void **state)
{
    static const struct {
        const char *name;
        unsigned bytes, shift;
    } forms[] = {{"b8", 1, 0},  {"b16", 2, 0}, {"b8_d16_hi", 1, 16}, {"b16_d16_hi", 2, 16},
                 {"b32", 4, 0}, {"b64", 8, 0}, {"b96", 12, 0},       {"b128", 16, 0}};
    static uint8_t expected[LDS_BYTES];
    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        char name[32];
        reset();
        snprintf(name, sizeof(name), "ds_write_%s", forms[i].name);
        ks_inst in = make(name, ABSENT, 2, 20, ABSENT, ABSENT);
        in.offset = 4;
        ks_exec_set(w, 0xffffffff0fffffffull);
        memcpy(expected, group.lds, LDS_BYTES);
        for (unsigned l = 0; l < KS_LANES; l++) {
            w->v[2][l] = l * 41 % 64 * 32 + noise() % 2 * 8;
            for (unsigned b = 0; ks_exec_of(w) >> l & 1 && b < forms[i].bytes; b++)
                expected[w->v[2][l] + 4 + b] =
                    (uint8_t)(w->v[20 + b / 4][l] >> (b % 4 * 8 + forms[i].shift));
        }
        run(&in);
        assert_memory_equal(expected, group.lds, LDS_BYTES);
        assert_int_equal(findings(), 0);
    }
}

/* read2, write2, wrxchg2: two addresses in steps of 4, 8, or 64 of them. */
static void pairs(void **state)
{
    static const struct {
        const char *name, *exchange;
        unsigned bytes, unit;
    } forms[] = {{"2_b32", "2_rtn_b32", 4, 4},
                 {"2st64_b32", "2st64_rtn_b32", 4, 256},
                 {"2_b64", "2_rtn_b64", 8, 8},
                 {"2st64_b64", "2st64_rtn_b64", 8, 512}};
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        char name[32];
        static uint8_t old[LDS_BYTES];
        unsigned words = forms[i].bytes / 4;
        uint32_t data[4][KS_LANES];
        for (int kind = 0; kind < 3; kind++) {
            reset();
            snprintf(name, sizeof(name), "ds_%s%s",
                     kind == 0   ? "read"
                     : kind == 1 ? "write"
                                 : "wrxchg",
                     kind == 2 ? forms[i].exchange : forms[i].name);
            /* the result overlaps the data */
            ks_inst in = make(name, kind == 1 ? ABSENT : 20, 2, kind ? 20 : ABSENT,
                              kind ? 20 + (int)words : ABSENT, ABSENT);
            in.offset = 9;
            in.offset1 = 1;
            for (unsigned l = 0; l < KS_LANES; l++) w->v[2][l] = l * 8;
            if (forms[i].unit < 256)
                for (unsigned l = 0; l < KS_LANES; l++) w->v[2][l] = l * 128;
            memcpy(old, group.lds, LDS_BYTES);
            memcpy(data, w->v[20], sizeof(data));
            run(&in);
            for (unsigned l = 0; l < KS_LANES; l++)
                for (unsigned r = 0; r < 2 * words; r++) {
                    unsigned at = w->v[2][l] + (r < words ? 9 : 1) * forms[i].unit + r % words * 4;
                    if (kind != 1) assert_memory_equal(old + at, &w->v[20 + r][l], 4);
                    if (kind) assert_memory_equal(group.lds + at, &data[r][l], 4);
                }
            assert_int_equal(findings(), 0);
        }
    }
}

/* What DS has and FLAT has not: the order of compare and data, rsub, mskor, wrap, f32. */
static void ds_atomics(void **state)
{
    static const struct {
        const char *name;
        uint32_t memory, data0, data1, after;
    } cases[] = {
        {"ds_cmpst_rtn_b32", 7, 7, 9, 9},
        {"ds_cmpst_rtn_b32", 7, 9, 7, 7},
        {"ds_rsub_rtn_u32", 3, 10, 0, 7},
        {"ds_mskor_rtn_b32", 0xffff1234, 0xff00, 0xab00, 0xffffab34},
        {"ds_wrap_rtn_b32", 10, 8, 100, 2},
        {"ds_wrap_rtn_b32", 5, 8, 100, 105},
        {"ds_wrxchg_rtn_b32", 5, 8, 0, 8},
        {"ds_inc_rtn_u32", 5, 5, 0, 0},
        {"ds_inc_rtn_u32", 4, 5, 0, 5},
        {"ds_dec_rtn_u32", 0, 5, 0, 5},
        {"ds_dec_rtn_u32", 9, 5, 0, 5},
        {"ds_dec_rtn_u32", 5, 5, 0, 4},
        {"ds_min_rtn_i32", 0xfffffff0, 3, 0, 0xfffffff0},
        {"ds_min_rtn_u32", 0xfffffff0, 3, 0, 3},
        {"ds_add_rtn_f32", 0x3f800000, 0x40000000, 0, 0x40400000},
        {"ds_min_rtn_f32", 0x3f800000, 0xbf800000, 0, 0xbf800000},
        {"ds_max_rtn_f32", 0x7fc00000, 0x3f800000, 0, 0x3f800000},
        {"ds_cmpst_rtn_f32", 0x80000000, 0x00000000, 0x3f800000, 0x3f800000}, /* -0 == 0 */
        {"ds_pk_add_rtn_f16", 0x3c00c000, 0x3c003c00, 0, 0x4000bc00},
        {"ds_pk_add_rtn_bf16", 0x3f80c000, 0x3f803f80, 0, 0x4000bf80},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        reset();
        ks_inst in = make(cases[i].name, 30, 2, 20, 21, ABSENT);
        ks_exec_set(w, 1ull << 9);
        w->v[2][9] = 400;
        w->v[20][9] = cases[i].data0;
        w->v[21][9] = cases[i].data1;
        memcpy(group.lds + 400, &cases[i].memory, 4);
        run(&in);
        if (word_at(400) != cases[i].after || w->v[30][9] != cases[i].memory)
            fail_msg("%s: memory 0x%x, returned 0x%x", cases[i].name, word_at(400), w->v[30][9]);
        assert_int_equal(findings(), 0);
    }
    /* denormals of f32 go by MODE */
    for (unsigned mode = 0; mode < 4; mode++) {
        reset();
        ks_inst in = make("ds_add_f32", ABSENT, 2, 20, ABSENT, ABSENT);
        uint32_t m = 5;
        w->mode = mode << 4;
        ks_exec_set(w, 1);
        w->v[2][0] = 0;
        w->v[20][0] = 3;
        memcpy(group.lds, &m, 4);
        run(&in);
        assert_int_equal(word_at(0), mode == 3 ? 8 : 0);
        w->mode = 0x3f0;
    }
    reset();
    ks_inst in = make("ds_cmpst_rtn_b64", 30, 2, 20, 22, ABSENT);
    uint64_t m = 0x123456789abcdef0ull;
    ks_exec_set(w, 1);
    w->v[2][0] = 8;
    memcpy(group.lds + 8, &m, 8);
    set64(20, 0, m);
    set64(22, 0, 77);
    run(&in);
    assert_int_equal(get64(30, 0), m);
    memcpy(&m, group.lds + 8, 8);
    assert_int_equal(m, 77);
}

static void by_m0(void **state)
{
    (void)state;
    reset();
    w->s[KS_M0] = 0xabcd0100;
    ks_inst wr = make("ds_write_addtid_b32", ABSENT, ABSENT, 20, ABSENT, ABSENT);
    ks_inst rd = make("ds_read_addtid_b32", 21, ABSENT, ABSENT, ABSENT, ABSENT);
    wr.offset = rd.offset = 16;
    run(&wr);
    run(&rd);
    for (unsigned l = 0; l < KS_LANES; l++) assert_int_equal(word_at(0x110 + 4 * l), w->v[20][l]);
    assert_memory_equal(w->v[20], w->v[21], sizeof(w->v[20]));

    uint32_t count = 100, before[KS_LANES];
    memcpy(group.lds + 0x120, &count, 4);
    ks_exec_set(w, 0x10f0);
    memcpy(before, w->v[22], sizeof(before));
    ks_inst append = make("ds_append", 22, ABSENT, ABSENT, ABSENT, ABSENT);
    ks_inst consume = make("ds_consume", 22, ABSENT, ABSENT, ABSENT, ABSENT);
    append.offset = consume.offset = 0x20;
    run(&append);
    assert_int_equal(word_at(0x120), 105);
    for (unsigned l = 0; l < KS_LANES; l++)
        assert_int_equal(w->v[22][l], 0x10f0ull >> l & 1 ? 100 : before[l]);
    run(&consume);
    assert_int_equal(word_at(0x120), 100);
    assert_int_equal(w->v[22][4], 105);
    assert_int_equal(findings(), 0);
}

/* ---- Exchanges of lanes ---- */
static void permutes(void **state)
{
    (void)state;
    uint64_t exec = 0xfffffffffffffff7ull; /* lane 3 is off */
    reset();
    ks_exec_set(w, exec);
    ks_inst in = make("ds_bpermute_b32", 30, 2, 20, ABSENT, ABSENT);
    in.offset = 4;
    for (unsigned l = 0; l < KS_LANES; l++)
        w->v[2][l] =
            (l * 7 + 1) * 4 + (l & 3) + 256 * l; /* low bits and bits above 7 do not count */
    uint32_t kept = w->v[30][3];
    run(&in);
    for (unsigned l = 0; l < KS_LANES; l++) {
        unsigned from = (l * 7 + 2 + ((l & 3) + 0) / 4) % 64;
        assert_int_equal(w->v[30][l], l == 3 ? kept : from == 3 ? 0 : w->v[20][from]);
    }
    reset();
    ks_exec_set(w, exec);
    in = make("ds_permute_b32", 30, 2, 20, ABSENT, ABSENT);
    for (unsigned l = 0; l < KS_LANES; l++)
        w->v[2][l] = (l / 2 + 10) * 4; /* two lanes send to one: the higher is there */
    run(&in);
    for (unsigned l = 0; l < KS_LANES; l++)
        if (l != 3)
            assert_int_equal(w->v[30][l],
                             l >= 10 && l < 42 ? w->v[20][l == 11 ? 2 : (l - 10) * 2 + 1] : 0);
}

/* Of the ISA documents' own examples, input lane i + 1; in base 16. */
static void swizzles(void **state)
{
    static const struct {
        unsigned offset;
        uint8_t out[32];
    } cases[] = {
        {0xe000,
         {0x1, 0x11, 0x9, 0x19, 0x5, 0x15, 0xd, 0x1d, 0x3, 0x13, 0xb, 0x1b, 0x7, 0x17, 0xf,  0x1f,
          0x2, 0x12, 0xa, 0x1a, 0x6, 0x16, 0xe, 0x1e, 0x4, 0x14, 0xc, 0x1c, 0x8, 0x18, 0x10, 0x20}},
        {0xe010, {0x1,  0x9,  0x5,  0xd,  0x3,  0xb,  0x7,  0xf,  0x2,  0xa,  0x6,
                  0xe,  0x4,  0xc,  0x8,  0x10, 0x11, 0x19, 0x15, 0x1d, 0x13, 0x1b,
                  0x17, 0x1f, 0x12, 0x1a, 0x16, 0x1e, 0x14, 0x1c, 0x18, 0x20}},
        {0xe01f, {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                  17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32}},
        {0xc020,
         {2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, /* rotated left by 1 */
          18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 1}},
        {0xc420, {32, 1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, /* right */
                  16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}},
        {0xc021,
         {1,  4,  3,  6,  5,  8,  7,  10, 9,  12, 11, 14, 13, 16, 15, 18, /* odd lanes only */
          17, 20, 19, 22, 21, 24, 23, 26, 25, 28, 27, 30, 29, 32, 31, 2}},
        {0x801b,
         {4,  3,  2,  1,  8,  7,  6,  5,  12, 11, 10, 9,  16, 15, 14, 13, /* fours reversed */
          20, 19, 18, 17, 24, 23, 22, 21, 28, 27, 26, 25, 32, 31, 30, 29}},
        {0x041f, {2,  1,  4,  3,  6,  5,  8,  7,  10, 9,  12, 11, 14, 13, 16, 15, /* xor 1 */
                  18, 17, 20, 19, 22, 21, 24, 23, 26, 25, 28, 27, 30, 29, 32, 31}},
        {0x0018,
         {1,  1,  1,  1,  1,  1,  1,  1,  9,  9,  9,  9,  9,  9,  9,  9, /* the first of eight */
          17, 17, 17, 17, 17, 17, 17, 17, 25, 25, 25, 25, 25, 25, 25, 25}},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        reset();
        ks_inst in = make("ds_swizzle_b32", 30, 2, ABSENT, ABSENT, ABSENT);
        in.offset = (int32_t)cases[i].offset;
        for (unsigned l = 0; l < KS_LANES; l++) w->v[2][l] = l + 1;
        run(&in);
        for (unsigned l = 0; l < KS_LANES; l++)
            if (w->v[30][l] != cases[i].out[l % 32] + (l & 32))
                fail_msg("offset 0x%x lane %u: %u", cases[i].offset, l, w->v[30][l]);
        assert_int_equal(findings(), 0);
    }
}

/* ---- Undefined bits ---- */
static void undefined_bits(void **state)
{
    (void)state;
    reset();
    ks_inst wr = make("ds_write_b64", ABSENT, 2, 20, ABSENT, ABSENT),
            rd = make("ds_read_b64", 24, 2, ABSENT, ABSENT, ABSENT);
    ks_inst byte = make("ds_read_i8", 26, 3, ABSENT, ABSENT, ABSENT);
    for (unsigned l = 0; l < KS_LANES; l++) {
        w->v[2][l] = 8 * l;
        w->v[3][l] = 8 * l + 1;
        w->vu[20][l] = 0;
        w->vu[21][l] = l == 9 ? 0xf0 : 0;
    }
    w->vu[20][8] = 0x8000;
    w->v_clean[20] = w->v_clean[21] = 0;
    run(&wr);
    run(&rd);
    run(&byte);
    assert_false(w->v_clean[24] || w->v_clean[25] || w->v_clean[26]);
    for (unsigned l = 0; l < KS_LANES; l++) {
        assert_int_equal(w->vu[24][l], l == 8 ? 0x8000 : 0);
        assert_int_equal(w->vu[25][l], l == 9 ? 0xf0 : 0);
        assert_int_equal(w->vu[26][l], l == 8 ? 0xffffff80 : 0); /* the sign is not known */
    }
    w->v_clean[20] = w->v_clean[21] = 1; /* written again, defined */
    run(&wr);
    run(&rd);
    assert_true(w->v_clean[24] && w->v_clean[25]);

    ks_lds_undefined(&group)[404] = 1;
    ks_inst add = make("ds_add_rtn_u32", 30, 2, 20, ABSENT, ABSENT);
    ks_exec_set(w, 1);
    w->v[2][0] = 404;
    run(&add);
    assert_int_equal(w->vu[30][0], 1);
    assert_int_equal(ks_lds_undefined(&group)[407], 0xff); /* a carry may have gone there */
    ks_inst swap = make("ds_wrxchg_rtn_b32", 30, 2, 20, ABSENT, ABSENT);
    run(&swap);
    assert_int_equal(w->vu[30][0], ~0u);
    run(&swap);
    assert_int_equal(w->vu[30][0], 0);
    assert_int_equal(findings(), 0);

    memset(w->scratch_undefined, 0xff, SCRATCH_BYTES * KS_LANES);
    ks_exec_set(w, ~0ull);
    ks_inst store = make("scratch_store_short", ABSENT, ABSENT, ABSENT, 20, ABSENT);
    ks_inst load = make("scratch_load_dword", 31, ABSENT, ABSENT, ABSENT, ABSENT);
    run(&store);
    run(&load);
    for (unsigned l = 0; l < KS_LANES; l++) assert_int_equal(w->vu[31][l], 0xffff0000);
    assert_int_equal(findings(), 0);
}

/* ---- Cost ---- */
static void cycles(const char *name, unsigned scale, unsigned offset, unsigned expected,
                   unsigned ideal)
{
    reset();
    launch.cost = (struct ks_cost *)(uintptr_t)&launch; /* only its presence is looked at */
    bool store = strstr(name, "write") || strstr(name, "add");
    ks_inst in = make(name, store ? ABSENT : 20, 2, store ? 20 : ABSENT, ABSENT, ABSENT);
    for (unsigned l = 0; l < KS_LANES; l++) w->v[2][l] = l * scale + (l / 8 % 2) * offset;
    run(&in);
    if (group.counters.lds_cycles != expected || group.counters.lds_ideal_cycles != ideal ||
        w->aux != expected)
        fail_msg("%s, lanes %u apart: %u cycles, %u ideal", name, scale,
                 (unsigned)group.counters.lds_cycles, (unsigned)group.counters.lds_ideal_cycles);
    kilnsim_findings_clear();
}
static void bank_conflicts(void **state)
{
    (void)state;
    cycles("ds_read_b32", 4, 0, 2, 2);
    cycles("ds_read_b32", 0, 0, 2, 2); /* one word for all */
    cycles("ds_read_u8", 1, 0, 2, 2);
    cycles("ds_read_u16", 2, 0, 2, 2);
    cycles("ds_read_b32", 8, 0, 4, 2);
    cycles("ds_read_b32", 128, 0, 64, 2);
    cycles("ds_read_b32", 132, 0, 2, 2); /* a row of 32 words padded by one */
    cycles("ds_read_b64", 8, 0, 4, 4);
    cycles("ds_read_b64", 16, 0, 8, 4);
    cycles("ds_write_b64", 8, 0, 4, 4);
    cycles("ds_write_b128", 16, 0, 8, 8);
    cycles("ds_read_b128", 16, 0, 8, 8);
    cycles("ds_write_b128", 128, 0, 64, 8);
    cycles("ds_read_b128", 128, 0, 64, 8);
    cycles("ds_add_u32", 4, 0, 2, 2);
    cycles("ds_add_u32", 0, 0, 64, 2); /* one after the other */
    /* Lanes 0-3 and 20-23 load together: 64 bytes apart in the first two eights, where 4-11 would
     * collide. */
    reset();
    launch.cost = (struct ks_cost *)(uintptr_t)&launch;
    ks_inst in = make("ds_read_b128", 20, 2, ABSENT, ABSENT, ABSENT);
    for (unsigned l = 0; l < KS_LANES; l++) w->v[2][l] = l < 4 ? 16 * l : 256 + 64 + 16 * (l & 3);
    ks_exec_set(w, 0x00f0000f);
    run(&in);
    assert_int_equal(group.counters.lds_cycles, 1);
    group.counters = (ks_counters){0};
    ks_exec_set(w, 0x000000ff); /* two phases */
    run(&in);
    assert_int_equal(group.counters.lds_cycles, 2);
}

static void segment_counts(void **state)
{
    static const struct {
        unsigned scale, first, touched, needed;
        const char *name;
    } cases[] = {
        {4, 0, 4, 4, "dword"},      {4, 4, 5, 4, "dword"},      {0, 0, 1, 1, "dword"},
        {64, 0, 64, 4, "dword"},    {8, 0, 8, 4, "dword"},      {1, 0, 1, 1, "ubyte"},
        {16, 0, 16, 16, "dwordx4"}, {32, 0, 32, 16, "dwordx4"}, {16, 8, 17, 16, "dwordx4"}};
    uint8_t *p = ks_alloc(8192, 256, KS_DEVICE);
    (void)state;
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char name[32];
        reset();
        launch.cost = (struct ks_cost *)(uintptr_t)&launch;
        snprintf(name, sizeof(name), "global_load_%s", cases[i].name);
        ks_inst in = make(name, 20, 2, ABSENT, ABSENT, ABSENT);
        for (unsigned l = 0; l < KS_LANES; l++)
            set64(2, 63 - l, address(p) + cases[i].first + cases[i].scale * l);
        run(&in);
        assert_int_equal(group.counters.segments, cases[i].touched);
        assert_int_equal(group.counters.segments_needed, cases[i].needed);
        assert_int_equal(w->aux, cases[i].touched);
    }
    ks_free(p, KS_DEVICE);
    assert_int_equal(findings(), 0);
}

/* ---- Races ---- */
static void access_lds(unsigned wave, const char *name, uint32_t first, uint32_t step)
{
    bool returns = strstr(name, "read") || strstr(name, "rtn"), data = !strstr(name, "read");
    ks_inst in = make(name, returns ? 30 : ABSENT, 2, data ? 20 : ABSENT, ABSENT, ABSENT);
    in.pc = 16 * wave;
    w = waves[wave];
    for (unsigned l = 0; l < KS_LANES; l++) w->v[2][l] = first + step * l;
    run(&in);
    w = waves[0];
}
static void barrier(void)
{
    for (unsigned i = 0; i < WAVES; i++) ks_lds_barrier_arrive(waves[i]);
    ks_lds_barrier_passed(&group);
}
static void races(void **state)
{
    static const struct {
        const char *first, *second, *text; /* NULL: sound */
        uint32_t from, to, step;
    } cases[] = {
        {"ds_write_b128", "ds_read_b128",
         "load of wave 1 at LDS byte 0 races with the store of wave 0, lane 0", 0, 0, 16},
        {"ds_read_b128", "ds_write_b128",
         "store of wave 1 at LDS byte 0 races with the load of wave 0", 0, 0, 16},
        {"ds_write_b64", "ds_write_b64",
         "store of wave 1 at LDS byte 0 races with the store of wave 0", 0, 0, 8},
        {"ds_read_b128", "ds_read_b64", NULL, 0, 0, 16},
        {"ds_write_b32", "ds_write_b32", NULL, 0, 256, 4},
        {"ds_write_b32", "ds_read_b32", "LDS byte 252 races with the store of wave 0, lane 63", 0,
         252, 4},
        {"ds_write_b16", "ds_write_b16", NULL, 0, 2, 4},
        {"ds_write_b8", "ds_read_u8", NULL, 0, 3, 4},
        {"ds_write_b16", "ds_read_u8", "LDS byte 1 races with the store of wave 0, lane 0", 0, 1,
         4},
        {"ds_read_u8", "ds_write_b32", "LDS byte 3 races with the load of wave 0, lane 0", 3, 0, 4},
        {"ds_write_b32", "ds_read_u16", "LDS byte 2 races with the store of wave 0, lane 0", 0, 2,
         4},
        {"ds_write_b8", "ds_read_b128", "LDS byte 9 races with the store of wave 0, lane 0", 9, 0,
         64},
        {"ds_write_b32", "ds_read_b64", "LDS byte 4 races", 4, 0, 64},
        {"ds_add_u32", "ds_add_u32", NULL, 0, 0, 4},
        {"ds_add_u32", "ds_read_b32",
         "load of wave 1 at LDS byte 0 races with the atomic of wave 0", 0, 0, 4},
        {"ds_write_b32", "ds_add_rtn_u32",
         "atomic of wave 1 at LDS byte 0 races with the store of wave 0", 0, 0, 4},
        {"ds_read_b64", "ds_write_b32", "LDS byte 5 races", 1, 5, 16}, /* not aligned: by bytes */
    };
    (void)state;
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (int ordered = 0; ordered < 2; ordered++) {
            reset();
            access_lds(0, cases[i].first, cases[i].from, cases[i].step);
            if (ordered) barrier();
            access_lds(1, cases[i].second, cases[i].to, cases[i].step);
            size_t n = findings();
            bool wrong = cases[i].text && !ordered ? n != 1 || last.kind != KILNSIM_RACE ||
                                                         !strstr(last_text, cases[i].text)
                                                   : n != 0;
            if (wrong)
                fail_msg("%s at %u, %s at %u%s: %zu findings \"%s\"", cases[i].first, cases[i].from,
                         cases[i].second, cases[i].to, ordered ? ", ordered" : "", n,
                         n ? last_text : "");
        }
}

static void own_races(void **state)
{
    (void)state;
    reset(); /* a wave with itself, and many loads of many waves */
    access_lds(2, "ds_write_b32", 0, 4);
    access_lds(2, "ds_read_b32", 0, 4);
    access_lds(2, "ds_write_b16", 2, 4);
    access_lds(2, "ds_read_u8", 2, 4);
    assert_int_equal(findings(), 0);
    barrier();
    for (unsigned i = 0; i < WAVES; i++) access_lds(i, "ds_read_b128", 0, 16);
    access_lds(3, "ds_write_b128", 2048, 16);
    assert_int_equal(findings(), 0);
    access_lds(3, "ds_write_b8", 0, 16);
    expect(KILNSIM_RACE, 0, "races with the load of wave 0");

    reset(); /* lanes of one store */
    for (unsigned l = 0; l < KS_LANES; l++) w->v[20][l] = l / 2;
    access_lds(0, "ds_write_b32", 800, 0);
    expect(KILNSIM_RACE, 2, "lanes 1 and 2 of one store write 0x0 and 0x1 to LDS byte 800");
    for (unsigned l = 0; l < KS_LANES; l++) w->v[20][l] = 0xabab;
    access_lds(0, "ds_write_b16", 800, 1); /* overlapping halves, the same bytes */
    assert_int_equal(findings(), 0);
    w->v[20][40] = 0xab00;
    access_lds(0, "ds_write_b16", 800, 1);
    expect(KILNSIM_RACE, 40, "lanes 39 and 40 of one store write 0xab and 0x0 to LDS byte 840");
    access_lds(0, "ds_write_b128", 15 * 64, (uint32_t)-8); /* falling, overlapping: differs */
    assert_int_equal(findings(), 1);

    reset();
    group.wave_count = 1; /* nobody to race with */
    access_lds(0, "ds_write_b32", 0, 4);
    access_lds(0, "ds_read_b32", 128, 4);
    group.wave_count = WAVES;
    assert_int_equal(findings(), 0);
}

int main(void)
{
    setenv("KILN_SIM", "log=off,errors=off", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_forms),     cmocka_unit_test(write_forms),
        cmocka_unit_test(pairs),          cmocka_unit_test(ds_atomics),
        cmocka_unit_test(by_m0),          cmocka_unit_test(permutes),
        cmocka_unit_test(swizzles),       cmocka_unit_test(undefined_bits),
        cmocka_unit_test(bank_conflicts), cmocka_unit_test(segment_counts),
        cmocka_unit_test(races),          cmocka_unit_test(own_races),
    };
    return cmocka_run_group_tests_name("sim_memory_lds", tests, setup, teardown);
}
