// SPDX-License-Identifier: MIT
// What of a family's file its ops choose: words (options), with which rows are of all batches or in
// pages, sizes that only ops with a word have, sizes that kernels are compiled for; and the names
// of an element's places.
#include "family.h"
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))
enum { MOST_OF = 8 }; /* functions that an option is about */
_Static_assert(KILN_X_COUNT <= 64, "kg_option.of has a bit for each");

/* ---- fixed = { "heads", sizes = { "dim", "dimv" } } ---- */

static void read_fixed_sizes(kg_reader *r, const kg_value *v)
{
    const char *name[KILN_MAX_FIXED];
    kg_family *fam = r->fam;
    const size_t n = kg_spec_names(&r->sp, v, "size", name, KILN_MAX_FIXED);
    for (size_t i = 0; i < n; i++) {
        uint8_t at = kg_read_position(r, v, "size", name[i], fam->size, fam->nsizes);
        if (at != KILN_NOWHERE) fam->fixed[fam->nfixed++] = (uint8_t)KILN_POSITION(at);
    }
}

void kg_read_fixed(kg_reader *r, const kg_value *v)
{
    static const kg_field f[] = {
        {"sizes", true, LUA_TTABLE, "a list of sizes", read_fixed_sizes},
    };
    const char *name = kg_read_first(r, v, "field");
    if (!name) return;
    r->fam->fixed_field = name;
    kg_read_fields(r, v, f, COUNT(f));
}

/* ---- options = { { "mask", words = { ... } }, { "gather", flag = true } } ---- */

static void read_words(kg_reader *r, const kg_value *v)
{
    kg_option *o = r->into;
    o->nwords = kg_spec_names(&r->sp, v, "word", o->word, COUNT(o->word));
}

static void read_flag(kg_reader *r, const kg_value *v)
{
    kg_option *o = r->into;
    (void)v;
    o->flag = lua_toboolean(r->sp.L, -1);
}

static void read_number(kg_reader *r, const kg_value *v)
{
    (void)v;
    ((kg_option *)r->into)->number = kg_read_text(r);
}

static void read_of(kg_reader *r, const kg_value *v)
{
    kg_option *o = r->into;
    const char *name[MOST_OF];
    const size_t n = kg_spec_names(&r->sp, v, "function", name, COUNT(name));
    for (size_t i = 0; i < n; i++) {
        uint8_t at = kg_read_position(r, v, "function", name[i], kg_function_name, KILN_X_COUNT);
        if (at != KILN_NOWHERE) o->of |= (uint64_t)1 << at;
    }
}

void kg_read_options(kg_reader *r, const kg_value *v)
{
    static const kg_field f[] = {
        {"words", false, LUA_TTABLE, "a list of words", read_words},
        {"flag", false, LUA_TBOOLEAN, "true", read_flag},
        {"number", false, LUA_TSTRING, "what is counted", read_number},
        {"of", false, LUA_TTABLE, "a list of functions", read_of},
    };
    kg_family *fam = r->fam;
    size_t n;
    if (!kg_spec_list(&r->sp, v, &n, "options { \"name\", words = { ... } }")) return;
    for (size_t i = 1; i <= n; i++) {
        kg_value item = kg_spec_item(&r->sp, v, i, "options");
        kg_option o = {.name = kg_read_first(r, &item, "option")};
        r->into = &o;
        if (o.name && fam->noptions == KILN_MAX_OPTIONS) {
            kg_wrong(&r->sp, item.pos, "options: a family has at most %d", KILN_MAX_OPTIONS);
        } else if (o.name) {
            item.what = kg_printf(r->sp.cx->arena, "options.%s", o.name);
            kg_read_fields(r, &item, f, COUNT(f));
            if (!o.nwords == !o.flag)
                kg_wrong(&r->sp, item.pos, "%s: expected words = { ... } or flag = true",
                         item.what);
            if (o.flag) o.word[0] = "true", o.nwords = 1;
            fam->option[fam->noptions++] = o;
        }
        lua_pop(r->sp.L, 1);
    }
}

/* ---- ragged = { "lengths", sizes = { "q" } }, { "groups", sizes = { "m" }, arrays = { "begin", "end" },
 * batch = "groups" }; gathered = { "gather", tensor = "a", size = "tokens", rows = "index" };
 * paged = { "kv", size = "kv", pages = "pages" } ---- */

/* The option that the table on top begins with. */
static uint8_t read_option(kg_reader *r, const kg_value *v)
{
    const kg_family *fam = r->fam;
    const char *first = kg_read_first(r, v, "option"), *name[KILN_MAX_OPTIONS];
    for (size_t i = 0; i < fam->noptions; i++) name[i] = fam->option[i].name;
    return first ? kg_read_position(r, v, "option", first, name, fam->noptions) : KILN_NOWHERE;
}

static void read_ragged_sizes(kg_reader *r, const kg_value *v)
{
    r->fam->ragged_sizes = kg_read_sizes(r, v);
}

static void read_arrays(kg_reader *r, const kg_value *v)
{
    const char *name[2];
    if (kg_spec_names(&r->sp, v, "index array", name, 2) == 2)
        r->fam->ragged_first = name[0], r->fam->ragged_end = name[1];
    else
        kg_wrong(&r->sp, v->pos, "%s: expected the names of two", v->what);
}

static void read_batch(kg_reader *r, const kg_value *v)
{
    const char *why, *s = kg_read_text(r);
    if (!kg_name_ok(r->sp.cx, "size", s, strlen(s), &why))
        kg_wrong(&r->sp, v->pos, "%s: %s", v->what, why);
    r->fam->ragged_batch = s;
    for (size_t i = 0; i < r->fam->nsizes; i++)
        if (strcmp(r->fam->size[i], s) == 0)
            kg_wrong(&r->sp, v->pos, "%s: '%s' is a size of the family", v->what, s);
}

void kg_read_ragged(kg_reader *r, const kg_value *v)
{
    static const kg_field f[] = {
        {"sizes", true, LUA_TTABLE, "a list of sizes", read_ragged_sizes},
        {"arrays", false, LUA_TTABLE, "a list of two names", read_arrays},
        {"batch", false, LUA_TSTRING, "a name", read_batch},
    };
    r->fam->ragged = read_option(r, v);
    if (r->fam->ragged != KILN_NOWHERE) kg_read_fields(r, v, f, COUNT(f));
}

static void read_gathered_own(kg_reader *r, const kg_value *v)
{
    kg_family *fam = r->fam;
    const char *name[KILN_MAX_OWN];
    for (size_t i = 0; i < fam->nown; i++) name[i] = fam->own[i].name;
    const uint8_t at = kg_read_position(r, v, "tensor", lua_tostring(r->sp.L, -1), name, fam->nown);
    if (at == KILN_NOWHERE) return;
    fam->gathered_own = at;
    const uint8_t rows = fam->own[at].rows;
    if (fam->own[at].out || fam->ragged == KILN_NOWHERE || !(fam->ragged_sizes >> rows & 1))
        kg_wrong(&r->sp, v->pos, "%s: '%s' is no input with rows along a size of ragged", v->what,
                 name[at]);
}

static void read_gathered_size(kg_reader *r, const kg_value *v)
{
    r->fam->gathered_size = kg_read_size(r, v);
}

static void read_gathered_rows(kg_reader *r, const kg_value *v)
{
    const char *why, *s = kg_read_text(r);
    if (!kg_name_ok(r->sp.cx, "index array", s, strlen(s), &why))
        kg_wrong(&r->sp, v->pos, "%s: %s", v->what, why);
    r->fam->gathered_rows = s;
}

void kg_read_gathered(kg_reader *r, const kg_value *v)
{
    static const kg_field f[] = {
        {"tensor", true, LUA_TSTRING, "a tensor's name", read_gathered_own},
        {"size", true, LUA_TSTRING, "a size's name", read_gathered_size},
        {"rows", true, LUA_TSTRING, "the index array's name", read_gathered_rows},
    };
    r->fam->gathered = read_option(r, v);
    if (r->fam->gathered != KILN_NOWHERE) kg_read_fields(r, v, f, COUNT(f));
}

static void read_paged_size(kg_reader *r, const kg_value *v)
{
    r->fam->paged_size = kg_read_size(r, v);
}

static void read_pages(kg_reader *r, const kg_value *v)
{
    r->fam->pages = kg_read_size(r, v);
}

void kg_read_paged(kg_reader *r, const kg_value *v)
{
    static const kg_field f[] = {
        {"size", true, LUA_TSTRING, "a size's name", read_paged_size},
        {"pages", true, LUA_TSTRING, "a size's name", read_pages},
    };
    const uint8_t option = r->fam->paged = read_option(r, v);
    if (option == KILN_NOWHERE) return;
    kg_read_fields(r, v, f, COUNT(f));
    if (!r->sp.wrong && !r->fam->option[option].number)
        kg_wrong(&r->sp, v->pos, "%s: the words of '%s' take no number: how long is a page?",
                 v->what, r->fam->option[option].name);
}

/* ---- only = { window = { "mask", "window" }, tokens = { "gather" } } ---- */

static void read_condition(kg_spec *sp, const kg_value *v, const char *key, void *arg)
{
    kg_reader *r = arg;
    kg_family *fam = r->fam;
    const char *pair[2], *name[KILN_MAX_OPTIONS];
    uint8_t size = kg_read_position(r, v, "size", key, fam->size, fam->nsizes);
    for (size_t i = 0; i < fam->noptions; i++) name[i] = fam->option[i].name;
    const bool list = lua_istable(sp->L, -1);
    size_t n = list ? kg_spec_names(sp, v, "name", pair, 2) : 0;
    if (size == KILN_NOWHERE) return;
    if (n == 0) {
        kg_wrong(sp, v->pos, "only.%s: expected { option, word }", key);
        return;
    }
    uint8_t option = kg_read_position(r, v, "option", pair[0], name, fam->noptions);
    if (option == KILN_NOWHERE) return;
    if (fam->option[option].flag != (n == 1)) {
        kg_wrong(sp, v->pos, "only.%s: expected { option, word }, or { option } of a flag", key);
        return;
    }
    if (n == 1) pair[1] = fam->option[option].word[0];
    uint8_t word = kg_read_position(r, v, "word", pair[1], fam->option[option].word,
                                    fam->option[option].nwords);
    if (word == KILN_NOWHERE) return;
    fam->only[size] = (struct kg_condition){option, (uint8_t)(word + 1)};
    r->sizes_used |= (uint16_t)(1u << KILN_POSITION(size)); /* by what the word means */
}

void kg_read_only(kg_reader *r, const kg_value *v)
{
    kg_spec_fields(&r->sp, v, read_condition, r);
}

/* ---- at = { "row", "col", "plane", "batch" } ---- */

void kg_read_places(kg_reader *r, const kg_value *v)
{
    kg_family *fam = r->fam;
    fam->nplaces = kg_spec_names(&r->sp, v, "place", fam->place, KG_PLACES);
    if (fam->nplaces != (fam->planes == KILN_NOWHERE ? 2 : KG_PLACES))
        kg_wrong(&r->sp, v->pos, "at: expected the names of %s",
                 fam->planes == KILN_NOWHERE ? "row and column" : "row, column, plane and batch");
}
