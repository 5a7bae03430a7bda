// SPDX-License-Identifier: MIT
// Floating point instructions against plain statements of them: f16 in exact integer arithmetic,
// minimum to median and classes as the ISA spells them out, division's three helpers by what they
// are for, transcendentals by libm.  In every variant; the functions alone, as rows: modifiers and
// denormals are test_sim_mode's.
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include "float_rows.h"

static const int directions[4] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

/* ---- f16: every value is a multiple of 2^-24, every product one of 2^-48 ---- */
typedef __int128 fixed;
static fixed fixed_of(uint32_t h) /* times 2^24 */
{
    fixed m = h & 0x3ff, e = h >> 10 & 31;
    m = e ? (m | 0x400) << (e - 1) : m;
    return h & 0x8000 ? -m : m;
}
/* v * 2^-48 to f16. */
static uint32_t rounded(fixed v, int direction, bool minus_zero)
{
    uint32_t sign = v < 0 || (v == 0 && minus_zero) ? 0x8000 : 0;
    fixed m = v < 0 ? -v : v, unit = (fixed)1 << 24;
    while (m >= unit << 11) unit <<= 1;
    fixed kept = m / unit * unit, rest = m - kept;
    bool up = direction == 0 ? rest * 2 > unit || (rest * 2 == unit && (kept / unit & 1))
                             : rest && (direction == 1   ? !sign
                                        : direction == 2 ? sign != 0
                                                         : false);
    kept += up ? unit : 0;
    bool away = direction == 0 || (direction == 1 && !sign) || (direction == 2 && sign);
    if (kept >= (fixed)1 << (48 + 16)) return sign | (away ? 0x7c00 : 0x7bff);
    uint32_t e = 0;
    for (kept >>= 24; kept >= 0x800; kept >>= 1) e++;
    return sign | ((uint32_t)kept + (e << 10));
}
static uint32_t exact(unsigned op, uint32_t a, uint32_t b, uint32_t c, int direction)
{
    fixed x = fixed_of(a), y = fixed_of(b), z = fixed_of(c) * ((fixed)1 << 24), v;
    bool sa = a >> 15, sb = b >> 15, sc = c >> 15, zero;
    if (op == 0) /* a + b; 1: a - b; 2: a * b; 3: a * b + c */
        v = (x + y) * ((fixed)1 << 24), zero = sa && sb;
    else if (op == 1)
        v = (x - y) * ((fixed)1 << 24), zero = sa && !sb;
    else if (op == 2)
        return rounded(x * y, direction, sa != sb);
    else
        v = x * y + z, zero = (sa != sb) && sc;
    /* A zero of unlike terms is -0 only where rounding is down. */
    bool terms = op == 0 ? sa != sb : op == 1 ? sa == sb : (sa != sb) != sc;
    return rounded(v, direction, zero || (terms && direction == 2));
}
static void test_f16(void **state)
{
    (void)state;
    static const char *const names[] = {"v_add_f16", "v_sub_f16", "v_mul_f16", "v_fma_f16",
                                        "v_fma_legacy_f16"};
    EACH_VARIANT
    for (unsigned n = 0; n < 5; n++)
        for (int direction = 0; direction < 4; direction++)
            for (unsigned round = 0; round < 3000; round++) {
                EACH_LANE
                {
                    uint32_t r = noise(round * 64 + l + n * 7919), q = noise(r);
                    put64(0, l, r % 0x7c00 | (r >> 16 & 0x8000));
                    put64(1, l, q % 0x7c00 | (q >> 16 & 0x8000));
                    put64(2, l, round & 1 ? noise(q) % 0x7c00 | (q & 0x8000) : 0);
                    /* Sums near the middle of two f16: large a, tiny b, and the other way round. */
                    if (round % 3 == 0) put64(n >= 3 ? 2 : 1, l, (r >> 8 & 0x83ff));
                }
                fesetround(directions[direction]);
                call(names[n], MODE_IEEE);
                fesetround(FE_TONEAREST);
                LANES(
                    same(names[n], l,
                         exact(n > 3 ? 3 : n, source[0][l], source[1][l], source[2][l], direction),
                         out32(l) & 0xffff));
            }
}
enum { WIDTHS = 3 };
static const unsigned widths[WIDTHS] = {16, 32, 64};
static const uint64_t edges[WIDTHS][16] = {
    {0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x8400, 0x3c00, 0xbc00, 0x7bff, 0x7c00, 0xfc00, 0x7e00,
     0xfe01, 0x7d00, 0xfc01},
    {0, 0x80000000, 1, 0x80000001, 0x7fffff, 0x800000, 0x80800000, 0x3f800000, 0xbf800000,
     0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0x7fa00000, 0xff800001},
    {0, 1ull << 63, 1, (1ull << 63) + 1, (1ull << 52) - 1, 1ull << 52, 0x801ull << 52,
     0x3ffull << 52, 0xbffull << 52, 0x7fefffffffffffff, 0x7ffull << 52, 0xfffull << 52,
     0x7ff8000000000000, 0xfff8000000000001, 0x7ff4000000000000, 0xfff0000000000001},
};
static uint64_t quiet_bit(unsigned width)
{
    return width == 16 ? 0x200 : width == 32 ? 0x400000 : 1ull << 51;
}
static double number(unsigned width, uint64_t v)
{
    if (width == 32) return (double)ks_f32((uint32_t)v);
    return width == 64 ? ks_f64(v)
           : (v & 0x7fff) >= 0x7c00
               ? ((v & 0x3ff)  ? NAN
                  : v & 0x8000 ? -INFINITY
                               : INFINITY)
               : (double)fixed_of((uint32_t)v) * 0x1p-24 * ((v & 0x8000) && !(v & 0x7fff) ? -1 : 1);
}
/* Both halves of packed forms do as the f16 form does. */
static void test_packed(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"v_pk_add_f16", "v_add_f16"}, {"v_pk_mul_f16", "v_mul_f16"},
        {"v_pk_fma_f16", "v_fma_f16"}, {"v_pk_min_f16", "v_min_f16"},
        {"v_pk_max_f16", "v_max_f16"}, {"v_pk_fmac_f16", "v_fma_f16"},
    };
    EACH_VARIANT
    for (unsigned n = 0; n < 6; n++)
        for (unsigned round = 0; round < 200; round++) {
            uint32_t word[3][KS_LANES], got[KS_LANES];
            for (unsigned s = 0; s < 3; s++)
                LANES(put64(s, l, word[s][l] = noise(round * 192 + s * 64 + l)));
            call(names[n][0], MODE_IEEE);
            LANES(got[l] = out32(l));
            for (unsigned half = 0; half < 2; half++) {
                for (unsigned s = 0; s < 3; s++)
                    LANES(put64(s, l, word[s][l] >> half * 16 & 0xffff));
                call(names[n][1], MODE_IEEE);
                EACH_LANE
                {
                    uint32_t want = out32(l) & 0xffff, found = got[l] >> half * 16 & 0xffff;
                    if (!isnan(number(16, want)) || !isnan(number(16, found)))
                        same(names[n][0], l, want, found);
                }
            }
        }
}

/* ---- Minimum to median, classes: the ISA's text ---- */
static bool signalling(unsigned width, uint64_t v)
{
    return isnan(number(width, v)) && !(v & quiet_bit(width));
}
static uint64_t lesser(unsigned width, uint64_t a, uint64_t b, bool ieee, bool greater)
{
    double x = number(width, a), y = number(width, b);
    if (ieee && signalling(width, a)) return a | quiet_bit(width);
    if (ieee && signalling(width, b)) return b | quiet_bit(width);
    if (isnan(x)) return b;
    if (isnan(y)) return a;
    if (x == 0 && y == 0) return (signbit(x) != 0) != greater ? a : b;
    return (greater ? x >= y : x < y) ? a : b;
}
static uint64_t lesser3(unsigned width, uint64_t a, uint64_t b, uint64_t c, bool ieee, bool greater)
{
    return lesser(width, lesser(width, a, b, ieee, greater), c, ieee, greater);
}
static uint64_t median(unsigned width, uint64_t a, uint64_t b, uint64_t c, bool ieee)
{
    double x = number(width, a), y = number(width, b),
           top = number(width, lesser3(width, a, b, c, ieee, true));
    if (isnan(x) || isnan(y) || isnan(number(width, c)))
        return lesser3(width, a, b, c, ieee, false);
    return top == x   ? lesser(width, b, c, ieee, true)
           : top == y ? lesser(width, a, c, ieee, true)
                      : lesser(width, a, b, ieee, true);
}
static void check_order(unsigned width, const uint64_t *v, bool ieee)
{
    static const char *const names[] = {"min", "max", "min3", "max3", "med3"};
    for (unsigned n = 0; n < (width == 64 ? 2 : 5); n++)
        for (unsigned first = 0; first < 4096; first += KS_LANES) {
            char name[32];
            snprintf(name, sizeof(name), "v_%s_f%u", names[n], width);
            LANES(for (unsigned s = 0; s < 3; s++) put64(s, l, v[(first + l) >> s * 4 & 15]));
            call(name, ieee ? MODE_IEEE : MODE_IEEE & ~KS_IEEE_MODE);
            EACH_LANE
            {
                uint64_t a = in64(0, l), b = in64(1, l), c = in64(2, l);
                uint64_t want = n < 2   ? lesser(width, a, b, ieee, n == 1)
                                : n < 4 ? lesser3(width, a, b, c, ieee, n == 3)
                                        : median(width, a, b, c, ieee);
                same(name, l, want, width == 64 ? out64(l) : out32(l));
            }
        }
}
static void test_order(void **state)
{
    (void)state;
    EACH_VARIANT
    for (unsigned w_ = 0; w_ < WIDTHS; w_++)
        for (int ieee = 0; ieee < 2; ieee++) check_order(widths[w_], edges[w_], ieee);
}
static void test_class(void **state)
{
    (void)state;
    static const uint32_t class[16] = {6, 5, 7, 4, 7, 8, 3, 8,
                                       3, 8, 9, 2, 1, 1, 0, 0}; /* of edges */
    EACH_VARIANT
    for (unsigned w_ = 0; w_ < WIDTHS; w_++)
        for (unsigned bit = 0; bit < 10; bit++) {
            char name[32];
            snprintf(name, sizeof(name), "v_cmp_class_f%u", widths[w_]);
            LANES(put64(0, l, edges[w_][l & 15]), put64(1, l, l < 16 ? 1u << bit : ~(1u << bit)));
            call(name, MODE_IEEE);
            LANES(same(name, l, (class[l & 15] == bit) == (l < 16), out32(l)));
        }
}
static bool holds(const char *condition, double a, double b)
{
    static const char *const less = " lt le lg neq nge ngt o tru",
                             *const equal = " eq le ge nlg nlt ngt o tru",
                             *const more = " gt ge lg neq nle nlt o tru",
                             *const none = " u neq nge nlg ngt nle nlt tru";
    char word[8];
    snprintf(word, sizeof(word), " %s", condition);
    const char *list = a != a || b != b ? none : a < b ? less : a > b ? more : equal;
    for (const char *at = list; (at = strstr(at, word)); at++)
        if (at[strlen(word)] == ' ' || !at[strlen(word)]) return true;
    return false;
}
static void test_compare(void **state)
{
    (void)state;
    static const char *const conditions[] = {"f", "lt",  "eq",  "le",  "gt",  "lg",  "ge",  "o",
                                             "u", "nge", "nlg", "ngt", "nle", "neq", "nlt", "tru"};
    EACH_VARIANT
    for (unsigned w_ = 0; w_ < WIDTHS; w_++)
        for (unsigned n = 0; n < 32; n++)
            for (unsigned first = 0; first < 256; first += KS_LANES) {
                char name[32];
                snprintf(name, sizeof(name), "v_cmp%s_%s_f%u", n & 16 ? "x" : "",
                         conditions[n & 15], widths[w_]);
                LANES(put64(0, l, edges[w_][(first + l) & 15]),
                      put64(1, l, edges[w_][(first + l) >> 4]));
                call(name, MODE_IEEE);
                LANES(same(name, l,
                           holds(conditions[n & 15], number(widths[w_], in64(0, l)),
                                 number(widths[w_], in64(1, l))),
                           out32(l)));
            }
}

/* ---- Exponents and fractions of every f16, and of f32 and f64 at their edges ---- */
static void test_exponents(void **state)
{
    (void)state;
    EACH_VARIANT
    for (unsigned first = 0; first < 65536; first += KS_LANES) {
        LANES(put64(0, l, first + l), put64(1, l, (uint32_t)(int32_t)(noise(first + l) % 61) - 30));
        call("v_frexp_exp_i16_f16", MODE_IEEE);
        EACH_LANE
        {
            int e = 0;
            if (isfinite(number(16, first + l))) (void)frexp(number(16, first + l), &e);
            same("v_frexp_exp_i16_f16", l, (uint64_t)(e & 0xffff), out32(l));
        }
        call("v_frexp_mant_f16", MODE_IEEE);
        EACH_LANE
        {
            int e;
            double v = number(16, first + l);
            if (isfinite(v))
                same("v_frexp_mant_f16", l, rounded((fixed)(frexp(v, &e) * 0x1p48), 0, signbit(v)),
                     out32(l));
        }
        call("v_ldexp_f16", MODE_IEEE);
        EACH_LANE
        {
            int n = (int)(int16_t)source[1][l];
            fixed v = fixed_of(first + l) *
                      ((fixed)1 << (30 + n)); /* times 2^54; to 2^48 with a sticky bit */
            if (isfinite(number(16, first + l)))
                same("v_ldexp_f16", l, rounded(v >> 6 | ((v & 63) != 0), 0, source[0][l] >> 15),
                     out32(l));
        }
        call("v_fract_f16", MODE_IEEE);
        EACH_LANE
        {
            double v = number(16, first + l);
            if (isfinite(v))
                same("v_fract_f16", l,
                     rounded((fixed)(fmin(v - floor(v), 0x1.ffcp-1) * 0x1p48), 0, false), out32(l));
        }
    }
}

/* ---- Whole numbers: their direction is their own, not MODE's ---- */
static void test_whole(void **state)
{
    (void)state;
    static const char *const names[] = {"floor", "ceil", "trunc", "rndne"};
    EACH_VARIANT
    for (uint32_t round = 0; round < 400; round++)
        for (unsigned n = 0; n < 8; n++) {
            char name[16];
            double v[KS_LANES], want[KS_LANES];
            bool wide = n & 4;
            snprintf(name, sizeof(name), "v_%s_f%d", names[n & 3], wide ? 64 : 32);
            EACH_LANE
            {
                int32_t r = (int32_t)noise(round * KS_LANES + l);
                v[l] =
                    round & 1 ? (r >> 8) * 0.5 : (double)ks_f32((uint32_t)(r >> 3) ^ 0x40000000u);
                want[l] = (n & 3) == 0   ? floor(v[l])
                          : (n & 3) == 1 ? ceil(v[l])
                          : (n & 3) == 2 ? trunc(v[l])
                                         : rint(v[l]);
                put64(0, l, wide ? ks_bits64(v[l]) : ks_bits32((float)v[l]));
            }
            fesetround(directions[round >> 1 & 3]);
            call(name, MODE_IEEE);
            fesetround(FE_TONEAREST);
            LANES(if (!isnan(v[l]))
                      same(name, l, wide ? ks_bits64(want[l]) : ks_bits32((float)want[l]),
                           wide ? out64(l) : out32(l)));
        }
}

/* ---- Division as the compiler expands it gives the host's quotients ---- */
static float quotient_f32[KS_LANES], den_f32[KS_LANES], num_f32[KS_LANES];
static void divide_32(void)
{
    float d[KS_LANES], n[KS_LANES], one[KS_LANES], three[KS_LANES];
    LANES(putf(0, l, den_f32[l]), putf(1, l, den_f32[l]), putf(2, l, num_f32[l]));
    call("v_div_scale_f32", MODE_IEEE);
    LANES(d[l] = outf(l), putf(0, l, num_f32[l]));
    call("v_div_scale_f32", MODE_IEEE);
    LANES(n[l] = outf(l), put64(3, l, result[1][l]), putf(0, l, d[l]));
    call("v_rcp_f32", MODE_IEEE);
    EACH_LANE
    {
        float r = outf(l);
        one[l] = fmaf(fmaf(-d[l], r, 1), r, r);
        float q = n[l] * one[l];
        three[l] = fmaf(fmaf(-d[l], q, n[l]), one[l], q);
        putf(0, l, fmaf(-d[l], three[l], n[l])), putf(1, l, one[l]), putf(2, l, three[l]);
    }
    call("v_div_fmas_f32", MODE_IEEE);
    LANES(putf(0, l, outf(l)), putf(1, l, den_f32[l]), putf(2, l, num_f32[l]));
    call("v_div_fixup_f32", MODE_IEEE);
    LANES(quotient_f32[l] = outf(l));
}
static double quotient_f64[KS_LANES], den_f64[KS_LANES], num_f64[KS_LANES];
static void divide_64(void)
{
    double d[KS_LANES], n[KS_LANES], r[KS_LANES];
    LANES(putd(0, l, den_f64[l]), putd(1, l, den_f64[l]), putd(2, l, num_f64[l]));
    call("v_div_scale_f64", MODE_IEEE);
    LANES(d[l] = outd(l), putd(0, l, num_f64[l]));
    call("v_div_scale_f64", MODE_IEEE);
    LANES(n[l] = outd(l), put64(3, l, result[1][l]), putd(0, l, d[l]));
    call("v_rcp_f64", MODE_IEEE);
    EACH_LANE
    {
        r[l] = outd(l);
        r[l] = fma(r[l], fma(-d[l], r[l], 1), r[l]);
        r[l] = fma(r[l], fma(-d[l], r[l], 1), r[l]);
        double q = n[l] * r[l];
        putd(0, l, fma(-d[l], q, n[l])), putd(1, l, r[l]), putd(2, l, q);
    }
    call("v_div_fmas_f64", MODE_IEEE);
    LANES(putd(0, l, outd(l)), putd(1, l, den_f64[l]), putd(2, l, num_f64[l]));
    call("v_div_fixup_f64", MODE_IEEE);
    LANES(quotient_f64[l] = outd(l));
}
static uint64_t noise64(uint32_t n)
{
    return (uint64_t)noise(n) << 32 | noise(n ^ 0x5bd1e995u);
}
static void test_division(void **state)
{
    (void)state;
    EACH_VARIANT
    for (uint32_t round = 0; round < 4000; round++) {
        EACH_LANE
        {
            uint32_t n = round * KS_LANES + l;
            uint64_t a = noise64(n), b = noise64(n + 0x1000000);
            if (round % 4 == 1) /* few bits: exact quotients, ties among denormals */
                a &= 0xfffc000000000000, b &= 0xfff8000000000000;
            if (round % 4 == 2) /* quotients near the least numbers */
                a &= ~(1ull << 62),
                    b = (b & ~(0x7ffull << 52)) | ((a >> 52 & 0x3ff) + 0x3fa + n % 60) << 52;
            if (round % 4 == 3) /* edges */
                a = edges[2][n & 15] ^ (n >> 8 & 3), b = edges[2][n >> 4 & 15] ^ (n >> 10 & 3);
            den_f64[l] = ks_f64(b), num_f64[l] = ks_f64(a);
            uint32_t c = (uint32_t)(a >> 32), d = (uint32_t)(b >> 32);
            if (round % 4 == 1) c &= 0xfff00000, d &= 0xffe00000;
            if (round % 4 == 2)
                c &= ~(1u << 30), d = (d & ~(0xffu << 23)) | ((c >> 23 & 0x7f) + 0x7a + n % 30)
                                                                 << 23;
            if (round % 4 == 3)
                c = (uint32_t)edges[1][n & 15] ^ (n >> 8 & 3),
                d = (uint32_t)edges[1][n >> 4 & 15] ^ (n >> 10 & 3);
            den_f32[l] = ks_f32(d), num_f32[l] = ks_f32(c);
        }
        divide_32();
        EACH_LANE
        {
            float want = num_f32[l] / den_f32[l];
            if (isnan(want) ? !isnan(quotient_f32[l])
                            : ks_bits32(want) != ks_bits32(quotient_f32[l]))
                same("division in f32", l, ks_bits32(want), ks_bits32(quotient_f32[l]));
        }
        divide_64();
        EACH_LANE
        {
            double want = num_f64[l] / den_f64[l];
            if (isnan(want) ? !isnan(quotient_f64[l])
                            : ks_bits64(want) != ks_bits64(quotient_f64[l]))
                same("division in f64", l, ks_bits64(want), ks_bits64(quotient_f64[l]));
        }
    }
}

/* ---- Transcendentals: libm's to within half a unit and a hair; special values ---- */
static double wanted(unsigned n, double v)
{
    switch (n) {
    case 0:
        return exp2(v);
    case 1:
        return log2(v);
    case 2:
        return 1 / v;
    case 3:
        return 1 / sqrt(v);
    case 4:
        return sqrt(v);
    case 5:
        return sin(v * (2 * M_PI));
    default:
        return cos(v * (2 * M_PI));
    }
}
static const char *const functions[] = {"exp", "log", "rcp", "rsq", "sqrt", "sin", "cos"};
static void test_transcendental(void **state)
{
    (void)state;
    EACH_VARIANT
    for (unsigned n = 0; n < 7; n++)
        for (uint32_t round = 0; round < 4000; round++) {
            char name[16];
            bool half = round < 1024;
            snprintf(name, sizeof(name), "v_%s_f%d", functions[n], half ? 16 : 32);
            EACH_LANE
            {
                uint32_t r = noise(round * KS_LANES + l);
                put64(0, l,
                      half              ? round * KS_LANES + l
                      : n == 0 || n > 4 ? (r & 0x80ffffff) | 0x3d000000 | (r >> 3 & 0x6000000)
                                        : r);
            }
            call(name, MODE_IEEE);
            EACH_LANE
            {
                double v = number(half ? 16 : 32, source[0][l]), want,
                       got = number(half ? 16 : 32, out32(l));
                v = !half && fabs(v) < 0x1p-126 ? 0 * v : v;
                want = n > 4 && fabs(v) > 256 ? (isinf(v) ? NAN : n == 6) : wanted(n, v);
                double limit = half ? 65520 : 0x1p128, unit;
                int least = half ? -14 : -126,
                    scale = isfinite(want) && want != 0 ? ilogb(want) : least;
                unit = ldexp(1, (scale < least ? least : scale) - (half ? 10 : 23));
                if (isnan(want) || isinf(want) || fabs(want) >= limit) {
                    if (isnan(want) ? isnan(got) : isinf(got) && (got > 0) == (want > 0)) continue;
                } else if (fabs(want) < 0x1p-126 && !half) {
                    if (got == 0) continue;
                } else if (fabs(got - want) <= unit * 0.501 + (n > 4 ? fabs(v) * 0x1p-50 : 0)) {
                    continue;
                }
                same(name, l, ks_bits64(want), ks_bits64(got));
            }
        }
}
static void test_special(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t in, out;
    } cases[] = {
        {"v_exp_f32", 0x80000000, 0x3f800000},
        {"v_exp_f32", 0xff800000, 0},
        {"v_exp_f32", 0x7f800000, 0x7f800000},
        {"v_exp_f32", 0xc2fd0000, 0}, /* 2^-126.5 is denormal */
        {"v_exp_f32", 0xc2fc0000, 0x00800000},
        {"v_exp_f32", 0x43000000, 0x7f800000},
        {"v_exp_f32", 1, 0x3f800000},
        {"v_log_f32", 0, 0xff800000},
        {"v_log_f32", 0x80000000, 0xff800000},
        {"v_log_f32", 0x007fffff, 0xff800000},
        {"v_log_f32", 0x3f800000, 0},
        {"v_log_f32", 0x7f800000, 0x7f800000},
        {"v_log_f32", 0x41000000, 0x40400000},
        {"v_rcp_f32", 0, 0x7f800000},
        {"v_rcp_f32", 0x80000001, 0xff800000},
        {"v_rcp_f32", 0xff800000, 0x80000000},
        {"v_rcp_f32", 0x7f000000, 0}, /* 2^-127 is denormal */
        {"v_rcp_iflag_f32", 0x40000000, 0x3f000000},
        {"v_rsq_f32", 0x80000000, 0xff800000},
        {"v_rsq_f32", 1, 0x7f800000},
        {"v_sqrt_f32", 0x80000000, 0x80000000},
        {"v_sqrt_f32", 0x007fffff, 0},
        {"v_sin_f32", 0x80000000, 0x80000000},
        {"v_sin_f32", 0x3e800000, 0x3f800000},
        {"v_sin_f32", 0x43808000, 0},
        {"v_cos_f32", 0x43808000, 0x3f800000},
        {"v_cos_f32", 0x3e800000, 0},
        {"v_cos_f32", 0x3f000000, 0xbf800000},
        {"v_rcp_f16", 1, 0x7c00},
        {"v_rcp_f16", 0x7bff, 0x0100},
        {"v_sqrt_f16", 1, 0x0c00},
        {"v_exp_f16", 0xcc00, 0x0100},
        {"v_log_f16", 1, 0xce00},
    };
    EACH_VARIANT
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        LANES(put64(0, l, cases[i].in));
        call(cases[i].name, MODE_IEEE);
        same(cases[i].name, 63, cases[i].out, out32(63));
    }
}
/* Segments of 2/pi: times a great number, without its whole quarters, the angle that libm finds. */
static void test_trig_preop(void **state)
{
    (void)state;
    EACH_VARIANT
    for (uint32_t round = 0; round < 100; round++) {
        double a[KS_LANES], turns[KS_LANES] = {0};
        EACH_LANE
        {
            uint32_t n = round * KS_LANES + l;
            a[l] = ks_f64((noise64(n) & 0x800fffffffffffff) | (uint64_t)(1023 + 30 + noise(n) % 990)
                                                                  << 52);
            putd(0, l, a[l]);
        }
        for (unsigned segment = 0; segment < 4; segment++) {
            LANES(put64(1, l, segment | 0xffe0));
            call("v_trig_preop_f64", MODE_IEEE);
            EACH_LANE
            {
                double scaled =
                    ks_bits64(a[l]) >> 52 & 0x400 && (ks_bits64(a[l]) >> 52 & 0x7ff) >= 1968
                        ? 0x1p-128
                        : 1;
                double p = outd(l), x = a[l] * scaled, high = x * p, low = fma(x, p, -high);
                turns[l] += fmod(high, 4) + fmod(low, 4);
            }
        }
        EACH_LANE
        {
            double angle = fmod(turns[l], 4) * M_PI_2;
            if (fabs(sin(angle) - sin(a[l])) > 1e-12)
                fail_msg("sin(%a) by v_trig_preop_f64 (%s): %a, want %a", a[l], now->name,
                         sin(angle), sin(a[l]));
        }
    }
}

/* ---- What is left: legacy multiplication, flushing mad, fma's single rounding, cubes ---- */
static void test_rest(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        float a, b, c, d;
    } cases[] = {
        {"v_mul_legacy_f32", 0, INFINITY, 0, 0},
        {"v_mul_legacy_f32", NAN, -0.0f, 0, 0},
        {"v_mul_legacy_f32", 3, -2, 0, -6},
        {"v_mad_legacy_f32", 0, INFINITY, 5, 5},
        {"v_mad_legacy_f32", 2, 3, 4, 10},
        {"v_mad_f32", 0x1p-100f, 0x1p-30f, 0, 0},
        {"v_mad_f32", 0x1p-127f, 0x1p20f, 1, 1},
        {"v_mad_f32", 1, 1, 0x1p-127f, 1},
        {"v_fma_f32", 0x1p-100f, 0x1p-30f, 0, 0x1p-130f},
        {"v_fma_f32", 0x1.000002p0f, 0x1.000002p0f, -0x1.000004p0f, 0x1p-46f},
        {"v_mac_f32", 0x1.000002p0f, 0x1.000002p0f, -0x1.000004p0f, 0},
        {"v_fmac_f32", 3, 4, 5, 17},
        {"v_fmaak_f32", 3, 4, 5, 17},
        {"v_fmamk_f32", 3, 4, 5, 17},
        {"v_madak_f32", 3, 4, 5, 17},
        {"v_madmk_f32", 3, 4, 5, 17},
        {"v_cubeid_f32", 1, 2, -3, 5},
        {"v_cubeid_f32", 1, 2, 2, 4},
        {"v_cubeid_f32", 1, -2, 1, 3},
        {"v_cubeid_f32", -3, 2, 1, 1},
        {"v_cubeid_f32", 3, 3, 1, 2},
        {"v_cubesc_f32", 1, 2, -3, -1},
        {"v_cubesc_f32", 1, -2, 0, 1},
        {"v_cubesc_f32", -3, 2, 1, 1},
        {"v_cubesc_f32", 3, 2, 1, -1},
        {"v_cubetc_f32", 1, 2, -3, -2},
        {"v_cubetc_f32", 1, -2, 0.5f, -0.5f},
        {"v_cubetc_f32", -3, 2, 1, -2},
        {"v_cubema_f32", 1, 2, -3, -6},
        {"v_cubema_f32", 1, -2, 0, -4},
        {"v_cubema_f32", 3, 2, 1, 6},
        {"v_rndne_f32", 2.5f, 0, 0, 2},
        {"v_rndne_f32", -0.5f, 0, 0, -0.0f},
        {"v_fract_f32", -0x1p-30f, 0, 0, 0x1.fffffep-1f},
        {"v_subrev_f32", 1, 3, 0, 2},
    };
    EACH_VARIANT
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        LANES(putf(0, l, cases[i].a), putf(1, l, cases[i].b), putf(2, l, cases[i].c));
        call(cases[i].name, MODE_IEEE);
        same(cases[i].name, 5, ks_bits32(cases[i].d), out32(5));
    }
    EACH_VARIANT
    { /* v_div_fmas rounds once: just below the middle of two denormals */
        LANES(putf(0, l, -0x1p-100f), putf(1, l, 0x1p-45f), putf(2, l, 0x1.8p-85f), put64(3, l, 1));
        call("v_div_fmas_f32", MODE_IEEE);
        same("v_div_fmas_f32", 9, 1, out32(9));
        LANES(putd(0, l, -0x1p-1000), putd(1, l, 0x1p-30), putd(2, l, 0x1.8p-946), put64(3, l, 1));
        call("v_div_fmas_f64", MODE_IEEE);
        same("v_div_fmas_f64", 9, 1, out64(9));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_f16),        cmocka_unit_test(test_packed),
        cmocka_unit_test(test_order),      cmocka_unit_test(test_class),
        cmocka_unit_test(test_compare),    cmocka_unit_test(test_exponents),
        cmocka_unit_test(test_special),    cmocka_unit_test(test_transcendental),
        cmocka_unit_test(test_division),   cmocka_unit_test(test_rest),
        cmocka_unit_test(test_trig_preop), cmocka_unit_test(test_whole),
    };
    return cmocka_run_group_tests_name("float", tests, begin_tests, end_tests);
}
