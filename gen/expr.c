// SPDX-License-Identifier: MIT
// The tracer: operators and functions on symbols write down nodes of one hash-consed DAG; on plain
// numbers they compute.  What Lua cannot trace (comparison operators, concatenation, calls, truth)
// raises an error that says what to write instead; truth itself is watched by scan.c, since Lua
// offers no way to.
#include "trace.h"
#include "sandbox.h"
#include "spec.h"
#include <lauxlib.h>
#include <lualib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 2 * KG_TRACE_NODES };
static const double POWER_MAX = 64; /* larger whole exponents go to kiln_pow, too */

struct kg_trace {
    uint32_t serial; /* of the current trace; symbols of another are refused */
    bool active;
    kg_reduces reduces;
    const char *what; /* the function that is traced: "epilogue" */
    uint32_t count;
    kiln_xnode node[KG_TRACE_NODES];
    int line[KG_TRACE_NODES]; /* where a leaf or reduction was first written; 0: another node */
    struct {
        uint32_t serial;
        uint32_t id;
    } slot[SLOTS];
};

typedef struct symbol {
    uint32_t serial, id;
} symbol;

typedef struct record {
    uint32_t serial;
    const kg_record *of;
} record;

static const char *const SYMBOL = "traced value", *const RECORD = "traced inputs",
                         *const DTYPE = "dtype";
static const char trace_key;

static const struct {
    const char *name;
    uint8_t arity;
} ops[] = {
#define X(name, id, arity, ...) {#name, arity},
    KILN_EXPR_OPS(X)
#undef X
};

static const char *const dtype_name[] = {
    "",
#define X(name, ...) #name,
    KILN_DTYPES(X)
#undef X
};

/* ---- nodes ---- */

static uint32_t hash_node(const kiln_xnode *x)
{
    uint32_t bits, h = 2166136261u;
    memcpy(&bits, &x->value, sizeof bits);
    const uint32_t part[] = {x->op, x->index, x->arg[0], x->arg[1], x->arg[2], bits};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        h = (h ^ part[i]) * 16777619u ^ (h >> 15);
    return h;
}

static bool same_node(const kiln_xnode *x, const kiln_xnode *y)
{
    return x->op == y->op && x->index == y->index && memcmp(x->arg, y->arg, sizeof x->arg) == 0 &&
           memcmp(&x->value, &y->value, sizeof x->value) == 0;
}

static uint32_t add_node(lua_State *L, kg_trace *t, kiln_xnode x)
{
    uint32_t at = hash_node(&x) % SLOTS;
    for (; t->slot[at].serial == t->serial; at = (at + 1) % SLOTS)
        if (same_node(&t->node[t->slot[at].id], &x)) return t->slot[at].id;
    if (t->count == KG_TRACE_NODES)
        kg_raise(L, NULL, "the expression is too large: more than %d operations", KILN_EXPR_MAX);
    t->slot[at].serial = t->serial;
    t->slot[at].id = t->count;
    t->node[t->count] = x;
    t->line[t->count] = 0;
    return t->count++;
}

/* add_node, and where it was written. */
static uint32_t add_node_here(lua_State *L, kg_trace *t, kiln_xnode x)
{
    kg_pos at;
    uint32_t id = add_node(L, t, x);
    if (!t->line[id]) t->line[id] = kg_sandbox_running(L, &at) ? at.line : 0;
    return id;
}

/* What stands in the text for an operation. */
static const char *op_token(kiln_xop op)
{
    static const char *const operators[] = {"+", "-", "*", "/", "^", "-"};
    return op >= KILN_X_ADD && op <= KILN_X_NEG ? operators[op - KILN_X_ADD]
           : op < KILN_X_COUNT                  ? ops[op].name
                                                : NULL;
}

static uint32_t constant(lua_State *L, kg_trace *t, double v, kiln_xop op)
{
    if (isnan(v)) kg_raise(L, op_token(op), "a constant is not a number (NaN)");
    float f = (float)v;
    if (isinf(f) && !isinf(v)) kg_raise(L, op_token(op), "constant %.9g does not fit f32", v);
    return add_node(L, t, (kiln_xnode){.op = KILN_X_CONST, .value = f});
}

static uint32_t binary(lua_State *L, kg_trace *t, kiln_xop op, uint32_t x, uint32_t y)
{
    return add_node(L, t, (kiln_xnode){.op = (uint8_t)op, .arg = {(uint16_t)x, (uint16_t)y}});
}

static int push_symbol(lua_State *L, const kg_trace *t, uint32_t id)
{
    symbol *s = lua_newuserdatauv(L, sizeof *s, 0);
    *s = (symbol){t->serial, id};
    luaL_setmetatable(L, SYMBOL);
    return 1;
}

static symbol *to_symbol(lua_State *L, const kg_trace *t, int at)
{
    symbol *s = luaL_testudata(L, at, SYMBOL);
    if (s && (!t->active || s->serial != t->serial))
        kg_raise(L, NULL,
                 "a traced value is used outside of the function call that it was made for");
    return s;
}

/* ---- operands ---- */

static const char *said(lua_State *L, int at)
{
    switch (kg_trace_kind(L, at)) {
    case KG_IS_CONDITION: return "a condition, which only select, and_, or_ and not_ take";
    case KG_IS_RECORD: {
        const record *r = lua_touserdata(L, at);
        if (!r->of->count)
            return lua_pushfstring(L, "'%s', which is empty: %s", r->of->owner, r->of->none);
        return lua_pushfstring(L, "'%s' as a whole (write %s.%s)", r->of->owner, r->of->owner,
                               r->of->name[0]);
    }
    case KG_IS_NUMBER: return "a number";
    case KG_IS_SYMBOL: return "a traced value";
    case KG_IS_OTHER: break;
    }
    if (lua_isnoneornil(L, at)) return "nil";
    if (lua_isboolean(L, at)) return lua_toboolean(L, at) ? "true" : "false";
    return lua_pushfstring(L, "a %s", kg_to_dtype(L, at) ? "dtype" : luaL_typename(L, at));
}

static void refuse_condition(lua_State *L, int at, kiln_xop op)
{
    static const char list[] = "lt, le, gt, ge, eq, ne, and_, or_, not_";
    if (op == KILN_X_SELECT)
        kg_raise(L, "select", "select needs a condition (%s) first, got %s", list, said(L, at));
    kg_raise(L, ops[op].name, "%s: operand %d must be a condition (%s), got %s", ops[op].name, at,
             list, said(L, at));
}

static uint32_t operand(lua_State *L, kg_trace *t, int at, kiln_xop op)
{
    bool want_condition = kiln_x_takes_condition(op, (unsigned)at - 1);
    if (lua_type(L, at) == LUA_TNUMBER && !want_condition)
        return constant(L, t, lua_tonumber(L, at), op);
    symbol *s = to_symbol(L, t, at);
    if (s && kiln_x_is_condition(t->node[s->id].op) == want_condition) return s->id;
    bool is_operator = op >= KILN_X_ADD && op <= KILN_X_NEG;
    if (want_condition) refuse_condition(L, at, op);
    if (is_operator) kg_raise(L, op_token(op), "arithmetic on %s", said(L, at));
    kg_raise(L, ops[op].name, "%s: operand %d is %s", ops[op].name, at, said(L, at));
    return 0;
}

/* x^n by squaring. */
static uint32_t power(lua_State *L, kg_trace *t, uint32_t x, unsigned n)
{
    uint32_t result = UINT32_MAX;
    for (;;) {
        if (n & 1) result = result == UINT32_MAX ? x : binary(L, t, KILN_X_MUL, result, x);
        if (!(n >>= 1)) return result;
        x = binary(L, t, KILN_X_MUL, x, x);
    }
}

static uint32_t raise_to(lua_State *L, kg_trace *t)
{
    uint32_t x = operand(L, t, 1, KILN_X_POW);
    if (lua_type(L, 2) == LUA_TNUMBER) {
        double n = lua_tonumber(L, 2);
        if (n == 0.5 || n == -0.5) {
            kiln_xop op = n > 0 ? KILN_X_SQRT : KILN_X_RSQRT;
            return add_node(L, t, (kiln_xnode){.op = (uint8_t)op, .arg = {(uint16_t)x}});
        }
        if (n == floor(n) && n != 0 && fabs(n) <= POWER_MAX) {
            uint32_t p = power(L, t, x, (unsigned)fabs(n));
            return n > 0 ? p : binary(L, t, KILN_X_DIV, constant(L, t, 1, KILN_X_POW), p);
        }
    }
    return binary(L, t, KILN_X_POW, x, operand(L, t, 2, KILN_X_POW));
}

/* ---- plain numbers ---- */

static bool all_numbers(lua_State *L, int n)
{
    for (int i = 1; i <= n; i++)
        if (lua_type(L, i) != LUA_TNUMBER) return false;
    return true;
}

static int compute(lua_State *L, kiln_xop op, int n)
{
    double v = kg_expr_fold(op, lua_tonumber(L, 1), n > 1 ? lua_tonumber(L, 2) : 0,
                            n > 2 ? lua_tonumber(L, 3) : 0);
    bool whole = (op >= KILN_X_ABS && op <= KILN_X_CLAMP) || op == KILN_X_RELU;
    for (int i = 1; i <= n; i++) whole &= lua_isinteger(L, i) != 0;
    lua_Integer as_integer;
    if (kiln_x_is_condition(op)) lua_pushboolean(L, v != 0);
    else if (whole && lua_numbertointeger(v, &as_integer))
        lua_pushinteger(L, as_integer); /* min(64, 32) stays one */
    else lua_pushnumber(L, v);
    return 1;
}

/* Conditions of plain numbers are Lua's true and false: what they decide is decided here, and the
 * result pushed. */
static bool decided(lua_State *L, kg_trace *t, kiln_xop op, int n)
{
    if (op == KILN_X_SELECT) {
        if (!lua_isboolean(L, 1)) return false;
        lua_pushvalue(L, lua_toboolean(L, 1) ? 2 : 3);
        return true;
    }
    int known = lua_isboolean(L, 1) ? 1 : lua_isboolean(L, n) ? n : 0;
    if (!known) return false;
    for (int i = 1; i <= n; i++)
        if (!lua_isboolean(L, i)) operand(L, t, i, op);
    bool value = lua_toboolean(L, known);
    if (op == KILN_X_NOT) lua_pushboolean(L, !value);
    else lua_pushvalue(L, value == (op == KILN_X_AND) ? 3 - known : known);
    return true;
}

/* ---- functions and operators, one closure each: upvalues are trace and operation ---- */

static kg_trace *closure_trace(lua_State *L)
{
    return lua_touserdata(L, lua_upvalueindex(1));
}

static int cast(lua_State *L, kg_trace *t)
{
    kiln_dtype type = kg_to_dtype(L, 2);
    if (!type)
        return kg_raise(L, "cast", "cast(x, t): t must be a dtype (f32, f16, ...), got %s",
                        said(L, 2));
    if (!t->active) return kg_raise(L, "cast", "cast of a number outside of a traced function");
    uint32_t x = operand(L, t, 1, KILN_X_CAST);
    if (type != KILN_F32)
        x = add_node(L, t,
                     (kiln_xnode){.op = KILN_X_CAST, .index = (uint8_t)type, .arg = {(uint16_t)x}});
    return push_symbol(L, t, x);
}

/* Columns of a block, the second operand of block_sum and the like. */
static int block_columns(lua_State *L, const char *name)
{
    int exact = 0;
    lua_Integer n = lua_type(L, 2) == LUA_TNUMBER ? lua_tointegerx(L, 2, &exact) : 0;
    if (exact && n >= KILN_BLOCK_LEAST && n <= KILN_BLOCK_MOST && (n & (n - 1)) == 0) return (int)n;
    const char *got = lua_type(L, 2) == LUA_TNUMBER
                          ? kg_printf(kg_sandbox_ctx(L)->arena, "%.14g", lua_tonumber(L, 2))
                          : said(L, 2);
    return kg_raise(L, name, "%s(x, n): n must be a power of two from %d to %d, got %s", name,
                    KILN_BLOCK_LEAST, KILN_BLOCK_MOST, got);
}

static int reduce(lua_State *L, kg_trace *t, kiln_xop op)
{
    const char *name = ops[op].name;
    if (!t->active)
        return kg_raise(L, name, "%s outside of a traced function: there are rows in one alone", name);
    if (!t->reduces)
        return kg_raise(L, name, "%s: %s gets one element at a time, so it has nothing to reduce", name, t->what);
    if (kiln_x_is_col_reduction(op) && t->reduces < KG_OF_ROWS_AND_COLUMNS)
        return kg_raise(L, name, "%s: %s goes through one row after the other, and reduces no columns", name,
                        t->what);
    kiln_xnode x = {.op = (uint8_t)op};
    if (kiln_x_is_block_reduction(op)) x.value = (float)block_columns(L, name);
    x.arg[0] = (uint16_t)operand(L, t, 1, op);
    return push_symbol(L, t, add_node_here(L, t, x));
}

/* Operands as an instance file writes them: of some operations the last is no value. */
static int operands(kiln_xop op)
{
    return op == KILN_X_CAST || kiln_x_is_block_reduction(op) ? 2 : ops[op].arity;
}

static int apply(lua_State *L)
{
    kg_trace *t = closure_trace(L);
    kiln_xop op = (kiln_xop)lua_tointeger(L, lua_upvalueindex(2));
    bool metamethod = lua_toboolean(L, lua_upvalueindex(3));
    int n = operands(op);
    if (metamethod) lua_settop(L, n); /* Lua gives unary ones their operand twice */
    if (lua_gettop(L) != n)
        return kg_raise(L, ops[op].name, "%s takes %d operand%s, got %d", ops[op].name, n,
                        n == 1 ? "" : "s", lua_gettop(L));
    if (op == KILN_X_CAST) return cast(L, t);
    if (kg_is_reduction(op)) return reduce(L, t, op);
    if (kiln_x_takes_condition(op, 0)) {
        if (decided(L, t, op, n)) return 1;
    } else if (all_numbers(L, n)) {
        return compute(L, op, n);
    }
    if (op == KILN_X_POW) return push_symbol(L, t, raise_to(L, t));
    kiln_xnode x = {.op = (uint8_t)op};
    for (int i = 0; i < n; i++) x.arg[i] = (uint16_t)operand(L, t, i + 1, op);
    return push_symbol(L, t, add_node(L, t, x));
}

/* ---- what symbols and records do not do; %s: what the value is ---- */

static const struct {
    const char *event, *token, *text;
} refusals[] = {
    {"__lt", "<", "compares %s with '<' or '>'; write select(lt(x, y), a, b)"},
    {"__le", "<=", "compares %s with '<=' or '>='; write select(le(x, y), a, b)"},
    {"__eq", "==", "compares %s with '==' or '~='; write select(eq(x, y), a, b)"},
    {"__concat", "..", "concatenates %s: it has no text"},
    {"__len", "#", "takes the length of %s"},
    {"__mod", "%", "operator '%%' on %s is not part of the language: write x - y * floor(x / y)"},
    {"__idiv", "//", "operator '//' on %s is not part of the language: write floor(x / y)"},
    {"__band", "&", "operator '&' on %s is not part of the language: conditions take and_(x, y)"},
    {"__bor", "|", "operator '|' on %s is not part of the language: conditions take or_(x, y)"},
    {"__bxor", "~", "operator '~' on %s is not part of the language"},
    {"__bnot", "~", "operator '~' on %s is not part of the language: conditions take not_(x)"},
    {"__shl", "<<", "operator '<<' on %s is not part of the language"},
    {"__shr", ">>", "operator '>>' on %s is not part of the language"},
    {"__tostring", "tostring", "makes text of %s: its value is not known here"},
};

static int refuse(lua_State *L)
{
    lua_Integer i = lua_tointeger(L, lua_upvalueindex(2));
    lua_Debug by;
    if (i < 2 && lua_getstack(L, 1, &by) && lua_getinfo(L, "nS", &by) && *by.what == 'C' && by.name)
        return kg_raise(L, by.name, KG_OF_LIBRARY, by.name); /* math.max compares, too */
    kg_traced kind = kg_trace_kind(L, 1);
    const char *what = said(L, kind == KG_IS_NUMBER || kind == KG_IS_OTHER ? 2 : 1);
    if (strncmp(what, "a condition", 11) == 0) what = "a condition";
    char text[256];
    snprintf(text, sizeof text, refusals[i].text, what);
    return kg_raise(L, refusals[i].token, "%s", text);
}

static int refuse_call(lua_State *L)
{
    return kg_raise(L, NULL, "calls %s as if it were a function", said(L, 1));
}

static int refuse_store(lua_State *L)
{
    const char *owner = kg_trace_owner(L, 1);
    return kg_raise(L, NULL,
                    *owner ? "assigns to a field of '%s'" : "assigns to a field of a traced value",
                    owner);
}

static int symbol_index(lua_State *L)
{
    kg_trace *t = closure_trace(L);
    symbol *s = to_symbol(L, t, 1);
    const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : NULL;
    const char *quoted = key ? kg_quote(kg_sandbox_ctx(L), key, strlen(key)) : luaL_typename(L, 2);
    if (s && t->node[s->id].op == KILN_X_ACC)
        return kg_raise(L, key, "unknown product %s: the op has one product, acc itself", quoted);
    return kg_raise(L, key, "indexes a traced value with %s: it has no fields", quoted);
}

/* "at.row and at.col" */
static const char *place_names(kg_ctx *cx, const kg_record *r)
{
    const char *name[KG_PLACES];
    for (size_t i = 0; i < r->count; i++) name[i] = kg_printf(cx->arena, "%s.%s", r->owner, r->name[i]);
    return kg_listed(cx, name, r->count, " and ");
}

static int record_index(lua_State *L)
{
    kg_trace *t = closure_trace(L);
    const record *r = luaL_checkudata(L, 1, RECORD);
    if (!t->active || r->serial != t->serial)
        return kg_raise(L, NULL,
                        "a traced value is used outside of the function call that it was made for");
    if (lua_type(L, 2) != LUA_TSTRING)
        return kg_raise(L, NULL, "indexes '%s' with a %s: its fields are names", r->of->owner,
                        luaL_typename(L, 2));
    size_t len;
    const char *key = lua_tolstring(L, 2, &len);
    for (size_t i = 0; i < r->of->count; i++) {
        if (strcmp(r->of->name[i], key) != 0) continue;
        if (r->of->wrong && r->of->wrong[i]) return kg_raise(L, key, "%s", r->of->wrong[i]);
        kg_trace_push_leaf(L, r->of->op, r->of->index ? r->of->index[i] : (unsigned)i);
        return 1;
    }
    const char *quoted = kg_quote(kg_sandbox_ctx(L), key, len),
               *near = kg_closest(key, r->of->name, r->of->count);
    if (!r->of->count) return kg_raise(L, key, "%s %s: %s", r->of->unknown, quoted, r->of->none);
    if (near) return kg_raise(L, key, "%s %s (did you mean '%s'?)", r->of->unknown, quoted, near);
    if (r->of->op == KILN_X_AT)
        return kg_raise(L, key, "%s %s: there are %s", r->of->unknown, quoted,
                        place_names(kg_sandbox_ctx(L), r->of));
    return kg_raise(L, key, "%s %s", r->of->unknown, quoted);
}

static int dtype_text(lua_State *L)
{
    lua_pushstring(L, dtype_name[kg_to_dtype(L, 1)]);
    return 1;
}

/* ---- what the rest calls ---- */

kg_trace *kg_trace_of(lua_State *L)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &trace_key);
    kg_trace *t = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return t;
}

void kg_trace_begin(kg_trace *t, const char *what, kg_reduces reduces)
{
    t->serial++;
    t->count = 0;
    t->active = true;
    t->what = what;
    t->reduces = reduces;
}

void kg_trace_end(kg_trace *t)
{
    t->active = false;
}

bool kg_trace_running(lua_State *L)
{
    const kg_trace *t = kg_trace_of(L);
    return t && t->active;
}

kg_reduces kg_trace_reduces(lua_State *L)
{
    return kg_trace_running(L) ? kg_trace_of(L)->reduces : KG_NONE;
}

void kg_trace_push_leaf(lua_State *L, kiln_xop op, unsigned index)
{
    kg_trace *t = kg_trace_of(L);
    push_symbol(L, t, add_node_here(L, t, (kiln_xnode){.op = (uint8_t)op, .index = (uint8_t)index}));
}

void kg_trace_push_record(lua_State *L, const kg_record *of)
{
    record *r = lua_newuserdatauv(L, sizeof *r, 0);
    *r = (record){kg_trace_of(L)->serial, of};
    luaL_setmetatable(L, RECORD);
}

kg_traced kg_trace_kind(lua_State *L, int at)
{
    if (lua_type(L, at) == LUA_TNUMBER) return KG_IS_NUMBER;
    if (luaL_testudata(L, at, RECORD)) return KG_IS_RECORD;
    const symbol *s = luaL_testudata(L, at, SYMBOL);
    if (!s) return KG_IS_OTHER;
    const kg_trace *t = kg_trace_of(L);
    bool current = s->serial == t->serial && s->id < t->count;
    return current && kiln_x_is_condition(t->node[s->id].op) ? KG_IS_CONDITION : KG_IS_SYMBOL;
}

const char *kg_trace_owner(lua_State *L, int at)
{
    const record *r = luaL_testudata(L, at, RECORD);
    return r ? r->of->owner : "";
}

static bool picks(unsigned op)
{
    return op == KILN_X_ROW_MAX || op == KILN_X_ROW_MIN || op == KILN_X_BLOCK_MAX ||
           op == KILN_X_BLOCK_MIN || op == KILN_X_COL_MAX || op == KILN_X_COL_MIN;
}

/* Marks quotients that a floor or a comparison comes of: there a last place is not one.  And
 * products and quotients of which one is picked: less itself it must be 0, and no product less its
 * rounded value, which a compiler would make of both. */
static void mark_exact(kg_ctx *cx, kg_expr *e)
{
    bool *steps = kg_alloc(cx->arena, e->count * sizeof *steps);
    bool *picked = kg_alloc(cx->arena, e->count * sizeof *picked);
    memset(steps, 0, e->count * sizeof *steps);
    memset(picked, 0, e->count * sizeof *picked);
    for (size_t i = e->count; i-- > 0;) {
        kiln_xnode *x = &e->node[i];
        const bool jumps = x->op == KILN_X_FLOOR || kiln_x_is_condition(x->op);
        for (int k = 0; k < ops[x->op].arity; k++) steps[x->arg[k]] |= steps[i] || jumps;
        if (picks(x->op) || (x->op == KILN_X_NEG && picked[i])) picked[x->arg[0]] = true;
        if ((x->op == KILN_X_DIV && (steps[i] || picked[i])) ||
            (x->op == KILN_X_MUL && picked[i]))
            x->index = KILN_EXACT;
    }
}

kg_expr kg_trace_encode(kg_ctx *cx, lua_State *L, int first, size_t n, uint16_t *result, int **line)
{
    kg_trace *t = kg_trace_of(L);
    uint32_t last = 0, *root = kg_alloc(cx->arena, n * sizeof *root);
    for (size_t i = 0; i < n; i++) {
        root[i] = operand(L, t, first + (int)i, KILN_X_COUNT);
        if (root[i] > last) last = root[i];
    }
    uint16_t *place = kg_alloc(cx->arena, (last + 1) * sizeof *place); /* 1 + new position; 0: not needed */
    for (size_t i = 0; i < n; i++) place[root[i]] = 1;
    size_t count = 0;
    for (uint32_t i = last + 1; i-- > 0;) { /* operands stand before what uses them */
        if (!place[i]) continue;
        count++;
        for (int k = 0; k < ops[t->node[i].op].arity; k++) place[t->node[i].arg[k]] = 1;
    }
    if (count > KILN_EXPR_MAX) return (kg_expr){NULL, count};
    kg_expr e = {kg_alloc(cx->arena, count * sizeof *e.node), 0};
    if (line) *line = kg_alloc(cx->arena, count * sizeof **line);
    for (uint32_t i = 0; i <= last; i++) {
        if (!place[i]) continue;
        kiln_xnode x = t->node[i];
        for (int k = 0; k < ops[x.op].arity; k++) x.arg[k] = (uint16_t)(place[x.arg[k]] - 1);
        if (line) (*line)[e.count] = t->line[i];
        e.node[e.count++] = x;
        place[i] = (uint16_t)e.count;
    }
    for (size_t i = 0; i < n; i++) result[i] = (uint16_t)(place[root[i]] - 1);
    mark_exact(cx, &e);
    return e;
}

bool kg_trace_used(const kg_expr *e, kiln_xop op, unsigned index)
{
    for (size_t i = 0; i < e->count; i++)
        if (e->node[i].op == op && e->node[i].index == index) return true;
    return false;
}

kiln_dtype kg_to_dtype(lua_State *L, int at)
{
    const kiln_dtype *p = luaL_testudata(L, at, DTYPE);
    return p ? *p : KILN_DTYPE_NONE;
}

/* ---- opening ---- */

static void push_closure(lua_State *L, kg_trace *t, lua_CFunction f, lua_Integer n, bool metamethod)
{
    lua_pushlightuserdata(L, t);
    lua_pushinteger(L, n);
    lua_pushboolean(L, metamethod);
    lua_pushcclosure(L, f, 3);
}

static void set_closure(lua_State *L, kg_trace *t, const char *name, lua_CFunction f, lua_Integer n)
{
    push_closure(L, t, f, n, true);
    lua_setfield(L, -2, name);
}

static void new_metatable(lua_State *L, kg_trace *t, const char *name, lua_CFunction index)
{
    static const struct {
        const char *event;
        kiln_xop op;
    } arithmetic[] = {{"__add", KILN_X_ADD}, {"__sub", KILN_X_SUB}, {"__mul", KILN_X_MUL},
                      {"__div", KILN_X_DIV}, {"__pow", KILN_X_POW}, {"__unm", KILN_X_NEG}};
    luaL_newmetatable(L, name);
    for (size_t i = 0; i < sizeof arithmetic / sizeof *arithmetic; i++)
        set_closure(L, t, arithmetic[i].event, apply, (lua_Integer)arithmetic[i].op);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        set_closure(L, t, refusals[i].event, refuse, (lua_Integer)i);
    set_closure(L, t, "__call", refuse_call, 0);
    set_closure(L, t, "__newindex", refuse_store, 0);
    set_closure(L, t, "__index", index, 0);
    lua_pop(L, 1);
}

static bool is_function(size_t op)
{
    return ops[op].arity > 0 && (op < KILN_X_ADD || op > KILN_X_NEG);
}

static void open_dtypes(lua_State *L)
{
    luaL_newmetatable(L, DTYPE);
    lua_pushcfunction(L, dtype_text);
    lua_setfield(L, -2, "__tostring");
    lua_pop(L, 1);
    for (int i = 1; i < KILN_DTYPE_COUNT; i++) {
        kiln_dtype *p = lua_newuserdatauv(L, sizeof *p, 0);
        *p = (kiln_dtype)i;
        luaL_setmetatable(L, DTYPE);
        lua_setfield(L, -2, dtype_name[i]);
    }
}

void kg_expr_open(kg_ctx *cx, lua_State *L)
{
    (void)cx;
    kg_trace *t = lua_newuserdatauv(L, sizeof *t, 0);
    memset(t, 0, sizeof *t);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &trace_key);
    new_metatable(L, t, SYMBOL, symbol_index);
    new_metatable(L, t, RECORD, record_index);
    open_dtypes(L);
    for (size_t i = 0; i < KILN_X_COUNT; i++) {
        if (!is_function(i)) continue;
        push_closure(L, t, apply, (lua_Integer)i, false);
        lua_setfield(L, -2, ops[i].name);
    }
}

static const char *listed(kg_ctx *cx, const char *text, const char *name)
{
    return kg_printf(cx->arena, "%s%s%s", text, *text ? ", " : "", name);
}

static bool may_use(size_t op, kg_reduces which)
{
    if (!kg_is_reduction((unsigned)op)) return true;
    return which > (kiln_x_is_col_reduction((unsigned)op) ? KG_OF_ROWS : KG_NONE);
}

const char *kg_expr_functions(kg_ctx *cx, kg_reduces which)
{
    const char *text = "";
    for (size_t i = 0; i < KILN_X_COUNT; i++)
        if (is_function(i) && may_use(i, which)) text = listed(cx, text, ops[i].name);
    return text;
}

const char *kg_expr_name(kiln_xop op)
{
    return ops[op].name;
}

const char *kg_expr_dtypes(kg_ctx *cx)
{
    const char *text = "";
    for (int i = 1; i < KILN_DTYPE_COUNT; i++) text = listed(cx, text, dtype_name[i]);
    return text;
}

void kg_expr_describe(FILE *to)
{
    for (size_t i = 0; i < KILN_X_COUNT; i++)
        if (is_function(i))
            fprintf(to, "function %s %d\n", ops[i].name, operands((kiln_xop)i));
    for (int i = 1; i < KILN_DTYPE_COUNT; i++) fprintf(to, "dtype %s\n", dtype_name[i]);
}
