// SPDX-License-Identifier: MIT
// libkilnsim: a HIP runtime that executes gfx90a and gfx942 code objects on the CPU.  Programs use it by HIP's own
// entry points; this header has what HIP has no name for: findings and costs.  Safe from any thread.
#ifndef KILNSIM_H
#define KILNSIM_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

/* What is found: name, option of KILN_SIM, the hipError_t that a launch with it returns, what it means. */
#define KILNSIM_KINDS(X)                                                                                      \
    X(BOUNDS, "bounds", 700, "global access outside every allocation")                                       \
    X(FREED, "freed", 700, "global access to freed memory")                                                   \
    X(MISALIGNED, "misaligned", 719, "global or LDS access that is not aligned as the instruction needs")     \
    X(LDS_BOUNDS, "lds_bounds", 719, "LDS access outside the workgroup's allocation")                         \
    X(SCRATCH_BOUNDS, "scratch_bounds", 719, "private access outside the lane's segment")                     \
    X(RACE, "races", 719, "LDS accesses of two waves that no barrier orders")                                 \
    X(UNDEFINED, "undefined", 719, "a result depends on a register or byte of memory that was never written")       \
    X(WAIT, "waits", 719, "a register or LDS byte is used before s_waitcnt says that its load is finished")            \
    X(HAZARD, "hazards", 719, "too few wait states between two instructions")                                 \
    X(BARRIER, "barriers", 719, "a barrier that some work-items pass by")                                     \
    X(DOUBLE_FREE, "double_free", 1, "memory freed twice or never allocated")                                 \
    X(LEAK, "leaks", 0, "memory still allocated at exit")                                                     \
    X(UNKNOWN, "unknown", 719, "an instruction that the simulator does not know")                             \
    X(ENDLESS, "endless", 702, "a wave that ran past the limit of instructions")                              \
    X(TRAP, "traps", 719, "s_trap, or a jump outside the code")
typedef enum kilnsim_kind {
#define X(name, option, error, text) KILNSIM_##name,
    KILNSIM_KINDS(X)
#undef X
    KILNSIM_KIND_COUNT
} kilnsim_kind;

typedef struct kilnsim_finding {
    kilnsim_kind kind;
    const char *text;        /* one line: what, and what to do */
    const char *kernel;      /* "": none */
    const char *instruction; /* disassembled; "": none */
    const char *line;        /* "file:line"; "": the object has none */
    uint64_t pc;             /* bytes from the start of the code */
    uint64_t address;        /* 0: none */
    uint32_t group[3], wave;
    int lane;                /* -1: none */
    uint64_t times;          /* how often at this pc */
} kilnsim_finding;
/* Calls visit for each finding since the last clear, in a fixed order; its number.  Strings live until the clear. */
size_t kilnsim_findings(void (*visit)(const kilnsim_finding *, void *), void *user);
void kilnsim_findings_clear(void);

/* The cost of one launch.  Cycles are of a compute unit; what is modelled says so. */
#define KILNSIM_CLASS_MAX 24
typedef struct kilnsim_cost {
    size_t struct_size;                     /* of what the caller has */
    const char *kernel, *target;            /* kernel: until 64 more launches were priced, or the next enable */
    uint64_t groups, waves;
    uint32_t class_count;
    const char *class_name[KILNSIM_CLASS_MAX];
    uint64_t count[KILNSIM_CLASS_MAX];      /* wave instructions by class, the whole launch */
    uint64_t mfma_cycles;                   /* matrix unit cycles, the whole launch */
    uint64_t lds_cycles, lds_ideal_cycles;  /* of the LDS unit; ideal: without bank conflicts */
    uint64_t segments, segments_needed;     /* 64-byte pieces of global memory touched; least for those bytes */
    uint64_t global_bytes;
    uint32_t groups_per_cu, waves_per_simd; /* by registers and LDS */
    double modelled_cycles;                 /* of a compute unit with groups_per_cu workgroups (or all there are), first to last */
    double modelled_matrix_share;           /* of those, matrix units busy */
    uint32_t clock_mhz, compute_units;      /* of the device, at its peak; as hipDeviceGetAttribute has them */
} kilnsim_cost;
/* On: every later launch is priced (slower), and those before are forgotten. */
void kilnsim_cost_enable(int on);
/* The last priced launch of this process; 0: none yet. */
int kilnsim_cost_last(kilnsim_cost *);
/* Calls visit, which may not call back, for each priced launch that is still known, the last 64, oldest first; their number. */
size_t kilnsim_costs(void (*visit)(const kilnsim_cost *, void *), void *user);

/* An instruction of one wave of a workgroup, as modelled: in cycles since its compute unit, which is full of copies of that
 * workgroup (groups_per_cu), began. */
typedef struct kilnsim_event {
    const char *instruction; /* disassembled; strings as kilnsim_cost.kernel */
    const char *line;        /* "file:line"; "": the object has none */
    const char *class_name;  /* as kilnsim_cost has them */
    const char *unit;        /* that it keeps busy: "VALU", "SALU", "MFMA" of its SIMD, "LDS", "memory", "scalar memory"; "": none */
    uint32_t pc;             /* bytes from the start of the code */
    uint32_t wave, simd;
    uint64_t ready, issue;   /* the wave has come to it; it is issued */
    uint64_t from, to;       /* of the unit's time */
    uint64_t done;           /* its data has come back or is stored; 0: it has none */
} kilnsim_event;
/* On: later launches that are priced keep the timeline of the workgroup that the model fills a unit with. */
void kilnsim_timeline_enable(int on);
/* Calls visit, which may not call back, for each event of a launch, counted as kilnsim_costs has them, in the order of
 * issue; their number.  0: it was launched without a timeline, or there was no memory for it. */
size_t kilnsim_timeline(size_t launch, void (*visit)(const kilnsim_event *, void *), void *user);
#ifdef __cplusplus
}
#endif
#endif
