// SPDX-License-Identifier: MIT
// A lexer of Lua text and the positions of what stands in table constructors, so that a message
// about a field points at the field.  It runs beside Lua, never instead of it: what it does not
// understand just has no position.
#include "srcmap.h"
#include <string.h>

enum { DEPTH_MAX = 16 };

/* ---- lexer ---- */

typedef struct lexer {
    const char *text;
    size_t len, at, line_start;
    int line;
} lexer;

static const char *const keywords[] = {"and",   "break", "do",       "else", "elseif", "end",
                                       "false", "for",   "function", "goto", "if",     "in",
                                       "local", "nil",   "not",      "or",   "repeat", "return",
                                       "then",  "true",  "until",    "while"};

static char peek(const lexer *x, size_t ahead)
{
    return x->at + ahead < x->len ? x->text[x->at + ahead] : 0;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void step(lexer *x)
{
    if (x->text[x->at++] == '\n') {
        x->line++;
        x->line_start = x->at;
    }
}

/* Number of '=' in "[==[" at the position plus one, or 0. */
static size_t long_bracket(const lexer *x)
{
    size_t n = 1;
    if (peek(x, 0) != '[') return 0;
    while (peek(x, n) == '=') n++;
    return peek(x, n) == '[' ? n : 0;
}

static void skip_long(lexer *x, size_t level)
{
    for (size_t i = 0; i <= level; i++) step(x);
    while (x->at < x->len) {
        if (peek(x, 0) == ']') {
            size_t n = 1;
            while (n < level && peek(x, n) == '=') n++;
            if (n == level && peek(x, n) == ']') {
                for (size_t i = 0; i <= level; i++) step(x);
                return;
            }
        }
        step(x);
    }
}

static void skip_blank(lexer *x)
{
    while (x->at < x->len) {
        char c = peek(x, 0);
        if (c == '-' && peek(x, 1) == '-') {
            step(x);
            step(x);
            size_t level = long_bracket(x);
            if (level) skip_long(x, level);
            else while (x->at < x->len && peek(x, 0) != '\n') step(x);
        } else if (c == ' ' || (c >= '\t' && c <= '\r')) {
            step(x);
        } else {
            return;
        }
    }
}

static void skip_string(lexer *x)
{
    char quote = peek(x, 0);
    step(x);
    while (x->at < x->len && peek(x, 0) != quote && peek(x, 0) != '\n') {
        if (peek(x, 0) == '\\') step(x);
        if (x->at < x->len) step(x);
    }
    if (peek(x, 0) == quote) step(x);
}

static void skip_number(lexer *x)
{
    bool hex = peek(x, 0) == '0' && (peek(x, 1) | 32) == 'x';
    for (char c; (c = peek(x, 0)) != 0; step(x)) {
        bool exponent = (c | 32) == (hex ? 'p' : 'e');
        if (exponent && (peek(x, 1) == '+' || peek(x, 1) == '-')) step(x);
        else if (!is_letter(c) && !is_digit(c) && c != '.') return;
    }
}

static size_t operator_length(const lexer *x)
{
    static const char *const longer[] = {
        "...", "..", "==", "~=", "<=", ">=", "//", "::", "<<", ">>"};
    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++) {
        size_t n = strlen(longer[i]);
        if (x->len - x->at >= n && memcmp(x->text + x->at, longer[i], n) == 0) return n;
    }
    return 1;
}

static kg_token next_token(lexer *x)
{
    skip_blank(x);
    kg_token t = {.at = (uint32_t)x->at, .line = x->line, .col = (int)(x->at - x->line_start) + 1};
    char c = peek(x, 0);
    if (x->at >= x->len) {
        t.kind = KG_TOK_END;
    } else if (is_letter(c)) {
        t.kind = KG_TOK_NAME;
        while (is_letter(peek(x, 0)) || is_digit(peek(x, 0))) step(x);
        for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
            if (strlen(keywords[i]) == x->at - t.at &&
                memcmp(keywords[i], x->text + t.at, x->at - t.at) == 0)
                t.kind = KG_TOK_KEYWORD;
    } else if (is_digit(c) || (c == '.' && is_digit(peek(x, 1)))) {
        t.kind = KG_TOK_NUMBER;
        skip_number(x);
    } else if (c == '"' || c == '\'') {
        t.kind = KG_TOK_STRING;
        skip_string(x);
    } else if (long_bracket(x)) {
        t.kind = KG_TOK_STRING;
        skip_long(x, long_bracket(x));
    } else {
        t.kind = KG_TOK_OP;
        for (size_t n = operator_length(x); n > 0; n--) step(x);
    }
    t.len = (uint32_t)(x->at - t.at);
    return t;
}

kg_tokens *kg_lex(kg_arena *a, const char *text, size_t len)
{
    lexer x = {.text = text, .len = len, .line = 1};
    kg_buf list = {0};
    kg_token t;
    do {
        t = next_token(&x);
        kg_put(&list, (const char *)&t, sizeof t);
    } while (t.kind != KG_TOK_END);
    kg_tokens *all = kg_alloc(a, sizeof *all);
    all->text = text;
    all->n = list.len / sizeof t - 1;
    all->v = kg_alloc(a, list.len);
    memcpy(all->v, list.p, list.len);
    kg_buf_free(&list);
    return all;
}

bool kg_token_is(const kg_tokens *t, size_t i, const char *word)
{
    return i < t->n && t->v[i].len == strlen(word) &&
           memcmp(t->text + t->v[i].at, word, t->v[i].len) == 0;
}

/* What stands between the quotes of a string token, escapes as written. */
static void inside(const kg_tokens *t, size_t i, size_t *at, size_t *len)
{
    size_t skip = 1;
    if (t->text[t->v[i].at] == '[')
        while (t->text[t->v[i].at + skip++] == '=') continue;
    *at = t->v[i].at + skip;
    *len = t->v[i].len >= 2 * skip ? t->v[i].len - 2 * skip : 0;
}

static bool string_is(const kg_tokens *t, size_t i, const char *word)
{
    size_t at, len;
    if (t->v[i].kind != KG_TOK_STRING) return false;
    inside(t, i, &at, &len);
    return len == strlen(word) && memcmp(t->text + at, word, len) == 0;
}

size_t kg_first_of_line(const kg_tokens *t, int line)
{
    size_t low = 0, high = t->n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (t->v[mid].line < line) low = mid + 1;
        else high = mid;
    }
    return low;
}

int kg_column(const kg_tokens *t, int line, const char *word)
{
    size_t first = kg_first_of_line(t, line);
    if (first >= t->n || t->v[first].line != line) return 0;
    for (size_t i = first; word && i < t->n && t->v[i].line == line; i++)
        if (kg_token_is(t, i, word) || string_is(t, i, word)) return t->v[i].col;
    return t->v[first].col;
}

/* ---- table constructors ---- */

static int nesting(const kg_tokens *t, size_t i)
{
    static const char *const opens[] = {"(", "{", "[", "function", "do", "then", "repeat"};
    static const char *const closes[] = {")", "}", "]", "end", "until", "elseif"};
    if (t->v[i].kind != KG_TOK_OP && t->v[i].kind != KG_TOK_KEYWORD) return 0;
    for (size_t k = 0; k < sizeof opens / sizeof *opens; k++)
        if (kg_token_is(t, i, opens[k])) return 1;
    for (size_t k = 0; k < sizeof closes / sizeof *closes; k++)
        if (kg_token_is(t, i, closes[k])) return -1;
    return 0;
}

/* One past the value that starts at i: a separator or closing bracket at its own level. */
static size_t skip_value(const kg_tokens *t, size_t i)
{
    int depth = 0;
    for (; i < t->n; i++) {
        int change = nesting(t, i);
        if (depth == 0 && (change < 0 || kg_token_is(t, i, ",") || kg_token_is(t, i, ";")))
            return i;
        depth += change;
    }
    return i;
}

/* `{`, `f {` or `f({`: where the constructor of a value opens, or SIZE_MAX. */
static size_t opening(const kg_tokens *t, size_t i, size_t end)
{
    if (i < end && t->v[i].kind == KG_TOK_NAME) i++;
    if (kg_token_is(t, i, "(")) i++;
    return i < end && kg_token_is(t, i, "{") ? i : SIZE_MAX;
}

static void parse_fields(kg_arena *a, const kg_tokens *t, size_t open, kg_place *into, int depth);

static kg_place parse_field(kg_arena *a, const kg_tokens *t, size_t i, size_t *items, int depth)
{
    kg_place p = {.key_tok = i, .tok = i};
    if (t->v[i].kind == KG_TOK_NAME && kg_token_is(t, i + 1, "=")) {
        p.key = kg_strndup(a, t->text + t->v[i].at, t->v[i].len);
        p.tok = i + 2;
    } else if (kg_token_is(t, i, "[") && t->v[i + 1].kind == KG_TOK_STRING &&
               kg_token_is(t, i + 2, "]") && kg_token_is(t, i + 3, "=")) {
        size_t at, len;
        inside(t, i + 1, &at, &len);
        p.key = kg_strndup(a, t->text + at, len);
        p.tok = i + 4;
    } else if (!kg_token_is(t, i, "[")) {
        p.item = ++*items;
    }
    p.end = skip_value(t, p.tok);
    if (p.tok >= t->n) p.tok = p.key_tok;
    size_t open = opening(t, p.tok, p.end);
    if (open != SIZE_MAX && depth < DEPTH_MAX) parse_fields(a, t, open, &p, depth + 1);
    return p;
}

static void parse_fields(kg_arena *a, const kg_tokens *t, size_t open, kg_place *into, int depth)
{
    kg_buf list = {0};
    size_t items = 0, i = open + 1;
    while (i < t->n && !kg_token_is(t, i, "}")) {
        kg_place p = parse_field(a, t, i, &items, depth);
        kg_put(&list, (const char *)&p, sizeof p);
        i = p.end;
        if (kg_token_is(t, i, ",") || kg_token_is(t, i, ";")) i++;
        else if (!kg_token_is(t, i, "}")) break;
    }
    into->nchild = list.len / sizeof *into->child;
    into->child = list.len ? kg_alloc(a, list.len) : NULL;
    if (list.len) memcpy(into->child, list.p, list.len);
    kg_buf_free(&list);
}

/* One past the bracketed group that opens at i. */
static size_t skip_group(const kg_tokens *t, size_t i)
{
    int depth = 0;
    for (; i < t->n; i++) {
        depth += nesting(t, i);
        if (depth == 0) return i + 1;
    }
    return i;
}

/* The constructor that opens at a token. */
static const kg_place *constructor(kg_arena *a, const kg_tokens *t, size_t open)
{
    kg_place *p = kg_alloc(a, sizeof *p);
    *p = (kg_place){.key_tok = open, .tok = open, .end = skip_group(t, open)};
    parse_fields(a, t, open, p, 0);
    return p;
}

const kg_place *kg_place_of_call(kg_arena *a, const kg_tokens *t, const char *callee, int line,
                                 const char *name)
{
    size_t found = SIZE_MAX, last = SIZE_MAX;
    for (size_t i = kg_first_of_line(t, line > 1 ? line - 1 : line);
         i + 1 < t->n && t->v[i].line <= line; i++) {
        if (!kg_token_is(t, i, callee)) continue;
        bool grouped = kg_token_is(t, i + 1, "(");
        size_t word = i + 1 + grouped, next = grouped ? skip_group(t, i + 1) : i + 2;
        if (t->v[i].line != line && (word >= t->n || t->v[word].line != line)) continue;
        size_t open = opening(t, next, t->n);
        if (open == SIZE_MAX || (open > next && t->v[next].kind == KG_TOK_NAME)) continue;
        last = open;
        if (word < t->n && string_is(t, word, name)) {
            found = open;
            break;
        }
    }
    if (found == SIZE_MAX) found = last;
    return found == SIZE_MAX ? NULL : constructor(a, t, found);
}

const kg_place *kg_place_of_table(kg_arena *a, const kg_tokens *t, const char *callee)
{
    for (size_t i = 0; i + 1 < t->n; i++) {
        size_t open = i + 1 + kg_token_is(t, i + 1, "(");
        if (kg_token_is(t, i, callee) && kg_token_is(t, open, "{")) return constructor(a, t, open);
    }
    return NULL;
}

const kg_place *kg_place_field(const kg_place *p, const char *key)
{
    for (size_t i = 0; p && i < p->nchild; i++)
        if (p->child[i].key && strcmp(p->child[i].key, key) == 0) return &p->child[i];
    return NULL;
}

const kg_place *kg_place_item(const kg_place *p, size_t item)
{
    for (size_t i = 0; p && i < p->nchild; i++)
        if (p->child[i].item == item) return &p->child[i];
    return NULL;
}
