// SPDX-License-Identifier: MIT
// Reads templates/FAMILY/family.lua: the signature of a kind of computation, as data.  Every field
// is checked here, with messages at its place; docs/families.md says what each means.  What follows
// from them (where tensors stand in problems and in a kernel's arguments) is worked out at the end.
#include "family.h"
#include <errno.h>
#include <lauxlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* ---- reading a table of fields ---- */

typedef struct fields {
    const kg_field *f;
    size_t n;
} fields;

static void check_known(kg_spec *sp, const kg_value *v, const char *key, void *arg)
{
    const fields *all = arg;
    const char *known[32] = {0};
    for (size_t i = 0; i < all->n; i++)
        if (strcmp(known[i] = all->f[i].name, key) == 0) return;
    kg_wrong_field(sp, kg_key_pos(sp, v->place, v->pos), v->what, key, known, all->n);
}

void kg_read_fields(kg_reader *r, const kg_value *v, const kg_field *f, size_t n)
{
    lua_State *L = r->sp.L;
    fields all = {f, n};
    kg_spec_fields(&r->sp, v, check_known, &all);
    for (size_t i = 0; i < n && (*v->what || !r->sp.wrong); i++) {
        const kg_place *p = kg_place_field(v->place, f[i].name);
        const char *what =
            kg_printf(r->sp.cx->arena, "%s%s%s", v->what, *v->what ? "." : "", f[i].name);
        kg_value own = {p, kg_place_pos(&r->sp, p, v->pos), what};
        lua_pushstring(L, f[i].name);
        lua_rawget(L, -2);
        if (lua_isnil(L, -1) && f[i].required)
            kg_wrong(&r->sp, v->pos, "missing field '%s': %s", what, f[i].want);
        else if (!lua_isnil(L, -1) && lua_type(L, -1) != f[i].type)
            kg_wrong(&r->sp, own.pos, "%s: expected %s, got %s", what, f[i].want,
                     kg_kind_of(L, -1));
        else if (!lua_isnil(L, -1))
            f[i].read(r, &own);
        lua_pop(L, 1);
    }
}

const char *kg_read_text(kg_reader *r)
{
    size_t len;
    const char *s = lua_tolstring(r->sp.L, -1, &len);
    return kg_strndup(r->sp.cx->arena, s, len);
}

uint8_t kg_read_position(kg_reader *r, const kg_value *v, const char *kind, const char *key,
                         const char *const *name, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name[i], key) == 0) return (uint8_t)i;
    const char *near = kg_closest(key, name, n), *quoted = kg_quote(r->sp.cx, key, strlen(key));
    if (near)
        kg_wrong(&r->sp, v->pos, "%s: unknown %s %s (did you mean '%s'?)", v->what, kind, quoted,
                 near);
    else if (n)
        kg_wrong(&r->sp, v->pos, "%s: unknown %s %s; there %s %s", v->what, kind, quoted,
                 n == 1 ? "is" : "are", kg_listed(r->sp.cx, name, n, " and "));
    else
        kg_wrong(&r->sp, v->pos, "%s: unknown %s %s: there is none", v->what, kind, quoted);
    return KILN_NOWHERE;
}

uint32_t kg_read_set(kg_reader *r, const kg_value *v, const char *kind, const char *const *name,
                     size_t n)
{
    size_t count;
    uint32_t bits = 0;
    if (!kg_spec_list(&r->sp, v, &count, "names")) return 0;
    for (size_t i = 1; i <= count; i++) {
        kg_value item = kg_spec_item(&r->sp, v, i, v->what);
        const char *s = lua_type(r->sp.L, -1) == LUA_TSTRING ? lua_tostring(r->sp.L, -1) : NULL;
        uint8_t at = s ? kg_read_position(r, &item, kind, s, name, n) : KILN_NOWHERE;
        if (!s)
            kg_wrong(&r->sp, item.pos, "%s: expected a name, got %s", v->what,
                     kg_kind_of(r->sp.L, -1));
        if (at != KILN_NOWHERE && bits >> at & 1)
            kg_wrong(&r->sp, item.pos, "%s: '%s' is there twice", v->what, s);
        if (at != KILN_NOWHERE) bits |= 1u << at;
        lua_pop(r->sp.L, 1);
    }
    return bits;
}

/* ---- name, title, example, sizes ---- */

static void read_name(kg_reader *r, const kg_value *v)
{
    const char *name = kg_read_text(r);
    if (strcmp(name, r->fam->name) != 0)
        kg_wrong(&r->sp, v->pos, "name: must be '%s', as its folder is called, not %s",
                 r->fam->name, kg_quote(r->sp.cx, name, strlen(name)));
}

static void read_title(kg_reader *r, const kg_value *v)
{
    (void)v;
    r->fam->title = kg_read_text(r);
}

static void read_example(kg_reader *r, const kg_value *v)
{
    (void)v;
    r->fam->example = kg_read_text(r);
}

static void read_sizes(kg_reader *r, const kg_value *v)
{
    kg_family *fam = r->fam;
    fam->nsizes = kg_spec_names(&r->sp, v, "size", fam->size, KILN_MAX_SIZES);
    for (size_t i = 0; i < fam->nsizes; i++) {
        r->size_pos[i] = kg_place_pos(&r->sp, kg_place_item(v->place, i + 1), v->pos);
        if (strcmp(fam->size[i], "batch") == 0)
            kg_wrong(&r->sp, r->size_pos[i], "sizes: every family has batch: leave it out");
    }
}

uint8_t kg_read_size(kg_reader *r, const kg_value *v)
{
    uint8_t at =
        kg_read_position(r, v, "size", lua_tostring(r->sp.L, -1), r->fam->size, r->fam->nsizes);
    if (at == KILN_NOWHERE) return at;
    at = (uint8_t)KILN_POSITION(at);
    r->sizes_used |= (uint16_t)(1u << at);
    return at;
}

uint16_t kg_read_sizes(kg_reader *r, const kg_value *v)
{
    const uint32_t set = kg_read_set(r, v, "size", r->fam->size, r->fam->nsizes);
    uint32_t bits = 0;
    for (size_t i = 0; i < r->fam->nsizes; i++) bits |= (set >> i & 1) << KILN_POSITION(i);
    return (uint16_t)bits;
}

static void read_rows(kg_reader *r, const kg_value *v)
{
    r->fam->rows = kg_read_size(r, v);
}

static void read_cols(kg_reader *r, const kg_value *v)
{
    r->fam->cols = kg_read_size(r, v);
    if (r->fam->cols != KILN_NOWHERE && r->fam->cols == r->fam->rows)
        kg_wrong(&r->sp, v->pos, "cols: is the same size as rows");
}

static void read_empty(kg_reader *r, const kg_value *v)
{
    r->fam->empty = kg_read_sizes(r, v);
}

static void read_independent(kg_reader *r, const kg_value *v)
{
    r->fam->independent = kg_read_sizes(r, v);
}

static void read_summed(kg_reader *r, const kg_value *v)
{
    const uint16_t used = r->sizes_used;
    r->fam->summed = kg_read_size(r, v);
    r->sizes_used = used; /* a tensor has it besides */
}

static void read_planes(kg_reader *r, const kg_value *v)
{
    r->fam->planes = kg_read_size(r, v);
}

static void read_groups(kg_reader *r, const kg_value *v)
{
    r->fam->groups = kg_read_size(r, v);
    if (r->fam->planes == KILN_NOWHERE)
        kg_wrong(&r->sp, v->pos, "groups: goes with planes, which are a multiple of it");
}

/* present.c calls it, in the state of templates. */
static void read_present(kg_reader *r, const kg_value *v)
{
    (void)r;
    (void)v;
}

/* ORDER FAMILY FIELD: what a field names stands before it. */
static const kg_field family_field[] = {
    {"name", true, LUA_TSTRING, "the folder's name", read_name},
    {"title", true, LUA_TSTRING, "a text", read_title},
    {"sizes", true, LUA_TTABLE, "a list of names", read_sizes},
    {"rows", true, LUA_TSTRING, "a size's name", read_rows},
    {"cols", true, LUA_TSTRING, "a size's name", read_cols},
    {"planes", false, LUA_TSTRING, "a size's name", read_planes},
    {"groups", false, LUA_TSTRING, "a size's name", read_groups},
    {"fixed", false, LUA_TTABLE, "a table { \"field\", sizes = }", kg_read_fixed},
    {"options", false, LUA_TTABLE, "a list of options", kg_read_options},
    {"ragged", false, LUA_TTABLE, "a table { \"option\", sizes = }", kg_read_ragged},
    {"paged", false, LUA_TTABLE, "a table { \"option\", size =, pages = }", kg_read_paged},
    {"only", false, LUA_TTABLE, "a table size = { option, word }", kg_read_only},
    {"at", false, LUA_TTABLE, "a list of names", kg_read_places},
    {"empty", false, LUA_TTABLE, "a list of sizes", read_empty},
    {"independent", false, LUA_TTABLE, "a list of sizes", read_independent},
    {"types", false, LUA_TTABLE, "a list of types", kg_read_types},
    {"tensors", false, LUA_TTABLE, "a list of tensors", kg_read_tensors},
    {"gathered", false, LUA_TTABLE, "a table { \"option\", tensor =, size =, rows = }",
     kg_read_gathered},
    {"summed", false, LUA_TSTRING, "a size's name", read_summed},
    {"layouts", false, LUA_TTABLE, "a list of tensors' names", kg_read_layouts},
    {"inputs", false, LUA_TTABLE, "a table { most =, first =, prefix =, kinds = }", kg_read_inputs},
    {"outputs", false, LUA_TTABLE, "a table { kinds = }", kg_read_outputs},
    {"functions", true, LUA_TTABLE, "a list of functions", kg_read_functions},
    {"shapes", false, LUA_TTABLE, "a list of shapes", kg_read_shapes},
    {"example", true, LUA_TSTRING, "a problem as text", read_example},
    {"present", false, LUA_TFUNCTION, "a function", read_present},
};

static void check_whole(kg_reader *r)
{
    kg_family *fam = r->fam;
    bool writes = fam->output_kinds != 0;
    for (size_t i = 0; i < fam->nsizes; i++)
        if (!(r->sizes_used >> KILN_POSITION(i) & 1))
            kg_wrong(&r->sp, r->size_pos[i],
                     "sizes: nothing uses '%s': no tensor's rows or cols, nor the family's",
                     fam->size[i]);
    for (size_t i = 0; i < fam->nown; i++) writes |= fam->own[i].out;
    if (!writes)
        kg_wrong(&r->sp, fam->pos,
                 "nothing is written: no tensor has out = true, and there is no `outputs`");
    if (fam->output_kinds && !fam->most)
        kg_wrong(&r->sp, fam->pos,
                 "outputs: `inputs` says where tensors stand and how many there may be");
    if (!fam->ntypes || fam->nown) return;
    kg_wrong(&r->sp, fam->pos,
             "types: without tensors of the family's own each op names its types");
}

/* Where a kernel's arguments are, as abi/kiln_module.h lays them out. */
static void place_arguments(kg_family *fam)
{
    size_t pointers = fam->most, pitches = fam->nown + fam->most;
    for (size_t i = 0; i < fam->nown; i++) pointers += fam->own[i].count;
    fam->pointers = (uint8_t)pointers;
    fam->pitches = (uint8_t)pitches;
    const size_t strides = fam->planes == KILN_NOWHERE ? 2 : 3;
    size_t bytes = 8 * (pointers + 1) + 8 * strides * pitches + 4 * (fam->nsizes + 1) +
                   4 * KILN_MAX_SCALARS + 8;
    fam->args_size = (uint32_t)((bytes + 7) / 8 * 8);
}

static int read_table(lua_State *L) /* table, kg_reader* */
{
    kg_reader *r = lua_touserdata(L, 2);
    lua_settop(L, 1);
    kg_value whole = {r->sp.place, r->fam->pos, ""};
    kg_read_fields(r, &whole, family_field, COUNT(family_field));
    if (!r->sp.wrong) check_whole(r);
    if (!r->sp.wrong) place_arguments(r->fam);
    return 0;
}

static int family(lua_State *L)
{
    if (lua_gettop(L) != 1 || !lua_istable(L, 1))
        return kg_raise(L, "family", "family needs a table: return family { ... }, got %s",
                        kg_kind_of(L, 1));
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
    if (!kg_sandbox_load(cx, L, src, NULL, 0) || !kg_sandbox_call(cx, L, 0, 1, fam->pos))
        return false;
    if (!lua_istable(L, -1)) {
        kg_error(cx, fam->pos, "the file must `return family { ... }`");
        return false;
    }
    kg_reader r = {.fam = fam};
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
        *fam = (kg_family){
            .name = list.v[i], .prefix = "", .rows = KILN_NOWHERE, .cols = KILN_NOWHERE};
        fam->summed = fam->input_type = fam->planes = fam->groups = KILN_NOWHERE;
        fam->ragged = fam->paged = fam->gathered = KILN_NOWHERE;
        fam->place[0] = "row", fam->place[1] = "col", fam->nplaces = 2;
        good &= load(cx, L, fam);
        cx->family[cx->nfamilies++] = fam;
        lua_settop(L, 0);
    }
    kg_sandbox_close(L);
    return good;
}
