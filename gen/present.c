// SPDX-License-Identifier: MIT
// What schedules and templates see of an op: the tables op, types, layout, fn and call of
// docs/schedules.md.
#define _GNU_SOURCE /* realpath */
#include "back.h"
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

typedef struct view_cache {
    kg_view view;
    int ref[KG_VIEW_TABLES];
    int dtype[KILN_DTYPE_COUNT];
    const char *file, *shown; /* last answer of kg_shown */
} view_cache;

const char *kg_dtype_text(kiln_dtype t)
{
    return kiln_formats[t].name;
}

static view_cache *cache(kg_ctx *cx)
{
    kg_back *b = kg_back_of(cx);
    if (b->view) return b->view;
    view_cache *c = b->view = kg_alloc(cx->arena, sizeof *c);
    for (int i = 0; i < KG_VIEW_TABLES; i++) c->ref[i] = LUA_NOREF;
    for (int t = 1; t < KILN_DTYPE_COUNT; t++) {
        lua_createtable(cx->T, 0, 3);
        lua_pushstring(cx->T, kiln_formats[t].name);
        lua_setfield(cx->T, -2, "name");
        lua_pushinteger(cx->T, kiln_formats[t].bytes);
        lua_setfield(cx->T, -2, "bytes");
        lua_pushboolean(cx->T, kiln_is_float((kiln_dtype)t));
        lua_setfield(cx->T, -2, "float");
        kg_protect(cx);
        c->dtype[t] = luaL_ref(cx->T, LUA_REGISTRYINDEX);
    }
    return c;
}

static int refuse_field(lua_State *T)
{
    const char *name = lua_type(T, 2) == LUA_TSTRING ? lua_tostring(T, 2) : "a field";
    return luaL_error(T, "'%s' cannot be set: all instances share this table", name);
}

void kg_protect(kg_ctx *cx)
{
    lua_State *T = cx->T;
    if (luaL_newmetatable(T, "kiln.shared")) {
        lua_pushcfunction(T, refuse_field);
        lua_setfield(T, -2, "__newindex");
    }
    lua_setmetatable(T, -2);
}

/* The last two components, whatever the working directory and however the file was named. */
const char *kg_shown(kg_ctx *cx, const char *file)
{
    view_cache *c = cache(cx);
    if (c->file == file) return c->shown;
    const char *path = file, *base = strrchr(path, '/');
    bool plain = base && base > path && base[-1] != '.' && base[-1] != '/';
    char *real = plain ? NULL : realpath(file, NULL);
    if (real) base = strrchr(path = real, '/');
    const char *from = base;
    while (from && from > path && from[-1] != '/') from--;
    if (from == base && base) from = base + 1;
    if (!from) from = path;
    c->file = file;
    c->shown = kg_strndup(cx->arena, from, strlen(from));
    free(real);
    return c->shown;
}

void kg_put_quoted(kg_buf *b, const char *s, size_t n)
{
    kg_put(b, "\"", 1);
    for (size_t i = 0; i < n; i++) {
        unsigned char ch = (unsigned char)s[i];
        if (ch == '"' || ch == '\\') kg_put(b, "\\", 1);
        if (ch < ' ' || ch > '~')
            kg_putf(b, "\\%03o", ch);
        else
            kg_put(b, s + i, 1);
    }
    kg_put(b, "\"", 1);
}

/* ---- types, layout, op ---- */
static void set_dtype(kg_ctx *cx, const char *name, kiln_dtype t)
{
    lua_rawgeti(cx->T, LUA_REGISTRYINDEX, cache(cx)->dtype[t]);
    lua_setfield(cx->T, -2, name);
}

static void push_types(kg_ctx *cx, const kg_types *t)
{
    kiln_dtype mul[2];
    kiln_mul_types(t->a, t->b, &mul[0], &mul[1]);
    lua_createtable(cx->T, 0, 6);
    set_dtype(cx, "a", t->a);
    set_dtype(cx, "b", t->b);
    set_dtype(cx, "e", t->e);
    set_dtype(cx, "acc", t->acc);
    set_dtype(cx, "mul_a", mul[0]);
    set_dtype(cx, "mul_b", mul[1]);
}

static const char *letter(kiln_layout l)
{
    switch (l) {
    case KILN_ROW:
        return "r";
    case KILN_COL:
        return "c";
    case KILN_LAYOUT_NONE:
        break;
    }
    return "";
}

static void set_text(lua_State *T, const char *name, const char *text)
{
    lua_pushstring(T, text);
    lua_setfield(T, -2, name);
}

static void push_layout(kg_ctx *cx, const kg_layout *l)
{
    lua_createtable(cx->T, 0, 3);
    set_text(cx->T, "a", letter(l->a));
    set_text(cx->T, "b", letter(l->b));
    set_text(cx->T, "e", letter(l->e));
}

static kiln_dtype d_type(uint8_t type, const kg_types *t)
{
    switch (type) {
    case 0x80 | 'a':
        return t->a;
    case 0x80 | 'b':
        return t->b;
    case 0x80 | 'c':
        return t->acc;
    case 0x80 | 'e':
        return t->e;
    default:
        return (kiln_dtype)type;
    }
}

static const char *kind_text(kiln_dkind kind)
{
    switch (kind) {
#define X(name, id, text)                                                                          \
    case id:                                                                                       \
        return #name;
        KILN_DKINDS(X)
#undef X
    case KILN_D_NONE:
        break;
    }
    return "";
}

static void push_names(lua_State *T, const char *const *name, size_t n)
{
    lua_createtable(T, (int)n, 0);
    for (size_t i = 0; i < n; i++) {
        lua_pushstring(T, name[i]);
        lua_rawseti(T, -2, (lua_Integer)i + 1);
    }
}

/* Whether type `t` has every value of `from`: then a conversion to it changes none.  Integers and fp8
 * fit every floating-point type of 16 bits or more, i32 excepted. */
static bool holds(kiln_dtype t, kiln_dtype from)
{
    if (t == from) return true;
    bool small = kiln_formats[from].bytes == 1;
    if (t == KILN_F32) return small || from == KILN_F16 || from == KILN_BF16;
    return (t == KILN_F16 || t == KILN_BF16) && small;
}

/* Whether an element operator does nothing that the conversion from `from` to `mul` would not do by
 * itself: casts that keep the value, or round to `mul` already.  Templates never see such an operator. */
static bool only_converts(const kg_expr *e, kiln_dtype from, kiln_dtype mul)
{
    for (size_t i = 0; i < e->count; i++) {
        const kiln_xnode *x = &e->node[i];
        if (i == 0 ? x->op != KILN_X_ARG : x->op != KILN_X_CAST || x->arg[0] != i - 1) return false;
        if (i == 0 || holds((kiln_dtype)x->index, from)) continue;
        if (x->index != mul) return false;
        from = mul;
    }
    return true;
}

static bool has_element_op(kg_view v, char operand)
{
    kiln_dtype mul[2];
    kiln_mul_types(v.types->a, v.types->b, &mul[0], &mul[1]);
    if (operand == 'a') return !only_converts(&v.op->a_op, v.types->a, mul[0]);
    return !only_converts(&v.op->b_op, v.types->b, mul[1]);
}

static void push_op(kg_ctx *cx, kg_view v)
{
    lua_State *T = cx->T;
    const kg_op *op = v.op;
    lua_createtable(T, 0, 8);
    set_text(T, "name", op->name);
    lua_pushinteger(T, (lua_Integer)op->products);
    lua_setfield(T, -2, "products");
    push_names(T, op->b_name, op->b_name[0] ? op->products : 0);
    lua_setfield(T, -2, "b_names");
    push_names(T, op->scalar, op->nscalars);
    lua_setfield(T, -2, "scalars");
    lua_pushboolean(T, has_element_op(v, 'a'));
    lua_setfield(T, -2, "has_a_op");
    lua_pushboolean(T, has_element_op(v, 'b'));
    lua_setfield(T, -2, "has_b_op");
    lua_createtable(T, (int)op->nd, 0);
    for (size_t i = 0; i < op->nd; i++) {
        const kg_d *d = &op->d[i];
        lua_createtable(T, 0, 5);
        set_text(T, "name", d->name);
        set_text(T, "kind", kind_text(d->kind));
        set_dtype(cx, "type", d_type(d->type, v.types));
        set_text(T, "layout", letter(d->layout ? d->layout : v.layout->e));
        lua_pushinteger(T, (lua_Integer)i);
        lua_setfield(T, -2, "index");
        lua_rawseti(T, -2, (lua_Integer)i + 1);
    }
    lua_setfield(T, -2, "d");
}

/* ---- fn: the traced functions as device code ---- */
typedef struct leaves {
    const char *d[KILN_MAX_D], *scalar[KILN_MAX_SCALARS];
} leaves;

static const char *leaf_name(void *arg, const kiln_xnode *x)
{
    static const char *const acc[KILN_MAX_B] = {"acc0", "acc1"};
    const leaves *l = arg;
    if (x->op == KILN_X_ACC) return acc[x->index];
    if (x->op == KILN_X_D) return l->d[x->index];
    if (x->op == KILN_X_SCALAR) return l->scalar[x->index];
    return "x";
}

static void put_line(kg_ctx *cx, kg_buf *b, kg_pos pos)
{
    const char *file = kg_shown(cx, pos.file);
    kg_putf(b, "#line %d ", pos.line);
    kg_put_quoted(b, file, strlen(file));
    kg_puts(b, "\n");
}

/* Raw device text of a `code` escape: what it may name, then the text itself on its own lines. */
static void put_code(kg_ctx *cx, const kg_op *op, kg_buf *b)
{
    if (op->products == 1) kg_puts(b, "    const float acc = acc0;\n    (void)acc;\n");
    for (size_t i = 0; op->products > 1 && i < op->products; i++)
        kg_putf(b, "    const float acc_%s = acc%zu;\n    (void)acc_%s;\n", op->b_name[i], i,
                op->b_name[i]);
    put_line(cx, b, op->code_pos);
    kg_puts(b, "    return (");
    const char *c = op->code + strspn(op->code, " \t"), *end = op->code + strlen(op->code);
    while (end > c && strchr(" \t\n", end[-1])) end--;
    for (; c < end; c++)
        if (*c == '\n' || *c == '\t' || (unsigned char)*c >= ' ') kg_put(b, c, 1);
    kg_puts(b, "\n);\n");
}

static void push_function(kg_ctx *cx, kg_buf *b)
{
    kg_puts(b, "}\n");
    kg_put(b, &(const char){KG_LINE_BACK}, 1);
    lua_pushlstring(cx->T, b->p, b->len);
    kg_buf_free(b);
}

static void push_element_op(kg_ctx *cx, const char *name, const kg_expr *e, kg_pos pos, leaves *l,
                            bool wanted)
{
    kg_buf b = {0};
    if (!wanted) {
        lua_pushstring(cx->T, "");
        return;
    }
    kg_putf(&b, "static KILN_DEVICE float %s(float x)\n{\n", name);
    put_line(cx, &b, pos);
    kg_expr_lower(e, &(kg_names){leaf_name, l}, "    ", &b);
    push_function(cx, &b);
}

static void push_fn(kg_ctx *cx, kg_view v)
{
    const kg_op *op = v.op;
    leaves l = {0};
    kg_buf b = {0};
    kg_puts(&b, "static KILN_DEVICE float kiln_epilogue(float acc0");
    if (op->products == 2) kg_puts(&b, ", float acc1");
    for (size_t i = 0; i < op->nd; i++)
        kg_putf(&b, ", float %s", l.d[i] = kg_printf(cx->arena, "d_%s", op->d[i].name));
    for (size_t i = 0; i < op->nscalars; i++)
        kg_putf(&b, ", float %s", l.scalar[i] = kg_printf(cx->arena, "s_%s", op->scalar[i]));
    kg_puts(&b, ")\n{\n");
    if (op->code) {
        put_code(cx, op, &b);
    } else {
        put_line(cx, &b, op->epilogue_pos);
        kg_expr_lower(&op->epilogue, &(kg_names){leaf_name, &l}, "    ", &b);
    }
    lua_createtable(cx->T, 0, 3);
    push_function(cx, &b);
    lua_setfield(cx->T, -2, "epilogue");
    push_element_op(cx, "kiln_a_op", &op->a_op, op->a_op_pos, &l, has_element_op(v, 'a'));
    lua_setfield(cx->T, -2, "a_op");
    push_element_op(cx, "kiln_b_op", &op->b_op, op->b_op_pos, &l, has_element_op(v, 'b'));
    lua_setfield(cx->T, -2, "b_op");
}

/* ---- call ---- */
/* Appends what function `f` says of argument i (from 0) to the text on top; item: its second
 * argument, or 0. */
static void add_argument(lua_State *T, int f, lua_Integer i, int item)
{
    if (lua_isnoneornil(T, f))
        luaL_error(T, "call.epilogue needs a function for each kind of argument");
    lua_pushvalue(T, f);
    lua_pushinteger(T, i);
    if (item) lua_pushvalue(T, item);
    lua_call(T, item ? 2 : 1, 1);
    if (lua_type(T, -1) != LUA_TSTRING && lua_type(T, -1) != LUA_TNUMBER)
        luaL_error(T, "call.epilogue: an argument is a %s, not text", luaL_typename(T, -1));
    lua_concat(T, 2);
}

/* Upvalues: products, op.d, op.scalars. */
static int call_epilogue(lua_State *T)
{
    lua_settop(T, 3);
    lua_Integer products = lua_tointeger(T, lua_upvalueindex(1));
    lua_pushstring(T, "kiln_epilogue(");
    for (lua_Integer i = 0; i < products; i++) {
        if (i) {
            lua_pushstring(T, ", ");
            lua_concat(T, 2);
        }
        add_argument(T, 1, i, 0);
    }
    for (int list = 2; list <= 3; list++) {
        lua_Unsigned n = lua_rawlen(T, lua_upvalueindex(list));
        for (lua_Unsigned i = 0; i < n; i++) {
            lua_rawgeti(T, lua_upvalueindex(list), (lua_Integer)i + 1);
            lua_insert(T, -2);
            lua_pushstring(T, ", ");
            lua_concat(T, 2);
            add_argument(T, list, (lua_Integer)i, lua_gettop(T) - 1);
            lua_remove(T, -2);
        }
    }
    lua_pushstring(T, ")");
    lua_concat(T, 2);
    return 1;
}

/* Top: the op's table. */
static void push_call(kg_ctx *cx, kg_view v)
{
    lua_State *T = cx->T;
    int op = lua_gettop(T);
    lua_createtable(T, 0, 1);
    lua_pushinteger(T, (lua_Integer)v.op->products);
    lua_getfield(T, op, "d");
    lua_getfield(T, op, "scalars");
    lua_pushcclosure(T, call_epilogue, 3);
    lua_setfield(T, -2, "epilogue");
}

/* Top becomes table `which` of the view. */
static void keep(kg_ctx *cx, int which)
{
    int *ref = &cache(cx)->ref[which];
    luaL_unref(cx->T, LUA_REGISTRYINDEX, *ref);
    *ref = luaL_ref(cx->T, LUA_REGISTRYINDEX);
}

const int *kg_present(kg_ctx *cx, kg_view v, bool anew)
{
    view_cache *c = cache(cx);
    bool same = c->view.op == v.op && c->view.types == v.types && c->view.layout == v.layout;
    if (same && !anew) return c->ref;
    push_op(cx, v);
    push_call(cx, v);
    keep(cx, KG_CALL_TABLE);
    keep(cx, KG_OP_TABLE);
    push_types(cx, v.types);
    keep(cx, KG_TYPES_TABLE);
    push_layout(cx, v.layout);
    keep(cx, KG_LAYOUT_TABLE);
    if (!same) {
        push_fn(cx, v);
        kg_protect(cx);
        keep(cx, KG_FN_TABLE);
    }
    c->view = v;
    return c->ref;
}
