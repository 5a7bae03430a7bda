// SPDX-License-Identifier: MIT
// The fields tiles, targets and check.  Which tunables a schedule has is its own matter: expand.c
// checks their names.
#include "spec.h"
#include <lauxlib.h>
#include <string.h>

static const double COMBINATIONS_MAX = 1e6; /* of one op; beyond it is a mistake */

/* ---- tiles ---- */

typedef struct sweep_job {
    kg_sweep *sweep;
    double combinations;
    bool ok;
} sweep_job;

static void read_axis(kg_spec *sp, const kg_value *v, const char *key, void *arg)
{
    sweep_job *job = arg;
    lua_State *L = sp->L;
    size_t before = sp->cx->errors, n = 1;
    kg_value own = *v;
    const char *why;
    if (!kg_name_ok(sp->cx, "tunable", key, strlen(key), &why)) {
        kg_wrong(sp, kg_key_pos(sp, v->place, v->pos), "%s: %s", v->what, why);
        job->ok = false;
        return;
    }
    const char *name = kg_strndup(sp->cx->arena, key, strlen(key));
    own.what = kg_printf(sp->cx->arena, "%s.%s", v->what, name);
    bool list = lua_istable(L, -1);
    if (list && !kg_spec_list(sp, &own, &n, "whole numbers")) n = 0;
    struct kg_axis axis = {.name = name, .pos = kg_key_pos(sp, v->place, v->pos)};
    int64_t *value = kg_alloc(sp->cx->arena, (n + 1) * sizeof *value);
    for (size_t i = 1; i <= n; i++) {
        kg_value item = list ? kg_spec_item(sp, &own, i, own.what) : own;
        bool ok = kg_spec_whole(sp, &item, &value[axis.count]);
        for (size_t k = 0; ok && k < axis.count && n <= 4096; k++) {
            if (value[k] != value[axis.count]) continue;
            kg_wrong(sp, item.pos, "%s: %lld is there twice", own.what, (long long)value[k]);
            break;
        }
        axis.count += ok;
        if (list) lua_pop(L, 1);
    }
    axis.value = value;
    job->combinations *= (double)n;
    job->ok &= sp->cx->errors == before;
    job->sweep->axis[job->sweep->naxes++] = axis;
}

static void read_sweep(kg_spec *sp, const kg_value *v, const char *target, double *total)
{
    lua_State *L = sp->L;
    const kg_made *m = luaL_testudata(L, -1, KG_MADE);
    if (!m || m->made != KG_MADE_SWEEP) {
        kg_wrong(sp, v->pos, "%s: expected schedule { tunable = values }, got %s", v->what,
                 kg_kind_of(L, -1));
        return;
    }
    kg_op *op = sp->op;
    const kg_names_list *own = kg_schedule_names(sp->cx, op->family);
    size_t known = 0;
    while (known < own->n && strcmp(own->v[known], m->schedule) != 0) known++;
    if (known == own->n) {
        kg_wrong(sp, v->pos, "%s: '%s' is no schedule of %s%s%s", v->what, m->schedule,
                 op->family->name, own->n ? "; schedules are " : "",
                 kg_listed(sp->cx, own->v, own->n, ", "));
        return;
    }
    kg_sweep *s = &op->sweep[op->nsweeps];
    *s = (kg_sweep){.target = target, .schedule = m->schedule, .pos = v->place ? v->pos : m->pos};
    sweep_job job = {s, 1, true};
    lua_getiuservalue(L, -1, 1);
    size_t fields = 0;
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) fields++;
    s->axis = kg_alloc(sp->cx->arena, (fields + 1) * sizeof *s->axis);
    kg_value table = {v->place, s->pos, m->schedule};
    kg_spec_fields(sp, &table, read_axis, &job);
    lua_pop(L, 1);
    *total += job.combinations;
    op->nsweeps += job.ok;
}

static void grow_sweeps(kg_spec *sp, size_t more)
{
    kg_op *op = sp->op;
    kg_sweep *all = kg_alloc(sp->cx->arena, (op->nsweeps + more) * sizeof *all);
    if (op->nsweeps) memcpy(all, op->sweep, op->nsweeps * sizeof *all);
    op->sweep = all;
}

static void read_where(kg_spec *sp, const kg_value *v)
{
    if (!lua_isfunction(sp->L, -1)) {
        kg_wrong(sp, v->pos, "tiles.where: expected a function, got %s", kg_kind_of(sp->L, -1));
        return;
    }
    lua_pushvalue(sp->L, -1);
    sp->op->where_ref = luaL_ref(sp->L, LUA_REGISTRYINDEX);
    sp->op->where_pos = v->pos;
}

static bool known_target(kg_spec *sp, kg_pos pos, const char *what, const char *name, size_t len)
{
    const kg_names_list *all = kg_target_names(sp->cx);
    for (size_t i = 0; i < all->n; i++)
        if (strcmp(all->v[i], name) == 0) return true;
    const char *near = kg_closest(name, all->v, all->n), *quoted = kg_quote(sp->cx, name, len);
    if (near) kg_wrong(sp, pos, "%s: unknown target %s (did you mean '%s'?)", what, quoted, near);
    else kg_wrong(sp, pos, "%s: unknown target %s", what, quoted);
    return false;
}

static void read_tiles_field(kg_spec *sp, const kg_value *v, const char *key, void *total)
{
    lua_State *L = sp->L;
    if (strcmp(key, "where") == 0) {
        read_where(sp, v);
        return;
    }
    if (!known_target(sp, kg_key_pos(sp, v->place, v->pos), "tiles", key, strlen(key))) return;
    const char *target = kg_strndup(sp->cx->arena, key, strlen(key));
    kg_value own = {v->place, v->pos, kg_printf(sp->cx->arena, "tiles.%s", target)};
    if (!lua_istable(L, -1)) { /* one sweep */
        grow_sweeps(sp, 1);
        read_sweep(sp, &own, target, total);
        return;
    }
    size_t n;
    if (!kg_spec_list(sp, &own, &n, "sweeps, schedule { tunable = values }")) return;
    grow_sweeps(sp, n);
    for (size_t i = 1; i <= n; i++) {
        kg_value item = kg_spec_item(sp, &own, i, own.what);
        read_sweep(sp, &item, target, total);
        lua_pop(L, 1);
    }
}

void kg_spec_tiles(kg_spec *sp, const kg_value *v)
{
    double total = 0;
    size_t before = sp->cx->errors;
    kg_spec_fields(sp, v, read_tiles_field, &total);
    if (total > COMBINATIONS_MAX)
        kg_wrong(sp, v->pos, "tiles: sweeps %.0f combinations, at most %.0f are possible", total,
                 COMBINATIONS_MAX);
    else if (!sp->op->nsweeps && sp->op->where_ref == LUA_NOREF && sp->cx->errors == before)
        kg_wrong(sp, v->pos,
                 "tiles: no target and no where: leave the field out for the schedules' own sets");
}

/* ---- targets ---- */

void kg_spec_targets(kg_spec *sp, const kg_value *v)
{
    size_t n, len;
    if (!kg_spec_list(sp, v, &n, "target names")) return;
    kg_op *op = sp->op;
    op->target = kg_alloc(sp->cx->arena, n * sizeof *op->target);
    for (size_t i = 1; i <= n; i++) {
        kg_value item = kg_spec_item(sp, v, i, "targets");
        const char *s = lua_type(sp->L, -1) == LUA_TSTRING ? lua_tolstring(sp->L, -1, &len) : NULL;
        bool ok = s && known_target(sp, item.pos, "targets", s, len);
        if (!s) kg_wrong(sp, item.pos, "targets: expected a name, got %s", kg_kind_of(sp->L, -1));
        for (size_t k = 0; ok && k < op->ntargets; k++) {
            if (strcmp(op->target[k], s) != 0) continue;
            kg_wrong(sp, item.pos, "targets: '%s' is there twice", s);
            ok = false;
        }
        if (ok) op->target[op->ntargets++] = kg_strndup(sp->cx->arena, s, len);
        lua_pop(sp->L, 1);
    }
}

/* ---- check ---- */

static void read_rtol(kg_spec *sp, const kg_value *v)
{
    double x = lua_type(sp->L, -1) == LUA_TNUMBER ? lua_tonumber(sp->L, -1) : -1;
    if (x > 0 && x < 1) sp->op->rtol = (float)x;
    else
        kg_wrong(sp, v->pos, "check.rtol: expected a number between 0 and 1, got %s",
                 kg_kind_of(sp->L, -1));
}

static void read_shapes(kg_spec *sp, const kg_value *v)
{
    kg_op *op = sp->op;
    const kg_family *fam = op->family;
    size_t n, count, least = fam->nsizes; /* the last ones may be left out where the op has none */
    while (least && !kg_has_size(op, least - 1)) least--;
    const char *sizes = kg_listed(sp->cx, fam->size, least, ", ");
    if (!kg_spec_list(sp, v, &n, kg_printf(sp->cx->arena, "shapes { %s }", sizes))) return;
    op->shape = kg_alloc(sp->cx->arena, n * sizeof *op->shape);
    memset(op->shape, 0, n * sizeof *op->shape);
    for (size_t i = 1; i <= n; i++) {
        size_t before = sp->cx->errors;
        kg_value item =
            kg_spec_item(sp, v, i, kg_printf(sp->cx->arena, "check.shapes: shape %zu", i));
        bool ok = kg_spec_list(sp, &item, &count, sizes);
        const bool fits = ok && count >= least && count <= fam->nsizes;
        if (ok && !fits)
            kg_wrong(sp, item.pos, "%s: expected { %s }, got %zu numbers", item.what, sizes, count);
        for (size_t k = 0; fits && k < count; k++) {
            kg_value size = kg_spec_item(sp, &item, k + 1, item.what);
            kg_spec_whole(sp, &size, &op->shape[op->nshapes][k]);
            lua_pop(sp->L, 1);
        }
        op->nshapes += sp->cx->errors == before;
        lua_pop(sp->L, 1);
    }
}

static const struct {
    const char *name;
    void (*read)(kg_spec *, const kg_value *);
} check_fields[] = {{"rtol", read_rtol}, {"shapes", read_shapes}};
enum { NCHECK = sizeof check_fields / sizeof *check_fields };

static void read_check_field(kg_spec *sp, const kg_value *v, const char *key, void *arg)
{
    (void)arg;
    const char *known[NCHECK];
    kg_value own = *v;
    for (size_t i = 0; i < NCHECK; i++) {
        known[i] = check_fields[i].name;
        if (strcmp(key, known[i]) != 0) continue;
        own.what = kg_printf(sp->cx->arena, "check.%s", key);
        check_fields[i].read(sp, &own);
        return;
    }
    kg_wrong_field(sp, kg_key_pos(sp, v->place, v->pos), "check", key, known, NCHECK);
}

void kg_spec_checks(kg_spec *sp, const kg_value *v)
{
    kg_spec_fields(sp, v, read_check_field, NULL);
}

void kg_spec_tiles_describe(FILE *to)
{
    for (size_t i = 0; i < NCHECK; i++) fprintf(to, "check-field %s\n", check_fields[i].name);
}
