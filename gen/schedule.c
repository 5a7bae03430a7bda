// SPDX-License-Identifier: MIT
// Reads templates/targets/*.lua (facts of machines) and templates/FAMILY/*.lua (schedules), and
// checks every field. What the fields mean is docs/schedules.md; calling a schedule's functions is
// expand.c's and plan.c's part, and a family's own file family.c's.
#include "back.h"
#include <errno.h>
#include <lauxlib.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct field {
    const char *name;
    int type;
    bool required;
    size_t at; /* 1 + where the text, the function's reference or the count goes; 0: nowhere */
} field;

#define IN_TARGET(name)   (1 + offsetof(kg_target, name))
#define IN_SCHEDULE(name) (1 + offsetof(kg_schedule, name))

static const field target_field[] = {
    {"name", LUA_TSTRING, true, IN_TARGET(name)},
    {"vendor", LUA_TSTRING, true, IN_TARGET(vendor)},
    {"source", LUA_TSTRING, true, IN_TARGET(source)},
    {"ext", LUA_TSTRING, true, IN_TARGET(ext)},
    {"arch", LUA_TSTRING, false, IN_TARGET(arch)},
    {"wave", LUA_TNUMBER, false, 0},
    {"lds", LUA_TNUMBER, false, 0},
    {"max_threads", LUA_TNUMBER, false, 0},
    {"vgprs", LUA_TNUMBER, false, 0},
    {"units", LUA_TNUMBER, false, IN_TARGET(units)},
    {"tflops", LUA_TTABLE, false, 0},
    {"simt_tflops", LUA_TNUMBER, false, 0},
    {"gbps", LUA_TNUMBER, false, 0},
    {"launch_us", LUA_TNUMBER, false, 0},
};

static const field schedule_field[] = {
    {"family", LUA_TSTRING, true, 0},
    {"title", LUA_TSTRING, true, IN_SCHEDULE(title)},
    {"tunables", LUA_TTABLE, true, 0},
    {"derived", LUA_TTABLE, false, 0},
    {"rules", LUA_TTABLE, false, 0},
    {"problem_rules", LUA_TTABLE, false, 0},
    {"supports", LUA_TFUNCTION, true, IN_SCHEDULE(supports)},
    {"derive", LUA_TFUNCTION, false, IN_SCHEDULE(derive)},
    {"defaults", LUA_TFUNCTION, true, IN_SCHEDULE(defaults)},
    {"launch", LUA_TFUNCTION, true, IN_SCHEDULE(launch)},
    {"workspace", LUA_TFUNCTION, false, IN_SCHEDULE(workspace)},
    {"cost", LUA_TFUNCTION, true, IN_SCHEDULE(cost)},
    {"stages", LUA_TFUNCTION, false, IN_SCHEDULE(stages)},
    {"maps", LUA_TFUNCTION, false, IN_SCHEDULE(maps)},
    {"realigns", LUA_TFUNCTION, false, IN_SCHEDULE(realigns)},
    {"flags", LUA_TFUNCTION, false, IN_SCHEDULE(flags)},
    {"name", LUA_TFUNCTION, false, IN_SCHEDULE(name_ref)},
};
#define COUNT(a) (sizeof(a) / sizeof *(a))

bool kg_identifier(const char *s)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    return *s && strchr(first, *s) &&
           s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")] == 0;
}

kg_pos kg_field_pos(kg_ctx *cx, const kg_source *src, const char *name)
{
    const kg_tokens *t = kg_source_tokens(cx, src);
    for (size_t i = 0; i + 1 < t->n; i++)
        if (kg_token_is(t, i, name) && kg_token_is(t, i + 1, "="))
            return (kg_pos){src->file, t->v[i].line, t->v[i].col};
    return (kg_pos){src->file, 1, 0};
}

kg_pos kg_function_pos(kg_ctx *cx, int ref, kg_pos fallback)
{
    lua_Debug ar;
    lua_rawgeti(cx->T, LUA_REGISTRYINDEX, ref);
    if (!lua_isfunction(cx->T, -1)) {
        lua_pop(cx->T, 1);
        return fallback;
    }
    lua_getinfo(cx->T, ">S", &ar);
    const kg_source *s = kg_sandbox_source(cx->T, ar.source); /* another where it was required */
    return s && ar.linedefined > 0 ? (kg_pos){s->file, ar.linedefined, 0} : fallback;
}

/* ---- reading a file's table ---- */
static int return_table(lua_State *T)
{
    luaL_checktype(T, 1, LUA_TTABLE);
    lua_settop(T, 1);
    return 1;
}

/* Runs dir/name.lua; leaves the table that it returns on T. */
static const kg_source *run_file(kg_ctx *cx, const char *dir, const char *name, const char *word)
{
    lua_State *T = cx->T;
    const char *path = kg_printf(cx->arena, "%s/%s/%s.lua", cx->templates, dir, name);
    const kg_source *src = kg_source_read(cx, path, path);
    if (!src) return NULL;
    lua_newtable(T);
    lua_rawgeti(T, LUA_REGISTRYINDEX, kg_back_of(cx)->meta);
    lua_setmetatable(T, -2);
    lua_pushcfunction(T, return_table);
    lua_pushstring(T, word);
    lua_insert(T, -2);
    lua_rawset(T, -3);
    kg_pos start = {src->file, 1, 0};
    if (!kg_sandbox_load(cx, T, src, NULL, 0) || !kg_sandbox_call(cx, T, 0, 1, start)) return NULL;
    if (lua_istable(T, -1)) return src;
    kg_error(cx, start, "the file must `return %s { ... }`", word);
    lua_pop(T, 1);
    return NULL;
}

static const char *type_text(int type)
{
    return type == LUA_TSTRING   ? "a string"
           : type == LUA_TNUMBER ? "a number"
           : type == LUA_TTABLE  ? "a table"
                                 : "a function";
}

static bool read_field(kg_ctx *cx, const kg_source *src, const field *f, void *object)
{
    lua_State *T = cx->T;
    lua_pushstring(T, f->name);
    int type = lua_rawget(T, -2);
    bool good = type == f->type || (type == LUA_TNIL && !f->required);
    if (!good && type == LUA_TNIL)
        kg_error(cx, (kg_pos){src->file, 1, 0}, "missing field '%s'", f->name);
    else if (!good)
        kg_error(cx, kg_field_pos(cx, src, f->name), "field '%s' must be %s, not a %s", f->name,
                 type_text(f->type), lua_typename(T, type));
    double number = type == LUA_TNUMBER ? lua_tonumber(T, -1) : 1;
    if (good && !(number >= 0 && isfinite(number))) {
        kg_error(cx, kg_field_pos(cx, src, f->name), "field '%s' must be a number, 0 or more",
                 f->name);
        good = false;
    }
    if (f->at && f->type == LUA_TSTRING && good) {
        const char *text = type == LUA_TNIL ? "" : lua_tostring(T, -1);
        memcpy((char *)object + f->at - 1,
               &(const char *){kg_strndup(cx->arena, text, strlen(text))}, sizeof text);
    }
    if (f->at && f->type == LUA_TNUMBER && type == LUA_TNUMBER && good)
        memcpy((char *)object + f->at - 1,
               &(uint32_t){number < INT32_MAX ? (uint32_t)number : INT32_MAX}, sizeof(uint32_t));
    if (f->at && f->type == LUA_TFUNCTION) {
        lua_pushvalue(T, -1);
        int ref =
            type == LUA_TFUNCTION ? luaL_ref(T, LUA_REGISTRYINDEX) : (lua_pop(T, 1), LUA_NOREF);
        memcpy((char *)object + f->at - 1, &ref, sizeof ref);
    }
    lua_pop(T, 1);
    return good;
}

/* Reads all fields of the table on top.  strict: other names are errors. */
static bool read_fields(kg_ctx *cx, const kg_source *src, const field *f, size_t n, bool strict,
                        void *object)
{
    lua_State *T = cx->T;
    bool good = true;
    for (size_t i = 0; i < n; i++) good &= read_field(cx, src, &f[i], object);
    const char *known[32];
    for (size_t i = 0; i < n; i++) known[i] = f[i].name;
    if (!strict) return good;
    for (lua_pushnil(T); lua_next(T, -2); lua_pop(T, 1)) {
        if (lua_type(T, -2) != LUA_TSTRING) {
            kg_error(cx, (kg_pos){src->file, 1, 0}, "an entry without a name");
            good = false;
            continue;
        }
        const char *key = lua_tostring(T, -2);
        size_t i = 0;
        while (i < n && strcmp(known[i], key) != 0) i++;
        if (i < n) continue;
        const char *near = kg_closest(key, known, n);
        kg_error(cx, kg_field_pos(cx, src, key), "unknown field '%s'%s", key,
                 near ? kg_printf(cx->arena, " (did you mean '%s'?)", near) : "");
        good = false;
    }
    return good;
}

const char *kg_unknown_field(kg_ctx *cx, const char *const *known, size_t n)
{
    lua_State *T = cx->T;
    for (lua_pushnil(T); lua_next(T, -2); lua_pop(T, 1)) {
        const char *key = lua_type(T, -2) == LUA_TSTRING ? lua_tostring(T, -2) : "";
        size_t i = 0;
        while (i < n && strcmp(known[i], key) != 0) i++;
        if (i < n) continue;
        const char *near = kg_closest(key, known, n), *quoted = kg_quote(cx, key, strlen(key));
        lua_pop(T, 2);
        if (!near) return kg_printf(cx->arena, "unknown field %s", quoted);
        return kg_printf(cx->arena, "unknown field %s (did you mean '%s'?)", quoted, near);
    }
    return NULL;
}

/* ---- targets ---- */
static bool one_of(kg_ctx *cx, const kg_source *src, const char *field_name, const char *value,
                   const char *const *words, const char *all)
{
    for (size_t i = 0; words[i]; i++)
        if (strcmp(words[i], value) == 0) return true;
    kg_error(cx, kg_field_pos(cx, src, field_name), "%s must be %s", field_name, all);
    return false;
}

static bool load_target(kg_ctx *cx, const char *name)
{
    static const char *const vendors[] = {"amd", "nvidia", "host", NULL};
    static const char *const sources[] = {"hip", "c", NULL};
    kg_target *t = kg_alloc(cx->arena, sizeof *t);
    const kg_source *src = run_file(cx, "targets", name, "target");
    if (!src) return false;
    bool good = read_fields(cx, src, target_field, COUNT(target_field), false, t);
    t->pos = (kg_pos){src->file, 1, 0};
    if (good) good = one_of(cx, src, "vendor", t->vendor, vendors, "'amd', 'nvidia' or 'host'");
    if (good) good = one_of(cx, src, "source", t->source, sources, "'hip' or 'c'");
    if (good && (!kg_identifier(t->name) || strcmp(name, t->name) != 0)) {
        kg_error(cx, kg_field_pos(cx, src, "name"), "name must be the file's: '%s'", name);
        good = false;
    }
    if (good && (t->ext[0] != '.' || !kg_identifier(t->ext + 1))) {
        kg_error(cx, kg_field_pos(cx, src, "ext"), "ext must be a dot and letters");
        good = false;
    }
    if (good && t->arch[strspn(t->arch, "abcdefghijklmnopqrstuvwxyz0123456789_:+-")]) {
        kg_error(cx, kg_field_pos(cx, src, "arch"), "arch must be lower-case letters and digits");
        good = false;
    }
    kg_protect(cx);
    t->ref = luaL_ref(cx->T, LUA_REGISTRYINDEX);
    cx->target[cx->ntargets] = t;
    if (good) cx->ntargets++;
    return good;
}

/* ---- schedules ---- */
static bool add_slot(kg_ctx *cx, kg_schedule *s, const char *name, kg_pos pos)
{
    const char *wrong = NULL;
    for (size_t i = 0; i < s->nslots; i++)
        if (strcmp(s->slot[i], name) == 0)
            wrong = kg_printf(cx->arena, "'%s' is named twice", name);
    if (!kg_identifier(name))
        wrong = "a tunable or derived value needs a name of letters, digits and _";
    if (s->nslots == KILN_MAX_SLOTS)
        wrong = kg_printf(cx->arena, "more than %d tunables and derived values", KILN_MAX_SLOTS);
    if (wrong) {
        kg_error(cx, pos, "%s", wrong);
        return false;
    }
    s->slot[s->nslots++] = kg_strndup(cx->arena, name, strlen(name));
    return true;
}

/* Top: { "m", values = { 16, 32 }, doc = "..." }. */
static bool read_tunable(kg_ctx *cx, kg_schedule *s, kg_pos pos)
{
    lua_State *T = cx->T;
    if (!lua_istable(T, -1) || lua_rawgeti(T, -1, 1) != LUA_TSTRING) {
        kg_error(cx, pos, "a tunable is { \"name\", values = { ... }, doc = \"...\" }");
        return false;
    }
    const char *name = kg_strndup(cx->arena, lua_tostring(T, -1), lua_rawlen(T, -1));
    lua_pop(T, 1);
    kg_tunable *u = &s->tunable[s->ntunables];
    if (!add_slot(cx, s, name, pos)) return false;
    *u = (kg_tunable){.name = name, .doc = ""};
    s->ntunables++;
    lua_pushstring(T, "doc");
    if (lua_rawget(T, -2) == LUA_TSTRING)
        u->doc = kg_strndup(cx->arena, lua_tostring(T, -1), lua_rawlen(T, -1));
    lua_pop(T, 1);
    lua_pushstring(T, "values");
    bool good = lua_rawget(T, -2) == LUA_TTABLE && lua_rawlen(T, -1) > 0;
    size_t n = good ? lua_rawlen(T, -1) : 0;
    u->value = kg_alloc(cx->arena, (n + 1) * sizeof *u->value);
    for (size_t i = 0; i < n && good; i++, lua_pop(T, 1)) {
        int whole = 0;
        lua_rawgeti(T, -1, (lua_Integer)i + 1);
        u->value[i] = lua_tointegerx(T, -1, &whole);
        good = whole && u->value[i] >= INT32_MIN && u->value[i] <= INT32_MAX;
    }
    u->nvalues = n;
    lua_pop(T, 1);
    if (!good) kg_error(cx, pos, "tunable '%s': values must be a list of whole numbers", name);
    return good;
}

static bool read_derived(kg_ctx *cx, kg_schedule *s, kg_pos pos)
{
    if (lua_type(cx->T, -1) == LUA_TSTRING) return add_slot(cx, s, lua_tostring(cx->T, -1), pos);
    kg_error(cx, pos, "derived must be a list of names");
    return false;
}

/* The next {field} of a sentence; false: no more. */
static bool next_hole(const char **text, const char **from, size_t *len)
{
    const char *open = strchr(*text, '{'), *close = open ? strchr(open, '}') : NULL;
    if (!close) return false;
    *from = open + 1;
    *len = (size_t)(close - open) - 1;
    *text = close + 1;
    return true;
}

/* Top: { "sentence", function }.  problem: the sentence is printed as it is. */
static bool read_rule(kg_ctx *cx, kg_schedule *s, kg_pos pos, bool problem)
{
    lua_State *T = cx->T;
    if (!lua_istable(T, -1) || (lua_rawgeti(T, -1, 1), lua_rawgeti(T, -2, 2) != LUA_TFUNCTION) ||
        lua_type(T, -2) != LUA_TSTRING) {
        kg_error(cx, pos, "a rule is { \"sentence\", function(...) return condition end }");
        return false;
    }
    kg_rule *r = problem ? &s->problem_rule[s->nproblem_rules++] : &s->rule[s->nrules++];
    r->ref = luaL_ref(T, LUA_REGISTRYINDEX);
    r->sentence = kg_strndup(cx->arena, lua_tostring(T, -1), lua_rawlen(T, -1));
    r->pos = kg_function_pos(cx, r->ref, pos);
    lua_pop(T, 1);
    const char *text = r->sentence, *from;
    for (size_t len; next_hole(&text, &from, &len);) {
        const char *name = kg_strndup(cx->arena, from, len);
        if (!problem && kg_identifier(name)) continue;
        kg_error(cx, r->pos,
                 problem ? "a problem rule's sentence is not filled in: '{%s}'"
                         : "'{%s}' is not a field",
                 name);
        return false;
    }
    return true;
}

static bool read_generation_rule(kg_ctx *cx, kg_schedule *s, kg_pos pos)
{
    return read_rule(cx, s, pos, false);
}

static bool read_problem_rule(kg_ctx *cx, kg_schedule *s, kg_pos pos)
{
    return read_rule(cx, s, pos, true);
}

/* Calls read for every item of the list in field `name` of the table on top. */
static bool each(kg_ctx *cx, kg_schedule *s, const char *name,
                 bool (*read)(kg_ctx *, kg_schedule *, kg_pos))
{
    lua_State *T = cx->T;
    bool good = true;
    kg_pos pos = kg_field_pos(cx, s->source, name);
    lua_pushstring(T, name);
    if (lua_rawget(T, -2) == LUA_TTABLE) {
        size_t n = lua_rawlen(T, -1);
        if (read == read_generation_rule) s->rule = kg_alloc(cx->arena, (n + 1) * sizeof *s->rule);
        if (read == read_problem_rule)
            s->problem_rule = kg_alloc(cx->arena, (n + 1) * sizeof *s->problem_rule);
        int top = lua_gettop(T);
        for (size_t i = 1; i <= n; i++) {
            lua_rawgeti(T, -1, (lua_Integer)i);
            good &= read(cx, s, pos);
            lua_settop(T, top);
        }
    }
    lua_pop(T, 1);
    return good;
}

static bool load_schedule(kg_ctx *cx, const kg_family *family, const char *name)
{
    kg_schedule *s = kg_alloc(cx->arena, sizeof *s);
    const kg_source *src = run_file(cx, family->name, name, "schedule");
    if (!src) return false;
    s->family = family;
    s->source = src;
    s->pos = (kg_pos){src->file, 1, 0};
    s->name = name;
    s->stages_slot = -1;
    s->tmpl = kg_alloc(cx->arena, 2 * sizeof *s->tmpl);
    bool good = read_fields(cx, src, schedule_field, COUNT(schedule_field), true, s);
    if (good && !kg_identifier(s->name)) {
        kg_error(cx, s->pos, "a schedule's file is called by letters, digits and _");
        good = false;
    }
    lua_pushstring(cx->T, "family");
    if (lua_rawget(cx->T, -2) == LUA_TSTRING &&
        strcmp(lua_tostring(cx->T, -1), family->name) != 0) {
        kg_error(cx, kg_field_pos(cx, src, "family"), "family must be '%s'", family->name);
        good = false;
    }
    lua_pop(cx->T, 1);
    if (good) {
        good &= each(cx, s, "tunables", read_tunable);
        good &= each(cx, s, "derived", read_derived);
        good &= each(cx, s, "rules", read_generation_rule);
        good &= each(cx, s, "problem_rules", read_problem_rule);
    }
    if (good && s->stages != LUA_NOREF) {
        s->stages_slot = (int)s->nslots;
        good = add_slot(cx, s, KG_STAGES_SLOT, kg_field_pos(cx, src, "stages"));
    }
    lua_pop(cx->T, 1);
    cx->schedule[cx->nschedules] = s;
    if (good) cx->nschedules++;
    return good;
}

/* ---- folders ---- */
static bool list_lua(kg_ctx *cx, const char *dir, kg_names_list *list)
{
    const char *path = kg_printf(cx->arena, "%s/%s", cx->templates, dir);
    bool good = kg_list_lua(cx, path, list);
    if (!good) kg_error(cx, (kg_pos){path, 0, 0}, "cannot read the folder: %s", strerror(errno));
    return good;
}

static bool load_targets(kg_ctx *cx)
{
    kg_names_list list;
    bool good = true;
    if (!list_lua(cx, "targets", &list)) return false;
    if (!list.n) {
        const char *path = kg_printf(cx->arena, "%s/targets", cx->templates);
        kg_error(cx, (kg_pos){path, 0, 0}, "holds no .lua file");
        return false;
    }
    cx->target = kg_alloc(cx->arena, list.n * sizeof *cx->target);
    for (size_t i = 0; i < list.n; i++) good &= load_target(cx, list.v[i]);
    return good;
}

/* What a family's file has for this half: `present`, which lets schedules and templates see more.
 */
static bool load_present(kg_ctx *cx, size_t family)
{
    int *ref = &kg_back_of(cx)->present[family];
    *ref = LUA_NOREF;
    if (!kg_args_check(cx, cx->family[family]) ||
        !run_file(cx, cx->family[family]->name, "family", "family"))
        return false;
    lua_pushstring(cx->T, "present");
    const int type = lua_rawget(cx->T, -2);
    if (type == LUA_TFUNCTION)
        *ref = (lua_pushvalue(cx->T, -1), luaL_ref(cx->T, LUA_REGISTRYINDEX));
    lua_pop(cx->T, 2);
    return true;
}

/* Of all families, sorted by family and name.  A family may have none yet. */
static bool load_schedules(kg_ctx *cx)
{
    kg_names_list list[KG_MAX_FAMILIES];
    size_t n = 1;
    bool good = true;
    for (size_t i = 0; i < cx->nfamilies; n += list[i++].n)
        if (!load_present(cx, i) || !list_lua(cx, cx->family[i]->name, &list[i])) return false;
    cx->schedule = kg_alloc(cx->arena, n * sizeof *cx->schedule);
    for (size_t i = 0; i < cx->nfamilies; i++)
        for (size_t k = 0; k < list[i].n; k++)
            if (strcmp(list[i].v[k], "family") != 0)
                good &= load_schedule(cx, cx->family[i], list[i].v[k]);
    return good;
}

static bool select_targets(kg_ctx *cx, const char *const *name, size_t n)
{
    const char **known = kg_alloc(cx->arena, (cx->ntargets + 1) * sizeof *known);
    for (size_t i = 0; i < cx->ntargets; i++) known[i] = cx->target[i]->name;
    bool good = true;
    for (size_t i = 0; i < cx->ntargets && !n; i++) cx->target[i]->selected = true;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < cx->ntargets && strcmp(known[k], name[i]) != 0) k++;
        if (k < cx->ntargets) {
            cx->target[k]->selected = true;
            continue;
        }
        const char *near = kg_closest(name[i], known, cx->ntargets);
        kg_error(cx, (kg_pos){0}, "unknown target %s%s", kg_quote(cx, name[i], strlen(name[i])),
                 near ? kg_printf(cx->arena, " (did you mean '%s'?)", near) : "");
        good = false;
    }
    return good;
}

/* The library under the problem-time functions; one metatable lets every file and instance have
 * globals of its own. */
static void open_globals(kg_ctx *cx)
{
    kg_back *b = kg_back_of(cx);
    lua_State *T = cx->T;
    kg_sandbox_env(T);
    kg_sym_open(cx, T);
    kg_spell_open(T);
    kg_require_open(T);
    b->globals = luaL_ref(T, LUA_REGISTRYINDEX);
    lua_createtable(T, 0, 1);
    lua_rawgeti(T, LUA_REGISTRYINDEX, b->globals);
    lua_setfield(T, -2, "__index");
    b->meta = luaL_ref(T, LUA_REGISTRYINDEX);
}

bool kg_schedules_load(kg_ctx *cx, const char *const *wanted, size_t n)
{
    cx->back = kg_alloc(cx->arena, sizeof(kg_back));
    if (!(cx->T = kg_sandbox_open(cx))) return false;
    open_globals(cx);
    bool good = load_targets(cx);
    good &= load_schedules(cx);
    if (!good) return false;
    for (size_t i = 0; i < cx->nschedules; i++)
        cx->schedule[i]->lowered =
            kg_alloc(cx->arena, cx->ntargets * sizeof *cx->schedule[i]->lowered);
    return select_targets(cx, wanted, n);
}

void kg_schedules_close(kg_ctx *cx)
{
    if (cx->back) kg_buf_free(&kg_back_of(cx)->text);
    kg_sandbox_close(cx->T);
    cx->T = NULL;
}
