// SPDX-License-Identifier: MIT
// MODE and output modifiers: clamp, omod, denormals and rounding of each float type by its own
// field; f16 in and out.
#include <math.h>
#include "lanes_wave.h"

static void add_f32(ks_lanes *k)
{
    for (unsigned i = 0; i < KS_LANES; i++) {
        volatile float a = f32(k->s[0][i]), b = f32(k->s[1][i]), d = a + b;
        k->d[0][i] = bits32(d);
    }
}
static void add_f64(ks_lanes *k)
{
    for (unsigned i = 0; i < KS_LANES; i++) {
        volatile double a = f64((uint64_t)k->s[0][64 + i] << 32 | k->s[0][i]);
        volatile double b = f64((uint64_t)k->s[1][64 + i] << 32 | k->s[1][i]), d = a + b;
        uint64_t v = bits64(d);
        k->d[0][i] = (uint32_t)v;
        k->d[0][64 + i] = (uint32_t)(v >> 32);
    }
}

static double number(uint64_t bits, uint8_t type)
{
    if (type == KS_F64) return f64(bits);
    if (type == KS_F32) return f32((uint32_t)bits);
    unsigned e = bits >> 10 & 31, m = bits & 1023;
    double v = e == 31 ? (m ? NAN : INFINITY) : e ? ldexp(1024 + m, (int)e - 25) : ldexp(m, -24);
    return bits & 0x8000 ? -v : v;
}
static const uint64_t ones_of[] = {
    [KS_F16] = 0x3c00, [KS_F32] = 0x3f800000, [KS_F64] = 0x3ffull << 52};
static const uint64_t samples[][3] = {
    /* f16, f32, f64 */
    {0, 0, 0},
    {0x8000, 0x80000000, 1ull << 63},
    {0x3800, 0x3f000000, 0x3feull << 52},
    {0x3c00, 0x3f800000, 0x3ffull << 52},
    {0x3c01, 0x3f800001, (0x3ffull << 52) + 1},
    {0xbc00, 0xbf800000, 0xbffull << 52},
    {0x7bff, 0x7f7fffff, 0x7fefffffffffffffull},
    {0x7c00, 0x7f800000, 0x7ffull << 52},
    {0xfc00, 0xff800000, 0xfffull << 52},
    {0x7e01, 0x7fc00001, (0x7ffull << 52) + (3ull << 50)},
    {0xfe00, 0xffc00000, 0xfff8ull << 48},
    {1, 1, 1},
    {0x83ff, 0x807fffff, 0x800fffffffffffffull},
    {0x400, 0x800000, 1ull << 52},
    {0x401, 0x800001, (1ull << 52) + 1},
    {0x8400, 0x80800000, 0x8010ull << 48},
    {0x7800, 0x7f000000, 0x7feull << 52},
};
enum { SAMPLES = sizeof(samples) / sizeof(samples[0]) };
static const uint8_t floats[] = {KS_F16, KS_F32, KS_F64};
static const uint64_t top[] = {0x8000, 0x80000000, 1ull << 63},
                      least[] = {0x400, 0x800000, 1ull << 52};

/* What comes out when the samples go through an instruction that does nothing to them. */
static void pass(unsigned t, ks_inst *in, uint64_t *out)
{
    for (unsigned l = 0; l < KS_LANES; l++) {
        w->v[2][l] = (uint32_t)samples[l % SAMPLES][t];
        w->v[3][l] = (uint32_t)(samples[l % SAMPLES][t] >> 32);
    }
    run(in);
    for (unsigned l = 0; l < SAMPLES; l++) out[l] = t == 2 ? v64(4, l) : w->v[4][l];
}
static void test_clamp(void **state)
{
    (void)state;
    EACH_VARIANT
    for (unsigned t = 0; t < 3; t++)
        for (unsigned dx10 = 0; dx10 < 2; dx10++) {
            uint64_t out[SAMPLES];
            reset();
            w->mode = 0x2f0 | dx10 << 8;
            ks_op op = by_hand(first, floats[t], floats[t], 0);
            ks_inst in = make(&op, 1, 1, OPERANDS(vgpr(4), vgpr(2)));
            in.clamp = 1;
            pass(t, &in, out);
            for (unsigned n = 0; n < SAMPLES; n++) {
                uint64_t v = samples[n][t], want = v;
                double x = number(v, floats[t]);
                if (x != x)
                    want = dx10 ? 0 : v;
                else if (!(x > 0))
                    want = 0;
                else if (x > 1)
                    want = ones_of[floats[t]];
                if (out[n] != want)
                    fail_msg("%s type %u: clamp of %llx is %llx", now->name, t,
                             (unsigned long long)v, (unsigned long long)out[n]);
            }
        }
}
static void test_denormals(void **state)
{
    (void)state;
    EACH_VARIANT
    for (unsigned t = 0; t < 3; t++)
        for (unsigned field = 0; field < 4; field++)
            for (unsigned raw = 0; raw < 2; raw++) {
                uint64_t out[SAMPLES];
                reset();
                /* The other field is the opposite, so that taking the wrong one shows. */
                w->mode = t == 1 ? field << 4 | (3 - field) << 6 : field << 6 | (3 - field) << 4;
                ks_op op = by_hand(first, floats[t], floats[t], raw ? KS_F_RAW : 0);
                ks_inst in = make(&op, 1, 1, OPERANDS(vgpr(4), vgpr(2)));
                pass(t, &in, out);
                for (unsigned n = 0; n < SAMPLES; n++) {
                    uint64_t v = samples[n][t];
                    bool small = (v & ~top[t]) < least[t];
                    assert_int_equal(out[n], small && field != 3 && !raw ? v & top[t] : v);
                }
                /* What the input keeps, the output alone may take away, and the other way round. */
                ks_op bits = by_hand(first,
                                     t == 0   ? KS_B16
                                     : t == 1 ? KS_B32
                                              : KS_B64,
                                     floats[t], 0);
                ks_inst only_in = make(&bits, 1, 1, OPERANDS(vgpr(4), vgpr(2)));
                pass(t, &only_in, out);
                for (unsigned n = 0; n < SAMPLES; n++) {
                    uint64_t v = samples[n][t];
                    bool small = (v & ~top[t]) < least[t];
                    assert_int_equal(out[n], small && !(field & 1) ? v & top[t] : v);
                }
            }
}
static void test_omod(void **state)
{
    (void)state;
    EACH_VARIANT
    for (unsigned t = 0; t < 3; t++)
        for (unsigned omod = 1; omod < 4; omod++)
            for (unsigned how = 0; how < 3;
                 how++) { /* in force; ignored: denormals are on; IEEE is on */
                uint64_t out[SAMPLES];
                reset();
                w->mode = how == 0 ? 0x100 : how == 1 ? 0x1f0 : 0x300;
                ks_op op = by_hand(first, floats[t], t == 0 ? KS_B16 : t == 1 ? KS_B32 : KS_B64, 0);
                op.d[0].type = floats[t];
                ks_inst in = make(&op, 1, 1, OPERANDS(vgpr(4), vgpr(2)));
                in.omod = (uint8_t)omod;
                pass(t, &in, out);
                for (unsigned n = 0; n < SAMPLES; n++) {
                    uint64_t v = samples[n][t];
                    double x = number(v, floats[t]), y = x * (omod == 1 ? 2 : omod == 2 ? 4 : 0.5);
                    double tiny = t == 0   ? 0x1p-14
                                  : t == 1 ? 0x1p-126
                                           : 0x1p-1022,
                           most = t == 0 ? 65504 : 0x1.fffffep127;
                    uint64_t infinity = t == 0 ? 0x7c00 : t == 1 ? 0x7f800000 : 0x7ffull << 52;
                    bool small = (v & ~top[t]) < least[t];
                    if (how == 1) {
                        assert_int_equal(out[n], v);
                    } else if (how == 2) {
                        assert_int_equal(out[n], small ? v & top[t] : v);
                    } else if (x != x) {
                        assert_int_equal(out[n], v);
                    } else if (small || fabs(y) < tiny) {
                        assert_int_equal(out[n], 0);
                    } else if (isinf(y) || (t < 2 && fabs(y) > most)) {
                        assert_int_equal(out[n], infinity | (x < 0 ? top[t] : 0));
                    } else {
                        assert_true(number(out[n], floats[t]) == y);
                    }
                }
            }
}
/* Rounding directions: of f32, and of f64 and f16. */
static void test_rounding(void **state)
{
    (void)state;
    EACH_VARIANT
    for (unsigned mode = 0; mode < 16; mode++) {
        reset();
        w->mode = MODE_IEEE | mode;
        for (unsigned l = 0; l < KS_LANES; l++) {
            float sign = l & 1 ? -1.0f : 1.0f;
            uint64_t one = bits64(sign), tiny = bits64(sign * 0x1.8p-54);
            w->v[10][l] = bits32(sign), w->v[11][l] = bits32(sign * 0x1.8p-25f);
            w->v[20][l] = (uint32_t)one, w->v[21][l] = (uint32_t)(one >> 32);
            w->v[22][l] = (uint32_t)tiny, w->v[23][l] = (uint32_t)(tiny >> 32);
        }
        ks_op single = by_hand(add_f32, KS_F32, KS_F32, 0),
              wide = by_hand(add_f64, KS_F64, KS_F64, 0);
        ks_inst a = make(&single, 1, 2, OPERANDS(vgpr(30), vgpr(10), vgpr(11)));
        ks_inst b = make(&wide, 1, 2, OPERANDS(vgpr(32), vgpr(20), vgpr(22)));
        run(&a);
        run(&b);
        for (unsigned l = 0; l < KS_LANES; l++) {
            /* One and less than half of its unit: only a direction away from zero changes it. */
            bool up[2] = {(mode & 3) == 1 + (l & 1), mode >> 2 == 1 + (l & 1)};
            assert_int_equal(w->v[30][l], (l & 1 ? 0xbf800000u : 0x3f800000u) + up[0]);
            assert_int_equal(v64(32, l), (l & 1 ? 0xbff0ull << 48 : 0x3ff0ull << 48) + up[1]);
        }
        volatile float third = 1.0f / 3.0f; /* the host's direction is as it was */
        assert_int_equal(bits32(third), 0x3eaaaaab);
    }
}
/* The 16-bit results of gfx9's older instructions make the upper half zero. */
static void test_upper_half(void **state)
{
    (void)state;
    EACH_VARIANT
    {
        reset();
        remember();
        ks_inst in = make(find("v_add_u16"), 1, 2, OPERANDS(vgpr(4), vgpr(1), vgpr(2)));
        in.encoding = KS_VOP2;
        run(&in);
        ks_inst keeps = make(find("v_sub_i16"), 1, 2, OPERANDS(vgpr(5), vgpr(1), vgpr(2)));
        run(&keeps);
        for (unsigned l = 0; l < KS_LANES; l++) {
            assert_int_equal(w->v[4][l], (before[1][l] + before[2][l]) & 0xffff);
            assert_int_equal(w->v[5][l], ((before[1][l] - before[2][l]) & 0xffff) |
                                             (before[5][l] & 0xffff0000u));
        }
    }
}

/* ---- f16 ---- */
static uint32_t f16_of(double x, unsigned round)
{
    uint32_t sign = signbit(x) ? 0x8000u : 0;
    double mag = fabs(x), unit = 0x1p-24, q, r;
    while (unit * 2048 <= mag && unit < 32) unit *= 2;
    q = mag / unit;
    r = floor(q);
    bool up = round == 0 ? q - r > 0.5 || (q - r == 0.5 && fmod(r, 2) == 1.0)
                         : q > r && ((round == 1 && !sign) || (round == 2 && sign));
    r = (r + up) * unit;
    if (r > 65504) /* beyond: infinity, or the greatest where the direction is towards zero */
        return sign |
               (round == 0 || (round == 1 && !sign) || (round == 2 && sign) ? 0x7c00u : 0x7bffu);
    if (r < 0x1p-14) return sign | (uint32_t)(r * 0x1p24);
    int e;
    double m = frexp(r, &e);
    return sign | (((uint32_t)(e + 14) << 10) + (uint32_t)((m * 2 - 1) * 1024));
}
static void check_to_f16(const float *in, unsigned n)
{
    for (unsigned round = 0; round < 4; round++) {
        reset();
        w->mode = MODE_IEEE | round << 2;
        for (unsigned l = 0; l < KS_LANES; l++) w->v[1][l] = bits32(in[l % n]);
        RUN("v_cvt_f16_f32", 1, 1, vgpr(2), vgpr(1));
        for (unsigned l = 0; l < n; l++)
            if (w->v[2][l] != f16_of(in[l], round))
                fail_msg("%s: %a to f16, direction %u: %x, want %x", now->name, (double)in[l],
                         round, w->v[2][l], f16_of(in[l], round));
    }
}
static void test_f16(void **state)
{
    (void)state;
    EACH_VARIANT
    {
        for (uint32_t h = 0; h < 0x10000; h += KS_LANES) {
            reset();
            for (unsigned l = 0; l < KS_LANES; l++) w->v[1][l] = (h + l) | 0xabcd0000u;
            RUN("v_cvt_f32_f16", 1, 1, vgpr(2), vgpr(1));
            for (unsigned l = 0; l < KS_LANES; l++) {
                double want = number(h + l, KS_F16);
                if (want != want)
                    assert_int_equal(w->v[2][l], ((h + l) & 0x8000u) << 16 | 0x7fc00000u |
                                                     ((h + l) & 0x3ff) << 13);
                else
                    assert_int_equal(w->v[2][l], bits32((float)want));
            }
        }
        /* Each f16, the middle to the next, and what is just beside them. */
        for (uint32_t h = 0; h < 0x7c00; h += h < 0x420 || h > 0x7be0 ? 1 : 37) {
            double low = number(h, KS_F16), high = h == 0x7bff ? 65536 : number(h + 1, KS_F16);
            float in[12], middle = (float)((low + high) / 2);
            in[0] = (float)low, in[1] = nextafterf(in[0], INFINITY), in[2] = middle;
            in[3] = nextafterf(middle, 0), in[4] = nextafterf(middle, INFINITY),
            in[5] = nextafterf((float)high, 0);
            for (unsigned n = 0; n < 6; n++) in[6 + n] = -in[n];
            check_to_f16(in, 12);
        }
        const float far[] = {65536,      -65536,    1e30f,    -1e30f,         0x1p-149f,
                             -0x1p-149f, 0x1p-126f, 0x1p-25f, 0x1.fffffep127f};
        check_to_f16(far, sizeof(far) / sizeof(far[0]));
        reset();
        w->v[1][0] = 0x7fa02000u, w->v[1][1] = 0xff800000u;
        RUN("v_cvt_f16_f32", 1, 1, vgpr(2), vgpr(1));
        assert_int_equal(w->v[2][0], 0x7f01);
        assert_int_equal(w->v[2][1], 0xfc00);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clamp),      cmocka_unit_test(test_denormals),
        cmocka_unit_test(test_omod),       cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_upper_half), cmocka_unit_test(test_f16),
    };
    return cmocka_run_group_tests(tests, begin_tests, end_tests);
}
