// SPDX-License-Identifier: MIT
// Every integer vector instruction against a plain statement of it, written from the ISA's text
// with wide arithmetic and loops over bits: corner values and noise, with and without clamp, in
// every variant.  And the index of instructions.
#include <stdio.h>
#include "lanes_wave.h"

typedef __int128 wide;
typedef struct in {
    uint64_t a, b, c;
    bool clamp;
    unsigned lane;
    uint64_t d; /* the result; extra: a carry */
    unsigned carry;
    uint32_t q[4], old[4];
} in;

static wide sx(uint64_t v, unsigned bits)
{
    wide m = (wide)1 << (bits - 1), x = (wide)(v & (bits == 64 ? ~0ull : (1ull << bits) - 1));
    return (x ^ m) - m;
}
static wide zx(uint64_t v, unsigned bits)
{
    return (wide)(v & (bits == 64 ? ~0ull : (1ull << bits) - 1));
}
static wide power(unsigned n)
{
    return (wide)1 << n;
}
/* An exact value into bits, as clamp says. */
static uint64_t into(const in *x, wide v, unsigned bits, bool is_signed)
{
    wide low = is_signed ? -power(bits - 1) : 0,
         high = is_signed ? power(bits - 1) - 1 : power(bits) - 1;
    if (x->clamp && v < low) v = low;
    if (x->clamp && v > high) v = high;
    return (uint64_t)v & (bits == 64 ? ~0ull : (1ull << bits) - 1);
}
static uint64_t bit(uint64_t v, unsigned n)
{
    return v >> n & 1;
}
static unsigned count(uint64_t v)
{
    unsigned n = 0;
    for (; v; v >>= 1) n += (unsigned)(v & 1);
    return n;
}
static wide lesser(wide a, wide b)
{
    return a < b ? a : b;
}
static wide greater(wide a, wide b)
{
    return a > b ? a : b;
}
static wide middle(wide a, wide b, wide c)
{
    if ((a <= b && b <= c) || (c <= b && b <= a)) return b;
    return (b <= a && a <= c) || (c <= a && a <= b) ? a : c;
}
static wide apart(wide a, wide b)
{
    return a > b ? a - b : b - a;
}
static unsigned byte(uint64_t v, unsigned n)
{
    return (unsigned)(v >> n * 8 & 255);
}
static wide sum_apart(uint64_t a, uint64_t b, bool masked)
{
    wide s = 0;
    for (unsigned n = 0; n < 4; n++)
        if (!masked || byte(b, n)) s += apart(byte(a, n), byte(b, n));
    return s;
}
static wide dot(const in *x, unsigned bits, bool is_signed)
{
    wide s = 0;
    for (unsigned n = 0; n < 32; n += bits)
        s += is_signed ? sx(x->a >> n, bits) * sx(x->b >> n, bits)
                       : zx(x->a >> n, bits) * zx(x->b >> n, bits);
    return s + (is_signed ? sx(x->c, 32) : zx(x->c, 32));
}
static uint64_t select_bytes(const in *x)
{
    uint64_t both = x->a << 32 | (uint32_t)x->b, d = 0;
    for (unsigned n = 0; n < 4; n++) {
        unsigned s = byte(x->c, n);
        uint64_t v = s < 8     ? byte(both, s)
                     : s == 8  ? (bit(both, 15) ? 255 : 0)
                     : s == 9  ? (bit(both, 31) ? 255 : 0)
                     : s == 10 ? (bit(both, 47) ? 255 : 0)
                     : s == 11 ? (bit(both, 63) ? 255 : 0)
                     : s == 12 ? 0
                               : 255;
        d |= v << n * 8;
    }
    return d;
}
static uint64_t reversed(uint64_t v)
{
    uint64_t d = 0;
    for (unsigned n = 0; n < 32; n++) d |= bit(v, n) << (31 - n);
    return d;
}
static uint64_t first_one(uint64_t v, bool from_top)
{
    for (unsigned n = 0; n < 32; n++)
        if (bit(v, from_top ? 31 - n : n)) return n;
    return 0xffffffff;
}
static uint64_t first_change(uint64_t v)
{
    for (unsigned n = 1; n < 32; n++)
        if (bit(v, 31 - n) != bit(v, 31)) return n;
    return 0xffffffff;
}
static uint64_t field(const in *x, bool is_signed)
{
    unsigned offset = x->b & 31, width = x->c & 31;
    uint64_t d = 0;
    for (unsigned n = 0; n < 32; n++) {
        unsigned at = offset + (n < width ? n : width - 1);
        if (n < width || (is_signed && width))
            d |= bit(at > 31 ? (is_signed && bit(x->a, 31) ? ~0ull : 0) : x->a, at > 31 ? 0 : at)
                 << n;
    }
    return d;
}
static uint64_t average(const in *x)
{
    uint64_t d = 0;
    for (unsigned n = 0; n < 4; n++)
        d |= (uint64_t)((byte(x->a, n) + byte(x->b, n) + (byte(x->c, n) & 1)) / 2) << n * 8;
    return d;
}
static uint64_t quads(const in *x, bool masked)
{
    uint64_t d = 0;
    for (unsigned n = 0; n < 4; n++)
        d |= into(x, sum_apart(x->a >> n * 8, x->b, masked) + zx(x->c >> n * 16, 16), 16, false)
             << n * 16;
    return d;
}
static unsigned below(const in *x, unsigned first)
{
    unsigned n = 0;
    for (unsigned l = 0; l < 32; l++) n += bit(x->a, l) && first + l < x->lane;
    return n;
}
/* Both halves of a packed operation on its parts. */
static uint64_t halves(const in *x, uint64_t (*f)(const in *))
{
    in low = *x, high = *x;
    high.a >>= 16, high.b >>= 16, high.c >>= 16;
    return (f(&low) & 0xffff) | (f(&high) & 0xffff) << 16;
}

#define UA     zx(x->a, 32)
#define UB     zx(x->b, 32)
#define UC     zx(x->c, 32)
#define IA     sx(x->a, 32)
#define IB     sx(x->b, 32)
#define IC     sx(x->c, 32)
#define HA     zx(x->a, 16)
#define HB     zx(x->b, 16)
#define HC     zx(x->c, 16)
#define JA     sx(x->a, 16)
#define JB     sx(x->b, 16)
#define JC     sx(x->c, 16)
#define U32(v) into(x, v, 32, false)
#define I32(v) into(x, v, 32, true)
#define U16(v) into(x, v, 16, false)
#define I16(v) into(x, v, 16, true)
/* name, result (32 bits unless it says more), and the carry where there is one */
#define ROWS(X)                                                                                    \
    X(v_mov_b32, x->a) X(v_accvgpr_mov_b32, x->a) X(v_accvgpr_read_b32, x->a)                      \
    X(v_accvgpr_write_b32, x->a)                                                                   \
    X(v_not_b32, 0xffffffff - UA) X(v_bfrev_b32, reversed(x->a))                                   \
    X(v_ffbh_u32, first_one(x->a, true))                                                           \
    X(v_ffbl_b32, first_one(x->a, false)) X(v_ffbh_i32, first_change(x->a))                        \
    X(v_cndmask_b32, (x->c & 1) ? x->b : x->a)                                                     \
    X(v_and_b32, x->a & x->b) X(v_or_b32, x->a | x->b) X(v_xor_b32, x->a ^ x->b)                   \
    X(v_xnor_b32, ~(x->a ^ x->b))                                                                  \
    X(v_lshlrev_b32, UB * power(x->a & 31)) X(v_lshrrev_b32, UB / power(x->a & 31))                \
    X(v_ashrrev_i32, IB >> (x->a & 31)) X(v_min_u32, lesser(UA, UB)) X(v_max_u32, greater(UA, UB)) \
    X(v_min_i32, lesser(IA, IB)) X(v_max_i32, greater(IA, IB))                                     \
    X(v_min3_u32, lesser(lesser(UA, UB), UC))                                                      \
    X(v_max3_u32, greater(UA, greater(UB, UC))) X(v_med3_u32, middle(UA, UB, UC))                  \
    X(v_min3_i32, lesser(IA, lesser(IB, IC))) X(v_max3_i32, greater(IA, greater(IB, IC)))          \
    X(v_med3_i32, middle(IA, IB, IC)) X(v_add_u32, U32(UA + UB)) X(v_sub_u32, U32(UA - UB))        \
    X(v_subrev_u32, U32(UB - UA)) X(v_add_i32, I32(IA + IB)) X(v_sub_i32, I32(IA - IB))            \
    X(v_add_co_u32, U32(UA + UB)) X(v_sub_co_u32, U32(UA - UB)) X(v_subrev_co_u32, U32(UB - UA))   \
    X(v_addc_co_u32, U32(UA + UB + (x->c & 1))) X(v_subb_co_u32, U32(UA - UB - (wide)(x->c & 1)))  \
    X(v_subbrev_co_u32, U32(UB - UA - (wide)(x->c & 1)))                                           \
    X(v_mul_lo_u32, UA * UB) X(v_mul_hi_u32, UA * UB / power(32)) X(v_mul_hi_i32, IA * IB >> 32)   \
    X(v_mul_u32_u24, zx(x->a, 24) * zx(x->b, 24))                                                  \
    X(v_mul_hi_u32_u24, zx(x->a, 24) * zx(x->b, 24) >> 32)                                         \
    X(v_mul_i32_i24, sx(x->a, 24) * sx(x->b, 24))                                                  \
    X(v_mul_hi_i32_i24, sx(x->a, 24) * sx(x->b, 24) >> 32)                                         \
    X(v_mad_u32_u24, U32(zx(x->a, 24) * zx(x->b, 24) + UC))                                        \
    X(v_mad_i32_i24, I32(sx(x->a, 24) * sx(x->b, 24) + IC)) X(v_add3_u32, UA + UB + UC)            \
    X(v_add_lshl_u32, (UA + UB) * power(x->c & 31)) X(v_lshl_add_u32, UA * power(x->b & 31) + UC)  \
    X(v_lshl_or_b32, (uint64_t)(UA * power(x->b & 31)) | x->c)                                     \
    X(v_and_or_b32, (x->a & x->b) | x->c)                                                          \
    X(v_or3_b32, x->a | x->b | x->c) X(v_xad_u32, zx(x->a ^ x->b, 32) + UC)                        \
    X(v_bfe_u32, field(x, false)) X(v_bfe_i32, field(x, true))                                     \
    X(v_bfi_b32, (x->a & x->b) | (~x->a & x->c))                                                   \
    X(v_bfm_b32, (power(x->a & 31) - 1) * power(x->b & 31))                                        \
    X(v_alignbit_b32, (UA * power(32) + UB) >> (x->c & 31))                                        \
    X(v_alignbyte_b32, (UA * power(32) + UB) >> (x->c & 3) * 8) X(v_perm_b32, select_bytes(x))     \
    X(v_bcnt_u32_b32, count((uint32_t)x->a) + UB) X(v_mbcnt_lo_u32_b32, below(x, 0) + UB)          \
    X(v_mbcnt_hi_u32_b32, below(x, 32) + UB) X(v_lerp_u8, average(x))                              \
    X(v_sad_u8, U32(sum_apart(x->a, x->b, false) + UC))                                            \
    X(v_msad_u8, U32(sum_apart(x->a, x->b, true) + UC))                                            \
    X(v_sad_hi_u8, U32(sum_apart(x->a, x->b, false) * 65536 + UC))                                 \
    X(v_sad_u16, U32(apart(HA, HB) + apart(zx(x->a >> 16, 16), zx(x->b >> 16, 16)) + UC))          \
    X(v_sad_u32, U32(apart(UA, UB) + UC))                                                          \
    X(v_cvt_pk_u16_u32, (uint64_t)lesser(UA, 65535) | (uint64_t)lesser(UB, 65535) << 16)           \
    X(v_cvt_pk_i16_i32, ((uint64_t)greater(lesser(IA, 32767), -32768) & 0xffff) |                  \
                            ((uint64_t)greater(lesser(IB, 32767), -32768) & 0xffff) << 16)         \
    X(v_add_u16, U16(HA + HB)) X(v_sub_u16, U16(HA - HB)) X(v_subrev_u16, U16(HB - HA))            \
    X(v_mul_lo_u16, zx((uint64_t)(HA * HB), 16))                                                   \
    X(v_lshlrev_b16, zx((uint64_t)(HB << (x->a & 15)), 16))                                        \
    X(v_lshrrev_b16, HB >> (x->a & 15)) X(v_ashrrev_i16, zx((uint64_t)(JB >> (x->a & 15)), 16))    \
    X(v_min_u16, lesser(HA, HB)) X(v_max_u16, greater(HA, HB))                                     \
    X(v_min_i16, zx((uint64_t)lesser(JA, JB), 16)) X(v_max_i16, zx((uint64_t)greater(JA, JB), 16)) \
    X(v_mad_legacy_u16, U16(HA * HB + HC)) X(v_mad_legacy_i16, I16(JA * JB + JC))                  \
    X(v_mad_u32_u16, U32(HA * HB + UC)) X(v_mad_i32_i16, I32(JA * JB + IC))                        \
    X(v_sat_pk_u8_i16, (uint64_t)greater(lesser(JA, 255), 0) |                                     \
                           (uint64_t)greater(lesser(sx(x->a >> 16, 16), 255), 0) << 8)             \
    X(v_dot2_i32_i16, I32(dot(x, 16, true))) X(v_dot2_u32_u16, U32(dot(x, 16, false)))             \
    X(v_dot4_i32_i8, I32(dot(x, 8, true))) X(v_dot4_u32_u8, U32(dot(x, 8, false)))                 \
    X(v_dot8_i32_i4, I32(dot(x, 4, true))) X(v_dot8_u32_u4, U32(dot(x, 4, false)))                 \
    X(v_dot2c_i32_i16, I32(dot(x, 16, true))) X(v_dot4c_i32_i8, I32(dot(x, 8, true)))              \
    X(v_dot8c_i32_i4, I32(dot(x, 4, true)))                                                        \
    X(v_mov_b64, x->a) X(v_lshlrev_b64, x->b << (x->a & 63)) X(v_lshrrev_b64, x->b >> (x->a & 63)) \
    X(v_ashrrev_i64, sx(x->b, 64) >> (x->a & 63)) X(v_lshl_add_u64, (x->a << (x->b & 7)) + x->c)   \
    X(v_mad_u64_u32, into(x, UA * UB + zx(x->c, 64), 64, false))                                   \
    X(v_mad_i64_i32, into(x, IA * IB + sx(x->c, 64), 64, true))                                    \
    X(v_qsad_pk_u16_u8, quads(x, false)) X(v_mqsad_pk_u16_u8, quads(x, true))
#define KEEPS(X) /* 16-bit results that keep the upper half */                            \
    X(v_add_i16, I16(JA + JB)) X(v_sub_i16, I16(JA - JB))                                 \
    X(v_min3_u16, lesser(HA, lesser(HB, HC)))                                             \
    X(v_max3_u16, greater(HA, greater(HB, HC))) X(v_med3_u16, middle(HA, HB, HC))         \
    X(v_min3_i16, lesser(JA, lesser(JB, JC))) X(v_max3_i16, greater(JA, greater(JB, JC))) \
    X(v_med3_i16, middle(JA, JB, JC)) X(v_mad_u16, U16(HA * HB + HC))                     \
    X(v_mad_i16, I16(JA * JB + JC))
#define PACKED(X)                                                                             \
    X(v_pk_add_u16, U16(HA + HB)) X(v_pk_sub_u16, U16(HA - HB)) X(v_pk_add_i16, I16(JA + JB)) \
    X(v_pk_sub_i16, I16(JA - JB)) X(v_pk_mul_lo_u16, HA * HB)                                 \
    X(v_pk_lshlrev_b16, HB << (x->a & 15))                                                    \
    X(v_pk_lshrrev_b16, HB >> (x->a & 15)) X(v_pk_ashrrev_i16, JB >> (x->a & 15))             \
    X(v_pk_min_u16, lesser(HA, HB)) X(v_pk_max_u16, greater(HA, HB))                          \
    X(v_pk_min_i16, lesser(JA, JB))                                                           \
    X(v_pk_max_i16, greater(JA, JB)) X(v_pk_mad_u16, U16(HA * HB + HC))                       \
    X(v_pk_mad_i16, I16(JA * JB + JC))

#define X(name, value)                     \
    static uint64_t do_##name(const in *x) \
    {                                      \
        return (uint64_t)(value);          \
    }
ROWS(X) KEEPS(X)
#undef X
#define X(name, value)                       \
    static uint64_t half_##name(const in *x) \
    {                                        \
        return (uint64_t)(value);            \
    }                                        \
    static uint64_t do_##name(const in *x)   \
    {                                        \
        return halves(x, half_##name);       \
    }
PACKED(X)
#undef X
static const struct row {
    const char *name;
    uint64_t (*f)(const in *);
    bool keeps;
} table[] = {
#define X(name, value) { #name, do_##name, false },
    ROWS(X) PACKED(X)
#undef X
#define X(name, value) {#name, do_##name, true},
        KEEPS(X)
#undef X
};
/* The carry: what does not fit, of sums and differences; bit 64 of a product's sum. */
static unsigned carry_of(const char *name, const in *x)
{
    wide c = x->c & 1;
    if (strstr(name, "add_co") || strstr(name, "addc"))
        return UA + UB + (strstr(name, "addc") ? c : 0) > 0xffffffff;
    if (strstr(name, "subrev") || strstr(name, "subbrev"))
        return UB - UA - (strstr(name, "subb") ? c : 0) < 0;
    if (strstr(name, "sub")) return UA - UB - (strstr(name, "subb") ? c : 0) < 0;
    if (strstr(name, "i64")) return (unsigned)((IA * IB + sx(x->c, 64)) >> 64 & 1);
    return (unsigned)((UA * UB + zx(x->c, 64)) >> 64 & 1);
}

static uint32_t value_at(unsigned n)
{
    static const uint32_t corner[] = {0,          1,          2,          0x7f,       0x80,
                                      0xff,       0x7fff,     0x8000,     0xffff,     0x10000,
                                      0x7fffff,   0x800000,   0xffffff,   0x7fffffff, 0x80000000,
                                      0xffffffff, 0x80008000, 0x7fff7fff, 31,         32};
    uint32_t h = noise(n * 2654435761u);
    return h % 3 ? noise(h) : corner[h / 3 % (sizeof(corner) / sizeof(corner[0]))];
}

static void check_row(const struct row *r, bool clamp, unsigned seed)
{
    const ks_op *op = find(r->name);
    unsigned ns = 0, nd = 0;
    ks_operand o[6];
    reset();
    o[nd++] = vgpr(40);
    if (op->d[1].type) o[nd++] = sgpr(20);
    for (; op->s[ns].type; ns++)
        o[nd + ns] = op->s[ns].type == KS_MASK
                         ? sgpr(10)
                         : vgpr((op->flags & KS_F_DST_IN) && ns == 2 ? 40 : 10 + 4 * ns);
    for (unsigned reg = 10; reg < 44; reg++)
        for (unsigned l = 0; l < KS_LANES; l++) w->v[reg][l] = value_at(seed * 8192 + reg * 64 + l);
    uint32_t old[2][KS_LANES];
    memcpy(old, w->v[40], sizeof(old));
    ks_inst inst = make(op, nd, ns, o);
    inst.clamp = clamp;
    if (op->s[0].type == KS_V2U16 || op->s[0].type == KS_V2I16) inst.encoding = KS_VOP3P;
    in x[KS_LANES];
    for (unsigned l = 0; l < KS_LANES; l++) {
        uint64_t s[3] = {0};
        for (unsigned n = 0; n < ns; n++) {
            if (op->s[n].type == KS_MASK)
                s[n] = bit(pair(10), l);
            else
                s[n] = ks_types[op->s[n].type].regs == 2 ? v64(inst.s[n].reg, l)
                                                         : w->v[inst.s[n].reg][l];
        }
        x[l] = (in){.a = s[0], .b = s[1], .c = s[2], .clamp = clamp, .lane = l};
    }
    run(&inst);
    bool two = ks_types[op->d[0].type].regs == 2;
    for (unsigned l = 0; l < KS_LANES; l++) {
        uint64_t want = r->f(&x[l]), got = two ? v64(40, l) : w->v[40][l];
        want = two ? want : r->keeps ? (want & 0xffff) | (old[0][l] & 0xffff0000u) : (uint32_t)want;
        if (got != want)
            fail_msg("%s %s%s lane %u: a %llx b %llx c %llx: got %llx, want %llx", now->name,
                     r->name, clamp ? " clamp" : "", l, (unsigned long long)x[l].a,
                     (unsigned long long)x[l].b, (unsigned long long)x[l].c,
                     (unsigned long long)got, (unsigned long long)want);
        if (nd == 2 && bit(pair(20), l) != carry_of(r->name, &x[l]))
            fail_msg("%s %s lane %u: carry", now->name, r->name, l);
    }
}

static bool
clamps(const char *name) /* those whose clamp the ISA defines and the rows above state */
{
    static const char *const plain[] = {"v_mul_lo_u16", "v_pk_mul_lo_u16", "v_pk_lsh", "v_lsh",
                                        NULL};
    for (unsigned i = 0; plain[i]; i++)
        if (!strncmp(name, plain[i], strlen(plain[i]))) return false;
    return true;
}
static void test_values(void **state)
{
    (void)state;
    EACH_VARIANT
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        for (unsigned seed = 0; seed < 40; seed++)
            check_row(&table[i], clamps(table[i].name) && (seed & 1), seed);
}

static void test_mqsad_u32(void **state)
{
    (void)state;
    EACH_VARIANT
    for (unsigned clamp = 0; clamp < 2; clamp++) {
        reset();
        for (unsigned l = 0; l < KS_LANES; l++)
            w->v[20][l] = value_at(l), w->v[23][l] = 0xffffff00u + l;
        ks_inst inst =
            make(find("v_mqsad_u32_u8"), 1, 3, OPERANDS(vgpr(22), vgpr(10), vgpr(14), vgpr(20)));
        uint32_t want[4][KS_LANES];
        inst.clamp = (uint8_t)clamp;
        for (unsigned l = 0; l < KS_LANES; l++)
            for (unsigned q = 0; q < 4; q++) {
                in x = {.clamp = clamp};
                want[q][l] = (uint32_t)into(
                    &x, sum_apart(v64(10, l) >> q * 8, w->v[14][l], true) + zx(w->v[20 + q][l], 32),
                    32, false);
            }
        run(&inst); /* the result lies over its own third source */
        assert_memory_equal(w->v[22], want, sizeof(want));
    }
}

static void test_pk_mov(void **state)
{
    (void)state;
    EACH_VARIANT
    for (uint8_t sel = 0; sel < 4; sel++)
        for (unsigned d = 10; d < 14; d++) { /* over its sources in every way */
            reset();
            ks_inst inst = make(find("v_pk_mov_b32"), 1, 2, OPERANDS(vgpr(d), vgpr(10), vgpr(12)));
            inst.encoding = KS_VOP3P;
            inst.op_sel = sel;
            uint32_t want[2][KS_LANES];
            memcpy(want[0], w->v[10 + (sel & 1)], sizeof(want[0]));
            memcpy(want[1], w->v[12 + (sel >> 1)], sizeof(want[1]));
            run(&inst);
            assert_memory_equal(w->v[d], want, sizeof(want));
        }
}

static bool holds(const char *condition, wide a, wide b)
{
    return !strcmp(condition, "t") || (!strcmp(condition, "lt") && a < b) ||
           (!strcmp(condition, "eq") && a == b) || (!strcmp(condition, "le") && a <= b) ||
           (!strcmp(condition, "gt") && a > b) || (!strcmp(condition, "ne") && a != b) ||
           (!strcmp(condition, "ge") && a >= b);
}
static void test_compare(void **state)
{
    (void)state;
    static const char *const conditions[] = {"f", "lt", "eq", "le", "gt", "ne", "ge", "t"};
    static const unsigned widths[] = {16, 32, 64};
    EACH_VARIANT
    for (unsigned n = 0; n < 8 * 3 * 2 * 2; n++) {
        char name[32];
        const char *condition = conditions[n & 7];
        unsigned bits = widths[n / 8 % 3];
        bool is_signed = n / 24 % 2, exec = n / 48;
        snprintf(name, sizeof(name), "v_cmp%s_%s_%c%u", exec ? "x" : "", condition,
                 is_signed ? 'i' : 'u', bits);
        reset();
        uint64_t on = 0x00ff5a5a12345678ull, want = 0;
        ks_exec_set(w, on);
        for (unsigned l = 0; l < KS_LANES; l++) {
            w->v[10][l] = value_at(l), w->v[11][l] = value_at(l + 64);
            w->v[14][l] = l % 3 ? value_at(l + 128) : w->v[10][l];
            w->v[15][l] = l % 5 ? w->v[11][l] : value_at(l + 192);
            uint64_t a = bits == 64 ? v64(10, l) : w->v[10][l],
                     b = bits == 64 ? v64(14, l) : w->v[14][l];
            bool yes = is_signed ? holds(condition, sx(a, bits), sx(b, bits))
                                 : holds(condition, zx(a, bits), zx(b, bits));
            want |= (uint64_t)(yes && bit(on, l)) << l;
        }
        ks_inst inst = make(find(name), 1, 2, OPERANDS(sgpr(30), vgpr(10), vgpr(14)));
        run(&inst);
        if (pair(30) != want || ks_exec_of(w) != (exec ? want : on))
            fail_msg("%s %s: got %llx, want %llx", now->name, name, (unsigned long long)pair(30),
                     (unsigned long long)want);
    }
}

static void test_index(void **state)
{
    (void)state;
    size_t n = 0;
    for (const ks_op *op; (op = ks_op_at(n)); n++) {
        if (ks_find_op(op->name, strlen(op->name)) != op)
            fail_msg("two rows are called %s", op->name);
        if (!op->exec || op->class >= KS_CLASS_COUNT)
            fail_msg("%s has no function or no class", op->name);
        for (unsigned i = 0; i < 4; i++)
            if (op->s[i].type >= KS_TYPE_COUNT || (i < 2 && op->d[i].type >= KS_TYPE_COUNT))
                fail_msg("%s has an operand of no type", op->name);
    }
    assert_true(n >= 600 && n <= 4000);
    assert_non_null(ks_find_op("v_add_u32_e32", 9));
    assert_null(ks_find_op("v_add_u32_e32", 10));
    assert_null(ks_find_op("v_add_u3", 8));
    assert_null(ks_find_op("", 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values), cmocka_unit_test(test_mqsad_u32),
        cmocka_unit_test(test_pk_mov), cmocka_unit_test(test_compare),
        cmocka_unit_test(test_index),
    };
    return cmocka_run_group_tests(tests, begin_tests, end_tests);
}
