// SPDX-License-Identifier: MIT
// Lua states for text that users write: a small deterministic library and limits on memory, work
// and depth that no script can catch.  Errors come out as kg_error at their own file:line:col.
#ifndef KILN_SANDBOX_H
#define KILN_SANDBOX_H
#include "gen.h"
#include "srcmap.h"

/* Where a line of a text that was put together from several files stands. */
typedef struct kg_origin {
    const struct kg_source *source;
    int line;
} kg_origin;

/* A file that was read: shown in messages, mapped by srcmap.c. */
typedef struct kg_source {
    const char *path;  /* to open it */
    const char *file;  /* as shown; the same pointer in every kg_pos of it */
    const char *text;  /* 0-terminated */
    size_t len;
    kg_tokens *tokens; /* made when first asked for: kg_source_tokens */
    int id;
    void *owner;       /* lang.c's */
    bool shared;       /* parts.c's: from a folder lib/ */
    const kg_origin *origin; /* of a joined one: of each of its `lines` */
    size_t lines;
} kg_source;

/* NULL: reported (not there, not a regular file, too large, a 0 byte or bytecode in it). */
kg_source *kg_source_read(kg_ctx *, const char *path, const char *shown);
const kg_tokens *kg_source_tokens(kg_ctx *, const kg_source *);
/* For kg_sandbox_load of a text whose lines are those of several files, `first` with what it
 * includes: messages about a line name the line that it comes from. */
kg_source *kg_source_join(kg_ctx *, const kg_source *first, const kg_origin *, size_t lines);

lua_State *kg_sandbox_open(kg_ctx *); /* NULL: reported */
void kg_sandbox_close(lua_State *);

/* Pushes a new table of globals: reads fall through to the shared library, unknown names raise an
 * error that suggests a known one, new names may be assigned, library names may not.  Names set raw
 * in it count as known. */
void kg_sandbox_env(lua_State *);

/* Compiles text (NULL: the source's own; else a line-preserving translation of it) with the table
 * on top of the stack as its globals, and replaces the table by the function.  false: reported,
 * table popped. */
bool kg_sandbox_load(kg_ctx *, lua_State *, const kg_source *, const char *text, size_t len);

/* lua_pcall with a fresh budget.  false: reported at the line of the error, or at fallback where it
 * has none, each message behind `prefix` ("" or `gemm "x": `).  Nested calls share the outermost
 * budget. */
bool kg_sandbox_call(kg_ctx *, lua_State *, int nargs, int nresults, kg_pos fallback);
bool kg_sandbox_call_as(kg_ctx *, lua_State *, int nargs, int nresults, kg_pos fallback,
                        const char *prefix);

int64_t kg_sandbox_work(lua_State *); /* that the last call from outside took, in instructions */

/* What a function of Lua's library, %s, is told that gets a traced value. */
#define KG_OF_LIBRARY \
    "'%s' of Lua's library takes numbers; for traced values use the language's own functions"

/* Raises an error at the Lua line that is running; token: text on that line to point at. */
int kg_raise(lua_State *, const char *token, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int kg_raise_at(lua_State *, kg_pos, const char *format, ...) __attribute__((format(printf, 3, 4)));
kg_ctx *kg_sandbox_ctx(lua_State *);

/* The line that the running Lua code is at (column 0) and its source (of a joined text, the file);
 * NULL where there is none. */
const kg_source *kg_sandbox_running(lua_State *, kg_pos *);
const kg_source *kg_sandbox_source(lua_State *, const char *chunkname); /* of lua_Debug.source */

/* What follows a message about an unknown global, "" for nothing. */
typedef const char *(*kg_hint_fn)(lua_State *, const char *name);
void kg_sandbox_on_unknown(lua_State *, kg_hint_fn);
const char *kg_sandbox_hint(lua_State *, const char *name);

/* Called with every Lua function that starts while set (NULL: none); may raise. */
typedef void (*kg_entry_fn)(lua_State *, lua_Debug *, void *);
void kg_sandbox_on_entry(lua_State *, kg_entry_fn, void *);
#endif
