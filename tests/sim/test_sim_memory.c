// SPDX-License-Identifier: MIT
// Loads, stores and atomics of every width in every space against what this file computes by
// itself; addressing of FLAT, GLOBAL, SCRATCH and MUBUF; lanes that fail.
#include "memory_wave.h"

enum { SIZE = 8192 };
static uint8_t *memory; /* of the simulated device */

/* name after "load_", bytes, sign, where a half goes: 0 all, 1 low, 2 high */
// clang-format off
#define LOADS(X)                                                                                  \
    X(ubyte, 1, 0, 0) X(sbyte, 1, 1, 0) X(ushort, 2, 0, 0) X(sshort, 2, 1, 0)                     \
    X(ubyte_d16, 1, 0, 1) X(ubyte_d16_hi, 1, 0, 2) X(sbyte_d16, 1, 1, 1)                          \
    X(sbyte_d16_hi, 1, 1, 2) X(short_d16, 2, 0, 1) X(short_d16_hi, 2, 0, 2) X(dword, 4, 0, 0)     \
    X(dwordx2, 8, 0, 0) X(dwordx3, 12, 0, 0) X(dwordx4, 16, 0, 0)
#define STORES(X)                                                                                 \
    X(byte, 1, 0) X(short, 2, 0) X(byte_d16_hi, 1, 16) X(short_d16_hi, 2, 16) X(dword, 4, 0)      \
    X(dwordx2, 8, 0) X(dwordx3, 12, 0) X(dwordx4, 16, 0)
// clang-format on
#define NAMES(n, ...) #n,
static const char *const load_names[] = {LOADS(NAMES)}, *const store_names[] = {STORES(NAMES)};
static const struct load {
    unsigned bytes, sign, half;
} loads[] = {
#define X(n, b, s, h) {b, s, h},
    LOADS(X)
#undef X
};
static const struct store {
    unsigned bytes, shift;
} stores[] = {
#define X(n, b, s) {b, s},
    STORES(X)
#undef X
};
enum {
    LOAD_COUNT = sizeof(loads) / sizeof(loads[0]),
    STORE_COUNT = sizeof(stores) / sizeof(stores[0])
};

typedef enum way { GLOBAL, GLOBAL_SADDR, FLAT, FLAT_LDS, FLAT_PRIVATE, BUFFER, SCRATCH, WAYS } way;
static const char *const prefix[] = {"global", "global", "flat",   "flat",
                                     "flat",   "buffer", "scratch"};

static void fresh(void)
{
    reset();
    for (unsigned i = 0; i < SIZE; i++) memory[i] = (uint8_t)noise();
    for (unsigned i = 0; i < SCRATCH_BYTES * KS_LANES; i++) w->scratch[i] = (uint8_t)noise();
}

/* An instruction that accesses a place of its own in each lane; where[l]: its bytes on the host. */
static ks_inst access_of(way how, const char *kind, const char *name, uint8_t *where[KS_LANES])
{
    char full[64];
    int offset = how == BUFFER || how == FLAT ? 40 : -24;
    snprintf(full, sizeof(full), "%s_%s_%s", prefix[how], kind, name);
    bool store = kind[0] == 's';
    ks_inst in = how == BUFFER
                     ? make(full, store ? ABSENT : 20, 2, S + 8, S + 12, store ? 20 : ABSENT)
                 : how == GLOBAL_SADDR
                     ? make(full, store ? ABSENT : 20, 2, S + 4, store ? 20 : ABSENT, ABSENT)
                     : make(full, store ? ABSENT : 20, 2, ABSENT, store ? 20 : ABSENT, ABSENT);
    if (how == FLAT_LDS || how == FLAT_PRIVATE) offset = 16;
    in.offset = offset;
    uint64_t base = address(memory) + 1024;
    w->s[4] = (uint32_t)base;
    w->s[5] = (uint32_t)(base >> 32);
    w->s[8] = (uint32_t)base; /* resource: no stride */
    w->s[9] = (uint32_t)(base >> 32);
    w->s[10] = SIZE - 1024;
    w->s[11] = 0x00020000;
    w->s[12] = 64; /* soffset */
    in.offen = how == BUFFER;
    for (unsigned l = 0; l < KS_LANES; l++) {
        uint32_t at = how == SCRATCH || how == FLAT_PRIVATE ? 32 + 4 * (noise() % 40)
                                                            : 32 + (l * 37 % 64) * 48;
        uint32_t unit = 4 * (noise() % 4) % 16;
        at += how == SCRATCH || how == FLAT_PRIVATE ? 0 : unit;
        switch (how) {
        case GLOBAL_SADDR:
            w->v[2][l] = at;
            where[l] = memory + 1024 + at + offset;
            break;
        case FLAT_LDS:
            set64(2, l, KS_SHARED_BASE + at);
            where[l] = group.lds + at + offset;
            break;
        case FLAT_PRIVATE:
            set64(2, l, KS_PRIVATE_BASE + at);
            where[l] = w->scratch + l * SCRATCH_BYTES + at + offset;
            break;
        case BUFFER:
            w->v[2][l] = at;
            where[l] = memory + 1024 + 64 + at + offset;
            break;
        case SCRATCH:
            w->v[2][l] = at;
            where[l] = w->scratch + l * SCRATCH_BYTES + at + offset;
            break;
        default:
            set64(2, l, base + at);
            where[l] = memory + 1024 + at + offset;
        }
    }
    return in;
}

static const uint64_t masks[] = {~0ull, 0x8000000000000001ull, 0x00ff00ff12345678ull, 1ull << 40,
                                 0};

static void one_load(way how, unsigned i, uint64_t exec)
{
    uint8_t *where[KS_LANES];
    uint32_t before[4][KS_LANES];
    fresh();
    ks_inst in = access_of(how, "load", load_names[i], where);
    ks_exec_set(w, exec);
    memcpy(before, w->v[20], sizeof(before));
    run(&in);
    for (unsigned l = 0; l < KS_LANES; l++)
        for (unsigned r = 0; r < 4; r++) {
            uint32_t want = before[r][l];
            if (exec >> l & 1 && r * 4 < loads[i].bytes) {
                uint32_t x = 0;
                unsigned n = loads[i].bytes < 4 ? loads[i].bytes : 4;
                memcpy(&x, where[l] + r * 4, n);
                if (loads[i].sign && x >> (n * 8 - 1)) x |= ~0u << n * 8;
                want = loads[i].half == 1 ? x & 0xffff : loads[i].half == 2 ? x << 16 : x;
                uint32_t u = loads[i].half == 1 ? 0xffff0000 : loads[i].half == 2 ? 0xffff : 0;
                assert_int_equal(w->v_clean[20 + r] ? 0 : w->vu[20 + r][l], u);
            }
            if (w->v[20 + r][l] != want)
                fail_msg("%s_load_%s lane %u register %u: 0x%x, expected 0x%x", prefix[how],
                         load_names[i], l, r, w->v[20 + r][l], want);
        }
    assert_int_equal(findings(), 0);
}
static void every_load(void **state)
{
    (void)state;
    for (unsigned how = 0; how < WAYS; how++)
        for (unsigned i = 0; i < LOAD_COUNT; i++)
            for (unsigned m = 0; m < sizeof(masks) / sizeof(masks[0]); m++)
                one_load((way)how, i, masks[m]);
}

static void one_store(way how, unsigned i, uint64_t exec)
{
    static uint8_t expected[3][SCRATCH_BYTES * KS_LANES + KS_MAX_LDS];
    uint8_t *where[KS_LANES], *place[3];
    fresh();
    ks_inst in = access_of(how, "store", store_names[i], where);
    place[0] = memory;
    place[1] = group.lds;
    place[2] = w->scratch;
    static const size_t size[3] = {SIZE, LDS_BYTES, SCRATCH_BYTES * KS_LANES};
    unsigned in_place = how == FLAT_LDS ? 1 : how == SCRATCH || how == FLAT_PRIVATE ? 2 : 0;
    for (unsigned p = 0; p < 3; p++) memcpy(expected[p], place[p], size[p]);
    for (unsigned l = 0; l < KS_LANES; l++)
        for (unsigned b = 0; exec >> l & 1 && b < stores[i].bytes; b++)
            expected[in_place][where[l] - place[in_place] + b] =
                (uint8_t)(w->v[20 + b / 4][l] >> (b % 4 * 8 + stores[i].shift));
    ks_exec_set(w, exec);
    run(&in);
    for (unsigned p = 0; p < 3; p++)
        if (memcmp(expected[p], place[p], size[p]) != 0)
            fail_msg("%s_store_%s: memory %u differs", prefix[how], store_names[i], p);
    assert_int_equal(findings(), 0);
}
static void every_store(void **state)
{
    (void)state;
    for (unsigned how = 0; how < WAYS; how++)
        for (unsigned i = 0; i < STORE_COUNT; i++)
            for (unsigned m = 0; m < sizeof(masks) / sizeof(masks[0]); m++)
                one_store((way)how, i, masks[m]);
}

/* ---- Atomics ---- */
static double of64(uint64_t x)
{
    double d;
    memcpy(&d, &x, 8);
    return d;
}
static float of32(uint64_t x)
{
    uint32_t y = (uint32_t)x;
    float f;
    memcpy(&f, &y, 4);
    return f;
}
static uint64_t bits64(double d)
{
    uint64_t x;
    memcpy(&x, &d, 8);
    return x;
}
static uint64_t bits32(float f)
{
    uint32_t x;
    memcpy(&x, &f, 4);
    return x;
}
static uint16_t half_sum(uint16_t a, uint16_t b)
{
    _Float16 x, y;
    memcpy(&x, &a, 2);
    memcpy(&y, &b, 2);
    x = (_Float16)((double)x + (double)y);
    memcpy(&a, &x, 2);
    return a;
}
/* The nearest of the bf16 around the double sum, the even one of two. */
static uint16_t bfloat_sum(uint16_t a, uint16_t b)
{
    double sum = (double)of32((uint32_t)a << 16) + (double)of32((uint32_t)b << 16), best = 1e300;
    uint16_t at = (uint16_t)(bits32((float)sum) >> 16), result = at;
    for (int step = -1; step <= 1; step++) {
        uint16_t x = (uint16_t)(at + step);
        double far = (double)of32((uint32_t)x << 16) - sum;
        far = far < 0 ? -far : far; /* a NaN is never nearer */
        if (far < best || (far == best && !(x & 1))) {
            best = far;
            result = x;
        }
    }
    return result;
}
static uint64_t integer(const char *op, uint64_t m, uint64_t d, uint64_t c, bool wide)
{
    int64_t sm = wide ? (int64_t)m : (int32_t)m, sd = wide ? (int64_t)d : (int32_t)d;
    if (!strcmp(op, "swap")) return d;
    if (!strcmp(op, "cmpswap")) return m == c ? d : m;
    if (!strcmp(op, "add")) return m + d;
    if (!strcmp(op, "sub")) return m - d;
    if (!strcmp(op, "smin")) return sm < sd ? m : d;
    if (!strcmp(op, "smax")) return sm > sd ? m : d;
    if (!strcmp(op, "umin")) return m < d ? m : d;
    if (!strcmp(op, "umax")) return m > d ? m : d;
    if (!strcmp(op, "and")) return m & d;
    if (!strcmp(op, "or")) return m | d;
    if (!strcmp(op, "xor")) return m ^ d;
    if (!strcmp(op, "inc")) return m >= d ? 0 : m + 1;
    if (!strcmp(op, "dec")) return m == 0 || m > d ? d : m - 1;
    fail_msg("no integer atomic %s", op);
    return 0;
}
static uint64_t reference(const char *name, uint64_t m, uint64_t d, uint64_t c)
{
    char op[32];
    size_t n = strlen(name);
    if (!strcmp(name, "add_f32")) return bits32(of32(m) + of32(d));
    if (!strcmp(name, "add_f64")) return bits64(of64(m) + of64(d));
    if (!strcmp(name, "min_f64")) return of64(d) < of64(m) ? d : m;
    if (!strcmp(name, "max_f64")) return of64(d) > of64(m) ? d : m;
    if (!strcmp(name, "pk_add_f16"))
        return (uint64_t)half_sum((uint16_t)(m >> 16), (uint16_t)(d >> 16)) << 16 |
               half_sum((uint16_t)m, (uint16_t)d);
    if (!strcmp(name, "pk_add_bf16"))
        return (uint64_t)bfloat_sum((uint16_t)(m >> 16), (uint16_t)(d >> 16)) << 16 |
               bfloat_sum((uint16_t)m, (uint16_t)d);
    snprintf(op, sizeof(op), "%s", name);
    bool wide = n > 3 && !strcmp(name + n - 3, "_x2");
    if (wide) op[n - 3] = 0;
    uint64_t r = integer(op, m, d, c, wide);
    return wide ? r : (uint32_t)r;
}
/* name, bytes: numbers near each other, so that comparisons go both ways; floats without NaN */
// clang-format off
#define ATOMICS(X)                                                                                \
    X(swap, 4) X(cmpswap, 4) X(add, 4) X(sub, 4) X(smin, 4) X(umin, 4) X(smax, 4) X(umax, 4)      \
    X(and, 4) X(or, 4) X(xor, 4) X(inc, 4) X(dec, 4) X(swap_x2, 8) X(cmpswap_x2, 8) X(add_x2, 8)  \
    X(sub_x2, 8) X(smin_x2, 8) X(umin_x2, 8) X(smax_x2, 8) X(umax_x2, 8) X(and_x2, 8)             \
    X(or_x2, 8) X(xor_x2, 8) X(inc_x2, 8) X(dec_x2, 8) X(add_f32, 4) X(add_f64, 8) X(min_f64, 8)  \
    X(max_f64, 8) X(pk_add_f16, 4)
// clang-format on
static uint64_t operand_value(const char *name, unsigned bytes)
{
    uint64_t x = (uint64_t)noise() << 32 | noise();
    if (strstr(name, "f64")) return bits64((double)(int32_t)noise() * 0.37);
    if (strstr(name, "f32")) return bits32((float)(int32_t)noise() * 0.37f);
    if (strstr(name, "f16"))
        return strstr(name, "bf16") ? (x & 0x80ff80ffu) | 0x3f003f00u : x & 0xbfffbfffu;
    if (noise() & 1) x = noise() % 5;
    return bytes == 4 ? (uint32_t)x : x;
}
static void one_atomic(way how, const char *name, unsigned bytes, bool returns, uint64_t exec)
{
    static uint8_t expected[SIZE];
    uint64_t old[KS_LANES];
    char full[64];
    uint32_t kept[2][KS_LANES];
    bool lds = how == FLAT_LDS, buffer = how == BUFFER;
    uint8_t *base = lds ? group.lds : memory;
    fresh();
    snprintf(full, sizeof(full), "%s_atomic_%s", prefix[how], name);
    int d = buffer ? 20 : 30;
    ks_inst in =
        buffer ? make(full, d, 2, S + 8, S + 12, 20) : make(full, d, 2, ABSENT, 20, ABSENT);
    w->s[8] = (uint32_t)address(memory);
    w->s[9] = (uint32_t)(address(memory) >> 32);
    w->s[10] = SIZE;
    w->s[11] = 0x00020000;
    w->s[12] = 0;
    in.offen = buffer;
    in.sc0 = returns;
    for (unsigned i = 0; i < 8; i++) {
        uint64_t v = operand_value(name, bytes);
        memcpy(base + i * 8, &v, 8);
    }
    memcpy(expected, base, SIZE);
    for (unsigned l = 0; l < KS_LANES; l++) {
        uint64_t v = operand_value(name, bytes), c = operand_value(name, bytes), m = 0;
        unsigned at = noise() % 6 * 8;
        set64(2, l, buffer ? at : lds ? KS_SHARED_BASE + at : address(memory) + at);
        for (unsigned r = 0; r < bytes / 4; r++) {
            w->v[20 + r][l] = (uint32_t)(v >> 32 * r);
            w->v[20 + bytes / 4 + r][l] = (uint32_t)(c >> 32 * r);
        }
        old[l] = 0;
        if (!(exec >> l & 1)) continue;
        memcpy(&m, expected + at, bytes);
        old[l] = m;
        m = reference(name, m, v, c);
        memcpy(expected + at, &m, bytes);
    }
    memcpy(kept, w->v[d], sizeof(kept));
    ks_exec_set(w, exec);
    run(&in);
    if (memcmp(expected, base, SIZE) != 0) fail_msg("%s: memory differs", full);
    for (unsigned l = 0; l < KS_LANES; l++)
        for (unsigned r = 0; r < bytes / 4; r++) {
            uint32_t want = returns && exec >> l & 1 ? (uint32_t)(old[l] >> 32 * r) : kept[r][l];
            if (w->v[(unsigned)d + r][l] != want)
                fail_msg("%s lane %u returns 0x%x, expected 0x%x", full, l,
                         w->v[(unsigned)d + r][l], want);
        }
    assert_int_equal(findings(), 0);
}
static void every_atomic(void **state)
{
    static const way ways[] = {GLOBAL, FLAT, FLAT_LDS, BUFFER};
    (void)state;
    for (unsigned i = 0; i < 4; i++)
        for (unsigned m = 0; m < sizeof(masks) / sizeof(masks[0]); m++)
            for (unsigned returns = 0; returns < 2; returns++) {
#define X(n, b) one_atomic(ways[i], #n, b, returns, masks[m]);
                ATOMICS(X)
                if (ways[i] != BUFFER) {
                    X(pk_add_bf16, 4)
                }
#undef X
            }
}

/* f32 denormals in memory are flushed by gfx90a and kept by gfx942. */
static void denormals(void **state)
{
    (void)state;
    for (unsigned arch = 0; arch < KS_ARCH_COUNT; arch++) {
        fresh();
        object.arch = (ks_arch)arch;
        ks_inst in = make("global_atomic_add_f32", ABSENT, 2, ABSENT, 20, ABSENT);
        uint32_t m = 0x00000100, small = 0x00000003;
        memcpy(memory, &m, 4);
        ks_exec_set(w, 1);
        set64(2, 0, address(memory));
        w->v[20][0] = small;
        run(&in);
        memcpy(&m, memory, 4);
        assert_int_equal(m, arch == KS_GFX90A ? 0 : 0x103);
    }
}

/* ---- Lanes that fail ---- */
static void null_pointers_name_what_is_missing(void **state)
{
    (void)state;
    ks_arg hidden = {0, 8, KS_ARG_PRINTF};
    ks_inst in;
    fresh();
    in = make("global_load_dword", 20, 2, ABSENT, ABSENT, ABSENT);
    for (unsigned l = 0; l < KS_LANES; l++) set64(2, l, 4);
    run(&in);
    expect(KILNSIM_BOUNDS, 0, "check the index");
    kernel.args = &hidden;
    kernel.arg_count = 1;
    run(&in);
    expect(KILNSIM_BOUNDS, 0, "-mprintf-kind=hostcall");
    kernel.args = NULL;
    kernel.arg_count = 0;
}
static void failing_lanes(void **state)
{
    (void)state;
    fresh();
    ks_inst in = make("global_load_dwordx2", 20, 2, ABSENT, ABSENT, ABSENT);
    for (unsigned l = 0; l < KS_LANES; l++) set64(2, l, address(memory) + 8 * l);
    set64(2, 11, address(memory) + SIZE - 7);
    set64(2, 50, 0);
    run(&in);
    expect(KILNSIM_BOUNDS, 11, "its last 1 byte past the end of allocation");
    assert_non_null(strstr(last_text, "and 1 more lane"));
    for (unsigned l = 0; l < KS_LANES; l++)
        if (l == 11 || l == 50)
            assert_int_equal(get64(20, l), (uint64_t)KS_POISON << 32 | KS_POISON);
        else
            assert_memory_equal(memory + 8 * l, &(uint64_t){get64(20, l)}, 8);

    ks_exec_set(w, ~(1ull << 11 | 1ull << 50)); /* lanes that are off may have any address */
    run(&in);
    assert_int_equal(findings(), 0);
}

static void undefined_addresses(void **state)
{
    (void)state;
    fresh();
    ks_inst in = make("global_load_dword", 20, 2, ABSENT, ABSENT, ABSENT);
    for (unsigned l = 0; l < KS_LANES; l++) {
        set64(2, l, address(memory) + 8 * l);
        w->vu[3][l] = l == 30 ? 0x80 : 0;
    }
    w->v_clean[3] = 0;
    run(&in);
    expect(KILNSIM_UNDEFINED, 30, "address in v3 has undefined bits (0x80)");
    assert_int_equal(w->v[20][30], KS_POISON);

    reset();
    in = make("global_store_byte", ABSENT, 2, S + 4, 20, ABSENT);
    w->s[4] = (uint32_t)address(memory);
    w->s[5] = (uint32_t)(address(memory) >> 32);
    memset(w->v[2], 0, sizeof(w->v[2]));
    memset(w->vu[20], 0, sizeof(w->vu[20]));
    w->vu[20][5] = 0xff00; /* above the byte that is stored */
    w->v_clean[20] = 0;
    run(&in);
    assert_int_equal(findings(), 0);
    w->vu[20][6] = 0x10;
    run(&in);
    expect(KILNSIM_UNDEFINED, 6, "stores undefined bits (0x10) of v20");
    w->su[5] = 1;
    run(&in);
    expect(KILNSIM_UNDEFINED, -1, "scalar address");
}

/* FLAT with lanes in all three spaces at once. */
static void mixed_flat(void **state)
{
    (void)state;
    fresh();
    ks_inst in = make("flat_load_dword", 2, 2, ABSENT, ABSENT, ABSENT); /* over its own address */
    uint32_t want[KS_LANES];
    for (unsigned l = 0; l < KS_LANES; l++) {
        uint8_t *p = l % 3 == 0   ? memory + 4 * l
                     : l % 3 == 1 ? group.lds + 8 * l
                                  : w->scratch + l * SCRATCH_BYTES + 12;
        set64(2, l,
              l % 3 == 0   ? address(p)
              : l % 3 == 1 ? KS_SHARED_BASE + 8 * l
                           : KS_PRIVATE_BASE + 12);
        memcpy(&want[l], p, 4);
    }
    run(&in);
    assert_memory_equal(want, w->v[2], sizeof(want));
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
        cmocka_unit_test(every_load),
        cmocka_unit_test(every_store),
        cmocka_unit_test(every_atomic),
        cmocka_unit_test(denormals),
        cmocka_unit_test(null_pointers_name_what_is_missing),
        cmocka_unit_test(failing_lanes),
        cmocka_unit_test(undefined_addresses),
        cmocka_unit_test(mixed_flat),
    };
    return cmocka_run_group_tests_name("sim_memory", tests, begin_tests, end_tests);
}
