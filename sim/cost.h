// SPDX-License-Identifier: MIT
// What the parts of the cost model share: the traces of one workgroup's waves, and the model's
// constants.
#ifndef KS_COST_H
#define KS_COST_H
#include "sim.h"

/* Constants: name, gfx90a, gfx942, unit, where from.  What AMD publishes stands first; what nobody
   does is marked. "LLVM": its scheduling model of both (SISchedule.td), which is in steps of four
   cycles. */
#define KS_COST_CONSTANTS(X)                                                                       \
    X(SIMDS, 4, 4, "of a compute unit", "MI200 and CDNA3 ISA")                                     \
    X(WAVE_SLOTS, 8, 8, "of a SIMD", "ROCm Compute Profiler, \"Pipeline descriptions\"")           \
    X(REGISTERS, 512, 512, "vector registers of a lane, both kinds", "MI200 and CDNA3 ISA")        \
    X(REGISTER_STEP, 8, 8, "registers allocated at once",                                          \
      "AMDGPUUsage: granulated_workitem_vgpr_count")                                               \
    X(LDS_BYTES, 65536, 65536, "of a compute unit", "MI200 and CDNA3 ISA")                         \
    X(LDS_STEP, 512, 512, "bytes allocated at once", "AMDGPUUsage: granulated_lds_size")           \
    X(GROUPS, 16, 16, "workgroups of several waves (a barrier each)", "AMD, GCN occupancy")        \
    X(QUARTER_RATE, 4, 4, "steps of a transcendental or conversion",                               \
      "LLVM: WriteTrans32, WriteFloatCvt")                                                         \
    X(BRANCH, 4, 4, "steps of a taken branch", "GCN3 ISA: 16 cycles; LLVM: 8 steps")                             \
    X(LDS_LATENCY, 64, 64, "cycles beyond the unit's own",                                         \
      "assumed: GCN's; LLVM: \"between 2 and 64\" steps")                                          \
    X(GLOBAL_LATENCY, 320, 320, "cycles beyond the path's own",                                    \
      "LLVM: WriteVMEM; HBM takes longer, L2 less")                                                \
    X(SCALAR_LATENCY, 160, 160, "cycles",                                                          \
      "assumed: half of GLOBAL_LATENCY, through the scalar cache")                                 \
    X(SEGMENT_CYCLES, 1, 1, "of the vector memory path for 64 bytes",                              \
      "ROCm Compute Profiler, vL1D: 64 bytes a clock")                                             \
    X(ADDRESS_CYCLES, 4, 4, "of the vector memory path for 64 addresses",                          \
      "MI200 and CDNA3 ISA: 16 lanes a cycle")                                                     \
    X(SCALAR_CYCLES, 4, 4, "of the scalar memory path for one access",                             \
      "MI200 and CDNA3 ISA: one a cycle and SIMD")                                                 \
    X(BARRIER, 1, 1, "steps from the last wave's arrival to the next issue", "assumed")
typedef enum ks_cost_constant {
#define X(name, a, b, unit, source) KS_COST_##name,
    KS_COST_CONSTANTS(X)
#undef X
    KS_COST_CONSTANT_COUNT
} ks_cost_constant;
extern const uint32_t ks_cost_constants[KS_COST_CONSTANT_COUNT][KS_ARCH_COUNT];

typedef struct ks_trace_entry {
    uint32_t inst; /* index in the object */
    uint32_t aux;  /* LDS cycles or segments */
} ks_trace_entry;
typedef struct ks_trace {
    ks_trace_entry *at;
    uint32_t count, room, most;
    uint64_t seen; /* count, and those that there was no room for */
} ks_trace;
/* An instruction of the first workgroup on the modelled unit.  All in cycles from its start. */
typedef struct ks_event {
    uint32_t inst, wave;  /* inst: index in the object */
    uint64_t ready, issue; /* its wave has come to it; it goes */
    uint64_t from, to;    /* of its unit's time; equal: it keeps none busy */
    uint64_t done;        /* what it loads is there, it has stored; 0: neither */
} ks_event;
typedef struct ks_timeline {
    ks_event *at; /* in the order of issue */
    size_t count, room;
    bool cut; /* no memory for all of them */
} ks_timeline;
typedef struct ks_cost {
    uint64_t sample; /* index of the workgroup that is traced */
    ks_timeline *timeline; /* NULL: none is wanted */
    ks_trace trace[KS_MAX_WAVES], none;
    uint32_t waves; /* of a workgroup */
} ks_cost;

typedef struct ks_occupancy {
    uint32_t groups_per_cu, waves_per_simd;
} ks_occupancy;
ks_occupancy ks_cost_occupancy(const ks_launch *);
/* cost_model.c: cycles of one compute unit that runs `groups` copies of the traced workgroup, and
   the matrix units' share of them.  false: no memory. */
bool ks_cost_model(const ks_launch *, const ks_cost *, uint32_t groups, double *cycles,
                   double *matrix_share);
/* The unit that an instruction keeps busy, as the timeline names it; "" for none. */
const char *ks_cost_unit(const ks_inst *);
#endif
