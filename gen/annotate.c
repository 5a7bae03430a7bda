// SPDX-License-Identifier: MIT
// Annotations for editors that run the Lua language server: what depends on the files of
// templates/, which are the names of targets and each schedule's constructor of sweeps, with its
// tunables and the values that they take.  instances/kiln.d.lua has the language itself.
#include "back.h"

/* One line, whatever the text holds. */
static void put_text(FILE *to, const char *text)
{
    for (; *text; text++) fputc((unsigned char)*text < ' ' ? ' ' : *text, to);
}

static void put_tunable(FILE *to, const kg_schedule *s, const kg_tunable *t)
{
    fprintf(to, "---@alias kiln.%s.%s ", s->name, t->name);
    for (size_t i = 0; i < t->nvalues; i++)
        fprintf(to, "%s%lld", i ? "|" : "", (long long)t->value[i]);
    fputc('\n', to);
}

static void put_schedule(FILE *to, const kg_schedule *s)
{
    fputc('\n', to);
    for (size_t i = 0; i < s->ntunables; i++) put_tunable(to, s, &s->tunable[i]);
    fprintf(to, "\n---@class kiln.%s.Sweep\n", s->name);
    for (size_t i = 0; i < s->ntunables; i++) {
        const kg_tunable *t = &s->tunable[i];
        fprintf(to, "---@field %s? kiln.%s.%s|kiln.%s.%s[] ", t->name, s->name, t->name, s->name,
                t->name);
        put_text(to, t->doc);
        fputc('\n', to);
    }
    fputs("\n---", to);
    put_text(to, s->title);
    fprintf(to,
            ".\n---A sweep: all combinations of these values, the other tunables as in the first "
            "default.\n"
            "---@param axes kiln.%s.Sweep\n---@return kiln.Sweep\nfunction %s(axes) end\n",
            s->name, s->name);
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
    for (size_t i = 0; i < cx->nschedules; i++) put_schedule(to, cx->schedule[i]);
}
