// SPDX-License-Identifier: MIT
// Names that exist: targets and schedules, which are files of templates/, and what a message about
// an unknown name says there is instead: dtypes where a type stands, functions where one is called,
// schedules where a sweep is made.  How the name is used is read from the text; nothing is said
// where that leaves it open.
#include "spec.h"
#include <lauxlib.h>
#include <string.h>

typedef struct template_names {
    kg_names_list targets, schedules;
} template_names;

static template_names *of(kg_ctx *cx)
{
    if (!cx->names) cx->names = kg_alloc(cx->arena, sizeof(template_names));
    return cx->names;
}

static const kg_names_list *in_templates(kg_ctx *cx, const char *folder, kg_names_list *list)
{
    if (!list->v && cx->templates)
        kg_list_lua(cx, kg_printf(cx->arena, "%s/%s", cx->templates, folder), list);
    return list;
}

const kg_names_list *kg_target_names(kg_ctx *cx)
{
    return in_templates(cx, "targets", &of(cx)->targets);
}

const kg_names_list *kg_schedule_names(kg_ctx *cx)
{
    return in_templates(cx, "gemm", &of(cx)->schedules);
}

/* The first token on a line that is this name and no field of something; t->n: none. */
static size_t find_name(const kg_tokens *t, int line, const char *name)
{
    size_t i = kg_first_of_line(t, line);
    for (; i < t->n && t->v[i].line == line; i++)
        if (t->v[i].kind == KG_TOK_NAME && kg_token_is(t, i, name) &&
            !(i > 0 && kg_token_is(t, i - 1, ".")))
            return i;
    return t->n;
}

/* The function whose brackets token i stands in; SIZE_MAX: none. */
static size_t callee_around(const kg_tokens *t, size_t i)
{
    int depth = 0;
    while (i-- > 0) {
        if (kg_token_is(t, i, ")") || kg_token_is(t, i, "}")) depth++;
        if (!kg_token_is(t, i, "(") && !kg_token_is(t, i, "{")) continue;
        if (depth-- == 0)
            return kg_token_is(t, i, "(") && i > 0 && t->v[i - 1].kind == KG_TOK_NAME ? i - 1
                                                                                      : SIZE_MAX;
    }
    return SIZE_MAX;
}

static bool is_one_of(const kg_tokens *t, size_t i, const char *const *word, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (kg_token_is(t, i, word[k])) return true;
    return false;
}

/* `a = NAME` of a row of types, an argument of cast or of an extra input. */
static bool stands_for_type(const kg_tokens *t, size_t i)
{
    static const char *const rows[] = {"a", "b", "e", "acc"};
    static const char *const takes[] = {"cast",
#define X(name, id, text) #name,
                                        KILN_DKINDS(X)
#undef X
    };
    if (i >= 2 && kg_token_is(t, i - 1, "="))
        return is_one_of(t, i - 2, rows, sizeof rows / sizeof *rows);
    size_t callee = callee_around(t, i);
    return callee != SIZE_MAX && is_one_of(t, callee, takes, sizeof takes / sizeof *takes);
}

static const char *sweeps(kg_ctx *cx)
{
    const kg_names_list *list = kg_schedule_names(cx);
    const char *text = "; schedules are";
    for (size_t i = 0; i < list->n; i++)
        text = kg_printf(cx->arena, "%s%s %s", text, i ? "," : "", list->v[i]);
    return text;
}

const char *kg_names_hint(lua_State *L, const char *name)
{
    static const char kinds[] =
#define X(name, id, text) #name ", "
        KILN_DKINDS(X)
#undef X
        ;
    kg_ctx *cx = kg_sandbox_ctx(L);
    kg_pos at;
    const kg_source *s = kg_sandbox_running(L, &at);
    if (!s) return "";
    const kg_tokens *t = kg_source_tokens(cx, s);
    size_t i = find_name(t, at.line, name);
    if (i == t->n) return "";
    if (kg_token_is(t, i + 1, "{")) return sweeps(cx);
    if (kg_token_is(t, i + 1, "(") || t->v[i + 1].kind == KG_TOK_STRING)
        return kg_printf(cx->arena, "; functions are %s%s", kg_trace_running(L) ? "" : kinds,
                         kg_expr_functions(cx));
    return stands_for_type(t, i) ? kg_printf(cx->arena, "; types are %s", kg_expr_dtypes(cx)) : "";
}
