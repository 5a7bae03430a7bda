// SPDX-License-Identifier: MIT
// What an op of the tests' own family means: y[j][i] = body(x[i][j], d.., s..).  Linked into a
// library of the tests' own (tests/tools/family.sh): with its one line in references.h it is all
// that the library needs of a new family.
#include <stdlib.h>
#include "internal.h"

enum { ROWS, COLS }; /* sizes */
enum { X, Y };       /* of the op's tensors */

static kr_leaves leaves_at(const kr_job *job, int64_t b, int64_t i, int64_t j, double *d)
{
    kr_load_d(job, kr_inputs_of(job, job->op->function[0]), b, (const int64_t[]){i, j, 0}, d);
    const double x = (double)(float)kr_decode(job->view.t[X].type, kr_element(job, X, b, i, j));
    return (kr_leaves){.x = x, .d = d, .s = job->scalar};
}

static kiln_status run(const kr_job *job, double *lo, double *hi)
{
    const int64_t *size = job->view.shape.size;
    const kiln_expr_ref body = job->op->function[0];
    const kiln_xnode *node = kr_nodes(job, body);
    double d[KILN_MAX_TENSORS], *scratch = malloc(body.count * sizeof *scratch);
    kr_interval *room = malloc(body.count * sizeof *room);
    for (int64_t b = 0; scratch && room && b < size[KILN_BATCH]; b++)
        for (int64_t j = 0; j < size[COLS]; j++)
            for (int64_t i = 0; i < size[ROWS]; i++) {
                const kr_leaves leaf = leaves_at(job, b, i, j, d);
                const int64_t at = (b * size[COLS] + j) * size[ROWS] + i;
                if (job->bounds)
                    kr_interval_put(job->view.t[Y].type,
                                    kr_eval_interval(node, body.count, NULL, &leaf, room), &lo[at],
                                    &hi[at]);
                else
                    kr_encode(job->view.t[Y].type, kr_eval(node, body.count, &leaf, scratch),
                              kr_element(job, Y, b, j, i));
            }
    const bool good = scratch && room;
    free(scratch);
    free(room);
    return good ? KILN_OK : kr_fail(KILN_NO_MEMORY, "no memory for a reference");
}

static kiln_status values(const kr_job *job)
{
    return run(job, NULL, NULL);
}

const kr_reference kr_ref_transpose = {"transpose", values, run, NULL};
