// SPDX-License-Identifier: MIT
// kiln_reference: the whole problem in double precision, and kiln_reference_bounds: what a correct
// f32 evaluation of each element stays within.  What a family means is in ref_FAMILY.c.
#include <string.h>
#include "references.h"

/* ---- elements ---- */

int64_t kr_place(const kr_operand *o, int64_t batch, int64_t i, int64_t j)
{
    const int64_t at = o->layout == KILN_ROW ? i * o->ld + j : i + j * o->ld;
    return batch * o->stride + at;
}

kr_at kr_element(const kr_job *job, int tensor, int64_t batch, int64_t i, int64_t j)
{
    const kiln_tensor_row *t = &job->op->tensor[tensor];
    i = t->rows == KILN_NOWHERE ? 0 : t->row_block == 1 ? i : i / t->row_block;
    j = t->cols == KILN_NOWHERE ? 0 : t->col_block == 1 ? j : j / t->col_block;
    const kr_operand *o = &job->view.t[tensor];
    const int64_t at = kr_place(o, batch, i, j), per = kiln_per_byte(o->type);
    char *const base = job->args->tensor[t->arg];
    if (per == 1) return (kr_at){base + kr_span(o, at), 0};
    return (kr_at){base + at / per, (unsigned)(at % per) * o->bits};
}

const char *kr_option(const kr_job *job, const char *name)
{
    for (int i = 0; i < job->family->noptions; i++)
        if (strcmp(kr_str(job->module, job->family->option[i]), name) == 0)
            return kr_str(job->module, job->op->option[i]);
    return "";
}

uint32_t kr_inputs_of(const kr_job *job, kiln_expr_ref ref)
{
    const kiln_xnode *node = kr_nodes(job, ref);
    uint32_t inputs = 0;
    for (uint32_t i = 0; i < ref.count; i++)
        if (node[i].op == KILN_X_D) inputs |= 1u << node[i].index;
    return inputs;
}

void kr_load_d(const kr_job *job, uint32_t inputs, int64_t batch, const int64_t *at, double *d)
{
    for (int n = 0; n < job->nd; n++) {
        if (!(inputs >> n & 1)) continue;
        const kiln_tensor_row *t = &job->op->tensor[job->d[n]];
        const int64_t i = t->rows == KILN_NOWHERE ? 0 : at[t->rows],
                      j = t->cols == KILN_NOWHERE ? 0 : at[t->cols];
        if (i < 0 || j < 0) continue; /* of no row */
        d[n] = (double)(float)kr_decode(job->view.t[job->d[n]].type,
                                        kr_element(job, job->d[n], batch, i, j));
    }
}

/* ---- a job ---- */

static kiln_status check_job(kr_job *job, const kiln_problem *p, uint64_t hash)
{
    const kiln_op_row *op = job->op;
    kiln_status status = kr_sign(p, job->module, op, hash, &job->sig);
    if (status == KILN_OK) status = kr_view_make(p, &job->sig, job->module, op, NULL, &job->view);
    if (status == KILN_OK)
        status = kr_args_check(&job->view, job->module, op, job->args, !job->bounds);
    for (int i = 0; i < op->ntensors; i++)
        if (kr_is_input(&op->tensor[i])) job->d[job->nd++] = i;
    for (int i = 0; i < op->nscalars; i++) job->scalar[i] = (double)job->args->scalars[i];
    return status;
}

static kiln_status evaluate(const kr_job *job, double *lo, double *hi)
{
    const char *family = kr_str(job->module, job->family->name);
    for (size_t i = 0; i < KR_NREFERENCES; i++) {
        const kr_reference *r = kr_references[i];
        if (strcmp(r->family, family) != 0) continue;
        if (kr_nothing_to_do(job->family, &job->view.shape)) return KILN_OK;
        return job->bounds ? r->bounds(job, lo, hi) : r->values(job);
    }
    return kr_fail(KILN_NOT_SUPPORTED, "this libkiln has no reference for ops of family '%s'",
                   family);
}

static kiln_status reference(const kiln_problem *p, const kiln_args *args, bool bounds, double *lo,
                             double *hi)
{
    kr_job job = {.bounds = bounds};
    kiln_problem room;
    uint64_t hash;
    kr_module *m;
    if (!(p = kr_problem_in(p, &room))) return KILN_INVALID;
    kiln_status status = kr_op_name(p, &hash);
    if (status) return status;
    if (!(job.args = kr_args_in(args, &job.room))) return KILN_INVALID;
    status = kr_op_acquire(p->op, &job.op, &m);
    if (status) return status;
    job.module = m;
    job.family = kr_family(m, job.op);
    status = check_job(&job, p, hash);
    if (status == KILN_OK) status = evaluate(&job, lo, hi);
    kr_module_close(m);
    return status;
}

kiln_status kiln_reference(const kiln_problem *p, const kiln_args *args)
{
    return reference(p, args, false, NULL, NULL);
}

kiln_status kiln_reference_bounds(const kiln_problem *p, const kiln_args *args, double *lo,
                                  double *hi)
{
    if (!lo || !hi)
        return kr_fail(KILN_INVALID,
                       "kiln_reference_bounds needs two arrays of a double for each element of "
                       "the outputs");
    return reference(p, args, true, lo, hi);
}
