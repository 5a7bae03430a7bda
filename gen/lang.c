// SPDX-License-Identifier: MIT
// The description language: finds instance files, runs each in the sandbox, and gives them their
// globals: one function per family (gemm, rowwise), kinds of tensors, code, one sweep constructor
// per schedule, require.  spec.c checks what they describe.
#include "spec.h"
#include "library.h"
#include <errno.h>
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { WHERE_WORK_MAX = 200 * 1000 * 1000 }; /* instructions, over all ops of a run */

const char KG_MADE[] = "described value";
static const char WHERE[] = "tunables";
static int unknown_tunable(lua_State *);

typedef struct file {
    kg_source *source;
    const char *path, *shown;
    const char *dir, *shown_dir; /* for require; end in '/' or are "" */
    dev_t dev;
    ino_t ino;
    enum { NOT_RUN, RUNNING, DONE, FAILED } state;
    int result; /* reference to what it returned */
    bool required, returns;
    size_t ops;          /* that it described, right or wrong */
    const char *pending; /* gemm "x" without its table so far */
    const kg_family *pending_family;
    kg_pos pending_pos;
    struct file *next;
} file;

typedef struct lang {
    file *first, **last;
    kg_op **op;
    size_t nops, cap;
    int64_t where_work; /* of all calls so far */
    int places;         /* reference to a table: name -> position in op + 1 */
} lang;

static lang *of(kg_ctx *cx)
{
    return cx->lang;
}

/* ---- names of files ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* As given, so that messages name what an editor opens.  What is stored must not depend on the
 * machine: see kg_shown. */
static const char *shown_path(const char *path)
{
    while (strncmp(path, "./", 2) == 0) path += 2 + strspn(path + 2, "/");
    return path;
}

static const char *folder_of(kg_ctx *cx, const char *path)
{
    const char *slash = strrchr(path, '/');
    return kg_strndup(cx->arena, path, slash ? (size_t)(slash - path) + 1 : 0);
}

/* The file at a path, known or new; NULL: reported. */
static file *add_file(kg_ctx *cx, const char *path, const char *shown)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        kg_error(cx, (kg_pos){shown, 0, 0}, "cannot read it: %s", strerror(errno));
        cx->io_failed = true;
        return NULL;
    }
    for (file *f = of(cx)->first; f; f = f->next)
        if (f->dev == st.st_dev && f->ino == st.st_ino) return f;
    file *f = kg_alloc(cx->arena, sizeof *f);
    f->path = kg_strndup(cx->arena, path, strlen(path));
    f->shown = kg_strndup(cx->arena, shown, strlen(shown));
    f->dir = folder_of(cx, path);
    f->shown_dir = folder_of(cx, shown);
    f->dev = st.st_dev;
    f->ino = st.st_ino;
    f->result = LUA_NOREF;
    *of(cx)->last = f;
    of(cx)->last = &f->next;
    return f;
}

static void add_path(kg_ctx *cx, const char *path)
{
    struct stat st;
    kg_names_list list;
    size_t len = strlen(path);
    while (len > 1 && path[len - 1] == '/') len--;
    path = kg_strndup(cx->arena, path, len);
    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) {
        add_file(cx, path, shown_path(path));
        return;
    }
    if (!kg_list_lua(cx, path, &list)) {
        kg_error(cx, (kg_pos){shown_path(path), 0, 0}, "cannot read this folder: %s",
                 strerror(errno));
        cx->io_failed = true;
    } else if (!list.n) {
        kg_error(cx, (kg_pos){shown_path(path), 0, 0}, "no instance files (*.lua) in this folder");
    }
    for (size_t i = 0; i < list.n; i++) {
        const char *full = kg_printf(cx->arena, "%s/%s.lua", path, list.v[i]);
        add_file(cx, full, shown_path(full));
    }
}

/* ---- running a file ---- */

/* The file whose text is running; NULL: none. */
static file *running_file(lua_State *L, const char *word, kg_pos *at)
{
    const kg_source *s = kg_sandbox_running(L, at);
    if (s) at->col = kg_column(kg_source_tokens(kg_sandbox_ctx(L), s), at->line, word);
    return s ? s->owner : NULL;
}

static void check_pending(kg_ctx *cx, file *f)
{
    if (f->pending)
        kg_error(cx, f->pending_pos, "%s \"%s\" has no description: write %s \"%s\" { ... }",
                 f->pending_family->name, f->pending, f->pending_family->name, f->pending);
    f->pending = NULL;
}

static void run_file(kg_ctx *cx, file *f)
{
    lua_State *L = cx->L;
    int top = lua_gettop(L);
    f->state = RUNNING;
    f->source = kg_source_read(cx, f->path, f->shown);
    bool ok = f->source != NULL;
    cx->io_failed |= !ok;
    if (ok) {
        f->source->owner = f;
        kg_sandbox_env(L);
        ok = kg_sandbox_load(cx, L, f->source, NULL, 0) &&
             kg_sandbox_call(cx, L, 0, 1, (kg_pos){f->source->file, 1, 1});
    }
    if (ok) {
        f->returns = !lua_isnil(L, -1);
        f->result = luaL_ref(L, LUA_REGISTRYINDEX);
        check_pending(cx, f);
    }
    lua_settop(L, top);
    f->state = ok ? DONE : FAILED;
}

static int protected_run(lua_State *L)
{
    file *f = lua_touserdata(L, 1);
    lua_settop(L, 0);
    run_file(kg_sandbox_ctx(L), f);
    return 0;
}

/* ---- FAMILY "name" { ... } ---- */

static bool seen_before(kg_ctx *cx, lua_State *L, const kg_op *op)
{
    lang *l = of(cx);
    lua_rawgeti(L, LUA_REGISTRYINDEX, l->places);
    lua_pushstring(L, op->name);
    lua_rawget(L, -2);
    size_t at = (size_t)lua_tointeger(L, -1);
    lua_pop(L, 2);
    if (!at) return false;
    const kg_op *first = l->op[at - 1];
    kg_error(cx, op->pos, "%s \"%s\" is described twice", op->family->name, op->name);
    kg_note(cx, first->pos, "%s \"%s\" is first described here", first->family->name, op->name);
    return true;
}

static void keep_op(kg_ctx *cx, lua_State *L, kg_op *op)
{
    lang *l = of(cx);
    l->op = kg_grow(cx->arena, l->op, l->nops, &l->cap, sizeof *l->op);
    l->op[l->nops++] = op;
    lua_rawgeti(L, LUA_REGISTRYINDEX, l->places);
    lua_pushinteger(L, (lua_Integer)l->nops);
    lua_setfield(L, -2, op->name);
    lua_pop(L, 1);
}

static int describe(lua_State *L) /* upvalues: name, file*, line, column, family */
{
    kg_ctx *cx = kg_sandbox_ctx(L);
    file *f = lua_touserdata(L, lua_upvalueindex(2));
    const char *name = lua_tostring(L, lua_upvalueindex(1));
    kg_op *op = kg_alloc(cx->arena, sizeof *op);
    op->family = lua_touserdata(L, lua_upvalueindex(5));
    op->name = kg_strndup(cx->arena, name, strlen(name));
    op->pos = (kg_pos){f->source->file, (int)lua_tointeger(L, lua_upvalueindex(3)),
                       (int)lua_tointeger(L, lua_upvalueindex(4))};
    op->where_ref = LUA_NOREF;
    f->pending = NULL;
    if (lua_gettop(L) != 1 || !lua_istable(L, 1))
        return kg_raise(L, NULL, "%s \"%s\": expected a table { ... }, got %s", op->family->name,
                        name, kg_kind_of(L, 1));
    if (seen_before(cx, L, op)) return 0;
    kg_spec sp = {.cx = cx, .L = L, .table = 1, .op = op, .source = f->source};
    sp.prefix = kg_printf(cx->arena, "%s \"%s\": ", op->family->name, op->name);
    sp.place = kg_place_of_call(cx->arena, kg_source_tokens(cx, f->source), op->family->name,
                                op->pos.line, op->name);
    if (sp.place)
        kg_sandbox_charge(L, sp.place->end - sp.place->tok); /* read again for each op of a loop */
    keep_op(cx, L, op);
    kg_spec_check(&sp);
    return 0;
}

static int ignore(lua_State *L)
{
    (void)L;
    return 0;
}

static int start_op(lua_State *L) /* upvalue: family */
{
    kg_ctx *cx = kg_sandbox_ctx(L);
    size_t len;
    const kg_family *fam = lua_touserdata(L, lua_upvalueindex(1));
    const char *word = fam->name;
    const char *why, *name = lua_type(L, 1) == LUA_TSTRING ? lua_tolstring(L, 1, &len) : NULL;
    if (name && lua_gettop(L) > 1)
        return kg_raise(L, word,
                        "%s takes the name alone and then the table, without brackets "
                        "and comma: %s \"name\" { ... }",
                        word, word);
    if (!name)
        return kg_raise(L, word, "%s needs a name and a table: %s \"name\" { ... }, got %s", word,
                        word, kg_kind_of(L, 1));
    kg_pos at;
    file *f = running_file(L, word, &at);
    if (!f) return kg_raise(L, word, "%s is called outside of an instance file", word);
    check_pending(cx, f);
    f->ops++;
    if (!kg_name_ok(cx, "op", name, len, &why)) {
        at.col = kg_column(kg_source_tokens(cx, f->source), at.line, name);
        kg_error(cx, at, "%s", why);
        lua_pushcfunction(L, ignore);
        return 1;
    }
    f->pending = kg_strndup(cx->arena, name, len);
    f->pending_family = fam;
    f->pending_pos = at;
    lua_pushvalue(L, 1);
    lua_pushlightuserdata(L, f);
    lua_pushinteger(L, at.line);
    lua_pushinteger(L, at.col);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushcclosure(L, describe, 5);
    return 1;
}

/* ---- full, per_row, ..., code, sweeps ---- */

static kg_made *push_made(lua_State *L, kg_made_kind kind, const char *word)
{
    kg_made *m = lua_newuserdatauv(L, sizeof *m, 1);
    memset(m, 0, sizeof *m);
    m->made = kind;
    running_file(L, word, &m->pos);
    luaL_setmetatable(L, KG_MADE);
    return m;
}

static const struct {
    const char *name;
    kiln_dkind kind;
} input_kinds[] = {
#define X(name, id, text) {#name, id},
    KILN_DKINDS(X)
#undef X
};

/* Which names of types there are depends on the op: spec_types.c looks. */
static void input_type(lua_State *L, int at, kg_made *m)
{
    kg_ctx *cx = kg_sandbox_ctx(L);
    size_t len;
    const char *s = lua_type(L, at) == LUA_TSTRING ? lua_tolstring(L, at, &len) : NULL;
    m->type = kg_to_dtype(L, at);
    if (s)
        m->type_name = kg_strndup(cx->arena, s, len);
    else if (!m->type && !lua_isnoneornil(L, at))
        m->type_got = kg_kind_of(L, at);
}

static kiln_layout input_layout(lua_State *L, const char *kind, int at)
{
    const char *s = lua_type(L, at) == LUA_TSTRING ? lua_tostring(L, at) : "";
    if (lua_isnoneornil(L, at)) return KILN_LAYOUT_NONE;
    if (strcmp(s, "r") == 0) return KILN_ROW;
    if (strcmp(s, "c") == 0) return KILN_COL;
    kg_raise(L, kind, "%s: expected the layout \"r\" or \"c\", got %s", kind, kg_kind_of(L, at));
    return KILN_LAYOUT_NONE;
}

/* per_block(t, 1, n): n. */
static uint16_t block_columns(lua_State *L, const char *name)
{
    int exact = 0;
    if (lua_gettop(L) != 3)
        kg_raise(L, name, "%s takes a type, 1 and the columns of a block: %s(t, 1, 128)", name,
                 name);
    if (!lua_isnumber(L, 2) || lua_tonumber(L, 2) != 1)
        kg_raise(L, name, "%s: a block has 1 row, got %s", name, kg_kind_of(L, 2));
    lua_Integer n = lua_type(L, 3) == LUA_TNUMBER ? lua_tointegerx(L, 3, &exact) : 0;
    if (!exact || n < KILN_BLOCK_LEAST || n > KILN_BLOCK_MOST || (n & (n - 1)) != 0)
        kg_raise(L, name, "%s: the columns of a block must be a power of two from %d to %d, got %s",
                 name, KILN_BLOCK_LEAST, KILN_BLOCK_MOST, kg_kind_of(L, 3));
    return (uint16_t)n;
}

/* A length of the blocks of per_block(operand, ...). */
static uint16_t block_length(lua_State *L, const char *name, const char *what, int at)
{
    int exact = 0;
    lua_Integer n = lua_type(L, at) == LUA_TNUMBER ? lua_tointegerx(L, at, &exact) : 0;
    if (!exact || n < 1 || n > UINT16_MAX)
        kg_raise(L, name, "%s: %s of a block must be a whole number from 1 to %d, got %s", name,
                 what, UINT16_MAX, kg_kind_of(L, at));
    return (uint16_t)n;
}

/* per_block(operand, t, along, k [, layout]), or (t, 1, n) of what has no operands: there a number
 * follows the type. */
static void block_of(lua_State *L, const char *kind, kg_made *m)
{
    size_t len;
    int n = lua_gettop(L);
    if (n < 4 && (n < 2 || lua_type(L, 2) == LUA_TNUMBER)) {
        m->block = block_columns(L, kind);
        input_type(L, 1, m);
        return;
    }
    if (n < 4 || n > 5)
        kg_raise(L, kind,
                 "%s takes an operand, a type and the two lengths of a block: "
                 "%s(\"a\", f32, 1, 128)",
                 kind, kind);
    const char *s = lua_type(L, 1) == LUA_TSTRING ? lua_tolstring(L, 1, &len) : NULL;
    if (!s)
        kg_raise(L, kind, "%s: expected the name of an operand first, got %s", kind,
                 kg_kind_of(L, 1));
    m->operand = kg_strndup(kg_sandbox_ctx(L)->arena, s, len);
    input_type(L, 2, m);
    m->along = block_length(L, kind, "the first length", 3);
    m->block = block_length(L, kind, "the second length", 4);
    m->layout = input_layout(L, kind, 5);
}

static int make_input(lua_State *L)
{
    size_t i = (size_t)lua_tointeger(L, lua_upvalueindex(1));
    const char *kind = input_kinds[i].name;
    bool full = input_kinds[i].kind == KILN_D_FULL, block = input_kinds[i].kind == KILN_D_PER_BLOCK;
    if (!block && lua_gettop(L) > (full ? 2 : 1))
        return kg_raise(L, kind, full ? "%s takes a type and a layout" : "%s takes a type alone",
                        kind);
    kg_made made = {.made = KG_MADE_INPUT, .kind = input_kinds[i].kind};
    if (full) made.layout = input_layout(L, kind, 2);
    if (block)
        block_of(L, kind, &made);
    else
        input_type(L, 1, &made);
    kg_made *m = push_made(L, KG_MADE_INPUT, kind);
    made.pos = m->pos;
    *m = made;
    return 1;
}

static int make_code(lua_State *L)
{
    if (lua_gettop(L) != 1 || lua_type(L, 1) != LUA_TSTRING)
        return kg_raise(L, "code", "code needs a text: code [[...]], got %s", kg_kind_of(L, 1));
    push_made(L, KG_MADE_CODE, NULL);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1);
    return 1;
}

static int make_sweep(lua_State *L)
{
    const char *schedule = lua_touserdata(L, lua_upvalueindex(1));
    if (lua_gettop(L) != 1 || !lua_istable(L, 1))
        return kg_raise(L, schedule, "%s needs a table { tunable = values }, got %s", schedule,
                        kg_kind_of(L, 1));
    push_made(L, KG_MADE_SWEEP, NULL)->schedule = schedule;
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1);
    return 1;
}

/* ---- require "name": another file of the same folder ---- */

static int require_file(lua_State *L)
{
    kg_ctx *cx = kg_sandbox_ctx(L);
    kg_pos at;
    file *from = running_file(L, NULL, &at);
    size_t len;
    const char *name = lua_type(L, 1) == LUA_TSTRING ? lua_tolstring(L, 1, &len) : NULL;
    if (!name || !from)
        return kg_raise(L, "require", "require needs a name, got %s", kg_kind_of(L, 1));
    bool plain = len > 0 && len < KILN_NAME_MAX;
    for (size_t i = 0; i < len; i++)
        plain &= (name[i] >= 'a' && name[i] <= 'z') || (name[i] >= 'A' && name[i] <= 'Z') ||
                 name[i] == '_' || (name[i] >= '0' && name[i] <= '9');
    if (!plain)
        return kg_raise(L, name,
                        "require %s: only a file of the same folder, by its name without '.lua'",
                        kg_quote(cx, name, len));
    const char *path = kg_printf(cx->arena, "%s%s.lua", from->dir, name);
    struct stat st;
    if (stat(path, &st) != 0)
        return kg_raise(L, name, "require '%s': no file '%s%s.lua'", name, from->shown_dir, name);
    file *f = add_file(cx, path, kg_printf(cx->arena, "%s%s.lua", from->shown_dir, name));
    if (!f) return kg_raise(L, name, "require '%s' failed", name);
    f->required = true;
    if (f->state == RUNNING)
        return kg_raise(L, name, "require '%s': the two files need each other", name);
    if (f->state == NOT_RUN) run_file(cx, f);
    if (f->state == FAILED) return kg_raise(L, name, "require '%s': that file is wrong", name);
    lua_rawgeti(L, LUA_REGISTRYINDEX, f->result);
    return 1;
}

/* ---- opening, loading ---- */

static void set_indexed(lua_State *L, const char *name, lua_CFunction f, lua_Integer n)
{
    lua_pushinteger(L, n);
    lua_pushcclosure(L, f, 1);
    lua_setfield(L, -2, name);
}

/* A name of the language for what a folder or file of templates/ is called; what has the name
 * already is refused. */
static bool is_free(lua_State *L, kg_ctx *cx, const char *kind, const char *name)
{
    lua_pushstring(L, name);
    bool taken = lua_rawget(L, -2) != LUA_TNIL;
    lua_pop(L, 1);
    if (taken)
        kg_error(cx, (kg_pos){cx->templates, 0, 0},
                 "%s '%s' is called like something of the language", kind, name);
    return !taken;
}

static void open_families(lua_State *L, kg_ctx *cx)
{
    for (size_t i = 0; i < cx->nfamilies; i++) {
        if (!is_free(L, cx, "family", cx->family[i]->name)) continue;
        lua_pushlightuserdata(L, cx->family[i]);
        lua_pushcclosure(L, start_op, 1);
        lua_setfield(L, -2, cx->family[i]->name);
    }
}

/* Two families may have schedules of one name: the op's family says which is meant. */
static void open_schedules(lua_State *L, kg_ctx *cx)
{
    lua_newtable(L); /* those that are there */
    lua_insert(L, -2);
    for (size_t i = 0; i < cx->nfamilies; i++) {
        const kg_names_list *list = kg_schedule_names(cx, cx->family[i]);
        for (size_t k = 0; k < list->n; k++) {
            bool there = lua_getfield(L, -2, list->v[k]) != LUA_TNIL;
            lua_pop(L, 1);
            if (there || !is_free(L, cx, "schedule", list->v[k])) continue;
            lua_pushlightuserdata(L, (void *)(uintptr_t)list->v[k]);
            lua_pushcclosure(L, make_sweep, 1);
            lua_setfield(L, -2, list->v[k]);
            lua_pushboolean(L, true);
            lua_setfield(L, -3, list->v[k]);
        }
    }
    lua_remove(L, -2);
}

/* paged(16): the text of it. */
static int count_word(lua_State *L)
{
    const char *word = lua_tostring(L, lua_upvalueindex(1));
    const kg_option *o = lua_touserdata(L, lua_upvalueindex(2));
    int exact = 0;
    lua_Integer n = lua_type(L, 1) == LUA_TNUMBER ? lua_tointegerx(L, 1, &exact) : 0;
    if (lua_gettop(L) != 1)
        return kg_raise(L, word, "%s takes a number: %s(%s)", word, word, o->number);
    if (!exact || n < 1 || n > KG_NUMBER_MOST)
        return kg_raise(L, word, "%s: %s must be a whole number from 1 to %d, got %s", word,
                        o->number, KG_NUMBER_MOST, kg_kind_of(L, 1));
    lua_pushfstring(L, "%s(%I)", word, n);
    return 1;
}

/* The words of options: texts, so that instance files can do without quotes. */
static void open_words(lua_State *L, kg_ctx *cx)
{
    for (size_t i = 0; i < cx->nfamilies; i++)
        for (size_t k = 0; k < cx->family[i]->noptions; k++)
            for (size_t w = 0; w < cx->family[i]->option[k].nwords; w++) {
                if (cx->family[i]->option[k].flag) continue;
                const char *word = cx->family[i]->option[k].word[w];
                if (!is_free(L, cx, "word", word)) continue;
                lua_pushstring(L, word);
                if (cx->family[i]->option[k].number) {
                    lua_pushlightuserdata(L, &cx->family[i]->option[k]);
                    lua_pushcclosure(L, count_word, 2);
                }
                lua_setfield(L, -2, word);
            }
}

static int open_globals(lua_State *L)
{
    kg_ctx *cx = kg_sandbox_ctx(L);
    kg_sandbox_on_unknown(L, kg_names_hint);
    luaL_newmetatable(L, KG_MADE);
    luaL_newmetatable(L, WHERE);
    lua_pushcfunction(L, unknown_tunable);
    lua_setfield(L, -2, "__index");
    kg_library_push(L);
    kg_expr_open(cx, L);
    set_indexed(L, "code", make_code, 0);
    set_indexed(L, "require", require_file, 0);
    for (size_t i = 0; i < sizeof input_kinds / sizeof *input_kinds; i++)
        set_indexed(L, input_kinds[i].name, make_input, (lua_Integer)i);
    open_families(L, cx);
    open_schedules(L, cx);
    open_words(L, cx);
    lua_newtable(L);
    of(cx)->places = luaL_ref(L, LUA_REGISTRYINDEX);
    return 0;
}

static int by_op(const void *a, const void *b)
{
    return strcmp((*(kg_op *const *)a)->name, (*(kg_op *const *)b)->name);
}

bool kg_lang_load(kg_ctx *cx, const char *const *paths, size_t n)
{
    size_t before = cx->errors;
    lang *l = kg_alloc(cx->arena, sizeof *l);
    l->last = &l->first;
    cx->lang = l;
    cx->L = kg_sandbox_open(cx);
    if (!cx->L) return false;
    lua_pushcfunction(cx->L, open_globals);
    if (!kg_sandbox_call(cx, cx->L, 0, 0, (kg_pos){0})) return false;
    for (size_t i = 0; i < n; i++) add_path(cx, paths[i]);
    for (file *f = l->first; f; f = f->next) {
        if (f->state != NOT_RUN) continue;
        lua_pushcfunction(cx->L, protected_run);
        lua_pushlightuserdata(cx->L, f);
        kg_sandbox_call(cx, cx->L, 1, 0, (kg_pos){f->shown, 0, 0});
    }
    kg_buf ways = {0};
    for (size_t i = 0; i < cx->nfamilies; i++)
        kg_putf(&ways, "%s%s \"name\" { ... }", i ? " or " : "", cx->family[i]->name);
    for (file *f = l->first; f; f = f->next)
        if (f->state == DONE && !f->ops && !f->returns)
            kg_error(cx, (kg_pos){f->source->file, 0, 0}, "describes no op: write %s", ways.p);
    kg_buf_free(&ways);
    if (l->nops) qsort(l->op, l->nops, sizeof *l->op, by_op);
    cx->op = l->op;
    cx->nops = l->nops;
    return cx->errors == before;
}

/* ---- where ---- */

typedef struct where_call {
    const kg_op *op;
    const char *schedule;
    const char *const *name;
    const int32_t *value;
    size_t n;
    bool keep;
} where_call;

static int unknown_tunable(lua_State *L)
{
    kg_ctx *cx = kg_sandbox_ctx(L);
    size_t len, n = 0;
    const char *known[KILN_MAX_SLOTS + 1];
    const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tolstring(L, 2, &len) : NULL;
    if (!key) return kg_raise(L, NULL, "where: indexes the tunables with %s", kg_kind_of(L, 2));
    for (lua_pushnil(L); lua_next(L, 1) && n <= KILN_MAX_SLOTS; lua_pop(L, 1))
        known[n++] = lua_tostring(L, -2);
    qsort(known, n, sizeof *known, by_name);
    const char *near = kg_closest(key, known, n), *quoted = kg_quote(cx, key, len);
    lua_getfield(L, 1, "schedule");
    const char *schedule = lua_tostring(L, -1);
    if (near)
        return kg_raise(L, key, "where: %s has no tunable %s (did you mean '%s'?)", schedule,
                        quoted, near);
    return kg_raise(L, key, "where: %s has no tunable %s", schedule, quoted);
}

static int call_where(lua_State *L) /* where_call* */
{
    where_call *c = lua_touserdata(L, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, c->op->where_ref);
    lua_createtable(L, 0, (int)c->n + 1);
    for (size_t i = 0; i < c->n; i++) {
        lua_pushinteger(L, c->value[i]);
        lua_setfield(L, -2, c->name[i]);
    }
    lua_pushstring(L, c->schedule);
    lua_setfield(L, -2, "schedule");
    luaL_setmetatable(L, WHERE);
    lua_call(L, 1, 1);
    if (!lua_isboolean(L, -1))
        return kg_raise_at(L, c->op->where_pos, "where: expected true or false, got %s",
                           kg_kind_of(L, -1));
    c->keep = lua_toboolean(L, -1);
    return 0;
}

bool kg_lang_where(kg_ctx *cx, const kg_op *op, const char *schedule, const char *const *name,
                   const int32_t *value, size_t n, bool *keep)
{
    where_call c = {op, schedule, name, value, n, true};
    *keep = true;
    if (op->where_ref == LUA_NOREF) return true;
    lua_pushcfunction(cx->L, call_where);
    lua_pushlightuserdata(cx->L, &c);
    char prefix[2 * KILN_NAME_MAX + 8];
    snprintf(prefix, sizeof prefix, "%s \"%s\": ", op->family->name, op->name);
    bool ok = kg_sandbox_call_as(cx, cx->L, 1, 0, op->where_pos, prefix);
    *keep = c.keep;
    of(cx)->where_work += kg_sandbox_work(cx->L);
    if (ok && of(cx)->where_work > WHERE_WORK_MAX) {
        kg_error(cx, op->where_pos, "%swhere runs too long over all combinations", prefix);
        return false;
    }
    return ok;
}

void kg_lang_close(kg_ctx *cx)
{
    kg_sandbox_close(cx->L);
    cx->L = NULL;
}

void kg_lang_describe(const kg_ctx *cx, FILE *to)
{
    static const char *const own[] = {"code", "require"};
    for (size_t i = 0; i < cx->nfamilies; i++) kg_spec_describe(cx->family[i], to);
    kg_spec_tiles_describe(to);
    kg_expr_describe(to);
    for (size_t i = 0; i < sizeof input_kinds / sizeof *input_kinds; i++)
        fprintf(to, "kind %s\n", input_kinds[i].name);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) fprintf(to, "global %s\n", own[i]);
    kg_library_describe(to);
}
