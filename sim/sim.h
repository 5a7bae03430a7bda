// SPDX-License-Identifier: MIT
// The simulator's own words: decoded instructions, waves, workgroups, launches and findings.
// object.c and decode.c turn a code object into ks_inst rows once; vec_*.c (lanes), scalar*.c, memory*.c execute
// them; check_*.c find what hardware hides; cost.c prices a trace; hip_*.c are the HIP entry points.
// Register numbering is the ISA's: scalar file 0..127 (VCC 106, M0 124, EXEC 126), vector file
// 0..255 = v0..v255, 256..511 = a0..a255.
#ifndef KS_SIM_H
#define KS_SIM_H
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "kilnsim.h"

enum {
    KS_LANES = 64,
    KS_SREGS = 128,
    KS_VREGS = 512,
    KS_ACC = 256, /* vector file index of a0 */
    KS_FLAT_SCRATCH = 102,
    KS_VCC = 106,
    KS_M0 = 124,
    KS_EXEC = 126,
    KS_MAX_WAVES = 16, /* of a workgroup: 1024 work-items */
    KS_MAX_LDS = 65536,
};
/* Where flat addresses mean LDS and private memory: the upper 32 bits of the aperture bases. */
#define KS_SHARED_BASE 0x0001000000000000ull
#define KS_PRIVATE_BASE 0x0002000000000000ull

typedef enum ks_arch { KS_GFX90A, KS_GFX942, KS_ARCH_COUNT } ks_arch;

/* Operand types: name, 32-bit registers of one element, bits, class (f float, i signed, u unsigned or
   raw, p packed pair, m a mask of lanes in an SGPR pair).  An operand of more registers than its type
   has is a vector of it (MFMA, loads).  ORDER TYPE: ks_type_info */
#define KS_TYPES(X)                                                                               \
    X(NONE, 0, 0, 0)                                                                              \
    X(B16, 1, 16, 'u') X(U16, 1, 16, 'u') X(I16, 1, 16, 'i') X(F16, 1, 16, 'f')                   \
    X(B32, 1, 32, 'u') X(U32, 1, 32, 'u') X(I32, 1, 32, 'i') X(F32, 1, 32, 'f')                   \
    X(B64, 2, 64, 'u') X(U64, 2, 64, 'u') X(I64, 2, 64, 'i') X(F64, 2, 64, 'f')                   \
    X(V2F16, 1, 16, 'p') X(V2I16, 1, 16, 'p') X(V2U16, 1, 16, 'p') X(V2F32, 2, 32, 'p')           \
    X(V2B32, 2, 32, 'p')                                                                          \
    X(MASK, 2, 1, 'm')
typedef enum ks_type {
#define X(name, regs, bits, class) KS_##name,
    KS_TYPES(X)
#undef X
    KS_TYPE_COUNT
} ks_type;
typedef struct ks_type_info {
    const char *name;
    uint8_t regs, bits;
    char class;
} ks_type_info;
extern const ks_type_info ks_types[KS_TYPE_COUNT];

/* Instruction classes: what is counted, what the checks and the cost model tell apart.  ORDER CLASS */
#define KS_CLASSES(X)                                                                             \
    X(SALU, "salu") X(BRANCH, "branch") X(WAIT, "wait") X(NOP, "nop") X(BARRIER, "barrier")       \
    X(MESSAGE, "message") X(SMEM, "smem") X(VALU, "valu") X(TRANS, "trans") X(F64, "valu_f64")    \
    X(MFMA, "mfma") X(LDS, "lds") X(GLOBAL, "global") X(FLAT, "flat") X(BUFFER, "buffer")         \
    X(SCRATCH, "scratch") X(CACHE, "cache")
typedef enum ks_class {
#define X(name, text) KS_##name##_OP,
    KS_CLASSES(X)
#undef X
    KS_CLASS_COUNT
} ks_class;
extern const char *const ks_class_names[KS_CLASS_COUNT];

typedef enum ks_encoding {
    KS_SOP1, KS_SOP2, KS_SOPK, KS_SOPC, KS_SOPP, KS_SMEM_ENC, KS_VOP1, KS_VOP2, KS_VOPC, KS_VOP3, KS_VOP3P,
    KS_DS, KS_FLAT_ENC, KS_MUBUF, KS_ENCODING_COUNT
} ks_encoding;

typedef struct ks_inst ks_inst;
typedef struct ks_wave ks_wave;
typedef struct ks_group ks_group;
typedef struct ks_launch ks_launch;
typedef void ks_exec(ks_wave *, const ks_inst *);

/* A pure function of vector rows: row r of an operand is p + 64 * r, one uint32_t a lane.  Sources arrive
   with every modifier applied (an f16 or i16 source in the low half, converted by nothing; a MASK source
   as 0 or 1); what it writes is masked by EXEC, clamped, and put where SDWA or op_sel say by the caller.
   A MASK destination is written as rows of 0 and 1.  It may read nothing else of the wave: undefined bits
   are found by calling it again with other fills of them (vec_lanes.c). */
typedef struct ks_lanes {
    uint32_t *d[2];
    const uint32_t *s[4];
    uint32_t mode; /* the wave's MODE register */
    ks_arch arch;
    const ks_inst *inst;
} ks_lanes;
typedef void ks_lanes_fn(ks_lanes *);

/* The same for the scalar unit: values of up to 64 bits, SCC in and out, EXEC in and out. */
typedef struct ks_scalar {
    uint64_t d;
    uint64_t s[3]; /* s[2]: EXEC (and what it becomes) for those that read it, or the destination's old value */
    bool scc;
    const ks_inst *inst;
} ks_scalar;
typedef void ks_scalar_fn(ks_scalar *);

/* Flags of an instruction of the ISA (ks_op). */
enum {
    KS_F_SCC_IN = 1 << 0,    /* reads SCC (scalar) */
    KS_F_SCC_OUT = 1 << 1,   /* writes SCC */
    KS_F_EXEC_IN = 1 << 2,   /* scalar op reads EXEC as s[2] */
    KS_F_EXEC_OUT = 1 << 3,  /* also writes EXEC (saveexec, v_cmpx) */
    KS_F_DST_IN = 1 << 4,    /* the destination is its last source (fmac, cmov, DOT-accumulate) */
    KS_F_NO_EXEC = 1 << 5,   /* ignores EXEC (MFMA, readlane) */
    KS_F_WHOLE = 1 << 6,     /* lanes depend on other lanes: results go through a copy */
    KS_F_LITERAL_K = 1 << 7, /* fmaak, fmamk: a 32-bit constant follows */
    KS_F_STORE = 1 << 8,     /* memory op writes memory */
    KS_F_LOAD = 1 << 9,      /* memory op returns registers */
    KS_F_ATOMIC = 1 << 10,
    KS_F_LDS_DIRECT = 1 << 11, /* memory op that loads into LDS */
    KS_F_D16_HI = 1 << 12, /* the register's upper half: stores take it, VALU and loads write it */
    KS_F_D16 = 1 << 13,    /* its lower half. VALU keeps the other half, after a load it is undefined */
    KS_F_JUMP = 1 << 14,       /* writes the program counter */
    KS_F_END = 1 << 15,
    KS_F_RAW = 1 << 16, /* VALU: denormals of float operands are not flushed (class tests, bit moves) */
    KS_F_MIX = 1 << 17, /* fma_mix: op_sel_hi says which sources are f16, neg_hi is abs; all arrive as f32 */
};
typedef struct ks_spec {
    uint8_t type;  /* ks_type; KS_NONE: absent */
    uint8_t count; /* 32-bit registers; 0: as the type has */
} ks_spec;
typedef struct ks_op {
    const char *name; /* LLVM's, without _e32, _e64, _sdwa, _dpp */
    ks_exec *exec;
    union {
        ks_lanes_fn *lanes;
        ks_scalar_fn *scalar;
        const void *data; /* what the unit's own file says */
    };
    uint32_t flags;
    uint8_t class; /* ks_class */
    uint8_t form;  /* matrix instructions: the row of mfma.h's table */
    ks_spec d[2], s[4];
} ks_op;
typedef struct ks_op_table {
    const ks_op *op;
    size_t count;
} ks_op_table;

typedef enum ks_where { KS_ABSENT, KS_SGPR, KS_VGPR, KS_CONST, KS_SPECIAL } ks_where;
enum { KS_VCCZ = 251, KS_EXECZ = 252, KS_SCC = 253 }; /* KS_SPECIAL's reg */
typedef struct ks_operand {
    uint8_t where; /* ks_where */
    uint8_t type;
    uint8_t count; /* 32-bit registers */
    uint16_t reg;  /* first, of the scalar or vector file */
    uint64_t value; /* KS_CONST: its bits, already as the type has them */
} ks_operand;

/* A decoded instruction.  Sources stand in the ISA's order:
   VALU: src0, src1, src2 (a carry-in or select mask, implicit VCC included, is src2)
   DS: addr, data0, data1        FLAT: vaddr, saddr, data        MUBUF: vaddr, srsrc, soffset, data
   SMEM: sbase, soffset, data    SOPK: the constant; SOPP: none (imm)
   Destinations: vdst or sdst, then the carry-out or compare mask. */
struct ks_inst {
    ks_exec *run;
    const ks_op *op;
    uint32_t pc;      /* bytes from the start of the code section */
    uint32_t target;  /* branches: index of the instruction jumped to; KS_NO_TARGET: outside */
    uint8_t bytes, encoding;
    uint8_t nd, ns;
    ks_operand d[2], s[4];
    uint8_t abs, neg; /* bit i: source i (VOP3, SDWA, DPP); VOP3P: neg = low half, neg_hi = high */
    uint8_t neg_hi, op_sel, op_sel_hi; /* VOP3: op_sel bit 3 = destination's upper half */
    uint8_t omod, clamp;
    uint8_t cbsz, abid, blgp; /* MFMA */
    bool dpp, sdwa;
    uint16_t dpp_ctrl;
    uint8_t row_mask, bank_mask;
    bool bound_ctrl;
    uint8_t dst_sel, dst_unused, src_sel[2], sext; /* SDWA */
    int32_t offset;  /* DS: offset0 of a pair, else 16 bits; FLAT 12 bits, GLOBAL and SCRATCH 13 signed; MUBUF 12; SMEM 21 signed */
    int32_t offset1; /* DS pairs */
    bool sc0, sc1, nt, lds, offen, idxen, gds, has_vaddr, has_saddr; /* glc = sc0, slc = nt, scc = sc1 */
    int32_t imm;     /* SOPK, SOPP: sign-extended simm16; s_setreg_imm32: its literal is s[0] */
    uint64_t check;  /* check_hazard.c's kinds, found when the instruction is first checked; 0: not yet (decode leaves 0) */
    uint32_t word[3];
};
#define KS_NO_TARGET UINT32_MAX
#define KS_NO_ORIGIN UINT32_MAX
#define KS_POISON 0xffbadbadu /* what registers, LDS and private memory hold before they are written */

/* ---- Code objects (object.c, decode.c) ---- */
typedef struct ks_arg { /* of the metadata's .args; offsets and sizes in bytes of the kernarg segment */
    uint32_t offset, size;
    uint8_t hidden; /* ks_hidden; 0: the program's own */
} ks_arg;
/* ORDER HIDDEN: names in object_kernel.c */
typedef enum ks_hidden {
    KS_ARG_EXPLICIT, KS_ARG_BLOCK_COUNT_X, KS_ARG_BLOCK_COUNT_Y, KS_ARG_BLOCK_COUNT_Z, KS_ARG_GROUP_SIZE_X,
    KS_ARG_GROUP_SIZE_Y, KS_ARG_GROUP_SIZE_Z, KS_ARG_REMAINDER_X, KS_ARG_REMAINDER_Y, KS_ARG_REMAINDER_Z,
    KS_ARG_GLOBAL_OFFSET_X, KS_ARG_GLOBAL_OFFSET_Y, KS_ARG_GLOBAL_OFFSET_Z, KS_ARG_GRID_DIMS,
    KS_ARG_PRIVATE_BASE, KS_ARG_SHARED_BASE, KS_ARG_DYNAMIC_LDS_SIZE,
    KS_ARG_HOSTCALL, KS_ARG_HEAP, KS_ARG_MULTIGRID_SYNC_ARG, /* ks_set_hidden's */
    KS_ARG_PRINTF, /* null: its use is found, and named */
    KS_ARG_OTHER /* zero */
} ks_hidden;
typedef struct ks_kernel {
    char *name;            /* as the program calls it: without .kd */
    struct ks_object *object;
    uint32_t entry;        /* index of its first instruction */
    uint64_t code_size;    /* bytes of its function: calls leave it */
    uint32_t lds, scratch; /* bytes: fixed LDS of a workgroup, private segment of a lane */
    uint32_t kernarg_size, kernarg_align;
    uint32_t rsrc1, rsrc2, rsrc3; /* of the kernel descriptor */
    uint16_t properties;   /* kernel_code_properties */
    uint16_t preload;      /* kernarg_preload: length | offset << 7, in dwords */
    uint32_t vgprs, agprs, sgprs; /* metadata's counts; vgprs counts both kinds where they are unified */
    uint16_t vgprs_used, agprs_used; /* by the instructions of its function: the last one's number + 1 */
    uint32_t max_threads;  /* .max_flat_workgroup_size */
    uint32_t vgpr_spills, sgpr_spills;
    bool serial;           /* its groups run in turn: it may see their order, by atomics, coherent loads or in a callee */
    ks_arg *args;
    uint32_t arg_count;
} ks_kernel;
typedef struct ks_symbol { /* a device variable: hipModuleGetGlobal, __hipRegisterVar */
    char *name;
    uint64_t address; /* host address of the loaded image's byte */
    uint64_t size;
} ks_symbol;
typedef struct ks_object {
    ks_arch arch;
    uint8_t *image;     /* loaded segments, relocated; device addresses are host addresses */
    size_t image_size;
    uint64_t code_vaddr, code_size; /* the executable segment in it; ks_inst.pc counts from here */
    uint8_t *code;                  /* image + its offset */
    ks_inst *inst;
    uint32_t inst_count;
    uint32_t *index_of; /* by pc / 4: instruction index, KS_NO_TARGET in the middle of one */
    ks_kernel *kernel;
    uint32_t kernel_count;
    ks_symbol *symbol;
    uint32_t symbol_count;
    void *lines; /* object_line.c's, opened when first asked */
    uint8_t *elf; /* the file's own bytes (a copy), for lines and text */
    size_t elf_size;
    bool registered; /* with ks_register */
} ks_object;

/* An error text of the calling thread: "place: what: remedy". */
#define KS_TEXT 1024
typedef struct ks_error {
    int hip; /* hipError_t */
    char text[KS_TEXT];
} ks_error;
/* Loads an ELF (not a bundle).  size may be unknown (SIZE_MAX): then ELF's own fields bound it.  NULL and
   an error for anything damaged, foreign or unknown. Thread-safe. */
ks_object *ks_object_load(const void *elf, size_t size, ks_arch device, ks_error *);
void ks_object_free(ks_object *);
const ks_kernel *ks_object_kernel(const ks_object *, const char *name);
const ks_symbol *ks_object_symbol(const ks_object *, const char *name);
/* "file:line" of a pc, "" where the object has no lines; disassembled text of an instruction. Thread-safe. */
void ks_object_line(ks_object *, uint32_t pc, char *out, size_t size);
void ks_object_text(ks_object *, uint32_t pc, char *out, size_t size);
/* decode.c: fills object->inst and index_of from object->code. An instruction that LLVM or the tables do not
   know becomes one whose run reports it when (and only if) it is reached. */
bool ks_decode(ks_object *, ks_error *);
const ks_op *ks_find_op(const char *name, size_t length);
const ks_op *ks_op_at(size_t index); /* every op once; NULL after the last */
/* ops.c gathers the tables: those of vec_*.c for this CPU (vec.h), scalar.c's and memory.c's. */
ks_op_table ks_scalar_ops(void), ks_flow_ops(void), ks_smem_ops(void), ks_memory_ops(void);

/* ---- Execution ---- */
typedef struct ks_counters { /* of one launch: see kilnsim_cost for units */
    uint64_t count[KS_CLASS_COUNT];
    uint64_t mfma_cycles, lds_cycles, lds_ideal_cycles, segments, segments_needed, global_bytes;
} ks_counters;

/* Undefinedness is kept a bit per bit, as in Valgrind's memcheck; `clean` says that a register has none, and
   then its undefined rows are not looked at. */
struct ks_wave {
    uint32_t v[KS_VREGS][KS_LANES] __attribute__((aligned(64)));
    uint32_t exec_row[KS_LANES] __attribute__((aligned(64))); /* ~0 or 0 a lane: follows EXEC (ks_exec_set) */
    uint32_t s[KS_SREGS];
    bool scc;
    uint32_t mode;
    uint32_t ip; /* index of the next instruction */
    uint64_t live; /* EXEC at launch: the lanes that exist */
    /* undefined bits */
    bool undefined_checked;
    uint32_t (*vu)[KS_LANES];      /* [KS_VREGS], allocated with the wave */
    uint8_t v_clean[KS_VREGS];
    uint32_t v_origin[KS_VREGS], s_origin[KS_SREGS]; /* pc of the instruction that first brought it in */
    uint32_t su[KS_SREGS];
    bool scc_u;
    uint32_t scc_origin; /* as s_origin; KS_NO_ORIGIN: not read since the launch */
    /* who and where */
    ks_group *group;
    ks_launch *launch;
    const ks_inst *inst; /* being executed */
    uint32_t index;      /* in its workgroup */
    enum { KS_RUNNING, KS_AT_BARRIER, KS_YIELDED, KS_AT_GWS, KS_ENDED } state;
    struct { /* KS_AT_GWS: gws.c */
        uint8_t resource;
        bool semaphore, flag;
    } gws;
    struct ks_poll { /* group.c: the last value of a load that others may change, and how often it was the same */
        uint32_t pc, hash;
        unsigned times;
    } poll[4];
    uint8_t *scratch, *scratch_undefined; /* lane l's bytes start at l * launch->scratch */
    uint64_t missed_lanes; /* that were off at a barrier: ended, or ks_barrier_missed reports it */
    const ks_inst *missed; /* that barrier */
    uint64_t executed, slept; /* instructions; cycles of s_sleep */
    bool gpr_index_on; /* s_set_gpr_idx_on; M0 has index and mode */
    uint32_t aux;      /* left by the last memory op for the trace: LDS cycles or segments */
    struct ks_waits *waits;  /* check_wait.c */
    struct ks_trace *trace;  /* cost.c; NULL: this wave is not traced */
    struct ks_lds_log *lds_log; /* check_lds.c: LDS accesses that no wait has ended yet */
    uint32_t temp[12][32][KS_LANES] __attribute__((aligned(64))); /* vec_lanes.c */
};
struct ks_group {
    ks_launch *launch;
    uint32_t id[3];
    uint64_t index; /* linear, x fastest */
    int stop;       /* hipError_t that ended it; 0: go on */
    bool moved;     /* a wave ran in the last step */
    uint32_t wave_count;
    ks_wave **wave;
    uint8_t *lds; /* KS_MAX_LDS bytes, launch->lds in use; poisoned at start */
    uint32_t epoch; /* barriers passed */
    struct ks_lds_shadow *shadow; /* check_lds.c */
    struct ks_replay *replay;     /* replay.c */
    ks_counters counters;
};
enum { KS_GWS_RESOURCES = 64 };
typedef struct ks_gws { /* a resource of global wave sync: a barrier or a semaphore */
    uint32_t counter, waiting; /* waves that a semaphore holds */
    bool flag;
} ks_gws;
struct ks_launch {
    const ks_kernel *kernel;
    ks_object *object;
    uint32_t grid[3], block[3]; /* workgroups; work-items of one */
    uint32_t lds, scratch;      /* bytes: of a workgroup (fixed + dynamic), of a lane */
    bool cooperative;           /* all its workgroups are resident at once */
    ks_gws gws[KS_GWS_RESOURCES];
    const uint8_t *kernarg;
    uint64_t packet[8];         /* hsa_kernel_dispatch_packet_t */
    uint64_t queue[32];         /* an amd_queue_t with the apertures */
    _Atomic uint64_t stop;      /* of the first workgroup in order that ended it: index << 16 | hipError_t; 0: go on */
    ks_counters counters;
    struct ks_cost *cost;       /* not NULL: price it */
};

/* Runs to the end or to the first error; the hipError_t (0: fine).  cooperative: all workgroups at once, which the
   caller has found to fit the device.  launch.c */
int ks_launch_run(const ks_kernel *, const uint32_t grid[3], const uint32_t block[3], uint32_t dynamic_lds,
                  const void *kernarg, bool cooperative, ks_error *);
/* Ends this wave's workgroup, and all that come after it in order (earlier ones run on, so that the result does
   not depend on threads): ks_report where findings are errors; whoever cannot go on. */
void ks_stop(ks_wave *, int hip);
/* Fills the hidden arguments of kernel->args in kernarg (kernarg_size bytes): sizes of the launch. */
void ks_fill_hidden(const ks_kernel *, const uint32_t grid[3], const uint32_t block[3], uint32_t dynamic_lds,
                    void *kernarg);
/* Those whose values are addresses: whether a kernel has it; its value in kernarg; its value in a launch, 0: none. */
bool ks_has_hidden(const ks_kernel *, ks_hidden);
void ks_set_hidden(const ks_kernel *, ks_hidden, void *kernarg, uint64_t value);
uint64_t ks_get_hidden(const ks_launch *, ks_hidden);
/* These lanes are about to do what others can see: a finding where one was off at a barrier, and so has not ended. */
void ks_barrier_missed(ks_wave *, uint64_t lanes);
/* What a cooperative launch's kernel knows of its grid: ROCm's device libraries read it (ockl's mg_info), where they do
   not use global wave sync. */
typedef struct ks_grid_sync {
    uint64_t between_grids; /* of several devices: none */
    uint32_t grid, grids;   /* 0: the launch is of one device */
    uint64_t items_before, items;
    uint32_t arrived, unused;
    uint32_t groups, padding;
} ks_grid_sync;
/* Fills the hidden argument of a cooperative launch and *sync, which must live as long as kernarg. */
void ks_fill_cooperative(const ks_kernel *, const uint32_t grid[3], ks_grid_sync *sync, void *kernarg);
/* gws.c: whether a wave that waits for global wave sync may go on. */
bool ks_gws_ready(ks_wave *);
/* A wave that reads what others may change: those that see the same again and again let others run first.  group.c */
void ks_polled(ks_wave *, const ks_inst *, const uint32_t *rows, unsigned count, uint64_t lanes);
/* What to do about an access outside of every allocation: the usual, or what a hidden argument that is null asks for. */
const char *ks_remedy(const ks_launch *, uint64_t address, const char *usual);
void ks_exec_set(ks_wave *, uint64_t exec); /* EXEC and exec_row */
/* Vector registers that the descriptor gives a wave: v0 on, a0 on. */
static inline unsigned ks_vgprs_of(const ks_kernel *k)
{
    unsigned all = ((k->rsrc1 & 63) + 1) * 8, split = ((k->rsrc3 & 63) + 1) * 4;
    return all < split ? all : split;
}
static inline unsigned ks_agprs_of(const ks_kernel *k)
{
    unsigned left = ((k->rsrc1 & 63) + 1) * 8 - ks_vgprs_of(k);
    return left < KS_ACC ? left : KS_ACC;
}
static inline uint64_t ks_s64(const ks_wave *w, unsigned reg)
{
    return (uint64_t)w->s[reg + 1] << 32 | w->s[reg];
}
static inline uint64_t ks_exec_of(const ks_wave *w)
{
    return ks_s64(w, KS_EXEC);
}
/* scalar.c: value of a scalar operand (SGPR, constant, special), its undefined bits in *undefined. */
uint64_t ks_scalar_read(ks_wave *, const ks_operand *, uint64_t *undefined);
/* Writes count (1, 2) registers from reg on, EXEC included (undefined bits for it are a finding).  origin matters
   where undefined is not 0: s_origin or v_origin of what it came from, KS_NO_ORIGIN: this instruction. */
void ks_scalar_write(ks_wave *, unsigned reg, unsigned count, uint64_t value, uint64_t undefined, uint32_t origin);
/* Rows of a vector or scalar operand for a memory op: row r is at + 64 * r; scalars and constants are spread
   into temp.  undefined: rows of undefined bits or NULL where there are none.  rows.c */
const uint32_t *ks_rows_read(ks_wave *, const ks_operand *, unsigned slot, const uint32_t **undefined);
/* Marks registers that a memory op has just written under EXEC: undefined NULL or rows of undefined bits. */
void ks_rows_written(ks_wave *, unsigned reg, unsigned count, const uint32_t *undefined, uint64_t lanes);

/* ---- Memory (alloc.c, memory*.c) ---- */
/* Device memory is host memory with guard space; every byte of it belongs to an allocation or a finding. */
typedef enum ks_memory_kind { KS_DEVICE, KS_HOST, KS_MANAGED, KS_CODE, KS_KERNARG, KS_HEAP } ks_memory_kind;
typedef struct ks_range {
    uint64_t begin, end; /* bytes [begin, end) */
    uint8_t kind;
    bool freed;
    uint8_t owner;  /* ks_note's: device + 1, 0: nobody said */
    uint32_t id;    /* counts allocations: "allocation 12 of 4096 bytes" */
    uint32_t flags; /* ks_note's */
    intptr_t shadow; /* from a byte to its undefined bits; 0: all are defined (options.unwritten) */
} ks_range;
/* Host code has written these bytes, or copied them from others, if they are device memory. */
void ks_memory_written(void *, size_t size);
void ks_memory_copied(void *to, const void *from, size_t size);
void *ks_alloc(size_t size, size_t align, ks_memory_kind); /* NULL: no memory */
/* 0; else hipErrorInvalidValue, with a finding for a double free or an address in the middle of one. */
int ks_free(void *, ks_memory_kind);
bool ks_register(void *, size_t size, ks_memory_kind); /* memory of others: code images, hipHostRegister */
void ks_unregister(void *);
bool ks_find_range(uint64_t address, ks_range *out); /* the nearest one when none holds it: false */
/* Of the block that begins there: which device it counts for, and what the program asked for. */
void ks_note(const void *, unsigned device, uint32_t flags);
size_t ks_alloc_live(void);                           /* bytes now allocated by the program */
size_t ks_alloc_live_on(unsigned device);             /* of those, by ks_note */
void ks_alloc_leaks(void);                            /* a finding for each that is left */

/* ---- What kernels ask of the host while they run (hostcall.c, hostcall_printf.c) ---- */
/* The value of a launch's hidden_hostcall_buffer, NULL: no memory; and back when it has ended. */
void *ks_hostcall_take(void);
void ks_hostcall_give(void *);
/* The value of hidden_heap_v1: a device's, made when first asked for. NULL: no memory. */
void *ks_heap(unsigned device);
/* How much malloc in kernels gives out, after it has been raised (0: it has not). */
size_t ks_heap_limit(size_t raise);
/* Answers what the wave's launch has asked: its interrupt has arrived. */
void ks_hostcall_answer(ks_wave *, const ks_inst *);
/* Prints a message (its words without the first, the control word) in one piece; characters, or -1. */
int64_t ks_hostcall_print(FILE *, const uint64_t *word, size_t count);

/* ---- Findings (report.c) ---- */
/* kind (kilnsim.h has the list) at an instruction of a wave.  lane < 0: no lane; address 0: none.  Repeated
   findings of one kind at one pc of one kernel are counted, not repeated.  A kind that is switched off is
   dropped. Text: what and the remedy, one line.  Where it is an error, the workgroup is stopped (ks_stop). */
void ks_report(ks_wave *, const ks_inst *, kilnsim_kind, int lane, uint64_t address, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* When every workgroup of a launch has ended (launch.c): prints and files its findings in a fixed order; the hipError_t
   of the first one that is an error (0: none, or options.errors is off). */
int ks_report_end(ks_launch *);
/* A finding that no instruction made (double free, leak). */
void ks_report_host(kilnsim_kind, uint64_t address, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* A kernel's name for people: demangled, shortened.  name.c */
enum { KS_NAME = 128 };
void ks_name_text(const char *name, char out[KS_NAME]);
void ks_fail(ks_error *, int hip, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* ---- Checks ---- */
/* check_wait.c: before an instruction runs: its registers are not being loaded, its hazards are waited for; and it
   takes note of what the instruction starts.  Called for each instruction where waits or hazards are checked. */
bool ks_waits_create(ks_wave *); /* false: no memory */
void ks_waits_free(ks_wave *);
void ks_check_issue(ks_wave *, const ks_inst *);
/* The number of LDS-counter (lgkmcnt) and memory-counter (vmcnt) events of this wave that have been issued, and up to
   which number they are known to be finished. check_lds.c compares at barriers. */
typedef struct ks_progress {
    uint64_t lgkm_issued, lgkm_done, vm_issued, vm_done;
} ks_progress;
ks_progress ks_wave_progress(const ks_wave *);
/* check_lds.c: shadow of a workgroup's LDS. */
typedef struct ks_lds_access {
    const uint32_t *address; /* per lane, bytes */
    uint32_t bytes;          /* a lane accesses */
    uint64_t lanes;
    bool write, atomic, by_vm; /* by_vm: an LDS-direct load, ended by vmcnt */
    const uint32_t *data;      /* rows to be written: two lanes must not write different values; NULL: not looked at */
} ks_lds_access;
/* check_wait.c: bytes that a load of this wave is still bringing into LDS. */
void ks_check_direct(ks_wave *, const ks_inst *, const ks_lds_access *);
bool ks_lds_shadow_create(ks_group *);
void ks_lds_shadow_free(ks_group *);
void ks_lds_check(ks_wave *, const ks_inst *, const ks_lds_access *); /* bounds already checked: races */
unsigned ks_lds_part(const ks_wave *); /* which of its instruction's accesses was checked last */
void ks_lds_barrier_arrive(ks_wave *);  /* s_barrier is about to be passed by this wave */
void ks_lds_barrier_passed(ks_group *); /* by all: a new epoch */
uint8_t *ks_lds_undefined(ks_group *); /* a byte per LDS byte: its undefined bits */

/* ---- Cost (cost.c) ---- */
/* NULL where launches are not priced.  Of a group that starts: which waves are traced. After the last has ended:
   the model, the result. */
struct ks_cost *ks_cost_begin(const ks_launch *);
void ks_cost_group(ks_group *);
void ks_cost_end(ks_launch *, int error);
void ks_trace_add(ks_wave *, const ks_inst *); /* after it ran; reads w->aux */

/* ---- Options: KILN_SIM="races=off,limit=1e9"; options.c has the table ---- */
enum { KS_MOST_DEVICES = 8 };
typedef struct ks_options {
    bool check[KILNSIM_KIND_COUNT];
    uint64_t limit;   /* instructions of one wave */
    unsigned threads; /* 0: as many as there are cores */
    unsigned units;   /* of a device; 0: the chip's own */
    bool errors;      /* findings make the launch fail */
    bool cost;        /* every launch is priced and printed */
    uint64_t latency; /* of global memory, of launches that are priced, in cycles; 0: cost.h's */
    const char *log;  /* where findings go: a path; NULL: standard error; "off" */
    const char *llvm; /* path of libLLVM */
    const char *variant; /* of the vector unit's code: base, v3, v4; NULL or one that this CPU lacks: the best */
    bool strict_alignment; /* plain accesses must be aligned too (memory_check.c): KILN_SIM=alignment=strict */
    bool unwritten;    /* device memory is undefined until it is written */
    size_t quarantine; /* bytes of freed memory kept back, so that its use is found */
    int arch;          /* the only kind's ks_arch; -1: there is one of each */
    unsigned devices;  /* of the only kind (gfx942 where arch is -1); 0: as arch says */
    size_t heap;       /* bytes that malloc in kernels gives out, on all devices together */
} ks_options;
const ks_options *ks_options_get(void); /* read from the environment once; a bad one stops hipInit with its text */
const char *ks_options_error(void);     /* NULL: none */
#endif
