// SPDX-License-Identifier: MIT
// Between lang.c (files, globals of instance files) and spec*.c (the fields of `gemm "x" { ... }`, `rowwise "x" { ... }`
// and whatever other families there are); family.c reads its files with the same functions.
#ifndef KILN_SPEC_H
#define KILN_SPEC_H
#include "../abi/kiln_values.h"
#include "sandbox.h"
#include "scan.h"
#include "trace.h"

/* An op that is being checked.  Its table is at stack position `table`. */
typedef struct kg_spec {
    kg_ctx *cx;
    lua_State *L;
    int table;
    kg_op *op;             /* NULL: a family is being read */
    const kg_source *source;
    const kg_place *place; /* of the table; NULL: not written as a constructor */
    const char *prefix;    /* `gemm "x": ` */
    bool wrong;
    bool names_wrong;      /* among what d, scalars and b declare: functions are not traced */
} kg_spec;

/* A value that is being checked: at the stack's top, with where it was written. */
typedef struct kg_value {
    const kg_place *place;
    kg_pos pos;       /* of the value; of what holds it where that is not known */
    const char *what; /* "types", "types: row 2", "d.bias" */
} kg_value;

/* Values that the globals of instance files make. */
typedef enum kg_made_kind { KG_MADE_INPUT, KG_MADE_CODE, KG_MADE_SWEEP } kg_made_kind;
typedef struct kg_made {
    kg_made_kind made;
    kg_pos pos;
    kiln_dkind kind;       /* of an input or output */
    kiln_dtype type;       /* NONE: none, or a name */
    const char *type_name; /* "x" */
    const char *type_got;  /* what stands where neither can be, for a message */
    kiln_layout layout;
    const char *operand;   /* of per_block(operand, t, along, k): its name; NULL: per_block(t, 1, n) */
    uint16_t along;        /* and the rows of A, the columns of B, of a block */
    uint16_t block;        /* columns of per_block; with an operand its length along the summed size */
    const char *schedule; /* of a sweep; its table is the user value */
} kg_made;
extern const char KG_MADE[]; /* metatable */

/* spec.c */
void kg_spec_check(kg_spec *);                 /* reads every field; sets op or wrong */
void kg_spec_describe(const kg_family *, FILE *);
/* Whether a kind is one of `kinds` (bits of kiln_dkind); what they are made by: "full(t), per_row(t) or ...". */
extern const char *const kg_kind_names[]; /* by kiln_dkind */
bool kg_is_kind(uint16_t kinds, kiln_dkind);
const char *kg_kinds_text(kg_ctx *, const kg_family *, uint16_t kinds);

/* spec_types.c: types, layouts, and the types of tensors */
void kg_spec_types(kg_spec *, const kg_value *);
void kg_spec_layouts(kg_spec *, const kg_value *);
const char *kg_types_want(kg_ctx *, const kg_family *); /* "{ a =, b =, e = [, acc =] }" */
const char *kg_layouts_want(kg_ctx *, const kg_family *); /* "rcr", quoted */
/* The type that full("a") and the like name, as kg_tensor.type has it; false: reported. */
bool kg_spec_type_of(kg_spec *, kg_pos, const char *what, const kg_made *, uint8_t *type);

/* spec_tensors.c: the family's own tensors, d, outputs */
void kg_spec_own(kg_spec *);
void kg_spec_b(kg_spec *, const kg_value *);
void kg_spec_d(kg_spec *, const kg_value *);
void kg_spec_outputs(kg_spec *, const kg_value *);
void kg_spec_indices(kg_spec *); /* the index arrays that follow from the op's choices */

/* spec_read.c */
void kg_wrong(kg_spec *, kg_pos, const char *, ...) __attribute__((format(printf, 3, 4)));
kg_pos kg_place_pos(const kg_spec *, const kg_place *, kg_pos otherwise); /* of the value */
kg_pos kg_key_pos(const kg_spec *, const kg_place *, kg_pos otherwise);
const char *kg_kind_of(lua_State *, int at);   /* "a number", "the text 'x'", ... */
/* Whether the value on top is a table with the keys 1..n only, n > 0. */
bool kg_spec_list(kg_spec *, const kg_value *, size_t *n, const char *of);
/* Pushes item i of the list on top, with its place. */
kg_value kg_spec_item(kg_spec *, const kg_value *, size_t i, const char *what);
/* Calls fn for each field of the table on top in order of keys, value on top; other keys than texts
 * are wrong. */
void kg_spec_fields(kg_spec *, const kg_value *,
                    void (*fn)(kg_spec *, const kg_value *, const char *key, void *), void *);
/* The text on top. */
bool kg_spec_name(kg_spec *, const kg_value *, const char *kind, const char **name);
bool kg_name_ok(kg_ctx *, const char *kind, const char *s, size_t len, const char **why);
/* A list of names in the order given, each once; how many. */
size_t kg_spec_names(kg_spec *, const kg_value *, const char *kind, const char **name, size_t max);
/* "a, b and c"; last: " and ", " or ". */
const char *kg_listed(kg_ctx *, const char *const *name, size_t n, const char *last);
/* `what` ("": the op itself) has no such field: which was meant, or which there are. */
void kg_wrong_field(kg_spec *, kg_pos, const char *what, const char *key, const char *const *name,
                    size_t n);
const char *kg_count_word(kg_ctx *, size_t n); /* "three" */
bool kg_spec_whole(kg_spec *, const kg_value *, int64_t *); /* the number on top, in [0, INT32_MAX] */
kiln_dtype kg_dtype_named(const char *); /* KILN_DTYPE_NONE: none is called so */

/* spec_trace.c: functions, ref and code */
void kg_spec_function(kg_spec *, const kg_value *, size_t i); /* the family's i-th */
void kg_spec_uses(kg_spec *);
/* spec_results.c */
/* What a function gave: `results` values on the stack from position 3 on.  Of the main function of
 * an op that names its outputs: puts their values there, in their order.  Raises, or reports and
 * gives false. */
bool kg_spec_results(kg_spec *, const char *field, const kg_extent *, bool main, int results);
/* Checks that each output's value fits its kind.  line: of the main function's nodes. */
void kg_spec_vary(kg_spec *, const kg_extent *, const int *line);
/* spec_block.c: of what a function of blocks returned, acc times something, that factor, and the
 * blocks' length; count 0: reported. */
kg_expr kg_spec_factor(kg_spec *, const char *field, const kg_extent *, const kg_expr *);
/* Where a function returns, as far as the text says; name: the entry of the table that it returns,
 * or NULL. */
kg_pos kg_return_pos(const kg_extent *, const char *name, kg_pos otherwise);

/* spec_choices.c: a family's options and fixed sizes */
const char *kg_words_want(kg_ctx *, const kg_option *); /* "causal or window" */
void kg_spec_option(kg_spec *, const kg_value *);
void kg_spec_options_used(kg_spec *); /* once functions are traced */
void kg_spec_fixed(kg_spec *, const kg_value *);

/* spec_tiles.c: tiles, targets, check */
void kg_spec_tiles(kg_spec *, const kg_value *);
void kg_spec_targets(kg_spec *, const kg_value *);
void kg_spec_checks(kg_spec *, const kg_value *);
void kg_spec_tiles_describe(FILE *);

/* names.c: names of files in templates/ (of a family's folder: schedules); "; types are f32, ..." behind a message about an
 * unknown name, or "" */
const kg_names_list *kg_target_names(kg_ctx *);
const kg_names_list *kg_schedule_names(kg_ctx *, const kg_family *);
const char *kg_names_hint(lua_State *, const char *name);

/* The language's own tables, one entry a line, for tests of the documentation. */
void kg_lang_describe(const kg_ctx *, FILE *);
#endif
