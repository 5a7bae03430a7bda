// SPDX-License-Identifier: MIT
// The tables fn and call that templates see of an op: its traced functions as device code, and the
// text of calls of them; and which inputs each of them takes.
#include "back.h"
#include <lauxlib.h>
#include <string.h>

/* The inputs that function i uses, of one product or of all, as templates find them in op.d; i of
 * the main one: where its text is code, all that it may. */
static bool uses_input(const kg_op *op, size_t i, size_t first, size_t products, size_t input)
{
    if (i == 0 && op->code)
        return kg_takes_input(op->family, i, &op->tensor[op->first_input + input]);
    for (size_t k = first; k < first + products; k++) {
        const kg_expr *e = kg_function_of(op, i, k);
        for (size_t n = 0; n < e->count; n++)
            if (e->node[n].op == KILN_X_D && e->node[n].index == input) return true;
    }
    return false;
}

/* The op's table is below the top, with its field d. */
void kg_push_used(lua_State *T, const kg_op *op, size_t i, size_t first, size_t products)
{
    lua_Integer n = 0;
    lua_newtable(T);
    for (size_t k = 0; k < op->ninputs; k++) {
        if (!uses_input(op, i, first, products, k)) continue;
        lua_getfield(T, -2, "d");
        lua_rawgeti(T, -1, (lua_Integer)k + 1);
        lua_remove(T, -2);
        lua_rawseti(T, -2, ++n);
    }
}

/* ---- fn: the traced functions as device code ---- */
typedef struct leaves {
    const char *d[KILN_MAX_TENSORS], *scalar[KILN_MAX_SCALARS];
} leaves;

static const char *leaf_name(void *arg, const kiln_xnode *x)
{
    static const char *const acc[KILN_MAX_B] = {"acc0", "acc1"};
    static const char *const at[] = {"at_row", "at_col"};
    const leaves *l = arg;
    if (x->op == KILN_X_ACC) return acc[x->index];
    if (x->op == KILN_X_D) return l->d[x->index];
    if (x->op == KILN_X_SCALAR) return l->scalar[x->index];
    if (x->op == KILN_X_AT) return at[x->index];
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

static void put_parameter(kg_buf *b, const char *name)
{
    kg_putf(b, "%sfloat %s", b->p[b->len - 1] == '(' ? "" : ", ", name);
}

/* A function of an op, of one product. */
typedef struct one_function {
    const kg_op *op;
    size_t which, product;
    const char *name; /* in C */
} one_function;

/* The parameters that stand for one of its arguments; l: what each is called. */
static void put_parameters(kg_ctx *cx, const one_function *fn, kg_arg arg, leaves *l, kg_buf *b)
{
    const kg_op *op = fn->op;
    switch (arg) {
    case KG_ARG_ACC:
        for (size_t i = 0; i < op->products && !op->family->function[fn->which].blocks; i++)
            put_parameter(b, leaf_name(l, &(kiln_xnode){.op = KILN_X_ACC, .index = (uint8_t)i}));
        break;
    case KG_ARG_D:
        for (size_t i = 0; i < op->ninputs; i++) {
            if (!uses_input(op, fn->which, fn->product, 1, i)) continue;
            const kg_tensor *t = &op->tensor[op->first_input + i];
            put_parameter(b,
                          l->d[i] = kg_printf(cx->arena, "d_%s", fn->which ? t->given : t->name));
        }
        break;
    case KG_ARG_S:
        for (size_t i = 0; i < op->nscalars; i++)
            put_parameter(b, l->scalar[i] = kg_printf(cx->arena, "s_%s", op->scalar[i]));
        break;
    case KG_ARG_AT:
        put_parameter(b, "at_row");
        put_parameter(b, "at_col");
        break;
    case KG_ARG_X:
        put_parameter(b, "x");
        break;
    case KG_ARG_PRODUCT:
        break;
    }
}

/* Whether all products have function i alike, but for whose inputs it uses. */
static bool is_one(const kg_op *op, size_t i)
{
    const kg_expr *first = &op->function[i];
    for (size_t k = 1; k < kg_function_products(op, i); k++) {
        const kg_expr *e = kg_function_of(op, i, k);
        if (e->count != first->count) return false;
        for (size_t n = 0; n < e->count; n++) {
            kiln_xnode x = e->node[n];
            const kiln_xnode *y = &first->node[n];
            const kg_tensor *d = &op->tensor[op->first_input];
            if (x.op == KILN_X_D && y->op == KILN_X_D &&
                strcmp(d[x.index].given, d[y->index].given) == 0)
                x.index = y->index;
            if (memcmp(&x, y, sizeof x) != 0) return false;
        }
    }
    return true;
}

static const char *c_name(kg_ctx *cx, const kg_op *op, size_t i, size_t product)
{
    const char *name = op->family->function[i].c_name;
    return is_one(op, i) ? name : kg_printf(cx->arena, "%s_%zu", name, product);
}

static void put_function(kg_ctx *cx, const one_function *fn, kg_buf *b)
{
    const kg_op *op = fn->op;
    const kg_function *f = &op->family->function[fn->which];
    leaves l = {0};
    kg_putf(b, "static KILN_DEVICE float %s(", fn->name);
    for (size_t i = 0; i < f->nargs; i++) put_parameters(cx, fn, f->arg[i], &l, b);
    kg_puts(b, ")\n{\n");
    if (fn->which == 0 && op->code) {
        put_code(cx, op, b);
    } else {
        put_line(cx, b, op->function_pos[fn->which]);
        kg_expr_lower(kg_function_of(op, fn->which, fn->product), &(kg_names){leaf_name, &l},
                      "    ", b);
    }
    kg_puts(b, "}\n");
    kg_put(b, &(const char){KG_LINE_BACK}, 1);
}

/* Pushes the definition of function `which`, for each product where they differ. */
static void push_function(kg_ctx *cx, const kg_op *op, size_t which)
{
    const size_t n = is_one(op, which) ? 1 : kg_function_products(op, which);
    kg_buf b = {0};
    for (size_t k = 0; k < n; k++) {
        if (k) kg_puts(&b, "\n");
        put_function(cx, &(one_function){op, which, k, c_name(cx, op, which, k)}, &b);
    }
    lua_pushlstring(cx->T, b.p, b.len);
    kg_buf_free(&b);
}

/* A function's text is "" where op.has_NAME is false. */
void kg_push_fn(kg_ctx *cx, const kg_op *op)
{
    lua_State *T = cx->T;
    const kg_family *f = op->family;
    lua_createtable(T, 0, (int)f->nfunctions);
    for (size_t i = kg_names_outputs(op); i < f->nfunctions; i++) {
        if (i) lua_getfield(T, -2, kg_printf(cx->arena, "has_%s", f->function[i].name));
        const bool wanted = i == 0 || lua_toboolean(T, -1);
        if (i) lua_pop(T, 1);
        if (wanted)
            push_function(cx, op, i);
        else
            lua_pushstring(T, "");
        lua_setfield(T, -2, f->function[i].name);
    }
}

/* ---- call ---- */
/* Appends what function `f` says of argument i (from 0) to the text on top; item: its second
 * argument, or nil. */
static void add_argument(lua_State *T, int f, lua_Integer i, int item)
{
    const char *name = lua_tostring(T, lua_upvalueindex(2));
    if (lua_isnoneornil(T, f))
        luaL_error(T, "call.%s needs a function for each kind of argument", name);
    const bool more = lua_toboolean(T, item);
    lua_pushvalue(T, f);
    lua_pushinteger(T, i);
    if (more) lua_pushvalue(T, item);
    lua_call(T, more ? 2 : 1, 1);
    if (lua_type(T, -1) != LUA_TSTRING && lua_type(T, -1) != LUA_TNUMBER)
        luaL_error(T, "call.%s: an argument is a %s, not text", name, luaL_typename(T, -1));
    lua_concat(T, 2);
}

/* Adds ", " unless it is the first argument; on top the text. */
static void add_comma(lua_State *T, bool first)
{
    lua_pushstring(T, first ? "" : ", ");
    lua_concat(T, 2);
}

/* Upvalues: the function's name in C and in Lua; for each of its arguments the list of its items,
 * false where one has no more than a number. */
static int call_function(lua_State *T)
{
    const int kinds = (int)lua_rawlen(T, lua_upvalueindex(3));
    bool first = true;
    lua_settop(T, kinds);
    lua_pushfstring(T, "%s(", lua_tostring(T, lua_upvalueindex(1)));
    for (int kind = 1; kind <= kinds; kind++) {
        lua_rawgeti(T, lua_upvalueindex(3), kind);
        lua_insert(T, -2); /* the list below the text */
        const lua_Integer n = (lua_Integer)lua_rawlen(T, -2);
        for (lua_Integer i = 0; i < n; i++, first = false) {
            lua_rawgeti(T, -2, i + 1);
            lua_insert(T, -2); /* and the item */
            add_comma(T, first);
            add_argument(T, kind, i, lua_gettop(T) - 1);
            lua_remove(T, -2);
        }
        lua_remove(T, -2);
    }
    lua_pushstring(T, ")");
    lua_concat(T, 2);
    return 1;
}

/* call.b_op(x, d [, product]) and call.block(product, d).  Upvalues: a table with the name in C for
 * each product, from 0; the name in Lua; for each product a list of inputs; whether x comes first.
 */
static int call_of_product(lua_State *T)
{
    enum { D = 2, TEXT = 4, LIST };
    const char *name = lua_tostring(T, lua_upvalueindex(2));
    const bool element = lua_toboolean(T, lua_upvalueindex(4));
    lua_settop(T, 3);
    const lua_Integer product = element ? luaL_optinteger(T, 3, 0) : luaL_checkinteger(T, 1);
    lua_rawgeti(T, lua_upvalueindex(1), product);
    if (lua_type(T, TEXT) != LUA_TSTRING)
        return luaL_error(T, "call.%s: there is no product %I", name, (LUAI_UACINT)product);
    lua_pushfstring(T, element ? "%s(%s" : "%s(", lua_tostring(T, TEXT),
                    element ? luaL_checkstring(T, 1) : "");
    lua_replace(T, TEXT);
    lua_rawgeti(T, lua_upvalueindex(3), product);
    lua_pushvalue(T, TEXT);
    const lua_Integer n = (lua_Integer)lua_rawlen(T, LIST);
    for (lua_Integer i = 0; i < n; i++) {
        lua_rawgeti(T, LIST, i + 1);
        lua_insert(T, -2);
        add_comma(T, !element && i == 0);
        add_argument(T, D, i, lua_gettop(T) - 1);
        lua_remove(T, -2);
    }
    lua_pushstring(T, ")");
    lua_concat(T, 2);
    return 1;
}

static void push_items(kg_ctx *cx, const kg_op *op, int table, kg_arg arg)
{
    static const char *const at[] = {"row", "col"};
    lua_State *T = cx->T;
    switch (arg) {
    case KG_ARG_ACC:
        lua_createtable(T, (int)op->products, 0);
        for (size_t i = 1; i <= op->products; i++) {
            lua_pushboolean(T, false);
            lua_rawseti(T, -2, (lua_Integer)i);
        }
        break;
    case KG_ARG_D:
        lua_getfield(T, table, kg_printf(cx->arena, "%s_inputs", op->family->function[0].name));
        break;
    case KG_ARG_S:
        lua_getfield(T, table, "scalars");
        break;
    case KG_ARG_AT:
        lua_createtable(T, 2, 0);
        for (int i = 0; i < 2; i++) {
            lua_pushstring(T, at[i]);
            lua_rawseti(T, -2, i + 1);
        }
        break;
    case KG_ARG_X:
        lua_createtable(T, 1, 0);
        lua_pushboolean(T, false);
        lua_rawseti(T, -2, 1);
        break;
    case KG_ARG_PRODUCT:
        lua_newtable(T);
        break;
    }
}

/* Top: the table call, and below the op's. */
static void set_call_of_product(kg_ctx *cx, const kg_op *op, size_t i)
{
    lua_State *T = cx->T;
    const int table = lua_gettop(T) - 1;
    const size_t n = kg_function_products(op, i);
    lua_newtable(T);
    for (size_t k = 0; k < n; k++) {
        lua_pushstring(T, c_name(cx, op, i, k));
        lua_rawseti(T, -2, (lua_Integer)k);
    }
    lua_pushstring(T, op->family->function[i].name);
    lua_newtable(T);
    for (size_t k = 0; k < n; k++) {
        lua_pushvalue(T, table);
        kg_push_used(T, op, i, k, 1);
        lua_rawseti(T, -3, (lua_Integer)k);
        lua_pop(T, 1);
    }
    lua_pushboolean(T, !op->family->function[i].blocks);
    lua_pushcclosure(T, call_of_product, 4);
    lua_setfield(T, -2, op->family->function[i].name);
}

void kg_push_call(kg_ctx *cx, const kg_op *op)
{
    lua_State *T = cx->T;
    const kg_function *f = &op->family->function[0];
    const int table = lua_gettop(T);
    lua_createtable(T, 0, 1);
    for (size_t i = 1; i < op->family->nfunctions; i++)
        if (op->function[i].count) set_call_of_product(cx, op, i);
    if (kg_names_outputs(op)) return;
    lua_pushstring(T, f->c_name);
    lua_pushstring(T, f->name);
    lua_createtable(T, (int)f->nargs, 0);
    for (size_t i = 0; i < f->nargs; i++) {
        push_items(cx, op, table, f->arg[i]);
        lua_rawseti(T, -2, (lua_Integer)i + 1);
    }
    lua_pushcclosure(T, call_function, 3);
    lua_setfield(T, -2, f->name);
}
