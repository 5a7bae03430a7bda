// SPDX-License-Identifier: MIT
// How templates spell values of an element type in device code: functions that every template
// sees.  `type` is one of the tables of `types`, or an input's.  docs/schedules.md lists them.
#include "back.h"
#include <lauxlib.h>
#include <string.h>

typedef struct dtype {
    const char *name;
    lua_Integer bits;
    bool f32, kept; /* kept: f32 values that are to become of this type have its bits */
} dtype;

/* Argument 1; what it names stays on the stack. */
static dtype type_of(lua_State *T)
{
    luaL_checktype(T, 1, LUA_TTABLE);
    if (lua_getfield(T, 1, "name") != LUA_TSTRING || lua_getfield(T, 1, "bits") != LUA_TNUMBER)
        luaL_argerror(T, 1, "an element type is needed");
    dtype t = {.name = lua_tostring(T, -2), .bits = lua_tointeger(T, -1)};
    t.f32 = strcmp(t.name, "f32") == 0;
    lua_getfield(T, 1, "kept");
    t.kept = lua_toboolean(T, -1);
    return t;
}

/* bits(type): of one element */
static int bits(lua_State *T)
{
    lua_pushinteger(T, type_of(T).bits);
    return 1;
}

/* words(type, count): of 32 bits that hold so many elements */
static int words(lua_State *T)
{
    lua_pushinteger(T, (luaL_checkinteger(T, 2) * type_of(T).bits + 31) / 32);
    return 1;
}

/* element(type, chunk, i): element i of a kiln_wordsN */
static int element(lua_State *T)
{
    const char *chunk = luaL_checkstring(T, 2), *i = luaL_checkstring(T, 3);
    dtype t = type_of(T);
    const char *text = lua_pushfstring(T, "KILN_ELEMENT%d(%s, %s)", (int)t.bits, chunk, i);
    if (t.f32)
        lua_pushfstring(T, "kiln_from_bits(%s)", text);
    else
        lua_pushfstring(T, "(kiln_%s_t)%s", t.name, text);
    return 1;
}

/* to_f32(type, x), from_f32(type, x): x converted, as it is where type is f32 */
static int to_f32(lua_State *T)
{
    const char *x = luaL_checkstring(T, 2);
    dtype t = type_of(T);
    lua_pushfstring(T, t.f32 ? "%s" : "kiln_%s_to_f32(%s)", t.f32 ? x : t.name, x);
    return 1;
}

static int from_f32(lua_State *T)
{
    const char *x = luaL_checkstring(T, 2);
    dtype t = type_of(T);
    if (t.kept)
        lua_pushfstring(T, "(kiln_%s_t)kiln_bits(%s)", t.name, x);
    else
        lua_pushfstring(T, t.f32 ? "%s" : "kiln_f32_to_%s(%s)", t.f32 ? x : t.name, x);
    return 1;
}

/* to_bits(type, x): the f32 x converted, its bits as an unsigned */
static int to_bits(lua_State *T)
{
    const char *x = luaL_checkstring(T, 2);
    dtype t = type_of(T);
    if (t.f32 || t.kept)
        lua_pushfstring(T, "kiln_bits(%s)", x);
    else if (t.bits == 32)
        lua_pushfstring(T, "(unsigned)kiln_f32_to_%s(%s)", t.name, x);
    else
        lua_pushfstring(T, "(unsigned)(kiln_uint%d)kiln_f32_to_%s(%s)", (int)t.bits, t.name, x);
    return 1;
}

void kg_spell_open(lua_State *T)
{
    static const luaL_Reg functions[] = {{"bits", bits},         {"words", words},
                                         {"element", element},   {"to_f32", to_f32},
                                         {"from_f32", from_f32}, {"to_bits", to_bits}};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        lua_pushstring(T, functions[i].name);
        lua_pushcfunction(T, functions[i].func);
        lua_rawset(T, -3);
    }
}
