// SPDX-License-Identifier: MIT
// One combination of tile values: runs the schedule's derive, stages, rules, name and maps on it,
// and makes it an instance or counts why not.
#include "expand.h"
#include <lauxlib.h>
#include <string.h>

void kg_expand_count_cut(expansion *x, tally *t, const void *who, const char *text, size_t n)
{
    for (size_t i = 0; i < t->ncuts; i++) {
        if (t->cut[i].who != who) continue;
        t->cut[i].count += n;
        t->cut[i].varies |= strcmp(t->cut[i].text, text) != 0;
        return;
    }
    t->cut = kg_grow(x->cx->arena, t->cut, t->ncuts, &t->cap, sizeof *t->cut);
    t->cut[t->ncuts++] = (cut){kg_strndup(x->cx->arena, text, strlen(text)), n, false, who};
}

/* ---- calling a schedule's functions ---- */
void kg_expand_push_view(expansion *x, bool target_first)
{
    static const int order[] = {KG_OP_TABLE, KG_TYPES_TABLE, KG_LAYOUT_TABLE};
    lua_State *T = x->cx->T;
    if (target_first) lua_rawgeti(T, LUA_REGISTRYINDEX, x->target->ref);
    for (int i = 0; i < 3; i++) lua_rawgeti(T, LUA_REGISTRYINDEX, x->ref[order[i]]);
    if (!target_first) lua_rawgeti(T, LUA_REGISTRYINDEX, x->target->ref);
}

/* f(t, op, types, layout, target), t at stack position `t`. */
static bool call_with_t(expansion *x, int ref, int t, int results, kg_pos pos)
{
    lua_State *T = x->cx->T;
    lua_rawgeti(T, LUA_REGISTRYINDEX, ref);
    lua_pushvalue(T, t);
    kg_expand_push_view(x, false);
    return kg_sandbox_call(x->cx, T, 5, results, pos);
}

bool kg_expand_supports(expansion *x, const kg_schedule *s, const char **why)
{
    lua_State *T = x->cx->T;
    lua_rawgeti(T, LUA_REGISTRYINDEX, s->supports);
    kg_expand_push_view(x, true);
    x->stop = !kg_sandbox_call(x->cx, T, 4, 2, kg_function_pos(x->cx, s->supports, s->pos));
    if (x->stop) return false;
    bool good = true;
    *why = NULL;
    if (!lua_toboolean(T, -2)) {
        good = lua_type(T, -1) == LUA_TSTRING;
        if (good)
            *why = kg_strndup(x->cx->arena, lua_tostring(T, -1), lua_rawlen(T, -1));
        else
            kg_error(x->cx, kg_function_pos(x->cx, s->supports, s->pos),
                     "supports must return true, or nil and a sentence");
    }
    lua_pop(T, 2);
    x->stop = !good;
    return good;
}

/* Field `name` of the table at position t as a slot's value. */
static bool read_slot(expansion *x, int t, const char *name, kg_pos pos, int32_t *value)
{
    lua_State *T = x->cx->T;
    int whole = 0;
    lua_pushstring(T, name);
    int type = lua_rawget(T, t);
    lua_Integer v = lua_tointegerx(T, -1, &whole);
    lua_pop(T, 1);
    *value = (int32_t)v;
    if (type == LUA_TNUMBER && whole && v == *value) return true;
    kg_error(x->cx, pos, "derive must set '%s' to a whole number, not to a %s", name,
             type == LUA_TNUMBER ? (whole ? "larger one than 32 bits hold" : "fraction")
                                 : lua_typename(T, type));
    return false;
}

/* The rule's sentence with its {fields} from t (at position t) and the target. */
static const char *fill_sentence(expansion *x, const kg_rule *r, int t)
{
    lua_State *T = x->cx->T;
    kg_buf b = {0};
    const char *s = r->sentence;
    for (const char *open; (open = strchr(s, '{')) != NULL;) {
        const char *close = strchr(open, '}');
        if (!close) break;
        kg_put(&b, s, (size_t)(open - s));
        for (int from = 0; from < 2; from++) {
            if (from)
                lua_rawgeti(T, LUA_REGISTRYINDEX, x->target->ref);
            else
                lua_pushvalue(T, t);
            lua_pushlstring(T, open + 1, (size_t)(close - open) - 1);
            int type = lua_rawget(T, -2);
            if (type == LUA_TNUMBER || type == LUA_TSTRING) kg_puts(&b, lua_tostring(T, -1));
            lua_pop(T, 2);
            if (type == LUA_TNUMBER || type == LUA_TSTRING) break;
            if (from) kg_put(&b, open, (size_t)(close - open) + 1);
        }
        s = close + 1;
    }
    kg_puts(&b, s);
    const char *text = kg_strndup(x->cx->arena, b.p, b.len);
    kg_buf_free(&b);
    return text;
}

/* ---- one candidate ---- */
/* Runs derive and stages on t; fills the rest of the slots. */
static bool derive(expansion *x, candidate *c, int t)
{
    const kg_schedule *s = c->schedule;
    lua_State *T = x->cx->T;
    if (s->derive != LUA_NOREF) {
        kg_pos pos = kg_function_pos(x->cx, s->derive, s->pos);
        if (!call_with_t(x, s->derive, t, 0, pos)) return false;
        size_t end = s->stages_slot < 0 ? s->nslots : (size_t)s->stages_slot;
        for (size_t i = s->ntunables; i < end; i++)
            if (!read_slot(x, t, s->slot[i], pos, &c->slot[i])) return false;
    }
    if (s->stages_slot < 0) return true;
    kg_pos pos = kg_function_pos(x->cx, s->stages, s->pos);
    int whole;
    if (!call_with_t(x, s->stages, t, 1, pos)) return false;
    lua_Integer n = lua_tointegerx(T, -1, &whole);
    lua_pop(T, 1);
    if (!whole || n < 1 || n > KILN_MAX_STAGES) {
        kg_error(x->cx, pos, "stages must return 1 to %d", KILN_MAX_STAGES);
        return false;
    }
    c->slot[s->stages_slot] = (int32_t)n;
    lua_pushinteger(T, n);
    lua_setfield(T, t, KG_STAGES_SLOT);
    return true;
}

/* *broken: the first rule that cuts it, NULL: none. */
static bool check_rules(expansion *x, const candidate *c, int t, const kg_rule **broken)
{
    const kg_schedule *s = c->schedule;
    lua_State *T = x->cx->T;
    *broken = NULL;
    for (size_t i = 0; i < s->nrules && !*broken; i++) {
        if (!call_with_t(x, s->rule[i].ref, t, 1, s->rule[i].pos)) return false;
        int type = lua_type(T, -1);
        if (!lua_toboolean(T, -1)) *broken = &s->rule[i];
        lua_pop(T, 1);
        if (type != LUA_TBOOLEAN) {
            kg_error(x->cx, s->rule[i].pos, "a rule must return true or false, not a %s",
                     lua_typename(T, type));
            return false;
        }
    }
    return true;
}

static bool map_number(expansion *x, const char *name, int64_t least, int64_t most, kg_pos pos,
                       int64_t *value)
{
    int whole = 0;
    lua_pushstring(x->cx->T, name);
    int type = lua_rawget(x->cx->T, -2);
    *value = type == LUA_TNIL && least == 0 ? whole = 1, 0 : lua_tointegerx(x->cx->T, -1, &whole);
    lua_pop(x->cx->T, 1);
    if (whole && *value >= least && *value <= most) return true;
    kg_error(x->cx, pos, "maps: '%s' must be a whole number from %d to %d", name, (int)least,
             (int)most);
    return false;
}

/* Whether a map's `name` means a tensor: one of the family's own by its field's name, those of
 * several products with a number behind it ("b" is "b0"), or a full one of the op's. */
static bool names_operand(const kg_op *op, size_t i, const char *name)
{
    const kg_tensor *t = &op->tensor[i];
    if (t->own == KILN_NOWHERE) return t->kind == KILN_D_FULL && strcmp(t->name, name) == 0;
    const kg_own *own = &op->family->own[t->own];
    const size_t len = strlen(own->name);
    if (strncmp(own->name, name, len) != 0) return false;
    size_t product = 0;
    while (product < i && op->tensor[i - 1 - product].own == t->own) product++;
    if (!name[len]) return product == 0;
    return own->count > 1 && name[len] == (char)('0' + product) && !name[len + 1];
}

/* Position in the op's tensors; -1: none. */
static int map_operand(const kg_op *op, const char *name)
{
    for (size_t i = 0; i < op->ntensors; i++)
        if (names_operand(op, i, name)) return (int)i;
    return -1;
}

/* "a, b0, b1 (of two products), e, or the name of a full input" */
static const char *operands_text(kg_ctx *cx, const kg_family *f)
{
    const char *text = "";
    for (size_t i = 0; i < f->nown; i++) {
        const kg_own *own = &f->own[i];
        text = kg_printf(cx->arena, "%s%s%s, ", text, own->name, own->count > 1 ? "0" : "");
        if (own->count > 1)
            text = kg_printf(cx->arena, "%s%s1 (of two %ss), ", text, own->name, own->word);
    }
    return kg_printf(cx->arena, "%s%sthe name of a full input%s", text, f->nown ? "or " : "",
                     f->output_kinds ? " or output" : "");
}

/* A misspelt field that may be left out would change a kernel's map silently. */
static bool map_fields(expansion *x, kg_pos pos)
{
    static const char *const known[] = {"operand", "inner", "outer",   "planes",
                                        "swizzle", "clip",  "promote", "optional",
                                        "gathered"};
    const char *unknown = kg_unknown_field(x->cx, known, sizeof known / sizeof *known);
    if (unknown) kg_error(x->cx, pos, "maps: %s", unknown);
    return !unknown;
}

static bool map_clip(expansion *x, kg_pos pos, uint8_t *clip)
{
    lua_State *T = x->cx->T;
    lua_pushliteral(T, "clip");
    const int type = lua_rawget(T, -2);
    const bool rest = type == LUA_TSTRING && strcmp(lua_tostring(T, -1), "rest") == 0;
    *clip = rest ? KILN_CLIP_REST : lua_toboolean(T, -1) ? KILN_CLIP_ALL : KILN_CLIP_NOT;
    lua_pop(T, 1);
    if (rest || type == LUA_TNIL || type == LUA_TBOOLEAN) return true;
    kg_error(x->cx, pos, "maps: 'clip' must be true, false or 'rest'");
    return false;
}

static bool map_flag(expansion *x, kg_pos pos, const char *name, uint8_t *flag)
{
    lua_pushstring(x->cx->T, name);
    const int type = lua_rawget(x->cx->T, -2);
    *flag = lua_toboolean(x->cx->T, -1) ? 1 : 0;
    lua_pop(x->cx->T, 1);
    if (type == LUA_TNIL || type == LUA_TBOOLEAN) return true;
    kg_error(x->cx, pos, "maps: '%s' must be true or false", name);
    return false;
}

static bool gathers(const kg_op *op, int operand)
{
    const kg_tensor *t = &op->tensor[operand];
    return t->own != KILN_NOWHERE && kg_is_gathered(op, t->own);
}

/* 0 to 3 of kiln_map.promote. */
static bool map_promote(expansion *x, kg_pos pos, uint8_t *promote)
{
    lua_pushliteral(x->cx->T, "promote");
    int whole = 0;
    const bool given = lua_rawget(x->cx->T, -2) != LUA_TNIL;
    const lua_Integer bytes = given ? lua_tointegerx(x->cx->T, -1, &whole) : 256;
    lua_pop(x->cx->T, 1);
    *promote = bytes == 256 ? 3 : (uint8_t)(bytes / 64);
    if (!given || (whole && (bytes == 0 || bytes == 64 || bytes == 128 || bytes == 256)))
        return true;
    kg_error(x->cx, pos, "maps: 'promote' must be 0, 64, 128 or 256");
    return false;
}

/* Top: { operand = "a", inner = 64, outer = 128, swizzle = 128, clip = true, promote = 256 }. */
static bool read_map(expansion *x, kg_pos pos, kiln_map *m)
{
    lua_State *T = x->cx->T;
    int64_t inner, outer, planes, swizzle;
    uint8_t clip, promote;
    uint8_t optional, gathered;
    lua_pushstring(T, "operand");
    int operand = lua_istable(T, -2) && lua_rawget(T, -2) == LUA_TSTRING
                      ? map_operand(x->op, lua_tostring(T, -1))
                      : -1;
    lua_pop(T, 1);
    if (operand < 0) {
        kg_error(x->cx, pos, "maps: 'operand' must be %s", operands_text(x->cx, x->op->family));
        return false;
    }
    if (!map_fields(x, pos) || !map_number(x, "inner", 1, 256, pos, &inner) ||
        !map_number(x, "outer", 1, 256, pos, &outer) ||
        !map_number(x, "planes", 0, 256, pos, &planes) ||
        !map_number(x, "swizzle", 0, 128, pos, &swizzle) || !map_clip(x, pos, &clip) ||
        !map_promote(x, pos, &promote) || !map_flag(x, pos, "optional", &optional) ||
        !map_flag(x, pos, "gathered", &gathered))
        return false;
    if (swizzle && swizzle != 32 && swizzle != 64 && swizzle != 128) {
        kg_error(x->cx, pos, "maps: 'swizzle' must be 0, 32, 64 or 128");
        return false;
    }
    if (gathered && !gathers(x->op, operand)) {
        kg_error(x->cx, pos, "maps: 'gathered' is of an operand whose rows the op gathers");
        return false;
    }
    const bool stacked = x->op->tensor[operand].planes != KILN_NOWHERE;
    if (planes && !stacked) {
        kg_error(x->cx, pos, "maps: 'planes' is of an operand that has them");
        return false;
    }
    if (stacked && !planes) planes = 1;
    *m = (kiln_map){(uint8_t)operand, (uint8_t)swizzle, (uint16_t)inner, (uint16_t)outer, clip,
                    promote,          (uint16_t)planes, optional, gathered};
    return true;
}

static bool read_maps(expansion *x, const kg_schedule *s, int t, kg_instance *in)
{
    lua_State *T = x->cx->T;
    if (s->maps == LUA_NOREF) return true;
    kg_pos pos = kg_function_pos(x->cx, s->maps, s->pos);
    if (!call_with_t(x, s->maps, t, 1, pos)) return false;
    bool good = lua_istable(T, -1) && lua_rawlen(T, -1) <= UINT8_MAX;
    if (!good) kg_error(x->cx, pos, "maps must return a list of tables");
    in->nmaps = good ? lua_rawlen(T, -1) : 0;
    in->map = kg_alloc(x->cx->arena, (in->nmaps + 1) * sizeof *in->map);
    for (size_t i = 0; good && i < in->nmaps; i++) {
        lua_rawgeti(T, -1, (lua_Integer)i + 1);
        good = read_map(x, pos, &in->map[i]);
        lua_pop(T, 1);
    }
    lua_pop(T, 1);
    return good;
}

static bool read_realigns(expansion *x, const kg_schedule *s, int t, kg_instance *in)
{
    lua_State *T = x->cx->T;
    if (s->realigns == LUA_NOREF) return true;
    kg_pos pos = kg_function_pos(x->cx, s->realigns, s->pos);
    if (!call_with_t(x, s->realigns, t, 1, pos)) return false;
    const bool good = lua_isboolean(T, -1) && (in->nmaps || !lua_toboolean(T, -1));
    in->realigns = lua_toboolean(T, -1);
    if (!good)
        kg_error(x->cx, pos,
                 "realigns must return true or false, and false where there are no maps");
    lua_pop(T, 1);
    return good;
}

/* simt_64x64x16: the schedule and what its `name` says of t. */
static const char *tile_name(expansion *x, const kg_schedule *s, int t)
{
    lua_State *T = x->cx->T;
    if (s->name_ref == LUA_NOREF) return s->name;
    kg_pos pos = kg_function_pos(x->cx, s->name_ref, s->pos);
    if (!call_with_t(x, s->name_ref, t, 1, pos)) return NULL;
    const char *suffix = lua_type(T, -1) == LUA_TSTRING ? lua_tostring(T, -1) : "", *name = NULL;
    size_t len = strlen(suffix);
    if (len && len <= 80 && kg_identifier(kg_printf(x->cx->arena, "_%s", suffix)))
        name = kg_printf(x->cx->arena, "%s_%s", s->name, suffix);
    else
        kg_error(x->cx, pos, "name must return letters, digits and _, at most 80");
    lua_pop(T, 1);
    return name;
}

/* Whether type i of the signature is what it would be, were it left out. */
static bool is_default(const kg_op *op, const kg_types *y, size_t i)
{
    const kg_family *f = op->family;
    if (!f->ntypes || f->type[i].real == KILN_DTYPE_NONE) return false;
    bool real = false;
    for (size_t k = 0; k < f->ntypes; k++)
        if (f->type[i].from >> k & 1) real |= kiln_is_float(y->type[k]);
    return y->type[i] == (real ? f->type[i].real : f->type[i].integer);
}

/* The parts of an instance's name behind the op's that it has: f16_f16_f16, rcr, the tile;
 * `between` each of them, and before the first. */
static const char *name_parts(kg_ctx *cx, kg_view v, const char *tile, const char *between,
                              const char *first)
{
    kg_buf b = {0};
    const char *sign = first;
    for (size_t i = 0; i < v.op->nsig_types; i++) {
        if (is_default(v.op, v.types, i)) continue;
        kg_putf(&b, "%s%s", sign, kg_dtype_text(v.types->type[i]));
        sign = "_";
    }
    if (b.len) first = between;
    for (size_t i = 0; i < v.op->family->nlayouts; i++)
        kg_putf(&b, "%s%c", i ? "" : first, v.layout->layout[i] == KILN_ROW ? 'r' : 'c');
    for (size_t i = 0; i < v.op->family->nfixed; i++)
        kg_putf(&b, "%s%lld", i ? "_" : first, (long long)v.layout->fixed[i]);
    kg_putf(&b, "%s%s", b.len ? between : first, tile);
    const char *text = kg_strndup(cx->arena, b.p, b.len);
    kg_buf_free(&b);
    return text;
}

static bool add_instance(expansion *x, const candidate *c, int t, tally *count)
{
    kg_ctx *cx = x->cx;
    const kg_schedule *s = c->schedule;
    const kg_lowered *f = kg_schedule_lower(cx, s, x->target);
    if (!f) return false;
    x->limit = kg_size_limit(s, f, c->slot);
    kg_instance *in = kg_alloc(cx->arena, sizeof *in);
    const char *tile = tile_name(x, s, t);
    if (!tile || !read_maps(x, s, t, in) || !read_realigns(x, s, t, in)) return false;
    in->any_size = !x->limit && !in->realigns; /* what all else falls back to wants no copies */
    if (x->any_size_only && !in->any_size) return true;
    in->op = x->op;
    in->types = x->view.types;
    in->layout = x->view.layout;
    in->target = x->target;
    in->schedule = s;
    memcpy(in->slot, c->slot, sizeof in->slot);
    in->stages = s->stages_slot < 0 ? 1 : (size_t)c->slot[s->stages_slot];
    in->name = kg_printf(cx->arena, "%s/%s%s", x->target->name, x->op->name,
                         name_parts(cx, x->view, tile, "/", "/"));
    in->id =
        kg_printf(cx->arena, "kiln_%s%s", x->op->name, name_parts(cx, x->view, tile, "_", "_"));
    in->path = kg_printf(cx->arena, "%s/%s%s%s", x->target->name, x->op->name,
                         name_parts(cx, x->view, tile, "-", "/"), x->target->ext);
    x->out = kg_grow(cx->arena, x->out, x->n, &x->cap, sizeof *x->out);
    x->out[x->n++] = in;
    count->kept++;
    return true;
}

static bool too_many(expansion *x, kg_pos pos)
{
    const char *what = NULL;
    if (x->candidates > KG_MAX_CANDIDATES)
        what = kg_printf(x->cx->arena, "more than %d combinations of tile values in one run",
                         KG_MAX_CANDIDATES);
    if (x->n > KG_MAX_INSTANCES)
        what = kg_printf(x->cx->arena, "more than %d instances in one run", KG_MAX_INSTANCES);
    if (!what) return false;
    kg_error(x->cx, pos, "%s \"%s\": %s", x->op->family->name, x->op->name, what);
    return x->stop = true;
}

bool kg_expand_consider(expansion *x, candidate *c, tally *count)
{
    const kg_schedule *s = c->schedule;
    lua_State *T = x->cx->T;
    bool keep = true;
    const kg_rule *broken;
    count->swept++;
    x->candidates++;
    if (too_many(x, c->sweep ? c->sweep->pos : x->op->pos)) return false;
    lua_createtable(T, 0, (int)s->nslots);
    int t = lua_gettop(T);
    for (size_t i = 0; i < s->ntunables; i++) {
        lua_pushinteger(T, c->slot[i]);
        lua_setfield(T, t, s->slot[i]);
    }
    x->stop = !derive(x, c, t);
    bool good = !x->stop;
    if (good && c->sweep) /* where it fails, other ops may go on */
        good = kg_lang_where(x->cx, x->op, s->name, s->slot, c->slot, s->nslots, &keep);
    if (good && !keep) count->by_where++;
    if (good && keep) {
        x->stop = !check_rules(x, c, t, &broken);
        if (!x->stop && broken)
            kg_expand_count_cut(x, count, broken, fill_sentence(x, broken, t), 1);
        if (!x->stop && !broken) x->stop = !add_instance(x, c, t, count);
        good = !x->stop;
    }
    lua_settop(T, t - 1);
    return good;
}
