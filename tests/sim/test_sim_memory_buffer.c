// SPDX-License-Identifier: MIT
// MUBUF: ranges of raw and structured resources, private memory of gfx90a; loads into LDS;
// destinations over addresses.
#include "memory_wave.h"

enum { SIZE = 8192 };
static uint8_t *memory; /* of the simulated device */

static void fresh(void)
{
    reset();
    for (unsigned i = 0; i < SIZE; i++) memory[i] = (uint8_t)noise();
    for (unsigned i = 0; i < SCRATCH_BYTES * KS_LANES; i++) w->scratch[i] = (uint8_t)noise();
}
/* A raw resource of `records` bytes of memory in s[8:11], soffset in s12. */
static void resource(uint32_t records, uint32_t soffset)
{
    w->s[8] = (uint32_t)address(memory);
    w->s[9] = (uint32_t)(address(memory) >> 32);
    w->s[10] = records;
    w->s[11] = 0x00020000;
    w->s[12] = soffset;
}

static void buffer_ranges(void **state)
{
    (void)state;
    fresh();
    ks_inst in = make("buffer_load_dwordx4", 20, 2, S + 8, S + 12, ABSENT);
    in.offen = true;
    resource(100, 20); /* words up to offset 80 - 4 */
    for (unsigned l = 0; l < KS_LANES; l++) w->v[2][l] = l == 63 ? 0xfffffffc : 4 * l;
    run(&in);
    for (unsigned l = 0; l < KS_LANES; l++)
        for (unsigned r = 0; r < 4; r++) {
            uint64_t offset = (uint64_t)w->v[2][l] + 4 * r;
            uint32_t want = 0;
            if (offset + 4 <= 80) memcpy(&want, memory + 20 + offset, 4);
            assert_int_equal(w->v[20 + r][l], want);
        }
    assert_int_equal(findings(), 0);

    /* the same words stored: those out of range are dropped */
    static uint8_t expected[SIZE];
    ks_inst st = make("buffer_store_dwordx4", ABSENT, 2, S + 8, S + 12, 20);
    st.offen = true;
    ks_exec_set(w, 0xffff0);
    memcpy(expected, memory, SIZE);
    for (unsigned l = 4; l < 20; l++)
        for (unsigned r = 0; r < 4; r++) {
            w->v[20 + r][l] = l; /* neighbours overlap: the later lane's word stands unless equal */
            w->v[2][l] = 16 * l;
            if (16 * l + 4 * r + 4 <= 80)
                memcpy(expected + 20 + 16 * l + 4 * r, &w->v[20 + r][l], 4);
        }
    run(&st);
    assert_memory_equal(expected, memory, SIZE);
    assert_int_equal(findings(), 0);
}

static void structured_buffers(void **state)
{
    (void)state;
    fresh();
    ks_inst in = make("buffer_load_dword", 20, 2, S + 8, S + 12, ABSENT);
    in.idxen = in.offen = true;
    in.offset = 8;
    resource(10, 16);
    w->s[9] |= 24u << 16; /* stride */
    for (unsigned l = 0; l < KS_LANES; l++) {
        w->v[2][l] = l % 20;
        w->v[3][l] = 4 * (l % 3);
    }
    run(&in);
    for (unsigned l = 0; l < KS_LANES; l++) {
        uint32_t want = 0;
        if (l % 20 < 10) memcpy(&want, memory + 16 + 24 * (l % 20) + 4 * (l % 3) + 8, 4);
        assert_int_equal(w->v[20][l], want);
    }
    assert_int_equal(findings(), 0);
    w->s[9] |= 1u << 31; /* swizzled: not done, never a wrong answer */
    run(&in);
    expect(KILNSIM_UNKNOWN, -1, "swizzle");
}

/* gfx90a's private memory: swizzle with the lane added, soffset for 64 lanes. */
static void private_buffer(void **state)
{
    (void)state;
    fresh();
    w->s[8] = 0;
    w->s[9] = 1u << 31;
    w->s[10] = SCRATCH_BYTES * 64;
    w->s[11] = 0x00ea4fac;
    w->s[12] = 16 * 64;
    ks_inst st = make("buffer_store_dwordx2", ABSENT, 2, S + 8, S + 12, 20);
    ks_inst ld = make("buffer_load_dword", 24, ABSENT, S + 8, S + 12, ABSENT);
    st.offset = ld.offset = 12;
    st.offen = true;
    for (unsigned l = 0; l < KS_LANES; l++) w->v[2][l] = 4;
    run(&st);
    run(&ld);
    for (unsigned l = 0; l < KS_LANES; l++) {
        assert_memory_equal(w->scratch + l * SCRATCH_BYTES + 32, &w->v[20][l], 4);
        assert_memory_equal(w->scratch + l * SCRATCH_BYTES + 36, &w->v[21][l], 4);
        assert_memory_equal(w->scratch + l * SCRATCH_BYTES + 28, &w->v[24][l], 4);
    }
    assert_int_equal(findings(), 0);
    w->v[2][17] = SCRATCH_BYTES - 30;
    run(&st);
    expect(KILNSIM_SCRATCH_BOUNDS, 17, "byte 254");
    w->v[2][17] = 6;
    run(&st);
    expect(KILNSIM_MISALIGNED, 17, "private memory is not aligned to 4");
    st = make("scratch_store_dwordx2", ABSENT, 2, ABSENT, 20, ABSENT); /* gfx942 does such ones */
    run(&st);
    assert_memory_equal(w->scratch + 17 * SCRATCH_BYTES + 6, &w->v[20][17], 4);
    assert_int_equal(findings(), 0);
}

/* Destinations over the address registers: every address counts as it was before. */
static void own_addresses(void **state)
{
    static const char *const names[] = {
        "buffer_load_dwordx4",  "global_load_dwordx4", "ds_read_b128",        "ds_read2_b64",
        "scratch_load_dwordx4", "ds_add_rtn_u64",      "global_atomic_add_x2"};
    (void)state;
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        for (int short_range = 0; short_range < 2; short_range++) {
            uint32_t want[4][KS_LANES], at[KS_LANES];
            bool buffer = names[i][0] == 'b', lds = names[i][0] == 'd', far = names[i][0] == 'g',
                 atomic = strstr(names[i], "add");
            unsigned words = atomic ? 2 : 4;
            fresh();
            ks_inst in = make(names[i], 2, 2,
                              buffer          ? S + 8
                              : lds && atomic ? 20
                                              : ABSENT,
                              buffer          ? S + 12
                              : far && atomic ? 20
                                              : ABSENT,
                              ABSENT);
            in.offen = buffer;
            in.sc0 = atomic;
            in.offset1 = 1;
            resource(short_range ? 600 : SIZE, 0); /* 600: one lane partly in range */
            for (unsigned l = 0; l < KS_LANES; l++) {
                uint8_t *from = lds             ? group.lds
                                : far || buffer ? memory
                                                : w->scratch + l * SCRATCH_BYTES;
                at[l] = names[i][0] == 's' ? 16 * (l % 8) : 24 * l;
                w->v[2][l] = at[l];
                if (far) set64(2, l, address(memory) + at[l]);
                for (unsigned r = 0; r < words; r++) {
                    memcpy(&want[r][l], from + at[l] + 4 * r, 4);
                    if (buffer && short_range && at[l] + 4 * r + 4 > 600) want[r][l] = 0;
                }
            }
            run(&in);
            for (unsigned r = 0; r < words; r++)
                if (memcmp(want[r], w->v[2 + r], sizeof(want[r])) != 0)
                    fail_msg("%s: register %u", names[i], r);
            assert_int_equal(findings(), 0);
        }
}

/* Into LDS at M0 + offset + 4 * lane, narrow values extended to a word. */
static void lds_direct(void **state)
{
    static const struct {
        const char *name;
        unsigned bytes;
        bool sign;
    } forms[] = {
        {"ubyte", 1, 0}, {"sbyte", 1, 1}, {"ushort", 2, 0}, {"sshort", 2, 1}, {"dword", 4, 0}};
    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        char name[64];
        static uint8_t expected[LDS_BYTES];
        fresh();
        snprintf(name, sizeof(name), "global_load_lds_%s", forms[i].name);
        ks_inst in = make(name, ABSENT, 2, ABSENT, ABSENT, ABSENT);
        in.lds = true;
        in.offset = 32;
        w->s[KS_M0] = 1024;
        ks_exec_set(w, 0x7fffffffffffff0full);
        memcpy(expected, group.lds, LDS_BYTES);
        for (unsigned l = 0; l < KS_LANES; l++) {
            unsigned at = noise() % 1000 * 4;
            uint32_t x = 0;
            set64(2, l, address(memory) + at);
            memcpy(&x, memory + at + 32, forms[i].bytes);
            if (forms[i].sign && x >> (forms[i].bytes * 8 - 1)) x |= ~0u << forms[i].bytes * 8;
            if (ks_exec_of(w) >> l & 1) memcpy(expected + 1024 + 32 + 4 * l, &x, 4);
        }
        run(&in);
        assert_memory_equal(expected, group.lds, LDS_BYTES);
        assert_int_equal(findings(), 0);
    }
}

/* The same through a buffer: lanes out of its range bring 0. */
static void buffer_to_lds(void **state)
{
    static uint8_t expected[LDS_BYTES];
    (void)state;
    fresh();
    resource(200, 0);
    ks_inst in = make("buffer_load_dword", ABSENT, 2, S + 8, S + 12, ABSENT);
    in.offen = in.lds = true;
    in.offset = 8;
    w->s[KS_M0] = 512;
    memcpy(expected, group.lds, LDS_BYTES);
    for (unsigned l = 0; l < KS_LANES; l++) {
        w->v[2][l] = 4 * (63 - l);
        memset(expected + 520 + 4 * l, 0, 4);
        if (w->v[2][l] + 12 <= 200) memcpy(expected + 520 + 4 * l, memory + w->v[2][l] + 8, 4);
    }
    run(&in);
    assert_memory_equal(expected, group.lds, LDS_BYTES);
    assert_int_equal(findings(), 0);
}

static int begin_tests(void **state)
{
    memory = ks_alloc(SIZE, 256, KS_DEVICE);
    return setup(state) || !memory;
}
static int end_tests(void **state)
{
    return teardown(state) || ks_free(memory, KS_DEVICE);
}
int main(void)
{
    setenv("KILN_SIM", "log=off,errors=off", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffer_ranges),  cmocka_unit_test(structured_buffers),
        cmocka_unit_test(private_buffer), cmocka_unit_test(own_addresses),
        cmocka_unit_test(lds_direct),     cmocka_unit_test(buffer_to_lds),
    };
    return cmocka_run_group_tests_name("sim_memory_buffer", tests, begin_tests, end_tests);
}
