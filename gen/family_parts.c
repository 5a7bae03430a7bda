// SPDX-License-Identifier: MIT
// What of a family's file is more than a name or a number: types, tensors, layouts, inputs and
// outputs, functions, shapes.
#include "family.h"
#include <lauxlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* An item { "name", field = ... } of a list, on top: its name, which is taken out of the table;
 * NULL: reported. */
const char *kg_read_first(kg_reader *r, const kg_value *v, const char *kind)
{
    lua_State *L = r->sp.L;
    if (!lua_istable(L, -1)) {
        kg_wrong(&r->sp, v->pos, "%s: expected { \"name\", ... }, got %s", v->what,
                 kg_kind_of(L, -1));
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

static void read_of(kg_reader *r, const kg_value *v)
{
    const char *name[KILN_DTYPE_COUNT];
    dtype_names(name);
    ((kg_type_rule *)r->into)->of = kg_read_set(r, v, "type", name, KILN_DTYPE_COUNT - 1) << 1;
}

static void read_says(kg_reader *r, const kg_value *v)
{
    (void)v;
    ((kg_type_rule *)r->into)->says = kg_read_text(r);
}

static void read_needs(kg_reader *r, const kg_value *v)
{
    (void)v;
    ((kg_type_rule *)r->into)->needs = kg_read_text(r);
}

static kiln_dtype read_dtype(kg_reader *r, const kg_value *v)
{
    const char *name[KILN_DTYPE_COUNT];
    dtype_names(name);
    uint8_t at =
        kg_read_position(r, v, "type", lua_tostring(r->sp.L, -1), name, KILN_DTYPE_COUNT - 1);
    return at == KILN_NOWHERE ? KILN_DTYPE_NONE : (kiln_dtype)(at + 1);
}

static void read_integer(kg_reader *r, const kg_value *v)
{
    kg_type_rule *rule = r->into;
    rule->integer = read_dtype(r, v);
    if (rule->integer && kiln_is_float(rule->integer))
        kg_wrong(&r->sp, v->pos, "%s: '%s' is no integer type", v->what,
                 kiln_formats[rule->integer].name);
}

static void read_real(kg_reader *r, const kg_value *v)
{
    ((kg_type_rule *)r->into)->real = read_dtype(r, v);
}

static void read_from(kg_reader *r, const kg_value *v)
{
    const char *name[KILN_MAX_TYPES];
    size_t n = type_names(r->fam, name);
    ((kg_type_rule *)r->into)->from = (uint8_t)kg_read_set(r, v, "type before this one", name, n);
}

static void read_default(kg_reader *r, const kg_value *v)
{
    static const kg_field f[] = {
        {"from", true, LUA_TTABLE, "a list of types", read_from},
        {"integer", true, LUA_TSTRING, "a dtype's name", read_integer},
        {"real", true, LUA_TSTRING, "a dtype's name", read_real},
    };
    kg_read_fields(r, v, f, COUNT(f));
}

void kg_read_types(kg_reader *r, const kg_value *v)
{
    static const kg_field f[] = {
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
        const char *name = kg_read_first(r, &item, "type"), *known[KILN_MAX_TYPES];
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
            kg_read_fields(r, &item, f, COUNT(f));
            if (rule.of && !rule.says)
                kg_wrong(&r->sp, item.pos,
                         "%s: `of` goes with `says`, the message for another type", item.what);
            if (rule.needs && !rule.integer)
                kg_wrong(&r->sp, item.pos, "%s: `needs` goes with `default`", item.what);
            fam->type[fam->ntypes++] = rule;
        }
        lua_pop(r->sp.L, 1);
    }
}

/* ---- tensors, layouts ---- */

static void read_tensor_rows(kg_reader *r, const kg_value *v)
{
    ((kg_own *)r->into)->rows = kg_read_size(r, v);
}

static void read_tensor_cols(kg_reader *r, const kg_value *v)
{
    ((kg_own *)r->into)->cols = kg_read_size(r, v);
}

static void read_tensor_planes(kg_reader *r, const kg_value *v)
{
    ((kg_own *)r->into)->planes = kg_read_size(r, v);
    if (r->fam->planes == KILN_NOWHERE)
        kg_wrong(&r->sp, v->pos, "%s: the family has no planes", v->what);
}

static void read_label(kg_reader *r, const kg_value *v)
{
    (void)v;
    ((kg_own *)r->into)->label = kg_read_text(r);
}

static void read_word(kg_reader *r, const kg_value *v)
{
    (void)v;
    ((kg_own *)r->into)->word = kg_read_text(r);
}

static void read_out(kg_reader *r, const kg_value *v)
{
    (void)v;
    ((kg_own *)r->into)->out = lua_toboolean(r->sp.L, -1);
}

static void read_count(kg_reader *r, const kg_value *v)
{
    int64_t n = 1;
    if (!kg_spec_whole(&r->sp, v, &n)) return;
    if (n < 1 || n > KILN_MAX_B)
        kg_wrong(&r->sp, v->pos, "%s: expected 1 .. %d", v->what, KILN_MAX_B);
    else
        ((kg_own *)r->into)->count = (uint8_t)n;
}

static void add_tensor(kg_reader *r, const kg_value *v, const kg_own *own)
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
        kg_wrong(&r->sp, v->pos,
                 own->out ? "%s: an output is one" : "%s: another tensor may be several already",
                 v->what);
    while (i < n && strcmp(known[i], own->name) != 0) i++;
    if (i == n)
        kg_wrong(&r->sp, v->pos, "%s: no type has its name: write { \"%s\" } among types", v->what,
                 own->name);
    else
        fam->type[i].tensor = (uint8_t)fam->nown;
    fam->own[fam->nown++] = *own;
}

void kg_read_tensors(kg_reader *r, const kg_value *v)
{
    static const kg_field f[] = {
        {"rows", true, LUA_TSTRING, "a size's name", read_tensor_rows},
        {"cols", true, LUA_TSTRING, "a size's name", read_tensor_cols},
        {"planes", false, LUA_TSTRING, "a size's name", read_tensor_planes},
        {"label", true, LUA_TSTRING, "what messages call it", read_label},
        {"count", false, LUA_TNUMBER, "a number", read_count},
        {"word", false, LUA_TSTRING, "what one of several is called", read_word},
        {"out", false, LUA_TBOOLEAN, "true or false", read_out},
    };
    size_t n;
    if (!kg_spec_list(&r->sp, v, &n, "tensors { \"name\", rows =, cols =, label = }")) return;
    for (size_t i = 1; i <= n; i++) {
        kg_value item = kg_spec_item(&r->sp, v, i, "tensors");
        kg_own own = {.rows = KILN_NOWHERE,
                      .cols = KILN_NOWHERE,
                      .planes = KILN_NOWHERE,
                      .count = 1,
                      .word = "product"};
        r->into = &own;
        own.name = kg_read_first(r, &item, "tensor");
        if (own.name && r->fam->nown == KILN_MAX_OWN) {
            kg_wrong(&r->sp, item.pos, "tensors: a family has at most %d of its own", KILN_MAX_OWN);
        } else if (own.name) {
            item.what = kg_printf(r->sp.cx->arena, "tensors.%s", own.name);
            kg_read_fields(r, &item, f, COUNT(f));
            add_tensor(r, &item, &own);
        }
        lua_pop(r->sp.L, 1);
    }
}

void kg_read_layouts(kg_reader *r, const kg_value *v)
{
    kg_family *fam = r->fam;
    const char *name[KILN_MAX_LAYOUTS], *known[KILN_MAX_OWN];
    size_t n = kg_spec_names(&r->sp, v, "tensor", name, KILN_MAX_LAYOUTS);
    for (size_t i = 0; i < fam->nown; i++) known[i] = fam->own[i].name;
    for (size_t i = 0; i < n; i++) {
        kg_value item = {NULL, kg_place_pos(&r->sp, kg_place_item(v->place, i + 1), v->pos),
                         "layouts"};
        uint8_t at = kg_read_position(r, &item, "tensor", name[i], known, fam->nown);
        if (at != KILN_NOWHERE) fam->layout[fam->nlayouts++] = at;
    }
}

/* ---- inputs, outputs ---- */

static uint16_t read_kinds(kg_reader *r, const kg_value *v)
{
    static const char *const name[] = {
#define X(kind, id, text) #kind,
        KILN_DKINDS(X)
#undef X
    };
    return (uint16_t)(kg_read_set(r, v, "kind", name, COUNT(name)) << 1);
}

static void read_input_kinds(kg_reader *r, const kg_value *v)
{
    r->fam->input_kinds = read_kinds(r, v);
}

static void read_packed_kinds(kg_reader *r, const kg_value *v)
{
    r->fam->packed_kinds = read_kinds(r, v);
}

static void read_output_kinds(kg_reader *r, const kg_value *v)
{
    r->fam->output_kinds = read_kinds(r, v);
}

static void read_most(kg_reader *r, const kg_value *v)
{
    int64_t n = 0;
    if (!kg_spec_whole(&r->sp, v, &n)) return;
    if (n >= 1 && n <= KILN_MAX_TENSORS)
        r->fam->most = (uint8_t)n;
    else
        kg_wrong(&r->sp, v->pos, "%s: expected 1 .. %d", v->what, KILN_MAX_TENSORS);
}

static void read_first(kg_reader *r, const kg_value *v)
{
    int64_t n = 0;
    if (!kg_spec_whole(&r->sp, v, &n)) return;
    if (n < KILN_MAX_TENSORS)
        r->fam->first = (uint8_t)n;
    else
        kg_wrong(&r->sp, v->pos, "%s: expected 0 .. %d", v->what, KILN_MAX_TENSORS - 1);
}

static void read_prefix(kg_reader *r, const kg_value *v)
{
    r->fam->prefix = kg_read_text(r);
    if (r->fam->prefix[strspn(r->fam->prefix, "abcdefghijklmnopqrstuvwxyz.")])
        kg_wrong(&r->sp, v->pos, "%s: expected letters a-z and '.', got %s", v->what,
                 kg_kind_of(r->sp.L, -1));
}

static void read_input_type(kg_reader *r, const kg_value *v)
{
    const char *name[KILN_MAX_TYPES];
    size_t n = type_names(r->fam, name);
    r->fam->input_type = kg_read_position(r, v, "type", lua_tostring(r->sp.L, -1), name, n);
}

void kg_read_inputs(kg_reader *r, const kg_value *v)
{
    static const kg_field f[] = {
        {"most", true, LUA_TNUMBER, "a number", read_most},
        {"first", true, LUA_TNUMBER, "a number", read_first},
        {"prefix", true, LUA_TSTRING, "a text", read_prefix},
        {"kinds", true, LUA_TTABLE, "a list of kinds", read_input_kinds},
        {"packed", false, LUA_TTABLE, "a list of kinds", read_packed_kinds},
        {"type", false, LUA_TSTRING, "a type's name", read_input_type},
    };
    kg_family *fam = r->fam;
    kg_read_fields(r, v, f, COUNT(f));
    size_t own_in = 0, own_out = 0;
    for (size_t i = 0; i < fam->nown; i++)
        *(fam->own[i].out ? &own_out : &own_in) += fam->own[i].count;
    if (r->sp.wrong) return;
    if (fam->first < fam->nown || fam->first < own_in)
        kg_wrong(&r->sp, v->pos, "inputs.first: %d is taken by the family's own tensors",
                 fam->first);
    else if (fam->first + fam->most + own_out > KILN_MAX_TENSORS)
        kg_wrong(&r->sp, v->pos,
                 "inputs: %d from position %d and %zu outputs: there are %d positions", fam->most,
                 fam->first, own_out, KILN_MAX_TENSORS);
}

static void read_computed(kg_reader *r, const kg_value *v)
{
    r->fam->ncomputed =
        kg_spec_names(&r->sp, v, "output", r->fam->computed, COUNT(r->fam->computed));
}

void kg_read_outputs(kg_reader *r, const kg_value *v)
{
    static const kg_field f[] = {
        {"kinds", true, LUA_TTABLE, "a list of kinds", read_output_kinds},
        {"computed", false, LUA_TTABLE, "a list of names", read_computed},
    };
    kg_read_fields(r, v, f, COUNT(f));
}

/* ---- functions ---- */

static void read_required(kg_reader *r, const kg_value *v)
{
    (void)v;
    ((kg_function *)r->into)->required = lua_toboolean(r->sp.L, -1);
}

/* code, reduces: of the main function alone. */
static bool of_main(kg_reader *r, const kg_value *v)
{
    bool on = lua_toboolean(r->sp.L, -1);
    if (on && r->fam->nfunctions)
        kg_wrong(&r->sp, v->pos, "%s: only the first function, %s, may", v->what,
                 r->fam->function[0].name);
    return on;
}

static void read_code(kg_reader *r, const kg_value *v)
{
    ((kg_function *)r->into)->code = of_main(r, v);
}

static void read_reduces(kg_reader *r, const kg_value *v)
{
    ((kg_function *)r->into)->reduces = of_main(r, v);
}

static void read_args(kg_reader *r, const kg_value *v)
{
    static const char *const word[] = {"acc", "d",       "s", "at",
                                       "x",   "product"}; /* ORDER kg_arg */
    kg_function *fn = r->into;
    const char *name[COUNT(fn->arg)];
    size_t n = kg_spec_names(&r->sp, v, "argument", name, COUNT(fn->arg));
    for (size_t i = 0; i < n; i++) {
        kg_value item = {NULL, kg_place_pos(&r->sp, kg_place_item(v->place, i + 1), v->pos),
                         v->what};
        uint8_t at = kg_read_position(r, &item, "argument", name[i], word, COUNT(word));
        if (at == KILN_NOWHERE) continue;
        fn->arg[fn->nargs++] = (kg_arg)at;
        if (at == KG_ARG_ACC && !r->fam->nown)
            kg_wrong(&r->sp, item.pos,
                     "%s: acc is the sum of products, and the family has no tensors", v->what);
        if (at == KG_ARG_D && !r->fam->most)
            kg_wrong(&r->sp, item.pos, "%s: d is the inputs, and the family has none", v->what);
    }
}

static void read_over(kg_reader *r, const kg_value *v)
{
    ((kg_function *)r->into)->over = kg_read_sizes(r, v);
}

static void read_function_of(kg_reader *r, const kg_value *v)
{
    const char *known[KILN_MAX_OWN];
    for (size_t i = 0; i < r->fam->nown; i++) known[i] = r->fam->own[i].name;
    ((kg_function *)r->into)->of =
        kg_read_position(r, v, "tensor", lua_tostring(r->sp.L, -1), known, r->fam->nown);
}

static void read_blocks(kg_reader *r, const kg_value *v)
{
    kg_function *fn = r->into;
    fn->blocks = lua_toboolean(r->sp.L, -1);
    bool several = false;
    for (size_t i = 0; i < r->fam->nfunctions; i++) several |= r->fam->function[i].blocks;
    if (fn->blocks && (several || !r->fam->nfunctions))
        kg_wrong(&r->sp, v->pos, "%s: %s", v->what,
                 several ? "another function is of blocks already"
                         : "the first function gets whole sums");
    else if (fn->blocks && r->fam->summed == KILN_NOWHERE)
        kg_wrong(&r->sp, v->pos, "%s: the family has no size that is summed", v->what);
}

static void read_c_name(kg_reader *r, const kg_value *v)
{
    kg_function *fn = r->into;
    const char *why, *s = kg_read_text(r);
    fn->c_name = s;
    if (!kg_name_ok(r->sp.cx, "function", s, strlen(s), &why))
        kg_wrong(&r->sp, v->pos, "%s: %s", v->what, why);
}

static bool taken(const kg_reader *r, const char *name)
{
    static const char *const own[] = {"types", "layouts", "d",       "scalars", "outputs",
                                      "ref",   "tiles",   "targets", "check"};
    for (size_t i = 0; i < COUNT(own); i++)
        if (strcmp(own[i], name) == 0) return true;
    for (size_t i = 0; i < r->fam->nown; i++)
        if (r->fam->own[i].count > 1 && strcmp(r->fam->own[i].name, name) == 0) return true;
    for (size_t i = 0; i < r->fam->nfunctions; i++)
        if (strcmp(r->fam->function[i].name, name) == 0) return true;
    for (size_t i = 0; i < r->fam->noptions; i++)
        if (strcmp(r->fam->option[i].name, name) == 0) return true;
    return r->fam->fixed_field && strcmp(r->fam->fixed_field, name) == 0;
}

void kg_read_functions(kg_reader *r, const kg_value *v)
{
    static const kg_field f[] = {
        {"required", false, LUA_TBOOLEAN, "true or false", read_required},
        {"args", true, LUA_TTABLE, "a list of acc, d, s, at, x, product", read_args},
        {"of", false, LUA_TSTRING, "a tensor's name", read_function_of},
        {"blocks", false, LUA_TBOOLEAN, "true or false", read_blocks},
        {"code", false, LUA_TBOOLEAN, "true or false", read_code},
        {"reduces", false, LUA_TBOOLEAN, "true or false", read_reduces},
        {"over", false, LUA_TTABLE, "a list of sizes", read_over},
        {"name", false, LUA_TSTRING, "a C function's name", read_c_name},
    };
    size_t n;
    if (!kg_spec_list(&r->sp, v, &n, "functions { \"name\", args = { ... } }")) return;
    for (size_t i = 1; i <= n; i++) {
        kg_value item = kg_spec_item(&r->sp, v, i, "functions");
        kg_function fn = {.name = kg_read_first(r, &item, "function"), .of = KILN_NOWHERE};
        r->into = &fn;
        if (fn.name && r->fam->nfunctions == KILN_MAX_FUNCTIONS) {
            kg_wrong(&r->sp, item.pos, "functions: a family has at most %d", KILN_MAX_FUNCTIONS);
        } else if (fn.name && taken(r, fn.name)) {
            kg_wrong(&r->sp, item.pos, "functions: '%s' is a field of instance files already",
                     fn.name);
        } else if (fn.name) {
            item.what = kg_printf(r->sp.cx->arena, "functions.%s", fn.name);
            fn.c_name = kg_printf(r->sp.cx->arena, "kiln_%s", fn.name);
            kg_read_fields(r, &item, f, COUNT(f));
            r->fam->function[r->fam->nfunctions++] = fn;
        }
        lua_pop(r->sp.L, 1);
    }
}

/* ---- shapes ---- */

static void read_shape_list(kg_reader *r, const kg_value *v, size_t n)
{
    kg_family *fam = r->fam;
    const char *sizes = kg_listed(r->sp.cx, fam->size, fam->nsizes, ", ");
    for (size_t i = 1; i <= n; i++) {
        size_t count = 0;
        kg_value item =
            kg_spec_item(&r->sp, v, i, kg_printf(r->sp.cx->arena, "%s: shape %zu", v->what, i));
        bool ok = kg_spec_list(&r->sp, &item, &count, sizes);
        if (ok && count != fam->nsizes)
            kg_wrong(&r->sp, item.pos, "%s: expected { %s }, got %zu numbers", item.what, sizes,
                     count);
        else if (ok && fam->nshapes == KG_MAX_FAMILY_SHAPES)
            kg_wrong(&r->sp, item.pos, "%s: at most %d are possible", v->what,
                     KG_MAX_FAMILY_SHAPES);
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

void kg_read_shapes(kg_reader *r, const kg_value *v)
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
