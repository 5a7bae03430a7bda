// SPDX-License-Identifier: MIT
// A module: the compiled instances of one target as a constant table in a shared object.
// kiln-gen writes it (module.c), the runtime reads it.  All text is an offset into one string pool and all code an
// offset into one blob, so that the table needs no relocation per row; rows are sorted by (key, name).
// After linking, `kiln-gen --seal` appends a kiln_seal: the runtime verifies it before dlopen, so that a damaged
// file is refused by name and never executed.  The blob of code objects is outside the seal's hash; each object has
// its own, verified when it is first loaded.
#ifndef KILN_MODULE_H
#define KILN_MODULE_H
#include "kiln_args.h"
#include "kiln_expr.h"

#define KILN_MODULE_SYMBOL "kiln_module_table"
#define KILN_MODULE_MAGIC 0x4b494c4e4d4f4431ull /* "KILNMOD1" */
#define KILN_SEAL_MAGIC 0x4b494c4e5345414cull   /* "KILNSEAL" */
enum { KILN_ABI_VERSION = 4, KILN_MAX_SLOTS = 48, KILN_MAX_STAGES = 2 };

typedef uint32_t kiln_str; /* offset of a 0-terminated string in the pool; 0 is "" */

/* What a schedule's rules, geometry and cost see of a problem (the `p` of its Lua functions). */
typedef struct kiln_shape {
    int64_t m, n, k, batch;
    int64_t lda, ldb, lde;
    int64_t align_a, align_b, align_e, align_d; /* largest power of two (<= 4096) in bytes that divides the base, the
                                                   row pitch and the batch stride; align_d: least over full Ds (4096
                                                   where there are none) */
    int64_t units;                              /* compute units, or host threads */
} kiln_shape;

typedef struct kiln_stage_plan {
    uint32_t grid[3];    /* workgroups; a zero: the stage is not launched */
    uint32_t block[3];   /* threads a workgroup */
    uint32_t cluster[3]; /* workgroups a cluster; 1,1,1 = none */
    uint32_t lds;        /* dynamic LDS / shared memory in bytes */
    uint32_t early;      /* not 0: may begin before the kernel ahead of it in the stream has ended, where the driver can
                            do that; the kernel itself waits before it touches memory */
} kiln_stage_plan;

typedef struct kiln_plan {
    uint32_t stages;     /* kernels launched one after the other on the stream; 0: nothing to do */
    kiln_stage_plan stage[KILN_MAX_STAGES];
} kiln_plan;

/* One schedule on one target: functions the generator lowers from the schedule's Lua.  t: the row's slots. */
typedef struct kiln_schedule {
    kiln_str name;
    uint32_t rules;                                               /* problem-time rules */
    const kiln_str *rule_text;                                    /* the sentence of each */
    uint32_t slots, tunables;                                     /* used entries of t; the first are tunables */
    const kiln_str *slot_name;
    uint32_t (*check)(const kiln_shape *, const int32_t *t);      /* 0: legal, else 1 + the first rule broken */
    void (*plan)(const kiln_shape *, const int32_t *t, kiln_plan *); /* plan comes zeroed */
    uint64_t (*workspace)(const kiln_shape *, const int32_t *t);  /* bytes; saturates at UINT64_MAX */
    double (*cost)(const kiln_shape *, const int32_t *t);         /* modelled microseconds */
} kiln_schedule;

/* A TMA tensor map that the runtime encodes for a launch (NVIDIA sm_90 and later).  An operand that every batch shares
 * (stride 0) has one batch: read coordinate 0.  With K = 0 a map is all zero: nothing may be read through it. */
typedef enum kiln_operand { KILN_OP_A, KILN_OP_B0, KILN_OP_B1, KILN_OP_E, KILN_OP_D0 /* .. D7 */ } kiln_operand;
typedef struct kiln_map {
    uint8_t operand;      /* kiln_operand */
    uint8_t swizzle;      /* bytes: 0, 32, 64, 128 */
    uint16_t box_inner;   /* elements along the contiguous dimension */
    uint16_t box_outer;   /* rows (columns if column-major) */
    uint8_t clip;         /* 1: box_outer is at most as many as the operand has */
    uint8_t promote;      /* what the L2 cache fetches at least: 0 no more than asked for, 1 64, 2 128, 3 256 bytes */
} kiln_map;               /* rank 3: contiguous, strided, batch */

typedef struct kiln_d_row {
    kiln_str name;
    uint8_t kind;    /* kiln_dkind */
    uint8_t layout;  /* kiln_layout of a full input, fixed or (KILN_LAYOUT_NONE) E's */
    uint8_t type;    /* kiln_dtype, or 0x80 | 'a' 'b' 'c' 'e': same as A, B, accumulator, E */
    uint8_t reserved;
} kiln_d_row;

typedef struct kiln_expr_ref { uint32_t first, count; } kiln_expr_ref; /* into nodes; count 0 = none */

typedef struct kiln_op_row {
    uint64_t hash;            /* of the op's meaning: two modules may share an op's name only with equal hashes */
    kiln_str name, file;      /* file: as shown in messages */
    uint32_t line;
    uint8_t nd, nscalars, products, reserved;
    kiln_d_row d[KILN_MAX_D]; /* sorted by name: the order of kiln_problem.d and kiln_args.d */
    kiln_str scalar[KILN_MAX_SCALARS];
    kiln_str b_name[KILN_MAX_B];
    kiln_expr_ref epilogue, a_op, b_op;
    float rtol;               /* check.rtol; 0 = none given */
    uint32_t first_shape, shapes; /* check.shapes: triples in module->shapes */
} kiln_op_row;

typedef struct kiln_row {
    uint64_t key;             /* kiln_key() of the functional key */
    uint64_t code_offset, code_hash; /* XXH3_64bits of the object */
    uint32_t code_size;
    kiln_str name;            /* "gfx942/bias_relu/f16_f16_f16/rcr/simt_64x64x16" */
    kiln_str symbol[KILN_MAX_STAGES];
    uint32_t op, schedule;    /* positions in ops and schedules */
    uint32_t host_fn;         /* position in host_fns (host target) */
    uint32_t first_map;       /* position in maps */
    uint8_t maps;
    uint8_t a, b, e, acc;     /* kiln_dtype */
    uint8_t layout_a, layout_b, layout_e;
    int32_t t[KILN_MAX_SLOTS]; /* tunables, then derived values: schedule->slot_name */
} kiln_row;

/* Host kernel: computes the whole problem with args->units threads; returns when done. */
typedef void (*kiln_host_fn)(const kiln_gemm_args *);

typedef struct kiln_module {
    uint64_t magic;
    uint32_t abi_version, size;            /* sizeof(kiln_module) */
    uint32_t row_size, op_size;            /* sizeof(kiln_row), sizeof(kiln_op_row) */
    kiln_str target, version;              /* "gfx942"; generator version */
    uint64_t id;                           /* content id of the module */
    uint32_t nrows, nops, nschedules, nnodes, nmaps, nhost_fns, nshapes, reserved;
    uint64_t strings_size, code_size;
    const kiln_row *rows;
    const kiln_op_row *ops;
    const kiln_schedule *schedules;
    const kiln_xnode *nodes;
    const kiln_map *map;
    const kiln_host_fn *host_fns;
    const int64_t (*shapes)[3];
    const char *strings;
    const uint8_t *code;
} kiln_module;

/* Last bytes of a sealed module file. hash = XXH3_64bits over [0, code_offset), [code_offset+code_size, seal) and the seal's
   first two fields. */
typedef struct kiln_seal {
    uint64_t code_offset, code_size; /* the blob's place in the file; 0, 0 where there is none */
    uint64_t hash, magic;
} kiln_seal;

/* Functional key: FNV-1a over "op\0" and the bytes a b e acc layout_a layout_b layout_e.  D kinds, types and layouts
 * are the op's, and an op's name has one meaning in a process. */
static inline uint64_t kiln_key(const char *op, const uint8_t sig[7])
{
    uint64_t h = 0xcbf29ce484222325ull;
    do h = (h ^ (uint8_t)*op) * 0x100000001b3ull;
    while (*op++);
    for (int i = 0; i < 7; i++) h = (h ^ sig[i]) * 0x100000001b3ull;
    return h ^ (h >> 29);
}
#endif
