// SPDX-License-Identifier: MIT
// Lua asks nobody whether a userdata is true, and == between different kinds of value asks nobody
// either.  So each function that a trace enters is read as tokens: which names hold traced values
// (arguments, upvalues, and locals made from them), and whether an if, while, and, not or
// comparison stands on one, or an `or` on a condition.  Asking `x == nil` and type(x) is fine, and
// so is `x or 1` for an argument that may be left out.
#include "scan.h"
#include "library.h"
#include "trace.h"
#include <string.h>

enum { NAMES_MAX = 64, CANDIDATES_MAX = 8 };

typedef struct word {
    const char *s;
    size_t len;
    bool condition;
} word;

typedef struct scan {
    lua_State *L;
    const kg_tokens *t;
    kg_extent at;
    word name[NAMES_MAX]; /* that hold traced values */
    size_t n;
} scan;

static bool is_one_of(const kg_tokens *t, size_t i, const char *const *list, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (kg_token_is(t, i, list[k])) return true;
    return false;
}

static bool is_keyword(const kg_tokens *t, size_t i, const char *const *list, size_t n)
{
    return (t->v[i].kind == KG_TOK_KEYWORD || t->v[i].kind == KG_TOK_OP) &&
           is_one_of(t, i, list, n);
}
#define ANY_OF(t, i, list) is_keyword(t, i, list, sizeof(list) / sizeof *(list))

static const char *const compares[] = {"<", ">", "<=", ">=", "==", "~="};
static const char *const compare_with[] = {"lt", "gt", "le", "ge", "eq", "ne"}; /* in that order */
static const char *const conditions[] = {"lt", "le", "gt", "ge", "eq", "ne", "and_", "or_", "not_"};
static const char *const logic[] = {"and", "or", "not"};
static const char *const opens[] = {"(", "{", "["};
static const char *const closes[] = {")", "}", "]"};
static const char *const blocks[] = {"function", "do", "then", "repeat"};
static const char *const block_ends[] = {"end", "until", "elseif"};
/* What an operand of a comparison or of `and` does not reach across. */
static const char *const bounds[] = {
    "<",  ">",     "<=", ">=",     "==",   "~=",    ",",     ";",       "=",      "and",
    "or", "not",   "if", "elseif", "else", "while", "until", "repeat",  "return", "then",
    "do", "local", "in", "end",    "for",  "goto",  "break", "function"};

/* ---- where a function stands ---- */

static size_t matching_end(const kg_tokens *t, size_t i)
{
    int depth = 0;
    for (; i < t->n; i++) {
        depth += ANY_OF(t, i, blocks);
        depth -= ANY_OF(t, i, block_ends);
        if (depth == 0) return i;
    }
    return t->n;
}

/* `function [name] ( params )`: whether the parameters are these; *body: after the bracket. */
static bool same_params(const kg_tokens *t, size_t i, const word *param, size_t n, size_t *body)
{
    while (i < t->n && !kg_token_is(t, i, "(")) i++;
    size_t k = 0;
    for (i++; i < t->n && !kg_token_is(t, i, ")"); i++) {
        if (t->v[i].kind != KG_TOK_NAME) continue;
        if (k == n || t->v[i].len != param[k].len ||
            memcmp(t->text + t->v[i].at, param[k].s, param[k].len) != 0)
            return false;
        k++;
    }
    *body = i + 1;
    return k == n;
}

static kg_extent find_extent(kg_ctx *cx, lua_State *L, const lua_Debug *ar, const word *param,
                             size_t n)
{
    kg_extent e = {.source = kg_sandbox_source(L, ar->source)};
    if (!e.source) return e;
    e.tokens = kg_source_tokens(cx, e.source);
    size_t i = kg_first_of_line(e.tokens, ar->linedefined), body;
    for (; i < e.tokens->n && e.tokens->v[i].line == ar->linedefined; i++) {
        if (e.tokens->v[i].kind != KG_TOK_KEYWORD || !kg_token_is(e.tokens, i, "function") ||
            !same_params(e.tokens, i, param, n, &body))
            continue;
        size_t end = matching_end(e.tokens, i);
        if (end < e.tokens->n && e.tokens->v[end].line == ar->lastlinedefined) {
            e.first = i;
            e.body = body;
            e.end = end;
            return e;
        }
    }
    e.source = NULL;
    return e;
}

kg_extent kg_function_extent(lua_State *L, int at)
{
    lua_Debug ar;
    lua_pushvalue(L, at);
    lua_getinfo(L, ">Su", &ar);
    word param[NAMES_MAX];
    size_t n = 0;
    lua_pushvalue(L, at);
    for (int i = 1; i <= ar.nparams && n < NAMES_MAX; i++) {
        const char *name = lua_getlocal(L, NULL, i);
        if (name) param[n++] = (word){name, strlen(name), false};
    }
    lua_pop(L, 1);
    return find_extent(kg_sandbox_ctx(L), L, &ar, param, n);
}

kg_pos kg_extent_pos(const kg_extent *e, size_t token)
{
    const kg_token *t = &e->tokens->v[token];
    return (kg_pos){e->source->file, t->line, t->col};
}

/* ---- names that hold traced values ---- */

static void hold(scan *s, const char *name, size_t len, bool condition)
{
    if (s->n < NAMES_MAX && len) s->name[s->n++] = (word){name, len, condition};
}

/* Index of the held name that token t is, or s->n. */
static size_t held(const scan *s, const kg_token *t)
{
    size_t k = 0;
    while (k < s->n &&
           (s->name[k].len != t->len || memcmp(s->name[k].s, s->t->text + t->at, t->len) != 0))
        k++;
    return k;
}

static void drop(scan *s, const kg_token *t)
{
    for (size_t k = s->n; k-- > 0;)
        if (s->name[k].len == t->len && memcmp(s->name[k].s, s->t->text + t->at, t->len) == 0)
            s->name[k] = s->name[--s->n];
}

static bool is_nil_test(const scan *s, size_t from, size_t to)
{
    size_t before = from >= 2 ? from - 1 : from;
    bool right = (kg_token_is(s->t, to, "==") || kg_token_is(s->t, to, "~=")) &&
                 kg_token_is(s->t, to + 1, "nil");
    bool left = (kg_token_is(s->t, before, "==") || kg_token_is(s->t, before, "~=")) && from >= 2 &&
                kg_token_is(s->t, before - 1, "nil");
    return left || right;
}

/* The first token in [from, to) that is a held name, SIZE_MAX if there is none. */
static size_t held_in(const scan *s, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        const kg_token *t = &s->t->v[i];
        if (t->kind != KG_TOK_NAME ||
            (i > 0 && (kg_token_is(s->t, i - 1, ".") || kg_token_is(s->t, i - 1, ":"))))
            continue;
        if (kg_token_is(s->t, i + 1, "=")) continue; /* a key */
        if (i >= 2 && kg_token_is(s->t, i - 1, "(") && kg_token_is(s->t, i - 2, "type")) continue;
        size_t end = i + 1; /* with its fields: acc.gate */
        while (kg_token_is(s->t, end, ".") && s->t->v[end + 1].kind == KG_TOK_NAME) end += 2;
        if (held(s, t) < s->n && !is_nil_test(s, i, end)) return i;
    }
    return SIZE_MAX;
}

/* Whether the expression from token i on is a condition: lt(...), or a name that holds one. */
static bool is_condition(const scan *s, size_t i)
{
    while (kg_token_is(s->t, i, "(")) i++;
    if (s->t->v[i].kind != KG_TOK_NAME) return false;
    if (is_one_of(s->t, i, conditions, sizeof conditions / sizeof *conditions) &&
        kg_token_is(s->t, i + 1, "("))
        return true;
    size_t k = held(s, &s->t->v[i]);
    return k < s->n && s->name[k].condition && !kg_token_is(s->t, i + 1, "(") &&
           !kg_token_is(s->t, i + 1, ".");
}

/* ---- operands ---- */

static bool ends_operand(const kg_tokens *t, size_t i)
{
    static const char *const words[] = {"nil", "true", "false", "end", "...", ")", "}", "]"};
    kg_token_kind k = t->v[i].kind;
    return k == KG_TOK_NAME || k == KG_TOK_NUMBER || k == KG_TOK_STRING || ANY_OF(t, i, words);
}

/* Two operands side by side are two statements, unless the second is a call's argument. */
static bool new_statement(const kg_tokens *t, size_t i)
{
    return i > 0 && ends_operand(t, i - 1) &&
           (t->v[i].kind == KG_TOK_NAME || t->v[i].kind == KG_TOK_NUMBER);
}

static size_t operand_end(const scan *s, size_t i)
{
    int depth = 0;
    for (size_t from = i; i < s->at.end; i++) {
        if (depth == 0 && ((i > from && new_statement(s->t, i)) || ANY_OF(s->t, i, bounds) ||
                           ANY_OF(s->t, i, closes)))
            break;
        depth += ANY_OF(s->t, i, opens);
        depth -= ANY_OF(s->t, i, closes);
    }
    return i;
}

static size_t operand_start(const scan *s, size_t i)
{
    int depth = 0;
    while (i > s->at.body) {
        if (depth == 0 &&
            (ANY_OF(s->t, i - 1, bounds) || ANY_OF(s->t, i - 1, opens) || new_statement(s->t, i)))
            break;
        i--;
        depth += ANY_OF(s->t, i, closes);
        depth -= ANY_OF(s->t, i, opens);
    }
    return i;
}

/* One past an expression list: up to a keyword or symbol that no expression goes on with. */
static size_t list_end(const scan *s, size_t i)
{
    static const char *const goes_on[] = {
        ",", "and", "or", "not", "==", "~=", "<", ">", "<=", ">="};
    while (i < s->at.end) {
        if (kg_token_is(s->t, i, "function")) i = matching_end(s->t, i) + 1;
        else i = operand_end(s, i);
        if (i >= s->at.end || !ANY_OF(s->t, i, goes_on)) break;
        i++;
    }
    return i < s->at.end ? i : s->at.end;
}

static void refuse(scan *s, size_t at, size_t culprit)
{
    const kg_token *c = &s->t->v[culprit];
    const char *name = kg_quote(kg_sandbox_ctx(s->L), s->t->text + c->at, c->len);
    kg_pos pos = kg_extent_pos(&s->at, at);
    int len = (int)s->t->v[at].len;
    const char *text = s->t->text + s->t->v[at].at;
    for (size_t i = 0; i < sizeof compares / sizeof *compares; i++)
        if (kg_token_is(s->t, at, compares[i]))
            kg_raise_at(s->L, pos,
                        "compares a traced value with '%s' (%s): write select(%s(x, y), a, b)",
                        compares[i], name, compare_with[i]);
    if (ANY_OF(s->t, at, logic))
        kg_raise_at(s->L, pos,
                    "'%.*s' branches on a traced value (%s): write %.*s_(%s) for conditions, "
                    "select(lt(x, y), a, b) for values",
                    len, text, name, len, text, *text == 'n' ? "x" : "x, y");
    kg_raise_at(s->L, pos, "'%.*s' branches on a traced value (%s): write select(lt(x, y), a, b)",
                len, text, name);
}

static void check_range(scan *s, size_t at, size_t from, size_t to)
{
    size_t culprit = held_in(s, from, to);
    if (culprit != SIZE_MAX) refuse(s, at, culprit);
}

/* ---- statements ---- */

/* `a, b = x, y` with the names at [first, equals): who holds a traced value from here on. */
static void assign(scan *s, size_t first, size_t equals)
{
    size_t end = list_end(s, equals + 1), value = equals + 1;
    bool holds = false, condition = false;
    for (size_t i = first; i < equals; i++) {
        if (s->t->v[i].kind != KG_TOK_NAME) continue;
        if (value < end) { /* a name without a value of its own goes with the last one */
            size_t stop = value;
            for (int depth = 0; stop < end && (depth || !kg_token_is(s->t, stop, ",")); stop++) {
                depth += ANY_OF(s->t, stop, opens) + ANY_OF(s->t, stop, blocks);
                depth -= ANY_OF(s->t, stop, closes) + ANY_OF(s->t, stop, block_ends);
            }
            condition = is_condition(s, value);
            holds = held_in(s, value, stop) != SIZE_MAX && !kg_token_is(s->t, value, "function") &&
                    !kg_token_is(s->t, value, "{") && !kg_token_is(s->t, value, "type");
            value = stop + 1;
        }
        drop(s, &s->t->v[i]);
        if (holds) hold(s, s->t->text + s->t->v[i].at, s->t->v[i].len, condition);
        if (kg_token_is(s->t, i + 1, "<")) i += 3; /* <const> */
    }
}

static size_t assignment(scan *s, size_t i)
{
    size_t k = i;
    while (s->t->v[k].kind == KG_TOK_NAME) {
        if (kg_token_is(s->t, k + 1, "<") && kg_token_is(s->t, k + 3, ">")) k += 3;
        if (!kg_token_is(s->t, ++k, ",")) break;
        k++;
    }
    return k > i && kg_token_is(s->t, k, "=") ? k : 0;
}

static void scan_body(scan *s)
{
    static const char *const branches[] = {"if", "elseif", "while"};
    int depth = 0;
    size_t equals;
    for (size_t i = s->at.body; i < s->at.end; i++) {
        if (kg_token_is(s->t, i, "function")) {
            i = matching_end(s->t, i); /* read when it is called */
            continue;
        }
        depth += ANY_OF(s->t, i, opens);
        depth -= ANY_OF(s->t, i, closes);
        bool starts = depth == 0 && s->t->v[i].kind == KG_TOK_NAME &&
                      !kg_token_is(s->t, i - 1, ".") && !kg_token_is(s->t, i - 1, ",") &&
                      !kg_token_is(s->t, i - 1, "for");
        if (ANY_OF(s->t, i, branches)) {
            size_t stop = i;
            while (stop < s->at.end && !kg_token_is(s->t, stop, "then") &&
                   !kg_token_is(s->t, stop, "do"))
                stop++;
            check_range(s, i, i + 1, stop);
        } else if (kg_token_is(s->t, i, "until")) {
            check_range(s, i, i + 1, list_end(s, i + 1));
        } else if (kg_token_is(s->t, i, "and")) {
            check_range(s, i, operand_start(s, i), i);
        } else if (kg_token_is(s->t, i, "or")) {
            size_t from = operand_start(s, i);
            if (is_condition(s, from)) check_range(s, i, from, i);
        } else if (kg_token_is(s->t, i, "not")) {
            check_range(s, i, i + 1, operand_end(s, i + 1));
        } else if (ANY_OF(s->t, i, compares)) {
            check_range(s, i, operand_start(s, i), operand_end(s, i + 1));
        } else if (starts && (equals = assignment(s, i)) != 0) {
            assign(s, i, equals);
            for (size_t k = i; k < equals; k++)
                if (kg_token_is(s->t, k, "<")) i = equals; /* <const> is no comparison */
        }
    }
}

/* The name of what is on top of the stack, if that is a traced value. */
static void hold_value(scan *s, const char *name)
{
    kg_traced kind = kg_trace_kind(s->L, -1);
    if (kind > KG_IS_NUMBER) hold(s, name, strlen(name), kind == KG_IS_CONDITION);
}

void kg_scan_entry(lua_State *L, lua_Debug *ar, void *arg)
{
    (void)arg;
    scan s = {.L = L};
    word param[NAMES_MAX];
    size_t nparams = 0;
    lua_getinfo(L, "Suf", ar);
    if (*ar->what == 'C') {
        lua_pop(L, 1);
        return;
    }
    const char *name;
    for (int i = 1; (name = lua_getupvalue(L, -1, i)) != NULL; i++) {
        hold_value(&s, name);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    for (int i = 1; i <= ar->nparams && (name = lua_getlocal(L, ar, i)) != NULL; i++) {
        hold_value(&s, name);
        lua_pop(L, 1);
        if (nparams < NAMES_MAX) param[nparams++] = (word){name, strlen(name), false};
    }
    if (!s.n) return;
    s.at = find_extent(kg_sandbox_ctx(L), L, ar, param, nparams);
    s.t = s.at.tokens;
    if (!s.at.source) return;
    kg_sandbox_charge(L,
                      s.at.end - s.at.first); /* a loop of calls reads the text again and again */
    scan_body(&s);
}
