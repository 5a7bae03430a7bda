// SPDX-License-Identifier: MIT
// 32-bit integer and bit instructions, a row each under the ISA's name.
#include "vec_table.h"

/* What the clamp bit does to integer results: exact value v to 32 bits. */
static inline uint32_t fit_u(bool clamp, int64_t v)
{
    if (!clamp) return (uint32_t)v;
    return v < 0 ? 0 : v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}
static inline int32_t fit_i(bool clamp, int64_t v)
{
    if (!clamp) return (int32_t)v;
    return v < INT32_MIN ? INT32_MIN : v > INT32_MAX ? INT32_MAX : (int32_t)v;
}
static inline int32_t sext(uint32_t v, unsigned bits)
{
    return (int32_t)(v << (32 - bits)) >> (32 - bits);
}
static inline uint32_t reverse(uint32_t v)
{
    v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
    v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
    v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
    v = (v >> 8 & 0x00ff00ffu) | (v & 0x00ff00ffu) << 8;
    return v >> 16 | v << 16;
}
/* Without the CPU's instruction, which has no vector form in every variant. */
static inline uint32_t ones(uint32_t v)
{
    v -= v >> 1 & 0x55555555u;
    v = (v & 0x33333333u) + (v >> 2 & 0x33333333u);
    v = (v + (v >> 4)) & 0x0f0f0f0fu;
    return v * 0x01010101u >> 24;
}
static inline uint32_t leading_zeros(uint32_t v)
{
    v |= v >> 1;
    v |= v >> 2;
    v |= v >> 4;
    v |= v >> 8;
    v |= v >> 16;
    return 32 - ones(v);
}
static inline uint32_t bfe_u(uint32_t v, uint32_t offset, uint32_t width)
{
    return v >> (offset & 31) & ((1u << (width & 31)) - 1);
}
static inline int32_t bfe_i(int32_t v, uint32_t offset, uint32_t width)
{
    uint32_t o = offset & 31, w = width & 31, end = min_u(o + w, 32);
    return w ? (int32_t)((uint32_t)v << (32 - end)) >> (32 - end + o) : 0;
}
/* V_PERM_B32: a byte of {S0, S1}, the sign of an odd one, 0 or 255. */
static inline uint32_t perm_byte(uint32_t high, uint32_t low, uint32_t sel)
{
    uint32_t at = sel < 8 ? sel : (sel & 3) * 2 + 1;
    uint32_t byte = ((at & 4) ? high : low) >> (at & 3) * 8 & 0xffu;
    uint32_t sign = (byte & 0x80u) ? 0xffu : 0;
    return sel < 8 ? byte : sel < 12 ? sign : sel == 12 ? 0 : 0xffu;
}
static inline uint32_t perm(uint32_t high, uint32_t low, uint32_t sel)
{
    return perm_byte(high, low, sel & 0xff) | perm_byte(high, low, sel >> 8 & 0xff) << 8 |
           perm_byte(high, low, sel >> 16 & 0xff) << 16 | perm_byte(high, low, sel >> 24) << 24;
}
static inline uint32_t lerp_u8(uint32_t a, uint32_t b, uint32_t round)
{
    uint32_t d = 0;
    for (unsigned s = 0; s < 32; s += 8)
        d |= ((a >> s & 0xff) + (b >> s & 0xff) + (round >> s & 1)) >> 1 << s;
    return d;
}
static inline uint32_t difference(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}
static inline uint32_t sad_u8(uint32_t a, uint32_t b, bool masked)
{
    uint32_t d = 0;
    for (unsigned s = 0; s < 32; s += 8)
        d += masked && !(b >> s & 0xff) ? 0 : difference(a >> s & 0xff, b >> s & 0xff);
    return d;
}
static inline uint32_t pack_u16(uint32_t low, uint32_t high)
{
    return min_u(low, 0xffff) | min_u(high, 0xffff) << 16;
}
static inline uint32_t pack_i16(int32_t low, int32_t high)
{
    return ((uint32_t)min_i(max_i(low, -32768), 32767) & 0xffffu) |
           (uint32_t)min_i(max_i(high, -32768), 32767) << 16;
}
/* Lanes below this one, in the half of the wave that `first` begins. */
static inline uint32_t lanes_below(int i, int first)
{
    int n = i - first;
    return n <= 0 ? 0 : n >= 32 ? ~0u : (1u << n) - 1;
}

#define INT_OPS(X1, X2, X3, X4, Y1, Y2, Y3, Z)                                                     \
    X1(v_mov_b32, VALU, 0, B32, B32, a)                                                            \
    X1(v_accvgpr_mov_b32, VALU, 0, B32, B32, a)                                                    \
    X1(v_accvgpr_read_b32, VALU, 0, B32, B32, a)                                                   \
    X1(v_accvgpr_write_b32, VALU, 0, B32, B32, a)                                                  \
    X1(v_not_b32, VALU, 0, B32, B32, ~a)                                                           \
    X1(v_bfrev_b32, VALU, 0, B32, B32, reverse(a))                                                 \
    X1(v_ffbh_u32, VALU, 0, U32, U32, a ? leading_zeros(a) : ~0u)                                  \
    X1(v_ffbl_b32, VALU, 0, U32, B32, a ? ones((a & (0 - a)) - 1) : ~0u)                           \
    X1(v_ffbh_i32, VALU, 0, I32, I32,                                                              \
       a == a >> 31 ? -1 : (int32_t)leading_zeros((uint32_t)(a ^ a >> 31)))                        \
    X3(v_cndmask_b32, VALU, KS_F_RAW, B32, RF32, RF32, MASK, c ? b : a)                            \
    X2(v_and_b32, VALU, 0, B32, B32, B32, a & b)                                                   \
    X2(v_or_b32, VALU, 0, B32, B32, B32, a | b)                                                    \
    X2(v_xor_b32, VALU, 0, B32, B32, B32, a ^ b)                                                   \
    X2(v_xnor_b32, VALU, 0, B32, B32, B32, ~(a ^ b))                                               \
    X2(v_lshlrev_b32, VALU, 0, B32, U32, B32, b << (a & 31))                                       \
    X2(v_lshrrev_b32, VALU, 0, B32, U32, B32, b >> (a & 31))                                       \
    X2(v_ashrrev_i32, VALU, 0, I32, U32, I32, b >> (a & 31))                                       \
    X2(v_min_u32, VALU, 0, U32, U32, U32, min_u(a, b))                                             \
    X2(v_max_u32, VALU, 0, U32, U32, U32, max_u(a, b))                                             \
    X2(v_min_i32, VALU, 0, I32, I32, I32, min_i(a, b))                                             \
    X2(v_max_i32, VALU, 0, I32, I32, I32, max_i(a, b))                                             \
    X3(v_min3_u32, VALU, 0, U32, U32, U32, U32, min_u(min_u(a, b), c))                             \
    X3(v_max3_u32, VALU, 0, U32, U32, U32, U32, max_u(max_u(a, b), c))                             \
    X3(v_med3_u32, VALU, 0, U32, U32, U32, U32, max_u(min_u(a, b), min_u(max_u(a, b), c)))         \
    X3(v_min3_i32, VALU, 0, I32, I32, I32, I32, min_i(min_i(a, b), c))                             \
    X3(v_max3_i32, VALU, 0, I32, I32, I32, I32, max_i(max_i(a, b), c))                             \
    X3(v_med3_i32, VALU, 0, I32, I32, I32, I32, max_i(min_i(a, b), min_i(max_i(a, b), c)))         \
    X2(v_add_u32, VALU, 0, U32, U32, U32, clamp && a + b < a ? ~0u : a + b)                        \
    X2(v_sub_u32, VALU, 0, U32, U32, U32, clamp && a < b ? 0 : a - b)                              \
    X2(v_subrev_u32, VALU, 0, U32, U32, U32, clamp && b < a ? 0 : b - a)                           \
    X2(v_add_i32, VALU, 0, I32, I32, I32, fit_i(clamp, (int64_t)a + b))                            \
    X2(v_sub_i32, VALU, 0, I32, I32, I32, fit_i(clamp, (int64_t)a - b))                            \
    Y2(v_add_co_u32, VALU, 0, U32, MASK, U32, U32, d = a + b, e = d < a, d = clamp && e ? ~0u : d) \
    Y2(v_sub_co_u32, VALU, 0, U32, MASK, U32, U32, e = a < b, d = clamp && e ? 0 : a - b)          \
    Y2(v_subrev_co_u32, VALU, 0, U32, MASK, U32, U32, e = b < a, d = clamp && e ? 0 : b - a)       \
    Y3(v_addc_co_u32, VALU, 0, U32, MASK, U32, U32, MASK,                                          \
       d = a + b + c, e = c ? d <= a : d < a, d = clamp && e ? ~0u : d)                            \
    Y3(v_subb_co_u32, VALU, 0, U32, MASK, U32, U32, MASK,                                          \
       e = c ? a <= b : a < b, d = clamp && e ? 0 : a - b - c)                                     \
    Y3(v_subbrev_co_u32, VALU, 0, U32, MASK, U32, U32, MASK,                                       \
       e = c ? b <= a : b < a, d = clamp && e ? 0 : b - a - c)                                     \
    X2(v_mul_lo_u32, VALU, 0, U32, U32, U32, a * b)                                                \
    X2(v_mul_hi_u32, VALU, 0, U32, U32, U32, (uint64_t)a * b >> 32)                                \
    X2(v_mul_hi_i32, VALU, 0, I32, I32, I32, (int64_t)a * b >> 32)                                 \
    X2(v_mul_u32_u24, VALU, 0, U32, U32, U32, (a & 0xffffff) * (b & 0xffffff))                     \
    X2(v_mul_hi_u32_u24, VALU, 0, U32, U32, U32, (uint64_t)(a & 0xffffff) * (b & 0xffffff) >> 32)  \
    X2(v_mul_i32_i24, VALU, 0, U32, U32, U32, (uint32_t)sext(a, 24) * (uint32_t)sext(b, 24))       \
    X2(v_mul_hi_i32_i24, VALU, 0, I32, U32, U32, (int64_t)sext(a, 24) * sext(b, 24) >> 32)         \
    X3(v_mad_u32_u24, VALU, 0, U32, U32, U32, U32,                                                 \
       fit_u(clamp, (int64_t)(a & 0xffffff) * (b & 0xffffff) + c))                                 \
    X3(v_mad_i32_i24, VALU, 0, I32, U32, U32, I32,                                                 \
       fit_i(clamp, (int64_t)sext(a, 24) * sext(b, 24) + c))                                       \
    X3(v_add3_u32, VALU, 0, U32, U32, U32, U32, a + b + c)                                         \
    X3(v_add_lshl_u32, VALU, 0, U32, U32, U32, U32, (a + b) << (c & 31))                           \
    X3(v_lshl_add_u32, VALU, 0, U32, U32, U32, U32, (a << (b & 31)) + c)                           \
    X3(v_lshl_or_b32, VALU, 0, U32, U32, U32, U32, a << (b & 31) | c)                              \
    X3(v_and_or_b32, VALU, 0, B32, B32, B32, B32, (a & b) | c)                                     \
    X3(v_or3_b32, VALU, 0, B32, B32, B32, B32, a | b | c)                                          \
    X3(v_xad_u32, VALU, 0, U32, U32, U32, U32, (a ^ b) + c)                                        \
    X3(v_bfe_u32, VALU, 0, U32, U32, U32, U32, bfe_u(a, b, c))                                     \
    X3(v_bfe_i32, VALU, 0, I32, I32, U32, U32, bfe_i(a, b, c))                                     \
    X3(v_bfi_b32, VALU, 0, B32, B32, B32, B32, (a & b) | (~a & c))                                 \
    X2(v_bfm_b32, VALU, 0, B32, U32, U32, ((1u << (a & 31)) - 1) << (b & 31))                      \
    X3(v_alignbit_b32, VALU, 0, B32, B32, B32, U32,                                                \
       (uint32_t)(((uint64_t)a << 32 | b) >> (c & 31)))                                            \
    X3(v_alignbyte_b32, VALU, 0, B32, B32, B32, U32,                                               \
       (uint32_t)(((uint64_t)a << 32 | b) >> (c & 3) * 8))                                         \
    X3(v_perm_b32, VALU, 0, B32, B32, B32, B32, perm(a, b, c))                                     \
    X2(v_bcnt_u32_b32, VALU, 0, U32, B32, U32, ones(a) + b)                                        \
    X2(v_mbcnt_lo_u32_b32, VALU, 0, U32, B32, U32, ones(a & lanes_below(i, 0)) + b)                \
    X2(v_mbcnt_hi_u32_b32, VALU, 0, U32, B32, U32, ones(a & lanes_below(i, 32)) + b)               \
    X3(v_lerp_u8, VALU, 0, U32, U32, U32, U32, lerp_u8(a, b, c))                                   \
    X3(v_sad_u8, VALU, 0, U32, U32, U32, U32, fit_u(clamp, (int64_t)sad_u8(a, b, false) + c))      \
    X3(v_msad_u8, VALU, 0, U32, U32, U32, U32, fit_u(clamp, (int64_t)sad_u8(a, b, true) + c))      \
    X3(v_sad_hi_u8, VALU, 0, U32, U32, U32, U32,                                                   \
       fit_u(clamp, ((int64_t)sad_u8(a, b, false) << 16) + c))                                     \
    X3(v_sad_u16, VALU, 0, U32, U32, U32, U32,                                                     \
       fit_u(clamp, (int64_t)difference(a & 0xffff, b & 0xffff) + difference(a >> 16, b >> 16)     \
          + c))                                                                                    \
    X3(v_sad_u32, VALU, 0, U32, U32, U32, U32, fit_u(clamp, (int64_t)difference(a, b) + c))        \
    X2(v_cvt_pk_u16_u32, VALU, 0, B32, U32, U32, pack_u16(a, b))                                   \
    X2(v_cvt_pk_i16_i32, VALU, 0, B32, I32, I32, pack_i16(a, b))

KS_VEC_TABLE(int, INT_OPS)
