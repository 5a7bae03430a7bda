// SPDX-License-Identifier: MIT
// What the files of a family's folder share stands in its folder lib/, what several families share
// in the one beside their folders: parts of templates (lib/NAME.tmpl, which tmpl.c puts where
// `%% include "NAME"` stands) and Lua (lib/NAME.lua, which `require "NAME"` runs, once for all
// schedules and once for each rendering).
#include "back.h"
#include <lauxlib.h>
#include <string.h>
#include <unistd.h>

typedef enum state { NOT_RUN, RUNNING, DONE, FAILED } state;

/* A required file, as seen by schedules and by renderings: [rendering]. */
typedef struct module {
    const char *path;
    const kg_source *source;
    struct {
        state state;
        int function, result; /* references; 0: none yet */
        size_t rendering;     /* that state and result are of */
    } of[2];
    struct module *next;
} module;

typedef struct parts {
    const kg_source **part;
    size_t n, cap;
    module *module;
    bool rendering;
    size_t renderings;
} parts;

static parts *of(kg_ctx *cx)
{
    kg_back *b = kg_back_of(cx);
    if (!b->parts) b->parts = kg_alloc(cx->arena, sizeof(parts));
    return b->parts;
}

const char *kg_beside(kg_ctx *cx, const kg_source *s, const char *name)
{
    const char *slash = strrchr(s->path, '/');
    return kg_printf(cx->arena, "%.*s%s", slash ? (int)(slash - s->path) + 1 : 0, s->path, name);
}

/* The path in lib/ that `from` means, of a file there or, where there is none, in the lib/ of all
 * families; where that has none either, the first.  NULL: not a name that a file can have there. */
static const char *shared_path(kg_ctx *cx, const kg_source *from, const char *name, size_t len,
                               const char *ext)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    if (!len || len >= KILN_NAME_MAX || strspn(name, letters) < len) return NULL;
    const char *file =
        kg_printf(cx->arena, "%s%.*s%s", from->shared ? "" : "lib/", (int)len, name, ext);
    const char *own = kg_beside(cx, from, file);
    if (access(own, F_OK) == 0) return own;
    const char *all = kg_printf(cx->arena, "%s/lib/%.*s%s", cx->templates, (int)len, name, ext);
    return access(all, F_OK) == 0 ? all : own;
}

static kg_source *read_shared(kg_ctx *cx, const char *path)
{
    kg_source *s = kg_source_read(cx, path, path);
    if (s) s->shared = true;
    return s;
}

/* ---- parts of templates ---- */
const kg_source *kg_part_read(kg_ctx *cx, const kg_source *from, const char *name, size_t len,
                              kg_pos pos)
{
    parts *all = of(cx);
    const char *path = shared_path(cx, from, name, len, ".tmpl");
    if (!path) {
        kg_error(cx, pos,
                 "include %s: only a file of the folder lib/ here, by its name without '.tmpl'",
                 kg_quote(cx, name, len));
        return NULL;
    }
    for (size_t i = 0; i < all->n; i++)
        if (strcmp(all->part[i]->path, path) == 0) return all->part[i];
    if (access(path, F_OK) != 0) {
        kg_error(cx, pos, "include '%.*s': no file '%s'", (int)len, name, path);
        return NULL;
    }
    const kg_source *s = read_shared(cx, path);
    if (!s) return NULL;
    all->part = kg_grow(cx->arena, all->part, all->n, &all->cap, sizeof *all->part);
    return all->part[all->n++] = s;
}

/* ---- require ---- */
void kg_require_anew(kg_ctx *cx, bool rendering)
{
    parts *all = of(cx);
    all->rendering = rendering;
    all->renderings += rendering;
}

static module *find_module(kg_ctx *cx, const char *path)
{
    module *m = of(cx)->module;
    while (m && strcmp(m->path, path) != 0) m = m->next;
    if (m) return m;
    const kg_source *s = read_shared(cx, path);
    if (!s) return NULL;
    m = kg_alloc(cx->arena, sizeof *m);
    *m = (module){.path = path, .source = s, .next = of(cx)->module};
    return of(cx)->module = m;
}

/* Runs it with globals of its own, over those that schedules have. */
static bool run(kg_ctx *cx, module *m, int which)
{
    lua_State *T = cx->T;
    lua_newtable(T);
    lua_rawgeti(T, LUA_REGISTRYINDEX, kg_back_of(cx)->meta);
    lua_setmetatable(T, -2);
    if (!m->of[which].function) {
        if (!kg_sandbox_load(cx, T, m->source, NULL, 0)) return false;
        m->of[which].function = (lua_pushvalue(T, -1), luaL_ref(T, LUA_REGISTRYINDEX));
    } else {
        lua_rawgeti(T, LUA_REGISTRYINDEX, m->of[which].function);
        lua_insert(T, -2);
        if (!lua_setupvalue(T, -2, 1)) lua_pop(T, 1);
    }
    if (!kg_sandbox_call(cx, T, 0, 1, (kg_pos){m->source->file, 1, 0})) return false;
    if (!m->of[which].result) {
        m->of[which].result = luaL_ref(T, LUA_REGISTRYINDEX);
        if (m->of[which].result == LUA_REFNIL) m->of[which].result = 0;
    } else {
        lua_rawseti(T, LUA_REGISTRYINDEX, m->of[which].result);
    }
    return true;
}

static int require_file(lua_State *T)
{
    kg_ctx *cx = kg_sandbox_ctx(T);
    parts *all = of(cx);
    kg_pos at;
    size_t len;
    const kg_source *from = kg_sandbox_running(T, &at);
    const char *name = lua_type(T, 1) == LUA_TSTRING ? lua_tolstring(T, 1, &len) : NULL;
    if (!name || !from)
        return kg_raise(T, "require", "require needs a name, got a %s", luaL_typename(T, 1));
    const char *path = shared_path(cx, from, name, len, ".lua");
    if (!path)
        return kg_raise(
            T, name, "require %s: only a file of the folder lib/ here, by its name without '.lua'",
            kg_quote(cx, name, len));
    if (access(path, F_OK) != 0) return kg_raise(T, name, "require '%s': no file '%s'", name, path);
    module *m = find_module(cx, path);
    if (!m) return kg_raise(T, name, "require '%s' failed", name);
    int which = all->rendering;
    if (which && m->of[1].rendering != all->renderings) {
        m->of[1].state = NOT_RUN;
        m->of[1].rendering = all->renderings;
    }
    if (m->of[which].state == RUNNING)
        return kg_raise(T, name, "require '%s': that file is running, and needs this one", name);
    if (m->of[which].state == NOT_RUN) {
        m->of[which].state = RUNNING;
        m->of[which].state = run(cx, m, which) ? DONE : FAILED;
    }
    if (m->of[which].state == FAILED)
        return kg_raise(T, name, "require '%s': that file is wrong", name);
    if (m->of[which].result)
        lua_rawgeti(T, LUA_REGISTRYINDEX, m->of[which].result);
    else
        lua_pushnil(T);
    return 1;
}

void kg_require_open(lua_State *T)
{
    lua_pushcfunction(T, require_file);
    lua_setfield(T, -2, "require");
}
