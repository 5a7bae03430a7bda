// SPDX-License-Identifier: MIT
// What a rowwise op means: its body, row by row (rows.c).
#include "rows.h"

enum { ROWS, COLS }; /* sizes, and what `at` counts */

/* ---- the interface ---- */

/* Outputs have an element for each row, of one or of several columns, or of all. */
static bool is_rowwise(const kr_job *job)
{
    if (job->family->nsizes != 2 || job->family->nown) return false;
    for (int i = 0; i < job->op->ntensors; i++) {
        const kiln_tensor_row *t = &job->op->tensor[i];
        if ((t->rows != KILN_NOWHERE && t->rows != ROWS) || t->row_block != 1 ||
            (t->cols != KILN_NOWHERE && t->cols != COLS) || (t->out && t->rows != ROWS))
            return false;
    }
    return true;
}

static kiln_status run(const kr_job *job, double *lo, double *hi)
{
    if (!is_rowwise(job))
        return kr_fail(KILN_BAD_MODULE,
                       "%s: its op '%s' is no rowwise op as this libkiln knows them",
                       job->module->path, kr_str(job->module, job->op->name));
    const int64_t *size = job->view.shape.size;
    kr_rows w;
    bool room = kr_rows_open(&w, job, size[COLS], false);
    for (w.batch = 0; room && w.batch < size[KILN_BATCH]; w.batch++)
        for (w.row = 0; room && w.row < size[ROWS]; w.row++) {
            room = kr_rows_evaluate(&w);
            if (room) kr_rows_put(&w, lo, hi);
        }
    kr_rows_close(&w);
    return room ? KILN_OK
                : kr_fail(KILN_NO_MEMORY, "no memory for a reference with cols=%lld",
                          (long long)size[COLS]);
}

static kiln_status values(const kr_job *job)
{
    return run(job, NULL, NULL);
}

const kr_reference kr_ref_rowwise = {"rowwise", values, run, NULL};
