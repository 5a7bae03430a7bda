// SPDX-License-Identifier: MIT
// Reads templates/FAMILY/family.lua: the signature of a kind of computation, as data.  Every field is checked here, with
// messages at its place; docs/families.md says what each means.  What follows from them (where tensors stand in problems
// and in a kernel's arguments) is worked out at the end.
#include "spec.h"
#include <errno.h>
#include <lauxlib.h>
#include <stddef.h>
#include <string.h>

typedef struct reader {
    kg_spec sp; /* first: what spec_read.c's functions get */
    kg_family *fam;
    uint8_t sizes_used; /* bits */
    void *into;         /* the type, tensor or function that is being read */
    kg_pos size_pos[KILN_MAX_SIZES];
} reader;

typedef struct field {
    const char *name;
    bool required;
    int type;         /* Lua's */
    const char *want; /* expected ... */
    void (*read)(reader *, const kg_value *);
} field;
#define COUNT(a) (sizeof(a) / sizeof *(a))

/* ---- reading a table of fields ---- */

typedef struct fields {
    const field *f;
    size_t n;
} fields;

static void check_known(kg_spec *sp, const kg_value *v, const char *key, void *arg)
{
    const fields *all = arg;
    const char *known[32];
    for (size_t i = 0; i < all->n; i++)
        if (strcmp(known[i] = all->f[i].name, key) == 0) return;
    const char *near = kg_closest(key, known, all->n), *quoted = kg_quote(sp->cx, key, strlen(key));
    const char *what = *v->what ? kg_printf(sp->cx->arena, "%s: ", v->what) : "";
    kg_pos pos = kg_key_pos(sp, v->place, v->pos);
    if (near) kg_wrong(sp, pos, "%sunknown field %s (did you mean '%s'?)", what, quoted, near);
    else
        kg_wrong(sp, pos, "%sunknown field %s; fields are %s", what, quoted,
                 kg_listed(sp->cx, known, all->n, " and "));
}

/* The table on top, field by field in the order of the list; v->what: "" or what it is.  Of a whole file's, what follows
 * from a fault is not looked at. */
static void read_fields(reader *r, const kg_value *v, const field *f, size_t n)
{
    lua_State *L = r->sp.L;
    fields all = {f, n};
    kg_spec_fields(&r->sp, v, check_known, &all);
    for (size_t i = 0; i < n && (*v->what || !r->sp.wrong); i++) {
        const kg_place *p = kg_place_field(v->place, f[i].name);
        const char *what = kg_printf(r->sp.cx->arena, "%s%s%s", v->what, *v->what ? "." : "", f[i].name);
        kg_value own = {p, kg_place_pos(&r->sp, p, v->pos), what};
        lua_pushstring(L, f[i].name);
        lua_rawget(L, -2);
        if (lua_isnil(L, -1) && f[i].required)
            kg_wrong(&r->sp, v->pos, "missing field '%s': %s", what, f[i].want);
        else if (!lua_isnil(L, -1) && lua_type(L, -1) != f[i].type)
            kg_wrong(&r->sp, own.pos, "%s: expected %s, got %s", what, f[i].want, kg_kind_of(L, -1));
        else if (!lua_isnil(L, -1)) f[i].read(r, &own);
        lua_pop(L, 1);
    }
}

/* An item { "name", field = ... } of a list, on top: its name, which is taken out of the table; NULL: reported. */
static const char *item_name(reader *r, const kg_value *v, const char *kind)
{
    lua_State *L = r->sp.L;
    if (!lua_istable(L, -1)) {
        kg_wrong(&r->sp, v->pos, "%s: expected { \"name\", ... }, got %s", v->what, kg_kind_of(L, -1));
        return NULL;
    }
    const char *name = NULL;
    kg_value first = kg_spec_item(&r->sp, v, 1, v->what);
    bool ok = kg_spec_name(&r->sp, &first, kind, &name);
    lua_pop(L, 1);
    lua_pushnil(L);
    lua_rawseti(L, -2, 1);
    return ok ? name : NULL;
}

static const char *text_of(reader *r)
{
    size_t len;
    const char *s = lua_tolstring(r->sp.L, -1, &len);
    return kg_strndup(r->sp.cx->arena, s, len);
}

/* Position of a name in a list; KILN_NOWHERE: reported as an unknown `kind`. */
static uint8_t find(reader *r, const kg_value *v, const char *kind, const char *key,
                    const char *const *name, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name[i], key) == 0) return (uint8_t)i;
    const char *near = kg_closest(key, name, n), *quoted = kg_quote(r->sp.cx, key, strlen(key));
    if (near)
        kg_wrong(&r->sp, v->pos, "%s: unknown %s %s (did you mean '%s'?)", v->what, kind, quoted, near);
    else if (n)
        kg_wrong(&r->sp, v->pos, "%s: unknown %s %s; there %s %s", v->what, kind, quoted, n == 1 ? "is" : "are",
                 kg_listed(r->sp.cx, name, n, " and "));
    else kg_wrong(&r->sp, v->pos, "%s: unknown %s %s: there is none", v->what, kind, quoted);
    return KILN_NOWHERE;
}

/* The list on top as bits of positions in `name`. */
static uint32_t read_set(reader *r, const kg_value *v, const char *kind, const char *const *name, size_t n)
{
    size_t count;
    uint32_t bits = 0;
    if (!kg_spec_list(&r->sp, v, &count, "names")) return 0;
    for (size_t i = 1; i <= count; i++) {
        kg_value item = kg_spec_item(&r->sp, v, i, v->what);
        const char *s = lua_type(r->sp.L, -1) == LUA_TSTRING ? lua_tostring(r->sp.L, -1) : NULL;
        uint8_t at = s ? find(r, &item, kind, s, name, n) : KILN_NOWHERE;
        if (!s) kg_wrong(&r->sp, item.pos, "%s: expected a name, got %s", v->what, kg_kind_of(r->sp.L, -1));
        if (at != KILN_NOWHERE && bits >> at & 1)
            kg_wrong(&r->sp, item.pos, "%s: '%s' is there twice", v->what, s);
        if (at != KILN_NOWHERE) bits |= 1u << at;
        lua_pop(r->sp.L, 1);
    }
    return bits;
}

/* ---- name, title, example, sizes ---- */

static void read_name(reader *r, const kg_value *v)
{
    const char *name = text_of(r);
    if (strcmp(name, r->fam->name) != 0)
        kg_wrong(&r->sp, v->pos, "name: must be '%s', as its folder is called, not %s", r->fam->name,
                 kg_quote(r->sp.cx, name, strlen(name)));
}

static void read_title(reader *r, const kg_value *v)
{
    (void)v;
    r->fam->title = text_of(r);
}

static void read_example(reader *r, const kg_value *v)
{
    (void)v;
    r->fam->example = text_of(r);
}

static void read_sizes(reader *r, const kg_value *v)
{
    kg_family *fam = r->fam;
    fam->nsizes = kg_spec_names(&r->sp, v, "size", fam->size, KILN_MAX_SIZES);
    for (size_t i = 0; i < fam->nsizes; i++) {
        r->size_pos[i] = kg_place_pos(&r->sp, kg_place_item(v->place, i + 1), v->pos);
        if (strcmp(fam->size[i], "batch") == 0)
            kg_wrong(&r->sp, r->size_pos[i], "sizes: every family has batch: leave it out");
    }
}

static uint8_t read_size(reader *r, const kg_value *v)
{
    uint8_t at = find(r, v, "size", lua_tostring(r->sp.L, -1), r->fam->size, r->fam->nsizes);
    if (at != KILN_NOWHERE) r->sizes_used |= (uint8_t)(1u << at);
    return at;
}

static void read_rows(reader *r, const kg_value *v)
{
    r->fam->rows = read_size(r, v);
}

static void read_cols(reader *r, const kg_value *v)
{
    r->fam->cols = read_size(r, v);
    if (r->fam->cols != KILN_NOWHERE && r->fam->cols == r->fam->rows)
        kg_wrong(&r->sp, v->pos, "cols: is the same size as rows");
}

static void read_empty(reader *r, const kg_value *v)
{
    r->fam->empty = (uint8_t)read_set(r, v, "size", r->fam->size, r->fam->nsizes);
}

static void read_independent(reader *r, const kg_value *v)
{
    r->fam->independent = (uint8_t)read_set(r, v, "size", r->fam->size, r->fam->nsizes);
}

static void read_summed(reader *r, const kg_value *v)
{
    r->fam->summed = find(r, v, "size", lua_tostring(r->sp.L, -1), r->fam->size, r->fam->nsizes);
}

/* ---- types ---- */

static size_t type_names(const kg_family *fam, const char **name)
{
    for (size_t i = 0; i < fam->ntypes; i++) name[i] = fam->type[i].name;
    return fam->ntypes;
}

static void dtype_names(const char **name)
{
    for (int i = 1; i < KILN_DTYPE_COUNT; i++) name[i - 1] = kiln_formats[i].name;
}

static void read_of(reader *r, const kg_value *v)
{
    const char *name[KILN_DTYPE_COUNT];
    dtype_names(name);
    ((kg_type_rule *)r->into)->of = read_set(r, v, "type", name, KILN_DTYPE_COUNT - 1) << 1;
}

static void read_says(reader *r, const kg_value *v)
{
    (void)v;
    ((kg_type_rule *)r->into)->says = text_of(r);
}

static void read_needs(reader *r, const kg_value *v)
{
    (void)v;
    ((kg_type_rule *)r->into)->needs = text_of(r);
}

static kiln_dtype read_dtype(reader *r, const kg_value *v)
{
    const char *name[KILN_DTYPE_COUNT];
    dtype_names(name);
    uint8_t at = find(r, v, "type", lua_tostring(r->sp.L, -1), name, KILN_DTYPE_COUNT - 1);
    return at == KILN_NOWHERE ? KILN_DTYPE_NONE : (kiln_dtype)(at + 1);
}

static void read_integer(reader *r, const kg_value *v)
{
    kg_type_rule *rule = r->into;
    rule->integer = read_dtype(r, v);
    if (rule->integer && kiln_is_float(rule->integer))
        kg_wrong(&r->sp, v->pos, "%s: '%s' is no integer type", v->what, kiln_formats[rule->integer].name);
}

static void read_real(reader *r, const kg_value *v)
{
    ((kg_type_rule *)r->into)->real = read_dtype(r, v);
}

static void read_from(reader *r, const kg_value *v)
{
    const char *name[KILN_MAX_TYPES];
    size_t n = type_names(r->fam, name);
    ((kg_type_rule *)r->into)->from = (uint8_t)read_set(r, v, "type before this one", name, n);
}

static void read_default(reader *r, const kg_value *v)
{
    static const field f[] = {
        {"from", true, LUA_TTABLE, "a list of types", read_from},
        {"integer", true, LUA_TSTRING, "a dtype's name", read_integer},
        {"real", true, LUA_TSTRING, "a dtype's name", read_real},
    };
    read_fields(r, v, f, COUNT(f));
}

static void read_types(reader *r, const kg_value *v)
{
    static const field f[] = {
        {"of", false, LUA_TTABLE, "a list of dtypes' names", read_of},
        {"says", false, LUA_TSTRING, "a text", read_says},
        {"default", false, LUA_TTABLE, "a table { from =, integer =, real = }", read_default},
        {"needs", false, LUA_TSTRING, "a text", read_needs},
    };
    kg_family *fam = r->fam;
    kg_ctx *cx = r->sp.cx;
    size_t n;
    if (!kg_spec_list(&r->sp, v, &n, "types { \"name\", ... }")) return;
    for (size_t i = 1; i <= n; i++) {
        kg_value item = kg_spec_item(&r->sp, v, i, "types");
        const char *name = item_name(r, &item, "type"), *known[KILN_MAX_TYPES];
        size_t before = type_names(fam, known);
        kg_type_rule rule = {.name = name, .tensor = KILN_NOWHERE};
        r->into = &rule;
        if (name && before == KILN_MAX_TYPES) {
            kg_wrong(&r->sp, item.pos, "types: a family has at most %d types", KILN_MAX_TYPES);
            name = NULL;
        }
        for (size_t k = 0; name && k < before; k++) {
            if (strcmp(known[k], name) != 0) continue;
            kg_wrong(&r->sp, item.pos, "types: '%s' is there twice", name);
            name = NULL;
        }
        if (name) {
            item.what = kg_printf(cx->arena, "types.%s", name);
            read_fields(r, &item, f, COUNT(f));
            if (rule.of && !rule.says)
                kg_wrong(&r->sp, item.pos, "%s: `of` goes with `says`, the message for another type", item.what);
            if (rule.needs && !rule.integer)
                kg_wrong(&r->sp, item.pos, "%s: `needs` goes with `default`", item.what);
            fam->type[fam->ntypes++] = rule;
        }
        lua_pop(r->sp.L, 1);
    }
}

/* ---- tensors, layouts ---- */

static void read_tensor_rows(reader *r, const kg_value *v)
{
    ((kg_own *)r->into)->rows = read_size(r, v);
}

static void read_tensor_cols(reader *r, const kg_value *v)
{
    ((kg_own *)r->into)->cols = read_size(r, v);
}

static void read_label(reader *r, const kg_value *v)
{
    (void)v;
    ((kg_own *)r->into)->label = text_of(r);
}

static void read_word(reader *r, const kg_value *v)
{
    (void)v;
    ((kg_own *)r->into)->word = text_of(r);
}

static void read_out(reader *r, const kg_value *v)
{
    (void)v;
    ((kg_own *)r->into)->out = lua_toboolean(r->sp.L, -1);
}

static void read_count(reader *r, const kg_value *v)
{
    int64_t n = 1;
    if (!kg_spec_whole(&r->sp, v, &n)) return;
    if (n < 1 || n > KILN_MAX_B)
        kg_wrong(&r->sp, v->pos, "%s: expected 1 .. %d", v->what, KILN_MAX_B);
    else ((kg_own *)r->into)->count = (uint8_t)n;
}

static void add_tensor(reader *r, const kg_value *v, const kg_own *own)
{
    kg_family *fam = r->fam;
    const char *known[KILN_MAX_TYPES];
    size_t n = type_names(fam, known), i = 0;
    bool several = own->count > 1;
    for (size_t k = 0; k < fam->nown; k++) {
        several &= fam->own[k].count == 1;
        if (strcmp(fam->own[k].name, own->name) == 0)
            kg_wrong(&r->sp, v->pos, "tensors: '%s' is there twice", own->name);
    }
    if (own->count > 1 && (!several || own->out)) /* one field of instance files names them */
        kg_wrong(&r->sp, v->pos, own->out ? "%s: an output is one" : "%s: another tensor may be several already",
                 v->what);
    while (i < n && strcmp(known[i], own->name) != 0) i++;
    if (i == n)
        kg_wrong(&r->sp, v->pos, "%s: no type has its name: write { \"%s\" } among types", v->what, own->name);
    else fam->type[i].tensor = (uint8_t)fam->nown;
    fam->own[fam->nown++] = *own;
}

static void read_tensors(reader *r, const kg_value *v)
{
    static const field f[] = {
        {"rows", true, LUA_TSTRING, "a size's name", read_tensor_rows},
        {"cols", true, LUA_TSTRING, "a size's name", read_tensor_cols},
        {"label", true, LUA_TSTRING, "what messages call it", read_label},
        {"count", false, LUA_TNUMBER, "a number", read_count},
        {"word", false, LUA_TSTRING, "what one of several is called", read_word},
        {"out", false, LUA_TBOOLEAN, "true or false", read_out},
    };
    size_t n;
    if (!kg_spec_list(&r->sp, v, &n, "tensors { \"name\", rows =, cols =, label = }")) return;
    for (size_t i = 1; i <= n; i++) {
        kg_value item = kg_spec_item(&r->sp, v, i, "tensors");
        kg_own own = {.rows = KILN_NOWHERE, .cols = KILN_NOWHERE, .count = 1, .word = "product"};
        r->into = &own;
        own.name = item_name(r, &item, "tensor");
        if (own.name && r->fam->nown == KILN_MAX_OWN) {
            kg_wrong(&r->sp, item.pos, "tensors: a family has at most %d of its own", KILN_MAX_OWN);
        } else if (own.name) {
            item.what = kg_printf(r->sp.cx->arena, "tensors.%s", own.name);
            read_fields(r, &item, f, COUNT(f));
            add_tensor(r, &item, &own);
        }
        lua_pop(r->sp.L, 1);
    }
}

static void read_layouts(reader *r, const kg_value *v)
{
    kg_family *fam = r->fam;
    const char *name[KILN_MAX_LAYOUTS], *known[KILN_MAX_OWN];
    size_t n = kg_spec_names(&r->sp, v, "tensor", name, KILN_MAX_LAYOUTS);
    for (size_t i = 0; i < fam->nown; i++) known[i] = fam->own[i].name;
    for (size_t i = 0; i < n; i++) {
        kg_value item = {NULL, kg_place_pos(&r->sp, kg_place_item(v->place, i + 1), v->pos), "layouts"};
        uint8_t at = find(r, &item, "tensor", name[i], known, fam->nown);
        if (at != KILN_NOWHERE) fam->layout[fam->nlayouts++] = at;
    }
}

/* ---- inputs, outputs ---- */

static uint8_t read_kinds(reader *r, const kg_value *v)
{
    static const char *const name[] = {
#define X(kind, id, text) #kind,
        KILN_DKINDS(X)
#undef X
    };
    return (uint8_t)(read_set(r, v, "kind", name, COUNT(name)) << 1);
}

static void read_input_kinds(reader *r, const kg_value *v)
{
    r->fam->input_kinds = read_kinds(r, v);
}

static void read_output_kinds(reader *r, const kg_value *v)
{
    r->fam->output_kinds = read_kinds(r, v);
}

static void read_most(reader *r, const kg_value *v)
{
    int64_t n = 0;
    if (!kg_spec_whole(&r->sp, v, &n)) return;
    if (n >= 1 && n <= KILN_MAX_TENSORS) r->fam->most = (uint8_t)n;
    else kg_wrong(&r->sp, v->pos, "%s: expected 1 .. %d", v->what, KILN_MAX_TENSORS);
}

static void read_first(reader *r, const kg_value *v)
{
    int64_t n = 0;
    if (!kg_spec_whole(&r->sp, v, &n)) return;
    if (n < KILN_MAX_TENSORS) r->fam->first = (uint8_t)n;
    else kg_wrong(&r->sp, v->pos, "%s: expected 0 .. %d", v->what, KILN_MAX_TENSORS - 1);
}

static void read_prefix(reader *r, const kg_value *v)
{
    r->fam->prefix = text_of(r);
    if (r->fam->prefix[strspn(r->fam->prefix, "abcdefghijklmnopqrstuvwxyz.")])
        kg_wrong(&r->sp, v->pos, "%s: expected letters a-z and '.', got %s", v->what, kg_kind_of(r->sp.L, -1));
}

static void read_input_type(reader *r, const kg_value *v)
{
    const char *name[KILN_MAX_TYPES];
    size_t n = type_names(r->fam, name);
    r->fam->input_type = find(r, v, "type", lua_tostring(r->sp.L, -1), name, n);
}

static void read_inputs(reader *r, const kg_value *v)
{
    static const field f[] = {
        {"most", true, LUA_TNUMBER, "a number", read_most},
        {"first", true, LUA_TNUMBER, "a number", read_first},
        {"prefix", true, LUA_TSTRING, "a text", read_prefix},
        {"kinds", true, LUA_TTABLE, "a list of kinds", read_input_kinds},
        {"type", false, LUA_TSTRING, "a type's name", read_input_type},
    };
    kg_family *fam = r->fam;
    read_fields(r, v, f, COUNT(f));
    size_t own_in = 0, own_out = 0;
    for (size_t i = 0; i < fam->nown; i++) *(fam->own[i].out ? &own_out : &own_in) += fam->own[i].count;
    if (r->sp.wrong) return;
    if (fam->first < fam->nown || fam->first < own_in)
        kg_wrong(&r->sp, v->pos, "inputs.first: %d is taken by the family's own tensors", fam->first);
    else if (fam->first + fam->most + own_out > KILN_MAX_TENSORS)
        kg_wrong(&r->sp, v->pos, "inputs: %d from position %d and %zu outputs: there are %d positions", fam->most,
                 fam->first, own_out, KILN_MAX_TENSORS);
}

static void read_outputs(reader *r, const kg_value *v)
{
    static const field f[] = {{"kinds", true, LUA_TTABLE, "a list of kinds", read_output_kinds}};
    read_fields(r, v, f, COUNT(f));
    for (size_t i = 0; i < r->fam->nown; i++)
        if (r->fam->own[i].out)
            kg_wrong(&r->sp, v->pos, "outputs: the family has an output of its own, '%s'", r->fam->own[i].name);
}

/* ---- functions ---- */

static void read_required(reader *r, const kg_value *v)
{
    (void)v;
    ((kg_function *)r->into)->required = lua_toboolean(r->sp.L, -1);
}

/* code, reduces: of the main function alone. */
static bool of_main(reader *r, const kg_value *v)
{
    bool on = lua_toboolean(r->sp.L, -1);
    if (on && r->fam->nfunctions)
        kg_wrong(&r->sp, v->pos, "%s: only the first function, %s, may", v->what, r->fam->function[0].name);
    return on;
}

static void read_code(reader *r, const kg_value *v)
{
    ((kg_function *)r->into)->code = of_main(r, v);
}

static void read_reduces(reader *r, const kg_value *v)
{
    ((kg_function *)r->into)->reduces = of_main(r, v);
}

static void read_args(reader *r, const kg_value *v)
{
    static const char *const word[] = {"acc", "d", "s", "at", "x"}; /* ORDER kg_arg */
    kg_function *fn = r->into;
    const char *name[COUNT(fn->arg)];
    size_t n = kg_spec_names(&r->sp, v, "argument", name, COUNT(fn->arg));
    for (size_t i = 0; i < n; i++) {
        kg_value item = {NULL, kg_place_pos(&r->sp, kg_place_item(v->place, i + 1), v->pos), v->what};
        uint8_t at = find(r, &item, "argument", name[i], word, COUNT(word));
        if (at == KILN_NOWHERE) continue;
        fn->arg[fn->nargs++] = (kg_arg)at;
        if (at == KG_ARG_ACC && !r->fam->nown)
            kg_wrong(&r->sp, item.pos, "%s: acc is the sum of products, and the family has no tensors", v->what);
        if (at == KG_ARG_D && !r->fam->most)
            kg_wrong(&r->sp, item.pos, "%s: d is the inputs, and the family has none", v->what);
    }
}

static void read_c_name(reader *r, const kg_value *v)
{
    kg_function *fn = r->into;
    const char *why, *s = text_of(r);
    fn->c_name = s;
    if (!kg_name_ok(r->sp.cx, "function", s, strlen(s), &why)) kg_wrong(&r->sp, v->pos, "%s: %s", v->what, why);
}

static bool taken(const reader *r, const char *name)
{
    static const char *const own[] = {"types", "layouts", "d",       "scalars", "outputs",
                                      "ref",   "tiles",   "targets", "check"};
    for (size_t i = 0; i < COUNT(own); i++)
        if (strcmp(own[i], name) == 0) return true;
    for (size_t i = 0; i < r->fam->nown; i++)
        if (r->fam->own[i].count > 1 && strcmp(r->fam->own[i].name, name) == 0) return true;
    for (size_t i = 0; i < r->fam->nfunctions; i++)
        if (strcmp(r->fam->function[i].name, name) == 0) return true;
    return false;
}

static void read_functions(reader *r, const kg_value *v)
{
    static const field f[] = {
        {"required", false, LUA_TBOOLEAN, "true or false", read_required},
        {"args", true, LUA_TTABLE, "a list of acc, d, s, at, x", read_args},
        {"code", false, LUA_TBOOLEAN, "true or false", read_code},
        {"reduces", false, LUA_TBOOLEAN, "true or false", read_reduces},
        {"name", false, LUA_TSTRING, "a C function's name", read_c_name},
    };
    size_t n;
    if (!kg_spec_list(&r->sp, v, &n, "functions { \"name\", args = { ... } }")) return;
    for (size_t i = 1; i <= n; i++) {
        kg_value item = kg_spec_item(&r->sp, v, i, "functions");
        kg_function fn = {.name = item_name(r, &item, "function")};
        r->into = &fn;
        if (fn.name && r->fam->nfunctions == KILN_MAX_FUNCTIONS) {
            kg_wrong(&r->sp, item.pos, "functions: a family has at most %d", KILN_MAX_FUNCTIONS);
        } else if (fn.name && taken(r, fn.name)) {
            kg_wrong(&r->sp, item.pos, "functions: '%s' is a field of instance files already", fn.name);
        } else if (fn.name) {
            item.what = kg_printf(r->sp.cx->arena, "functions.%s", fn.name);
            fn.c_name = kg_printf(r->sp.cx->arena, "kiln_%s", fn.name);
            read_fields(r, &item, f, COUNT(f));
            r->fam->function[r->fam->nfunctions++] = fn;
        }
        lua_pop(r->sp.L, 1);
    }
}

/* ---- shapes ---- */

static void read_shape_list(reader *r, const kg_value *v, size_t n)
{
    kg_family *fam = r->fam;
    const char *sizes = kg_listed(r->sp.cx, fam->size, fam->nsizes, ", ");
    for (size_t i = 1; i <= n; i++) {
        size_t count = 0;
        kg_value item = kg_spec_item(&r->sp, v, i, kg_printf(r->sp.cx->arena, "%s: shape %zu", v->what, i));
        bool ok = kg_spec_list(&r->sp, &item, &count, sizes);
        if (ok && count != fam->nsizes)
            kg_wrong(&r->sp, item.pos, "%s: expected { %s }, got %zu numbers", item.what, sizes, count);
        else if (ok && fam->nshapes == KG_MAX_FAMILY_SHAPES)
            kg_wrong(&r->sp, item.pos, "%s: at most %d are possible", v->what, KG_MAX_FAMILY_SHAPES);
        else if (ok) {
            for (size_t k = 0; k < count; k++) {
                kg_value size = kg_spec_item(&r->sp, &item, k + 1, item.what);
                kg_spec_whole(&r->sp, &size, &fam->shape[fam->nshapes][k]);
                lua_pop(r->sp.L, 1);
            }
            fam->nshapes++;
        }
        lua_pop(r->sp.L, 1);
    }
}

static void read_shapes(reader *r, const kg_value *v)
{
    lua_State *L = r->sp.L;
    size_t n;
    const kg_place *p = kg_place_field(v->place, "quick");
    kg_value quick = {p, kg_place_pos(&r->sp, p, v->pos), "shapes.quick"};
    if (lua_getfield(L, -1, "quick") != LUA_TNIL && kg_spec_list(&r->sp, &quick, &n, "shapes"))
        read_shape_list(r, &quick, n);
    lua_pop(L, 1);
    r->fam->nquick = r->fam->nshapes;
    lua_pushnil(L);
    lua_setfield(L, -2, "quick");
    if (!lua_rawlen(L, -1) && r->fam->nquick) return;
    if (kg_spec_list(&r->sp, v, &n, "shapes")) read_shape_list(r, v, n);
}

/* present.c calls it, in the state of templates. */
static void read_present(reader *r, const kg_value *v)
{
    (void)r;
    (void)v;
}

/* ORDER FAMILY FIELD: what a field names stands before it. */
static const field family_field[] = {
    {"name", true, LUA_TSTRING, "the folder's name", read_name},
    {"title", true, LUA_TSTRING, "a text", read_title},
    {"sizes", true, LUA_TTABLE, "a list of names", read_sizes},
    {"rows", true, LUA_TSTRING, "a size's name", read_rows},
    {"cols", true, LUA_TSTRING, "a size's name", read_cols},
    {"empty", false, LUA_TTABLE, "a list of sizes", read_empty},
    {"independent", false, LUA_TTABLE, "a list of sizes", read_independent},
    {"types", false, LUA_TTABLE, "a list of types", read_types},
    {"tensors", false, LUA_TTABLE, "a list of tensors", read_tensors},
    {"summed", false, LUA_TSTRING, "a size's name", read_summed},
    {"layouts", false, LUA_TTABLE, "a list of tensors' names", read_layouts},
    {"inputs", false, LUA_TTABLE, "a table { most =, first =, prefix =, kinds = }", read_inputs},
    {"outputs", false, LUA_TTABLE, "a table { kinds = }", read_outputs},
    {"functions", true, LUA_TTABLE, "a list of functions", read_functions},
    {"shapes", false, LUA_TTABLE, "a list of shapes", read_shapes},
    {"example", true, LUA_TSTRING, "a problem as text", read_example},
    {"present", false, LUA_TFUNCTION, "a function", read_present},
};

static void check_whole(reader *r)
{
    kg_family *fam = r->fam;
    bool writes = fam->output_kinds != 0;
    for (size_t i = 0; i < fam->nsizes; i++)
        if (!(r->sizes_used >> i & 1))
            kg_wrong(&r->sp, r->size_pos[i], "sizes: nothing uses '%s': no tensor's rows or cols, nor the family's",
                     fam->size[i]);
    for (size_t i = 0; i < fam->nown; i++) writes |= fam->own[i].out;
    if (!writes) kg_wrong(&r->sp, fam->pos, "nothing is written: no tensor has out = true, and there is no `outputs`");
    if (fam->output_kinds && !fam->most)
        kg_wrong(&r->sp, fam->pos, "outputs: `inputs` says where tensors stand and how many there may be");
    if (!fam->ntypes || fam->nown) return;
    kg_wrong(&r->sp, fam->pos, "types: without tensors of the family's own each op names its types");
}

/* Where a kernel's arguments are, as abi/kiln_module.h lays them out. */
static void place_arguments(kg_family *fam)
{
    size_t pointers = fam->most, pitches = fam->nown + fam->most;
    for (size_t i = 0; i < fam->nown; i++) pointers += fam->own[i].count;
    fam->pointers = (uint8_t)pointers;
    fam->pitches = (uint8_t)pitches;
    size_t bytes = 8 * (pointers + 1) + 16 * pitches + 4 * (fam->nsizes + 1) + 4 * KILN_MAX_SCALARS + 8;
    fam->args_size = (uint32_t)((bytes + 7) / 8 * 8);
}

static int read_table(lua_State *L) /* table, reader* */
{
    reader *r = lua_touserdata(L, 2);
    lua_settop(L, 1);
    kg_value whole = {r->sp.place, r->fam->pos, ""};
    read_fields(r, &whole, family_field, COUNT(family_field));
    if (!r->sp.wrong) check_whole(r);
    if (!r->sp.wrong) place_arguments(r->fam);
    return 0;
}

static int family(lua_State *L)
{
    if (lua_gettop(L) != 1 || !lua_istable(L, 1))
        return kg_raise(L, "family", "family needs a table: return family { ... }, got %s", kg_kind_of(L, 1));
    return 1;
}

static bool load(kg_ctx *cx, lua_State *L, kg_family *fam)
{
    const char *path = kg_printf(cx->arena, "%s/%s/family.lua", cx->templates, fam->name), *why;
    const kg_source *src = kg_source_read(cx, path, path);
    cx->io_failed |= !src;
    if (!src) return false;
    fam->pos = (kg_pos){src->file, 1, 1};
    if (!kg_name_ok(cx, "family", fam->name, strlen(fam->name), &why)) {
        kg_error(cx, fam->pos, "%s", why);
        return false;
    }
    kg_sandbox_env(L);
    lua_pushcfunction(L, family);
    lua_pushstring(L, "family");
    lua_insert(L, -2);
    lua_rawset(L, -3);
    if (!kg_sandbox_load(cx, L, src, NULL, 0) || !kg_sandbox_call(cx, L, 0, 1, fam->pos)) return false;
    if (!lua_istable(L, -1)) {
        kg_error(cx, fam->pos, "the file must `return family { ... }`");
        return false;
    }
    reader r = {.fam = fam};
    r.sp = (kg_spec){.cx = cx, .L = L, .source = src, .prefix = ""};
    r.sp.place = kg_place_of_table(cx->arena, kg_source_tokens(cx, src), "family");
    fam->pos = kg_place_pos(&r.sp, r.sp.place, fam->pos);
    lua_pushcfunction(L, read_table);
    lua_insert(L, -2);
    lua_pushlightuserdata(L, &r);
    return kg_sandbox_call(cx, L, 2, 0, fam->pos) && !r.sp.wrong;
}

bool kg_families_load(kg_ctx *cx)
{
    kg_names_list list;
    if (!kg_list_holding(cx, cx->templates, "family.lua", &list)) {
        kg_error(cx, (kg_pos){cx->templates, 0, 0}, "cannot read the folder: %s", strerror(errno));
        cx->io_failed = true;
        return false;
    }
    if (!list.n || list.n > KG_MAX_FAMILIES) {
        kg_error(cx, (kg_pos){cx->templates, 0, 0},
                 list.n ? "more than %d families" : "no folder here has a family.lua",
                 KG_MAX_FAMILIES);
        return false;
    }
    lua_State *L = kg_sandbox_open(cx);
    if (!L) return false;
    bool good = true;
    for (size_t i = 0; i < list.n; i++) {
        kg_family *fam = kg_alloc(cx->arena, sizeof *fam);
        *fam = (kg_family){.name = list.v[i], .prefix = "", .rows = KILN_NOWHERE, .cols = KILN_NOWHERE};
        fam->summed = fam->input_type = KILN_NOWHERE;
        good &= load(cx, L, fam);
        cx->family[cx->nfamilies++] = fam;
        lua_settop(L, 0);
    }
    kg_sandbox_close(L);
    return good;
}
