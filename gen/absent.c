// SPDX-License-Identifier: MIT
// Why a schedule has no instance of an op's types and layouts on a target: it does not support
// them, the op's sweeps name other schedules, or its tiles are all cut.  `kiln explain` shows it.
#include "expand.h"
#include <string.h>
#include <unistd.h>

/* Has it a template for targets of this kind?  What the host computes is not asked of a GPU. */
static bool is_for(const expansion *x, const kg_schedule *s)
{
    const char *file = kg_printf(x->cx->arena, "%s.%s.tmpl", s->name, x->target->source);
    return access(kg_beside(x->cx, s->source, file), R_OK) == 0;
}

static bool has_instance(const expansion *x, const kg_schedule *s, size_t first)
{
    for (size_t i = first; i < x->n; i++)
        if (x->out[i]->schedule == s && x->out[i]->types == x->view.types &&
            x->out[i]->layout == x->view.layout)
            return true;
    return false;
}

/* The first of the op's sweeps on the target, unless one is of the schedule; NULL: there is none.
 */
static const kg_sweep *swept_otherwise(const expansion *x, const kg_schedule *s)
{
    const kg_sweep *other = NULL;
    for (size_t i = 0; i < x->op->nsweeps; i++) {
        const kg_sweep *w = &x->op->sweep[i];
        if (strcmp(w->target, x->target->name) != 0) continue;
        if (strcmp(w->schedule, s->name) == 0) return NULL;
        if (!other) other = w;
    }
    return other;
}

/* What becomes of the schedule's tiles, none of which is an instance. */
static bool cut_text(expansion *x, const kg_schedule *s, const char **why, kg_pos *pos)
{
    const size_t candidates = x->candidates;
    tally count = {0};
    if (!kg_expand_tiles(x, s, &count)) return false;
    x->candidates = candidates;
    *why = kg_expand_tally_text(x, &count, count.swept == 1 ? "tile" : "tiles");
    *pos = count.ncuts ? ((const kg_rule *)count.cut[0].who)->pos : x->op->where_pos;
    return true;
}

/* A sentence, and where what it speaks of stands. */
static bool reason(expansion *x, const kg_schedule *s, const char **text)
{
    const char *why;
    kg_pos pos = kg_function_pos(x->cx, s->supports, s->pos);
    if (!kg_expand_supports(x, s, &why)) return false;
    const kg_sweep *other = why ? NULL : swept_otherwise(x, s);
    if (other) {
        why = kg_printf(x->cx->arena, "`tiles` on %s are of other schedules: add `%s {}`",
                        x->target->name, s->name);
        pos = other->pos;
    } else if (!why && !cut_text(x, s, &why, &pos)) {
        return false;
    }
    *text = kg_printf(x->cx->arena, "%s (%s:%d)", why, kg_shown(x->cx, pos.file), pos.line);
    return true;
}

bool kg_expand_absent(expansion *x, size_t first)
{
    kg_ctx *cx = x->cx;
    for (size_t i = 0; kg_expand_next_view(x, i); i++)
        for (size_t k = 0; k < cx->nschedules; k++) {
            const kg_schedule *s = cx->schedule[k];
            const char *why;
            if (s->family != x->op->family || !is_for(x, s) || has_instance(x, s, first)) continue;
            if (!reason(x, s, &why)) return false;
            cx->absence = kg_grow(cx->arena, cx->absence, cx->nabsences, &cx->absence_cap,
                                  sizeof *cx->absence);
            cx->absence[cx->nabsences++] = (kg_absence){x->view, x->target, s, why};
        }
    return !x->stop;
}
