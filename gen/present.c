// SPDX-License-Identifier: MIT
// What schedules and templates see of an op: the tables op, types, layout, fn and call of
// docs/schedules.md; graph.c makes op.graph.  What only one family has, its `present` function
// adds.
#define _GNU_SOURCE /* realpath */
#include "back.h"
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

typedef struct view_cache {
    kg_view view;
    int ref[KG_VIEW_TABLES];
    int dtype[KILN_DTYPE_COUNT], dtypes; /* each; all, by name */
    const char *file, *shown;            /* last answer of kg_shown */
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
        lua_createtable(cx->T, 0, 4);
        lua_pushstring(cx->T, kiln_formats[t].name);
        lua_setfield(cx->T, -2, "name");
        lua_pushinteger(cx->T, kiln_formats[t].bits);
        lua_setfield(cx->T, -2, "bits");
        if (kiln_per_byte((kiln_dtype)t) ==
            1) { /* else a schedule that counts in bytes is to fail */
            lua_pushinteger(cx->T, kiln_formats[t].bits / 8);
            lua_setfield(cx->T, -2, "bytes");
        }
        lua_pushboolean(cx->T, kiln_is_float((kiln_dtype)t));
        lua_setfield(cx->T, -2, "float");
        kg_protect(cx);
        c->dtype[t] = luaL_ref(cx->T, LUA_REGISTRYINDEX);
    }
    lua_createtable(cx->T, 0, KILN_DTYPE_COUNT);
    for (int t = 1; t < KILN_DTYPE_COUNT; t++) {
        lua_rawgeti(cx->T, LUA_REGISTRYINDEX, c->dtype[t]);
        lua_setfield(cx->T, -2, kiln_formats[t].name);
    }
    kg_protect(cx);
    c->dtypes = luaL_ref(cx->T, LUA_REGISTRYINDEX);
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
void kg_push_dtype(kg_ctx *cx, kiln_dtype t)
{
    lua_rawgeti(cx->T, LUA_REGISTRYINDEX, cache(cx)->dtype[t]);
}

static void push_types(kg_ctx *cx, kg_view v)
{
    const size_t n = v.op->nsig_types;
    lua_createtable(cx->T, 0, (int)n + 2);
    for (size_t i = 0; i < n; i++) {
        kg_push_dtype(cx, v.types->type[i]);
        lua_setfield(cx->T, -2, v.op->type_name[i]);
    }
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

static void set_integer(lua_State *T, const char *name, lua_Integer v)
{
    lua_pushinteger(T, v);
    lua_setfield(T, -2, name);
}

static void push_layout(kg_ctx *cx, kg_view v)
{
    const kg_family *f = v.op->family;
    lua_createtable(cx->T, 0, (int)f->nlayouts);
    for (size_t i = 0; i < f->nlayouts; i++)
        set_text(cx->T, f->own[f->layout[i]].name, letter(v.layout->layout[i]));
}

static kiln_dtype type_of(const kg_tensor *t, kg_view v)
{
    return t->type & 0x80 ? v.types->type[t->type & 0x7f] : (kiln_dtype)t->type;
}

/* What has no layout of its own lies like the last tensor that has one. */
static kiln_layout layout_of(const kg_tensor *t, kg_view v)
{
    const size_t n = v.op->family->nlayouts;
    if (t->layout & 0x80) return v.layout->layout[t->layout & 0x7f];
    return t->layout || !n ? (kiln_layout)t->layout : v.layout->layout[n - 1];
}

static const char *kind_text(uint8_t kind)
{
    switch ((kiln_dkind)kind) {
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

/* name, kind, type, layout, index of tensor i */
static void push_tensor(kg_ctx *cx, kg_view v, size_t i, lua_Integer index)
{
    const kg_tensor *t = &v.op->tensor[i];
    lua_State *T = cx->T;
    lua_createtable(T, 0, 12);
    set_text(T, "name", t->name);
    set_text(T, "kind", kind_text(t->kind));
    kg_push_dtype(cx, type_of(t, v));
    lua_setfield(T, -2, "type");
    set_text(T, "layout", letter(layout_of(t, v)));
    set_integer(T, "index", index);
    if (t->operand == KILN_NOWHERE) return;
    const kg_family *f = v.op->family;
    const bool down = t->rows == f->summed;
    set_text(T, "of", f->own[t->operand].name);
    set_integer(T, "along", down ? t->col_block : t->row_block);
    set_integer(T, "deep", down ? t->row_block : t->col_block);
    if (t->product != KILN_NOWHERE) set_integer(T, "product", t->product);
}

/* Whether it has a value for each block of the family's columns. */
static bool has_columns(const kg_tensor *t)
{
    return t->kind == KILN_D_PER_BLOCK && (t->out || t->operand == KILN_NOWHERE);
}

static void push_tensors(kg_ctx *cx, kg_view v)
{
    const kg_op *op = v.op;
    lua_State *T = cx->T;
    lua_createtable(T, (int)op->ntensors, 0);
    for (size_t i = 0; i < op->ntensors; i++) {
        const kg_tensor *t = &op->tensor[i];
        push_tensor(cx, v, i, t->pointer);
        set_integer(T, "pitch", t->pitch);
        lua_pushboolean(T, t->out);
        lua_setfield(T, -2, "out");
        if (has_columns(t)) set_integer(T, "block", t->col_block);
        if (t->own != KILN_NOWHERE) set_text(T, "own", op->family->own[t->own].name);
        lua_rawseti(T, -2, (lua_Integer)i + 1);
    }
}

static void push_inputs(kg_ctx *cx, kg_view v)
{
    lua_createtable(cx->T, (int)v.op->ninputs, 0);
    for (size_t i = 0; i < v.op->ninputs; i++) {
        push_tensor(cx, v, v.op->first_input + i, (lua_Integer)i);
        lua_rawseti(cx->T, -2, (lua_Integer)i + 1);
    }
}

static void push_outputs(kg_ctx *cx, kg_view v)
{
    lua_State *T = cx->T;
    lua_Integer n = 0;
    lua_newtable(T);
    for (size_t i = 0; i < v.op->ntensors; i++) {
        const kg_tensor *t = &v.op->tensor[i];
        if (!t->out) continue;
        const bool own = t->own != KILN_NOWHERE;
        push_tensor(cx, v, i, own ? t->pointer : (lua_Integer)(i - v.op->first_input));
        if (has_columns(t)) set_integer(T, "block", t->col_block);
        set_integer(T, "node", t->result + 1);
        lua_rawseti(T, -2, ++n);
    }
}

/* Whether templates write the main function out of its graph: it has several results, or passes. */
static bool has_graph(const kg_op *op)
{
    return kg_names_outputs(op);
}

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
static void push_used(lua_State *T, const kg_op *op, size_t i, size_t first, size_t products)
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

/* What functions take of the inputs: op.epilogue_inputs; of an element operator op.b_inputs, after
 * what it gets elements of; of blocks op.block_inputs[product], and op.block. */
static void push_inputs_of_functions(kg_ctx *cx, const kg_op *op)
{
    lua_State *T = cx->T;
    const kg_family *f = op->family;
    for (size_t i = 0; i < f->nfunctions; i++) {
        const kg_function *fn = &f->function[i];
        const size_t products = kg_function_products(op, i);
        const char *name = fn->of == KILN_NOWHERE ? fn->name : f->own[fn->of].name;
        if (fn->blocks && !op->function[i].count) continue;
        if (fn->blocks) {
            lua_createtable(T, 0, 1);
            set_integer(T, "deep", op->block);
            lua_setfield(T, -2, fn->name);
            lua_createtable(T, (int)products, 1);
            for (size_t k = 0; k < products; k++) {
                lua_pushvalue(T, -2);
                push_used(T, op, i, k, 1);
                lua_rawseti(T, -3, (lua_Integer)k);
                lua_pop(T, 1);
            }
        } else {
            push_used(T, op, i, 0, products);
        }
        lua_setfield(T, -2, kg_printf(cx->arena, "%s_inputs", name));
    }
}

static const char *has_name(kg_ctx *cx, const kg_function *f)
{
    return kg_printf(cx->arena, "has_%s", f->name);
}

static void push_op(kg_ctx *cx, kg_view v)
{
    lua_State *T = cx->T;
    const kg_op *op = v.op;
    const kg_family *f = op->family;
    lua_createtable(T, 0, 10);
    set_text(T, "name", op->name);
    set_integer(T, "products", (lua_Integer)op->products);
    push_names(T, op->b_name, op->b_name[0] ? op->products : 0);
    lua_setfield(T, -2, "b_names");
    push_names(T, op->scalar, op->nscalars);
    lua_setfield(T, -2, "scalars");
    for (size_t i = 1; i < f->nfunctions; i++) {
        lua_pushboolean(T, op->function[i].count > 0);
        lua_setfield(T, -2, has_name(cx, &f->function[i]));
    }
    push_inputs(cx, v);
    lua_setfield(T, -2, "d");
    push_inputs_of_functions(cx, op);
    push_tensors(cx, v);
    lua_setfield(T, -2, "tensors");
    push_outputs(cx, v);
    lua_setfield(T, -2, "outputs");
    if (!has_graph(op)) return;
    kg_push_graph(cx, op, 0, 0);
    lua_setfield(T, -2, "graph");
}

/* Lets the family's `present` add to op and types what follows from them: (op, types, layout, all
 * dtypes by name, graphs of the functions that the op has, the main one aside). */
static bool call_present(kg_ctx *cx, kg_view v)
{
    lua_State *T = cx->T;
    const kg_family *f = v.op->family;
    const view_cache *c = cache(cx);
    size_t at = 0;
    while (cx->family[at] != f) at++;
    const int ref = kg_back_of(cx)->present[at];
    if (ref == LUA_NOREF) return true;
    lua_rawgeti(T, LUA_REGISTRYINDEX, ref);
    for (int i = 0; i < 3; i++)
        lua_rawgeti(T, LUA_REGISTRYINDEX,
                    c->ref[(const int[]){KG_OP_TABLE, KG_TYPES_TABLE, KG_LAYOUT_TABLE}[i]]);
    lua_rawgeti(T, LUA_REGISTRYINDEX, c->dtypes);
    lua_newtable(T);
    for (size_t i = 1; i < f->nfunctions; i++) {
        if (!v.op->function[i].count) continue;
        const size_t n = kg_function_products(v.op, i);
        lua_createtable(T, (int)n, 0);
        for (size_t k = 0; k < n; k++) {
            kg_push_graph(cx, v.op, i, k);
            lua_rawseti(T, -2, (lua_Integer)k + 1);
        }
        lua_setfield(T, -2, f->function[i].name);
    }
    return kg_sandbox_call(cx, T, 5, 0, kg_function_pos(cx, ref, f->pos));
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
static void push_fn(kg_ctx *cx, const kg_op *op)
{
    lua_State *T = cx->T;
    const kg_family *f = op->family;
    lua_rawgeti(T, LUA_REGISTRYINDEX, cache(cx)->ref[KG_OP_TABLE]);
    lua_createtable(T, 0, (int)f->nfunctions);
    for (size_t i = has_graph(op); i < f->nfunctions; i++) {
        if (i) lua_getfield(T, -2, has_name(cx, &f->function[i]));
        const bool wanted = i == 0 || lua_toboolean(T, -1);
        if (i) lua_pop(T, 1);
        if (wanted)
            push_function(cx, op, i);
        else
            lua_pushstring(T, "");
        lua_setfield(T, -2, f->function[i].name);
    }
    lua_remove(T, -2);
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
        push_names(T, at, 2);
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
        push_used(T, op, i, k, 1);
        lua_rawseti(T, -3, (lua_Integer)k);
        lua_pop(T, 1);
    }
    lua_pushboolean(T, !op->family->function[i].blocks);
    lua_pushcclosure(T, call_of_product, 4);
    lua_setfield(T, -2, op->family->function[i].name);
}

/* Top: the op's table. */
static void push_call(kg_ctx *cx, kg_view v)
{
    lua_State *T = cx->T;
    const kg_op *op = v.op;
    const kg_function *f = &op->family->function[0];
    const int table = lua_gettop(T);
    lua_createtable(T, 0, 1);
    for (size_t i = 1; i < op->family->nfunctions; i++)
        if (op->function[i].count) set_call_of_product(cx, op, i);
    if (has_graph(op)) return;
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
    push_types(cx, v);
    keep(cx, KG_TYPES_TABLE);
    push_layout(cx, v);
    keep(cx, KG_LAYOUT_TABLE);
    c->view = (kg_view){0};
    if (!call_present(cx, v)) return NULL;
    if (!same) {
        push_fn(cx, v.op);
        kg_protect(cx);
        keep(cx, KG_FN_TABLE);
    }
    c->view = v;
    return c->ref;
}
