// SPDX-License-Identifier: MIT
// Reading what a `gemm "name" { ... }` holds, for spec*.c and family.c: messages
// at the place of a value, lists, fields in order, names.
#include "spec.h"
#include "../abi/kiln_reserved.h"
#include <lauxlib.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *const reserved[] = {
#define X(word) word,
    KILN_RESERVED(X)
#undef X
};

/* ---- messages and places ---- */

void kg_wrong(kg_spec *sp, kg_pos pos, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    sp->wrong = true;
    kg_error(sp->cx, pos, "%s%s", sp->prefix, text);
}

static kg_pos token_pos(const kg_spec *sp, size_t i)
{
    const kg_token *t = &kg_source_tokens(sp->cx, sp->source)->v[i];
    return (kg_pos){sp->source->file, t->line, t->col};
}

kg_pos kg_place_pos(const kg_spec *sp, const kg_place *p, kg_pos otherwise)
{
    return p ? token_pos(sp, p->tok) : otherwise;
}

kg_pos kg_key_pos(const kg_spec *sp, const kg_place *p, kg_pos otherwise)
{
    return p ? token_pos(sp, p->key_tok) : otherwise;
}

const char *kg_kind_of(lua_State *L, int at)
{
    kg_ctx *cx = kg_sandbox_ctx(L);
    size_t len;
    const char *s;
    if (kg_to_dtype(L, at)) {
        s = kg_printf(cx->arena, "the dtype %s", luaL_tolstring(L, at, NULL));
        lua_pop(L, 1);
        return s;
    }
    switch (lua_type(L, at)) {
    case LUA_TSTRING:
        s = lua_tolstring(L, at, &len);
        return kg_printf(cx->arena, "the text %s", kg_quote(cx, s, len));
    case LUA_TNUMBER:
        return kg_printf(cx->arena, "the number %.14g", lua_tonumber(L, at));
    case LUA_TBOOLEAN:
        return lua_toboolean(L, at) ? "true" : "false";
    case LUA_TNIL:
        return "nothing";
    case LUA_TUSERDATA:
        break;
    default:
        return kg_printf(cx->arena, "a %s", luaL_typename(L, at));
    }
    const kg_made *m = luaL_testudata(L, at, KG_MADE);
    if (m)
        return m->made == KG_MADE_INPUT  ? "an extra input"
               : m->made == KG_MADE_CODE ? "code"
                                         : "a sweep";
    return "a traced value";
}

/* ---- lists, fields, names ---- */

bool kg_spec_list(kg_spec *sp, const kg_value *v, size_t *count, const char *of)
{
    lua_State *L = sp->L;
    if (!lua_istable(L, -1)) {
        kg_wrong(sp, v->pos, "%s: expected a list of %s, got %s", v->what, of, kg_kind_of(L, -1));
        return false;
    }
    lua_Unsigned n = 0;
    while (lua_rawgeti(L, -1, (lua_Integer)n + 1) != LUA_TNIL) {
        lua_pop(L, 1);
        n++;
    }
    lua_pop(L, 1);
    const char *foreign =
        NULL; /* the first in order, since Lua's own order changes from run to run */
    bool other = false;
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        if (lua_isinteger(L, -2) && lua_tointeger(L, -2) >= 1 &&
            (lua_Unsigned)lua_tointeger(L, -2) <= n)
            continue;
        const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : NULL;
        if (key && (!foreign || strcmp(key, foreign) < 0)) foreign = key;
        other |= !key;
    }
    if (foreign || other) {
        const kg_place *at = foreign ? kg_place_field(v->place, foreign) : NULL;
        const char *found = foreign ? kg_quote(sp->cx, foreign, strlen(foreign)) : NULL;
        if (found)
            kg_wrong(sp, kg_key_pos(sp, at, v->pos), "%s: expected a list of %s, found the key %s",
                     v->what, of, found);
        else
            kg_wrong(sp, v->pos, "%s: expected a list of %s, found keys that are not 1, 2, 3, ...",
                     v->what, of);
        return false;
    }
    if (n == 0) kg_wrong(sp, v->pos, "%s: the list is empty", v->what);
    *count = (size_t)n;
    return n > 0;
}

kg_value kg_spec_item(kg_spec *sp, const kg_value *v, size_t i, const char *what)
{
    lua_rawgeti(sp->L, -1, (lua_Integer)i);
    const kg_place *p = kg_place_item(v->place, i);
    return (kg_value){p, kg_place_pos(sp, p, v->pos), what};
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void kg_spec_fields(kg_spec *sp, const kg_value *v,
                    void (*fn)(kg_spec *, const kg_value *, const char *, void *), void *arg)
{
    lua_State *L = sp->L;
    size_t n = 0, used = 0;
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) n++;
    const char **key = kg_alloc(sp->cx->arena, (n + 1) * sizeof *key);
    lua_Integer item = 0;
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        if (lua_type(L, -2) == LUA_TSTRING)
            key[used++] = lua_tostring(L, -2);
        else if (!item || (lua_isinteger(L, -2) && lua_tointeger(L, -2) < item))
            item = lua_isinteger(L, -2) ? lua_tointeger(L, -2) : -1;
    }
    if (item) {
        const kg_place *p = item > 0 ? kg_place_item(v->place, (size_t)item) : NULL;
        kg_wrong(sp, kg_place_pos(sp, p, v->pos), "%s%sentry %lld has no name: write name = value",
                 v->what, *v->what ? ": " : "", (long long)item);
    }
    qsort(key, used, sizeof *key, by_name);
    for (size_t i = 0; i < used; i++) {
        const kg_place *p = kg_place_field(v->place, key[i]);
        lua_pushstring(L, key[i]);
        lua_rawget(L, -2);
        fn(sp, &(kg_value){p, kg_place_pos(sp, p, v->pos), v->what}, key[i], arg);
        lua_pop(L, 1);
    }
}

bool kg_name_ok(kg_ctx *cx, const char *kind, const char *s, size_t len, const char **why)
{
    const char *quoted = kg_quote(cx, s, len);
    bool letters = len > 0 && s[0] >= 'a' && s[0] <= 'z';
    for (size_t i = 0; i < len; i++)
        letters &= (s[i] >= 'a' && s[i] <= 'z') || (s[i] >= '0' && s[i] <= '9') || s[i] == '_';
    *why = NULL;
    if (!letters)
        *why = kg_printf(cx->arena,
                         "%s %s: a name is a letter a-z followed by letters a-z, digits and '_'",
                         kind, quoted);
    else if (len >= KILN_NAME_MAX)
        *why = kg_printf(cx->arena, "%s %s: a name has at most %d characters", kind, quoted,
                         KILN_NAME_MAX - 1);
    else if (bsearch(&s, reserved, sizeof reserved / sizeof *reserved, sizeof *reserved, by_name))
        *why = kg_printf(cx->arena, "%s %s: this word is reserved", kind, quoted);
    return !*why;
}

bool kg_spec_name(kg_spec *sp, const kg_value *v, const char *kind, const char **name)
{
    size_t len;
    const char *why,
        *s = lua_type(sp->L, -1) == LUA_TSTRING ? lua_tolstring(sp->L, -1, &len) : NULL;
    if (!s) {
        kg_wrong(sp, v->pos, "%s: expected a name, got %s", v->what, kg_kind_of(sp->L, -1));
        return false;
    }
    if (!kg_name_ok(sp->cx, kind, s, len, &why)) {
        kg_wrong(sp, v->pos, "%s", why);
        return false;
    }
    *name = kg_strndup(sp->cx->arena, s, len);
    return true;
}

size_t kg_spec_names(kg_spec *sp, const kg_value *v, const char *kind, const char **name, size_t max)
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

const char *kg_listed(kg_ctx *cx, const char *const *name, size_t n, const char *last)
{
    const char *text = "";
    for (size_t i = 0; i < n; i++)
        text = kg_printf(cx->arena, "%s%s%s", text, !i ? "" : i + 1 < n ? ", " : last, name[i]);
    return text;
}

void kg_wrong_field(kg_spec *sp, kg_pos pos, const char *what, const char *key,
                    const char *const *name, size_t n)
{
    const char *near = kg_closest(key, name, n), *quoted = kg_quote(sp->cx, key, strlen(key));
    const char *of = *what ? kg_printf(sp->cx->arena, "%s: ", what) : "";
    if (near)
        kg_wrong(sp, pos, "%sunknown field %s (did you mean '%s'?)", of, quoted, near);
    else
        kg_wrong(sp, pos, "%sunknown field %s; fields are %s", of, quoted,
                 kg_listed(sp->cx, name, n, " and "));
}

const char *kg_count_word(kg_ctx *cx, size_t n)
{
    static const char *const word[] = {"no", "one", "two", "three", "four", "five", "six"};
    return n < sizeof word / sizeof *word ? word[n] : kg_printf(cx->arena, "%zu", n);
}

kiln_dtype kg_dtype_named(const char *name)
{
    for (int i = 1; i < KILN_DTYPE_COUNT; i++)
        if (strcmp(kiln_formats[i].name, name) == 0) return (kiln_dtype)i;
    return KILN_DTYPE_NONE;
}

bool kg_spec_whole(kg_spec *sp, const kg_value *v, int64_t *out)
{
    lua_State *L = sp->L;
    const char *why = NULL;
    int exact = 0;
    double x = lua_tonumber(L, -1);
    lua_Integer n = lua_type(L, -1) == LUA_TNUMBER ? lua_tointegerx(L, -1, &exact) : 0;
    if (lua_type(L, -1) != LUA_TNUMBER) {
        kg_wrong(sp, v->pos, "%s: expected a whole number, got %s", v->what, kg_kind_of(L, -1));
        return false;
    }
    if (x < 0) why = "is negative";
    else if (!exact) why = "is not a whole number";
    else if (n > INT32_MAX) why = "is larger than 2147483647";
    if (isnan(x)) kg_wrong(sp, v->pos, "%s: not a number (NaN)", v->what);
    else if (isinf(x)) kg_wrong(sp, v->pos, "%s: infinite", v->what);
    else if (why) kg_wrong(sp, v->pos, "%s: %.14g %s", v->what, x, why);
    *out = n;
    return !why;
}
