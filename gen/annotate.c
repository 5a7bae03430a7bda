// SPDX-License-Identifier: MIT
// Annotations for editors that run the Lua language server: what depends on the files of
// templates/, which are the names of targets and each schedule's constructor of sweeps, with its
// tunables and the values that they take.  instances/kiln.d.lua has the language itself.
//   A constructor is known by its name alone, and the op's family says whose schedule it is: where
// several families have one of that name, theirs are one here, with the tunables and values of all.
#include "back.h"
#include <stdlib.h>
#include <string.h>

/* Schedules of one name, in the order of their families. */
typedef struct group {
    const kg_schedule *const *of;
    size_t n;
} group;

/* One line, whatever the text holds. */
static void put_text(FILE *to, const char *text)
{
    for (; *text; text++) fputc((unsigned char)*text < ' ' ? ' ' : *text, to);
}

static const kg_tunable *find(const kg_schedule *s, const char *name)
{
    for (size_t i = 0; i < s->ntunables; i++)
        if (strcmp(s->tunable[i].name, name) == 0) return &s->tunable[i];
    return NULL;
}

/* Whether a schedule before number k of the group has the tunable; a value of it. */
static bool is_known(const group *g, size_t k, const char *name)
{
    for (size_t i = 0; i < k; i++)
        if (find(g->of[i], name)) return true;
    return false;
}

static bool is_known_value(const group *g, size_t k, const char *name, int64_t value)
{
    for (size_t i = 0; i < k; i++) {
        const kg_tunable *t = find(g->of[i], name);
        for (size_t v = 0; t && v < t->nvalues; v++)
            if (t->value[v] == value) return true;
    }
    return false;
}

static void put_values(FILE *to, const group *g, const char *name)
{
    const char *sign = "";
    fprintf(to, "---@alias kiln.%s.%s ", g->of[0]->name, name);
    for (size_t k = 0; k < g->n; k++) {
        const kg_tunable *t = find(g->of[k], name);
        for (size_t i = 0; t && i < t->nvalues; i++) {
            if (is_known_value(g, k, name, t->value[i])) continue;
            fprintf(to, "%s%lld", sign, (long long)t->value[i]);
            sign = "|";
        }
    }
    fputc('\n', to);
}

/* What each schedule of the group says of it, once, with the families where there are several. */
static void put_doc(FILE *to, const group *g, const char *name)
{
    const char *sign = "";
    for (size_t k = 0; k < g->n; k++) {
        const kg_tunable *t = name ? find(g->of[k], name) : NULL;
        const char *text = name ? (t ? t->doc : NULL) : g->of[k]->title;
        if (!text) continue;
        fputs(sign, to);
        if (g->n > 1) fprintf(to, "%s: ", g->of[k]->family->name);
        put_text(to, text);
        sign = "; ";
    }
}

static void put_group(FILE *to, const group *g)
{
    const char *const name = g->of[0]->name;
    fputc('\n', to);
    for (size_t k = 0; k < g->n; k++)
        for (size_t i = 0; i < g->of[k]->ntunables; i++)
            if (!is_known(g, k, g->of[k]->tunable[i].name))
                put_values(to, g, g->of[k]->tunable[i].name);
    fprintf(to, "\n---@class kiln.%s.Sweep\n", name);
    for (size_t k = 0; k < g->n; k++) {
        for (size_t i = 0; i < g->of[k]->ntunables; i++) {
            const char *t = g->of[k]->tunable[i].name;
            if (is_known(g, k, t)) continue;
            fprintf(to, "---@field %s? kiln.%s.%s|kiln.%s.%s[] ", t, name, t, name, t);
            put_doc(to, g, t);
            fputc('\n', to);
        }
    }
    fputs("\n---", to);
    put_doc(to, g, NULL);
    fprintf(to,
            ".\n---A sweep: all combinations of these values, the other tunables as in the first "
            "default.\n"
            "---@param axes kiln.%s.Sweep\n---@return kiln.Sweep\nfunction %s(axes) end\n",
            name, name);
}

static int by_name(const void *pa, const void *pb)
{
    const kg_schedule *a = *(const kg_schedule *const *)pa, *b = *(const kg_schedule *const *)pb;
    int c = strcmp(a->name, b->name);
    return c ? c : strcmp(a->family->name, b->family->name);
}

void kg_annotate(const kg_ctx *cx, FILE *to)
{
    fputs("---@meta\n"
          "-- Targets and schedules, for editors.  Written by `kiln-gen --annotations`; do not "
          "edit.\n\n"
          "---@alias kiln.Target ",
          to);
    for (size_t i = 0; i < cx->ntargets; i++)
        fprintf(to, "%s\"%s\"", i ? "|" : "", cx->target[i]->name);
    fputc('\n', to);
    const kg_schedule **sorted = kg_alloc(cx->arena, (cx->nschedules + 1) * sizeof *sorted);
    for (size_t i = 0; i < cx->nschedules; i++) sorted[i] = cx->schedule[i];
    if (cx->nschedules) qsort(sorted, cx->nschedules, sizeof *sorted, by_name);
    for (size_t i = 0, n; i < cx->nschedules; i += n) {
        for (n = 1; i + n < cx->nschedules && strcmp(sorted[i]->name, sorted[i + n]->name) == 0;)
            n++;
        put_group(to, &(group){sorted + i, n});
    }
}
