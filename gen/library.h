// SPDX-License-Identifier: MIT
// The Lua library that sandboxed files see.
#ifndef KILN_LIBRARY_H
#define KILN_LIBRARY_H
#include <lua.h>
#include <stddef.h>
#include <stdio.h>

int kg_library_open(lua_State *);                  /* a lua_CFunction: builds the library in a new state */
void kg_library_set(lua_State *, const char *name); /* pops a value: a global of every file of the state */
void kg_library_describe(FILE *);

/* Counts work that Lua's instruction count does not see; may raise.  (sandbox.c) */
void kg_sandbox_charge(lua_State *, size_t units);
#endif
