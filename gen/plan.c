// SPDX-License-Identifier: MIT
// A schedule's problem-time functions (problem_rules, launch, workspace, cost), traced on one
// target and written as the bodies of the C functions in kiln_schedule.  Integers that overflow
// read as "too large"; the cost is computed in doubles throughout.
#include "back.h"
#include "../abi/kiln_problem_math.h"
#include <lauxlib.h>
#include <stddef.h>
#include <string.h>

typedef struct trace {
    kg_ctx *cx;
    const kg_schedule *schedule;
    const kg_target *target;
    const char *what; /* for messages: "launch on gfx942" */
    kg_pos pos;
    kg_syms *syms;
} trace;

typedef struct stage {
    kg_result grid[3], block[3], cluster[3], lds, early;
} stage;

static bool wrong(trace *w, const char *text)
{
    kg_error(w->cx, w->pos, "%s: %s", w->what, text);
    return false;
}

/* A fraction in what C computes with whole numbers: said where it comes from. */
static bool fraction(trace *w, const kg_result *v, const char *what)
{
    kg_error(w->cx, kg_sym_fraction(w->syms, v, w->pos),
             "%s: %s has a fraction: use whole numbers, // or ceil_div", w->what, what);
    return false;
}

/* Calls function ref with symbols for p and t; its results are on top of T. */
static bool call(trace *w, int ref, const char *what, kg_pos pos, bool with_target, int results)
{
    lua_State *T = w->cx->T;
    w->pos = pos;
    w->what = kg_printf(w->cx->arena, "%s on %s", what, w->target->name);
    lua_rawgeti(T, LUA_REGISTRYINDEX, ref);
    kg_sym_push_p(w->cx, T);
    kg_sym_push_t(w->cx, T);
    if (with_target) lua_rawgeti(T, LUA_REGISTRYINDEX, w->target->ref);
    return kg_sandbox_call(w->cx, T, with_target ? 3 : 2, results, pos);
}

static bool whole(trace *w, kg_result *v, const char *what, int64_t least)
{
    if (!kg_sym_value(w->cx->T, -1, v) || v->boolean)
        return wrong(w, kg_printf(w->cx->arena, "%s is a %s, not a number", what,
                                  v->boolean ? "condition" : luaL_typename(w->cx->T, -1)));
    if (v->real) return fraction(w, v, what);
    if (!v->symbolic && (v->number < (double)least || v->number > (double)UINT32_MAX))
        return wrong(w, kg_printf(w->cx->arena, "%s is %.0f", what, v->number));
    return true;
}

/* ---- check ---- */
static const char *finish(trace *w, kg_buf *b)
{
    const char *text = kg_strndup(w->cx->arena, b->p ? b->p : "", b->len);
    kg_buf out = {0};
    if (!strstr(text, "p->")) kg_puts(&out, "    (void)p;\n");
    if (!strstr(text, "t[")) kg_puts(&out, "    (void)t;\n");
    kg_puts(&out, text);
    text = kg_strndup(w->cx->arena, out.p, out.len);
    kg_buf_free(&out);
    kg_buf_free(b);
    return text;
}

static const char *trace_check(trace *w, const kg_result **out)
{
    const kg_schedule *s = w->schedule;
    lua_State *T = w->cx->T;
    kg_result *rule = kg_alloc(w->cx->arena, (s->nproblem_rules + 1) * sizeof *rule);
    for (size_t i = 0; i < s->nproblem_rules; i++) {
        const kg_rule *r = &s->problem_rule[i];
        if (!call(w, r->ref, kg_printf(w->cx->arena, "problem rule %zu", i + 1), r->pos, false, 1))
            return NULL;
        bool good = kg_sym_value(T, -1, &rule[i]) && rule[i].boolean;
        if (!good)
            wrong(w, "must return a condition");
        else if (rule[i].real)
            good = fraction(w, &rule[i], "the condition");
        lua_pop(T, 1);
        if (!good) return NULL;
    }
    *out = rule;
    kg_buf b = {0};
    kg_lower l;
    kg_lower_begin(w->cx, &l, w->syms, false, &b);
    for (size_t i = 0; i < s->nproblem_rules; i++) kg_lower_use(&l, &rule[i]);
    for (size_t i = 0; i < s->nproblem_rules; i++) {
        kg_lower_vars(&l, &rule[i]);
        kg_puts(&b, "    if (!"); /* the text is a name, a number or in brackets */
        kg_lower_text(&l, &rule[i]);
        kg_putf(&b, ") return %zu; /* ", i + 1);
        for (const char *c = s->problem_rule[i].sentence; *c; c++)
            if (*c >= ' ' && *c <= '~' && *c != '*' && *c != '\\') kg_put(&b, c, 1);
        kg_puts(&b, " */\n");
    }
    kg_puts(&b, "    return 0;\n");
    return finish(w, &b);
}

/* ---- plan ---- */
/* Top: a stage's table; reads up to three numbers of field `name` (1 where there are fewer). */
static bool read_dims(trace *w, const char *name, bool required, kg_result dim[3])
{
    lua_State *T = w->cx->T;
    for (int i = 0; i < 3; i++) dim[i] = (kg_result){.number = 1};
    lua_pushstring(T, name);
    int type = lua_rawget(T, -2);
    bool good = type == LUA_TTABLE || (type == LUA_TNIL && !required);
    if (!good) wrong(w, kg_printf(w->cx->arena, "%s must be a list of one to three numbers", name));
    lua_Unsigned n = type == LUA_TTABLE ? lua_rawlen(T, -1) : 0;
    if (good && (n > 3 || (required && n == 0)))
        good = wrong(w, kg_printf(w->cx->arena, "%s must be a list of one to three numbers", name));
    for (lua_Unsigned i = 0; good && i < n; i++) {
        lua_rawgeti(T, -1, (lua_Integer)i + 1);
        good = whole(w, &dim[i], kg_printf(w->cx->arena, "%s[%d]", name, (int)i + 1), 1);
        lua_pop(T, 1);
    }
    lua_pop(T, 1);
    return good;
}

/* Top: a stage's table; true, false, a condition on p and t, or left out. */
static bool read_early(trace *w, kg_result *v)
{
    lua_State *T = w->cx->T;
    lua_pushstring(T, "early");
    const bool given = lua_rawget(T, -2) != LUA_TNIL;
    bool good = !given || (kg_sym_value(T, -1, v) && v->boolean);
    if (!good)
        wrong(w, kg_printf(w->cx->arena, "early is a %s, not a condition", luaL_typename(T, -1)));
    else if (given && v->real)
        good = fraction(w, v, "early's condition");
    lua_pop(T, 1);
    return good;
}

static bool read_stage(trace *w, stage *st)
{
    static const char *const known[] = {"grid", "block", "cluster", "lds", "early"};
    lua_State *T = w->cx->T;
    if (!lua_istable(T, -1)) return wrong(w, "must return a list with one table per stage");
    const char *unknown = kg_unknown_field(w->cx, known, sizeof known / sizeof *known);
    if (unknown) return wrong(w, unknown);
    if (!read_dims(w, "grid", true, st->grid) || !read_dims(w, "block", true, st->block) ||
        !read_dims(w, "cluster", false, st->cluster))
        return false;
    lua_pushstring(T, "lds");
    bool good = lua_rawget(T, -2) == LUA_TNIL || whole(w, &st->lds, "lds", 0);
    lua_pop(T, 1);
    return good && read_early(w, &st->early);
}

/* The numbers of a stage in the order of kiln_stage_plan, and the C text around each in an
 * initialiser of one. */
static const struct part {
    const char *name, *axis; /* of its variable: grid0x */
    size_t at;               /* in a stage */
    const char *before, *after;
} parts[] = {
// clang-format off
#define DIMS(field)                                                                                \
    {#field, "x", offsetof(stage, field), "{ ", ", "},                                             \
        {#field, "y", offsetof(stage, field) + sizeof(kg_result), "", ", "},                       \
        {#field, "z", offsetof(stage, field) + 2 * sizeof(kg_result), "", " }, "}
    DIMS(grid),
    DIMS(block),
    DIMS(cluster),
    {"lds", "", offsetof(stage, lds), "", ", "},
    {"early", "", offsetof(stage, early), "", ""},
#undef DIMS
    // clang-format on
};
enum { PARTS = sizeof parts / sizeof *parts };

static const kg_result *part_of(const stage *st, const struct part *p)
{
    return (const kg_result *)(const void *)((const char *)st + p->at);
}

static void put_variables(kg_lower *l, const stage *st, int i)
{
    for (const struct part *p = parts; p < parts + PARTS; p++) {
        const kg_result *v = part_of(st, p);
        if (!v->symbolic) continue;
        kg_lower_vars(l, v);
        kg_putf(l->out, "    const int64_t %s%d%s = ", p->name, i, p->axis);
        kg_lower_text(l, v);
        kg_puts(l->out, ";\n");
    }
}

static void put_stage(kg_lower *l, const stage *st, int i)
{
    kg_putf(l->out, "    out->stage[%d] = (kiln_stage_plan){ ", i);
    for (const struct part *p = parts; p < parts + PARTS; p++) {
        const kg_result *v = part_of(st, p);
        kg_puts(l->out, p->before);
        if (v->symbolic)
            kg_putf(l->out, "kiln_i_u32(%s%d%s)", p->name, i, p->axis);
        else
            kg_lower_text(l, v);
        kg_puts(l->out, p->after);
    }
    kg_puts(l->out, " };\n");
}

static const char *trace_plan(trace *w)
{
    const kg_schedule *s = w->schedule;
    lua_State *T = w->cx->T;
    stage st[KILN_MAX_STAGES] = {0};
    if (!call(w, s->launch, "launch", kg_function_pos(w->cx, s->launch, s->pos), true, 1))
        return NULL;
    size_t n = lua_istable(T, -1) ? lua_rawlen(T, -1) : 0;
    bool good = n >= 1 && n <= KILN_MAX_STAGES;
    if (!good)
        wrong(w, kg_printf(w->cx->arena, "must return a list of 1 to %d stages", KILN_MAX_STAGES));
    if (good && s->stages_slot < 0 && n > 1) {
        static const char *const word[] = {"no", "one", "two", "three", "four"};
        good = wrong(w, kg_printf(w->cx->arena,
                                  "returns %s stages, but the schedule has no `stages` function",
                                  word[n]));
    }
    for (size_t i = 0; good && i < n; i++) {
        lua_rawgeti(T, -1, (lua_Integer)i + 1);
        good = read_stage(w, &st[i]);
        lua_pop(T, 1);
    }
    lua_pop(T, 1);
    if (!good) return NULL;
    kg_buf b = {0};
    kg_lower l;
    kg_lower_begin(w->cx, &l, w->syms, false, &b);
    kg_puts(&b, "    if (");
    for (int i = 0; i <= KILN_MAX_SIZES; i++)
        if (s->family->empty >> i & 1) kg_putf(&b, "p->size[%d] <= 0 || ", i);
    kg_putf(&b, "p->size[%d] <= 0) return;\n", KILN_BATCH);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < PARTS; k++) kg_lower_use(&l, part_of(&st[i], &parts[k]));
    for (size_t i = 0; i < n; i++) put_variables(&l, &st[i], (int)i);
    if (s->stages_slot < 0)
        kg_putf(&b, "    out->stages = %zu;\n", n);
    else
        kg_putf(&b, "    out->stages = (uint32_t)t[%d] <= %zu ? (uint32_t)t[%d] : %zu;\n",
                s->stages_slot, n, s->stages_slot, n);
    for (size_t i = 0; i < n; i++) put_stage(&l, &st[i], (int)i);
    return finish(w, &b);
}

/* ---- workspace ---- */
static const char *number_text(trace *w, const kg_result *v, bool real)
{
    kg_buf b = {0};
    kg_lower l;
    kg_lower_begin(w->cx, &l, w->syms, real, &b);
    kg_lower_use(&l, v);
    kg_lower_vars(&l, v);
    kg_puts(&b, real ? "    return " : "    return kiln_i_bytes(");
    kg_lower_text(&l, v);
    kg_puts(&b, real ? ";\n" : ");\n");
    return finish(w, &b);
}

static const char *trace_workspace(trace *w)
{
    lua_State *T = w->cx->T;
    kg_result v = {0};
    const int ref = w->schedule->workspace;
    if (ref != LUA_NOREF) {
        if (!call(w, ref, "workspace", kg_function_pos(w->cx, ref, w->schedule->pos), true, 1))
            return NULL;
        bool good = kg_sym_value(T, -1, &v) && !v.boolean;
        if (!good)
            wrong(w, "must return a number");
        else if (v.real)
            good = fraction(w, &v, "the number");
        lua_pop(T, 1);
        if (!good) return NULL;
    }
    return number_text(w, &v, false);
}

/* ---- a cost and what makes it up ---- */
/* Top: an entry of the list, { name, number[, kind] }. */
static bool read_part(trace *w, kg_lowered *out, kg_result *v)
{
    static const char *const kinds[KILN_PART_KINDS] = {
        [KILN_PART_TIME] = "time", [KILN_PART_LEAST] = "least", [KILN_PART_COUNT] = "count"};
    lua_State *T = w->cx->T;
    const size_t at = out->nparts;
    if (at == KILN_MAX_PARTS)
        return wrong(w, kg_printf(w->cx->arena, "has more than %d parts", KILN_MAX_PARTS));
    if (!lua_istable(T, -1)) return wrong(w, "has a part that is no list of a name and a number");
    lua_rawgeti(T, -1, 1);
    lua_rawgeti(T, -2, 2);
    lua_rawgeti(T, -3, 3);
    const char *name = lua_type(T, -3) == LUA_TSTRING ? lua_tostring(T, -3) : "";
    const char *kind = lua_isnil(T, -1) ? kinds[KILN_PART_TIME] : lua_tostring(T, -1);
    int k = 0;
    while (k < KILN_PART_KINDS && (!kind || strcmp(kind, kinds[k]) != 0)) k++;
    bool good = true;
    if (!*name)
        good = wrong(w, "has a part without a name");
    else if (k == KILN_PART_KINDS)
        good = wrong(w, kg_printf(w->cx->arena, "part '%s' is no time, least or count", name));
    else if (!kg_sym_value(T, -2, v) || v->boolean)
        good = wrong(w, kg_printf(w->cx->arena, "part '%s' is no number", name));
    if (good) {
        out->part[at].name = kg_strndup(w->cx->arena, name, strlen(name));
        out->part[at].kind = (kiln_part_kind)k;
        out->nparts++;
    }
    lua_pop(T, 3);
    return good;
}

/* `cost` returns a number, and perhaps a list of parts: two C functions, as every find needs the
 * first alone. */
static bool trace_cost(trace *w, kg_lowered *out)
{
    lua_State *T = w->cx->T;
    const int ref = w->schedule->cost;
    kg_result part[KILN_MAX_PARTS] = {0}, total = {0};
    kg_buf b = {0};
    kg_lower l;
    if (!call(w, ref, "cost", kg_function_pos(w->cx, ref, w->schedule->pos), true, 2)) return false;
    bool good = (kg_sym_value(T, -2, &total) && !total.boolean) || wrong(w, "must return a number");
    if (good && !lua_isnil(T, -1) && !lua_istable(T, -1))
        good = wrong(w, "must return a list of parts beside the number");
    const size_t n = lua_istable(T, -1) ? lua_rawlen(T, -1) : 0;
    for (size_t i = 0; good && i < n; i++) {
        lua_rawgeti(T, -1, (lua_Integer)i + 1);
        good = read_part(w, out, &part[i < KILN_MAX_PARTS ? i : 0]);
        lua_pop(T, 1);
    }
    lua_pop(T, 2);
    if (!good) return false;
    out->cost = number_text(w, &total, true);
    kg_lower_begin(w->cx, &l, w->syms, true, &b);
    for (size_t i = 0; i < out->nparts; i++) kg_lower_use(&l, &part[i]);
    for (size_t i = 0; i < out->nparts; i++) {
        kg_lower_vars(&l, &part[i]);
        kg_putf(&b, "    out[%zu] = ", i);
        kg_lower_text(&l, &part[i]);
        kg_puts(&b, ";\n");
    }
    out->parts = finish(w, &b);
    return true;
}

/* ---- flags: they reach a shell and a makefile ---- */
static bool add_flag(trace *w, kg_buf *b)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+.,:/";
    const char *flag = lua_type(w->cx->T, -1) == LUA_TSTRING ? lua_tostring(w->cx->T, -1) : "";
    size_t len = lua_rawlen(w->cx->T, -1);
    if (!*flag || strspn(flag, plain) != len)
        return wrong(w, "must return a list of options made of letters, digits and -_=+.,:/");
    kg_putf(b, "%s%s", b->len ? " " : "", flag);
    return true;
}

static const char *read_flags(trace *w)
{
    lua_State *T = w->cx->T;
    int ref = w->schedule->flags;
    if (ref == LUA_NOREF) return "";
    w->pos = kg_function_pos(w->cx, ref, w->schedule->pos);
    w->what = kg_printf(w->cx->arena, "flags on %s", w->target->name);
    lua_rawgeti(T, LUA_REGISTRYINDEX, ref);
    lua_rawgeti(T, LUA_REGISTRYINDEX, w->target->ref);
    if (!kg_sandbox_call(w->cx, T, 1, 1, w->pos)) return NULL;
    kg_buf b = {0};
    bool good = lua_istable(T, -1) || wrong(w, "must return a list");
    size_t n = good ? lua_rawlen(T, -1) : 0;
    for (size_t i = 0; good && i < n; i++) {
        lua_rawgeti(T, -1, (lua_Integer)i + 1);
        good = add_flag(w, &b);
        lua_pop(T, 1);
    }
    lua_pop(T, 1);
    const char *text = good ? kg_strndup(w->cx->arena, b.p ? b.p : "", b.len) : NULL;
    kg_buf_free(&b);
    return text;
}

const kg_lowered *kg_schedule_lower(kg_ctx *cx, const kg_schedule *s, const kg_target *target)
{
    size_t at = 0;
    while (cx->target[at] != target) at++;
    if (s->lowered[at]) return s->lowered[at];
    trace w = {
        .cx = cx, .schedule = s, .target = target, .syms = kg_alloc(cx->arena, sizeof *w.syms)};
    w.syms->family = s->family;
    w.syms->slot = s->slot;
    w.syms->nslots = s->nslots;
    kg_sym_begin(cx, w.syms);
    kg_lowered *out = kg_alloc(cx->arena, sizeof *out);
    out->syms = w.syms;
    bool good = (out->check = trace_check(&w, &out->rule)) && (out->plan = trace_plan(&w)) &&
                (out->workspace = trace_workspace(&w)) && trace_cost(&w, out) &&
                (out->flags = read_flags(&w));
    kg_back_of(cx)->syms = NULL;
    if (!good) return NULL;
    return s->lowered[at] = out;
}

/* Shapes that a kernel for any size takes: the least one, an odd one, a large odd one. */
static kiln_shape odd_shape(const kg_family *f, int which)
{
    static const struct {
        int64_t size[KILN_MAX_SIZES], batch, ld[KILN_MAX_OWN];
    } odd[] = {
        {{1, 1, 1, 1, 1, 1, 1, 1}, 1, {1, 1, 1, 1}},
        {{17, 31, 13, 23, 19, 29, 11, 7}, 3, {33, 35, 37, 39}},
        {{4099, 5003, 6007, 4507, 307, 311, 401, 3}, 1, {7001, 7013, 7019, 7027}},
    };
    kiln_shape p = {.align_d = 1, .vector = 1, .units = 1};
    p.size[KILN_BATCH] = odd[which].batch;
    for (size_t i = 0; i < f->nsizes; i++) p.size[KILN_POSITION(i)] = odd[which].size[i];
    if (which == 0 && f->summed != KILN_NOWHERE) p.size[f->summed] = 0;
    for (size_t i = 0; i < f->nown; i++) {
        p.ld[i] = odd[which].ld[i];
        if (f->planes != KILN_NOWHERE) p.plane[i] = 1 + 2 * odd[which].ld[i];
        p.align[i] = 1;
    }
    return p;
}

const char *kg_size_limit(const kg_schedule *s, const kg_lowered *f, const int32_t *t)
{
    for (int which = 0; which < 3; which++) {
        const kiln_shape p = odd_shape(s->family, which);
        for (size_t k = 0; k < s->nproblem_rules; k++)
            if (!kg_sym_evaluate(f->syms, &f->rule[k], &p, t)) return s->problem_rule[k].sentence;
    }
    return NULL;
}
