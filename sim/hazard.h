// SPDX-License-Identifier: MIT
// What check_wait.c and check_hazard.c keep of a wave: which loads are in flight, which registers
// were written a few instructions ago; and the kinds of instructions that the rules of
// hazard_table.h are about.
#ifndef KS_HAZARD_H
#define KS_HAZARD_H
#include <stdio.h>
#include "sim.h"

typedef struct ks_waits ks_waits;
/* Kinds: bits of ks_inst.check.  Those before XDL matter for no more than five wait states after
   the instruction, and check_hazard.c shifts them along.  ORDER KIND */
#define KS_KINDS(X)                                                                                \
    X(WRITES_V, "writes VGPRs, VALU but no dot product")                                           \
    X(DOT, "dot product")                                                                          \
    X(TRANS, "transcendental")                                                                     \
    X(MOVES, "SDWA or op_sel put the result elsewhere than at bit 0")                              \
    X(WRITES_S, "VALU that writes SGPRs")                                                          \
    X(WRITES_EXEC, "VALU that writes EXEC")                                                        \
    X(WIDE_STORE, "stores more than 64 bits a lane")                                               \
    X(SALU_M0, "scalar write of M0")                                                               \
    X(SETREG, "s_setreg")                                                                          \
    X(XDL, "matrix, but f64 and gfx942's f32")                                                     \
    X(SGEMM, "f32 matrix on gfx942")                                                               \
    X(DGEMM4, "f64 matrix of 4x4")                                                                 \
    X(DGEMM16, "f64 matrix of 16x16")                                                              \
    X(VALU, "vector but no matrix")                                                                \
    X(NO_TRANS, "VALU that is no transcendental")                                                  \
    X(DPP, "has DPP")                                                                              \
    X(LANE, "v_readlane, v_readfirstlane, v_writelane")                                            \
    X(READ_LANE, "the first two of them")                                                          \
    X(SELECT, "v_readlane, v_writelane")                                                           \
    X(FMAS, "v_div_fmas")                                                                          \
    X(FMA64, "v_fma_f64, v_fmac_f64")                                                              \
    X(VMEM, "global, flat, scratch, buffer")                                                       \
    X(DS, "LDS")                                                                                   \
    X(GETREG, "s_getreg")                                                                          \
    X(READS_M0, "reads M0 without saying so")                                                      \
    X(BY_VM, "counted by vmcnt")                                                                   \
    X(BY_DS, "counted by lgkmcnt, in order")                                                       \
    X(BY_FLAT, "counted by both")                                                                  \
    X(BY_SMEM, "counted by lgkmcnt, in no order")                                                  \
    X(WAIT, "s_waitcnt")
enum {
#define X(name, text) KS_BIT_##name,
    KS_KINDS(X)
#undef X
    KS_KIND_COUNT
};
#define X(name, text) static const uint64_t KS_K_##name = 1ull << KS_BIT_##name;
KS_KINDS(X)
#undef X
#define KS_K_MATRIX  (KS_K_XDL | KS_K_SGEMM | KS_K_DGEMM4 | KS_K_DGEMM16)
#define KS_K_COUNTED (KS_K_BY_VM | KS_K_BY_DS | KS_K_BY_FLAT | KS_K_BY_SMEM)
enum {
    KS_WANTS_SHIFT = 32,  /* the short kinds that a rule makes it wait for: KS_SHORT bits */
    KS_STATES_SHIFT = 48, /* wait states that it is worth: 5 bits */
    KS_REACH_SHIFT = 53,  /* matrix instructions: the most that a rule asks for after it, 5 bits */
    KS_KNOWN_SHIFT = 63,
    KS_SHORT = KS_BIT_XDL,
    KS_SHORT_STATES = 5,
    KS_TAKEN_STATES = 4, /* GCN3 ISA: 16 cycles, of which a wait state has 4 */
    KS_LONGEST = 20, /* more wait states than any rule asks for */
};
#define KS_SHORT_MASK ((1ull << KS_SHORT) - 1)
_Static_assert((int)KS_KIND_COUNT <= (int)KS_WANTS_SHIFT, "kinds have 32 bits");
_Static_assert(KS_SHORT * KS_SHORT_STATES <= 64, "five wait states of short kinds fit a word");

/* Registers under one number: the vector file, then the scalar one. */
enum { KS_REGISTERS = KS_VREGS + KS_SREGS };
enum { KS_NEED_VM = 1, KS_NEED_LGKM = 2 };
enum { KS_VM_MAX = 63, KS_LGKM_MAX = 15, KS_LOOSE_MAX = 64, KS_NEAR = 32 };
/* A load, store or atomic that no wait has ended yet. */
typedef struct ks_flight {
    const ks_inst *inst;
    uint32_t id;
    uint16_t reg; /* first of those that it loads */
    uint8_t count, needs;
    uint64_t vm, lgkm; /* its number among the counter's events */
} ks_flight;
/* A load into LDS in flight: lane l's word is at base + 4 * l. */
typedef struct ks_direct {
    const ks_inst *inst;
    uint32_t base;
    uint64_t lanes, vm; /* vm: as a flight's */
} ks_direct;
typedef struct ks_near { /* an instruction that a rule may be about */
    const ks_inst *inst;
    uint64_t kinds;
    uint64_t at;
} ks_near;
struct ks_waits {
    ks_arch arch;
    /* s_waitcnt */
    uint64_t busy[KS_REGISTERS / 64 + 1]; /* registers that something in flight will write */
    uint32_t owner[KS_REGISTERS];         /* id of the last that will */
    uint32_t flying, next_id;
    ks_flight vm[KS_VM_MAX + 1], ds[KS_LGKM_MAX + 1],
        loose[KS_LOOSE_MAX]; /* rings of in-order ones; FLAT and SMEM */
    uint32_t vm_first, vm_count, ds_first, ds_count, loose_count;
    uint64_t vm_issued, lgkm_issued;
    ks_direct direct[KS_VM_MAX + 1]; /* a ring, oldest first */
    uint32_t direct_first, direct_count;
    /* Wait states */
    uint64_t clock;
    uint64_t recent;       /* short kinds of the last five wait states */
    uint64_t matrix_until; /* the clock when no matrix instruction matters any more */
    uint64_t written_until[KS_VREGS], read_until[KS_VREGS]; /* by matrix instructions: D, C */
    uint8_t writer[KS_VREGS];                               /* index of that one in near */
    ks_near near[KS_NEAR];
    uint32_t near_count; /* ever */
    const ks_inst
        *follows; /* the instruction behind the last one: another means that a branch was taken */
};
/* check_hazard.c */
uint64_t ks_hazard_kinds(const ks_inst *, ks_arch);
void ks_hazard_check(ks_wave *, ks_waits *, const ks_inst *, uint64_t kinds);
void ks_hazard_reset(ks_waits *);
/* " (file:line)", or "" where the object has no lines. */
static inline void ks_place(const ks_wave *w, const ks_inst *inst, char *out, size_t size)
{
    char line[200] = "";
    ks_object_line(w->launch->object, inst->pc, line, sizeof(line));
    snprintf(out, size, "%s%s%s", *line ? " (" : "", line, *line ? ")" : "");
}
static inline bool ks_overlap(unsigned a, unsigned an, unsigned b, unsigned bn)
{
    return a < b + bn && b < a + an;
}
#endif
