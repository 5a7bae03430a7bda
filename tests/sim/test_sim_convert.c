// SPDX-License-Identifier: MIT
// Conversions against plain statements of them: every fp8, bf8 and f16, floats at every bound of
// the integers; MODE's rounding directions and FP16_OVFL.  In every variant.
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include "float_rows.h"

/* ---- fp8 and bf8 of gfx942: value of a code, code of a value ---- */
typedef struct format {
    const char *name;
    int mantissa, bias, emax; /* emax: the greatest exponent field */
} format;
static const format formats[] = {{"fp8", 3, 8, 15}, {"bf8", 2, 16, 31}};
static double value(const format *f, unsigned code)
{
    int m = (int)code & ((1 << f->mantissa) - 1), e = (int)(code & 127) >> f->mantissa;
    double v = e ? ldexp((1 << f->mantissa) + m, e - f->bias - f->mantissa)
                 : ldexp(m, 1 - f->bias - f->mantissa);
    return code == 128 ? NAN : code & 128 ? -v : v;
}
/* What is at or above the middle between the greatest number and the next would-be one overflows.
 */
static unsigned code_of(const format *f, float v, bool saturate)
{
    double m = fabs((double)v), top = value(f, 127),
           unit = ldexp(1, f->emax - f->bias - f->mantissa);
    unsigned sign = signbit(v) ? 128 : 0, low = 0;
    if (!isfinite(v)) return 128;
    if (m >= top + unit / 2) return saturate ? sign | 127 : 128;
    while (low < 127 && value(f, low + 1) <= m) low++;
    double rest = m - value(f, low), next = low == 127 ? top + unit : value(f, low + 1),
           gap = next - value(f, low);
    if (low < 127 && (rest * 2 > gap || (rest * 2 == gap && (low & 1)))) low++;
    return low ? sign | low : 0;
}
static unsigned cut_code(const format *f, float v, uint32_t seed, bool saturate)
{
    uint32_t bits = ks_bits32(v), mag = bits & 0x7fffffff, low = 0;
    double top = value(f, 127), unit = ldexp(1, f->emax - f->bias - f->mantissa);
    if (mag >= 0x7f800000) return 128;
    mag += seed >> (9 + f->mantissa);
    if (mag >= 0x7f800000 || (double)ks_f32(mag) >= top + unit)
        return saturate ? (bits >> 24 & 128) | 127 : 128;
    while (low < 127 && value(f, low + 1) <= (double)ks_f32(mag)) low++;
    return low ? (bits >> 24 & 128) | low : 0;
}
static void test_from_8(void **state)
{
    (void)state;
    EACH_VARIANT
    for (unsigned n = 0; n < 2; n++)
        for (unsigned first = 0; first < 256; first += KS_LANES) {
            char name[32];
            LANES(put64(0, l, (first + l) | (255 - first - l) << 8 | 0xabcd0000));
            snprintf(name, sizeof(name), "v_cvt_f32_%s", formats[n].name);
            call(name, MODE_IEEE);
            LANES(same(name, l, ks_bits32((float)value(&formats[n], first + l)), out32(l)));
            snprintf(name, sizeof(name), "v_cvt_pk_f32_%s", formats[n].name);
            call(name, MODE_IEEE);
            EACH_LANE
            {
                same(name, l, ks_bits32((float)value(&formats[n], first + l)), out32(l));
                same(name, l, ks_bits32((float)value(&formats[n], 255 - first - l)),
                     (uint32_t)(out64(l) >> 32));
            }
        }
}
/* Every f16, the middles between codes and their neighbours, and noise. */
static float sample(const format *f, uint32_t n)
{
    uint32_t code = n >> 2 & 255;
    if (n < 65536) return ks_f16_to_f32(n);
    if (n < 65536 + 1024) {
        float middle = (float)((value(f, code) + value(f, code ^ 1)) / 2);
        return n % 4 == 0   ? middle
               : n % 4 == 1 ? nextafterf(middle, 0)
               : n % 4 == 2 ? nextafterf(middle, 1e30f)
                            : middle * 3;
    }
    return ks_f32(noise(n));
}
static void test_to_8(void **state)
{
    (void)state;
    EACH_VARIANT
    for (unsigned n = 0; n < 4; n++) {
        const format *f = &formats[n & 1];
        bool saturate = n & 2;
        uint32_t mode = saturate ? MODE_IEEE | KS_MODE_FP16_OVFL : MODE_IEEE;
        for (uint32_t first = 0; first < 65536 + 2048; first += KS_LANES) {
            char name[32];
            float v[KS_LANES];
            LANES(v[l] = sample(f, first + l), putf(0, l, v[l]), putf(1, l, -v[KS_LANES - 1 - l]));
            LANES(putf(1, l, -v[KS_LANES - 1 - l]), put64(2, l, 0x12345678));
            snprintf(name, sizeof(name), "v_cvt_pk_%s_f32", f->name);
            instruction.op_sel = first & 64 ? 8 : 0;
            call(name, mode);
            EACH_LANE
            {
                unsigned codes =
                    code_of(f, v[l], saturate) | code_of(f, -v[KS_LANES - 1 - l], saturate) << 8;
                same(name, l, first & 64 ? codes << 16 | 0x5678 : codes | 0x12340000, out32(l));
            }
            snprintf(name, sizeof(name), "v_cvt_sr_%s_f32", f->name);
            instruction.op_sel = (uint8_t)((first / KS_LANES & 3) << 2);
            LANES(put64(1, l, noise(first + l) * (first & 512 ? 1 : 0)));
            call(name, mode);
            EACH_LANE
            {
                unsigned shift = instruction.op_sel * 2u;
                same(name, l,
                     (0x12345678 & ~(255u << shift)) | cut_code(f, v[l], source[1][l], saturate)
                                                           << shift,
                     out32(l));
            }
            instruction.op_sel = 0;
        }
    }
}

/* ---- Floats to integers ---- */
static const float bounds[] = {0,           -0.0f,           0.5f,           -0.5f,
                               0.99999994f, -0.99999994f,    1.5f,           2.5f,
                               -1.5f,       -2.5f,           127.5f,         255.5f,
                               256,         32767.5f,        -32768.5f,      32768,
                               65535.5f,    65536,           0x1.fffffep30f, 0x1p31f,
                               -0x1p31f,    -0x1.000002p31f, 0x1.fffffep31f, 0x1p32f,
                               1e30f,       -1e30f,          INFINITY,       -INFINITY,
                               NAN,         0x1p-149f,       0x1.fffffep-2f, -3e9f};
enum { BOUNDS = sizeof(bounds) / sizeof(bounds[0]) };
static int64_t clipped(double v, double low, double high)
{
    return isnan(v) ? 0 : v < low ? (int64_t)low : v > high ? (int64_t)high : (int64_t)v;
}
static void test_to_integers(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double low, high;
        enum { F16, F32, F64 } from;
        bool floor;
        double add;
    } cases[] = {
        {"v_cvt_i32_f32", -0x1p31, 0x1p31 - 1, F32, 0, 0},
        {"v_cvt_u32_f32", 0, 0x1p32 - 1, F32, 0, 0},
        {"v_cvt_i32_f64", -0x1p31, 0x1p31 - 1, F64, 0, 0},
        {"v_cvt_u32_f64", 0, 0x1p32 - 1, F64, 0, 0},
        {"v_cvt_i16_f16", -32768, 32767, F16, 0, 0},
        {"v_cvt_u16_f16", 0, 65535, F16, 0, 0},
        {"v_cvt_flr_i32_f32", -0x1p31, 0x1p31 - 1, F32, 1, 0},
        {"v_cvt_rpi_i32_f32", -0x1p31, 0x1p31 - 1, F32, 1, 0.5},
    };
    EACH_VARIANT
    for (unsigned n = 0; n < sizeof(cases) / sizeof(cases[0]); n++)
        for (uint32_t first = 0; first < 65536; first += KS_LANES) {
            double v[KS_LANES];
            EACH_LANE
            {
                float s = first ? ks_f32(noise(first + l) >> (l & 1)) : bounds[l % BOUNDS];
                v[l] = cases[n].from == F16 ? (double)ks_f16_to_f32(first + l) : (double)s;
                if (cases[n].from == F64 && first % 128)
                    v[l] = (double)(int32_t)noise(first + l) + (l & 1 ? 0.99999 : -0.75);
                put64(0, l,
                      cases[n].from == F16   ? first + l
                      : cases[n].from == F32 ? ks_bits32(s)
                                             : ks_bits64(v[l]));
            }
            call(cases[n].name, MODE_IEEE);
            EACH_LANE
            {
                double w_ = cases[n].floor ? floor(v[l] + cases[n].add) : v[l];
                uint32_t want = (uint32_t)clipped(w_, cases[n].low, cases[n].high);
                same(cases[n].name, l, cases[n].from == F16 ? want & 0xffff : want, out32(l));
            }
        }
}
static unsigned norm(double v, double low, double scale)
{
    return (unsigned)(int)nearbyint((isnan(v)  ? 0
                                     : v < low ? low
                                     : v > 1   ? 1
                                               : v) *
                                    scale) &
           0xffff;
}
static void test_packed_integers(void **state)
{
    (void)state;
    static const int directions[4] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    EACH_VARIANT
    for (uint32_t round = 0; round < 400; round++) {
        float a[KS_LANES], b[KS_LANES];
        unsigned want[4][KS_LANES];
        static const char *const names[] = {"v_cvt_pknorm_i16_f32", "v_cvt_pknorm_u16_f32",
                                            "v_cvt_pk_u8_f32", "v_cvt_pkaccum_u8_f32"};
        volatile int direction = directions[round & 3];
        fesetround(direction);
        EACH_LANE
        {
            uint32_t r = noise(round * KS_LANES + l);
            a[l] =
                round ? (float)(int32_t)r * (round & 4 ? 0x1p-31f : 0x1p-22f) : bounds[l % BOUNDS];
            b[l] = round & 8 ? (float)((int)(r >> 8 & 255) - 128) / 2 : -a[l];
            want[0][l] = norm((double)a[l], -1, 32767) | norm((double)b[l], -1, 32767) << 16;
            want[1][l] = norm((double)a[l], 0, 65535) | norm((double)b[l], 0, 65535) << 16;
            unsigned byte = (unsigned)clipped(nearbyint((double)a[l]), 0, 255), shift = (l & 3) * 8;
            want[2][l] = want[3][l] = (0xa5a5a5a5 & ~(255u << shift)) | byte << shift;
        }
        for (unsigned n = 0; n < 4; n++) {
            LANES(putf(0, l, a[l]), put64(2, l, 0xa5a5a5a5),
                  put64(1, l, n < 2 ? ks_bits32(b[l]) : l));
            call(names[n], MODE_IEEE);
            LANES(same(names[n], l, want[n][l], out32(l)));
        }
        fesetround(FE_TONEAREST);
    }
}

/* ---- To f16: in every direction, and towards 0 whatever the direction is ---- */
static void test_to_f16(void **state)
{
    (void)state;
    static const int directions[4] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    EACH_VARIANT
    for (unsigned n = 0; n < 5; n++)
        for (uint32_t code = 0; code < 0x7c00; code += 16) {
            float v[KS_LANES];
            EACH_LANE
            { /* a value of f16, the middle to the next one, and f32's neighbours of both */
                float low = ks_f16_to_f32(code + l / 4),
                      high = code + l / 4 == 0x7bff ? 65536 : ks_f16_to_f32(code + l / 4 + 1);
                float at = l & 1 ? (low + high) / 2 : low;
                v[l] = l & 2 ? nextafterf(at, low > 0 ? at * 2 : 1) : at;
                v[l] = noise(code + l) & 1 ? -v[l] : v[l];
                putf(0, l, v[l]), putf(1, l, -v[l]);
            }
            const char *name = n == 4 ? "v_cvt_pkrtz_f16_f32" : "v_cvt_f16_f32";
            fesetround(directions[n & 3]);
            call(name, MODE_IEEE);
            fesetround(FE_TONEAREST);
            EACH_LANE
            {
                double m = fabs((double)v[l]), low = (double)ks_f16_to_f32(code + l / 4);
                double high =
                    code + l / 4 == 0x7bff ? 65536 : (double)ks_f16_to_f32(code + l / 4 + 1);
                bool minus = signbit(v[l]), odd = (code + l / 4) & 1;
                bool up = n == 0   ? m - low > high - m || (m - low == high - m && odd)
                          : n == 1 ? m > low && !minus
                          : n == 2 ? m > low && minus
                                   : false;
                unsigned c = code + l / 4 + up;
                same(name, l, c | (minus ? 0x8000 : 0), out32(l) & 0xffff);
                if (n == 4) same(name, l, c | (minus ? 0 : 0x8000), out32(l) >> 16);
            }
        }
}
static void test_few(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t a, b, d;
    } cases[] = {
        {"v_cvt_pkrtz_f16_f32", 0x7f800000, 0xff7fffff, 0xfbff7c00},
        {"v_cvt_pkrtz_f16_f32", 0x7fc00000, 0x33000000, 0x00007e00},
        {"v_cvt_f16_f32", 0x7f800000, 0, 0x7c00},
        {"v_cvt_f16_f32", 0xff7fffff, 0, 0xfc00},
        {"v_cvt_f16_u16", 0xffff, 0, 0x7c00},
        {"v_cvt_f16_u16", 2049, 0, 0x6800},
        {"v_cvt_f16_i16", 0xffff, 0, 0xbc00},
        {"v_cvt_f16_i16", 0x8000, 0, 0xf800},
        {"v_cvt_f32_f16", 0x0001, 0, 0x33800000},
        {"v_cvt_f32_f16", 0xfc00, 0, 0xff800000},
        {"v_cvt_f32_i32", 0x80000000, 0, 0xcf000000},
        {"v_cvt_f32_i32", 0x01000001, 0, 0x4b800000},
        {"v_cvt_f32_u32", 0xffffffff, 0, 0x4f800000},
        {"v_cvt_f32_u32", 0x80000080, 0, 0x4f000000},
        {"v_cvt_f32_ubyte0", 0x87654321, 0, 0x42040000},
        {"v_cvt_f32_ubyte1", 0x87654321, 0, 0x42860000},
        {"v_cvt_f32_ubyte2", 0x87654321, 0, 0x42ca0000},
        {"v_cvt_f32_ubyte3", 0x87654321, 0, 0x43070000},
        {"v_cvt_off_f32_i4", 0xf7, 0, 0x3ee00000},
        {"v_cvt_off_f32_i4", 0x18, 0, 0xbf000000},
        {"v_cvt_norm_i16_f16", 0xbc00, 0, 0x8001},
        {"v_cvt_norm_u16_f16", 0x3800, 0, 0x8000},
        {"v_cvt_norm_i16_f16", 0x7e00, 0, 0},
        {"v_cvt_pknorm_i16_f16", 0x3c00, 0xc000, 0x80017fff},
        {"v_cvt_pknorm_u16_f16", 0x3c00, 0xc000, 0x0000ffff},
        {"v_pack_b32_f16", 0x1234, 0x5678, 0x56781234},
        {"v_cvt_f32_f64", 0x3ff0000010000000, 0, 0x3f800000},
        {"v_cvt_f32_f64", 0x47efffffefffffff, 0, 0x7f7fffff},
        {"v_cvt_f32_f64", 0x36a0000000000000, 0, 1},
    };
    EACH_VARIANT
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        LANES(put64(0, l, cases[i].a), put64(1, l, cases[i].b));
        call(cases[i].name, MODE_IEEE);
        same(cases[i].name, 63, cases[i].d, out32(63));
    }
    EACH_VARIANT
    for (unsigned n = 0; n < 3; n++) {
        static const char *const names[] = {"v_cvt_f64_i32", "v_cvt_f64_u32", "v_cvt_f64_f32"};
        LANES(put64(0, l, noise(l) & 0xbfffffff));
        call(names[n], MODE_IEEE);
        EACH_LANE
        {
            double v = n == 0   ? (int32_t)source[0][l]
                       : n == 1 ? source[0][l]
                                : (double)ks_f32(source[0][l]);
            same(names[n], l, ks_bits64(v), out64(l));
        }
    }
}

/* MODE.FP16_OVFL: only what was finite is held below infinity. */
static void test_f16_overflow(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t a, b, c, d[2]; /* without and with FP16_OVFL */
    } cases[] = {
        {"v_add_f16", 0x7bff, 0x7bff, 0, {0x7c00, 0x7bff}},
        {"v_add_f16", 0x7c00, 0x3c00, 0, {0x7c00, 0x7c00}},
        {"v_mul_f16", 0x7bff, 0xfbff, 0, {0xfc00, 0xfbff}},
        {"v_fma_f16", 0x7bff, 0x7bff, 0x7bff, {0x7c00, 0x7bff}},
        {"v_rcp_f16", 0, 0, 0, {0x7c00, 0x7c00}},
        {"v_exp_f16", 0x7bff, 0, 0, {0x7c00, 0x7bff}},
        {"v_exp_f16", 0x7c00, 0, 0, {0x7c00, 0x7c00}},
        {"v_ldexp_f16", 0xbc00, 30, 0, {0xfc00, 0xfbff}},
        {"v_cvt_f16_f32", 0x7f7fffff, 0, 0, {0x7c00, 0x7bff}},
        {"v_cvt_f16_f32", 0xff800000, 0, 0, {0xfc00, 0xfc00}},
        {"v_pk_mul_f16", 0x7bff7c00, 0x7bff3c00, 0, {0x7c007c00, 0x7bff7c00}},
        {"v_pk_add_f16", 0x00017bff, 0x00017bff, 0, {0x00027c00, 0x00027bff}},
    };
    EACH_VARIANT
    for (unsigned i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
        LANES(put64(0, l, cases[i / 2].a), put64(1, l, cases[i / 2].b),
              put64(2, l, cases[i / 2].c));
        call(cases[i / 2].name, i & 1 ? MODE_IEEE | KS_MODE_FP16_OVFL : MODE_IEEE);
        same(cases[i / 2].name, 31, cases[i / 2].d[i & 1], out32(31));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_from_8),       cmocka_unit_test(test_to_8),
        cmocka_unit_test(test_to_integers),  cmocka_unit_test(test_packed_integers),
        cmocka_unit_test(test_to_f16),       cmocka_unit_test(test_few),
        cmocka_unit_test(test_f16_overflow),
    };
    return cmocka_run_group_tests_name("convert", tests, begin_tests, end_tests);
}
