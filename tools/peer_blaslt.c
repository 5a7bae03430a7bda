// SPDX-License-Identifier: MIT
// cuBLASLt or hipBLASLt: loading it, and one matmul of it with all that it can fuse.  Both are
// column-major: a row-major E is computed as its transpose, with A and B exchanged, so that E's
// columns are the library's rows, along which its bias lies.
#include "peer_blaslt.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Asked for with a workspace, and a few more that need none. */
enum { WITH_WORKSPACE = 24, WITHOUT = 8, CANDIDATES = WITH_WORKSPACE + WITHOUT };
static const size_t workspace_size = (size_t)64 << 20;

#define BIND(name)                                                                                 \
    do {                                                                                           \
        char symbol[96];                                                                           \
        snprintf(symbol, sizeof symbol, "%s%s", l->dialect->prefix, #name);                        \
        *(void **)(&l->f.name) = dlsym(library, symbol);                                           \
        if (!l->f.name) return snprintf(why, size, "its library has no %s", symbol), 0;            \
    } while (0)

static int bind(kt_blaslt *l, char *why, size_t size)
{
    void *library = kt_load(l->dialect->soname, why, size);
    if (!library) return 0;
    BIND(Create);
    BIND(Destroy);
    BIND(MatmulDescCreate);
    BIND(MatmulDescDestroy);
    BIND(MatmulDescSetAttribute);
    BIND(MatrixLayoutCreate);
    BIND(MatrixLayoutDestroy);
    BIND(MatrixLayoutSetAttribute);
    BIND(MatmulPreferenceCreate);
    BIND(MatmulPreferenceDestroy);
    BIND(MatmulPreferenceSetAttribute);
    BIND(MatmulAlgoGetHeuristic);
    BIND(Matmul);
    return 1;
}

int kt_blaslt_load(kt_blaslt *l, const kt_dialect *dialect, kiln_ctx *ctx, char *why, size_t size)
{
    *l = (kt_blaslt){.dialect = dialect, .ctx = ctx};
    if (!bind(l, why, size)) return 0;
    if (kiln_malloc(ctx, workspace_size, &l->workspace))
        return snprintf(why, size, "out of memory"), 0;
    if (l->f.Create(&l->handle)) {
        l->handle = NULL;
        return snprintf(why, size, "its library does not start"), 0;
    }
    return 1;
}

void kt_blaslt_unload(kt_blaslt *l)
{
    if (l->handle) l->f.Destroy(l->handle);
    if (l->workspace) kiln_free(l->ctx, l->workspace);
    l->handle = l->workspace = NULL;
}

/* ---- describing a product ---- */
static int set_int(kt_product *p, int attribute, int32_t value)
{
    return attribute != NO_ATTRIBUTE &&
           !p->vendor->f.MatmulDescSetAttribute(p->desc, attribute, &value, sizeof value);
}

static int set_pointer(kt_product *p, int attribute, const void *value)
{
    return !p->vendor->f.MatmulDescSetAttribute(p->desc, attribute, &value, sizeof value);
}

/* A matrix as the library sees it: column-major, transposed where Kiln's is row-major. */
static int make_layout(kt_product *p, int i, const kh_operand *o)
{
    const kt_blaslt_api *f = &p->vendor->f;
    const kt_dialect *d = p->vendor->dialect;
    const int row = o->layout == KILN_ROW;
    const uint64_t rows = (uint64_t)(row ? o->cols : o->rows),
                   cols = (uint64_t)(row ? o->rows : o->cols);
    const int32_t batch = (int32_t)o->batch;
    if (f->MatrixLayoutCreate(&p->layout[i], d->type[o->dtype], rows, cols, o->ld)) return 0;
    return batch == 1 ||
           (!f->MatrixLayoutSetAttribute(p->layout[i], d->layout_batch, &batch, sizeof batch) &&
            !f->MatrixLayoutSetAttribute(p->layout[i], d->layout_stride, &o->stride,
                                         sizeof o->stride));
}

/* A pointer that stands for those of the launches. */
static const void *const any = (const void *)(uintptr_t)256;

/* One value for each of E's columns (layout KILN_ROW) or rows. */
static int is_vector(const kh_operand *o, const kh_operand *e, kiln_layout layout)
{
    return o->layout == layout && (layout == KILN_ROW ? o->rows == 1 && o->cols == e->cols
                                                      : o->cols == 1 && o->rows == e->rows);
}

/* Along E's contiguous side, and one for all batches. */
static int set_bias(kt_product *p)
{
    const kt_dialect *d = p->vendor->dialect;
    const kh_operand *o = p->spec.bias;
    const kiln_dtype type = p->spec.a.dtype == KILN_I8 ? KILN_F32 : o->dtype;
    if (!is_vector(o, &p->spec.e, p->swapped ? KILN_ROW : KILN_COL) || o->batch > 1) return 0;
    return set_int(p, d->desc_bias_type, d->type[type]) && set_pointer(p, d->desc_bias, any);
}

/* The library's A has E's contiguous side. */
static int set_scales(kt_product *p)
{
    const kt_dialect *d = p->vendor->dialect;
    const kh_operand *e = &p->spec.e, *row = p->spec.row, *col = p->spec.col;
    if (d->desc_a_scale == NO_ATTRIBUTE || e->batch > 1 || row->dtype != KILN_F32 ||
        col->dtype != KILN_F32 || !is_vector(row, e, KILN_COL) || !is_vector(col, e, KILN_ROW))
        return 0;
    return set_int(p, d->desc_a_mode, d->mode_outer) && set_int(p, d->desc_b_mode, d->mode_outer) &&
           set_pointer(p, d->desc_a_scale, any) && set_pointer(p, d->desc_b_scale, any);
}

static int describe(kt_product *p)
{
    const kt_product_spec *s = &p->spec;
    const kt_dialect *d = p->vendor->dialect;
    const int integer = s->a.dtype == KILN_I8 && s->b.dtype == KILN_I8;
    const kh_operand *x = p->swapped ? &s->b : &s->a, *y = p->swapped ? &s->a : &s->b;
    int epilogue = s->activation;
    if (s->bias) epilogue = (epilogue == KT_DEFAULT ? 0 : epilogue) | KT_BIAS;
    if (p->vendor->f.MatmulDescCreate(&p->desc, integer ? d->compute_i32 : d->compute_f32,
                                      d->type[p->scale_i32 ? KILN_I32 : KILN_F32]))
        return 0;
    /* The library's A is op(A) = its rows by k: Kiln's matrix seen in column-major, transposed
     * unless it fits. */
    if (!set_int(p, d->desc_trans_a, x->layout != s->e.layout ? d->trans : d->trans_none) ||
        !set_int(p, d->desc_trans_b, y->layout != s->e.layout ? d->trans : d->trans_none) ||
        !set_int(p, d->desc_epilogue, epilogue))
        return 0;
    if (!integer && x->size == 1 && y->size == 1 && d->desc_fast != NO_ATTRIBUTE) {
        const int8_t yes = 1; /* an attribute of one byte */
        if (p->vendor->f.MatmulDescSetAttribute(p->desc, d->desc_fast, &yes, sizeof yes)) return 0;
    }
    return (!s->bias || set_bias(p)) && (!s->row || set_scales(p)) && make_layout(p, 0, x) &&
           make_layout(p, 1, y) && make_layout(p, 2, s->c ? s->c : &s->e) &&
           make_layout(p, 3, &s->e);
}

/* Adds at most `room` candidates that need no more workspace than this. */
static void propose(kt_product *p, uint64_t workspace, int room)
{
    const kt_blaslt_api *f = &p->vendor->f;
    const kt_dialect *d = p->vendor->dialect;
    const kh_operand *x = p->swapped ? &p->spec.b : &p->spec.a,
                     *y = p->swapped ? &p->spec.a : &p->spec.b, *e = &p->spec.e,
                     *c = p->spec.c ? p->spec.c : e;
    const kh_operand *const matrix[] = {x, y, c, e}; /* A, B, C, D of the library */
    void *preference = NULL;
    int found = 0;
    if (f->MatmulPreferenceCreate(&preference)) return;
    int ok = !f->MatmulPreferenceSetAttribute(preference, d->pref_workspace, &workspace,
                                              sizeof workspace);
    for (int i = 0; i < 4 && d->pref_align_a != NO_ATTRIBUTE; i++) {
        const uint32_t align =
            (uint32_t)(matrix[i]->align < KH_ALLOCATED ? matrix[i]->align : KH_ALLOCATED);
        ok = ok && !f->MatmulPreferenceSetAttribute(preference, d->pref_align_a + i, &align,
                                                    sizeof align);
    }
    if (ok && !f->MatmulAlgoGetHeuristic(p->vendor->handle, p->desc, p->layout[0], p->layout[1],
                                         p->layout[2], p->layout[3], preference, room,
                                         p->result + (size_t)p->found * d->result_size, &found))
        p->found += found;
    f->MatmulPreferenceDestroy(preference);
}

int kt_product_open(kt_product *p, const kt_blaslt *vendor, const kt_product_spec *spec)
{
    const kt_dialect *d = vendor->dialect;
    *p = (kt_product){.vendor = vendor, .spec = *spec, .algorithm = -1};
    p->swapped = spec->e.layout == KILN_ROW;
    p->scale_i32 = spec->e.dtype == KILN_I32;
    if (d->type[spec->a.dtype] < 0 || d->type[spec->b.dtype] < 0 || d->type[spec->e.dtype] < 0 ||
        (spec->c && spec->c->layout != spec->e.layout))
        return 0;
    p->result = calloc(CANDIDATES, d->result_size);
    if (!p->result || !describe(p)) return 0;
    propose(p, workspace_size, WITH_WORKSPACE);
    propose(p, 0, WITHOUT);
    return p->found;
}

/* Whether the heuristic vouches for it, and it is no earlier one again. */
int kt_product_usable(const kt_product *p, int algorithm)
{
    const kt_dialect *d = p->vendor->dialect;
    const unsigned char *result = p->result + (size_t)algorithm * d->result_size;
    int32_t state;
    memcpy(&state, result + d->result_state, sizeof state);
    if (state) return 0;
    for (int i = 0; i < algorithm; i++)
        if (!memcmp(p->result + (size_t)i * d->result_size, result, d->result_workspace)) return 0;
    return 1;
}

void kt_product_close(kt_product *p)
{
    for (int i = 0; i < 4; i++)
        if (p->layout[i]) p->vendor->f.MatrixLayoutDestroy(p->layout[i]);
    if (p->desc) p->vendor->f.MatmulDescDestroy(p->desc);
    free(p->result);
    *p = (kt_product){0};
}

kiln_status kt_product_launch(kt_product *p, int algorithm, const kt_matrices *m, void *stream)
{
    const kt_blaslt *l = p->vendor;
    const kt_dialect *d = l->dialect;
    const int32_t one = 1, zero = 0;
    const void *alpha = p->scale_i32 ? (const void *)&one : &p->spec.alpha;
    const float beta_f32 = p->spec.c ? p->spec.beta : 0;
    const void *beta = p->scale_i32 ? (const void *)&zero : &beta_f32;
    const void *x = p->swapped ? m->b : m->a, *y = p->swapped ? m->a : m->b;
    if (p->spec.bias && !set_pointer(p, d->desc_bias, m->bias)) return KILN_DRIVER;
    if (p->spec.row && (!set_pointer(p, d->desc_a_scale, p->swapped ? m->col : m->row) ||
                        !set_pointer(p, d->desc_b_scale, p->swapped ? m->row : m->col)))
        return KILN_DRIVER;
    return l->f.Matmul(l->handle, p->desc, alpha, x, p->layout[0], y, p->layout[1], beta,
                       p->spec.c ? m->c : m->e, p->layout[2], m->e, p->layout[3],
                       p->result + (size_t)algorithm * d->result_size, l->workspace, workspace_size,
                       stream)
               ? KILN_DRIVER
               : KILN_OK;
}
