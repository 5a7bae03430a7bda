// SPDX-License-Identifier: MIT
// The Lua library that sandboxed files see.
#ifndef KILN_LIBRARY_H
#define KILN_LIBRARY_H
#include <lua.h>
#include <stddef.h>
#include <stdio.h>

int kg_library_open(lua_State *);  /* a lua_CFunction: builds the library in a new state */
void kg_library_push(lua_State *); /* the table of globals that every file of the state sees */
void kg_library_describe(FILE *);

/* Counts work that Lua's instruction count does not see; may raise.  (sandbox.c) */
void kg_sandbox_charge(lua_State *, size_t units);
#endif
