// SPDX-License-Identifier: MIT
// Sandboxed Lua states: what they may use (memory, instructions, time, depth) and how their errors
// become messages. The limits cannot be caught, since scripts have no pcall.  The library they see
// is library.c's.
#include "sandbox.h"
#include "library.h"
#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <lualib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    MEMORY_MAX = 128 << 20,      /* bytes in use */
    BLOCK_MAX = 4 << 20,         /* bytes at once: bounds what one instruction can do */
    WORK_MAX = 20 * 1000 * 1000, /* instructions of one call from outside */
    BYTES_A_UNIT = 64,           /* allocating this much counts as an instruction */
    LARGE = 64 << 10,            /* allocating this much asks for the time */
    STEP = 1000,                 /* instructions between looks at the limits */
    MILLISECONDS_MAX = 1000,     /* processor time of one call: against slow library calls */
    DEPTH_MAX = 2000,            /* calls within calls */
    FILE_MAX = 1 << 20
};

typedef struct sandbox {
    kg_ctx *cx;
    lua_State *L;
    size_t used;
    int64_t work;     /* left */
    int64_t taken;    /* by the last call */
    int64_t deadline; /* processor time in ms */
    int nesting;      /* of kg_sandbox_call */
    bool reported;    /* the outermost call's limit is spent, and that has been said */
    bool spent;
    kg_pos memory_at; /* where memory was refused */
    kg_pos fault;     /* where kg_raise was; file NULL: not set */
    char token[80];
    kg_entry_fn entry;
    void *entry_arg;
    kg_hint_fn hint;
} sandbox;

typedef struct sources {
    kg_source **v;
    size_t n, cap;
} sources;

static sandbox *of(lua_State *L)
{
    void *p;
    lua_getallocf(L, &p);
    return p;
}

kg_ctx *kg_sandbox_ctx(lua_State *L)
{
    return of(L)->cx;
}

/* ---- sources: a chunk is called "=#N", so that messages stay short whatever the path ---- */

static sources *all_sources(kg_ctx *cx)
{
    if (!cx->sandbox) cx->sandbox = kg_alloc(cx->arena, sizeof(sources));
    return cx->sandbox;
}

static const char *read_all(FILE *f, kg_buf *b)
{
    struct stat st;
    if (fstat(fileno(f), &st) != 0) return strerror(errno);
    if (!S_ISREG(st.st_mode)) return "not a regular file";
    if (st.st_size > FILE_MAX) return "larger than 1 MiB";
    char part[8192];
    size_t n;
    while ((n = fread(part, 1, sizeof part, f)) > 0 && b->len <= FILE_MAX) kg_put(b, part, n);
    if (ferror(f)) return strerror(errno);
    if (b->len > FILE_MAX) return "larger than 1 MiB";
    if (b->len && b->p[0] == LUA_SIGNATURE[0]) return "compiled Lua, not text";
    if (b->len && memchr(b->p, 0, b->len)) return "not text: it holds a 0 byte";
    return NULL;
}

/* File names end up in messages, generated comments and #line: what could end one of those becomes
 * '?'. */
static const char *plain_name(kg_ctx *cx, const char *shown)
{
    char *name = kg_strndup(cx->arena, shown, strlen(shown));
    for (char *c = name; *c; c++)
        if ((unsigned char)*c < ' ' || (unsigned char)*c > '~' || strchr("\"\\*?", *c)) *c = '?';
    return name;
}

static kg_source *add_source(kg_ctx *cx, const char *path, const char *shown, const char *text,
                             size_t len)
{
    sources *all = all_sources(cx);
    all->v = kg_grow(cx->arena, all->v, all->n, &all->cap, sizeof *all->v);
    kg_source *s = kg_alloc(cx->arena, sizeof *s);
    s->path = kg_strndup(cx->arena, path, strlen(path));
    s->file = plain_name(cx, shown);
    s->text = kg_strndup(cx->arena, text, len);
    s->len = len;
    s->id = (int)all->n;
    all->v[all->n++] = s;
    kg_source_add(cx, s->file, s->text, s->len);
    return s;
}

kg_source *kg_source_read(kg_ctx *cx, const char *path, const char *shown)
{
    static const char bom[] = "\xEF\xBB\xBF";
    kg_buf b = {0};
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a named pipe must not block */
    FILE *f = fd >= 0 ? fdopen(fd, "rb") : NULL;
    const char *wrong = f ? read_all(f, &b) : strerror(errno);
    if (f) fclose(f);
    else if (fd >= 0) close(fd);
    if (wrong) {
        kg_error(cx, (kg_pos){plain_name(cx, shown), 0, 0}, "cannot read it: %s", wrong);
        kg_buf_free(&b);
        return NULL;
    }
    size_t skip = b.len >= 3 && memcmp(b.p, bom, 3) == 0 ? 3 : 0;
    kg_source *s = add_source(cx, path, shown, b.p ? b.p + skip : "", b.len - skip);
    kg_buf_free(&b);
    return s;
}

const kg_tokens *kg_source_tokens(kg_ctx *cx, const kg_source *s)
{
    kg_source *own = all_sources(cx)->v[s->id];
    if (!own->tokens) own->tokens = kg_lex(cx->arena, s->text, s->len);
    return own->tokens;
}

kg_source *kg_source_join(kg_ctx *cx, const kg_source *first, const kg_origin *origin, size_t lines)
{
    sources *all = all_sources(cx);
    all->v = kg_grow(cx->arena, all->v, all->n, &all->cap, sizeof *all->v);
    kg_source *s = kg_alloc(cx->arena, sizeof *s);
    *s = *first;
    s->tokens = NULL;
    s->id = (int)all->n;
    s->origin = origin;
    s->lines = lines;
    return all->v[all->n++] = s;
}

/* The file that a line of s comes from, and its line there. */
static kg_pos origin_of(const kg_source **s, int line)
{
    const size_t lines = (*s)->lines;
    if (lines) {
        size_t i = line < 1 ? 0 : (size_t)line > lines ? lines - 1 : (size_t)line - 1;
        const kg_origin *o = &(*s)->origin[i];
        *s = o->source;
        line = o->line;
    }
    return (kg_pos){(*s)->file, line, 0};
}

static kg_source *source_by_id(kg_ctx *cx, long id)
{
    sources *all = all_sources(cx);
    return id >= 0 && (size_t)id < all->n ? all->v[id] : NULL;
}

const kg_source *kg_sandbox_source(lua_State *L, const char *chunkname)
{
    return strncmp(chunkname, "=#", 2) == 0
               ? source_by_id(of(L)->cx, strtol(chunkname + 2, NULL, 10))
               : NULL;
}

/* ---- limits ---- */

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Allocates nothing in Lua, so that the allocator may call it. */
const kg_source *kg_sandbox_running(lua_State *L, kg_pos *at)
{
    lua_Debug ar;
    for (int level = 0; level < 16 && lua_getstack(L, level, &ar); level++) {
        lua_getinfo(L, "Sl", &ar);
        const kg_source *s = ar.currentline > 0 ? kg_sandbox_source(L, ar.source) : NULL;
        *at = s ? origin_of(&s, ar.currentline) : (kg_pos){0};
        if (s) return s;
    }
    *at = (kg_pos){0};
    return NULL;
}

static kg_pos running_line(lua_State *L)
{
    kg_pos at;
    kg_sandbox_running(L, &at);
    return at;
}

static void *allocate(void *ud, void *p, size_t old, size_t size)
{
    sandbox *sb = ud;
    if (!p) old = 0;
    if (size == 0) {
        sb->used -= old;
        free(p);
        return NULL;
    }
    if (size > old) {
        sb->work -= (int64_t)((size - old) / BYTES_A_UNIT);
        if (sb->work <= 0 || (size - old >= LARGE && now_ms() >= sb->deadline)) sb->spent = true;
        bool refused = sb->spent || size > BLOCK_MAX || sb->used + (size - old) > MEMORY_MAX;
        if (refused && sb->L) sb->memory_at = running_line(sb->L);
        if (refused) return NULL;
    }
    void *q = realloc(p, size);
    if (q) sb->used += size - old;
    return q;
}

static const char TOO_LONG[] = "runs too long: stopped after 20 million instructions or 1 second";
_Static_assert(WORK_MAX == 20 * 1000 * 1000 && MILLISECONDS_MAX == 1000, "as the message says");

static void check_limits(lua_State *L)
{
    sandbox *sb = of(L);
    lua_Debug ar;
    if (lua_getstack(L, DEPTH_MAX, &ar))
        kg_raise_at(L, running_line(L), "calls are nested more than %d deep (endless recursion?)",
                    DEPTH_MAX);
    if (sb->work > 0 && now_ms() < sb->deadline) return;
    sb->spent = true;
    kg_raise_at(L, running_line(L), "%s", TOO_LONG);
}

static void hook(lua_State *L, lua_Debug *ar)
{
    sandbox *sb = of(L);
    if (ar->event == LUA_HOOKCOUNT) {
        sb->work -= STEP;
        check_limits(L);
    } else if (sb->entry) {
        sb->entry(L, ar, sb->entry_arg);
    }
}

void kg_sandbox_charge(lua_State *L, size_t units)
{
    sandbox *sb = of(L);
    sb->work -= (int64_t)(units < WORK_MAX ? units : WORK_MAX);
    if (sb->work <= 0) check_limits(L);
}

void kg_sandbox_on_entry(lua_State *L, kg_entry_fn entry, void *arg)
{
    sandbox *sb = of(L);
    sb->entry = entry;
    sb->entry_arg = arg;
    lua_sethook(L, hook, LUA_MASKCOUNT | (entry ? LUA_MASKCALL : 0), STEP);
}

void kg_sandbox_on_unknown(lua_State *L, kg_hint_fn hint)
{
    of(L)->hint = hint;
}

const char *kg_sandbox_hint(lua_State *L, const char *name)
{
    return of(L)->hint ? of(L)->hint(L, name) : "";
}

/* ---- raising ---- */

static int raise(lua_State *L, kg_pos at, const char *token, const char *format, va_list args)
{
    sandbox *sb = of(L);
    char text[1024];
    vsnprintf(text, sizeof text, format, args);
    sb->fault = at;
    snprintf(sb->token, sizeof sb->token, "%s", token ? token : "");
    lua_pushstring(L, text);
    return lua_error(L);
}

int kg_raise(lua_State *L, const char *token, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int r = raise(L, running_line(L), token, format, args);
    va_end(args);
    return r;
}

int kg_raise_at(lua_State *L, kg_pos at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int r = raise(L, at, NULL, format, args);
    va_end(args);
    return r;
}

/* ---- reporting ---- */

/* "#3:12: text" -> the text; the place in *at. */
static const char *split_place(kg_ctx *cx, const char *text, kg_pos *at)
{
    char *end;
    if (text[0] != '#') return text;
    long id = strtol(text + 1, &end, 10);
    const kg_source *s = source_by_id(cx, id);
    if (!s || end == text + 1 || *end != ':') return text;
    long line = strtol(end + 1, &end, 10);
    if (strncmp(end, ": ", 2) != 0) return text;
    *at = origin_of(&s, (int)line);
    return end + 2;
}

/* Lua puts the culprit in quotes: "(local 'x')", "near 'end'". */
static void quoted_word(const char *text, char *word, size_t size)
{
    const char *from = strrchr(text, '\''), *to = from;
    while (from && from > text && from[-1] != '\'') from--;
    size_t n = from && from > text ? (size_t)(to - from) : 0;
    if (n >= size) n = 0;
    memcpy(word, from ? from : "", n);
    word[n] = 0;
}

/* Lua's messages where ours can say more. */
static const char *plainer(kg_ctx *cx, const char *text, const char *word)
{
    if (strstr(text, "C stack overflow")) return "nested too deeply";
    if (strstr(text, "'}' expected"))
        return kg_printf(cx->arena, "%s: is a comma missing before it?", text);
    if (strstr(text, "got traced value")) return kg_printf(cx->arena, KG_OF_LIBRARY, word);
    if (strstr(text, "attempt to call a string value") && *word)
        return kg_printf(cx->arena, "'%s' is a text and no function: write it by itself", word);
    return text;
}

static void report(sandbox *sb, int status, kg_pos fallback, const char *prefix)
{
    kg_ctx *cx = sb->cx;
    kg_pos at = sb->fault;
    const char *text = lua_type(sb->L, -1) == LUA_TSTRING ? lua_tostring(sb->L, -1) : NULL;
    if (status == LUA_ERRMEM) {
        at = sb->memory_at;
        text = sb->spent
                   ? TOO_LONG
                   : kg_printf(cx->arena,
                               "needs too much memory: the limit is %d MiB, and %d MiB at once",
                               MEMORY_MAX >> 20, BLOCK_MAX >> 20);
    } else if (!text) {
        text = kg_printf(cx->arena, "error with a %s instead of a text", luaL_typename(sb->L, -1));
    } else if (!at.file) {
        text = split_place(cx, text, &at);
        quoted_word(text, sb->token, sizeof sb->token);
        text = plainer(cx, text, sb->token);
    }
    if (!at.file) at = fallback;
    if (at.file && at.line > 0 && at.col == 0) {
        sources *all = all_sources(cx);
        for (size_t i = 0; i < all->n; i++)
            if (all->v[i]->file == at.file)
                at.col = kg_column(kg_source_tokens(cx, all->v[i]), at.line,
                                   sb->token[0] ? sb->token : NULL);
    }
    kg_error(cx, at, "%s%s", prefix, text);
}

static void refill(sandbox *sb, int64_t deadline)
{
    sb->work = WORK_MAX;
    sb->deadline = deadline;
    sb->spent = false;
}

bool kg_sandbox_call_as(kg_ctx *cx, lua_State *L, int nargs, int nresults, kg_pos fallback,
                        const char *prefix)
{
    sandbox *sb = of(L);
    if (sb->nesting++ == 0) {
        refill(sb, now_ms() + MILLISECONDS_MAX);
        sb->reported = false;
    }
    (void)cx;
    sb->fault = sb->memory_at = (kg_pos){0};
    sb->token[0] = 0;
    int status = lua_pcall(L, nargs, nresults, 0);
    sb->nesting--;
    if (status != LUA_OK) {
        if (!sb->reported) report(sb, status, fallback, prefix);
        sb->reported |= sb->spent; /* what ran out inside a nested call runs out again outside */
        sb->fault = (kg_pos){0};
        lua_pop(L, 1);
    }
    if (sb->nesting == 0) {
        sb->taken = WORK_MAX - sb->work;
        refill(sb, INT64_MAX);
    }
    return status == LUA_OK;
}

int64_t kg_sandbox_work(lua_State *L)
{
    return of(L)->taken;
}

bool kg_sandbox_call(kg_ctx *cx, lua_State *L, int nargs, int nresults, kg_pos fallback)
{
    return kg_sandbox_call_as(cx, L, nargs, nresults, fallback, "");
}

/* ---- states and chunks ---- */

/* Outside of any protected call only memory can fail. */
static int panic(lua_State *L)
{
    (void)L;
    kg_out_of_memory();
}

lua_State *kg_sandbox_open(kg_ctx *cx)
{
    sandbox *sb = calloc(1, sizeof *sb);
    if (sb) refill(sb, INT64_MAX);
    lua_State *L = sb ? lua_newstate(allocate, sb) : NULL;
    if (!L) {
        free(sb);
        kg_error(cx, (kg_pos){0}, "out of memory");
        return NULL;
    }
    lua_atpanic(L, panic);
    sb->cx = cx;
    sb->L = L;
    kg_sandbox_on_entry(L, NULL, NULL);
    lua_pushcfunction(L, kg_library_open);
    if (!kg_sandbox_call(cx, L, 0, 0, (kg_pos){0})) {
        kg_sandbox_close(L);
        return NULL;
    }
    return L;
}

void kg_sandbox_close(lua_State *L)
{
    if (!L) return;
    sandbox *sb = of(L);
    lua_close(L);
    free(sb);
}

typedef struct chunk {
    const kg_source *source;
    const char *text;
    size_t len;
} chunk;

/* Top: Lua's message about a text that it cannot read, which may name a second line: "'end'
 * expected (to close 'for' at line 12)".  Of a joined text, says where that line comes from. */
static void name_origin(lua_State *L, const kg_source *s)
{
    const char *text = lua_tostring(L, -1), *word = NULL, *digits = text;
    while (text && (digits = strstr(digits, " line ")) != NULL) word = digits = digits + 6;
    if (!s->lines || !word || *word < '0' || *word > '9') return;
    char *end;
    const kg_source *file = s;
    kg_pos at = origin_of(&file, (int)strtol(word, &end, 10));
    lua_pushlstring(L, text, (size_t)(word - text) - strlen("line "));
    lua_pushfstring(L, "%s:%d%s", at.file, at.line, end);
    lua_concat(L, 2);
}

static int load_chunk(lua_State *L) /* environment, chunk* -> function */
{
    const chunk *c = lua_touserdata(L, 2);
    char name[32];
    snprintf(name, sizeof name, "=#%d", c->source->id);
    if (luaL_loadbufferx(L, c->text, c->len, name, "t") != LUA_OK) {
        name_origin(L, c->source);
        return lua_error(L);
    }
    lua_pushvalue(L, 1);
    if (!lua_setupvalue(L, -2, 1)) lua_pop(L, 1);
    return 1;
}

bool kg_sandbox_load(kg_ctx *cx, lua_State *L, const kg_source *s, const char *text, size_t len)
{
    chunk c = {s, text ? text : s->text, text ? len : s->len};
    lua_pushcfunction(L, load_chunk);
    lua_insert(L, -2);
    lua_pushlightuserdata(L, &c);
    return kg_sandbox_call(cx, L, 2, 1, (kg_pos){s->file, 1, 1});
}
