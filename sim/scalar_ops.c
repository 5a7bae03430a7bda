// SPDX-License-Identifier: MIT
// Scalar ALU instructions, a line each, under the names of AMD's ISA documents ("SOP1, SOP2, SOPK, SOPC Instructions"):
// pure functions of a, b (sources), old (the destination before), exec and scc.
#include "scalar.h"

typedef int32_t c_I32;
typedef uint32_t c_U32, c_B32, c_U16;
typedef int64_t c_I64;
typedef uint64_t c_U64, c_B64;
#define U_I32(x) ((uint64_t)(uint32_t)(x))
#define U_U32(x) ((uint64_t)(x))
#define U_B32(x) ((uint64_t)(x))
#define U_I64(x) ((uint64_t)(x))
#define U_U64(x) (x)
#define U_B64(x) (x)

static uint32_t brev32(uint32_t x)
{
    uint32_t r = 0;
    for (unsigned i = 0; i < 32; i++)
        r |= (x >> i & 1) << (31 - i);
    return r;
}
static uint64_t brev64(uint64_t x)
{
    return (uint64_t)brev32((uint32_t)x) << 32 | brev32((uint32_t)(x >> 32));
}
static uint64_t bitreplicate(uint32_t x)
{
    uint64_t r = 0;
    for (unsigned i = 0; i < 32; i++)
        r |= (uint64_t)(x >> i & 1) * 3 << 2 * i;
    return r;
}
static uint64_t quadmask(uint64_t x)
{
    uint64_t r = 0;
    for (unsigned i = 0; i < 16; i++)
        r |= (uint64_t)((x >> 4 * i & 15) != 0) << i;
    return r;
}
static uint64_t wqm(uint64_t x)
{
    uint64_t r = 0;
    for (unsigned i = 0; i < 16; i++)
        r |= (x >> 4 * i & 15) ? 15ull << 4 * i : 0;
    return r;
}
/* Bits [offset, offset + width) of x, offset and width packed as s_bfe has them. */
static uint64_t bfe_u(uint64_t x, uint32_t field, unsigned bits)
{
    unsigned offset = field & (bits - 1), width = field >> 16 & 127;
    x >>= offset;
    return width >= 64 ? x : x & ((1ull << width) - 1);
}
static int64_t bfe_i(int64_t x, uint32_t field, unsigned bits)
{
    unsigned offset = field & (bits - 1), width = field >> 16 & 127;
    x >>= offset;
    return !width ? 0 : width >= 64 ? x : (int64_t)((uint64_t)x << (64 - width)) >> (64 - width);
}
static uint64_t bfm(uint32_t width, uint32_t offset, unsigned bits)
{
    return ((1ull << (width & (bits - 1))) - 1) << (offset & (bits - 1));
}
static int32_t ff1(uint64_t x)
{
    return x ? __builtin_ctzll(x) : -1;
}
static int32_t flbit(uint64_t x, int bits)
{
    return x ? __builtin_clzll(x) - (64 - bits) : -1;
}
static uint32_t bits_of(uint64_t x)
{
    return (uint32_t)__builtin_popcountll(x);
}
#define LOW(x)    ((uint32_t)(x))
#define WIDE(x)   ((uint64_t)(x))
#define SUM(x, y) ((uint32_t)(x) + (uint32_t)(y)) /* without signed overflow */
#define ADDED(x, y, sum) ((((x) ^ (sum)) & ((y) ^ (sum))) < 0) /* signed overflow of x + y */
#define TAKEN(x, y, rest) ((((x) ^ (y)) & ((x) ^ (rest))) < 0) /* of x - y */

/* U: one source, B: two: name, flags, types of d (, a, b), value of d, SCC after (from d, a, b, scc).
   C: compare: name, types, SCC after.  E: name, value of EXEC (a, exec), value of d.
   RS: SCC in and out flags; rows are sorted by name. */
#define R KS_F_SCC_IN
#define S KS_F_SCC_OUT
#define O KS_F_DST_IN
#define SCALAR_OPS(U, B, C, E)                                                                                \
    U(s_abs_i32, S, U32, I32, a < 0 ? 0 - LOW(a) : LOW(a), d != 0)                                            \
    B(s_absdiff_i32, S, U32, I32, I32, a > b ? LOW(a) - LOW(b) : LOW(b) - LOW(a), d != 0)                     \
    B(s_add_i32, S, I32, I32, I32, SUM(a, b), ADDED(a, b, d))                                                 \
    B(s_add_u32, S, U32, U32, U32, a + b, d < a)                                                              \
    B(s_addc_u32, R | S, U32, U32, U32, a + b + scc, WIDE(a) + b + scc > UINT32_MAX)                          \
    U(s_addk_i32, S | O, I32, I32, SUM(old, a), ADDED((int32_t)old, a, d))                                    \
    B(s_and_b32, S, B32, B32, B32, a & b, d != 0)                                                             \
    B(s_and_b64, S, B64, B64, B64, a & b, d != 0)                                                             \
    E(s_and_saveexec_b64, a & exec, exec)                                                                     \
    E(s_andn1_saveexec_b64, ~a & exec, exec)                                                                  \
    E(s_andn1_wrexec_b64, ~a & exec, ~a & exec)                                                               \
    B(s_andn2_b32, S, B32, B32, B32, a & ~b, d != 0)                                                          \
    B(s_andn2_b64, S, B64, B64, B64, a & ~b, d != 0)                                                          \
    E(s_andn2_saveexec_b64, a & ~exec, exec)                                                                  \
    E(s_andn2_wrexec_b64, a & ~exec, a & ~exec)                                                               \
    B(s_ashr_i32, S, I32, I32, U32, a >> (b & 31), d != 0)                                                    \
    B(s_ashr_i64, S, I64, I64, U32, a >> (b & 63), d != 0)                                                    \
    U(s_bcnt0_i32_b32, S, U32, B32, bits_of(LOW(~a)), d != 0)                                                 \
    U(s_bcnt0_i32_b64, S, U32, B64, bits_of(~a), d != 0)                                                      \
    U(s_bcnt1_i32_b32, S, U32, B32, bits_of(a), d != 0)                                                       \
    U(s_bcnt1_i32_b64, S, U32, B64, bits_of(a), d != 0)                                                       \
    B(s_bfe_i32, S, I32, I32, U32, bfe_i(a, b, 32), d != 0)                                                   \
    B(s_bfe_i64, S, I64, I64, U32, bfe_i(a, b, 64), d != 0)                                                   \
    B(s_bfe_u32, S, U32, U32, U32, bfe_u(a, b, 32), d != 0)                                                   \
    B(s_bfe_u64, S, U64, U64, U32, bfe_u(a, b, 64), d != 0)                                                   \
    B(s_bfm_b32, 0, B32, B32, B32, bfm(a, b, 32), scc)                                                        \
    B(s_bfm_b64, 0, B64, B32, B32, bfm(a, b, 64), scc)                                                        \
    C(s_bitcmp0_b32, B32, U32, !(a >> (b & 31) & 1))                                                          \
    C(s_bitcmp0_b64, B64, U32, !(a >> (b & 63) & 1))                                                          \
    C(s_bitcmp1_b32, B32, U32, a >> (b & 31) & 1)                                                             \
    C(s_bitcmp1_b64, B64, U32, a >> (b & 63) & 1)                                                             \
    U(s_bitreplicate_b64_b32, 0, B64, B32, bitreplicate(a), scc)                                              \
    U(s_bitset0_b32, O, B32, U32, LOW(old) & ~(1u << (a & 31)), scc)                                          \
    U(s_bitset0_b64, O, B64, U32, old & ~(1ull << (a & 63)), scc)                                             \
    U(s_bitset1_b32, O, B32, U32, LOW(old) | 1u << (a & 31), scc)                                             \
    U(s_bitset1_b64, O, B64, U32, old | 1ull << (a & 63), scc)                                                \
    U(s_brev_b32, 0, B32, B32, brev32(a), scc)                                                                \
    U(s_brev_b64, 0, B64, B64, brev64(a), scc)                                                                \
    U(s_cmov_b32, R | O, B32, B32, scc ? a : LOW(old), scc)                                                   \
    U(s_cmov_b64, R | O, B64, B64, scc ? a : old, scc)                                                        \
    U(s_cmovk_i32, R | O, I32, I32, scc ? LOW(a) : LOW(old), scc)                                             \
    C(s_cmp_eq_i32, I32, I32, a == b)                                                                         \
    C(s_cmp_eq_u32, U32, U32, a == b)                                                                         \
    C(s_cmp_eq_u64, U64, U64, a == b)                                                                         \
    C(s_cmp_ge_i32, I32, I32, a >= b)                                                                         \
    C(s_cmp_ge_u32, U32, U32, a >= b)                                                                         \
    C(s_cmp_gt_i32, I32, I32, a > b)                                                                          \
    C(s_cmp_gt_u32, U32, U32, a > b)                                                                          \
    C(s_cmp_le_i32, I32, I32, a <= b)                                                                         \
    C(s_cmp_le_u32, U32, U32, a <= b)                                                                         \
    C(s_cmp_lg_i32, I32, I32, a != b)                                                                         \
    C(s_cmp_lg_u32, U32, U32, a != b)                                                                         \
    C(s_cmp_lg_u64, U64, U64, a != b)                                                                         \
    C(s_cmp_lt_i32, I32, I32, a < b)                                                                          \
    C(s_cmp_lt_u32, U32, U32, a < b)                                                                          \
    C(s_cmpk_eq_i32, I32, I32, a == b)                                                                        \
    C(s_cmpk_eq_u32, U32, U16, a == (b & 0xffff))                                                             \
    C(s_cmpk_ge_i32, I32, I32, a >= b)                                                                        \
    C(s_cmpk_ge_u32, U32, U16, a >= (b & 0xffff))                                                             \
    C(s_cmpk_gt_i32, I32, I32, a > b)                                                                         \
    C(s_cmpk_gt_u32, U32, U16, a > (b & 0xffff))                                                              \
    C(s_cmpk_le_i32, I32, I32, a <= b)                                                                        \
    C(s_cmpk_le_u32, U32, U16, a <= (b & 0xffff))                                                             \
    C(s_cmpk_lg_i32, I32, I32, a != b)                                                                        \
    C(s_cmpk_lg_u32, U32, U16, a != (b & 0xffff))                                                             \
    C(s_cmpk_lt_i32, I32, I32, a < b)                                                                         \
    C(s_cmpk_lt_u32, U32, U16, a < (b & 0xffff))                                                              \
    B(s_cselect_b32, R, B32, B32, B32, scc ? a : b, scc)                                                      \
    B(s_cselect_b64, R, B64, B64, B64, scc ? a : b, scc)                                                      \
    U(s_ff0_i32_b32, 0, I32, B32, ff1(LOW(~a)), scc)                                                          \
    U(s_ff0_i32_b64, 0, I32, B64, ff1(~a), scc)                                                               \
    U(s_ff1_i32_b32, 0, I32, B32, ff1(a), scc)                                                                \
    U(s_ff1_i32_b64, 0, I32, B64, ff1(a), scc)                                                                \
    U(s_flbit_i32, 0, I32, I32, flbit(LOW(a ^ a >> 31), 32), scc)                                             \
    U(s_flbit_i32_b32, 0, I32, B32, flbit(a, 32), scc)                                                        \
    U(s_flbit_i32_b64, 0, I32, B64, flbit(a, 64), scc)                                                        \
    U(s_flbit_i32_i64, 0, I32, I64, flbit(WIDE(a ^ a >> 63), 64), scc)                                        \
    B(s_lshl1_add_u32, S, U32, U32, U32, (a << 1) + b, (WIDE(a) << 1) + b > UINT32_MAX)                       \
    B(s_lshl2_add_u32, S, U32, U32, U32, (a << 2) + b, (WIDE(a) << 2) + b > UINT32_MAX)                       \
    B(s_lshl3_add_u32, S, U32, U32, U32, (a << 3) + b, (WIDE(a) << 3) + b > UINT32_MAX)                       \
    B(s_lshl4_add_u32, S, U32, U32, U32, (a << 4) + b, (WIDE(a) << 4) + b > UINT32_MAX)                       \
    B(s_lshl_b32, S, B32, B32, U32, a << (b & 31), d != 0)                                                    \
    B(s_lshl_b64, S, B64, B64, U32, a << (b & 63), d != 0)                                                    \
    B(s_lshr_b32, S, B32, B32, U32, a >> (b & 31), d != 0)                                                    \
    B(s_lshr_b64, S, B64, B64, U32, a >> (b & 63), d != 0)                                                    \
    B(s_max_i32, S, I32, I32, I32, a > b ? a : b, a > b)                                                      \
    B(s_max_u32, S, U32, U32, U32, a > b ? a : b, a > b)                                                      \
    B(s_min_i32, S, I32, I32, I32, a < b ? a : b, a < b)                                                      \
    B(s_min_u32, S, U32, U32, U32, a < b ? a : b, a < b)                                                      \
    U(s_mov_b32, 0, B32, B32, a, scc)                                                                         \
    U(s_mov_b64, 0, B64, B64, a, scc)                                                                         \
    U(s_movk_i32, 0, I32, I32, a, scc)                                                                        \
    B(s_mul_hi_i32, 0, I32, I32, I32, (int64_t)a * b >> 32, scc)                                              \
    B(s_mul_hi_u32, 0, U32, U32, U32, WIDE(a) * b >> 32, scc)                                                 \
    B(s_mul_i32, 0, U32, U32, U32, a * b, scc)                                                                \
    U(s_mulk_i32, O, U32, I32, LOW(old) * LOW(a), scc)                                                        \
    B(s_nand_b32, S, B32, B32, B32, ~(a & b), d != 0)                                                         \
    B(s_nand_b64, S, B64, B64, B64, ~(a & b), d != 0)                                                         \
    E(s_nand_saveexec_b64, ~(a & exec), exec)                                                                 \
    B(s_nor_b32, S, B32, B32, B32, ~(a | b), d != 0)                                                          \
    B(s_nor_b64, S, B64, B64, B64, ~(a | b), d != 0)                                                          \
    E(s_nor_saveexec_b64, ~(a | exec), exec)                                                                  \
    U(s_not_b32, S, B32, B32, ~a, d != 0)                                                                     \
    U(s_not_b64, S, B64, B64, ~a, d != 0)                                                                     \
    B(s_or_b32, S, B32, B32, B32, a | b, d != 0)                                                              \
    B(s_or_b64, S, B64, B64, B64, a | b, d != 0)                                                              \
    E(s_or_saveexec_b64, a | exec, exec)                                                                      \
    E(s_orn1_saveexec_b64, ~a | exec, exec)                                                                   \
    B(s_orn2_b32, S, B32, B32, B32, a | ~b, d != 0)                                                           \
    B(s_orn2_b64, S, B64, B64, B64, a | ~b, d != 0)                                                           \
    E(s_orn2_saveexec_b64, a | ~exec, exec)                                                                   \
    B(s_pack_hh_b32_b16, 0, B32, B32, B32, a >> 16 | (b & 0xffff0000u), scc)                                  \
    B(s_pack_lh_b32_b16, 0, B32, B32, B32, (a & 0xffff) | (b & 0xffff0000u), scc)                             \
    B(s_pack_ll_b32_b16, 0, B32, B32, B32, (a & 0xffff) | b << 16, scc)                                       \
    U(s_quadmask_b32, S, B32, B32, quadmask(a), d != 0)                                                       \
    U(s_quadmask_b64, S, B64, B64, quadmask(a), d != 0)                                                       \
    U(s_sext_i32_i16, 0, I32, B32, (int16_t)a, scc)                                                           \
    U(s_sext_i32_i8, 0, I32, B32, (int8_t)a, scc)                                                             \
    B(s_sub_i32, S, I32, I32, I32, LOW(a) - LOW(b), TAKEN(a, b, d))                                           \
    B(s_sub_u32, S, U32, U32, U32, a - b, b > a)                                                              \
    B(s_subb_u32, R | S, U32, U32, U32, a - b - scc, WIDE(b) + scc > a)                                       \
    U(s_wqm_b32, S, B32, B32, wqm(a), d != 0)                                                                 \
    U(s_wqm_b64, S, B64, B64, wqm(a), d != 0)                                                                 \
    B(s_xnor_b32, S, B32, B32, B32, ~(a ^ b), d != 0)                                                         \
    B(s_xnor_b64, S, B64, B64, B64, ~(a ^ b), d != 0)                                                         \
    E(s_xnor_saveexec_b64, ~(a ^ exec), exec)                                                                 \
    B(s_xor_b32, S, B32, B32, B32, a ^ b, d != 0)                                                             \
    B(s_xor_b64, S, B64, B64, B64, a ^ b, d != 0)                                                             \
    E(s_xor_saveexec_b64, a ^ exec, exec)

#define UNARY(name, flags, D, A, value, cond)                                                                 \
    static void do_##name(ks_scalar *k)                                                                       \
    {                                                                                                         \
        const c_##A a = (c_##A)k->s[0];                                                                       \
        const uint64_t old = k->s[2];                                                                         \
        const bool scc = k->scc;                                                                              \
        (void)old;                                                                                            \
        const c_##D d = (c_##D)(value);                                                                       \
        k->d = U_##D(d);                                                                                      \
        k->scc = (cond);                                                                                      \
        (void)scc;                                                                                            \
    }
#define BINARY(name, flags, D, A, B, value, cond)                                                             \
    static void do_##name(ks_scalar *k)                                                                       \
    {                                                                                                         \
        const c_##A a = (c_##A)k->s[0];                                                                       \
        const c_##B b = (c_##B)k->s[1];                                                                       \
        const bool scc = k->scc;                                                                              \
        const c_##D d = (c_##D)(value);                                                                       \
        k->d = U_##D(d);                                                                                      \
        k->scc = (cond);                                                                                      \
        (void)scc;                                                                                            \
    }
#define COMPARE(name, A, B, cond)                                                                             \
    static void do_##name(ks_scalar *k)                                                                       \
    {                                                                                                         \
        const c_##A a = (c_##A)k->s[0];                                                                       \
        const c_##B b = (c_##B)k->s[1];                                                                       \
        k->scc = (cond);                                                                                      \
    }
#define EXECUTE(name, value, kept)                                                                            \
    static void do_##name(ks_scalar *k)                                                                       \
    {                                                                                                         \
        const uint64_t a = k->s[0], exec = k->s[2];                                                           \
        k->d = (kept);                                                                                        \
        k->s[2] = (value);                                                                                    \
        k->scc = k->s[2] != 0;                                                                                \
    }
SCALAR_OPS(UNARY, BINARY, COMPARE, EXECUTE)

#define ROW(name_, flags_, D, ...)                                                                            \
    { .name = #name_, .exec = ks_run_scalar, .scalar = do_##name_, .flags = (flags_), .class = KS_SALU_OP,    \
      .d = { { KS_##D, 0 } }, .s = { __VA_ARGS__ } },
#define UNARY_ROW(name, flags, D, A, value, cond) ROW(name, flags, D, { KS_##A, 0 })
#define BINARY_ROW(name, flags, D, A, B, value, cond) ROW(name, flags, D, { KS_##A, 0 }, { KS_##B, 0 })
#define COMPARE_ROW(name, A, B, cond) ROW(name, S, NONE, { KS_##A, 0 }, { KS_##B, 0 })
#define EXEC_ROW(name, value, kept) ROW(name, S | KS_F_EXEC_IN | KS_F_EXEC_OUT, B64, { KS_B64, 0 })
static const ks_op ops[] = { SCALAR_OPS(UNARY_ROW, BINARY_ROW, COMPARE_ROW, EXEC_ROW) };

ks_op_table ks_scalar_ops(void)
{
    return (ks_op_table){ops, sizeof ops / sizeof *ops};
}
