// SPDX-License-Identifier: MIT
// Templates: compiled once into a Lua function, run once per instance.  Each line of a template and
// of the parts that it includes is one line of the Lua chunk, and known by it, so that Lua's own
// messages carry the right line: a run of plain text becomes one call on its first line and empty
// lines after it, a line with holes one call on its own line, `%%` lines themselves.
#include "back.h"
#include "../abi/kiln_version.h"
#include <lauxlib.h>
#include <string.h>

enum {
    HOLES_MAX = 100,    /* of one line: arguments of one call */
    BYTES_MAX = 1 << 20 /* of a template with its parts */
};

typedef struct hole {
    int line, argument; /* line: of the chunk */
    const char *text;
} hole;

typedef struct kg_tmpl {
    const kg_source *source;
    int function;
    hole *hole;
    size_t nholes, cap;
    kg_origin *origin; /* of each line of the chunk */
    size_t nlines, cap_lines, bytes;
} tmpl;

static void put_integer(kg_buf *b, lua_Integer v)
{
    char text[24], *p = text + sizeof text;
    uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    do *--p = (char)('0' + u % 10);
    while (u /= 10);
    if (v < 0) *--p = '-';
    kg_put(b, p, (size_t)(text + sizeof text - p));
}

/* Appends every argument; nil and tables are errors that name the hole. */
static int put(lua_State *T)
{
    kg_back *b = lua_touserdata(T, lua_upvalueindex(1));
    for (int i = 1, n = lua_gettop(T); i <= n; i++) {
        size_t len;
        int type = lua_type(T, i);
        if (lua_isinteger(T, i)) {
            put_integer(&b->text, lua_tointeger(T, i));
        } else if (type == LUA_TSTRING || type == LUA_TNUMBER) {
            const char *s = lua_tolstring(T, i, &len);
            kg_put(&b->text, s, len);
        } else if (type == LUA_TBOOLEAN) {
            kg_puts(&b->text, lua_toboolean(T, i) ? "true" : "false");
        } else {
            lua_Debug ar;
            const tmpl *w = b->tmpl;
            const char *text = "?";
            if (lua_getstack(T, 1, &ar) && lua_getinfo(T, "l", &ar))
                for (size_t k = 0; k < w->nholes; k++)
                    if (w->hole[k].line == ar.currentline && w->hole[k].argument == i)
                        text = w->hole[k].text;
            return kg_raise(T, text, "@{%s} is %s%s", text, type == LUA_TNIL ? "" : "a ",
                            lua_typename(T, type));
        }
    }
    return 0;
}

/* ---- translation ---- */
static void put_lua_text(kg_buf *b, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c == '\n')
            kg_puts(b, "\\n");
        else if (c < ' ' || c == 0x7f)
            kg_putf(b, "\\%03d", c);
        else if (c == '"' || c == '\\')
            kg_putf(b, "\\%c", c);
        else
            kg_put(b, s + i, 1);
    }
}

/* The end of the expression that begins at s: its closing brace, or NULL. */
static const char *hole_end(const char *s, const char *end)
{
    int depth = 0;
    for (; s < end; s++) {
        if (*s == '"' || *s == '\'') {
            char quote = *s++;
            while (s < end && *s != quote) s += *s == '\\' ? 2 : 1;
            if (s >= end) return NULL;
        } else if (*s == '{') {
            depth++;
        } else if (*s == '}' && depth-- == 0) {
            return s;
        }
    }
    return NULL;
}

/* Each hole is one whole expression, in brackets and without: "1, 2" and "f) (x" are not. */
static bool check_hole(kg_ctx *cx, kg_pos pos, const char *text)
{
    bool good = true;
    for (int i = 0; good && i < 2; i++) {
        const char *chunk = kg_printf(cx->arena, "return %s%s%s", i ? "" : "(", text, i ? "" : ")");
        good = luaL_loadbufferx(cx->T, chunk, strlen(chunk), "=@{}", "t") == LUA_OK;
        if (!good) {
            const char *why = lua_tostring(cx->T, -1), *after = why ? strstr(why, ": ") : NULL;
            kg_error(cx, pos, "@{%s} is not an expression: %s", text,
                     after ? after + 2 : "out of memory");
        }
        lua_pop(cx->T, 1);
    }
    return good;
}

static void add_hole(kg_ctx *cx, tmpl *w, hole h)
{
    w->hole = kg_grow(cx->arena, w->hole, w->nholes, &w->cap, sizeof *w->hole);
    w->hole[w->nholes++] = h;
}

/* The next line of the chunk comes from there. */
static void add_line(kg_ctx *cx, tmpl *w, const kg_source *source, int line)
{
    w->origin = kg_grow(cx->arena, w->origin, w->nlines, &w->cap_lines, sizeof *w->origin);
    w->origin[w->nlines++] = (kg_origin){source, line};
}

/* One line with holes, `end` past its newline. */
static bool translate_line(kg_ctx *cx, tmpl *w, const char *file, int line, const char *s,
                           const char *end, kg_buf *out)
{
    const char *start = s, *open;
    int argument = 0;
    kg_puts(out, "__put(");
    while (s < end) {
        for (open = s; open < end && (open[0] != '@' || open + 1 == end || open[1] != '{');) open++;
        if (open > s) {
            kg_puts(out, argument++ ? ", \"" : "\"");
            put_lua_text(out, s, (size_t)(open - s));
            kg_puts(out, "\"");
        }
        if (open >= end) break;
        const char *close = hole_end(open + 2, end);
        kg_pos pos = {file, line, (int)(open - start) + 1};
        if (!close) {
            kg_error(cx, pos, "@{ is not closed on its line");
            return false;
        }
        if (argument >= 2 * HOLES_MAX) {
            kg_error(cx, pos, "more than %d holes in one line", HOLES_MAX);
            return false;
        }
        const char *text = kg_strndup(cx->arena, open + 2, (size_t)(close - open) - 2);
        if (!check_hole(cx, pos, text)) return false;
        kg_putf(out, argument++ ? ", (%s)" : "(%s)", text);
        add_hole(cx, w, (hole){(int)w->nlines, argument, text});
        s = close + 1;
    }
    kg_puts(out, ")\n");
    return true;
}

/* What is being translated: a file, and which one includes it. */
typedef struct part {
    const kg_source *source;
    const struct part *in;
} part;

static bool translate(kg_ctx *cx, tmpl *w, const part *p, kg_buf *out);

/* Of a line's Lua: what follows the word `include`; NULL: another line. */
static const char *after_include(const char *s, const char *end)
{
    static const char word[] = "include";
    while (s < end && (*s == ' ' || *s == '\t')) s++;
    if ((size_t)(end - s) <= strlen(word) || memcmp(s, word, strlen(word)) != 0) return NULL;
    s += strlen(word);
    return strchr(" \t\r\n\"'([", *s) ? s : NULL;
}

/* `%% include "name"`: the part's lines, as if they stood here.  s: what follows the word. */
static bool include(kg_ctx *cx, tmpl *w, const part *p, int line, const char *start, const char *s,
                    const char *end, kg_buf *out)
{
    while (s < end && (*s == ' ' || *s == '\t')) s++;
    kg_pos pos = {p->source->file, line, (int)(s - start) + 1};
    const char *name = s + 1, *close = s < end && *s == '"' ? name : end;
    while (close < end && *close != '"') close++;
    const char *rest = close + 1;
    while (rest < end && strchr(" \t\r\n", *rest)) rest++;
    if (close >= end || (rest < end && strncmp(rest, "--", 2) != 0)) {
        kg_error(cx, pos, "a part's name is expected, alone in its line: %%%% include \"name\"");
        return false;
    }
    const kg_source *source = kg_part_read(cx, p->source, name, (size_t)(close - name), pos);
    if (!source) return false;
    for (const part *q = p; q; q = q->in) {
        if (q->source != source) continue;
        kg_error(cx, pos, "include '%.*s': that part is what includes this line",
                 (int)(close - name), name);
        return false;
    }
    return translate(cx, w, &(part){source, p}, out);
}

static bool translate(kg_ctx *cx, tmpl *w, const part *p, kg_buf *out)
{
    const kg_source *source = p->source;
    const char *s = source->text, *end = s + source->len;
    bool good = true;
    if ((w->bytes += source->len) > BYTES_MAX) {
        kg_error(cx, (kg_pos){w->source->file, 1, 0}, "larger than 1 MiB with its parts");
        return false;
    }
    for (int line = 1, lines; s < end; line += lines) {
        const char *next = NULL, *run = s;
        lines = 0;
        while (run < end) { /* plain text */
            const char *nl = memchr(run, '\n', (size_t)(end - run));
            next = nl ? nl + 1 : end;
            const char *first = run + strspn(run, " \t");
            if (first + 1 < next && first[0] == '%' && first[1] == '%') break;
            const char *at = run;
            while ((at = memchr(at, '@', (size_t)(next - at))) != NULL && at[1] != '{') at++;
            if (at) break;
            lines++;
            run = next;
        }
        if (lines) {
            kg_puts(out, "__put\"");
            put_lua_text(out, s, (size_t)(run - s));
            if (p->in && run[-1] != '\n') kg_puts(out, "\\n");
            kg_puts(out, "\"");
            for (int i = 0; i < lines; i++) {
                add_line(cx, w, source, line + i);
                kg_puts(out, "\n");
            }
            s = run;
            continue;
        }
        const char *first = s + strspn(s, " \t"), *name;
        lines = 1;
        add_line(cx, w, source, line);
        if (first[0] != '%' || first + 1 == next || first[1] != '%') {
            good &= translate_line(cx, w, source->file, line, s, next, out);
            if (p->in && next[-1] != '\n') kg_puts(out, "__put\"\\n\"");
        } else if ((name = after_include(first + 2, next)) != NULL) {
            kg_puts(out, "\n");
            good &= include(cx, w, p, line, s, name, next, out);
        } else {
            kg_put(out, first + 2, (size_t)(next - first) - 2);
            if (next[-1] != '\n') kg_puts(out, "\n");
        }
        s = next;
    }
    return good;
}

/* ---- compiling ---- */
static tmpl *compile(kg_ctx *cx, const kg_schedule *s, const char *source)
{
    tmpl *w = kg_alloc(cx->arena, sizeof *w);
    const char *path =
        kg_beside(cx, s->source, kg_printf(cx->arena, "%s.%s.tmpl", s->name, source));
    w->source = kg_source_read(cx, path, path);
    if (!w->source) return NULL;
    kg_buf text = {0};
    kg_puts(&text, "local __put = ...; ");
    bool good = translate(cx, w, &(part){w->source, NULL}, &text);
    if (good) {
        if (text.p[text.len - 1] == '\n')
            text.len--; /* else Lua takes the end for a line of its own */
        const kg_source *all = kg_source_join(cx, w->source, w->origin, w->nlines);
        lua_newtable(cx->T);
        good = kg_sandbox_load(cx, cx->T, all, text.p, text.len);
        if (good) w->function = luaL_ref(cx->T, LUA_REGISTRYINDEX);
    }
    kg_buf_free(&text);
    return good ? w : NULL;
}

/* ---- rendering ---- */
static void set_field(lua_State *T, const char *name)
{
    lua_pushstring(T, name);
    lua_insert(T, -2);
    lua_rawset(T, -3);
}

static void put_comment(kg_buf *b, const char *s)
{
    for (; *s; s++) kg_put(b, *s < ' ' || *s > '~' || *s == '\\' ? "?" : s, 1);
}

static void push_inst(kg_ctx *cx, const kg_instance *in)
{
    lua_State *T = cx->T;
    kg_buf b = {0};
    const char *file = kg_shown(cx, in->op->pos.file);
    lua_createtable(T, 0, 5);
    lua_pushstring(T, in->name);
    set_field(T, "name");
    lua_pushstring(T, in->id);
    set_field(T, "id");
    lua_pushstring(T, file);
    set_field(T, "file");
    lua_pushinteger(T, in->op->pos.line);
    set_field(T, "line");
    kg_puts(&b, "// Generated by kiln-gen " KILN_VERSION " from ");
    put_comment(&b, file);
    kg_putf(&b, ":%d; do not edit.\n// %s\n// To rebuild: make instances TARGETS=%s",
            in->op->pos.line, in->name, in->target->name);
    const char *flags = kg_schedule_lower(cx, in->schedule, in->target)->flags;
    if (*flags) kg_putf(&b, "\n// Compiled with: %s", flags); /* other ones: another text */
    lua_pushlstring(T, b.p, b.len);
    set_field(T, "banner");
    kg_buf_free(&b);
}

static void push_globals(kg_ctx *cx, const kg_instance *in, const int *view)
{
    static const char *const view_name[KG_VIEW_TABLES] = {
        [KG_OP_TABLE] = "op", [KG_TYPES_TABLE] = "types", [KG_LAYOUT_TABLE] = "layout",
        [KG_FN_TABLE] = "fn", [KG_CALL_TABLE] = "call",
    };
    lua_State *T = cx->T;
    lua_createtable(T, 0, 8);
    for (int i = 0; i < KG_VIEW_TABLES; i++) {
        lua_rawgeti(T, LUA_REGISTRYINDEX, view[i]);
        set_field(T, view_name[i]);
    }
    lua_rawgeti(T, LUA_REGISTRYINDEX, in->target->ref);
    set_field(T, "target");
    push_inst(cx, in);
    set_field(T, "inst");
    lua_createtable(T, 0, (int)in->schedule->nslots);
    for (size_t i = 0; i < in->schedule->nslots; i++) {
        lua_pushinteger(T, in->slot[i]);
        set_field(T, in->schedule->slot[i]);
    }
    set_field(T, "t");
    lua_rawgeti(T, LUA_REGISTRYINDEX, kg_back_of(cx)->meta);
    lua_setmetatable(T, -2);
}

/* Copies the text; KG_LINE_BACK becomes a #line that names the generated file and the line after
 * it. */
static void put_with_lines(const kg_buf *from, const char *path, kg_buf *out)
{
    if (!from->len) return;
    const char *s = from->p, *end = from->p + from->len, *counted = s;
    int line = 1;
    for (const char *at; s < end && (at = memchr(s, KG_LINE_BACK, (size_t)(end - s))) != NULL;
         s = at + 1) {
        for (; counted < at; counted++) line += *counted == '\n';
        kg_put(out, s, (size_t)(at - s));
        kg_putf(out, "#line %d ", line + 1);
        kg_put_quoted(out, path, strlen(path));
    }
    kg_put(out, s, (size_t)(end - s));
}

bool kg_render(kg_ctx *cx, const kg_instance *in, kg_buf *out)
{
    kg_back *b = kg_back_of(cx);
    lua_State *T = cx->T;
    tmpl **w = &in->schedule->tmpl[strcmp(in->target->source, "c") == 0];
    if (!*w && !(*w = compile(cx, in->schedule, in->target->source))) return false;
    const int *view = kg_present(cx, (kg_view){in->op, in->types, in->layout}, true);
    if (!view) return false;
    b->text.len = 0;
    b->tmpl = *w;
    lua_rawgeti(T, LUA_REGISTRYINDEX, (*w)->function);
    push_globals(cx, in, view);
    lua_setupvalue(T, -2, 1);
    lua_pushlightuserdata(T, b);
    lua_pushcclosure(T, put, 1);
    kg_require_anew(cx, true);
    bool good = kg_sandbox_call(cx, T, 1, 0, (kg_pos){(*w)->source->file, 1, 0});
    kg_require_anew(cx, false);
    if (good)
        put_with_lines(&b->text, in->path, out);
    else
        kg_note(cx, in->op->pos, "while rendering %s", in->name);
    return good;
}
