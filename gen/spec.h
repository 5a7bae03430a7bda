// SPDX-License-Identifier: MIT
// Between lang.c (files, globals of instance files) and spec*.c (the fields of `gemm "x" { ... }`).
#ifndef KILN_SPEC_H
#define KILN_SPEC_H
#include "../abi/kiln_values.h"
#include "sandbox.h"
#include "trace.h"

/* A gemm that is being checked.  Its table is at stack position `table`. */
typedef struct kg_spec {
    kg_ctx *cx;
    lua_State *L;
    int table;
    kg_op *op;
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
    kiln_dkind kind; /* of an input */
    uint8_t type;
    kiln_layout layout;
    const char *schedule; /* of a sweep; its table is the user value */
} kg_made;
extern const char KG_MADE[]; /* metatable */

/* spec.c */
void kg_spec_check(kg_spec *);                 /* reads every field; sets op or wrong */
void kg_spec_describe(FILE *);

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

/* spec_trace.c: epilogue, ref, a_op, b_op and code */
void kg_spec_epilogue(kg_spec *, const kg_value *);
void kg_spec_element_op(kg_spec *, const kg_value *, kg_expr *, kg_pos *);
void kg_spec_uses(kg_spec *);

/* spec_tiles.c: tiles, targets, check */
void kg_spec_tiles(kg_spec *, const kg_value *);
void kg_spec_targets(kg_spec *, const kg_value *);
void kg_spec_checks(kg_spec *, const kg_value *);
void kg_spec_tiles_describe(FILE *);

/* names.c: names of files in templates/; "; types are f32, ..." behind a message about an unknown name, or "" */
const kg_names_list *kg_target_names(kg_ctx *);
const kg_names_list *kg_schedule_names(kg_ctx *);
const char *kg_names_hint(lua_State *, const char *name);

/* The language's own tables, one entry a line, for tests of the documentation. */
void kg_lang_describe(FILE *);
#endif
