// SPDX-License-Identifier: MIT
// The interpreter that schedules are written for: cost_values SCRIPT.lua ARGUMENT... runs a script
// (cost_values.lua) as a stand-alone Lua would, which not every machine has in this version.
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>

int main(int count, char **argument)
{
    lua_State *lua = count > 1 ? luaL_newstate() : NULL;
    if (!lua) {
        fputs("usage: cost_values SCRIPT.lua ARGUMENT...\n", stderr);
        return 2;
    }
    luaL_openlibs(lua);
    lua_createtable(lua, count, 0);
    for (int i = 1; i < count; i++) {
        lua_pushstring(lua, argument[i]);
        lua_rawseti(lua, -2, i - 1);
    }
    lua_setglobal(lua, "arg");
    const int failed = luaL_dofile(lua, argument[1]);
    if (failed) fprintf(stderr, "%s\n", lua_tostring(lua, -1));
    lua_close(lua);
    return failed;
}
