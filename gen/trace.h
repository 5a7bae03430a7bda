// SPDX-License-Identifier: MIT
// The tracer between expr.c (Lua values, the DAG), expr_lower.c (C text) and lang.c (who calls it):
// functions of an instance file are called once with symbols, and what they do to them is written
// down as nodes.
#ifndef KILN_TRACE_H
#define KILN_TRACE_H
#include "gen.h"

enum { KG_TRACE_NODES = 2 * KILN_EXPR_MAX }; /* of one trace, unreachable ones included */

typedef struct kg_trace kg_trace; /* one per Lua state */

static inline bool kg_is_reduction(unsigned op)
{
    return kiln_x_is_row_reduction(op) || kiln_x_is_block_reduction(op) ||
           kiln_x_is_col_reduction(op);
}

/* The tracer of a state that kg_expr_open was called on. */
kg_trace *kg_trace_of(lua_State *);

/* Which reductions a function may use. */
typedef enum kg_reduces { KG_NONE, KG_OF_ROWS, KG_OF_ROWS_AND_COLUMNS } kg_reduces;

/* A new trace, of a function called `what`: nodes and symbols of the one before are void.  `what` must outlive the trace. */
void kg_trace_begin(kg_trace *, const char *what, kg_reduces);
void kg_trace_end(kg_trace *);
bool kg_trace_running(lua_State *);
kg_reduces kg_trace_reduces(lua_State *); /* of the running one */

/* Pushes a leaf (KILN_X_ACC, KILN_X_D, KILN_X_SCALAR, KILN_X_ARG, KILN_X_AT). */
void kg_trace_push_leaf(lua_State *, kiln_xop, unsigned index);

/* Pushes a record: a value whose fields are leaves, for `acc` of two products, `d`, `s` and
 * `at`.  It must outlive the trace. */
typedef struct kg_record {
    const char *unknown; /* for messages: "undeclared input" */
    const char *none;    /* why it has no fields, where it has none: "the op has no d" */
    const char *owner;   /* "d" */
    kiln_xop op;
    const char *const *name;
    const uint8_t *index;    /* of each name's leaf; NULL: its position */
    const char *const *wrong; /* of each name what it is an error to use it for, or NULL; NULL: none is */
    size_t count;
} kg_record;
void kg_trace_push_record(lua_State *, const kg_record *);

/* What stands at a stack position. */
typedef enum kg_traced {
    KG_IS_OTHER,
    KG_IS_NUMBER,
    KG_IS_SYMBOL,
    KG_IS_CONDITION,
    KG_IS_RECORD
} kg_traced;
kg_traced kg_trace_kind(lua_State *, int at);
const char *kg_trace_owner(lua_State *, int at); /* of a record */

/* Encodes what the n numbers or symbols at stack positions from `first` on depend on, in one DAG; NULL in node: more than
 * KILN_EXPR_MAX nodes.  result[i]: the node of each; with one it is the last.  *line (may be NULL): source line of each
 * leaf and reduction, 0 of other nodes. */
kg_expr kg_trace_encode(kg_ctx *, lua_State *, int first, size_t n, uint16_t *result, int **line);
bool kg_trace_used(const kg_expr *, kiln_xop, unsigned index);

/* Element types as Lua values: one userdata each per state, so that == compares them. */
kiln_dtype kg_to_dtype(lua_State *, int at); /* KILN_DTYPE_NONE: not one */

/* expr_fold.c: an operation on numbers; conditions as 0 and 1 */
double kg_expr_fold(kiln_xop, double x, double y, double z);

/* The names of dtypes, "f32, f16, ...", and of the functions of an expression, with those that reduce or without. */
const char *kg_expr_dtypes(kg_ctx *);
const char *kg_expr_functions(kg_ctx *, kg_reduces);
const char *kg_expr_name(kiln_xop); /* as the language calls it */

/* expr.c's table of functions, for `kiln-gen --language`. */
void kg_expr_describe(FILE *);
#endif
