// SPDX-License-Identifier: MIT
// What memory*.c share: a memory instruction's row of data, the access in progress, the atomic
// functions. An access goes: addresses of the active lanes (memory_flat.c, memory_buffer.c,
// memory_ds.c), checks of its space (memory_check.c), then bytes between memory and registers
// (memory_data.c, memory_atomic.c).
#ifndef KS_MEMORY_H
#define KS_MEMORY_H
#include "sim.h"

/* Read-modify-write: m is the memory's value, d the data's, c the second data's (what is compared
   with, or a mask's other half), all without sign; S() gives it one.  What is written back is cut
   to the width. ORDER ATOMIC */
// clang-format off
#define KS_ATOMICS(X)                                                                             \
    X(ADD, m + d) X(SUB, m - d) X(RSUB, d - m) X(INC, m >= d ? 0 : m + 1)                         \
    X(DEC, m == 0 || m > d ? d : m - 1) X(SMIN, S(m) < S(d) ? m : d)                              \
    X(SMAX, S(m) > S(d) ? m : d) X(UMIN, m < d ? m : d) X(UMAX, m > d ? m : d) X(AND, m & d)       \
    X(OR, m | d) X(XOR, m ^ d) X(MSKOR, (m & ~d) | c) X(SWAP, d) X(CMPSWAP, m == c ? d : m)       \
    X(WRAP, m >= d ? m - d : m + c) X(FADD, FLOAT2(add, m, d)) X(FMIN, FLOAT2(min, m, d))         \
    X(FMAX, FLOAT2(max, m, d)) X(FCMPSWAP, FLOAT2(equal, m, c) ? d : m)                           \
    X(PKADD_F16, packed_add(m, d, half_add)) X(PKADD_BF16, packed_add(m, d, bfloat_add))
// clang-format on
typedef enum ks_atomic {
#define X(name, value) KS_ATOMIC_##name,
    KS_ATOMICS(X)
#undef X
} ks_atomic;

typedef struct ks_mem { /* ks_op.data */
    uint8_t bytes; /* of memory, a lane; of an instruction with two addresses: at one of them */
    bool sign;     /* narrow loads: extended by sign */
    uint8_t fn;    /* ks_atomic, or ks_gws_op */
    uint16_t unit; /* two addresses: what one step of their offsets is */
    bool two; /* second data in an operand of its own, compared with first (DS); else after it */
} ks_mem;

/* Global wave sync: ks_mem.fn of its rows.  gws.c */
typedef enum ks_gws_op {
    KS_GWS_SEMA_RELEASE_ALL,
    KS_GWS_INIT,
    KS_GWS_SEMA_V,
    KS_GWS_SEMA_BR,
    KS_GWS_SEMA_P,
    KS_GWS_BARRIER
} ks_gws_op;

typedef enum ks_space { KS_SPACE_GLOBAL, KS_SPACE_LDS, KS_SPACE_SCRATCH } ks_space;

typedef struct ks_access {
    ks_wave *w;
    const ks_inst *in;
    const ks_mem *mem;
    ks_space space;
    uint32_t flags;            /* of the op: KS_F_STORE ... */
    unsigned bytes;            /* mem's, or of one component */
    uint64_t lanes;            /* still to be done; the others have the address of one that is */
    const uint32_t *rows;      /* data to store: rows of this width, narrow data in the low bits */
    const uint32_t *undefined; /* its undefined bits, or NULL */
    unsigned reg;              /* first register that it came from, for texts */
    intptr_t shadow;           /* at + shadow: a byte's undefined bits; 0: such memory has none */
    bool many;                 /* lanes are in several allocations: ks_mem_parts */
    bool by_vm;                /* LDS written by an LDS-direct load */
    uint32_t offset[KS_LANES] __attribute__((aligned(64))); /* LDS, scratch: within it */
    uint64_t at[KS_LANES] __attribute__((aligned(64))); /* the host's address of the first byte */
    uint32_t temp[2][4][KS_LANES]
        __attribute__((aligned(64))); /* data made ready: rows, undefined */
} ks_access;

/* Lane number of the lowest bit; mask must not be 0. */
static inline unsigned ks_first_lane(uint64_t mask)
{
    return (unsigned)__builtin_ctzll(mask);
}
#define KS_EACH_LANE(l, mask)                                                                      \
    for (uint64_t l##_left = (mask); l##_left; l##_left &= l##_left - 1)                           \
        for (unsigned l = ks_first_lane(l##_left), l##_once = 1; l##_once; l##_once = 0)

/* ---- memory_data.c ---- */
/* Starts an access of EXEC's lanes. false: there are none. */
bool ks_access_begin(ks_access *, ks_wave *, const ks_inst *);
/* Data to be stored, from an operand: narrow and upper-half data made ready. */
void ks_access_data(ks_access *, const ks_operand *, unsigned slot);
/* Lanes that are not to be done any more take the address of one that is. */
void ks_access_settle(ks_access *);
void ks_gather(uint32_t *rows, const uint64_t *at, uint64_t lanes, unsigned bytes);
void ks_scatter(const uint32_t *rows, const uint64_t *at, uint64_t lanes, unsigned bytes);
/* The undefined bits of what the lanes are about to load; false: none. */
bool ks_mem_undefined(ks_access *, uint32_t *rows);
void ks_mem_load(ks_access *, unsigned reg);
void ks_mem_store(ks_access *);
void ks_mem_fill(ks_wave *, unsigned reg, unsigned count, uint64_t lanes, uint32_t value);
/* The value of a narrow load as its register has it, in place. */
void ks_mem_extend(const ks_access *, uint32_t *row);
/* Lanes that have no address (undefined) get the poison where the op returns registers. */
void ks_mem_lost(ks_access *, unsigned reg, bool returns);
/* What the op's flags say, once addresses, space and data are there: checks, then bytes.  reg:
 * destination. */
void ks_mem_perform(ks_access *, unsigned reg);
/* memory_atomic.c: checks, then the lanes' words; what memory had before waits in the access until
   it is returned to registers: lanes that were wanted and failed get the poison. */
void ks_mem_atomic(ks_access *, const ks_operand *data);
void ks_mem_returned(ks_access *, unsigned reg, uint64_t wanted);
/* memory_flat.c: the loaded values go to LDS at M0 + offset + 4 * lane; zero: of these lanes 0. */
void ks_mem_to_lds(ks_access *, uint64_t zero);

/* ---- memory_check.c: lanes that fail are reported and leave access->lanes ---- */
void ks_mem_place(ks_access *); /* bounds, alignment, races; access->at, shadow */
/* Addresses with undefined bits: rows of them, or NULL. */
void ks_mem_defined_address(ks_access *, const ks_operand *, const uint32_t *undefined,
                            unsigned count);
/* Moves bytes of lanes that are in several allocations: those of one, then of the next, since each
   has a shadow of its own (options.unwritten). */
typedef void ks_move(ks_access *, void *user);
void ks_mem_parts(ks_access *, ks_move *, void *user);
/* The same of a scalar part of an address: false: reported, nothing is to be done. */
bool ks_mem_defined_scalar(ks_access *, uint64_t undefined, const char *what, uint32_t origin);
void ks_mem_defined_data(const ks_access *);
/* ": never written" or the like, for a text. */
void ks_mem_origin(const ks_wave *, uint32_t origin, char *out, size_t size);

/* ---- memory_cost.c: only where a launch is priced ---- */
void ks_mem_cost(const ks_access *);

/* ---- what rows of memory.c run ---- */
ks_exec ks_run_flat, ks_run_scratch, ks_run_buffer, ks_run_cache, ks_run_ds, ks_run_ds_pair,
    ks_run_ds_addtid, ks_run_ds_count, ks_run_ds_permute, ks_run_ds_bpermute, ks_run_ds_swizzle,
    ks_run_ds_nop, ks_run_ds_gws;
#endif
