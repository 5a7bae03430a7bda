// SPDX-License-Identifier: MIT
// Checks what stands in `gemm "name" { ... }`, field by field, each fault with its own message at
// its own place.  The fields are one table below: order of checking, what is required, what kind of
// value, and the text of documentation.
#include "spec.h"
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

static void read_types(kg_spec *, const kg_value *);
static void read_layouts(kg_spec *, const kg_value *);
static void read_b(kg_spec *, const kg_value *);
static void read_d(kg_spec *, const kg_value *);
static void read_scalars(kg_spec *, const kg_value *);
static void read_a_op(kg_spec *, const kg_value *);
static void read_b_op(kg_spec *, const kg_value *);
static void read_ref(kg_spec *, const kg_value *);

/* ORDER FIELD: names (b, d, scalars) stand before the functions that use them. */
static const struct field {
    const char *name;
    bool required, declares; /* declares: names that functions use */
    int type;         /* Lua's; LUA_TNONE: the reader looks itself */
    const char *want; /* expected ... */
    void (*read)(kg_spec *, const kg_value *);
} fields[] = {
    {"types", true, false, LUA_TTABLE, "a list of rows { a =, b =, e = [, acc =] }", read_types},
    {"layouts", true, false, LUA_TTABLE, "a list of texts like \"rcr\"", read_layouts},
    {"b", false, true, LUA_TTABLE, "a list of two names", read_b},
    {"d", false, true, LUA_TTABLE, "a table of extra inputs, name = per_col(...)", read_d},
    {"scalars", false, true, LUA_TTABLE, "a list of names", read_scalars},
    {"epilogue", true, false, LUA_TNONE, "a function or code [[...]]", kg_spec_epilogue},
    {"ref", false, false, LUA_TFUNCTION, "a function", read_ref},
    {"a_op", false, false, LUA_TFUNCTION, "a function", read_a_op},
    {"b_op", false, false, LUA_TFUNCTION, "a function", read_b_op},
    {"tiles", false, false, LUA_TTABLE, "a table of sweeps by target", kg_spec_tiles},
    {"targets", false, false, LUA_TTABLE, "a list of target names", kg_spec_targets},
    {"check", false, false, LUA_TTABLE, "a table { rtol =, shapes = }", kg_spec_checks},
};
enum { NFIELDS = sizeof fields / sizeof *fields };

static const struct type_field {
    const char *name;
    bool required;
    size_t offset;
} type_fields[] = {
    {"a", true, offsetof(kg_types, a)},
    {"b", true, offsetof(kg_types, b)},
    {"e", true, offsetof(kg_types, e)},
    {"acc", false, offsetof(kg_types, acc)},
};
enum { NTYPE_FIELDS = sizeof type_fields / sizeof *type_fields };

/* A list of names in the order given, each once. */
static size_t read_names(kg_spec *sp, const kg_value *v, const char *kind, const char **name,
                         size_t max)
{
    size_t n;
    if (!kg_spec_list(sp, v, &n, "names")) return 0;
    if (n > max) {
        kg_wrong(sp, v->pos, "%s: %zu names, at most %zu are possible", v->what, n, max);
        return 0;
    }
    size_t good = 0;
    for (size_t i = 1; i <= n; i++) {
        kg_value item = kg_spec_item(sp, v, i, v->what);
        bool ok = kg_spec_name(sp, &item, kind, &name[good]);
        for (size_t k = 0; ok && k < good; k++) {
            if (strcmp(name[k], name[good]) != 0) continue;
            kg_wrong(sp, item.pos, "%s: '%s' is there twice", v->what, name[good]);
            ok = false;
        }
        good += ok;
        lua_pop(sp->L, 1);
    }
    return good;
}

/* ---- types ---- */

/* i32 is a type of results alone. */
static bool is_input_type(kiln_dtype t)
{
    return kiln_is_float(t) || t == KILN_I8;
}

static void read_type_field(kg_spec *sp, const kg_value *v, const char *key, void *arg)
{
    kg_types *row = arg;
    const char *known[NTYPE_FIELDS];
    size_t f = 0;
    for (size_t i = 0; i < NTYPE_FIELDS; i++) known[i] = type_fields[i].name;
    while (f < NTYPE_FIELDS && strcmp(known[f], key) != 0) f++;
    if (f == NTYPE_FIELDS) {
        const char *near = kg_closest(key, known, NTYPE_FIELDS);
        kg_wrong(sp, kg_key_pos(sp, v->place, v->pos),
                 near ? "%s: unknown field %s (did you mean '%s'?)"
                      : "%s: unknown field %s; a row has a, b, e and acc",
                 v->what, kg_quote(sp->cx, key, strlen(key)), near);
        return;
    }
    kiln_dtype type = kg_to_dtype(sp->L, -1);
    if (!type) {
        bool text = lua_type(sp->L, -1) == LUA_TSTRING;
        kg_wrong(sp, v->pos, "%s: %s must be a dtype, got %s%s", v->what, key,
                 kg_kind_of(sp->L, -1), text ? "; dtypes are written without quotes" : "");
        type = KILN_DTYPE_COUNT; /* wrong, but there */
    }
    memcpy((char *)row + type_fields[f].offset, &type, sizeof type);
}

static bool check_types(kg_spec *sp, const kg_value *v, kg_types *row)
{
    const char *wrong = NULL;
    bool complete = true;
    for (size_t i = 0; i < NTYPE_FIELDS; i++) {
        kiln_dtype type;
        memcpy(&type, (char *)row + type_fields[i].offset, sizeof type);
        if (!type && type_fields[i].required)
            kg_wrong(sp, v->pos, "%s: missing '%s'", v->what, type_fields[i].name);
        if (type == KILN_DTYPE_COUNT || (!type && type_fields[i].required)) complete = false;
    }
    if (!complete) return false;
    if (!row->acc) row->acc = kiln_default_acc(row->a, row->b);
    if (!is_input_type(row->a)) wrong = "a must be f32, f16, bf16, i8 or an fp8";
    else if (!is_input_type(row->b)) wrong = "b must be f32, f16, bf16, i8 or an fp8";
    else if (row->acc != KILN_F32 && row->acc != KILN_I32) wrong = "acc must be f32 or i32";
    else if (row->acc == KILN_I32 && kiln_default_acc(row->a, row->b) != KILN_I32)
        wrong = "acc = i32 needs a = i8 and b = i8";
    if (wrong) kg_wrong(sp, v->pos, "%s: %s", v->what, wrong);
    return !wrong;
}

static void read_types(kg_spec *sp, const kg_value *v)
{
    size_t n;
    bool bare = lua_rawlen(sp->L, -1) == 0 && kg_place_field(v->place, "a");
    if (bare)
        kg_wrong(sp, v->pos,
                 "types: expected a list of rows; with one row it is { { a =, b =, e = } }");
    if (bare || !kg_spec_list(sp, v, &n, "rows { a =, b =, e = }")) return;
    kg_op *op = sp->op;
    op->types = kg_alloc(sp->cx->arena, n * sizeof *op->types);
    for (size_t i = 1; i <= n; i++) {
        kg_types row = {0};
        size_t before = sp->cx->errors;
        kg_value item = kg_spec_item(sp, v, i, kg_printf(sp->cx->arena, "types: row %zu", i));
        row.pos = item.pos;
        bool ok = lua_istable(sp->L, -1);
        if (!ok)
            kg_wrong(sp, item.pos, "%s: expected { a =, b =, e = }, got %s", item.what,
                     kg_kind_of(sp->L, -1));
        if (ok) kg_spec_fields(sp, &item, read_type_field, &row);
        ok = ok && sp->cx->errors == before && check_types(sp, &item, &row);
        for (size_t k = 0; ok && k < op->ntypes; k++) {
            const kg_types *o = &op->types[k];
            if (o->a != row.a || o->b != row.b || o->e != row.e || o->acc != row.acc) continue;
            kg_wrong(sp, item.pos, "%s is the same as row %zu", item.what, k + 1);
            ok = false;
        }
        if (ok) op->types[op->ntypes++] = row;
        lua_pop(sp->L, 1);
    }
}

/* ---- layouts ---- */

static kiln_layout layout_of(char letter)
{
    static const struct {
        char letter;
        kiln_layout layout;
    } letters[] = {
#define X(id, ch, text) {ch, id},
        KILN_LAYOUTS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (letters[i].letter == letter) return letters[i].layout;
    return KILN_LAYOUT_NONE;
}

static void read_layouts(kg_spec *sp, const kg_value *v)
{
    size_t n, len;
    if (!kg_spec_list(sp, v, &n, "texts like \"rcr\"")) return;
    kg_op *op = sp->op;
    op->layouts = kg_alloc(sp->cx->arena, n * sizeof *op->layouts);
    for (size_t i = 1; i <= n; i++) {
        kg_value item = kg_spec_item(sp, v, i, "layouts");
        const char *s = lua_type(sp->L, -1) == LUA_TSTRING ? lua_tolstring(sp->L, -1, &len) : NULL;
        kg_layout row = {.pos = item.pos};
        if (s && len == 3)
            row = (kg_layout){layout_of(s[0]), layout_of(s[1]), layout_of(s[2]), item.pos};
        bool ok = row.a && row.b && row.e;
        if (!ok)
            kg_wrong(sp, item.pos,
                     "layouts: expected three letters, r (row-major) or c (column-major) for A, B "
                     "and E, got %s",
                     kg_kind_of(sp->L, -1));
        for (size_t k = 0; ok && k < op->nlayouts; k++) {
            const kg_layout *o = &op->layouts[k];
            if (o->a != row.a || o->b != row.b || o->e != row.e) continue;
            kg_wrong(sp, item.pos, "layouts: \"%s\" is there twice", s);
            ok = false;
        }
        if (ok) op->layouts[op->nlayouts++] = row;
        lua_pop(sp->L, 1);
    }
}

/* ---- b, d, scalars, functions ---- */

static void read_b(kg_spec *sp, const kg_value *v)
{
    size_t before = sp->cx->errors, n = read_names(sp, v, "product", sp->op->b_name, KILN_MAX_B);
    if (n == KILN_MAX_B) sp->op->products = n;
    else if (sp->cx->errors == before)
        kg_wrong(sp, v->pos, "b: expected two names, for two products; leave it out for one");
}

static void read_input(kg_spec *sp, const kg_value *v, const char *key, void *arg)
{
    (void)arg;
    kg_op *op = sp->op;
    const char *why;
    const kg_made *m = luaL_testudata(sp->L, -1, KG_MADE);
    kg_pos key_pos = kg_key_pos(sp, v->place, v->pos);
    if (!kg_name_ok(sp->cx, "input", key, strlen(key), &why)) {
        kg_wrong(sp, key_pos, "%s", why);
    } else if (!m || m->made != KG_MADE_INPUT) {
        kg_wrong(sp, v->pos,
                 "d.%s: expected full(t), per_row(t), per_col(t) or per_tensor(t), got %s", key,
                 kg_kind_of(sp->L, -1));
    } else if (op->nd == KILN_MAX_D) {
        kg_wrong(sp, key_pos, "d.%s: an op has at most %d extra inputs", key, KILN_MAX_D);
    } else {
        const char *name = kg_strndup(sp->cx->arena, key, strlen(key));
        op->d[op->nd++] = (kg_d){name, m->kind, m->type, m->layout, key_pos};
    }
}

static void read_d(kg_spec *sp, const kg_value *v)
{
    kg_value own = *v;
    own.what = "d";
    kg_spec_fields(sp, &own, read_input, NULL); /* in the order of names */
}

static void read_scalars(kg_spec *sp, const kg_value *v)
{
    sp->op->nscalars = read_names(sp, v, "scalar", sp->op->scalar, KILN_MAX_SCALARS);
}

static void read_a_op(kg_spec *sp, const kg_value *v)
{
    kg_spec_element_op(sp, v, &sp->op->a_op, &sp->op->a_op_pos);
}

static void read_b_op(kg_spec *sp, const kg_value *v)
{
    kg_spec_element_op(sp, v, &sp->op->b_op, &sp->op->b_op_pos);
}

static void read_ref(kg_spec *sp, const kg_value *v)
{
    if (sp->op->code || sp->wrong) return; /* traced with the code */
    kg_wrong(sp, v->pos,
             "ref goes with epilogue = code [[...]]; an epilogue that is a function is its own "
             "reference");
}

/* ---- all fields ---- */

typedef struct known {
    const char *name[NFIELDS];
    const char *meant[NFIELDS]; /* what unknown fields probably were: not missing, too */
    size_t nmeant;
} known;

static void check_known(kg_spec *sp, const kg_value *v, const char *key, void *arg)
{
    known *k = arg;
    for (size_t i = 0; i < NFIELDS; i++)
        if (strcmp(fields[i].name, key) == 0) return;
    kg_pos pos = kg_key_pos(sp, v->place, v->pos);
    const char *near = kg_closest(key, k->name, NFIELDS),
               *quoted = kg_quote(sp->cx, key, strlen(key));
    if (near && k->nmeant < NFIELDS) k->meant[k->nmeant++] = near;
    if (near) kg_wrong(sp, pos, "unknown field %s (did you mean '%s'?)", quoted, near);
    else if (strcmp(key, "code") == 0)
        kg_wrong(sp, pos, "unknown field 'code': write epilogue = code [[...]]");
    else kg_wrong(sp, pos, "unknown field %s", quoted);
}

static void read_field(kg_spec *sp, const struct field *f, const known *k)
{
    lua_State *L = sp->L;
    lua_pushstring(L, f->name);
    lua_rawget(L, sp->table);
    size_t before = sp->cx->errors;
    const kg_place *p = kg_place_field(sp->place, f->name);
    kg_value v = {p, kg_place_pos(sp, p, sp->op->pos), f->name};
    if (lua_isnil(L, -1)) {
        bool meant = false;
        for (size_t i = 0; i < k->nmeant; i++) meant |= strcmp(k->meant[i], f->name) == 0;
        if (f->required && !meant)
            kg_wrong(sp, sp->op->pos, "missing field '%s': %s", f->name, f->want);
        sp->wrong |= f->required;
    } else if (f->type != LUA_TNONE && lua_type(L, -1) != f->type) {
        kg_wrong(sp, v.pos, "%s: expected %s, got %s", f->name, f->want, kg_kind_of(L, -1));
    } else {
        f->read(sp, &v);
    }
    lua_pop(L, 1);
    if (f->declares && sp->cx->errors > before) sp->names_wrong = true;
}

void kg_spec_check(kg_spec *sp)
{
    known k = {.nmeant = 0};
    for (size_t i = 0; i < NFIELDS; i++) k.name[i] = fields[i].name;
    sp->op->products = 1;
    sp->op->b_name[0] = "b";
    kg_value whole = {sp->place, sp->op->pos, ""};
    lua_pushvalue(sp->L, sp->table);
    kg_spec_fields(sp, &whole, check_known, &k);
    lua_pop(sp->L, 1);
    for (size_t i = 0; i < NFIELDS; i++) read_field(sp, &fields[i], &k);
    if (!sp->wrong) kg_spec_uses(sp);
}

void kg_spec_describe(FILE *to)
{
    for (size_t i = 0; i < NFIELDS; i++) fprintf(to, "field %s\n", fields[i].name);
    for (size_t i = 0; i < NTYPE_FIELDS; i++) fprintf(to, "type-field %s\n", type_fields[i].name);
}
