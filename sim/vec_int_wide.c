// SPDX-License-Identifier: MIT
// 64-bit integer instructions and sums of absolute differences with results of several registers.
#include "vec_table.h"

static inline uint32_t difference(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}
/* Four bytes of a, from byte `at` on, against those of b; masked: zero bytes of b do not count. */
static inline uint32_t sad(uint64_t a, uint32_t b, unsigned at, bool masked)
{
    uint32_t sum = 0;
    for (unsigned s = 0; s < 32; s += 8) {
        uint32_t y = b >> s & 0xff;
        sum += masked && !y ? 0 : difference((uint32_t)(a >> (at * 8 + s)) & 0xff, y);
    }
    return sum;
}
static inline uint64_t quad_sad(uint64_t a, uint32_t b, uint64_t c, bool masked, bool clamp)
{
    uint64_t d = 0;
    for (unsigned q = 0; q < 4; q++) {
        uint32_t sum = sad(a, b, q, masked) + (uint32_t)(c >> q * 16 & 0xffff);
        d |= (uint64_t)(clamp && sum > 0xffff ? 0xffff : sum & 0xffff) << q * 16;
    }
    return d;
}
static void v_mqsad_u32_u8(ks_lanes *k)
{
    uint32_t d[4][KS_LANES];
    for (unsigned q = 0; q < 4; q++)
        for (unsigned i = 0; i < KS_LANES; i++) {
            uint64_t a = (uint64_t)k->s[0][KS_LANES + i] << 32 | k->s[0][i];
            uint64_t sum = (uint64_t)sad(a, k->s[1][i], q, true) + k->s[2][q * KS_LANES + i];
            d[q][i] = k->inst->clamp && sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
        }
    memcpy(k->d[0], d, sizeof(d));
}
/* Bit 64 of the exact sum of two signed words. */
static inline uint32_t carry_i64(int64_t a, int64_t b)
{
    uint64_t sum = (uint64_t)a + (uint64_t)b;
    bool wrong = (((uint64_t)a ^ sum) & ((uint64_t)b ^ sum)) >> 63;
    return (uint32_t)(sum >> 63) ^ (uint32_t)wrong;
}

#define WIDE_OPS(X1, X2, X3, X4, Y1, Y2, Y3, Z)                                                   \
    X1(v_mov_b64, VALU, 0, B64, B64, a)                                                           \
    X2(v_lshlrev_b64, VALU, 0, B64, U32, B64, b << (a & 63))                                      \
    X2(v_lshrrev_b64, VALU, 0, B64, U32, B64, b >> (a & 63))                                      \
    X2(v_ashrrev_i64, VALU, 0, I64, U32, I64, b >> (a & 63))                                      \
    X3(v_lshl_add_u64, VALU, 0, U64, U64, U32, U64, (a << (b & 7)) + c)                           \
    Y3(v_mad_u64_u32, VALU, 0, U64, MASK, U32, U32, U64,                                          \
       d = (uint64_t)a * b + c, e = d < c, d = clamp && e ? ~0ull : d)                            \
    Y3(v_mad_i64_i32, VALU, 0, I64, MASK, I32, I32, I64,                                          \
       e = carry_i64((int64_t)a * b, c), d = (int64_t)((uint64_t)((int64_t)a * b) + (uint64_t)c), \
       d = clamp && e != (uint32_t)(d < 0) ? (e ? INT64_MIN : INT64_MAX) : d)                     \
    X3(v_qsad_pk_u16_u8, VALU, 0, B64, U64, U32, U64, quad_sad(a, b, c, false, clamp))            \
    X3(v_mqsad_pk_u16_u8, VALU, 0, B64, U64, U32, U64, quad_sad(a, b, c, true, clamp))            \
    Z(v_mqsad_u32_u8, VALU, 0, ({ KS_U32, 4 }), ({ KS_U64, 0 }, { KS_U32, 0 }, { KS_U32, 4 }))

KS_VEC_TABLE(wide, WIDE_OPS)
