// SPDX-License-Identifier: MIT
// Problem-time functions of a schedule: they are called once with symbols for p and t, and what they compute is
// written as C.  Plain numbers stay plain, so the same functions work at generation time.
#include "back.h"
#include "../abi/kiln_problem_math.h"
#include <lauxlib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct { const char *integer, *real; int args; } op_info[KG_S_COUNT] = {
#define X(id, n, i, r) { i, r, n },
    KG_SYM_OPS(X)
#undef X
};

static const char *const shape_field[] = {
#define X(name) #name,
    KG_SHAPE_FIELDS(X)
#undef X
};
enum { NSHAPE = sizeof shape_field / sizeof *shape_field, LINE_NODES = 4 };

#define SYMBOL "kiln.symbol"

/* A symbol belongs to one trace: kept in a schedule's local and used in another, it would mean something else. */
typedef struct symbol { const kg_syms *owner; uint16_t node; } symbol;

static kg_ctx *context(lua_State *L)
{
    return lua_touserdata(L, lua_upvalueindex(1));
}

static int is_condition(kg_sym_op op)
{
    return op >= KG_S_LT;
}

static uint16_t intern(lua_State *L, kg_syms *s, kg_snode n)
{
    for (size_t i = 0; i < s->count; i++) {
        const kg_snode *o = &s->node[i];
        if (o->op == n.op && o->index == n.index && o->real == n.real && memcmp(o->arg, n.arg, sizeof n.arg) == 0 &&
            memcmp(&o->value, &n.value, sizeof n.value) == 0)
            return (uint16_t)i;
    }
    if (s->count == KG_SYM_MAX) luaL_error(L, "more than %d operations on p and t", (int)KG_SYM_MAX);
    s->node[s->count] = n;
    return (uint16_t)s->count++;
}

static void push_node(lua_State *L, kg_syms *s, kg_snode n)
{
    uint16_t at = intern(L, s, n);
    symbol *y = lua_newuserdatauv(L, sizeof *y, 0);
    *y = (symbol){ s, at };
    luaL_setmetatable(L, SYMBOL);
}

bool kg_sym_value(lua_State *L, int index, kg_value *v)
{
    *v = (kg_value){0};
    const symbol *y = luaL_testudata(L, index, SYMBOL);
    if (y) {
        v->symbolic = true;
        v->node = y->node;
        v->boolean = is_condition((kg_sym_op)y->owner->node[y->node].op);
        v->real = y->owner->node[y->node].real;
        return true;
    }
    if (lua_isboolean(L, index)) {
        v->boolean = true;
        v->number = lua_toboolean(L, index);
        return true;
    }
    v->number = lua_tonumber(L, index);
    v->real = v->number != floor(v->number);
    return lua_type(L, index) == LUA_TNUMBER;
}

/* The node of argument i; plain numbers become constants. */
static uint16_t operand(lua_State *L, kg_syms *s, int i, bool condition, const char *what)
{
    kg_value v;
    if (!kg_sym_value(L, i, &v))
        luaL_error(L, "%s: a %s, not a %s", what, condition ? "condition is needed" : "number is needed",
                   luaL_typename(L, i));
    if (v.boolean != condition)
        luaL_error(L, condition ? "%s: a condition is needed, not a number" : "%s: a number is needed, not a condition",
                   what);
    if (v.symbolic) {
        const symbol *y = lua_touserdata(L, i);
        if (y->owner != s) luaL_error(L, "%s: a value kept from another function", what);
        return v.node;
    }
    if (isnan(v.number) || isinf(v.number)) luaL_error(L, "%s: a constant is not finite", what);
    kg_snode n = { .op = KG_S_CONST, .value = v.number };
    if (condition) { /* true and false as comparisons of constants keep one kind per node */
        n.value = 0;
        uint16_t zero = intern(L, s, n);
        return intern(L, s, (kg_snode){ .op = v.number != 0 ? KG_S_EQ : KG_S_LT, .arg = { zero, zero } });
    }
    n.real = v.number != floor(v.number) || fabs(v.number) > 9007199254740992.0;
    return intern(L, s, n);
}

static int push_op(lua_State *L, kg_sym_op op, const char *what, int first)
{
    kg_syms *s = kg_back_of(context(L))->syms;
    if (!s) return luaL_error(L, "%s: a value kept from another function", what);
    kg_snode n = { .op = (uint8_t)op };
    for (int i = 0; i < op_info[op].args; i++) {
        bool condition = op == KG_S_ALL || op == KG_S_ANY || op == KG_S_NOT || (op == KG_S_SELECT && i == 0);
        n.arg[i] = operand(L, s, first + i, condition, what);
        if (!condition && s->node[n.arg[i]].real) n.real = true;
    }
    if (op == KG_S_DIV) n.real = true;
    push_node(L, s, n);
    return 1;
}

#define ARITHMETIC(X)                                                                                 \
    X(add, "+", ADD) X(sub, "-", SUB) X(mul, "*", MUL) X(div, "/", DIV) X(idiv, "//", FLOOR_DIV)      \
    X(mod, "%", MOD) X(unm, "-", NEG)

#define X(meta, sign, op)                           \
    static int meta_##meta(lua_State *L)            \
    {                                               \
        return push_op(L, KG_S_##op, sign, 1);      \
    }
ARITHMETIC(X)
#undef X

static int meta_order(lua_State *L)
{
    return luaL_error(L, "p and t have no values yet: use lt(x, y), le, gt, ge and select instead of < <= > >=");
}

static int meta_eq(lua_State *L)
{
    return luaL_error(L, "p and t have no values yet: use eq(x, y) and select instead of ==");
}

static bool has_symbol(lua_State *L)
{
    for (int i = 1, n = lua_gettop(L); i <= n; i++)
        if (luaL_testudata(L, i, SYMBOL)) return true;
    return false;
}

/* Comparisons of plain numbers, by Lua itself so that integers stay exact. */
static int compare(lua_State *L, kg_sym_op op, const char *what, int lua_op, bool swap)
{
    lua_settop(L, 2);
    if (has_symbol(L)) return push_op(L, op, what, 1);
    luaL_checknumber(L, 1);
    luaL_checknumber(L, 2);
    lua_pushboolean(L, swap ? lua_compare(L, 2, 1, lua_op) : lua_compare(L, 1, 2, lua_op));
    return 1;
}

static int f_lt(lua_State *L) { return compare(L, KG_S_LT, "lt", LUA_OPLT, false); }
static int f_le(lua_State *L) { return compare(L, KG_S_LE, "le", LUA_OPLE, false); }
static int f_gt(lua_State *L) { return compare(L, KG_S_GT, "gt", LUA_OPLT, true); }
static int f_ge(lua_State *L) { return compare(L, KG_S_GE, "ge", LUA_OPLE, true); }
static int f_eq(lua_State *L) { return compare(L, KG_S_EQ, "eq", LUA_OPEQ, false); }

/* min, max, all, any take two or more: folded from the left; the result replaces argument 1. */
static int fold(lua_State *L, kg_sym_op op, const char *what, void (*plain)(lua_State *))
{
    int n = lua_gettop(L);
    if (n < 1) return luaL_error(L, "%s: no arguments", what);
    for (int i = 2; i <= n; i++) {
        lua_pushvalue(L, 1);
        lua_pushvalue(L, i);
        if (luaL_testudata(L, -1, SYMBOL) || luaL_testudata(L, -2, SYMBOL)) push_op(L, op, what, lua_gettop(L) - 1);
        else plain(L);
        lua_replace(L, 1);
        lua_settop(L, n);
    }
    lua_settop(L, 1);
    return 1;
}

/* Each takes two values on top of the stack and leaves the result on top. */
static void plain_min(lua_State *L)
{
    luaL_checknumber(L, -1);
    luaL_checknumber(L, -2);
    if (lua_compare(L, -2, -1, LUA_OPLE)) lua_pop(L, 1);
}

static void plain_max(lua_State *L)
{
    luaL_checknumber(L, -1);
    luaL_checknumber(L, -2);
    if (lua_compare(L, -1, -2, LUA_OPLE)) lua_pop(L, 1);
}

static void plain_all(lua_State *L)
{
    luaL_checktype(L, -1, LUA_TBOOLEAN);
    luaL_checktype(L, -2, LUA_TBOOLEAN);
    lua_pushboolean(L, lua_toboolean(L, -1) & lua_toboolean(L, -2));
}

static void plain_any(lua_State *L)
{
    luaL_checktype(L, -1, LUA_TBOOLEAN);
    luaL_checktype(L, -2, LUA_TBOOLEAN);
    lua_pushboolean(L, lua_toboolean(L, -1) | lua_toboolean(L, -2));
}

static int f_min(lua_State *L) { return fold(L, KG_S_MIN, "min", plain_min); }
static int f_max(lua_State *L) { return fold(L, KG_S_MAX, "max", plain_max); }
static int f_all(lua_State *L) { return fold(L, KG_S_ALL, "all", plain_all); }
static int f_any(lua_State *L) { return fold(L, KG_S_ANY, "any", plain_any); }

static int f_not(lua_State *L)
{
    lua_settop(L, 1);
    if (has_symbol(L)) return push_op(L, KG_S_NOT, "not_", 1);
    luaL_checktype(L, 1, LUA_TBOOLEAN);
    lua_pushboolean(L, !lua_toboolean(L, 1));
    return 1;
}

static int f_ceil_div(lua_State *L)
{
    lua_settop(L, 2);
    if (has_symbol(L)) return push_op(L, KG_S_CEIL_DIV, "ceil_div", 1);
    if (luaL_checknumber(L, 2) == 0) return luaL_error(L, "ceil_div: division by 0");
    luaL_checknumber(L, 1);
    lua_arith(L, LUA_OPUNM); /* -((-x) // y), y above */
    lua_pushvalue(L, 1);
    lua_insert(L, 2);        /* x, x, -y */
    lua_arith(L, LUA_OPIDIV);
    lua_arith(L, LUA_OPUNM);
    return 1;
}

static int f_select(lua_State *L)
{
    lua_settop(L, 3);
    if (!lua_isboolean(L, 1)) return push_op(L, KG_S_SELECT, "select", 1);
    lua_pushvalue(L, lua_toboolean(L, 1) ? 2 : 3);
    return 1;
}

/* Upvalues: context, true for p. */
static int meta_field(lua_State *L)
{
    kg_syms *s = kg_back_of(context(L))->syms;
    bool p = lua_toboolean(L, lua_upvalueindex(2));
    const char *key = luaL_checkstring(L, 2);
    const char *const *names = p ? shape_field : s->slot;
    size_t n = p ? NSHAPE : s->nslots;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(names[i], key) != 0) continue;
        push_node(L, s, (kg_snode){ .op = p ? KG_S_P : KG_S_T, .index = (uint8_t)i });
        return 1;
    }
    const char *near = kg_closest(key, names, n);
    if (near) return luaL_error(L, "%s has no field '%s' (did you mean '%s'?)", p ? "p" : "t", key, near);
    return luaL_error(L, "%s has no field '%s'", p ? "p" : "t", key);
}

static int meta_newindex(lua_State *L)
{
    return luaL_error(L, "p and t cannot be assigned to");
}

void kg_sym_open(kg_ctx *cx, lua_State *L)
{
    static const luaL_Reg meta[] = {
#define X(name, sign, op) { "__" #name, meta_##name },
        ARITHMETIC(X)
#undef X
        { "__lt", meta_order }, { "__le", meta_order }, { "__eq", meta_eq }, { NULL, NULL },
    };
    static const luaL_Reg functions[] = {
        { "lt", f_lt }, { "le", f_le }, { "gt", f_gt }, { "ge", f_ge }, { "eq", f_eq }, { "min", f_min },
        { "max", f_max }, { "all", f_all }, { "any", f_any }, { "not_", f_not }, { "ceil_div", f_ceil_div },
        { "select", f_select }, { NULL, NULL },
    };
    luaL_newmetatable(L, SYMBOL);
    lua_pushlightuserdata(L, cx);
    luaL_setfuncs(L, meta, 1);
    lua_pop(L, 1);
    for (const luaL_Reg *f = functions; f->name; f++) {
        lua_pushlightuserdata(L, cx);
        lua_pushcclosure(L, f->func, 1);
        lua_pushstring(L, f->name);
        lua_insert(L, -2);
        lua_rawset(L, -3);
    }
}

void kg_sym_begin(kg_ctx *cx, kg_syms *s)
{
    s->node = kg_alloc(cx->arena, KG_SYM_MAX * sizeof *s->node);
    kg_back_of(cx)->syms = s;
}

static void push_view(kg_ctx *cx, lua_State *L, bool p)
{
    lua_newtable(L);
    lua_createtable(L, 0, 3);
    lua_pushlightuserdata(L, cx);
    lua_pushboolean(L, p);
    lua_pushcclosure(L, meta_field, 2);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, meta_newindex);
    lua_setfield(L, -2, "__newindex");
    lua_setmetatable(L, -2);
}

void kg_sym_push_p(kg_ctx *cx, lua_State *L) { push_view(cx, L, true); }
void kg_sym_push_t(kg_ctx *cx, lua_State *L) { push_view(cx, L, false); }

/* ---- evaluating ---- */
int64_t kg_sym_evaluate(const kg_syms *s, const kg_value *v, const kiln_shape *p, const int32_t *t)
{
    static const size_t field[] = {
#define X(name) offsetof(kiln_shape, name),
        KG_SHAPE_FIELDS(X)
#undef X
    };
    int64_t of[KG_SYM_MAX];
    of[0] = 0; /* what leaves name as operands */
    if (!v->symbolic) return (int64_t)v->number;
    for (size_t i = 0; i <= v->node; i++) { /* operands come first */
        const kg_snode *n = &s->node[i];
        int64_t x = of[n->arg[0]], y = of[n->arg[1]], z = of[n->arg[2]];
        switch ((kg_sym_op)n->op) {
        case KG_S_CONST: of[i] = (int64_t)n->value; break;
        case KG_S_P: memcpy(&of[i], (const char *)p + field[n->index], sizeof of[i]); break;
        case KG_S_T: of[i] = t[n->index]; break;
        case KG_S_ADD: of[i] = kiln_i_add(x, y); break;
        case KG_S_SUB: of[i] = kiln_i_sub(x, y); break;
        case KG_S_MUL: of[i] = kiln_i_mul(x, y); break;
        case KG_S_DIV: case KG_S_FLOOR_DIV: of[i] = kiln_i_div(x, y); break;
        case KG_S_MOD: of[i] = kiln_i_mod(x, y); break;
        case KG_S_CEIL_DIV: of[i] = kiln_i_ceil_div(x, y); break;
        case KG_S_NEG: of[i] = kiln_i_sub(0, x); break;
        case KG_S_MIN: of[i] = kiln_i_min(x, y); break;
        case KG_S_MAX: of[i] = kiln_i_max(x, y); break;
        case KG_S_SELECT: of[i] = x ? y : z; break;
        case KG_S_LT: of[i] = x < y; break;
        case KG_S_LE: of[i] = x <= y; break;
        case KG_S_GT: of[i] = x > y; break;
        case KG_S_GE: of[i] = x >= y; break;
        case KG_S_EQ: of[i] = x == y; break;
        case KG_S_ALL: of[i] = x && y; break;
        case KG_S_ANY: of[i] = x || y; break;
        case KG_S_NOT: of[i] = !x; break;
        case KG_S_COUNT: break;
        }
    }
    return of[v->node];
}

/* ---- lowering ---- */
void kg_lower_begin(kg_ctx *cx, kg_lower *l, const kg_syms *s, bool real, kg_buf *out)
{
    *l = (kg_lower){ s, real, NULL, NULL, out };
    l->uses = kg_alloc(cx->arena, (s->count + 1) * sizeof *l->uses);
    l->size = kg_alloc(cx->arena, (s->count + 1) * sizeof *l->size);
}

static void use(kg_lower *l, uint16_t node)
{
    if (l->uses[node]) { /* operands are counted once */
        l->uses[node] = 2;
        return;
    }
    l->uses[node] = 1;
    const kg_snode *n = &l->syms->node[node];
    for (int i = 0; i < op_info[n->op].args; i++) use(l, n->arg[i]);
}

void kg_lower_use(kg_lower *l, const kg_value *v)
{
    if (v->symbolic) use(l, v->node);
}

static void put_number(kg_lower *l, double x)
{
    if (l->real) {
        char text[40];
        for (int digits = 15; digits <= 17; digits++) { /* as few as give it back */
            snprintf(text, sizeof text, "%.*g", digits, x);
            if (strtod(text, NULL) == x) break;
        }
        kg_putf(l->out, strpbrk(text, ".e") ? "%s" : "%s.0", text);
    } else if (fabs(x) > INT32_MAX) {
        kg_putf(l->out, "%lldll", (long long)x);
    } else {
        kg_putf(l->out, "%d", (int)x);
    }
}

static void put_node(kg_lower *l, uint16_t node);

static void put_expression(kg_lower *l, const kg_snode *n)
{
    const char *cast = l->real ? "(double)" : "";
    switch ((kg_sym_op)n->op) {
    case KG_S_CONST: put_number(l, n->value); return;
    case KG_S_P: kg_putf(l->out, "%sp->%s", cast, shape_field[n->index]); return;
    case KG_S_T: kg_putf(l->out, "%st[%d]", l->real ? cast : "(int64_t)", n->index); return;
    case KG_S_ADD: case KG_S_SUB: case KG_S_MUL: case KG_S_DIV: case KG_S_FLOOR_DIV: case KG_S_MOD: case KG_S_CEIL_DIV:
    case KG_S_NEG: case KG_S_MIN: case KG_S_MAX: case KG_S_SELECT: case KG_S_LT: case KG_S_LE: case KG_S_GT:
    case KG_S_GE: case KG_S_EQ: case KG_S_ALL: case KG_S_ANY: case KG_S_NOT: case KG_S_COUNT: break;
    }
    const char *f = l->real && op_info[n->op].real ? op_info[n->op].real : op_info[n->op].integer;
    for (const char *hole; (hole = strchr(f, '%')) != NULL; f = hole + 2) {
        kg_put(l->out, f, (size_t)(hole - f));
        put_node(l, n->arg[hole[1] - '0']);
    }
    kg_puts(l->out, f);
}

static bool is_leaf(const kg_snode *n)
{
    return n->op <= KG_S_T;
}

static void put_node(kg_lower *l, uint16_t node)
{
    const kg_snode *n = &l->syms->node[node];
    if (l->uses[node] > 1 && !is_leaf(n)) kg_putf(l->out, "v%d", node);
    else put_expression(l, n);
}

/* Shared nodes get a variable, and so do the parts of what would become a long line. */
static void put_vars(kg_lower *l, uint16_t node, bool root)
{
    const kg_snode *n = &l->syms->node[node];
    if (l->size[node] || is_leaf(n)) return;
    l->size[node] = 1;
    for (int i = 0; i < op_info[n->op].args; i++) {
        put_vars(l, n->arg[i], false);
        if (l->uses[n->arg[i]] < 2) l->size[node] = (uint16_t)(l->size[node] + l->size[n->arg[i]]);
    }
    if (!root && l->size[node] >= LINE_NODES) l->uses[node] = 2;
    if (l->uses[node] < 2) return;
    kg_putf(l->out, "    const %s v%d = ",
            is_condition((kg_sym_op)n->op) ? "int" : l->real ? "double" : "int64_t", node);
    put_expression(l, n);
    kg_puts(l->out, ";\n");
}

void kg_lower_vars(kg_lower *l, const kg_value *v)
{
    if (v->symbolic) put_vars(l, v->node, true);
}

void kg_lower_text(kg_lower *l, const kg_value *v)
{
    if (v->symbolic) put_node(l, v->node);
    else put_number(l, v->number);
}
