// SPDX-License-Identifier: MIT
// What Lua cannot tell a tracer is read from the text: where a function stands, and whether it
// branches on symbols.
#ifndef KILN_SCAN_H
#define KILN_SCAN_H
#include "sandbox.h"

typedef struct kg_extent {
    const kg_source *source; /* NULL: not found */
    const kg_tokens *tokens;
    size_t first, body, end; /* `function`, first token of the body, its `end` */
} kg_extent;

/* Of the function at a stack position (a Lua function of a source). */
kg_extent kg_function_extent(lua_State *, int at);
kg_pos kg_extent_pos(const kg_extent *, size_t token);

/* A kg_entry_fn: raises an error where a function that starts compares or branches on an argument
 * or upvalue that is a traced value, or on a local made from one. */
void kg_scan_entry(lua_State *, lua_Debug *, void *);
#endif
