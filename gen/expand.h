// SPDX-License-Identifier: MIT
// Between expand.c (which combinations there are) and candidate.c (what becomes of one).
#ifndef KILN_GEN_EXPAND_H
#define KILN_GEN_EXPAND_H
#include "back.h"

/* What happened to the combinations of one sweep, or of the defaults on one target. */
typedef struct cut {
    const char *text;
    size_t count;
    bool varies;
    const void *who;
} cut;
typedef struct tally {
    size_t swept, by_where, kept;
    cut *cut;
    size_t ncuts, cap;
} tally;

typedef struct expansion {
    kg_ctx *cx;
    const kg_op *op;
    const kg_target *target;
    kg_view view;
    const int *ref; /* of the view's tables */
    kg_instance **out;
    size_t n, cap, candidates;
    bool any_size_only; /* drop instances that do not take any size */
    const char *limit;  /* why the last one considered does not */
    bool stop;          /* over a limit, or a schedule is wrong: other ops would say so again */
} expansion;

/* A schedule, the values of its tunables and where they come from. */
typedef struct candidate {
    const kg_schedule *schedule;
    const kg_sweep *sweep; /* NULL: defaults */
    int32_t slot[KILN_MAX_SLOTS];
} candidate;

const char *kg_expand_tally_text(const expansion *, const tally *, const char *noun);
/* The view with number i of the op; false: there is none, or (x->stop) its tables failed. */
bool kg_expand_next_view(expansion *, size_t i);
/* Considers the tiles of a schedule on the target: those of the op's sweeps, else the defaults. */
bool kg_expand_tiles(expansion *, const kg_schedule *, tally *);
/* absent.c: adds to cx->absence what instances from `first` on lack of the op on the target. */
bool kg_expand_absent(expansion *, size_t first);
void kg_expand_count_cut(expansion *, tally *, const void *who, const char *text, size_t n);
void kg_expand_push_view(expansion *, bool target_first);
bool kg_expand_supports(expansion *, const kg_schedule *,
                        const char **why); /* *why: NULL where it is supported */
bool kg_expand_consider(expansion *, candidate *, tally *);
#endif
