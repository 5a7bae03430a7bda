// SPDX-License-Identifier: MIT
// What an attention op means, in double precision, and what a correct evaluation in f32 stays
// within:  O = epilogue(sum_j w_j V_j / sum_j w_j),  w_j = e^(s_j - m),  s_j = score(Q . K_j).
//   Query by query of each sequence, which is a batch or some rows of a matrix of all of them.  A
// weight is off by what its score is (dot product, the traced function), by
// rounding of the exponent and of e^x: w_j (1 + d_j), |d_j| <= D_j, which moves O by at most
// sum w_j D_j |V_j - O| / sum w_j (1 - D_j).  Weights may be rounded to a 16-bit type before they
// meet V, and sums are of as many terms as there are keys, with a rescaling for each at most.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

enum { Q, K, V, O };            /* the family's own tensors */
enum { SCORE, SINK, EPILOGUE }; /* its functions */
enum {
    HEADS,
    KV_HEADS,
    QUERIES,
    KEYS = 4,
    DIM,
    DIMV,
    WINDOW,
    PAGES
};                                /* its sizes, batch among them */
enum { QUERY, KEY, HEAD, BATCH }; /* places */

#define U      0x1p-24 /* half a unit in the last place of f32, relative */
#define F16_U  0x1p-11 /* of f16, and bf16 */
#define BF16_U 0x1p-8
/* What a tanh may be off by that becomes part of an exponent, where errors count as they are and
 * not as shares of the result; a sigmoid by half of it. */
#define TANH_OFF 0x1p-20

typedef kr_interval iv;

/* A key as a query sees it. */
typedef struct weight {
    double s, w, d, by; /* score, e^(s - m), D, the most that w may be above itself */
    bool seen;
} weight;

/* What a column of O is made of: of V weighted, in V, and of how far weights may move it. */
typedef struct column {
    double sum, wide, square, lo, hi, y, moved;
} column;

typedef struct attention {
    const kr_job *job;
    int64_t keys, queries, dim, dimv; /* of the sequence, */
    int64_t first_key, first_query;   /* which begins there in matrices of all sequences */
    int q_begin, kv_begin, kv_length, kv_pages; /* index arrays; -1: there is none */
    bool causal, window;
    double *k, *v, *q; /* of a head: keys x dim, keys x dimv; dim */
    bool *lost;        /* of a key: its page is none */
    weight *key;
    bool *finite; /* of a column of V: all that the sequence's keys have there */
    column *col;
    iv *scratch;
    bool *absolute; /* of a node of the score: TANH_OFF is what it may be off by */
    double to_p; /* what rounding a weight for its product with V is off by */
    int lse;     /* position in the op's tensors; -1: not asked for */
    int64_t batch, head, kv_head, query; /* query: of the sequence */
} attention;

/* What is known of a query's weights. */
typedef struct query {
    double most, sum, least; /* m; sum of w; at least */
    int64_t count;           /* of weights that are not 0 */
    bool nan, vague, empty;  /* NaN for certain; anything; no key and no sink */
    double rel;              /* of the sum of weights: what adding up is off by */
    double spread;           /* sum of w D */
} query;

/* ---- inputs, functions ---- */

static kr_at place(const attention *a, int tensor, int64_t plane, int64_t i, int64_t j)
{
    const kr_operand *o = &a->job->view.t[tensor];
    char *base = a->job->args->tensor[a->job->op->tensor[tensor].arg];
    return (kr_at){base + kr_span(o, kr_place(o, a->batch, i, j) + plane * o->plane), 0};
}

static double element(const attention *a, int tensor, int64_t plane, int64_t i, int64_t j)
{
    return kr_decode(a->job->view.t[tensor].type, place(a, tensor, plane, i, j));
}

static double input(const attention *a, int d, int64_t j)
{
    const int at = a->job->d[d];
    const kiln_tensor_row *t = &a->job->op->tensor[at];
    const kr_operand *o = &a->job->view.t[at];
    const int64_t plane = o->planes == 1 ? 0 : t->kind == KILN_D_PER_KV_HEAD ? a->kv_head : a->head;
    const bool full = t->kind == KILN_D_FULL;
    return (double)(float)element(a, at, plane, full ? a->first_query + a->query : 0, full ? j : 0);
}

static bool has(const attention *a, int function)
{
    return a->job->op->function[function].count > 0;
}

/* A function of x, at key j. */
static iv apply(const attention *a, int function, iv x, int64_t j)
{
    const kr_job *job = a->job;
    const kiln_expr_ref ref = job->op->function[function];
    const kiln_xnode *n = kr_nodes(job, ref);
    double d[KILN_MAX_TENSORS] = {0};
    const int64_t at = a->keys - a->queries + a->query;
    const kr_leaves leaf = {
        .d = d, .s = job->scalar, .at = {(double)at, (double)j, (double)a->head, (double)a->batch}};
    for (uint32_t i = 0; i < ref.count; i++) {
        const uint16_t *g = n[i].arg;
        if (n[i].op == KILN_X_D) d[n[i].index] = input(a, n[i].index, j);
        if (n[i].op == KILN_X_ARG)
            a->scratch[i] = x;
        else if (kr_x_operands[n[i].op] == 0)
            a->scratch[i] = kr_leaf_interval(&n[i], NULL, &leaf);
        else
            a->scratch[i] =
                kr_apply_interval(&n[i], a->scratch[g[0]], a->scratch[g[1]], a->scratch[g[2]]);
        if (function == SCORE && a->absolute[i])
            a->scratch[i] = kr_interval_widen(
                a->scratch[i], n[i].op == KILN_X_TANH ? TANH_OFF : TANH_OFF / 2);
    }
    return a->scratch[ref.count - 1];
}

/* The same in double precision, of an x that is known. */
static double value_of(const attention *a, int function, double x, int64_t j)
{
    const kiln_expr_ref ref = a->job->op->function[function];
    const kiln_xnode *n = kr_nodes(a->job, ref);
    double d[KILN_MAX_TENSORS] = {0};
    const int64_t at = a->keys - a->queries + a->query;
    const kr_leaves leaf = {.d = d,
                            .s = a->job->scalar,
                            .x = x,
                            .at = {(double)at, (double)j, (double)a->head, (double)a->batch}};
    for (uint32_t i = 0; i < ref.count; i++)
        if (n[i].op == KILN_X_D) d[n[i].index] = input(a, n[i].index, j);
    return kr_eval(n, ref.count, &leaf, (double *)a->scratch);
}

/* ---- scores ---- */

/* Which operands the result of a node is a multiple of, whatever the others are, or a sum. */
static bool is_linear_in(const kiln_xnode *n, int operand, const bool *varies)
{
    switch ((kiln_xop)n->op) {
    case KILN_X_ADD:
    case KILN_X_SUB:
    case KILN_X_NEG:
        return true;
    case KILN_X_MUL:
        return !varies[n->arg[1 - operand]];
    case KILN_X_DIV:
        return operand == 0 && !varies[n->arg[1]];
    default:
        return false;
    }
}

/* Marks each tanh and sigmoid from which the score comes by sums and multiples alone, in whose
 * factors no product of Q and K is: its error is the exponent's, times what it is multiplied by. */
static void mark_absolute(attention *a, bool *varies)
{
    const kiln_expr_ref ref = a->job->op->function[SCORE];
    const kiln_xnode *n = kr_nodes(a->job, ref);
    for (uint32_t i = 0; i < ref.count; i++) {
        varies[i] = n[i].op == KILN_X_ARG;
        for (int k = 0; k < kr_x_operands[n[i].op]; k++) varies[i] |= varies[n[i].arg[k]];
        a->absolute[i] = varies[i];
    }
    for (uint32_t i = ref.count; i-- > 0;) {
        for (int k = 0; k < kr_x_operands[n[i].op]; k++)
            if (!a->absolute[i] || !is_linear_in(&n[i], k, varies)) a->absolute[n[i].arg[k]] = false;
        a->absolute[i] &= n[i].op == KILN_X_TANH || n[i].op == KILN_X_SIGMOID;
    }
}

static bool sees(const attention *a, int64_t j)
{
    const int64_t *size = a->job->view.shape.size;
    const int64_t at = a->keys - a->queries + a->query;
    if (a->lost[j]) return false;
    if (a->causal || a->window)
        if (j > at) return false;
    return !a->window || j > at - size[WINDOW];
}

/* Q . K_j, and what a sum in f32 of the products may be off by. */
static iv dot(const attention *a, int64_t j)
{
    const double *k = a->k + j * a->dim;
    double sum = 0, wide = 0;
    for (int64_t e = 0; e < a->dim; e++) {
        sum += a->q[e] * k[e];
        wide += fabs(a->q[e] * k[e]);
    }
    if (isnan(sum)) return kr_point(NAN);
    if (isinf(wide)) return isinf(sum) ? kr_point(sum) : (iv){-INFINITY, INFINITY, 1};
    if (!a->job->bounds || wide == 0) return (iv){sum, sum, 0};
    const kiln_sums *own = &a->job->args->sums;
    double relative = (KR_LAMBDA * sqrt((double)a->dim) + 1) * U;
    if (own->product_bits > 0) relative += ldexp(1, 2 - own->product_bits);
    if (own->bits > 0 && own->step > 0)
        relative += ceil((double)a->dim / own->step) * ldexp(1, 1 - own->bits);
    const iv x = kr_interval_widen((iv){sum, sum, 0}, relative * wide + (double)FLT_MIN);
    return wide > FLT_MAX ? (iv){-INFINITY, INFINITY, 1} : x;
}

static iv score(const attention *a, int64_t j)
{
    const iv x = dot(a, j);
    if (has(a, SCORE) && !a->job->bounds && x.nan == 0)
        return kr_point(value_of(a, SCORE, x.lo, j));
    if (has(a, SCORE)) return apply(a, SCORE, x, j);
    if (x.nan == 2) return x;
    const double scale = 1 / sqrt((double)a->dim), by = 4 * U * fmax(fabs(x.lo), fabs(x.hi));
    const iv s = {x.lo * scale, x.hi * scale, x.nan};
    return a->job->bounds && isfinite(by) ? kr_interval_widen(s, by * scale + (double)FLT_MIN) : s;
}

/* ---- weights ---- */

/* Notes one score among the query's; half: how far it may be from s. */
static void note(query *r, iv x, weight *w)
{
    *w = (weight){.s = -INFINITY, .seen = true};
    if (x.nan == 2) {
        r->nan = true;
    } else if (x.nan == 1 || x.hi == INFINITY || (x.lo == -INFINITY && x.hi > -INFINITY)) {
        /* +inf for certain leaves inf - inf */
        if (x.nan == 0 && x.lo == INFINITY)
            r->nan = true;
        else
            r->vague = true;
    } else if (x.hi > -INFINITY) {
        w->s = x.lo + (x.hi - x.lo) / 2;
        w->d = x.hi - w->s;
        r->most = fmax(r->most, w->s);
        r->count++;
    }
}

/* What a kernel's e^(s - m) may be off by, relative and as a number, and e^(s - m) itself.  Where s
 * is far below m, as -1e30 is, the exponent may be off by more than a double's e^x can say, and what
 * comes of it is nothing all the same. */
static void weigh(const attention *a, query *r, weight *w)
{
    if (w->s == -INFINITY) return;
    w->w = exp(w->s - r->most);
    if (a->job->bounds) {
        const double exponent = 2 * U * (2 * fabs(w->s) + 2 * fabs(r->most) + r->most - w->s + 8);
        w->by = w->w == 0 ? exp(w->s - r->most + w->d + exponent) : 0;
        w->d = expm1(w->d + exponent);
        if (w->w > 0) w->by = w->w * w->d;
    }
    r->sum += w->w;
    r->least += w->w * fmax(1 - w->d, 0);
    r->spread += fmin(w->by, 1e30);
}

static void weigh_all(const attention *a, query *r, weight *sink)
{
    *r = (query){.most = -INFINITY};
    *sink = (weight){.s = -INFINITY};
    if (has(a, SINK)) note(r, apply(a, SINK, kr_point(0), 0), sink);
    for (int64_t j = 0; j < a->keys; j++) {
        a->key[j] = (weight){.s = -INFINITY};
        if (sees(a, j)) note(r, score(a, j), &a->key[j]);
    }
    if (r->nan) r->vague = false;
    if (r->nan || r->vague) return;
    r->empty = r->count == 0;
    if (r->empty) return;
    weigh(a, r, sink);
    for (int64_t j = 0; j < a->keys; j++) weigh(a, r, &a->key[j]);
    r->rel = (KR_LAMBDA * sqrt(2.0 * (double)r->count) + 2) * U;
    const kiln_sums *own = &a->job->args->sums;
    if (own->bits > 0 && own->step > 0)
        r->rel += ceil((double)r->count / own->step) * ldexp(1, 1 - own->bits);
}

/* ---- one element of O ---- */

/* V is not finite somewhere: what becomes of it hangs on weights that may have vanished. */
static bool not_finite(const attention *a, int64_t col, iv *x)
{
    enum { SURE = -80 }; /* a weight above e^this is not 0 */
    double sum = 0;
    bool any = false, vague = false;
    for (int64_t j = 0; j < a->keys; j++) {
        const double v = a->v[j * a->dimv + col];
        const weight *w = &a->key[j];
        if (isfinite(v) || a->lost[j]) continue;
        any = true;
        sum += v;
        vague |= w->w == 0 || log(w->w) < SURE || w->d > 0.5;
    }
    if (vague)
        *x = (iv){-INFINITY, INFINITY, 1};
    else
        *x = kr_point(sum);
    return any;
}

/* Sums over the keys, of all columns at once: each in the order of keys. */
static void add_up(attention *a, const query *r, const weight *sink)
{
    const int64_t n = a->dimv;
    column *col = a->col;
    for (int64_t c = 0; c < n; c++)
        col[c] = (column){.lo = sink->w > 0 ? 0 : INFINITY, .hi = sink->w > 0 ? 0 : -INFINITY};
    for (int64_t j = 0; j < a->keys; j++) {
        const double *v = a->v + j * n, w = a->key[j].w;
        for (int64_t c = 0; w != 0 && c < n; c++) {
            const double wv = w * v[c];
            col[c].sum += wv, col[c].wide += fabs(wv), col[c].square += wv * wv;
            col[c].lo = v[c] < col[c].lo ? v[c] : col[c].lo;
            col[c].hi = v[c] > col[c].hi ? v[c] : col[c].hi;
        }
    }
    for (int64_t c = 0; c < n; c++) col[c].y = col[c].sum / r->sum;
    for (int64_t j = 0; a->job->bounds && j < a->keys; j++) {
        const double *v = a->v + j * n, by = a->key[j].by;
        for (int64_t c = 0; by != 0 && c < n; c++) col[c].moved += by * fabs(v[c] - col[c].y);
    }
}

static iv average(const attention *a, const query *r, const weight *sink, int64_t c)
{
    iv x;
    if (r->nan) return kr_point(NAN);
    if (r->vague) return (iv){-INFINITY, INFINITY, 1};
    if (!a->finite[c] && not_finite(a, c, &x)) return x;
    if (r->empty) return kr_point(0);
    const column *col = &a->col[c];
    const double y = col->y;
    if (!a->job->bounds) return kr_point(y);
    const double moved = sink->by * fabs(y) + col->moved;
    const double largest = fmax(fabs(col->lo), fabs(col->hi));
    const double size = col->wide / r->sum;
    const double rounded = fmin(size, KR_LAMBDA * sqrt(col->square) / r->sum);
    /* Sums and their quotient; weights that meet V rounded; those that are lost below the smallest
     * number, of f16 if that is what they are rounded to. */
    const double rest = r->rel * (size + fabs(y)) + a->to_p * (rounded + fabs(y)) +
                        (8 * U + (double)a->job->op->rtol) * fabs(y) +
                        (double)r->count * (a->to_p == F16_U ? 0x1p-25 : 0x1p-125) * largest +
                        (double)FLT_MIN;
    /* Wherever the weights are, the average lies among what is averaged. */
    iv among = {col->lo - rest, col->hi + rest, 0};
    if (r->least < 0.25 * r->sum) return kr_interval_widen(among, largest * r->rel);
    const double by = moved / r->least + rest;
    x = (iv){fmax(y - by, among.lo), fmin(y + by, among.hi), 0};
    return kr_interval_widen(x, 0);
}

static iv logarithm(const attention *a, const query *r)
{
    if (r->nan) return kr_point(NAN);
    if (r->vague) return (iv){-INFINITY, INFINITY, 1};
    if (r->empty) return kr_point(-INFINITY);
    const double y = r->most + log(r->sum);
    if (!a->job->bounds) return kr_point(y);
    const double by = fmin(r->spread / r->sum, 1e30) + 2 * r->rel +
                      8 * U * (fabs(y) + fabs(r->most) + 1) + (double)a->job->op->rtol * fabs(y);
    if (r->least >= 0.25 * r->sum) return kr_interval_widen((iv){y, y, 0}, by * r->sum / r->least);
    return kr_interval_widen((iv){y, y, 0}, by * 4 + fabs(log(fmax(r->least / r->sum, 1e-300))));
}

/* ---- a query ---- */

/* Where bounds of a row of an output are: a matrix of all batches' rows is the first one's. */
static int64_t result_at(const attention *a, const kr_operand *o, int64_t head, int64_t i)
{
    return (((o->batches > 1 ? a->batch : 0) * o->planes + head) * o->rows + i) * o->cols;
}

static void put(const attention *a, int tensor, int64_t col, iv x, double *lo, double *hi)
{
    const kr_operand *o = &a->job->view.t[tensor];
    if (a->job->bounds) {
        const int64_t at = result_at(a, o, a->head, a->first_query + a->query) + col;
        kr_interval_put(o->type, x, &lo[at], &hi[at]);
        return;
    }
    kr_encode(o->type, x.nan ? NAN : x.lo,
              place(a, tensor, a->head, a->first_query + a->query, col));
}

static void do_query(attention *a, double *lo, double *hi)
{
    const kr_operand *o = &a->job->view.t[O];
    const int64_t all = o->batches * o->planes * o->rows * o->cols;
    query r;
    weight sink;
    for (int64_t e = 0; e < a->dim; e++)
        a->q[e] = element(a, Q, a->head, a->first_query + a->query, e);
    weigh_all(a, &r, &sink);
    if (!r.nan && !r.vague && !r.empty) add_up(a, &r, &sink);
    for (int64_t c = 0; c < a->dimv; c++) {
        iv x = average(a, &r, &sink, c);
        if (has(a, EPILOGUE))
            x = a->job->bounds || x.nan ? apply(a, EPILOGUE, x, 0)
                                        : kr_point(value_of(a, EPILOGUE, x.lo, 0));
        put(a, O, c, x, lo, hi);
    }
    if (a->lse >= 0)
        put(a, a->lse, 0, logarithm(a, &r), lo ? lo + all : NULL, hi ? hi + all : NULL);
}

/* ---- sequences ---- */

static int64_t index_at(const attention *a, int tensor, int64_t i, int64_t j)
{
    const kr_operand *o = &a->job->view.t[tensor];
    const char *base = a->job->args->tensor[a->job->op->tensor[tensor].arg];
    return (int64_t)kr_decode(o->type,
                              (kr_at){(char *)(uintptr_t)base + 4 * kr_place(o, 0, i, j), 0});
}

/* Rows first .. first + *count - 1 of the size are the sequence's; false: they are not all there.
 */
static bool range_of(const attention *a, int begin, int64_t size, int64_t *first, int64_t *count)
{
    *first = 0, *count = size;
    if (begin < 0) return true;
    *first = index_at(a, begin, a->batch, 0);
    *count = index_at(a, begin, a->batch + 1, 0) - *first;
    return *first >= 0 && *count >= 0 && *first + *count <= size;
}

/* The sequence's queries and keys; false: it is left out. */
static bool find_sequence(attention *a)
{
    const int64_t *size = a->job->view.shape.size;
    bool good = range_of(a, a->q_begin, size[QUERIES], &a->first_query, &a->queries);
    if (!range_of(a, a->kv_begin, size[KEYS], &a->first_key, &a->keys)) good = false;
    if (a->kv_length >= 0) a->keys = index_at(a, a->kv_length, a->batch, 0);
    return good && a->keys >= 0 && a->keys <= size[KEYS];
}

/* Where offsets of queries decrease, rows may be several sequences', or none's. */
static bool is_ordered(const attention *a)
{
    for (int64_t b = 0; a->q_begin >= 0 && b < a->job->view.shape.size[KILN_BATCH]; b++)
        if (index_at(a, a->q_begin, b, 0) > index_at(a, a->q_begin, b + 1, 0)) return false;
    return true;
}

static double key_element(const attention *a, int tensor, int64_t page, int64_t i, int64_t e)
{
    const kr_operand *o = &a->job->view.t[tensor];
    char *base = a->job->args->tensor[a->job->op->tensor[tensor].arg];
    const int64_t at = kr_place(o, a->kv_pages < 0 ? a->batch : page, i, e);
    return kr_decode(o->type, (kr_at){base + kr_span(o, at + a->kv_head * o->plane), 0});
}

static void load_head(attention *a)
{
    const int64_t rows = a->job->view.t[K].rows; /* of a page, where there are pages */
    for (int64_t j = 0; j < a->keys; j++) {
        const int64_t page = a->kv_pages < 0 ? 0 : index_at(a, a->kv_pages, a->batch, j / rows);
        const int64_t i = a->kv_pages < 0 ? a->first_key + j : j % rows;
        a->lost[j] = a->kv_pages >= 0 && (page < 0 || page >= a->job->view.t[K].batches);
        for (int64_t e = 0; e < a->dim; e++)
            a->k[j * a->dim + e] = a->lost[j] ? 0 : key_element(a, K, page, i, e);
        for (int64_t e = 0; e < a->dimv; e++)
            a->v[j * a->dimv + e] = a->lost[j] ? 0 : key_element(a, V, page, i, e);
    }
    for (int64_t e = 0; e < a->dimv; e++) {
        a->finite[e] = true;
        for (int64_t j = 0; j < a->keys; j++) a->finite[e] &= isfinite(a->v[j * a->dimv + e]);
    }
}

/* Bounds of every element of the outputs: left as it is, or not determined. */
static void put_everywhere(const attention *a, double least, double most, double *lo, double *hi)
{
    const kr_job *job = a->job;
    int64_t n = 0;
    for (int i = 0; i < job->op->ntensors; i++) {
        const kr_operand *o = &job->view.t[i];
        if (job->op->tensor[i].out) n += o->batches * o->planes * o->rows * o->cols;
    }
    for (int64_t i = 0; i < n; i++) lo[i] = least, hi[i] = most;
}

static void do_all(attention *a, double *lo, double *hi)
{
    const int64_t *size = a->job->view.shape.size;
    const int64_t group = size[HEADS] / size[KV_HEADS];
    const bool ordered = is_ordered(a);
    if (lo && a->q_begin >= 0) put_everywhere(a, INFINITY, -INFINITY, lo, hi);
    if (lo && a->kv_length >= 0) put_everywhere(a, INFINITY, -INFINITY, lo, hi);
    if (lo && !ordered) put_everywhere(a, -INFINITY, INFINITY, lo, hi);
    if (lo && !ordered) return;
    for (a->batch = 0; a->batch < size[KILN_BATCH]; a->batch++) {
        if (!find_sequence(a)) continue;
        for (a->kv_head = 0; a->kv_head < size[KV_HEADS]; a->kv_head++) {
            load_head(a);
            for (int64_t h = 0; h < group; h++)
                for (a->query = 0; a->query < a->queries; a->query++) {
                    a->head = a->kv_head * group + h;
                    do_query(a, lo, hi);
                }
        }
    }
}

/* ---- the interface ---- */

/* The op's tensors and sizes as this file takes them. */
static bool is_attention(const kr_job *job)
{
    const kiln_op_row *op = job->op;
    if (job->family->nsizes != 8 || job->family->nown != 4 || op->ntensors <= O) return false;
    for (int i = Q; i <= O; i++)
        if (op->tensor[i].own != i || op->tensor[i].planes == KILN_NOWHERE) return false;
    for (int i = O + 1; i < op->ntensors; i++)
        if (op->tensor[i].out && op->tensor[i].kind != KILN_D_PER_QUERY) return false;
    for (int i = O + 1; i < op->ntensors; i++) {
        const kiln_tensor_row *t = &op->tensor[i];
        if (t->index && t->within != (t->index == KILN_INDEX_PAGE ? PAGES : KEYS) &&
            (t->index != KILN_INDEX_BEGIN || t->within != QUERIES))
            return false;
    }
    return true;
}

/* Position of the op's index array of that kind; -1: it has none. */
static int index_of(const kr_job *job, kiln_index index, int within)
{
    for (int i = O + 1; i < job->op->ntensors; i++)
        if (job->op->tensor[i].index == index && job->op->tensor[i].within == within) return i;
    return -1;
}

static double rounding_of(kiln_dtype v, kiln_dtype q)
{
    const kiln_dtype t = v == KILN_F16 || v == KILN_BF16 ? v : q;
    return t == KILN_F16 ? F16_U : t == KILN_BF16 ? BF16_U : v == KILN_F32 ? 0 : F16_U;
}

static kiln_status run(const kr_job *job, double *lo, double *hi)
{
    if (!is_attention(job))
        return kr_fail(KILN_BAD_MODULE, "%s: its op '%s' is no attention as this libkiln knows it",
                       job->module->path, kr_str(job->module, job->op->name));
    const int64_t *size = job->view.shape.size;
    const char *mask = kr_option(job, "mask");
    attention a = {.job = job,
                   .keys = size[KEYS],
                   .dim = size[DIM],
                   .dimv = size[DIMV],
                   .causal = strcmp(mask, "causal") == 0,
                   .window = strcmp(mask, "window") == 0,
                   .to_p = rounding_of(job->view.t[V].type, job->view.t[Q].type),
                   .q_begin = index_of(job, KILN_INDEX_BEGIN, QUERIES),
                   .kv_begin = index_of(job, KILN_INDEX_BEGIN, KEYS),
                   .kv_length = index_of(job, KILN_INDEX_LENGTH, KEYS),
                   .kv_pages = index_of(job, KILN_INDEX_PAGE, PAGES),
                   .lse = -1};
    uint32_t nodes = 1;
    for (int i = 0; i < KILN_MAX_FUNCTIONS; i++)
        if (job->op->function[i].count > nodes) nodes = job->op->function[i].count;
    for (int i = O + 1; i < job->op->ntensors; i++)
        if (job->op->tensor[i].out) a.lse = i;
    const size_t keys = (size_t)a.keys + 1;
    a.k = malloc(keys * (size_t)a.dim * sizeof *a.k);
    a.v = malloc(keys * (size_t)a.dimv * sizeof *a.v);
    a.q = malloc((size_t)a.dim * sizeof *a.q);
    a.key = malloc(keys * sizeof *a.key);
    a.lost = calloc(keys, sizeof *a.lost);
    a.col = malloc((size_t)a.dimv * sizeof *a.col);
    a.finite = malloc((size_t)a.dimv * sizeof *a.finite);
    a.scratch = malloc(nodes * sizeof *a.scratch);
    a.absolute = calloc(nodes, sizeof *a.absolute);
    bool *varies = calloc(nodes, sizeof *varies);
    const bool room = a.k && a.v && a.q && a.key && a.lost && a.col && a.finite && a.scratch &&
                      a.absolute && varies;
    if (room) mark_absolute(&a, varies);
    if (room) do_all(&a, lo, hi);
    free(a.k), free(a.v), free(a.q), free(a.key), free(a.lost), free(a.scratch);
    free(a.col), free(a.finite), free(a.absolute), free(varies);
    return room ? KILN_OK
                : kr_fail(KILN_NO_MEMORY, "no memory for a reference with kv=%lld",
                          (long long)a.keys);
}

static kiln_status values(const kr_job *job)
{
    return run(job, NULL, NULL);
}

const kr_reference kr_ref_attention = {"attention", values, run, NULL};
