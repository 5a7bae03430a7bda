// SPDX-License-Identifier: MIT
// The tracer between expr.c (Lua values, the DAG), expr_lower.c (C text) and lang.c (who calls it):
// functions of an instance file are called once with symbols, and what they do to them is written
// down as nodes.
#ifndef KILN_TRACE_H
#define KILN_TRACE_H
#include "gen.h"

enum { KG_TRACE_NODES = 2 * KILN_EXPR_MAX }; /* of one trace, unreachable ones included */

typedef struct kg_trace kg_trace; /* one per Lua state */

/* The tracer of a state that kg_expr_open was called on. */
kg_trace *kg_trace_of(lua_State *);

/* A new trace: nodes and symbols of the one before are void. */
void kg_trace_begin(kg_trace *);
void kg_trace_end(kg_trace *);
bool kg_trace_running(lua_State *);

/* Pushes a leaf (KILN_X_ACC, KILN_X_D, KILN_X_SCALAR, KILN_X_ARG). */
void kg_trace_push_leaf(lua_State *, kiln_xop, unsigned index);

/* Pushes a record: a value whose fields are leaves, for `acc` of two products, `d` and `s`.  It
 * must outlive the trace. */
typedef struct kg_record {
    const char *unknown; /* for messages: "undeclared input" */
    const char *none;    /* why it has no fields, where it has none: "the op has no d" */
    const char *owner;   /* "d" */
    kiln_xop op;
    const char *const *name;
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

/* Encodes what the number or symbol at `at` depends on; NULL in node: more than KILN_EXPR_MAX
 * nodes. */
kg_expr kg_trace_encode(kg_ctx *, lua_State *, int at);
bool kg_trace_used(const kg_expr *, kiln_xop, unsigned index);

/* Element types as Lua values: one userdata each per state, so that == compares them. */
kiln_dtype kg_to_dtype(lua_State *, int at); /* KILN_DTYPE_NONE: not one */

/* expr_fold.c: an operation on numbers; conditions as 0 and 1 */
double kg_expr_fold(kiln_xop, double x, double y, double z);

/* The names of dtypes, "f32, f16, ...", and of the functions of an expression. */
const char *kg_expr_dtypes(kg_ctx *);
const char *kg_expr_functions(kg_ctx *);

/* expr.c's table of functions, for `kiln-gen --language`. */
void kg_expr_describe(FILE *);
#endif
