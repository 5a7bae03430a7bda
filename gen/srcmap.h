// SPDX-License-Identifier: MIT
// Where things stand in a Lua text: tokens, and the keys and values of the table constructors of
// `gemm "x" { ... }`.
#ifndef KILN_SRCMAP_H
#define KILN_SRCMAP_H
#include "gen.h"

typedef enum kg_token_kind {
    KG_TOK_END,
    KG_TOK_NAME,
    KG_TOK_KEYWORD,
    KG_TOK_STRING,
    KG_TOK_NUMBER,
    KG_TOK_OP
} kg_token_kind;

typedef struct kg_token {
    kg_token_kind kind;
    uint32_t at, len; /* in the text; a string with its quotes */
    int line, col;    /* from 1; col in bytes */
} kg_token;

typedef struct kg_tokens {
    const char *text;
    kg_token *v; /* closed by one KG_TOK_END */
    size_t n;    /* without it */
} kg_tokens;

/* Never fails: what is no token of Lua comes out as operators of one byte. */
kg_tokens *kg_lex(kg_arena *, const char *text, size_t len);
bool kg_token_is(const kg_tokens *, size_t i, const char *word);
size_t kg_first_of_line(const kg_tokens *, int line);
/* Column of the first token of that text on the line (strings: the text between the quotes), else
 * the line's first, else 0. */
int kg_column(const kg_tokens *, int line, const char *word);

/* An entry of a table constructor, or (key NULL, item 0) a constructor as a whole. */
typedef struct kg_place {
    const char *key;          /* `key = ` or `["key"] = ` */
    size_t item;              /* 1, 2, ... of an entry without key; 0 otherwise */
    size_t key_tok, tok, end; /* first token of key (of the value, where there is none) and value,
                                 one past the value */
    struct kg_place *child;   /* entries, where the value is `{...}` or `f {...}` */
    size_t nchild;
} kg_place;

/* The constructor of `callee "name" {...}` or callee(...)({...}) at a line; NULL: not there. */
const kg_place *kg_place_of_call(kg_arena *, const kg_tokens *, const char *callee, int line,
                                 const char *name);
/* The first constructor `callee {...}` or `callee({...})` of a text; NULL: not there. */
const kg_place *kg_place_of_table(kg_arena *, const kg_tokens *, const char *callee);
const kg_place *kg_place_field(const kg_place *, const char *key); /* NULL in, NULL out */
const kg_place *kg_place_item(const kg_place *, size_t item);
#endif
