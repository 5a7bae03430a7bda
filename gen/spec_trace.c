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
    size_t product; /* that it is called for */
    kg_record acc, d, s, at;
    const char *d_name[KILN_MAX_TENSORS], *d_wrong[KILN_MAX_TENSORS];
    uint8_t d_index[KILN_MAX_TENSORS];
    kg_expr out;
    uint16_t result[KILN_MAX_TENSORS]; /* nodes, of the op's outputs */
    int *line;
} job;

static const char *const arg_name[] = {"acc", "d", "s", "at", "x", "product"}; /* ORDER kg_arg */

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

/* The functions that may use an input: "a_op or block". */
static const char *users(kg_ctx *cx, const kg_family *fam, const kg_tensor *t)
{
    const char *name[KILN_MAX_FUNCTIONS];
    size_t n = 0;
    for (size_t i = 0; i < fam->nfunctions; i++)
        if (kg_takes_input(fam, i, t)) name[n++] = fam->function[i].name;
    return kg_listed(cx, name, n, " or ");
}

static const char *kind_of(kg_spec *sp, const kg_tensor *t)
{
    const kg_op *op = sp->op;
    if (t->operand == KILN_NOWHERE) return kg_kind_names[t->kind];
    bool named = t->product != KILN_NOWHERE && t->name == t->given;
    return kg_printf(sp->cx->arena, "%s \"%s\"", kg_kind_names[t->kind],
                     named ? op->b_name[t->product] : op->family->own[t->operand].name);
}

/* The inputs by the names that the file gives them; each product's own where a function is called
 * for each. */
static void list_inputs(job *j, size_t function)
{
    kg_spec *sp = j->sp;
    const kg_op *op = sp->op;
    size_t n = 0;
    for (size_t i = 0; i < op->ninputs; i++) {
        const kg_tensor *t = &op->tensor[op->first_input + i];
        const bool each = t->name != t->given,
                   other = t->product != KILN_NOWHERE && t->product != j->product;
        const char *wrong = NULL;
        if (each && other) continue;
        if (!kg_takes_input(op->family, function, t))
            wrong = kg_printf(
                sp->cx->arena, "%s: input '%s' is %s, which %s does not take: use it in %s",
                j->field, t->given, kind_of(sp, t), j->fn->name, users(sp->cx, op->family, t));
        else if (other)
            wrong = kg_printf(
                sp->cx->arena,
                "%s: input '%s' is %s, and this call is for '%s': the last argument says which",
                j->field, t->given, kind_of(sp, t), op->b_name[j->product]);
        j->d_name[n] = t->given;
        j->d_wrong[n] = wrong;
        j->d_index[n++] = (uint8_t)i;
    }
    j->d = (kg_record){"undeclared input",
                       no_inputs(sp->cx, op, j->fn),
                       "d",
                       KILN_X_D,
                       j->d_name,
                       j->d_index,
                       j->d_wrong,
                       n};
}

static void fill_records(job *j, size_t function)
{
    const kg_op *op = j->sp->op;
    list_inputs(j, function);
    j->s = (kg_record){.unknown = "undeclared scalar",
                       .none = "the op has no scalars",
                       .owner = "s",
                       .op = KILN_X_SCALAR,
                       .name = op->scalar,
                       .count = op->nscalars};
    j->acc = (kg_record){.unknown = "unknown product",
                         .none = "",
                         .owner = "acc",
                         .op = KILN_X_ACC,
                         .name = op->b_name,
                         .count = op->products};
    j->at = (kg_record){.unknown = "unknown place",
                        .none = "",
                        .owner = "at",
                        .op = KILN_X_AT,
                        .name = op->family->place,
                        .count = op->family->nplaces};
}

static void push_argument(lua_State *L, const job *j, kg_arg arg)
{
    switch (arg) {
    case KG_ARG_ACC:
        if (j->sp->op->products > 1 && !j->fn->blocks)
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
    case KG_ARG_PRODUCT:
        lua_pushstring(L, j->sp->op->b_name[j->product]);
        break;
    }
}

static int run(lua_State *L) /* function, job* */
{
    job *j = lua_touserdata(L, 2);
    kg_extent extent = kg_function_extent(L, 1);
    const kg_op *op = j->sp->op;
    kg_reduces reduces = !j->fn->reduces               ? KG_NONE
                         : !kg_own_outputs(op->family) ? KG_OF_ROWS
                         : kg_names_outputs(op)        ? KG_OF_ROWS_AND_COLUMNS
                                                       : KG_NONE;
    kg_trace_begin(kg_trace_of(L), j->field, reduces);
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
    kg_wrong(sp, v->pos, "%s has %d arguments: it gets %s, %s", j->field, n,
             kg_count_word(sp->cx, f->nargs), arg_list(sp->cx, f, " and "));
}

/* The function on top as the family's i-th, called for one product. */
static bool trace_for(kg_spec *sp, const kg_value *v, const char *field, size_t i, size_t product)
{
    lua_State *L = sp->L;
    kg_op *op = sp->op;
    kg_expr *to = product ? &op->more[product - 1][i] : &op->function[i];
    job j = {.sp = sp,
             .field = field,
             .fn = &op->family->function[i],
             .main = i == 0,
             .product = product};
    fill_records(&j, i);
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
    *to = j.out;
    if (!j.out.node) return false;
    for (size_t k = 0; j.main && k < op->noutputs; k++)
        op->tensor[kg_output(op, k) - op->tensor].result = j.result[k];
    if (j.main) kg_spec_vary(sp, &extent, j.line);
    if (j.fn->blocks) *to = kg_spec_factor(sp, field, &extent, &j.out);
    return ok && to->count;
}

/* The function on top as the family's i-th. */
static bool trace(kg_spec *sp, const kg_value *v, const char *field, size_t i)
{
    const size_t products = kg_function_products(sp->op, i);
    if (lua_iscfunction(sp->L, -1)) {
        kg_wrong(sp, v->pos,
                 "%s: write function(...) return f(...) end around a function of the language",
                 field);
        return false;
    }
    for (size_t k = 0; k < products; k++)
        if (!trace_for(sp, v, field, i, k)) return false;
    return true;
}

/* ---- code [[...]] ---- */

static bool has_word(const char *const *name, size_t n, const char *s, size_t len)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(name[i]) == len && memcmp(name[i], s, len) == 0) return true;
    return false;
}

/* d_NAME and s_NAME must be declared; d_NAME, what the main function takes. */
static void check_words(kg_spec *sp, const char *text, kg_pos pos)
{
    const kg_op *op = sp->op;
    const char *d_name[KILN_MAX_TENSORS];
    size_t inputs = 0;
    for (size_t i = op->first_input; i < op->first_input + op->ninputs; i++)
        if (kg_takes_input(op->family, 0, &op->tensor[i])) d_name[inputs++] = op->tensor[i].name;
    for (const char *p = text, *counted = text; *p;) {
        for (; counted < p; counted++) {
            pos.col = *counted == '\n' ? 1 : pos.col + 1;
            pos.line += *counted == '\n';
        }
        size_t len = 0;
        while (isalnum((unsigned char)p[len]) || p[len] == '_') len++;
        bool input = len > 2 && p[0] == 'd' && p[1] == '_',
             scalar = len > 2 && p[0] == 's' && p[1] == '_';
        if (input && !has_word(d_name, inputs, p + 2, len - 2))
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
    lua_getiuservalue(L, -1, 1);
    const char *text = lua_tolstring(L, -1, &len), *why = wrong_in_code(text, len);
    kg_pos pos = code_text_pos(sp, v->place, m->pos);
    sp->op->code = kg_strndup(sp->cx->arena, text, len);
    sp->op->code_pos = pos;
    lua_pop(L, 1);
    if (kg_names_outputs(sp->op)) {
        kg_wrong(sp, v->pos, "code gives one value, and the op has %s outputs: write a function",
                 kg_count_word(sp->cx, sp->op->noutputs));
        return;
    }
    if (why)
        kg_wrong(sp, pos, "code: the text %s", why);
    else if (!sp->names_wrong)
        check_words(sp, sp->op->code, pos);
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

static bool takes(const kg_function *f, kg_arg arg)
{
    for (size_t i = 0; i < f->nargs; i++)
        if (f->arg[i] == arg) return true;
    return false;
}

/* Whether each product's function i has a leaf. */
static bool used_in(const kg_op *op, size_t i, kiln_xop leaf, unsigned index)
{
    for (size_t k = 0; k < kg_function_products(op, i); k++)
        if (kg_trace_used(kg_function_of(op, i, k), leaf, index)) return true;
    return false;
}

void kg_spec_function(kg_spec *sp, const kg_value *v, size_t i)
{
    const kg_function *f = &sp->op->family->function[i];
    const kg_made *m = f->code ? luaL_testudata(sp->L, -1, KG_MADE) : NULL;
    if (m && m->made == KG_MADE_CODE)
        read_code(sp, v, m);
    else if (!lua_isfunction(sp->L, -1))
        kg_wrong(sp, v->pos, "%s: expected a function or code [[...]], got %s", f->name,
                 kg_kind_of(sp->L, -1));
    else if (!sp->names_wrong && trace(sp, v, f->name, i) && i && takes(f, KG_ARG_X) &&
             !used_in(sp->op, i, KILN_X_ARG, 0))
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
    for (size_t i = 0; i < op->ninputs; i++) {
        bool used = false;
        for (size_t k = 0; k < op->family->nfunctions; k++)
            used |= used_in(op, k, KILN_X_D, (unsigned)i);
        if (!used)
            kg_wrong(sp, op->tensor[op->first_input + i].pos, "input '%s' is never used",
                     op->tensor[op->first_input + i].name);
    }
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
