// SPDX-License-Identifier: MIT
// Traces epilogue, a_op and b_op: calls them once with symbols and keeps the expression that comes
// back.  For `code [[...]]` it traces `ref` and reads the text's names, since nothing else will
// check them.
#include "spec.h"
#include "scan.h"
#include <ctype.h>
#include <lauxlib.h>
#include <string.h>

enum { CODE_MAX = 4096 };

typedef struct job {
    kg_spec *sp;
    const char *field;
    bool element; /* a_op, b_op: one argument x */
    kg_record acc, d, s;
    kg_expr out;
} job;

static void fill_records(job *j, const char **d_name)
{
    const kg_op *op = j->sp->op;
    for (size_t i = 0; i < op->nd; i++) d_name[i] = op->d[i].name;
    const char *no_d = "the op has no d";
    if (op->nscalars) no_d = "the op has no d; scalars come third: function(acc, d, s)";
    j->d = (kg_record){"undeclared input", no_d, "d", KILN_X_D, d_name, op->nd};
    j->s = (kg_record){"undeclared scalar", "the op has no scalars", "s", KILN_X_SCALAR, op->scalar,
                       op->nscalars};
    j->acc = (kg_record){"unknown product", "", "acc", KILN_X_ACC, op->b_name, op->products};
}

/* Where the function returns, as far as the text says: its first `return`, else where it begins. */
static kg_pos return_pos(const kg_extent *e, kg_pos otherwise)
{
    if (!e->source) return otherwise;
    for (size_t i = e->body; i < e->end; i++)
        if (kg_token_is(e->tokens, i, "return")) return kg_extent_pos(e, i);
    return kg_extent_pos(e, e->first);
}

static void check_result(lua_State *L, const job *j, int results, kg_pos at)
{
    const char *field = j->field, *got = "";
    if (results == 0 || lua_isnoneornil(L, 3))
        kg_raise_at(L, at, "%s returns nothing: write 'return ...'", field);
    if (results > 1) kg_raise_at(L, at, "%s returns %d values, one is needed", field, results);
    switch (kg_trace_kind(L, 3)) {
    case KG_IS_NUMBER: case KG_IS_SYMBOL: return;
    case KG_IS_CONDITION:
        kg_raise_at(L, at, "%s returns a condition: write select(cond, x, y)", field);
        break;
    case KG_IS_RECORD: {
        const char *owner = kg_trace_owner(L, 3);
        kg_raise_at(L, at, "%s returns '%s' as a whole: write %s.NAME", field, owner, owner);
        break;
    }
    case KG_IS_OTHER: got = kg_kind_of(L, 3); break;
    }
    kg_raise_at(L, at, "%s returns %s, expected a value", field, got);
}

static int run(lua_State *L) /* function, job* */
{
    job *j = lua_touserdata(L, 2);
    kg_extent extent = kg_function_extent(L, 1);
    kg_pos at = return_pos(&extent, j->sp->op->pos);
    int args = 1;
    kg_trace_begin(kg_trace_of(L));
    lua_pushvalue(L, 1);
    if (j->element) {
        kg_trace_push_leaf(L, KILN_X_ARG, 0);
    } else {
        if (j->sp->op->products > 1) kg_trace_push_record(L, &j->acc);
        else kg_trace_push_leaf(L, KILN_X_ACC, 0);
        kg_trace_push_record(L, &j->d);
        kg_trace_push_record(L, &j->s);
        args = 3;
    }
    kg_sandbox_on_entry(L, kg_scan_entry, NULL);
    lua_call(L, args, LUA_MULTRET);
    kg_sandbox_on_entry(L, NULL, NULL);
    check_result(L, j, lua_gettop(L) - 2, at);
    j->out = kg_trace_encode(j->sp->cx, L, 3);
    if (!j->out.node)
        kg_raise_at(L, at, "%s: the expression has %zu operations, at most %d are possible",
                    j->field, j->out.count, KILN_EXPR_MAX);
    return 0;
}

/* First line of the body: what #line in generated code names. */
static kg_pos body_pos(const kg_extent *e, kg_pos otherwise)
{
    return e->source ? kg_extent_pos(e, e->body) : otherwise;
}

static bool trace(kg_spec *sp, const kg_value *v, const char *field, bool element, kg_expr *out,
                  kg_pos *pos)
{
    lua_State *L = sp->L;
    const char *d_name[KILN_MAX_D];
    job j = {.sp = sp, .field = field, .element = element};
    fill_records(&j, d_name);
    if (lua_iscfunction(L, -1)) {
        kg_wrong(sp, v->pos,
                 "%s: write function(...) return f(...) end around a function of the language",
                 field);
        return false;
    }
    lua_Debug ar;
    lua_pushvalue(L, -1);
    lua_getinfo(L, ">u", &ar);
    if (ar.nparams > (element ? 1 : 3)) {
        kg_wrong(sp, v->pos, element ? "%s has %d arguments: it gets one, the element" :
                 "%s has %d arguments: it gets three, acc, d and s", field, ar.nparams);
        return false;
    }
    kg_extent extent = kg_function_extent(L, -1);
    *pos = body_pos(&extent, v->pos);
    lua_pushcfunction(L, run);
    lua_pushvalue(L, -2);
    lua_pushlightuserdata(L, &j);
    bool ok = kg_sandbox_call_as(sp->cx, L, 2, 0, v->pos, sp->prefix);
    kg_sandbox_on_entry(L, NULL, NULL);
    kg_trace_end(kg_trace_of(L));
    sp->wrong |= !ok;
    *out = j.out;
    return ok;
}

/* ---- code [[...]] ---- */

static bool has_word(const char *const *name, size_t n, const char *s, size_t len)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(name[i]) == len && memcmp(name[i], s, len) == 0) return true;
    return false;
}

/* d_NAME and s_NAME must be declared. */
static void check_words(kg_spec *sp, const char *text, kg_pos pos, const char *const *d_name)
{
    const kg_op *op = sp->op;
    for (const char *p = text, *counted = text; *p;) {
        for (; counted < p; counted++) {
            pos.col = *counted == '\n' ? 1 : pos.col + 1;
            pos.line += *counted == '\n';
        }
        size_t len = 0;
        while (isalnum((unsigned char)p[len]) || p[len] == '_') len++;
        bool input = len > 2 && p[0] == 'd' && p[1] == '_',
             scalar = len > 2 && p[0] == 's' && p[1] == '_';
        if (input && !has_word(d_name, op->nd, p + 2, len - 2))
            kg_wrong(sp, pos, "code: undeclared input %s", kg_quote(sp->cx, p, len));
        if (scalar && !has_word(op->scalar, op->nscalars, p + 2, len - 2))
            kg_wrong(sp, pos, "code: undeclared scalar %s", kg_quote(sp->cx, p, len));
        p += len ? len : 1;
    }
}

static const char *wrong_in_code(const char *text, size_t len)
{
    int depth = 0;
    bool empty = true;
    if (len > CODE_MAX) return "longer than 4096 bytes";
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if ((c < ' ' || c > '~') && c != '\n' && c != '\t')
            return "holds other than printable ASCII";
        if (strchr(";{}#\\\"'", c)) return "must be one expression: no ; { } # \\ or quotes";
        if (c == '/' && i + 1 < len && (text[i + 1] == '/' || text[i + 1] == '*'))
            return "holds a comment";
        depth += (c == '(' || c == '[') - (c == ')' || c == ']');
        if (depth < 0) break;
        empty &= c == ' ' || c == '\n' || c == '\t';
    }
    if (depth != 0) return "has brackets that do not match";
    return empty ? "is empty" : NULL;
}

/* Line and column of the text's first character: Lua drops a line break right after [[. */
static kg_pos code_text_pos(const kg_spec *sp, const kg_place *p, kg_pos made)
{
    if (!p) return made;
    const kg_tokens *t = kg_source_tokens(sp->cx, sp->source);
    for (size_t i = p->tok; i < p->end; i++) {
        if (t->v[i].kind != KG_TOK_STRING) continue;
        kg_pos pos = {sp->source->file, t->v[i].line, t->v[i].col};
        const char *s = t->text + t->v[i].at;
        size_t open = *s == '[' ? 2 + strspn(s + 1, "=") : 1;
        s += open;
        pos.col += (int)open;
        if (open == 1) return pos;
        if (*s == '\r') s++;
        if (*s == '\n') pos = (kg_pos){pos.file, pos.line + 1, 1};
        return pos;
    }
    return made;
}

static void read_code(kg_spec *sp, const kg_value *v, const kg_made *m)
{
    lua_State *L = sp->L;
    size_t len;
    const char *d_name[KILN_MAX_D];
    for (size_t i = 0; i < sp->op->nd; i++) d_name[i] = sp->op->d[i].name;
    lua_getiuservalue(L, -1, 1);
    const char *text = lua_tolstring(L, -1, &len), *why = wrong_in_code(text, len);
    kg_pos pos = code_text_pos(sp, v->place, m->pos);
    sp->op->code = kg_strndup(sp->cx->arena, text, len);
    sp->op->code_pos = pos;
    lua_pop(L, 1);
    if (why) kg_wrong(sp, pos, "code: the text %s", why);
    else if (!sp->names_wrong) check_words(sp, sp->op->code, pos, d_name);
    lua_pushliteral(L, "ref");
    lua_rawget(L, sp->table);
    const kg_place *p = kg_place_field(sp->place, "ref");
    kg_value ref = {p, kg_place_pos(sp, p, v->pos), "ref"};
    if (lua_isnil(L, -1))
        kg_wrong(sp, v->pos,
                 "code needs ref = function(...): what the text computes, for the reference");
    else if (lua_isfunction(L, -1) && !sp->names_wrong)
        trace(sp, &ref, "ref", false, &sp->op->epilogue, &sp->op->epilogue_pos);
    lua_pop(L, 1);
}

/* ---- fields ---- */

void kg_spec_epilogue(kg_spec *sp, const kg_value *v)
{
    const kg_made *m = luaL_testudata(sp->L, -1, KG_MADE);
    if (m && m->made == KG_MADE_CODE) read_code(sp, v, m);
    else if (!lua_isfunction(sp->L, -1))
        kg_wrong(sp, v->pos, "epilogue: expected a function or code [[...]], got %s",
                 kg_kind_of(sp->L, -1));
    else if (!sp->names_wrong)
        trace(sp, v, "epilogue", false, &sp->op->epilogue, &sp->op->epilogue_pos);
}

void kg_spec_element_op(kg_spec *sp, const kg_value *v, kg_expr *out, kg_pos *pos)
{
    if (trace(sp, v, v->what, true, out, pos) && !kg_trace_used(out, KILN_X_ARG, 0))
        kg_wrong(sp, v->pos, "%s never uses its argument", v->what);
}

/* Everything declared is used: what is not was forgotten, or misspelt where it should stand. */
void kg_spec_uses(kg_spec *sp)
{
    const kg_op *op = sp->op;
    const kg_place *scalars = kg_place_field(sp->place, "scalars"),
                   *b = kg_place_field(sp->place, "b");
    const char *field = op->code ? "ref" : "epilogue";
    for (size_t i = 0; i < op->nd; i++)
        if (!kg_trace_used(&op->epilogue, KILN_X_D, (unsigned)i))
            kg_wrong(sp, op->d[i].pos, "input '%s' is never used", op->d[i].name);
    for (size_t i = 0; i < op->nscalars; i++)
        if (!kg_trace_used(&op->epilogue, KILN_X_SCALAR, (unsigned)i))
            kg_wrong(
                sp,
                kg_place_pos(sp, kg_place_item(scalars, i + 1), kg_place_pos(sp, scalars, op->pos)),
                "scalar '%s' is never used", op->scalar[i]);
    for (size_t i = 0; i < op->products; i++) {
        if (kg_trace_used(&op->epilogue, KILN_X_ACC, (unsigned)i)) continue;
        if (op->products == 1)
            kg_wrong(sp, op->epilogue_pos, "%s never uses acc, the product", field);
        else kg_wrong(sp, kg_place_pos(sp, kg_place_item(b, i + 1), kg_place_pos(sp, b, op->pos)),
                      "product '%s' is never used", op->b_name[i]);
    }
}
