// SPDX-License-Identifier: MIT
// What the parts of kiln-gen share.  The path through it:
//   main -> lang (sandboxed Lua -> kg_op, every field checked, expressions traced)
//        -> schedule (templates/targets/*.lua, templates/FAMILY/*.lua)
//        -> expand (kg_instance: legal or counted as cut) -> tmpl (render, with parts)
//        -> unit (which kernels are compiled together)
//        -> emit (write only what changed; module.c, rules.mk, manifest)
// One kg_ctx is passed everywhere; all memory is its arena's; functions return false after
// reporting through diag.
#ifndef KILN_GEN_H
#define KILN_GEN_H
#include <lua.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "../abi/kiln_dtype.h"
#include "../abi/kiln_expr.h"
#include "../abi/kiln_module.h"

enum { KG_EXIT_OK = 0, KG_EXIT_WRONG = 1, KG_EXIT_USAGE = 2, KG_EXIT_INTERNAL = 70 };

/* ---- arena (arena.c): freed as a whole; out of memory jumps to where kg_on_oom was given ---- */
typedef struct kg_arena kg_arena;
kg_arena *kg_arena_new(void);
void kg_arena_free(kg_arena *);
void kg_on_oom(jmp_buf *);                        /* NULL: back to a message and exit status 70 */
_Noreturn void kg_out_of_memory(void);
void *kg_alloc(kg_arena *, size_t);               /* zeroed, 16-byte aligned */
/* Room for another element behind the n of v: v, or twice as large a copy. */
void *kg_grow(kg_arena *, void *v, size_t n, size_t *cap, size_t size);
char *kg_strndup(kg_arena *, const char *, size_t);
char *kg_printf(kg_arena *, const char *, ...) __attribute__((format(printf, 2, 3), nonnull));

/* Growing text buffer in plain malloc memory. */
typedef struct kg_buf { char *p; size_t len, cap; } kg_buf;
void kg_put(kg_buf *, const char *, size_t);
void kg_puts(kg_buf *, const char *);
void kg_putf(kg_buf *, const char *, ...) __attribute__((format(printf, 2, 3), nonnull));
void kg_buf_free(kg_buf *);

/* ---- diagnostics (diag.c): file:line:col: error: text, the source line and a caret; 20 shown,
 * then a count ---- */
typedef struct kg_pos { const char *file; int line, col; } kg_pos; /* as shown; col 0: no caret */
typedef struct kg_ctx kg_ctx;
void kg_error(kg_ctx *, kg_pos, const char *, ...) __attribute__((format(printf, 3, 4)));
/* Belongs to the last error. */
void kg_note(kg_ctx *, kg_pos, const char *, ...) __attribute__((format(printf, 3, 4)));
/* text stays the caller's. */
void kg_source_add(kg_ctx *, const char *file, const char *text, size_t len);
void kg_diag_flush(kg_ctx *); /* prints what was reported, in source order; main calls it last */
/* 'text' for a message: quoted, control and non-ASCII bytes as \xNN, cut after 40 bytes. */
const char *kg_quote(kg_ctx *, const char *text, size_t len);
/* For "did you mean", or NULL. */
const char *kg_closest(const char *word, const char *const *names, size_t n);

/* ---- expressions (expr.c): hash-consed DAG; a schedule's problem-time functions: sym.c ---- */
typedef struct kg_expr { kiln_xnode *node; size_t count; } kg_expr; /* count 0: none */

/* ---- a family's signature: templates/FAMILY/family.lua (family.c; docs/families.md) ---- */
enum { KG_MAX_FAMILIES = 16, KG_MAX_FAMILY_SHAPES = 64 };

typedef struct kg_type_rule {         /* one of a family's types */
    const char *name;
    uint32_t of;                      /* bits of the dtypes it may be; 0: any */
    const char *says;                 /* where it is another */
    kiln_dtype integer, real;         /* where left out: the types of `from` all integers, or not; NONE: required */
    uint8_t from;                     /* bits of types */
    const char *needs;                /* said where it is an integer type and its default is not; NULL: may be */
    uint8_t tensor;                   /* own tensor of that type, or KILN_NOWHERE */
} kg_type_rule;

typedef struct kg_own {               /* a tensor of the family's own */
    const char *name, *label, *word;  /* "b", "B"; what one of several is called: "product" */
    uint8_t rows, cols, planes;       /* positions of sizes, or KILN_NOWHERE */
    uint8_t count;                    /* most; above 1 an op may name several in a field of the tensor's name */
    bool out;
} kg_own;

typedef enum kg_arg { KG_ARG_ACC, KG_ARG_D, KG_ARG_S, KG_ARG_AT, KG_ARG_X, KG_ARG_PRODUCT } kg_arg;
typedef struct kg_function {          /* a function of instance files; the first is the main one */
    const char *name, *c_name;        /* "a_op", "kiln_a_op" */
    bool required, code, reduces;     /* code: may be code [[...]] with ref */
    uint8_t of;                       /* own tensor whose elements it gets, or KILN_NOWHERE */
    bool blocks;                      /* it gets sums over blocks of the size that is summed */
    kg_arg arg[4]; size_t nargs;
    uint16_t over;                    /* bits of the sizes that its value has elements along; 0: all */
} kg_function;

/* A field of instance files whose value is one of a few words: `mask = causal`. */
typedef struct kg_option {
    const char *name, *word[4]; size_t nwords;
    const char *number;               /* its words take a number, of these: `kv = paged(16)`; NULL: none */
    bool flag;                        /* no word, but `true`, which is its one word here: `groups = true` */
    uint64_t of;                      /* bits of kiln_xop: an op that uses none of these has no use for it; 0: any */
} kg_option;
enum { KG_NUMBER_MOST = 4096 };       /* of a word */
extern const char *const kg_function_name[KILN_X_COUNT]; /* of the language: graph.c */
enum { KG_FIXED_MOST = 1024, KG_FIXED_ROWS = 16 }; /* a size that kernels are compiled for; rows of them */
enum { KG_PLACES = KILN_MAX_PLACES };               /* of `at`: row, column, plane, batch */

typedef struct kg_family {
    const char *name, *title, *example, *prefix;
    const char *size[KILN_MAX_SIZES]; size_t nsizes;
    uint8_t rows, cols, planes, groups, summed; /* as in kiln_family */
    uint16_t empty, independent;
    kg_option option[KILN_MAX_OPTIONS]; size_t noptions;
    struct kg_condition { uint8_t option, word; } only[KILN_MAX_SIZES]; /* of a size: ops with that word (from 1) have it */
    const char *fixed_field;          /* of instance files: rows of the sizes that kernels are compiled for; NULL: none */
    uint8_t fixed[KILN_MAX_FIXED]; size_t nfixed;
    const char *place[KG_PLACES]; size_t nplaces; /* names of `at` */
    uint8_t ragged;                   /* option with whose words rows of all batches are in one matrix, or KILN_NOWHERE: */
    uint16_t ragged_sizes;            /* of these sizes, bits of positions */
    const char *ragged_first, *ragged_end, *ragged_batch; /* index arrays in place of SIZE_begin, and what such ops call
                                         batch; NULL: SIZE_begin, and batch */
    uint8_t gathered, gathered_own, gathered_size; /* option with which rows of an own tensor are numbers of rows of a
                                         matrix with as many as that size, or KILN_NOWHERE */
    const char *gathered_rows;        /* the index array of these numbers */
    uint8_t paged, paged_size, pages; /* option with whose words that size's rows are in pages of its number; the size
                                         that pages are counted by */
    const char *computed[4]; size_t ncomputed; /* the only outputs that ops may have, which schedules make */
    kg_type_rule type[KILN_MAX_TYPES]; size_t ntypes; /* 0: ops name their own */
    kg_own own[KILN_MAX_OWN]; size_t nown;
    uint8_t layout[KILN_MAX_LAYOUTS]; size_t nlayouts; /* own tensors */
    uint8_t first, most;              /* extra tensors: first position, how many */
    uint16_t input_kinds, output_kinds; /* bits of kiln_dkind; output_kinds 0: ops have no outputs of their own */
    uint16_t packed_kinds;            /* bits of kiln_dkind: inputs whose elements may share bytes */
    uint8_t input_type;               /* of an input without one: position in types, or KILN_NOWHERE: it needs one */
    kg_function function[KILN_MAX_FUNCTIONS]; size_t nfunctions;
    int64_t shape[KG_MAX_FAMILY_SHAPES][KILN_MAX_SIZES]; size_t nshapes, nquick;
    uint8_t pointers, pitches;        /* of a kernel's arguments */
    uint32_t args_size;
    kg_pos pos;                       /* of its file */
} kg_family;

/* ---- an op as described (lang.c) ---- */
typedef struct kg_types { kiln_dtype type[KILN_MAX_TYPES]; kg_pos pos; } kg_types;       /* in the signature's order */
typedef struct kg_layout {            /* a row of layouts, or of a family's fixed sizes */
    kiln_layout layout[KILN_MAX_LAYOUTS];
    int64_t fixed[KILN_MAX_FIXED];
    kg_pos pos;
} kg_layout;
typedef struct kg_tensor {            /* with kiln_tensor_row's fields as it has them */
    const char *name;                 /* "bias"; of the family's own as messages call it: "A" */
    uint8_t at, arg, own, kind, type, layout, rows, cols, planes, pointer, pitch;
    bool out;
    uint16_t row_block, col_block, result, page;
    uint8_t batches, beyond, index, within;
    const char *given;                /* of an input or output: as the instance file calls it */
    uint8_t operand;                  /* of a per_block tensor: own tensor whose blocks it is for, or KILN_NOWHERE */
    uint8_t product;                  /* that it belongs to alone, or KILN_NOWHERE */
    kg_pos pos;
} kg_tensor;

typedef struct kg_sweep {   /* one `mfma { m = {64, 128}, n = 128 }` of one target */
    const char *target, *schedule;
    struct kg_axis { const char *name; const int64_t *value; size_t count; kg_pos pos; } *axis;
    size_t naxes;
    kg_pos pos;
} kg_sweep;

typedef struct kg_op {
    const kg_family *family;
    const char *name;
    kg_pos pos;                       /* of the call */
    const char *type_name[KILN_MAX_TYPES]; size_t nsig_types; /* names of the signature's types, in its order */
    kg_types *types; size_t ntypes;   /* rows */
    kg_layout *layouts; size_t nlayouts; /* rows; of a family without layouts its fixed sizes', or one of none */
    uint8_t option[KILN_MAX_OPTIONS]; /* the word chosen, from 1; 0: none */
    uint16_t number[KILN_MAX_OPTIONS]; /* and its number */
    kg_tensor tensor[KILN_MAX_TENSORS]; size_t ntensors; /* in the order of kiln_op_row.tensor */
    size_t first_input, ninputs;      /* of them, those of field d: what leaf `d` counts */
    size_t noutputs;                  /* those that are written, the family's own among them */
    const char *scalar[KILN_MAX_SCALARS]; size_t nscalars;
    const char *b_name[KILN_MAX_B]; size_t products; /* of the own tensor that may be several */
    kg_expr function[KILN_MAX_FUNCTIONS]; /* of the family's; [0]: of `ref` where code is given; of blocks: the factor */
    kg_expr more[KILN_MAX_B - 1][KILN_MAX_FUNCTIONS]; /* what the other products have in place of it */
    int64_t block;                    /* length along the summed size that the function of blocks gets sums over; 0: none */
    const kg_tensor *block_input;     /* an input that says so */
    kg_pos function_pos[KILN_MAX_FUNCTIONS]; /* first line of the function's body: for #line */
    bool uses_at;
    const char *code; kg_pos code_pos; /* `code [[...]]`, or NULL */
    kg_sweep *sweep; size_t nsweeps;  /* of a target without one: its schedules' defaults */
    int where_ref;                    /* LUA_NOREF or the `where` function in kg_ctx.L's registry */
    kg_pos where_pos;
    const char **target; size_t ntargets; /* `targets`; 0: all */
    float rtol;
    int64_t (*shape)[KILN_MAX_SIZES]; size_t nshapes;
} kg_op;

/* How many of the family's own tensors are written. */
static inline size_t kg_own_outputs(const kg_family *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->nown; i++) n += f->own[i].out;
    return n;
}

/* Whether the op names outputs of its own: its main function then returns a table. */
static inline bool kg_names_outputs(const kg_op *op)
{
    return op->noutputs > kg_own_outputs(op->family);
}

/* Of the tensors that are written the i-th, in the order of kg_op.tensor. */
static inline const kg_tensor *kg_output(const kg_op *op, size_t i)
{
    const kg_tensor *t = op->tensor;
    while (!t->out || i-- > 0) t++;
    return t;
}

/* What an instance file calls it. */
static inline const char *kg_output_name(const kg_op *op, size_t i)
{
    const kg_tensor *t = kg_output(op, i);
    return t->own == KILN_NOWHERE ? t->name : op->family->own[t->own].name;
}

/* ---- one specialised kernel (expand.c) ---- */
typedef struct kg_target kg_target;
typedef struct kg_schedule kg_schedule;
typedef struct kg_instance {
    const kg_op *op;
    const kg_types *types;
    const kg_layout *layout;
    const kg_target *target;
    const kg_schedule *schedule;
    int32_t slot[KILN_MAX_SLOTS];     /* tunables, then derived values */
    const char *name;                 /* gfx942/bias_relu/f16_f16_f16/rcr/simt_64x64x16 */
    const char *id;                   /* C identifier: kiln_bias_relu_f16_f16_f16_rcr_simt_... */
    const char *path;                 /* of the source under the output folder */
    kiln_map *map; size_t nmaps;
    size_t stages;
    bool realigns;                    /* what no map takes is copied (abi/kiln_realign.h) */
    bool any_size;                    /* takes any sizes, strides and alignments */
} kg_instance;

/* Products that have function i each for itself: 1, or all. */
static inline size_t kg_function_products(const kg_op *op, size_t i)
{
    const kg_function *f = &op->family->function[i];
    bool each = f->blocks || (f->of != KILN_NOWHERE && op->family->own[f->of].count > 1);
    return each ? op->products : 1;
}
static inline const kg_expr *kg_function_of(const kg_op *op, size_t i, size_t product)
{
    return product && kg_function_products(op, i) > 1 ? &op->more[product - 1][i] : &op->function[i];
}
/* Bits of the sizes along which what function i gets varies. */
static inline unsigned kg_function_over(const kg_family *f, size_t i)
{
    const kg_function *fn = &f->function[i];
    if (fn->over) return fn->over;
    unsigned rows = fn->of == KILN_NOWHERE ? f->rows : f->own[fn->of].rows;
    unsigned cols = fn->of == KILN_NOWHERE ? f->cols : f->own[fn->of].cols;
    return 1u << rows | 1u << cols | (fn->blocks ? 1u << f->summed : 0);
}
/* Whether function i may use input t: it varies along no size that the function's argument does not
 * vary along; of blocks, what has a value for each. */
static inline bool kg_takes_input(const kg_family *f, size_t i, const kg_tensor *t)
{
    const bool gathered = f->gathered != KILN_NOWHERE && t->rows == f->gathered_size;
    const uint8_t rows = gathered ? f->own[f->gathered_own].rows : t->rows;
    unsigned along = 0;
    if (rows != KILN_NOWHERE) along |= 1u << rows;
    if (t->cols != KILN_NOWHERE) along |= 1u << t->cols;
    return !(along & ~kg_function_over(f, i)) &&
           (!f->function[i].blocks || t->kind == KILN_D_PER_BLOCK);
}

struct kg_ctx {
    kg_arena *arena;
    FILE *err;                        /* stderr, or a buffer in tests */
    size_t errors;                    /* so far */
    bool io_failed;                   /* one of them: a file was not read or written (exit 2) */
    lua_State *L;                     /* instance files: sandboxed */
    lua_State *T;                     /* templates: schedules, targets, rendering */
    const char *templates;            /* folder */
    const char *out;                  /* folder, NULL with --check */
    kg_family *family[KG_MAX_FAMILIES]; size_t nfamilies; /* sorted by name */
    kg_op **op; size_t nops;          /* sorted by name */
    kg_target **target; size_t ntargets;
    kg_schedule **schedule; size_t nschedules;
    kg_instance **instance; size_t ninstances;
    struct kg_absence *absence; size_t nabsences, absence_cap; /* back.h */
    void *lang, *names, *diag, *sandbox, *back; /* private to lang.c, names.c, diag.c, sandbox.c,
                                                   back.h */
};

/* family.c: reads templates/FAMILY/family.lua of every folder that has one, before anything else; reports. */
bool kg_families_load(kg_ctx *);
static inline const char *kg_option_word(const kg_family *f, const uint8_t *option, size_t i)
{
    return option[i] ? f->option[i].word[option[i] - 1] : "";
}
/* As instance files have it: with its number. */
static inline const char *kg_option_text(kg_arena *a, const kg_op *op, size_t i)
{
    const char *word = kg_option_word(op->family, op->option, i);
    return op->number[i] ? kg_printf(a, "%s(%d)", word, op->number[i]) : word;
}
/* Whether rows along a size, by position, are in one matrix for all batches; whether they are in pages. */
static inline bool kg_is_paged(const kg_op *op, unsigned size)
{
    const kg_family *f = op->family;
    return f->paged != KILN_NOWHERE && op->option[f->paged] && f->paged_size == size;
}
static inline bool kg_is_ragged(const kg_op *op, unsigned size)
{
    const kg_family *f = op->family;
    return f->ragged != KILN_NOWHERE && op->option[f->ragged] && size != KILN_NOWHERE &&
           f->ragged_sizes >> size & 1 && !kg_is_paged(op, size);
}
/* Whether the rows of an own tensor are gathered. */
static inline bool kg_is_gathered(const kg_op *op, size_t own)
{
    const kg_family *f = op->family;
    return f->gathered != KILN_NOWHERE && op->option[f->gathered] && f->gathered_own == own;
}
/* What problems of the op call its batches. */
static inline const char *kg_batch_name(const kg_op *op)
{
    const kg_family *f = op->family;
    const bool named = f->ragged != KILN_NOWHERE && op->option[f->ragged] && f->ragged_batch;
    return named ? f->ragged_batch : "batch";
}
/* Whether an op has the family's i-th size: those of a word it did not choose it lacks. */
static inline bool kg_has_size(const kg_op *op, size_t i)
{
    const struct kg_condition c = op->family->only[i];
    return c.word == 0 || op->option[c.option] == c.word;
}
/* The name of the size at a position. */
static inline const char *kg_size_at(const kg_family *f, uint8_t position)
{
    return f->size[position - (position > KILN_BATCH)];
}
/* lang.c: reads files and folders of *.lua into cx->op; reports, and false if any is wrong. */
bool kg_lang_load(kg_ctx *, const char *const *paths, size_t n);
/* Calls op's `where`, if it has one, with a table of these names and values; *keep = its verdict. */
bool kg_lang_where(kg_ctx *, const kg_op *, const char *schedule, const char *const *name,
                   const int32_t *value, size_t n, bool *keep);
void kg_lang_close(kg_ctx *);

/* vary.c: along what each node of the op's main function varies; v: one for each node. */
typedef struct kg_vary {
    bool rows;
    uint8_t phase;  /* row reductions that must be done before it is known, one after the other */
    uint16_t block; /* columns that share a value: 0 all of the row, 1 none, else a power of two */
} kg_vary;
void kg_expr_vary(const kg_op *, kg_vary *v);

/* expr_lower.c: text of a C function body's statements plus `return`, for the caller's names. */
typedef struct kg_names {
    const char *(*name)(void *, const kiln_xnode *); /* spelling of acc, d, scalar, x leaves */
    void *arg;
} kg_names;
void kg_expr_lower(const kg_expr *, const kg_names *, const char *indent, kg_buf *);
/* One node's own text, "(%0 + %1)"; "" where there is none: leaves and reductions. */
void kg_expr_spell(const kiln_xnode *, kg_buf *);
/* expr.c: opens the tracer's functions and dtypes into the table on top of L. */
void kg_expr_open(kg_ctx *, lua_State *L);

/* schedule.c */
bool kg_schedules_load(kg_ctx *, const char *const *targets, size_t n); /* n 0: all in the folder */
void kg_annotate(const kg_ctx *, FILE *); /* annotate.c, after that */
void kg_schedules_close(kg_ctx *);
/* expand.c */
bool kg_expand(kg_ctx *);
/* tmpl.c */
bool kg_render(kg_ctx *, const kg_instance *, kg_buf *);
/* emit.c */
bool kg_emit(kg_ctx *);
/* folder.c, files.c; false: errno */
typedef struct kg_names_list { const char **v; size_t n; } kg_names_list;
/* Names of the folders in a folder that hold a file of that name, sorted; not hidden ones. */
bool kg_list_holding(kg_ctx *, const char *path, const char *file, kg_names_list *);
/* Names of the *.lua in a folder, sorted and without that ending; not annotations (*.d.lua) and
 * hidden ones. */
bool kg_list_lua(kg_ctx *, const char *path, kg_names_list *);
bool kg_write_if_changed(const char *path, const char *text, size_t len, bool *changed);
/* pack.c, seal.c: steps after compiling and after linking; an exit code, text on stderr */
int kg_pack(const char *dir);
int kg_seal(const char *file);
#endif
