// SPDX-License-Identifier: MIT
// op x types x layouts x target x schedule x (sweep or defaults) -> instances: what is legal stays,
// what is not is counted with its reason.  Every op keeps an instance that takes any problem on
// each target: where its sweeps leave none, the defaults that do so are added.
#include "expand.h"
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

static const char *near_text(kg_ctx *cx, const char *word, const char *const *names, size_t n)
{
    const char *near = kg_closest(word, names, n);
    return near ? kg_printf(cx->arena, " (did you mean '%s'?)", near) : "";
}

/* "72 swept, 38 cut by where (line 16), 34 by LDS > 65536 bytes (gfx942)" */
const char *kg_expand_tally_text(const expansion *x, const tally *t, const char *noun)
{
    kg_buf b = {0};
    const char *by = " cut by";
    kg_putf(&b, "%zu %s", t->swept, noun);
    if (t->by_where) {
        kg_putf(&b, ", %zu%s where (line %d)", t->by_where, by, x->op->where_pos.line);
        by = " by";
    }
    for (size_t i = 0; i < t->ncuts; i++, by = " by")
        kg_putf(&b, ", %zu%s %s%s (%s)", t->cut[i].count, by, t->cut[i].varies ? "e.g. " : "",
                t->cut[i].text, x->target->name);
    const char *text = kg_strndup(x->cx->arena, b.p, b.len);
    kg_buf_free(&b);
    return text;
}

/* ---- defaults ---- */
static bool allowed(const kg_tunable *u, int64_t value)
{
    for (size_t i = 0; i < u->nvalues; i++)
        if (u->value[i] == value) return true;
    return false;
}

static const char *values_text(kg_ctx *cx, const kg_tunable *u)
{
    kg_buf b = {0};
    for (size_t i = 0; i < u->nvalues; i++)
        kg_putf(&b, i ? ", %lld" : "%lld", (long long)u->value[i]);
    const char *text = kg_strndup(cx->arena, b.p, b.len);
    kg_buf_free(&b);
    return text;
}

/* Top: one set of values; fills the tunables' slots. */
static bool read_default(expansion *x, const kg_schedule *s, kg_pos pos, candidate *c)
{
    lua_State *T = x->cx->T;
    if (!lua_istable(T, -1)) {
        kg_error(x->cx, pos, "defaults must return a list of tables");
        return false;
    }
    for (size_t i = 0; i < s->ntunables; i++) {
        int whole = 0;
        lua_pushstring(T, s->tunable[i].name);
        lua_rawget(T, -2);
        lua_Integer v = lua_tointegerx(T, -1, &whole);
        lua_pop(T, 1);
        c->slot[i] = (int32_t)v;
        if (whole && allowed(&s->tunable[i], v)) continue;
        kg_error(x->cx, pos, "defaults: '%s' is missing or not one of %s", s->tunable[i].name,
                 values_text(x->cx, &s->tunable[i]));
        return false;
    }
    for (lua_pushnil(T); lua_next(T, -2); lua_pop(T, 1)) {
        const char *key = lua_type(T, -2) == LUA_TSTRING ? lua_tostring(T, -2) : "";
        size_t i = 0;
        while (i < s->ntunables && strcmp(s->slot[i], key) != 0) i++;
        if (i < s->ntunables) continue;
        kg_error(x->cx, pos, "defaults: no tunable '%s'%s", key,
                 near_text(x->cx, key, s->slot, s->ntunables));
        lua_pop(T, 2);
        return false;
    }
    return true;
}

/* Leaves the list of default sets on T; *n: how many. */
static bool call_defaults(expansion *x, const kg_schedule *s, kg_pos *pos, size_t *n)
{
    lua_State *T = x->cx->T;
    *pos = kg_function_pos(x->cx, s->defaults, s->pos);
    lua_rawgeti(T, LUA_REGISTRYINDEX, s->defaults);
    kg_expand_push_view(x, true);
    if (!kg_sandbox_call(x->cx, T, 4, 1, *pos)) return false;
    *n = lua_istable(T, -1) ? lua_rawlen(T, -1) : 0;
    if (*n) return true;
    kg_error(x->cx, *pos, "defaults must return a list with at least one table");
    lua_pop(T, 1);
    return false;
}

static bool add_defaults(expansion *x, const kg_schedule *s, tally *count)
{
    lua_State *T = x->cx->T;
    kg_pos pos;
    size_t n;
    x->stop = !call_defaults(x, s, &pos, &n);
    if (x->stop) return false;
    int list = lua_gettop(T);
    bool good = true;
    for (size_t i = 0; good && i < n; i++) {
        candidate c = {.schedule = s};
        lua_rawgeti(T, list, (lua_Integer)i + 1);
        x->stop = !read_default(x, s, pos, &c);
        good = !x->stop && kg_expand_consider(x, &c, count);
        lua_settop(T, list);
    }
    lua_settop(T, list - 1);
    return good;
}

/* ---- sweeps ---- */
static const kg_schedule *find_schedule(const kg_ctx *cx, const kg_family *f, const char *name)
{
    for (size_t i = 0; i < cx->nschedules; i++)
        if (cx->schedule[i]->family == f && strcmp(cx->schedule[i]->name, name) == 0)
            return cx->schedule[i];
    return NULL;
}

static const kg_target *find_target(const kg_ctx *cx, const char *name)
{
    for (size_t i = 0; i < cx->ntargets; i++)
        if (strcmp(cx->target[i]->name, name) == 0) return cx->target[i];
    return NULL;
}

static bool check_axis(kg_ctx *cx, const kg_op *op, const kg_schedule *s, const struct kg_axis *a)
{
    size_t k = 0;
    while (k < s->ntunables && strcmp(s->slot[k], a->name) != 0) k++;
    if (k == s->ntunables) {
        kg_error(cx, a->pos, "%s \"%s\": schedule '%s' has no tunable '%s'%s", op->family->name,
                 op->name, s->name, a->name, near_text(cx, a->name, s->slot, s->ntunables));
        return false;
    }
    for (size_t i = 0; i < a->count; i++) {
        if (allowed(&s->tunable[k], a->value[i])) continue;
        kg_error(cx, a->pos, "%s \"%s\": %s: %s = %lld is not one of %s", op->family->name,
                 op->name, s->name, a->name, (long long)a->value[i],
                 values_text(cx, &s->tunable[k]));
        return false;
    }
    return true;
}

/* Names and values of all sweeps, on targets that are not selected, too. */
static bool check_sweeps(kg_ctx *cx, const kg_op *op)
{
    const char **name = kg_alloc(cx->arena, (cx->ntargets + cx->nschedules + 1) * sizeof *name);
    bool good = true;
    for (size_t i = 0; i < cx->ntargets; i++) name[i] = cx->target[i]->name;
    for (size_t i = 0; i < op->ntargets; i++) {
        if (find_target(cx, op->target[i])) continue;
        kg_error(cx, op->pos, "%s \"%s\": unknown target %s%s", op->family->name, op->name,
                 kg_quote(cx, op->target[i], strlen(op->target[i])),
                 near_text(cx, op->target[i], name, cx->ntargets));
        good = false;
    }
    for (size_t i = 0; i < op->nsweeps; i++) {
        const kg_sweep *w = &op->sweep[i];
        for (size_t k = 0; k < cx->ntargets; k++) name[k] = cx->target[k]->name;
        bool known = find_target(cx, w->target) != NULL;
        if (!known)
            kg_error(cx, w->pos, "%s \"%s\": unknown target %s%s", op->family->name, op->name,
                     kg_quote(cx, w->target, strlen(w->target)),
                     near_text(cx, w->target, name, cx->ntargets));
        size_t n = 0;
        for (size_t k = 0; k < cx->nschedules; k++)
            if (cx->schedule[k]->family == op->family) name[n++] = cx->schedule[k]->name;
        const kg_schedule *s = find_schedule(cx, op->family, w->schedule);
        if (!s)
            kg_error(cx, w->pos, "%s \"%s\": unknown schedule %s%s", op->family->name, op->name,
                     kg_quote(cx, w->schedule, strlen(w->schedule)),
                     near_text(cx, w->schedule, name, n));
        double product = 1;
        for (size_t k = 0; s && k < w->naxes; k++) {
            good &= check_axis(cx, op, s, &w->axis[k]);
            product *= (double)w->axis[k].count;
        }
        if (product > (double)KG_MAX_INSTANCES)
            kg_error(cx, w->pos, "%s \"%s\": %.0f combinations; a sweep may have %d",
                     op->family->name, op->name, product, KG_MAX_INSTANCES);
        good &= known && s && product <= (double)KG_MAX_INSTANCES;
    }
    return good;
}

/* All combinations of the sweep's axes; other tunables as in the first default set. */
static bool add_sweep(expansion *x, const kg_sweep *w, const kg_schedule *s, tally *count)
{
    lua_State *T = x->cx->T;
    candidate base = {.schedule = s, .sweep = w};
    kg_pos pos;
    size_t n, slot_of[KILN_MAX_SLOTS], at[KILN_MAX_SLOTS] = {0};
    x->stop = !call_defaults(x, s, &pos, &n);
    if (x->stop) return false;
    lua_rawgeti(T, -1, 1);
    bool good = read_default(x, s, pos, &base);
    x->stop = !good;
    lua_pop(T, 2);
    for (size_t k = 0; k < w->naxes; k++) {
        if (!w->axis[k].count) return good;
        for (size_t i = 0; i < s->ntunables; i++)
            if (strcmp(s->slot[i], w->axis[k].name) == 0) slot_of[k] = i;
    }
    for (bool more = true; good && more;) {
        candidate c = base;
        for (size_t k = 0; k < w->naxes; k++) c.slot[slot_of[k]] = (int32_t)w->axis[k].value[at[k]];
        good = kg_expand_consider(x, &c, count);
        size_t k = w->naxes; /* the last axis runs fastest */
        while (k > 0 && ++at[k - 1] == w->axis[k - 1].count) at[--k] = 0;
        more = k > 0;
    }
    return good;
}

bool kg_expand_tiles(expansion *x, const kg_schedule *s, tally *count)
{
    bool swept = false, good = true;
    for (size_t i = 0; good && i < x->op->nsweeps; i++) {
        const kg_sweep *w = &x->op->sweep[i];
        if (strcmp(w->target, x->target->name) != 0 || strcmp(w->schedule, s->name) != 0) continue;
        swept = true;
        good = add_sweep(x, w, s, count);
    }
    return swept ? good : add_defaults(x, s, count);
}

/* ---- one op on one target ---- */
bool kg_expand_next_view(expansion *x, size_t i)
{
    const kg_op *op = x->op;
    if (i == op->ntypes * op->nlayouts) return false;
    x->view = (kg_view){op, &op->types[i / op->nlayouts], &op->layouts[i % op->nlayouts]};
    x->ref = kg_present(x->cx, x->view, false);
    x->stop |= !x->ref;
    return x->ref != NULL;
}

static bool has_any_size(const expansion *x, size_t from)
{
    for (size_t i = from; i < x->n; i++)
        if (x->out[i]->types == x->view.types && x->out[i]->layout == x->view.layout &&
            x->out[i]->any_size)
            return true;
    return false;
}

static bool expand_sweep(expansion *x, const kg_sweep *w)
{
    const kg_schedule *s = find_schedule(x->cx, x->op->family, w->schedule);
    tally count = {0};
    for (size_t i = 0; kg_expand_next_view(x, i); i++) {
        const char *why;
        if (!kg_expand_supports(x, s, &why)) return false;
        if (why) {
            size_t product = 1;
            for (size_t k = 0; k < w->naxes; k++) product *= w->axis[k].count;
            count.swept += product;
            kg_expand_count_cut(x, &count, s, why, product);
        } else if (!add_sweep(x, w, s, &count)) {
            return false;
        }
    }
    if (x->stop || count.kept) return !x->stop;
    kg_error(x->cx, w->pos, "%s \"%s\": %s on %s leaves nothing: %s", x->op->family->name,
             x->op->name, s->name, x->target->name, kg_expand_tally_text(x, &count, "swept"));
    return false;
}

/* "f16, f16, f16": the types that a signature must name. */
static void put_types(const expansion *x, kg_buf *b)
{
    const kg_family *f = x->op->family;
    for (size_t i = 0; i < x->op->nsig_types; i++)
        if (!f->ntypes || f->type[i].real == KILN_DTYPE_NONE)
            kg_putf(b, "%s%s", b->len ? ", " : "", kg_dtype_text(x->view.types->type[i]));
}

/* Defaults of all schedules for the view; after sweeps, only what takes any size. */
static bool expand_defaults(expansion *x, bool any_size_only, size_t first)
{
    x->any_size_only = any_size_only;
    tally count = {0};
    kg_buf why_not = {0};
    bool good = true;
    for (size_t i = 0; good && i < x->cx->nschedules; i++) {
        const kg_schedule *s = x->cx->schedule[i];
        const char *why;
        if (s->family != x->op->family) continue;
        good = kg_expand_supports(x, s, &why);
        if (good && !why) {
            x->limit = NULL;
            good = add_defaults(x, s, &count);
            why = x->limit;
        }
        if (good && why) kg_putf(&why_not, "%s%s: %s", why_not.len ? "; " : "", s->name, why);
    }
    x->any_size_only = false;
    if (good && !has_any_size(x, first)) {
        const kg_types *y = x->view.types;
        kg_buf types = {0};
        put_types(x, &types);
        if (count.ncuts)
            kg_putf(&why_not, "%s%s", why_not.len ? "; " : "",
                    kg_expand_tally_text(x, &count, "default tiles"));
        kg_error(x->cx, y->pos.file ? y->pos : x->op->pos,
                 "%s \"%s\": no schedule on %s takes %s of any size: %s; name the targets that can "
                 "in `targets`",
                 x->op->family->name, x->op->name, x->target->name, types.p ? types.p : "it",
                 why_not.p ? why_not.p : "there is none");
        kg_buf_free(&types);
        good = false;
    }
    kg_buf_free(&why_not);
    return good;
}

static bool expand_target(expansion *x)
{
    const kg_op *op = x->op;
    size_t first = x->n;
    bool swept = false, good = true;
    for (size_t i = 0; good && i < op->nsweeps; i++) {
        if (strcmp(op->sweep[i].target, x->target->name) != 0) continue;
        swept = true;
        good = expand_sweep(x, &op->sweep[i]);
    }
    for (size_t i = 0; good && kg_expand_next_view(x, i); i++)
        if (!swept || !has_any_size(x, first)) good = expand_defaults(x, swept, first);
    return good && !x->stop && kg_expand_absent(x, first);
}

static bool wants(const kg_op *op, const kg_target *t)
{
    for (size_t i = 0; i < op->ntargets; i++)
        if (strcmp(op->target[i], t->name) == 0) return true;
    return op->ntargets == 0;
}

/* ---- all ---- */
static int by_name(const void *a, const void *b)
{
    return strcmp((*(kg_instance *const *)a)->name, (*(kg_instance *const *)b)->name);
}

/* A tile that is swept twice is one instance; two tiles with one name are a fault of the schedule's
 * `name`. */
static bool merge(kg_ctx *cx)
{
    size_t n = 0;
    for (size_t i = 0; i < cx->ninstances; i++) {
        kg_instance *a = n ? cx->instance[n - 1] : NULL, *b = cx->instance[i];
        if (!a || strcmp(a->name, b->name) != 0) {
            cx->instance[n++] = b;
            continue;
        }
        for (size_t k = 0; k < b->schedule->nslots; k++) {
            if (a->slot[k] == b->slot[k]) continue;
            kg_error(cx, kg_function_pos(cx, b->schedule->name_ref, b->schedule->pos),
                     "two tiles are called %s: '%s' is %d and %d", b->name, b->schedule->slot[k],
                     (int)a->slot[k], (int)b->slot[k]);
            return false;
        }
    }
    cx->ninstances = n;
    return true;
}

typedef struct symbol {
    const kg_target *target;
    const char *id;
    const kg_instance *instance;
} symbol;

static int by_symbol(const void *pa, const void *pb)
{
    const symbol *a = pa, *b = pb;
    int c = strcmp(a->target->name, b->target->name);
    return c ? c : strcmp(a->id, b->id);
}

/* Names with / between their parts are distinct where identifiers may not be: an op could end in a
 * type's name. */
static bool check_symbols(kg_ctx *cx)
{
    symbol *s = kg_alloc(cx->arena, (KILN_MAX_STAGES * cx->ninstances + 1) * sizeof *s);
    size_t n = 0;
    for (size_t i = 0; i < cx->ninstances; i++) {
        const kg_instance *in = cx->instance[i];
        s[n++] = (symbol){in->target, in->id, in};
        for (size_t k = 2; k <= in->stages; k++)
            s[n++] = (symbol){in->target, kg_printf(cx->arena, "%s_%zu", in->id, k), in};
    }
    qsort(s, n, sizeof *s, by_symbol);
    for (size_t i = 1; i < n; i++) {
        if (by_symbol(&s[i - 1], &s[i]) != 0) continue;
        kg_error(cx, s[i].instance->op->pos, "%s and %s would share the symbol %s: rename an op",
                 s[i - 1].instance->name, s[i].instance->name, s[i].id);
        return false;
    }
    return true;
}

bool kg_expand(kg_ctx *cx)
{
    expansion x = {.cx = cx};
    bool good = true;
    for (size_t i = 0; i < cx->nops && !x.stop; i++) {
        x.op = cx->op[i];
        if (!check_sweeps(cx, x.op)) {
            good = false;
            continue;
        }
        bool fine = true;
        for (size_t k = 0; k < cx->ntargets && fine; k++) {
            x.target = cx->target[k];
            if (x.target->selected && wants(x.op, x.target)) fine = expand_target(&x);
        }
        good &= fine;
    }
    cx->instance = x.out;
    cx->ninstances = x.n;
    if (!good) return false;
    if (x.n) qsort(cx->instance, cx->ninstances, sizeof *cx->instance, by_name);
    return merge(cx) && check_symbols(cx);
}
