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
enum {
    KILN_ABI_VERSION = 17,
    KILN_MAX_SLOTS = 48,
    KILN_MAX_STAGES = 4,
    KILN_MAX_PARTS = 16,    /* of a cost */
    KILN_MAX_OWN = 4,       /* different tensors of a family's own: A, B, E */
    KILN_MAX_FUNCTIONS = 4, /* of an op: the main one, element operators, of a block's sum */
    KILN_MAX_PLACES = 4,    /* of an element: row, column, plane, batch */
    KILN_MAX_OPTIONS = 4,   /* words that an op chooses: a mask */
    KILN_MAX_FIXED = 2,     /* sizes that a kernel is compiled for */
    KILN_MAX_SIG = KILN_MAX_TYPES + KILN_MAX_LAYOUTS + 1,
    KILN_NOWHERE = 0xff     /* no position */
};

typedef uint32_t kiln_str; /* offset of a 0-terminated string in the pool; 0 is "" */

/* What a schedule's rules, geometry and cost see of a problem (the `p` of its Lua functions). */
typedef struct kiln_shape {
    int64_t size[KILN_MAX_SIZES + 1]; /* by position in the family's `sizes`; [KILN_BATCH]: batch */
    int64_t ld[KILN_MAX_OWN];         /* of the family's own tensors, in elements */
    int64_t plane[KILN_MAX_OWN];      /* from one of its planes to the next; 0: the same one, or it has none */
    int64_t align[KILN_MAX_OWN];      /* largest power of two (<= 4096) in bytes that divides the base, the row pitch and
                                         the strides of planes and of batches */
    int64_t align_d;                  /* least of that over full extra tensors; 4096 where there are none */
    int64_t vector;                   /* least of it in elements of the tensor, over the same */
    int64_t units;                    /* compute units, or host threads */
    int64_t gflops, gops;             /* for `cost` alone: what a host thread can do in a nanosecond, operations on f32 and
                                         on i8 as a product counts them; 0: not known, or no host */
    int64_t gbps;                     /* for `cost` alone: what a GPU's memory moves, GB/s, of its clock and width; 0: not known */
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

/* What makes up a cost, for people who ask why. */
typedef enum kiln_part_kind {
    KILN_PART_TIME,  /* microseconds that are part of the cost, or that another part hides */
    KILN_PART_LEAST, /* microseconds that no kernel of the problem can stay below */
    KILN_PART_COUNT, /* how many of what `name` says */
    KILN_PART_KINDS
} kiln_part_kind;
typedef struct kiln_part {
    kiln_str name;
    uint32_t kind; /* kiln_part_kind */
} kiln_part;

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
    uint32_t nparts;                                              /* at most KILN_MAX_PARTS */
    const kiln_part *part;
    void (*parts)(const kiln_shape *, const int32_t *t, double *); /* the value of each; NULL where there are none */
} kiln_schedule;

/* Rows of a map's box: box_outer; at most as many as the operand has; those of its last box, which may be fewer. */
enum { KILN_CLIP_NOT, KILN_CLIP_ALL, KILN_CLIP_REST };

/* A TMA tensor map that the runtime encodes for a launch (NVIDIA sm_90 and later).  An operand that every batch shares
 * (stride 0) has one batch: read coordinate 0.  Of an operand without elements (K = 0), and of one that no map takes
 * where the kernel can do without, a map is all zero: nothing may be read or written through it. */
typedef struct kiln_map {
    uint8_t operand;      /* position in the op's tensors */
    uint8_t swizzle;      /* bytes: 0, 32, 64, 128 */
    uint16_t box_inner;   /* elements along the contiguous dimension; more than are swizzled: whole panels of these */
    uint16_t box_outer;   /* rows (columns if column-major) */
    uint8_t clip;         /* KILN_CLIP_ */
    uint8_t promote;      /* what the L2 cache fetches at least: 0 no more than asked for, 1 64, 2 128, 3 256 bytes */
    uint16_t box_planes;  /* planes, of an operand that has them; else 0 */
    uint8_t optional;     /* 1: an operand that no map takes is neither refused nor copied */
    uint8_t gathered;     /* 1: its rows are gathered first, into the workspace, by the op's index array (KILN_INDEX_ROW) */
} kiln_map;               /* rank 3 to 5: contiguous, strided, of panels panel, with planes plane, batch */

/* A tensor of an op, with all that the family's signature and the op's description say of it.  Its matrix has
 * ceil(size[rows] / row_block) rows and ceil(size[cols] / col_block) columns; KILN_NOWHERE: one.
 * Arguments.  A kernel's first parameter is a struct of, in this order,
 *   pointers         family->pointers of them, at tensor->pointer
 *   workspace        one more pointer
 *   leading dimensions, then batch strides, then, where the family has planes, their strides    long long
 *                    [family->pitches] each, at tensor->pitch; a leading dimension is 0 where the tensor is no matrix or
 *                    all rows are one, a stride 0 where every batch, every plane reads the same
 *   sizes            int [family->nsizes + 1], in the family's order, batch last
 *   scalars          float [KILN_MAX_SCALARS]
 *   units, reserved  int each: compute units of the device; for the host, threads to use
 * and no padding but at its end. */
typedef struct kiln_tensor_row {
    kiln_str name;      /* "bias"; of the family's own as messages call them: "A", "gate" */
    uint8_t at;         /* position in kiln_problem.tensor: two products' B's share one */
    uint8_t arg;        /* position in kiln_args.tensor */
    uint8_t own;        /* position among the family's own tensors, or KILN_NOWHERE */
    uint8_t kind;       /* kiln_dkind; KILN_D_NONE: the family's own */
    uint8_t type;       /* kiln_dtype, or 0x80 | position in the op's types */
    uint8_t layout;     /* kiln_layout, or 0x80 | position in the signature's layouts; 0: row-major */
    uint8_t rows, cols; /* positions in sizes, or KILN_NOWHERE */
    uint8_t pointer, pitch; /* positions in a kernel's arguments */
    uint8_t out;        /* 1: written, no input */
    uint8_t planes;     /* position in sizes: it is so many such matrices; KILN_NOWHERE: one */
    uint16_t row_block, col_block; /* 1: an element for each row, column */
    uint16_t result;    /* of an output: node of the main function's expression; 0 where the family's schedules make it */
    uint16_t page;      /* rows of each matrix, whatever the size says: it is in pages; 0: not so */
    uint8_t batches;    /* 0: as many as the problem has; else 1 + the position of the size that they are counted by */
    uint8_t beyond;     /* rows beside those of the size */
    uint8_t index;      /* kiln_index, of an index array */
    uint8_t within;     /* of one: position of the size that its numbers stay within */
} kiln_tensor_row;
enum { KILN_ONE_BATCH = 0xff }; /* kiln_tensor_row.batches: all batches' rows are in one matrix, or it has no batches */

/* One of the types of a signature.  Where a problem leaves it out it is `integer` if the types in `of` all are integers,
 * else `real`; KILN_DTYPE_NONE: it may not be left out. */
typedef struct kiln_type_row {
    kiln_str name;          /* "a", "acc" */
    uint8_t integer, real, of;
    uint8_t tensor;         /* the family's own tensor that has it, or KILN_NOWHERE: kiln_problem.acc */
} kiln_type_row;

/* A family's signature: templates/FAMILY/family.lua as data. */
typedef struct kiln_family {
    kiln_str name;                 /* "gemm" */
    kiln_str size[KILN_MAX_SIZES]; /* "m", "n", "k"; the i-th has position KILN_POSITION(i) wherever there are positions */
    kiln_str option[KILN_MAX_OPTIONS]; /* "mask" */
    kiln_str own[KILN_MAX_OWN];    /* "a", "b", "e": keys of a problem's text are ld, s, align and the name */
    kiln_str function[KILN_MAX_FUNCTIONS]; /* "epilogue": what instance files call them; "": no more */
    kiln_str place[KILN_MAX_PLACES]; /* what `at` calls an element's row, column and, with planes, plane and batch */
    kiln_str prefix;               /* what stands before an extra tensor's name there: "d." */
    kiln_str example;              /* a problem as text, for messages */
    kiln_type_row type[KILN_MAX_TYPES]; /* of the signature; ntypes = 0: each op names its own */
    uint8_t nsizes, nown, ntypes, nlayouts;
    uint8_t rows, cols;            /* the sizes that the kinds of tensors mean */
    uint8_t planes;                /* the size that the op's own matrices are counted by, or KILN_NOWHERE */
    uint8_t groups;                /* with planes: they are a multiple of this size; KILN_NOWHERE: none */
    uint8_t noptions, nfixed;
    uint8_t fixed[KILN_MAX_FIXED]; /* sizes that ops list: the signature ends in the row's position in op->fixed */
    uint16_t empty;                /* bits of sizes: one that is 0 leaves nothing to do */
    uint16_t independent;          /* bits of sizes: elements along them do not depend on each other */
    uint8_t summed;                /* the size that products are summed over, or KILN_NOWHERE: operations are
                                      2 * rows * cols * summed * products */
    uint8_t at[KILN_MAX_OWN];      /* of the own tensors: position in kiln_problem.tensor */
    uint8_t layout_of[KILN_MAX_LAYOUTS]; /* own tensor whose layout a letter is */
    uint8_t extra, most_extra;     /* first position of extra tensors in kiln_problem.tensor and kiln_args.tensor; most */
    uint8_t pointers, pitches;     /* of a kernel's arguments */
    uint8_t computes;              /* 1: outputs are the schedules' to make, no nodes of the main function */
    uint8_t reserved;
    uint32_t args_size;            /* bytes of a kernel's arguments */
    uint32_t first_shape, quick, shapes; /* sizes to verify with beside common ones, from that number in module->shapes on,
                                            kiln_shape_step(nsizes) each: those for a quick run come first */
} kiln_family;

typedef struct kiln_expr_ref { uint32_t first, count; } kiln_expr_ref; /* into nodes; count 0 = none */

typedef struct kiln_op_row {
    uint64_t hash;            /* of the op's meaning: an op's name has one meaning in a context */
    kiln_str name, file;      /* file: as shown in messages */
    uint32_t line;
    uint8_t family;           /* position in families */
    uint8_t ntensors, nscalars, products;
    uint8_t ntypes;           /* of its signature, which is these and then the family's layouts */
    uint8_t uses_at;          /* its values depend on where an element is */
    uint16_t sizes;           /* bits of the sizes that it has, batch aside */
    kiln_str batch;           /* what its problems call batch: "batch", "groups" */
    kiln_str option[KILN_MAX_OPTIONS]; /* the word chosen of each of the family's; "": none */
    kiln_str type[KILN_MAX_TYPES]; /* names */
    kiln_tensor_row tensor[KILN_MAX_TENSORS]; /* the family's own inputs, its own outputs, then the op's inputs and its
                                                 outputs, each sorted by name */
    kiln_str scalar[KILN_MAX_SCALARS];
    kiln_expr_ref function[KILN_MAX_FUNCTIONS]; /* the main one, then the family's others.  Their leaves `d` count the
                                                   op's inputs, in order of their names.  Of a block's sum: the factor */
    kiln_expr_ref more[KILN_MAX_B - 1][KILN_MAX_FUNCTIONS]; /* those that each product has of its own, of the others */
    float rtol;               /* check.rtol; 0 = none given */
    uint32_t first_shape, shapes; /* check.shapes, as the family's */
    uint32_t first_fixed, nfixed; /* rows of the family's fixed sizes, KILN_MAX_FIXED numbers each, in module->shapes */
} kiln_op_row;

typedef struct kiln_row {
    uint64_t key;             /* kiln_key_of the op's name and sig */
    uint64_t code_offset, code_hash; /* XXH3_64bits of the object, which other rows' kernels may be in, too; a host object
                                        has no offset and size */
    uint64_t content;         /* of the row's own machine code */
    uint32_t code_size;
    kiln_str name;            /* "gfx942/bias_relu/f16_f16_f16/rcr/simt_64x64x16" */
    kiln_str symbol[KILN_MAX_STAGES];
    uint32_t op, schedule;    /* positions in ops and schedules */
    uint32_t host_fn;         /* position in host_fns (host target) */
    uint32_t first_map;       /* position in maps */
    uint8_t maps;
    uint8_t realigns;         /* 1: what none of its maps takes is copied, by the module's kiln_realign */
    uint8_t sig[KILN_MAX_SIG]; /* kiln_dtype of each of the op's types, then kiln_layout of the family's layouts, then with
                                  fixed sizes the row's position */
    int32_t t[KILN_MAX_SLOTS]; /* tunables, then derived values: schedule->slot_name */
} kiln_row;

/* Host kernel: computes the whole problem with at most args' `units` threads of `each`; returns when done. */
typedef void (*kiln_host_fn)(const void *args, kiln_each each);

/* A code object that is no row's. */
typedef struct kiln_object {
    uint64_t offset, hash; /* in the blob; XXH3_64bits */
    uint32_t size;         /* 0: there is none */
} kiln_object;

typedef struct kiln_module {
    uint64_t magic;
    uint32_t abi_version, size;            /* sizeof(kiln_module) */
    uint32_t row_size, op_size;            /* sizeof(kiln_row), sizeof(kiln_op_row) */
    uint32_t family_size, nfamilies;       /* sizeof(kiln_family) */
    kiln_str target, version;              /* "gfx942"; generator version */
    uint64_t id;                           /* content id of the module */
    uint32_t nrows, nops, nschedules, nnodes, nmaps, nhost_fns, nshapes;
    uint32_t units;                        /* of the machine that the target's file describes; 0: it does not say */
    uint64_t strings_size, code_size;
    kiln_object realign;                   /* of the kernel KILN_REALIGN_SYMBOL (kiln_realign.h) */
    const kiln_row *rows;
    const kiln_op_row *ops;
    const kiln_family *families;
    const kiln_schedule *schedules;
    const kiln_xnode *nodes;
    const kiln_map *map;
    const kiln_host_fn *host_fns;
    const int64_t *shapes;                 /* nshapes numbers */
    const char *strings;
    const uint8_t *code;
} kiln_module;

/* Beside the table, for who asks why there is no more in it: where a schedule has no instance of an op's types and layouts,
 * and why.  Nothing else reads it, and a module may be without. */
#define KILN_ABSENT_SYMBOL "kiln_module_absent"
typedef struct kiln_absent {
    uint64_t key;           /* as a row's; absences are sorted by it, then by the schedule's name */
    kiln_str schedule, why; /* "wgmma"; a sentence that ends in (file:line) */
} kiln_absent;
typedef struct kiln_absents {
    uint32_t size, count;   /* sizeof(kiln_absent) */
    const kiln_absent *list;
} kiln_absents;

/* Last bytes of a sealed module file. hash = XXH3_64bits over [0, code_offset), [code_offset+code_size, seal) and the seal's
   first two fields. */
typedef struct kiln_seal {
    uint64_t code_offset, code_size; /* the blob's place in the file; 0, 0 where there is none */
    uint64_t hash, magic;
} kiln_seal;

/* Numbers of one shape in module->shapes. */
static inline uint32_t kiln_shape_step(unsigned nsizes)
{
    return nsizes < 3 ? 3 : nsizes;
}

/* Functional key: FNV-1a over "op\0" and the n bytes of the signature.  What else there is to know of an op's tensors is
 * the op's, and an op's name has one meaning in a context. */
static inline uint64_t kiln_name_hash(const char *op)
{
    uint64_t h = 0xcbf29ce484222325ull;
    do h = (h ^ (uint8_t)*op) * 0x100000001b3ull;
    while (*op++);
    return h;
}
static inline uint64_t kiln_key_of(uint64_t name_hash, const uint8_t *sig, int n)
{
    for (int i = 0; i < n; i++) name_hash = (name_hash ^ sig[i]) * 0x100000001b3ull;
    return name_hash ^ (name_hash >> 29);
}
#endif
