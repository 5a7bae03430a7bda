// SPDX-License-Identifier: MIT
// Names that exist: targets and schedules, which are files of templates/, and what a message about
// an unknown name says there is instead: dtypes where a type stands, functions where one is called,
// schedules where a sweep is made.  How the name is used is read from the text; nothing is said
// where that leaves it open.
#include "spec.h"
#include <lauxlib.h>
#include <string.h>

typedef struct template_names {
    kg_names_list targets, schedules[KG_MAX_FAMILIES];
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

const kg_names_list *kg_schedule_names(kg_ctx *cx, const kg_family *fam)
{
    size_t i = 0, n = 0;
    while (cx->family[i] != fam) i++;
    kg_names_list *list = &of(cx)->schedules[i];
    if (list->v) return list;
    in_templates(cx, fam->name, list);
    for (size_t k = 0; k < list->n; k++)
        if (strcmp(list->v[k], "family") != 0) list->v[n++] = list->v[k];
    list->n = n;
    return list;
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

/* The family of the op that token i stands in, as far as the text says; NULL: none. */
static const kg_family *family_around(const kg_ctx *cx, const kg_tokens *t, size_t i)
{
    while (i-- > 0)
        for (size_t k = 0; k < cx->nfamilies; k++)
            if (kg_token_is(t, i, cx->family[k]->name) && t->v[i + 1].kind == KG_TOK_STRING)
                return cx->family[k];
    return NULL;
}

/* Whether token i is a value in a row of `types = { { a = f16 } }`. */
static bool in_types(const kg_tokens *t, size_t i)
{
    int depth = 0;
    for (; i-- > 0 && depth > -3;) {
        depth += kg_token_is(t, i, "}") - kg_token_is(t, i, "{");
        if (depth == -2 && kg_token_is(t, i, "{"))
            return i >= 2 && kg_token_is(t, i - 1, "=") && kg_token_is(t, i - 2, "types");
    }
    return false;
}

/* `a = NAME` of a row of types, an argument of cast or of an extra input. */
static bool stands_for_type(const kg_ctx *cx, const kg_tokens *t, size_t i, const kg_family *fam)
{
    static const char *const takes[] = {"cast",
#define X(name, id, text) #name,
                                        KILN_DKINDS(X)
#undef X
    };
    if (i >= 2 && kg_token_is(t, i - 1, "=")) {
        for (size_t f = 0; f < cx->nfamilies; f++)
            for (size_t k = 0; (!fam || fam == cx->family[f]) && k < cx->family[f]->ntypes; k++)
                if (kg_token_is(t, i - 2, cx->family[f]->type[k].name)) return true;
        return in_types(t, i);
    }
    size_t callee = callee_around(t, i);
    return callee != SIZE_MAX && is_one_of(t, callee, takes, sizeof takes / sizeof *takes);
}

/* Whether a family before the one at `end` has a schedule of that name. */
static bool has_schedule(kg_ctx *cx, size_t end, const char *name)
{
    for (size_t k = 0; k < end; k++) {
        const kg_names_list *list = kg_schedule_names(cx, cx->family[k]);
        for (size_t i = 0; i < list->n; i++)
            if (strcmp(list->v[i], name) == 0) return true;
    }
    return false;
}

/* Of a family, or of all of them. */
static const char *sweeps(kg_ctx *cx, const kg_family *fam)
{
    const char *text = "; schedules are", *comma = "";
    for (size_t k = 0; k < cx->nfamilies; k++) {
        const kg_names_list *list = kg_schedule_names(cx, cx->family[k]);
        for (size_t i = 0; i < list->n; i++) {
            if (fam ? fam != cx->family[k] : has_schedule(cx, k, list->v[i])) continue;
            text = kg_printf(cx->arena, "%s%s %s", text, comma, list->v[i]);
            comma = ",";
        }
    }
    if (!*comma) return "";
    return text;
}

static const char *functions(lua_State *L, kg_ctx *cx, const kg_family *fam)
{
    const char *kinds = "";
    bool tracing = kg_trace_running(L);
    for (unsigned i = KILN_D_FULL; i <= KILN_D_PER_BLOCK && !tracing; i++)
        if (!fam || kg_is_kind(fam->input_kinds | fam->output_kinds, (kiln_dkind)i))
            kinds = kg_printf(cx->arena, "%s%s, ", kinds, kg_kind_names[i]);
    kg_reduces which = KG_NONE; /* where a family has outputs of its own, only ops with others reduce */
    if (tracing)
        which = kg_trace_reduces(L);
    else if (!fam || (fam->function[0].reduces && !kg_own_outputs(fam)))
        which = KG_OF_ROWS;
    return kg_printf(cx->arena, "; functions are %s%s", kinds, kg_expr_functions(cx, which));
}

const char *kg_names_hint(lua_State *L, const char *name)
{
    kg_ctx *cx = kg_sandbox_ctx(L);
    kg_pos at;
    const kg_source *s = kg_sandbox_running(L, &at);
    if (!s) return "";
    const kg_tokens *t = kg_source_tokens(cx, s);
    size_t i = find_name(t, at.line, name);
    if (i == t->n) return "";
    const kg_family *fam = family_around(cx, t, i);
    if (kg_token_is(t, i + 1, "{")) return sweeps(cx, fam);
    if (kg_token_is(t, i + 1, "(") || t->v[i + 1].kind == KG_TOK_STRING)
        return functions(L, cx, fam);
    return stands_for_type(cx, t, i, fam)
               ? kg_printf(cx->arena, "; types are %s", kg_expr_dtypes(cx))
               : "";
}
