// SPDX-License-Identifier: MIT
// Problem-time functions of a schedule: they are called once with symbols for p and t, and what
// they compute is written as C.  Plain numbers stay plain, so the same functions work at generation
// time.
#include "back.h"
#include <lauxlib.h>
#include <math.h>
#include <string.h>

#define SYMBOL "kiln.symbol"

/* A symbol belongs to one trace: kept in a schedule's local and used in another, it would mean
 * something else. */
typedef struct symbol {
    const kg_syms *owner;
    uint16_t node;
} symbol;

static kg_ctx *context(lua_State *L)
{
    return lua_touserdata(L, lua_upvalueindex(1));
}

static uint16_t intern(lua_State *L, kg_syms *s, kg_snode n)
{
    for (size_t i = 0; i < s->count; i++) {
        const kg_snode *o = &s->node[i];
        if (o->op == n.op && o->index == n.index && o->real == n.real &&
            memcmp(o->arg, n.arg, sizeof n.arg) == 0 &&
            memcmp(&o->value, &n.value, sizeof n.value) == 0)
            return (uint16_t)i;
    }
    if (s->count == KG_SYM_MAX)
        luaL_error(L, "more than %d operations on p and t", (int)KG_SYM_MAX);
    s->node[s->count] = n;
    return (uint16_t)s->count++;
}

static void push_node(lua_State *L, kg_syms *s, kg_snode n)
{
    uint16_t at = intern(L, s, n);
    symbol *y = lua_newuserdatauv(L, sizeof *y, 0);
    *y = (symbol){s, at};
    luaL_setmetatable(L, SYMBOL);
}

bool kg_sym_value(lua_State *L, int index, kg_result *v)
{
    *v = (kg_result){0};
    const symbol *y = luaL_testudata(L, index, SYMBOL);
    if (y) {
        v->symbolic = true;
        v->node = y->node;
        v->boolean = kg_sym_is_condition((kg_sym_op)y->owner->node[y->node].op);
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
    kg_result v;
    if (!kg_sym_value(L, i, &v))
        luaL_error(L, "%s: a %s, not a %s", what,
                   condition ? "condition is needed" : "number is needed", luaL_typename(L, i));
    if (v.boolean != condition)
        luaL_error(L,
                   condition ? "%s: a condition is needed, not a number"
                             : "%s: a number is needed, not a condition",
                   what);
    if (v.symbolic) {
        const symbol *y = lua_touserdata(L, i);
        if (y->owner != s) luaL_error(L, "%s: a value kept from another function", what);
        return v.node;
    }
    if (isnan(v.number) || isinf(v.number)) luaL_error(L, "%s: a constant is not finite", what);
    kg_snode n = {.op = KG_S_CONST, .value = v.number};
    if (condition) { /* true and false as comparisons of constants keep one kind per node */
        n.value = 0;
        uint16_t zero = intern(L, s, n);
        return intern(L, s,
                      (kg_snode){.op = v.number != 0 ? KG_S_EQ : KG_S_LT, .arg = {zero, zero}});
    }
    n.real = v.number != floor(v.number) || fabs(v.number) > 9007199254740992.0;
    return intern(L, s, n);
}

/* Whether an operand's fraction is an operation's, not a constant's. */
static bool fraction_below(const kg_syms *s, uint16_t node)
{
    return s->node[node].real && s->node[node].op != KG_S_CONST;
}

kg_pos kg_sym_fraction(const kg_syms *s, const kg_result *v, kg_pos fallback)
{
    if (!v->symbolic) return fallback;
    uint16_t at = v->node;
    for (int i = 0; i < kg_sym_operands((kg_sym_op)s->node[at].op); i++)
        if (fraction_below(s, s->node[at].arg[i])) at = s->node[at].arg[i], i = -1;
    return s->node[at].at;
}

static int push_op(lua_State *L, kg_sym_op op, const char *what, int first)
{
    kg_syms *s = kg_back_of(context(L))->syms;
    if (!s) return luaL_error(L, "%s: a value kept from another function", what);
    kg_snode n = {.op = (uint8_t)op};
    bool below = false;
    for (int i = 0; i < kg_sym_operands(op); i++) {
        bool condition =
            op == KG_S_ALL || op == KG_S_ANY || op == KG_S_NOT || (op == KG_S_SELECT && i == 0);
        n.arg[i] = operand(L, s, first + i, condition, what);
        if (s->node[n.arg[i]].real) n.real = true;
        below |= fraction_below(s, n.arg[i]);
    }
    if (op == KG_S_DIV) n.real = true;
    if (n.real && !below) {
        const kg_source *source = kg_sandbox_running(L, &n.at);
        if (source) n.at.col = kg_column(kg_source_tokens(context(L), source), n.at.line, what);
    }
    push_node(L, s, n);
    return 1;
}

/* Lua's metamethod, its sign, the operation. */
#define ARITHMETIC(X)                                                                              \
    X(add, "+", ADD)                                                                               \
    X(sub, "-", SUB)                                                                               \
    X(mul, "*", MUL)                                                                               \
    X(div, "/", DIV)                                                                               \
    X(idiv, "//", FLOOR_DIV)                                                                       \
    X(mod, "%", MOD)                                                                               \
    X(unm, "-", NEG)

#define X(meta, sign, op)                                                                          \
    static int meta_##meta(lua_State *L)                                                           \
    {                                                                                              \
        return push_op(L, KG_S_##op, sign, 1);                                                     \
    }
ARITHMETIC(X)
#undef X

static int meta_order(lua_State *L)
{
    return luaL_error(
        L, "p and t have no values yet: use lt(x, y), le, gt, ge and select instead of < <= > >=");
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

/* name, operation, Lua's comparison, with operands swapped */
#define COMPARISONS(X)                                                                             \
    X(lt, LT, LUA_OPLT, false)                                                                     \
    X(le, LE, LUA_OPLE, false)                                                                     \
    X(gt, GT, LUA_OPLT, true)                                                                      \
    X(ge, GE, LUA_OPLE, true)                                                                      \
    X(eq, EQ, LUA_OPEQ, false)

#define X(name, op, lua_op, swap)                                                                  \
    static int f_##name(lua_State *L)                                                              \
    {                                                                                              \
        return compare(L, KG_S_##op, #name, lua_op, swap);                                         \
    }
COMPARISONS(X)
#undef X

/* min, max, all, any take two or more: folded from the left; the result replaces argument 1. */
static int fold(lua_State *L, kg_sym_op op, const char *what, void (*plain)(lua_State *))
{
    int n = lua_gettop(L);
    if (n < 1) return luaL_error(L, "%s: no arguments", what);
    for (int i = 2; i <= n; i++) {
        lua_pushvalue(L, 1);
        lua_pushvalue(L, i);
        if (luaL_testudata(L, -1, SYMBOL) || luaL_testudata(L, -2, SYMBOL))
            push_op(L, op, what, lua_gettop(L) - 1);
        else
            plain(L);
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

#define X(name, op)                                                                                \
    static int f_##name(lua_State *L)                                                              \
    {                                                                                              \
        return fold(L, KG_S_##op, #name, plain_##name);                                            \
    }
X(min, MIN)
X(max, MAX)
X(all, ALL)
X(any, ANY)
#undef X

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
    lua_insert(L, 2); /* x, x, -y */
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
    const char *const *names = p ? s->p.name : s->slot;
    size_t n = p ? s->p.n : s->nslots;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(names[i], key) != 0) continue;
        push_node(L, s,
                  (kg_snode){.op = p ? KG_S_P : KG_S_T, .index = p ? s->p.at[i] : (uint8_t)i});
        return 1;
    }
    const char *near = kg_closest(key, names, n);
    if (near)
        return luaL_error(L, "%s has no field '%s' (did you mean '%s'?)", p ? "p" : "t", key, near);
    return luaL_error(L, "%s has no field '%s'", p ? "p" : "t", key);
}

static int meta_newindex(lua_State *L)
{
    return luaL_error(L, "p and t cannot be assigned to");
}

static const luaL_Reg meta[] = {{"__lt", meta_order},
                                {"__le", meta_order},
                                {"__eq", meta_eq},
#define X(name, sign, op) {"__" #name, meta_##name},
                                ARITHMETIC(X)
#undef X
};

static const luaL_Reg functions[] = {
    {"min", f_min},  {"max", f_max},           {"all", f_all},       {"any", f_any},
    {"not_", f_not}, {"ceil_div", f_ceil_div}, {"select", f_select},
#define X(name, ...) {#name, f_##name},
    COMPARISONS(X)
#undef X
};

static void set_functions(kg_ctx *cx, lua_State *L, const luaL_Reg *f, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        lua_pushstring(L, f[i].name);
        lua_pushlightuserdata(L, cx);
        lua_pushcclosure(L, f[i].func, 1);
        lua_rawset(L, -3);
    }
}

void kg_sym_open(kg_ctx *cx, lua_State *L)
{
    luaL_newmetatable(L, SYMBOL);
    set_functions(cx, L, meta, sizeof meta / sizeof *meta);
    lua_pop(L, 1);
    set_functions(cx, L, functions, sizeof functions / sizeof *functions);
}

static void add_field(kg_shape_names *p, const char *name, size_t offset)
{
    p->name[p->n] = name;
    p->at[p->n++] = (uint8_t)(offset / sizeof(int64_t));
}

/* m n k batch lda .. align_a .. align_d vector units gflops gops gbps: of the family's sizes and
 * own tensors. */
void kg_sym_name_fields(kg_ctx *cx, const kg_family *f, kg_shape_names *p)
{
    for (size_t i = 0; i < f->nsizes; i++)
        add_field(p, f->size[i], offsetof(kiln_shape, size[KILN_POSITION(i)]));
    add_field(p, "batch", offsetof(kiln_shape, size[KILN_BATCH]));
    for (size_t i = 0; i < f->nown; i++)
        add_field(p, kg_printf(cx->arena, "ld%s", f->own[i].name), offsetof(kiln_shape, ld[i]));
    for (size_t i = 0; i < f->nown && f->planes != KILN_NOWHERE; i++)
        add_field(p, kg_printf(cx->arena, "plane_%s", f->own[i].name),
                  offsetof(kiln_shape, plane[i]));
    for (size_t i = 0; i < f->nown; i++)
        add_field(p, kg_printf(cx->arena, "align_%s", f->own[i].name),
                  offsetof(kiln_shape, align[i]));
    add_field(p, "align_d", offsetof(kiln_shape, align_d));
    add_field(p, "vector", offsetof(kiln_shape, vector));
    add_field(p, "units", offsetof(kiln_shape, units));
    add_field(p, "gflops", offsetof(kiln_shape, gflops));
    add_field(p, "gops", offsetof(kiln_shape, gops));
    add_field(p, "gbps", offsetof(kiln_shape, gbps));
}

void kg_sym_begin(kg_ctx *cx, kg_syms *s)
{
    kg_sym_name_fields(cx, s->family, &s->p);
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

void kg_sym_push_p(kg_ctx *cx, lua_State *L)
{
    push_view(cx, L, true);
}
void kg_sym_push_t(kg_ctx *cx, lua_State *L)
{
    push_view(cx, L, false);
}
