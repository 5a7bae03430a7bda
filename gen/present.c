// SPDX-License-Identifier: MIT
// What schedules and templates see of an op: the tables op, types, layout, fn and call of
// docs/schedules.md; graph.c makes op.graph, functions.c fn and call.  What only one family has,
// its `present` function adds.
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
    for (size_t i = 0; i < f->nfixed; i++)
        set_integer(cx->T, kg_size_at(f, f->fixed[i]), v.layout->fixed[i]);
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
    case KILN_D_INDEX:
        return "index";
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

/* Index arrays by name: their positions in d. */
static void push_indices(kg_ctx *cx, kg_view v)
{
    lua_newtable(cx->T);
    for (size_t i = 0; i < v.op->ntensors; i++)
        if (v.op->tensor[i].index)
            set_integer(cx->T, v.op->tensor[i].name, (lua_Integer)(i - v.op->first_input));
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
                kg_push_used(T, op, i, k, 1);
                lua_rawseti(T, -3, (lua_Integer)k);
                lua_pop(T, 1);
            }
        } else {
            kg_push_used(T, op, i, 0, products);
        }
        lua_setfield(T, -2, kg_printf(cx->arena, "%s_inputs", name));
    }
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
    for (size_t i = f->function[0].required; i < f->nfunctions; i++) {
        lua_pushboolean(T, op->function[i].count > 0);
        lua_setfield(T, -2, kg_printf(cx->arena, "has_%s", f->function[i].name));
    }
    for (size_t i = 0; i < f->noptions; i++)
        if (op->option[i]) set_text(T, f->option[i].name, kg_option_word(f, op->option, i));
    if (f->paged != KILN_NOWHERE && op->option[f->paged])
        set_integer(T, "page", op->number[f->paged]);
    push_indices(cx, v);
    lua_setfield(T, -2, "indices");
    push_inputs(cx, v);
    lua_setfield(T, -2, "d");
    push_inputs_of_functions(cx, op);
    push_tensors(cx, v);
    lua_setfield(T, -2, "tensors");
    push_outputs(cx, v);
    lua_setfield(T, -2, "outputs");
    if (!kg_names_outputs(op)) return;
    kg_push_graph(cx, op, 0, 0);
    lua_setfield(T, -2, "graph");
}

/* Lets the family's `present` add to op and types what follows from them: (op, types, layout, all
 * dtypes by name, graphs of the functions that the op has; the main one's is op.graph, if any, and
 * none where its text is code). */
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
    for (size_t i = kg_names_outputs(v.op); i < f->nfunctions; i++) {
        if (!v.op->function[i].count || (i == 0 && v.op->code)) continue;
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
    kg_push_call(cx, v.op);
    keep(cx, KG_CALL_TABLE);
    keep(cx, KG_OP_TABLE);
    push_types(cx, v);
    keep(cx, KG_TYPES_TABLE);
    push_layout(cx, v);
    keep(cx, KG_LAYOUT_TABLE);
    c->view = (kg_view){0};
    if (!call_present(cx, v)) return NULL;
    if (!same) {
        lua_rawgeti(cx->T, LUA_REGISTRYINDEX, c->ref[KG_OP_TABLE]);
        kg_push_fn(cx, v.op);
        lua_remove(cx->T, -2);
        kg_protect(cx);
        keep(cx, KG_FN_TABLE);
    }
    c->view = v;
    return c->ref;
}
