// SPDX-License-Identifier: MIT
// Memory instructions: one row each, by encoding.  What a row's data says is in memory.h (ks_mem);
// how many registers its operands have stands in the row, for the decoder.
#include "memory.h"

#define COUNT(t) (sizeof(t) / sizeof((t)[0]))
#define LOADS    KS_F_LOAD
#define STORES   KS_F_STORE
#define CHANGES  (KS_F_STORE | KS_F_ATOMIC)
#define RETURNS  (KS_F_LOAD | KS_F_STORE | KS_F_ATOMIC)
#define LOW      (KS_F_LOAD | KS_F_D16)
#define HIGH     (KS_F_LOAD | KS_F_D16_HI)
#define HIGH_OUT (KS_F_STORE | KS_F_D16_HI)

// clang-format off
/* ---- FLAT, GLOBAL, SCRATCH, MUBUF ---- */
/* name, bytes, sign, flags, registers */
#define LOAD_LIST(X)                                                                               \
    X(ubyte, 1, 0, LOADS, 1)      X(sbyte, 1, 1, LOADS, 1)                                         \
    X(ushort, 2, 0, LOADS, 1)     X(sshort, 2, 1, LOADS, 1)                                        \
    X(ubyte_d16, 1, 0, LOW, 1)    X(ubyte_d16_hi, 1, 0, HIGH, 1)                                   \
    X(sbyte_d16, 1, 1, LOW, 1)    X(sbyte_d16_hi, 1, 1, HIGH, 1)                                   \
    X(short_d16, 2, 0, LOW, 1)    X(short_d16_hi, 2, 0, HIGH, 1)                                   \
    X(dword, 4, 0, LOADS, 1)      X(dwordx2, 8, 0, LOADS, 2)                                       \
    X(dwordx3, 12, 0, LOADS, 3)   X(dwordx4, 16, 0, LOADS, 4)
/* name, bytes, flags, registers */
#define STORE_LIST(X)                                                                              \
    X(byte, 1, STORES, 1)         X(byte_d16_hi, 1, HIGH_OUT, 1)                                   \
    X(short, 2, STORES, 1)        X(short_d16_hi, 2, HIGH_OUT, 1)                                  \
    X(dword, 4, STORES, 1)        X(dwordx2, 8, STORES, 2)                                         \
    X(dwordx3, 12, STORES, 3)     X(dwordx4, 16, STORES, 4)
/* what global_load_lds_* and scratch_load_lds_* have: name, bytes, sign */
#define LDS_LIST(X) X(ubyte, 1, 0) X(sbyte, 1, 1) X(ushort, 2, 0) X(sshort, 2, 1) X(dword, 4, 0)
/* name, function, bytes, registers of data, of the result */
#define ATOMIC_LIST(X)                                                                             \
    X(swap, SWAP, 4, 1, 1)        X(cmpswap, CMPSWAP, 4, 2, 1)                                     \
    X(add, ADD, 4, 1, 1)          X(sub, SUB, 4, 1, 1)                                             \
    X(smin, SMIN, 4, 1, 1)        X(umin, UMIN, 4, 1, 1)                                           \
    X(smax, SMAX, 4, 1, 1)        X(umax, UMAX, 4, 1, 1)                                           \
    X(and, AND, 4, 1, 1)          X(or, OR, 4, 1, 1)             X(xor, XOR, 4, 1, 1)              \
    X(inc, INC, 4, 1, 1)          X(dec, DEC, 4, 1, 1)                                             \
    X(swap_x2, SWAP, 8, 2, 2)     X(cmpswap_x2, CMPSWAP, 8, 4, 2)                                  \
    X(add_x2, ADD, 8, 2, 2)       X(sub_x2, SUB, 8, 2, 2)                                          \
    X(smin_x2, SMIN, 8, 2, 2)     X(umin_x2, UMIN, 8, 2, 2)                                        \
    X(smax_x2, SMAX, 8, 2, 2)     X(umax_x2, UMAX, 8, 2, 2)                                        \
    X(and_x2, AND, 8, 2, 2)       X(or_x2, OR, 8, 2, 2)          X(xor_x2, XOR, 8, 2, 2)           \
    X(inc_x2, INC, 8, 2, 2)       X(dec_x2, DEC, 8, 2, 2)                                          \
    X(add_f32, FADD, 4, 1, 1)     X(add_f64, FADD, 8, 2, 2)                                        \
    X(min_f64, FMIN, 8, 2, 2)     X(max_f64, FMAX, 8, 2, 2)                                        \
    X(pk_add_f16, PKADD_F16, 4, 1, 1)
#define FAR_ATOMICS(X) X(pk_add_bf16, PKADD_BF16, 4, 1, 1) /* not of MUBUF */

/* ---- DS ---- */
/* name, bytes, sign, flags, registers */
#define DS_READS(X)                                                                                \
    X(u8, 1, 0, LOADS, 1)         X(i8, 1, 1, LOADS, 1)                                            \
    X(u16, 2, 0, LOADS, 1)        X(i16, 2, 1, LOADS, 1)                                           \
    X(u8_d16, 1, 0, LOW, 1)       X(u8_d16_hi, 1, 0, HIGH, 1)                                      \
    X(i8_d16, 1, 1, LOW, 1)       X(i8_d16_hi, 1, 1, HIGH, 1)                                      \
    X(u16_d16, 2, 0, LOW, 1)      X(u16_d16_hi, 2, 0, HIGH, 1)                                     \
    X(b32, 4, 0, LOADS, 1)        X(b64, 8, 0, LOADS, 2)                                           \
    X(b96, 12, 0, LOADS, 3)       X(b128, 16, 0, LOADS, 4)
#define DS_WRITES(X)                                                                               \
    X(b8, 1, STORES, 1)           X(b8_d16_hi, 1, HIGH_OUT, 1)                                     \
    X(b16, 2, STORES, 1)          X(b16_d16_hi, 2, HIGH_OUT, 1)                                    \
    X(b32, 4, STORES, 1)          X(b64, 8, STORES, 2)                                             \
    X(b96, 12, STORES, 3)         X(b128, 16, STORES, 4)
/* name and type, function, bytes, registers of data0, data1: with and without "rtn" */
#define DS_ATOMICS(X)                                                                              \
    X(add, u32, ADD, 4, 1, 0)     X(add, u64, ADD, 8, 2, 0)                                        \
    X(sub, u32, SUB, 4, 1, 0)     X(sub, u64, SUB, 8, 2, 0)                                        \
    X(rsub, u32, RSUB, 4, 1, 0)   X(rsub, u64, RSUB, 8, 2, 0)                                      \
    X(inc, u32, INC, 4, 1, 0)     X(inc, u64, INC, 8, 2, 0)                                        \
    X(dec, u32, DEC, 4, 1, 0)     X(dec, u64, DEC, 8, 2, 0)                                        \
    X(min, i32, SMIN, 4, 1, 0)    X(min, i64, SMIN, 8, 2, 0)                                       \
    X(max, i32, SMAX, 4, 1, 0)    X(max, i64, SMAX, 8, 2, 0)                                       \
    X(min, u32, UMIN, 4, 1, 0)    X(min, u64, UMIN, 8, 2, 0)                                       \
    X(max, u32, UMAX, 4, 1, 0)    X(max, u64, UMAX, 8, 2, 0)                                       \
    X(and, b32, AND, 4, 1, 0)     X(and, b64, AND, 8, 2, 0)                                        \
    X(or, b32, OR, 4, 1, 0)       X(or, b64, OR, 8, 2, 0)                                          \
    X(xor, b32, XOR, 4, 1, 0)     X(xor, b64, XOR, 8, 2, 0)                                        \
    X(mskor, b32, MSKOR, 4, 1, 1) X(mskor, b64, MSKOR, 8, 2, 2)                                    \
    X(cmpst, b32, CMPSWAP, 4, 1, 1)  X(cmpst, b64, CMPSWAP, 8, 2, 2)                               \
    X(cmpst, f32, FCMPSWAP, 4, 1, 1) X(cmpst, f64, FCMPSWAP, 8, 2, 2)                              \
    X(min, f32, FMIN, 4, 1, 0)    X(min, f64, FMIN, 8, 2, 0)                                       \
    X(max, f32, FMAX, 4, 1, 0)    X(max, f64, FMAX, 8, 2, 0)                                       \
    X(add, f32, FADD, 4, 1, 0)    X(add, f64, FADD, 8, 2, 0)                                       \
    X(pk_add, f16, PKADD_F16, 4, 1, 0) X(pk_add, bf16, PKADD_BF16, 4, 1, 0)
/* only with "rtn" */
#define DS_EXCHANGES(X)                                                                            \
    X(wrxchg, b32, SWAP, 4, 1, 0) X(wrxchg, b64, SWAP, 8, 2, 0) X(wrap, b32, WRAP, 4, 1, 1)
/* two addresses: names, bytes of each, what an offset counts */
#define DS_PAIRS(X)                                                                                \
    X(2_b32, 2_rtn_b32, 4, 4)     X(2st64_b32, 2st64_rtn_b32, 4, 256)                              \
    X(2_b64, 2_rtn_b64, 8, 8)     X(2st64_b64, 2st64_rtn_b64, 8, 512)

/* global wave sync: name, what it does, registers */
#define GWS_LIST(X)                                                                                \
    X(sema_release_all, SEMA_RELEASE_ALL, 0) X(init, INIT, 1) X(sema_v, SEMA_V, 0)                 \
    X(sema_br, SEMA_BR, 1) X(sema_p, SEMA_P, 0) X(barrier, BARRIER, 1)

/* One row: name, what runs it, class, flags, data, result's and sources' registers (0: absent). */
#define SPEC(n) { (n) ? KS_B32 : KS_NONE, n }
#define ROW(n, fn, c, f, m, d0, s0, s1, s2, s3)                                                    \
    { .name = n, .exec = ks_run_##fn, m, .flags = f, .class = KS_##c##_OP, .d = { SPEC(d0) },      \
      .s = { SPEC(s0), SPEC(s1), SPEC(s2), SPEC(s3) } },
#define M(b, ...) .data = &(const ks_mem){ .bytes = b, __VA_ARGS__ }
#define FN(a) .fn = KS_ATOMIC_##a

static const ks_op memory_ops[] = {
/* FLAT, GLOBAL: vaddr (2, or 1 beside saddr), saddr, data */
#define X(n, b, g, f, r) ROW("flat_load_" #n, flat, FLAT, f, M(b, .sign = g), r, 2, 0, 0, 0)
    LOAD_LIST(X)
#undef X
#define X(n, b, f, r) ROW("flat_store_" #n, flat, FLAT, f, M(b), 0, 2, 0, r, 0)
    STORE_LIST(X)
#undef X
#define X(n, a, b, r, d) ROW("flat_atomic_" #n, flat, FLAT, RETURNS, M(b, FN(a)), d, 2, 0, r, 0)
    ATOMIC_LIST(X) FAR_ATOMICS(X)
#undef X
#define X(n, b, g, f, r) ROW("global_load_" #n, flat, GLOBAL, f, M(b, .sign = g), r, 2, 2, 0, 0)
    LOAD_LIST(X)
#undef X
#define X(n, b, g)                                                                                 \
    ROW("global_load_lds_" #n, flat, GLOBAL, KS_F_LDS_DIRECT, M(b, .sign = g), 0, 2, 2, 0, 0)
    LDS_LIST(X)
#undef X
#define X(n, b, f, r) ROW("global_store_" #n, flat, GLOBAL, f, M(b), 0, 2, 2, r, 0)
    STORE_LIST(X)
#undef X
#define X(n, a, b, r, d)                                                                           \
    ROW("global_atomic_" #n, flat, GLOBAL, RETURNS, M(b, FN(a)), d, 2, 2, r, 0)
    ATOMIC_LIST(X) FAR_ATOMICS(X)
#undef X
/* SCRATCH: vaddr, saddr, data */
#define X(n, b, g, f, r)                                                                           \
    ROW("scratch_load_" #n, scratch, SCRATCH, f, M(b, .sign = g), r, 1, 1, 0, 0)
    LOAD_LIST(X)
#undef X
#define X(n, b, g)                                                                                 \
    ROW("scratch_load_lds_" #n, scratch, SCRATCH, KS_F_LDS_DIRECT, M(b, .sign = g), 0, 1, 1, 0, 0)
    LDS_LIST(X)
#undef X
#define X(n, b, f, r) ROW("scratch_store_" #n, scratch, SCRATCH, f, M(b), 0, 1, 1, r, 0)
    STORE_LIST(X)
#undef X
/* MUBUF: vaddr (index, offset), resource, soffset, data */
#define X(n, b, g, f, r) ROW("buffer_load_" #n, buffer, BUFFER, f, M(b, .sign = g), r, 2, 4, 1, 0)
    LOAD_LIST(X)
#undef X
#define X(n, b, f, r) ROW("buffer_store_" #n, buffer, BUFFER, f, M(b), 0, 2, 4, 1, r)
    STORE_LIST(X)
#undef X
#define X(n, a, b, r, d)                                                                           \
    ROW("buffer_atomic_" #n, buffer, BUFFER, RETURNS, M(b, FN(a)), d, 2, 4, 1, r)
    ATOMIC_LIST(X)
#undef X
#define X(n) ROW("buffer_" #n, cache, CACHE, 0, M(0), 0, 0, 0, 0, 0)
    X(inv) X(invl2) X(wbinvl1) X(wbinvl1_vol) X(wbl2)
#undef X
/* DS: addr, data0, data1 */
#define X(n, b, g, f, r) ROW("ds_read_" #n, ds, LDS, f, M(b, .sign = g), r, 1, 0, 0, 0)
    DS_READS(X)
#undef X
#define X(n, b, f, r) ROW("ds_write_" #n, ds, LDS, f, M(b), 0, 1, r, 0, 0)
    DS_WRITES(X)
#undef X
#define RTN(n, t, a, b, r, r1)                                                                     \
    ROW("ds_" #n "_rtn_" #t, ds, LDS, RETURNS, M(b, FN(a), .two = true), b / 4, 1, r, r1, 0)
#define X(n, t, a, b, r, r1)                                                                       \
    ROW("ds_" #n "_" #t, ds, LDS, CHANGES, M(b, FN(a), .two = true), 0, 1, r, r1, 0)               \
    RTN(n, t, a, b, r, r1)
    DS_ATOMICS(X)
#undef X
    DS_EXCHANGES(RTN)
#define X(n, x, b, u)                                                                              \
    ROW("ds_read" #n, ds_pair, LDS, LOADS, M(b, .unit = u), b / 2, 1, 0, 0, 0)                     \
    ROW("ds_write" #n, ds_pair, LDS, STORES, M(b, .unit = u), 0, 1, b / 4, b / 4, 0)               \
    ROW("ds_wrxchg" #x, ds_pair, LDS, RETURNS, M(b, FN(SWAP), .unit = u), b / 2, 1, b / 4, b / 4, 0)
    DS_PAIRS(X)
#undef X
    ROW("ds_read_addtid_b32", ds_addtid, LDS, LOADS, M(4), 1, 0, 0, 0, 0)
    ROW("ds_write_addtid_b32", ds_addtid, LDS, STORES, M(4), 0, 0, 1, 0, 0)
    ROW("ds_append", ds_count, LDS, RETURNS, M(4, FN(ADD)), 1, 0, 0, 0, 0)
    ROW("ds_consume", ds_count, LDS, RETURNS, M(4, FN(SUB)), 1, 0, 0, 0, 0)
    ROW("ds_permute_b32", ds_permute, LDS, LOADS, M(0), 1, 1, 1, 0, 0)
    ROW("ds_bpermute_b32", ds_bpermute, LDS, LOADS, M(0), 1, 1, 1, 0, 0)
    ROW("ds_swizzle_b32", ds_swizzle, LDS, LOADS, M(0), 1, 1, 0, 0, 0)
    ROW("ds_nop", ds_nop, LDS, 0, M(0), 0, 0, 0, 0, 0)
#define X(n, op, r)                                                                                \
    ROW("ds_gws_" #n, ds_gws, LDS, 0, M(0, .fn = KS_GWS_##op), 0, r, 0, 0, 0)
    GWS_LIST(X)
#undef X
};
// clang-format on

ks_op_table ks_memory_ops(void)
{
    return (ks_op_table){memory_ops, COUNT(memory_ops)};
}
