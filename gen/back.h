// SPDX-License-Identifier: MIT
// What the back half of kiln-gen shares: targets, schedules, the symbols that problem-time
// functions are traced with, and the files of one output folder.  Private to schedule.c, sym.c,
// plan.c, expand.c, present.c, functions.c, graph.c, parts.c, tmpl.c, args.c, unit.c, module.c,
// content.c, files.c, emit.c, pack.c and seal.c.
#ifndef KILN_GEN_BACK_H
#define KILN_GEN_BACK_H
#include "../abi/kiln_values.h"
#include "gen.h"
#include "sandbox.h"

enum {
    KG_MAX_INSTANCES = 200000,  /* of one run; also the candidates of one sweep */
    KG_MAX_CANDIDATES = 1000000 /* combinations looked at in one run */
};

/* ---- symbols (sym.c): the DAG of one schedule's problem-time functions on one target ----
 * id, operands, C text for 64-bit integers, C text for doubles (NULL: same).  Results of the last
 * eight are conditions.  ORDER SYM: leaves first, conditions last. */
#define KG_SYM_OPS(X)                                                                              \
    X(CONST, 0, "", NULL)                                                                          \
    X(P, 0, "", NULL)                                                                              \
    X(T, 0, "", NULL)                                                                              \
    X(ADD, 2, "kiln_i_add(%0, %1)", "(%0 + %1)")                                                   \
    X(SUB, 2, "kiln_i_sub(%0, %1)", "(%0 - %1)")                                                   \
    X(MUL, 2, "kiln_i_mul(%0, %1)", "(%0 * %1)")                                                   \
    X(DIV, 2, "", "kiln_r_div(%0, %1)")                                                            \
    X(FLOOR_DIV, 2, "kiln_i_div(%0, %1)", "kiln_r_floor_div(%0, %1)")                              \
    X(MOD, 2, "kiln_i_mod(%0, %1)", "kiln_r_mod(%0, %1)")                                          \
    X(CEIL_DIV, 2, "kiln_i_ceil_div(%0, %1)", "kiln_r_ceil_div(%0, %1)")                           \
    X(NEG, 1, "kiln_i_sub(0, %0)", "(-%0)")                                                        \
    X(MIN, 2, "kiln_i_min(%0, %1)", "kiln_r_min(%0, %1)")                                          \
    X(MAX, 2, "kiln_i_max(%0, %1)", "kiln_r_max(%0, %1)")                                          \
    X(SELECT, 3, "(%0 ? %1 : %2)", NULL)                                                           \
    X(LT, 2, "(%0 < %1)", NULL)                                                                    \
    X(LE, 2, "(%0 <= %1)", NULL)                                                                   \
    X(GT, 2, "(%0 > %1)", NULL)                                                                    \
    X(GE, 2, "(%0 >= %1)", NULL)                                                                   \
    X(EQ, 2, "(%0 == %1)", NULL)                                                                   \
    X(ALL, 2, "(%0 && %1)", NULL)                                                                  \
    X(ANY, 2, "(%0 || %1)", NULL)                                                                  \
    X(NOT, 1, "(!%0)", NULL)

typedef enum kg_sym_op {
#define X(id, ...) KG_S_##id,
    KG_SYM_OPS(X)
#undef X
        KG_S_COUNT
} kg_sym_op;

enum {
    KG_SYM_MAX = 4096,
    KG_SHAPE_FIELDS = sizeof(kiln_shape) / sizeof(int64_t) /* all of them are that */
};

/* What `p` has for a family: names of fields, and of each its place in kiln_shape, in int64_t. */
typedef struct kg_shape_names {
    const char *name[KG_SHAPE_FIELDS];
    uint8_t at[KG_SHAPE_FIELDS];
    size_t n;
} kg_shape_names;

typedef struct kg_snode {
    uint8_t op, index; /* index: place of a field of p, or a slot of t */
    bool real;         /* has a fraction: `/` or a constant with one is below */
    uint16_t arg[3];
    double value; /* of a constant; whole ones are exact below 2^53 */
    kg_pos at;    /* where an operation first makes a fraction of whole numbers */
} kg_snode;

typedef struct kg_syms {
    const kg_family *family; /* whose p */
    kg_shape_names p;
    kg_snode *node;
    size_t count;
    const char *const *slot; /* names of t's fields */
    size_t nslots;
} kg_syms;

/* What a traced function returned: a node, or a plain number or boolean. */
typedef struct kg_result {
    bool symbolic, boolean, real;
    uint16_t node;
    double number;
} kg_result;

/* Sets ceil_div, min, max, select, lt .. not_ in the table on top of L; they take plain numbers and
 * symbols. */
void kg_sym_open(kg_ctx *, lua_State *);
void kg_sym_name_fields(kg_ctx *, const kg_family *, kg_shape_names *);
/* p and t made from now on belong to these, of which family and slots are set. */
void kg_sym_begin(kg_ctx *, kg_syms *);
void kg_sym_push_p(kg_ctx *, lua_State *);
void kg_sym_push_t(kg_ctx *, lua_State *);
/* false: neither number, boolean nor symbol. */
bool kg_sym_value(lua_State *, int index, kg_result *);
/* Where a value's fraction comes from; `fallback` where it is a plain number. */
kg_pos kg_sym_fraction(const kg_syms *, const kg_result *, kg_pos fallback);
int kg_sym_operands(kg_sym_op);
bool kg_sym_is_condition(kg_sym_op);

int64_t kg_sym_evaluate(const kg_syms *, const kg_result *, const kiln_shape *,
                        const int32_t *t); /* whole numbers only */

/* Writes C statements; shared nodes become variables once, where first needed. */
typedef struct kg_lower {
    const kg_syms *syms;
    bool real;             /* doubles: cost */
    uint16_t *uses, *size; /* of each node: uses; operations in its text, 0: not looked at yet */
    kg_buf *out;
} kg_lower;
void kg_lower_begin(kg_ctx *, kg_lower *, const kg_syms *, bool real, kg_buf *);
/* First for every value of the function, then its variables, then the value itself. */
void kg_lower_use(kg_lower *, const kg_result *);
void kg_lower_vars(kg_lower *, const kg_result *);
void kg_lower_text(kg_lower *, const kg_result *);

/* ---- targets and schedules (schedule.c) ---- */
/* Of the table on top of cx->T a field that is not `known`, as "unknown field 'x' (did you mean
 * 'y'?)"; NULL: there is none. */
const char *kg_unknown_field(kg_ctx *, const char *const *known, size_t n);

struct kg_target {
    const char *name, *vendor, *source, *ext, *arch;
    uint32_t units; /* 0: it does not say */
    bool selected;
    int ref; /* its table, in cx->T's registry */
    kg_pos pos;
};

typedef struct kg_rule {
    const char *sentence;
    int ref;
    kg_pos pos;
} kg_rule;
typedef struct kg_tunable {
    const char *name, *doc;
    int64_t *value;
    size_t nvalues;
} kg_tunable;

/* The problem-time functions on one target: C bodies, and the rules to be evaluated here, too. */
typedef struct kg_lowered {
    const char *check, *plan, *workspace, *cost, *parts;
    struct {
        const char *name;
        kiln_part_kind kind;
    } part[KILN_MAX_PARTS]; /* of the cost: their values are what `parts` sets */
    size_t nparts;
    const kg_syms *syms;
    const kg_result *rule; /* one per problem rule */
    const char *flags;     /* more options for the compiler, "" where there are none */
} kg_lowered;

struct kg_schedule {
    const kg_family *family;
    const char *name, *title; /* name: one of each family's */
    const kg_source *source;
    kg_pos pos;
    kg_tunable tunable[KILN_MAX_SLOTS];
    size_t ntunables, nslots;
    const char *slot[KILN_MAX_SLOTS];
    int stages_slot; /* of KG_STAGES_SLOT, which a `stages` function sets; -1: always one stage */
    kg_rule *rule, *problem_rule;
    size_t nrules, nproblem_rules;
    /* Functions, LUA_NOREF where absent. */
    int supports, derive, defaults, name_ref, launch, workspace, cost, stages, maps, realigns,
        flags;
    /* One per target, in the order of cx->target; NULL until first used there. */
    kg_lowered **lowered;
    struct kg_tmpl **tmpl; /* hip, c: compiled when first used */
};
#define KG_STAGES_SLOT "kernels"

/* Where a file first says `field =`, else its first line. */
kg_pos kg_field_pos(kg_ctx *, const kg_source *, const char *field);
kg_pos kg_function_pos(kg_ctx *, int ref, kg_pos fallback);

/* plan.c: traces the problem-time functions on a target, once; NULL: reported. */
const kg_lowered *kg_schedule_lower(kg_ctx *, const kg_schedule *, const kg_target *);
/* The problem rule that odd sizes, strides or alignments break; NULL: it takes any. */
const char *kg_size_limit(const kg_schedule *, const kg_lowered *, const int32_t *t);

/* ---- what templates and schedules see of an op (present.c): pushes onto cx->T ---- */
typedef struct kg_view {
    const kg_op *op;
    const kg_types *types;
    const kg_layout *layout;
} kg_view;
enum { KG_OP_TABLE, KG_TYPES_TABLE, KG_LAYOUT_TABLE, KG_FN_TABLE, KG_CALL_TABLE, KG_VIEW_TABLES };
/* Builds the tables of a view unless they are the last ones built; returns their references, NULL:
 * reported.  anew: builds all that one may write to, so that no rendering sees what another one
 * wrote. */
const int *kg_present(kg_ctx *, kg_view, bool anew);
void kg_protect(kg_ctx *);                /* the table on top takes no new fields from Lua */
void kg_push_dtype(kg_ctx *, kiln_dtype); /* its table */
/* graph.c: pushes the nodes of one of the op's functions as a list of tables. */
void kg_push_graph(kg_ctx *, const kg_op *, size_t function, size_t product);
/* functions.c: push fn and call.  Top: the op's table. */
void kg_push_fn(kg_ctx *, const kg_op *);
void kg_push_call(kg_ctx *, const kg_op *);
/* Pushes a list of the inputs that function i uses, of some products; top: the op's table, with its
 * field d. */
void kg_push_used(lua_State *, const kg_op *, size_t i, size_t first, size_t products);
bool kg_identifier(const char *);
const char *kg_dtype_text(kiln_dtype);
/* The last two components of a path: the same in every checkout. */
const char *kg_shown(kg_ctx *, const char *file);
void kg_put_quoted(kg_buf *, const char *, size_t); /* as a C string literal */
enum { KG_LINE_BACK = 1 }; /* byte that tmpl.c replaces by a #line to the generated file */

/* ---- spell.c: sets bits, words, to_f32, ... in the table on top ---- */
void kg_spell_open(lua_State *);

/* ---- parts.c: what files of a folder share, in its folder lib/ ---- */
/* The part of templates `name`, for a template or part `from`; pos: of the name there.  NULL:
 * reported. */
const kg_source *kg_part_read(kg_ctx *, const kg_source *from, const char *name, size_t len,
                              kg_pos);
/* A path in its folder. */
const char *kg_beside(kg_ctx *, const kg_source *, const char *name);
void kg_require_open(lua_State *); /* sets require in the table on top */
/* Until called with false, what is required is run anew: no rendering sees another one's. */
void kg_require_anew(kg_ctx *, bool rendering);

/* ---- files (files.c) ---- */
/* Changed files of one target, written aside and then renamed together. */
typedef struct kg_changes kg_changes;
/* Locks dir; removes what a killed run left. */
bool kg_changes_open(kg_ctx *, const char *dir, kg_changes **);
/* A file, its path under dir; replace: at once. */
bool kg_changes_put(kg_changes *, const char *path, const char *text, size_t len);
bool kg_changes_replace(kg_changes *, const char *path, const char *text, size_t len);
bool kg_changes_commit(kg_changes *);
void kg_changes_close(kg_changes *);           /* drops what was not committed */
bool kg_read_file(const char *path, kg_buf *); /* false: errno */
bool kg_write_all(int fd, const char *, size_t);
bool kg_mkdirs(kg_ctx *, const char *path); /* of the folder part of path */

/* ---- absent.c: of what a schedule has no instance on a target ---- */
typedef struct kg_absence {
    kg_view view;
    const kg_target *target;
    const kg_schedule *schedule;
    const char *why;
} kg_absence;

/* ---- module.c ---- */
typedef struct kg_slice {
    kg_instance **instance;
    size_t n;
    const kg_target *target;
} kg_slice;
void kg_module_text(kg_ctx *, const kg_slice *, kg_buf *);
bool kg_slice_has(const kg_slice *, const kg_family *); /* an instance of it */
const char *kg_object_ext(const kg_target *);
/* content.c: a hash of the named instance's machine code in an object; where that is not to be
 * found, of the object. */
uint64_t kg_content(const char *name, const void *object, size_t size);

/* ---- unit.c: kernels that are compiled together ---- */
typedef struct kg_unit {
    const char *source, *object; /* under the output folder; where it is one kernel's, that one's */
    const kg_instance *first;    /* of its op and schedule are all; NULL: it is KG_REALIGN */
    size_t kernels, added;
    kg_buf includes, body; /* of its text */
} kg_unit;
typedef struct kg_units {
    kg_unit *unit;
    size_t n;
    kg_unit **of; /* each of the slice's instances */
} kg_units;
kg_units *kg_units_make(kg_ctx *, const kg_slice *);
/* Whether an instance wants the kernel that copies to where tensor maps begin; it is a unit of its
 * own, which is of no instance: TARGET/realign.EXT. */
#define KG_REALIGN "realign"
bool kg_realigns(const kg_slice *);
/* A kernel as it was rendered; then, when there are all, the unit. */
void kg_unit_add(kg_unit *, const kg_instance *, const kg_buf *text);
void kg_unit_text(const kg_unit *, const kg_target *, kg_buf *);
/* path with another extension; ours end in target->ext */
const char *kg_with_ext(kg_ctx *, const char *path, const char *ext);

/* ---- args.c: the struct of a family's kernels as a header; its name is kiln_FAMILY_args.h ---- */
bool kg_args_check(kg_ctx *, const kg_family *); /* that no two fields have one name */
const char *kg_args_file(kg_ctx *, const kg_family *);
void kg_args_text(kg_ctx *, const kg_family *, const kg_target *, kg_buf *);

typedef struct kg_back {
    kg_syms *syms;                /* of the function being traced; NULL: none */
    kg_buf text;                  /* what is being rendered; its memory is kept for the next */
    int globals;                  /* reference to what schedules and templates see */
    int present[KG_MAX_FAMILIES]; /* to each family's `present`, or LUA_NOREF */
    int meta;                     /* and to a metatable that falls through to it */
    void *view, *tmpl, *parts;    /* private to present.c, tmpl.c, parts.c */
} kg_back;
static inline kg_back *kg_back_of(kg_ctx *cx)
{
    return cx->back;
}
#endif
