// SPDX-License-Identifier: MIT
// Traces an op's functions (epilogue, a_op, b_op, body): calls each once with symbols and keeps the
// expression that comes back.  For `code [[...]]` it traces `ref` and reads the text's names, since
// nothing else will check them.
#include "spec.h"
#include <ctype.h>
#include <lauxlib.h>
#include <string.h>

enum { CODE_MAX = 4096 };

typedef struct job {
    kg_spec *sp;
    const char *field; /* "epilogue", or "ref" */
    const kg_function *fn;
    bool main;
    kg_record acc, d, s, at;
    const char *d_name[KILN_MAX_TENSORS];
    kg_expr out;
    uint16_t result[KILN_MAX_TENSORS]; /* nodes, of the op's outputs */
    int *line;
} job;

static bool is_element(const kg_function *f)
{
    return f->nargs == 1 && f->arg[0] == KG_ARG_X;
}

static const char *const arg_name[] = {"acc", "d", "s", "at", "x"}; /* ORDER kg_arg */

static const char *arg_list(kg_ctx *cx, const kg_function *f, const char *last)
{
    const char *name[sizeof f->arg / sizeof *f->arg];
    for (size_t i = 0; i < f->nargs; i++) name[i] = arg_name[f->arg[i]];
    return kg_listed(cx, name, f->nargs, last);
}

/* Why `d` has no fields; who has scalars probably forgot that d stands before them. */
static const char *no_inputs(kg_ctx *cx, const kg_op *op, const kg_function *f)
{
    static const char *const place[] = {"first", "second", "third", "fourth"};
    for (size_t i = 0; i < f->nargs && op->nscalars; i++)
        if (f->arg[i] == KG_ARG_S)
            return kg_printf(cx->arena, "the op has no d; scalars come %s: function(%s)", place[i],
                             arg_list(cx, f, ", "));
    return "the op has no d";
}

static void fill_records(job *j)
{
    const kg_op *op = j->sp->op;
    for (size_t i = 0; i < op->ninputs; i++) j->d_name[i] = op->tensor[op->first_input + i].name;
    j->d = (kg_record){
        "undeclared input", no_inputs(j->sp->cx, op, j->fn), "d", KILN_X_D, j->d_name, op->ninputs};
    j->s = (kg_record){"undeclared scalar", "the op has no scalars", "s", KILN_X_SCALAR, op->scalar,
                       op->nscalars};
    j->acc = (kg_record){"unknown product", "", "acc", KILN_X_ACC, op->b_name, op->products};
    j->at = (kg_record){"unknown place",    "", "at", KILN_X_AT, op->family->place,
                        op->family->nplaces};
}

static void push_argument(lua_State *L, const job *j, kg_arg arg)
{
    switch (arg) {
    case KG_ARG_ACC:
        if (j->sp->op->products > 1)
            kg_trace_push_record(L, &j->acc);
        else
            kg_trace_push_leaf(L, KILN_X_ACC, 0);
        break;
    case KG_ARG_D:
        kg_trace_push_record(L, &j->d);
        break;
    case KG_ARG_S:
        kg_trace_push_record(L, &j->s);
        break;
    case KG_ARG_AT:
        kg_trace_push_record(L, &j->at);
        break;
    case KG_ARG_X:
        kg_trace_push_leaf(L, KILN_X_ARG, 0);
        break;
    }
}

static int run(lua_State *L) /* function, job* */
{
    job *j = lua_touserdata(L, 2);
    kg_extent extent = kg_function_extent(L, 1);
    const kg_op *op = j->sp->op;
    kg_trace_begin(kg_trace_of(L), j->field, j->fn->reduces);
    lua_pushvalue(L, 1);
    for (size_t i = 0; i < j->fn->nargs; i++) push_argument(L, j, j->fn->arg[i]);
    kg_sandbox_on_entry(L, kg_scan_entry, NULL);
    lua_call(L, (int)j->fn->nargs, LUA_MULTRET);
    kg_sandbox_on_entry(L, NULL, NULL);
    if (!kg_spec_results(j->sp, j->field, &extent, j->main, lua_gettop(L) - 2)) return 0;
    j->out = kg_trace_encode(j->sp->cx, L, 3, j->main && op->noutputs ? op->noutputs : 1, j->result,
                             &j->line);
    if (!j->out.node)
        kg_raise_at(L, kg_return_pos(&extent, NULL, op->pos),
                    "%s: the expression has %zu operations, at most %d are possible", j->field,
                    j->out.count, KILN_EXPR_MAX);
    return 0;
}

/* First line of the body: what #line in generated code names. */
static kg_pos body_pos(const kg_extent *e, kg_pos otherwise)
{
    return e->source ? kg_extent_pos(e, e->body) : otherwise;
}

static void wrong_arguments(kg_spec *sp, const kg_value *v, const job *j, int n)
{
    const kg_function *f = j->fn;
    const char *list = is_element(f) ? "the element" : arg_list(sp->cx, f, " and ");
    kg_wrong(sp, v->pos, "%s has %d arguments: it gets %s, %s", j->field, n,
             kg_count_word(sp->cx, f->nargs), list);
}

/* Sizes along which what a leaf stands for has elements. */
static unsigned leaf_over(const kg_op *op, const kiln_xnode *x)
{
    const kg_family *fam = op->family;
    const uint8_t along[] = {fam->rows, fam->cols, fam->planes, KILN_BATCH}; /* ORDER place */
    unsigned bits = 0;
    if (x->op == KILN_X_AT) bits = 1u << along[x->index];
    if (x->op != KILN_X_D) return bits;
    const kg_tensor *t = &op->tensor[op->first_input + x->index];
    if (t->rows != KILN_NOWHERE) bits |= 1u << t->rows;
    if (t->cols != KILN_NOWHERE) bits |= 1u << t->cols;
    return bits;
}

/* A function whose value has no elements along a size has no use for what differs along it. */
static void check_over(kg_spec *sp, const job *j)
{
    const kg_op *op = sp->op;
    for (size_t i = 0; i < j->out.count; i++) {
        const kiln_xnode *x = &j->out.node[i];
        const unsigned beyond = leaf_over(op, x) & ~(unsigned)j->fn->over & ~(1u << KILN_BATCH);
        if (!beyond) continue;
        const bool input = x->op == KILN_X_D;
        kg_wrong(sp, op->function_pos[j->fn - op->family->function],
                 "%s: %s.%s differs along %s, and what the function gives does not", j->field,
                 input ? "d" : "at",
                 input ? op->tensor[op->first_input + x->index].name : op->family->place[x->index],
                 kg_size_at(op->family, (uint8_t)__builtin_ctz(beyond)));
    }
}

/* The function on top as the family's i-th. */
static bool trace(kg_spec *sp, const kg_value *v, const char *field, size_t i)
{
    lua_State *L = sp->L;
    kg_op *op = sp->op;
    job j = {.sp = sp, .field = field, .fn = &op->family->function[i], .main = i == 0};
    fill_records(&j);
    if (lua_iscfunction(L, -1)) {
        kg_wrong(sp, v->pos,
                 "%s: write function(...) return f(...) end around a function of the language",
                 field);
        return false;
    }
    lua_Debug ar;
    lua_pushvalue(L, -1);
    lua_getinfo(L, ">u", &ar);
    if (ar.nparams > j.fn->nargs) {
        wrong_arguments(sp, v, &j, ar.nparams);
        return false;
    }
    kg_extent extent = kg_function_extent(L, -1);
    op->function_pos[i] = body_pos(&extent, v->pos);
    lua_pushcfunction(L, run);
    lua_pushvalue(L, -2);
    lua_pushlightuserdata(L, &j);
    bool ok = kg_sandbox_call_as(sp->cx, L, 2, 0, v->pos, sp->prefix);
    kg_sandbox_on_entry(L, NULL, NULL);
    kg_trace_end(kg_trace_of(L));
    sp->wrong |= !ok;
    op->function[i] = j.out;
    if (!j.out.node) return false;
    for (size_t k = 0; j.main && k < op->noutputs; k++)
        op->tensor[op->first_output + k].result = j.result[k];
    if (j.main) kg_spec_vary(sp, &extent, j.line);
    if (ok && j.fn->over) check_over(sp, &j);
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
        if (input && !has_word(d_name, op->ninputs, p + 2, len - 2))
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
    const char *d_name[KILN_MAX_TENSORS];
    for (size_t i = 0; i < sp->op->ninputs; i++)
        d_name[i] = sp->op->tensor[sp->op->first_input + i].name;
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
        trace(sp, &ref, "ref", 0);
    lua_pop(L, 1);
}

/* ---- fields ---- */

void kg_spec_function(kg_spec *sp, const kg_value *v, size_t i)
{
    const kg_function *f = &sp->op->family->function[i];
    const kg_made *m = f->code ? luaL_testudata(sp->L, -1, KG_MADE) : NULL;
    if (m && m->made == KG_MADE_CODE) read_code(sp, v, m);
    else if (!lua_isfunction(sp->L, -1))
        kg_wrong(sp, v->pos, "%s: expected a function or code [[...]], got %s", f->name,
                 kg_kind_of(sp->L, -1));
    else if ((!sp->names_wrong || is_element(f)) && trace(sp, v, f->name, i) && is_element(f) &&
             !kg_trace_used(&sp->op->function[i], KILN_X_ARG, 0))
        kg_wrong(sp, v->pos, "%s never uses its argument", v->what);
}

static void check_products(kg_spec *sp)
{
    const kg_op *op = sp->op;
    const kg_family *fam = op->family;
    const kg_own *own = &fam->own[0];
    for (size_t i = 0; i < fam->nown; i++)
        if (fam->own[i].count > 1) own = &fam->own[i];
    const kg_place *list = kg_place_field(sp->place, own->name);
    for (size_t i = 0; i < op->products; i++) {
        if (kg_trace_used(&op->function[0], KILN_X_ACC, (unsigned)i)) continue;
        if (op->products == 1)
            kg_wrong(sp, op->function_pos[0], "%s never uses acc, the %s",
                     op->code ? "ref" : fam->function[0].name, own->word);
        else
            kg_wrong(sp,
                     kg_place_pos(sp, kg_place_item(list, i + 1), kg_place_pos(sp, list, op->pos)),
                     "%s '%s' is never used", own->word, op->b_name[i]);
    }
}

static bool used(const kg_op *op, kiln_xop leaf, unsigned index)
{
    for (size_t i = 0; i < op->family->nfunctions; i++)
        if (kg_trace_used(&op->function[i], leaf, index)) return true;
    return false;
}

/* Everything declared is used: what is not was forgotten, or misspelt where it should stand. */
void kg_spec_uses(kg_spec *sp)
{
    kg_op *op = sp->op;
    const kg_expr *main = &op->function[0];
    const kg_function *f = &op->family->function[0];
    const kg_place *scalars = kg_place_field(sp->place, "scalars");
    for (size_t i = 0; i < op->ninputs; i++)
        if (!used(op, KILN_X_D, (unsigned)i))
            kg_wrong(sp, op->tensor[op->first_input + i].pos, "input '%s' is never used",
                     op->tensor[op->first_input + i].name);
    for (size_t i = 0; i < op->nscalars; i++)
        if (!used(op, KILN_X_SCALAR, (unsigned)i))
            kg_wrong(
                sp,
                kg_place_pos(sp, kg_place_item(scalars, i + 1), kg_place_pos(sp, scalars, op->pos)),
                "scalar '%s' is never used", op->scalar[i]);
    for (size_t i = 0; i < f->nargs; i++) {
        if (f->arg[i] == KG_ARG_ACC) check_products(sp);
        if (f->arg[i] == KG_ARG_X && main->count && !kg_trace_used(main, KILN_X_ARG, 0))
            kg_wrong(sp, op->function_pos[0], "%s never uses x, the element",
                     op->code ? "ref" : f->name);
    }
    for (unsigned i = 0; i < op->family->nplaces; i++) op->uses_at |= used(op, KILN_X_AT, i);
}
