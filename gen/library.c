// SPDX-License-Identifier: MIT
// What sandboxed Lua sees: the parts of Lua's library that are deterministic and do bounded work,
// some rewritten to be so (pairs in sorted order, find without patterns, rep, sort and format with
// limits), and globals that are known.
#define _GNU_SOURCE /* memmem */
#include "sandbox.h"
#include "library.h"
#include <lauxlib.h>
#include <lualib.h>
#include <stdlib.h>
#include <string.h>

enum {
    REP_MAX = 1 << 20,
    SORT_MAX = 1 << 16,
    SORT_STRING_MAX = 1 << 10,
    NUMERAL_MAX = 200,
    KNOWN_MAX = 256
};

static const char library_key;

/* ---- globals ---- */

void kg_library_push(lua_State *L)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &library_key);
}

static size_t collect_names(lua_State *L, int table, const char **name, size_t n)
{
    table = lua_absindex(L, table);
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1))
        if (n < KNOWN_MAX && lua_type(L, -2) == LUA_TSTRING) name[n++] = lua_tostring(L, -2);
    return n;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The globals of the file that is running; false where there are none. */
static bool push_running_env(lua_State *L)
{
    lua_Debug ar;
    if (!lua_getstack(L, 1, &ar)) return false;
    lua_getinfo(L, "f", &ar);
    const char *name;
    for (int i = 1; (name = lua_getupvalue(L, -1, i)) != NULL; i++) {
        if (strcmp(name, "_ENV") == 0 && lua_istable(L, -1)) {
            lua_remove(L, -2);
            return true;
        }
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return false;
}

/* Lua's own names that the sandbox leaves out; sorted. */
static const char *const withheld[] = {
    "collectgarbage", "coroutine", "debug",      "dofile", "getmetatable", "io",
    "load",           "loadfile",  "loadstring", "next",   "os",           "package",
    "pcall",          "print",     "rawequal",   "rawget", "rawlen",       "rawset",
    "setmetatable",   "utf8",      "warn",       "xpcall",
};

/* Reading a name that nobody defined.  Upvalue: what the table is called, "" for globals. */
static int unknown_name(lua_State *L)
{
    const char *owner = lua_tostring(L, lua_upvalueindex(1));
    kg_ctx *cx = kg_sandbox_ctx(L);
    size_t len, n;
    if (lua_type(L, 2) != LUA_TSTRING)
        return kg_raise(L, NULL, "indexes %s with a %s", owner, luaL_typename(L, 2));
    const char *key = lua_tolstring(L, 2, &len), *known[KNOWN_MAX];
    n = collect_names(L, 1, known, 0);
    if (!*owner && push_running_env(L)) n = collect_names(L, -1, known, n);
    qsort(known, n, sizeof *known, by_name); /* the same suggestion every time */
    const char *near = kg_closest(key, known, n), *quoted = kg_quote(cx, key, len);
    if (!*owner &&
        bsearch(&key, withheld, sizeof withheld / sizeof *withheld, sizeof *withheld, by_name))
        return kg_raise(L, key, "Lua's '%s' is not available here", key);
    if (*owner && near)
        return kg_raise(L, key, "%s has no %s (did you mean '%s'?)", owner, quoted, near);
    if (strcmp(owner, "string") == 0)
        return kg_raise(L, key,
                        "a text has no %s; of a_op, b_op and block the last argument is one, the "
                        "product's name",
                        quoted);
    if (*owner) return kg_raise(L, key, "%s has no %s here", owner, quoted);
    const char *hint = kg_sandbox_hint(L, key);
    if (near) return kg_raise(L, key, "unknown name %s (did you mean '%s'?)%s", quoted, near, hint);
    return kg_raise(L, key, "unknown name %s%s", quoted, hint);
}

static int assign_global(lua_State *L)
{
    kg_library_push(L);
    lua_pushvalue(L, 2);
    bool taken = lua_rawget(L, -2) != LUA_TNIL;
    lua_settop(L, 3);
    if (taken) {
        const char *key = luaL_checkstring(L, 2);
        return kg_raise(L, key,
                        "assigns to %s, which belongs to the language; use another name or 'local'",
                        kg_quote(kg_sandbox_ctx(L), key, strlen(key)));
    }
    lua_rawset(L, 1);
    return 0;
}

static int refuse_store(lua_State *L)
{
    return kg_raise(L, NULL, "assigns to a field of %s, which belongs to the language",
                    lua_tostring(L, lua_upvalueindex(1)));
}

static void set_closure(lua_State *L, const char *event, lua_CFunction f, const char *name)
{
    lua_pushstring(L, name);
    lua_pushcclosure(L, f, 1);
    lua_setfield(L, -2, event);
}

void kg_sandbox_env(lua_State *L)
{
    lua_newtable(L);
    lua_createtable(L, 0, 2);
    kg_library_push(L);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, assign_global);
    lua_setfield(L, -2, "__newindex");
    lua_setmetatable(L, -2);
}

/* ---- base ---- */

typedef struct key {
    double number;
    lua_Integer integer;
    const char *text; /* NULL: a number */
    size_t len;
} key;

static int by_key(const void *pa, const void *pb)
{
    const key *a = pa, *b = pb;
    if (!a->text != !b->text) return a->text ? 1 : -1;
    if (!a->text) {
        if (a->number != b->number) return a->number < b->number ? -1 : 1;
        return (a->integer > b->integer) - (a->integer < b->integer);
    }
    size_t n = a->len < b->len ? a->len : b->len;
    int c = memcmp(a->text, b->text, n);
    return c ? c : (a->len > b->len) - (a->len < b->len);
}

static int next_pair(lua_State *L) /* upvalues: table, sorted keys, position */
{
    lua_Integer i = lua_tointeger(L, lua_upvalueindex(3));
    do {
        lua_settop(L, 0);
        if (lua_rawgeti(L, lua_upvalueindex(2), ++i) == LUA_TNIL) return 1;
        lua_pushvalue(L, 1);
    } while (lua_rawget(L, lua_upvalueindex(1)) == LUA_TNIL); /* removed meanwhile */
    lua_pushinteger(L, i);
    lua_replace(L, lua_upvalueindex(3));
    return 2;
}

static int sorted_pairs(lua_State *L)
{
    if (!lua_istable(L, 1))
        return kg_raise(L, "pairs", "pairs needs a table, got a %s", luaL_typename(L, 1));
    lua_settop(L, 1);
    size_t n = 0;
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) n++;
    kg_sandbox_charge(L, n);
    key *keys = lua_newuserdatauv(L, (n + 1) * sizeof *keys, 0);
    size_t i = 0, bytes = 0;
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1), i++) {
        keys[i] = (key){.number = 0};
        if (lua_type(L, -2) == LUA_TSTRING) keys[i].text = lua_tolstring(L, -2, &keys[i].len);
        else if (lua_type(L, -2) == LUA_TNUMBER) keys[i].number = lua_tonumber(L, -2);
        else
            return kg_raise(L, "pairs", "pairs: a key is a %s, not a number or text",
                            luaL_typename(L, -2));
        if (lua_isinteger(L, -2)) keys[i].integer = lua_tointeger(L, -2);
        bytes += keys[i].len;
    }
    kg_sandbox_charge(L, bytes / 4);
    qsort(keys, n, sizeof *keys, by_key);
    lua_pushvalue(L, 1);
    lua_createtable(L, (int)n, 0);
    for (i = 0; i < n; i++) {
        if (keys[i].text) lua_pushlstring(L, keys[i].text, keys[i].len);
        else if ((double)keys[i].integer == keys[i].number) lua_pushinteger(L, keys[i].integer);
        else lua_pushnumber(L, keys[i].number);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, next_pair, 3);
    return 1;
}

/* Text that is the same in every run: no addresses. */
static void check_text(lua_State *L, int at)
{
    int type = lua_type(L, at);
    bool plain = type <= LUA_TSTRING && type != LUA_TLIGHTUSERDATA;
    if (!plain && !luaL_getmetafield(L, at, "__tostring"))
        kg_raise(L, NULL, "makes text of a %s", luaL_typename(L, at));
    if (!plain) lua_pop(L, 1);
}

static int base_tostring(lua_State *L)
{
    luaL_checkany(L, 1);
    check_text(L, 1);
    luaL_tolstring(L, 1, NULL);
    return 1;
}

static int base_tonumber(lua_State *L)
{
    size_t len;
    if (lua_type(L, 1) == LUA_TNUMBER) {
        lua_settop(L, 1);
        return 1;
    }
    const char *s = lua_type(L, 1) == LUA_TSTRING ? lua_tolstring(L, 1, &len) : NULL;
    if (!s || len > NUMERAL_MAX || lua_stringtonumber(L, s) != len + 1) lua_pushnil(L);
    return 1;
}

static int base_error(lua_State *L)
{
    size_t len;
    const char *s = lua_tolstring(L, 1, &len);
    if (!s) return kg_raise(L, "error", "error with a %s instead of a text", luaL_typename(L, 1));
    return kg_raise(L, "error", "%s", s);
}

static int base_assert(lua_State *L)
{
    if (lua_toboolean(L, 1)) return lua_gettop(L);
    return kg_raise(L, "assert", "%s", luaL_optstring(L, 2, "assertion failed"));
}

/* ---- string and table ---- */

static int string_rep(lua_State *L)
{
    size_t len, gap;
    const char *s = luaL_checklstring(L, 1, &len);
    lua_Integer n = luaL_checkinteger(L, 2);
    const char *sep = luaL_optlstring(L, 3, "", &gap);
    luaL_Buffer b;
    if (n > 0 && len + gap > 0 && (lua_Integer)((REP_MAX) / (len + gap)) < n)
        return kg_raise(L, "rep", "string.rep of more than %d bytes", REP_MAX);
    size_t total = n > 0 ? (size_t)n * len + (size_t)(n - 1) * gap : 0;
    char *to = luaL_buffinitsize(L, &b, total);
    for (; n > 0 && total > 0; n--) {
        memcpy(to, s, len);
        if (n > 1) memcpy(to + len, sep, gap);
        to += len + gap;
    }
    luaL_pushresultsize(&b, total);
    return 1;
}

/* Plain search: patterns can take exponential time. */
static int string_find(lua_State *L)
{
    size_t len, want;
    const char *s = luaL_checklstring(L, 1, &len), *what = luaL_checklstring(L, 2, &want);
    lua_Integer from = luaL_optinteger(L, 3, 1);
    if (from < 0) from = (lua_Integer)len + from + 1;
    if (from < 1) from = 1;
    kg_sandbox_charge(L, len / 16);
    const char *at = NULL;
    if (from <= (lua_Integer)len + 1) at = memmem(s + from - 1, len - (size_t)from + 1, what, want);
    if (!at) {
        lua_pushnil(L);
        return 1;
    }
    lua_pushinteger(L, at - s + 1);
    lua_pushinteger(L, at - s + (lua_Integer)want);
    return 2;
}

static int string_format(lua_State *L) /* upvalue: Lua's own */
{
    const char *format = luaL_checkstring(L, 1);
    int top = lua_gettop(L);
    for (const char *p = strchr(format, '%'); p; p = strchr(p, '%')) {
        p += 1 + strspn(p + 1, "-+ #0123456789.");
        if (*p == 'p')
            return kg_raise(L, "format", "string.format: '%%p' is not part of the language");
        if (*p) p++;
    }
    for (int i = 2; i <= top; i++) check_text(L, i);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, top, 1);
    return 1;
}

static int table_sort(lua_State *L) /* upvalue: Lua's own */
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_Unsigned n = lua_rawlen(L, 1);
    if (n > SORT_MAX) return kg_raise(L, "sort", "table.sort of more than %d values", SORT_MAX);
    kg_sandbox_charge(L, (size_t)n * 16);
    for (lua_Unsigned i = 1; i <= n; i++) {
        lua_rawgeti(L, 1, (lua_Integer)i);
        if (lua_type(L, -1) == LUA_TSTRING && lua_rawlen(L, -1) > SORT_STRING_MAX)
            return kg_raise(L, "sort", "table.sort of a text of more than %d bytes",
                            SORT_STRING_MAX);
        lua_pop(L, 1);
    }
    int top = lua_gettop(L);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, top, 0);
    return 0;
}

/* ---- the table of it all: group (a library, or "" for globals), name, our own function or NULL for Lua's; wraps: gets
 * Lua's as an upvalue ---- */

static const struct entry {
    const char *group, *name;
    lua_CFunction own;
    bool wraps;
} entries[] = {
    {"", "pairs", sorted_pairs, false},
    {"", "ipairs", NULL, false},
    {"", "type", NULL, false},
    {"", "tostring", base_tostring, false},
    {"", "tonumber", base_tonumber, false},
    {"", "error", base_error, false},
    {"", "assert", base_assert, false},
    {"string", "byte", NULL, false},
    {"string", "char", NULL, false},
    {"string", "find", string_find, false},
    {"string", "format", string_format, true},
    {"string", "len", NULL, false},
    {"string", "lower", NULL, false},
    {"string", "rep", string_rep, false},
    {"string", "reverse", NULL, false},
    {"string", "sub", NULL, false},
    {"string", "upper", NULL, false},
    {"table", "concat", NULL, false},
    {"table", "insert", NULL, false},
    {"table", "remove", NULL, false},
    {"table", "sort", table_sort, true},
    {"table", "unpack", NULL, false},
    {"math", "abs", NULL, false},
    {"math", "ceil", NULL, false},
    {"math", "cos", NULL, false},
    {"math", "exp", NULL, false},
    {"math", "floor", NULL, false},
    {"math", "fmod", NULL, false},
    {"math", "huge", NULL, false},
    {"math", "log", NULL, false},
    {"math", "max", NULL, false},
    {"math", "maxinteger", NULL, false},
    {"math", "min", NULL, false},
    {"math", "mininteger", NULL, false},
    {"math", "modf", NULL, false},
    {"math", "pi", NULL, false},
    {"math", "sin", NULL, false},
    {"math", "sqrt", NULL, false},
    {"math", "tan", NULL, false},
    {"math", "tointeger", NULL, false},
    {"math", "type", NULL, false},
};
static const char *const libraries[] = {"string", "table", "math"};

/* Fills the table on top of the stack with a library's entries, out of Lua's own table below it. */
static void fill(lua_State *L, const char *library)
{
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        const struct entry *e = &entries[i];
        if (strcmp(e->group, library) != 0) continue;
        if (!e->own || e->wraps) lua_getfield(L, -2, e->name);
        if (e->own) lua_pushcclosure(L, e->own, e->wraps);
        lua_setfield(L, -2, e->name);
    }
}

/* Pushes the library and, on top, a read-only view of it. */
static void push_view(lua_State *L, const char *name)
{
    lua_getglobal(L, name);
    lua_newtable(L);
    fill(L, name);
    lua_remove(L, -2);
    lua_newtable(L);
    set_closure(L, "__index", unknown_name, name);
    lua_setmetatable(L, -2);
    lua_newtable(L);
    lua_newtable(L);
    lua_pushvalue(L, -3);
    lua_setfield(L, -2, "__index");
    set_closure(L, "__newindex", refuse_store, name);
    lua_setmetatable(L, -2);
}

int kg_library_open(lua_State *L)
{
    static const luaL_Reg own[] = {{LUA_GNAME, luaopen_base},
                                   {LUA_STRLIBNAME, luaopen_string},
                                   {LUA_TABLIBNAME, luaopen_table},
                                   {LUA_MATHLIBNAME, luaopen_math}};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        luaL_requiref(L, own[i].name, own[i].func, 1);
        lua_pop(L, 1);
    }
    lua_pushglobaltable(L);
    lua_newtable(L); /* ours */
    fill(L, "");
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        push_view(L, libraries[i]);
        lua_setfield(L, -3, libraries[i]);
        if (strcmp(libraries[i], "string") == 0) { /* methods of texts */
            lua_pushliteral(L, "");
            lua_newtable(L);
            lua_pushvalue(L, -3);
            lua_setfield(L, -2, "__index");
            lua_setmetatable(L, -2);
            lua_pop(L, 1);
        }
        lua_pop(L, 1);
    }
    lua_newtable(L);
    set_closure(L, "__index", unknown_name, "");
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &library_key);
    lua_newtable(L); /* nothing of Lua's own globals can be reached any more */
    lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
    lua_pushnil(L);
    lua_setfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    return 0;
}

void kg_library_describe(FILE *to)
{
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        fprintf(to, "global %s%s%s\n", entries[i].group, *entries[i].group ? "." : "",
                entries[i].name);
}
