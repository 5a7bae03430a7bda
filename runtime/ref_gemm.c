// SPDX-License-Identifier: MIT
// What a gemm means: elements after their operators, tile by tile the sums of their products
// (ref_gemm_sums.c), and the epilogue of each element; and the bounds that a correct f32 evaluation
// stays within.  Independent of device code.
#include "ref_gemm.h"
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 1 << 20 }; /* elements of A that are decoded once for all columns of B */

/* Called for every element of E, in no promised order. */
typedef void visit_element(const gemm *, int64_t batch, int64_t i, int64_t j, const tile *,
                           int64_t row, int64_t col);

/* ---- elements ---- */

/* An operator on elements of one operand, with the inputs that it uses. */
typedef struct element_op {
    kiln_expr_ref ref;
    uint32_t inputs;
    kiln_dtype mul;
    int tensor;
} element_op;

static element_op op_of(const gemm *g, int function, int product)
{
    const kiln_expr_ref ref = kr_gemm_function(g, function, product);
    return (element_op){ref, kr_inputs_of(g->job, ref), function == A_OP ? g->mul_a : g->mul_b,
                        function == A_OP ? A : B + product};
}

/* Element (i, j) of the operand, 0 where there is no row i; at: its place along M, N and K. */
static double element(const gemm *g, const element_op *op, int64_t batch, int64_t i, int64_t j,
                      const int64_t at[KILN_MAX_SIZES], double *radius, bool *vague)
{
    const kr_job *job = g->job;
    const kr_operand *o = &job->view.t[op->tensor];
    const kiln_expr_ref ref = op->ref;
    double d[KILN_MAX_TENSORS] = {0};
    *radius = 0;
    double x = i < 0 ? 0 : kr_decode(o->type, kr_element(job, op->tensor, batch, i, j));
    if (ref.count == 0 && o->type == op->mul) return x;
    x = (double)(float)x;
    if (ref.count == 0) return kr_round_to(op->mul, x);
    const kiln_xnode *node = kr_nodes(job, ref);
    kr_load_d(job, op->inputs, batch, at, d);
    const kr_leaves leaf = {.d = d, .s = job->scalar, .x = x};
    if (!job->bounds)
        return kr_round_to(op->mul, kr_eval(node, ref.count, &leaf, (double *)g->scratch));
    const kr_interval v =
        kr_interval_round(op->mul, kr_eval_interval(node, ref.count, NULL, &leaf, g->scratch));
    if (v.nan == 2) return NAN;
    if (v.lo == v.hi && !v.nan) return v.lo;
    if (v.nan || isinf(v.lo) || isinf(v.hi)) {
        *vague = true;
        return 0;
    }
    *radius = (v.hi - v.lo) / 2;
    return v.lo + *radius;
}

static void store(const gemm *g, panel *p, int64_t at, double mid, double radius)
{
    p->mid[at] = mid;
    if (g->job->bounds) p->wide[at] = fabs(mid) + radius;
}

static int64_t index_at(const gemm *g, int tensor, int64_t i)
{
    const kr_job *job = g->job;
    return (int64_t)kr_decode(KILN_I32, kr_element(job, tensor, 0, i, 0));
}

int64_t kr_gemm_row_of_a(const gemm *g, int64_t i)
{
    if (g->row < 0) return i;
    const int64_t row = index_at(g, g->row, i);
    return row >= 0 && row < g->job->view.shape.size[TOKENS] ? row : -1;
}

/* Rows first .. end - 1 of E are the batch's. */
static void range_of(const gemm *g, int64_t batch, int64_t *first, int64_t *end)
{
    const int64_t m = g->job->view.shape.size[M];
    *first = 0, *end = m;
    if (g->first < 0) return;
    *first = index_at(g, g->first, batch), *end = index_at(g, g->end, batch);
    if (*first < 0 || *end < *first || *end > m) *first = *end = 0;
}

static void pack_a(const gemm *g, int64_t batch, int64_t i0, int64_t rows, panel *p)
{
    const int64_t depth = g->job->view.shape.size[K];
    const element_op op = op_of(g, A_OP, 0);
    for (int64_t i = 0; i < rows; i++) {
        const int64_t row = kr_gemm_row_of_a(g, i0 + i);
        p->vague[i] = false;
        for (int64_t k = 0; k < depth; k++) {
            double radius;
            const int64_t at[KILN_MAX_SIZES] = {[M] = i0 + i, [K] = k, [TOKENS] = row};
            const double mid = element(g, &op, batch, row, k, at, &radius, &p->vague[i]);
            store(g, p, i * depth + k, mid, radius);
        }
    }
}

static void pack_b(const gemm *g, int product, int64_t batch, int64_t j0, int64_t cols, panel *p)
{
    const int64_t depth = g->job->view.shape.size[K];
    const element_op op = op_of(g, B_OP, product);
    for (int64_t j = 0; j < COLS; j++) {
        p->vague[j] = false;
        for (int64_t k = 0; k < depth; k++) {
            double radius = 0, mid = 0;
            const int64_t at[KILN_MAX_SIZES] = {[N] = j0 + j, [K] = k};
            if (j < cols) mid = element(g, &op, batch, k, j0 + j, at, &radius, &p->vague[j]);
            store(g, p, k * COLS + j, mid, radius);
        }
    }
}

static bool alloc_panel(panel *p, int64_t lines, int64_t k, bool bounds)
{
    const size_t elements = (size_t)lines * (size_t)k + 1;
    p->mid = malloc(elements * sizeof *p->mid);
    p->wide = bounds ? malloc(elements * sizeof *p->wide) : NULL;
    p->vague = calloc((size_t)lines, sizeof *p->vague);
    return p->mid && (p->wide || !bounds) && p->vague;
}

static void free_panel(panel *p)
{
    free(p->mid);
    free(p->wide);
    free(p->vague);
}

static bool names_outputs(const kr_job *job)
{
    for (int i = B + job->op->products + 1; i < job->op->ntensors; i++)
        if (job->op->tensor[i].out) return true;
    return false;
}

/* Rows that no batch has stay as they are. */
static void nobody_has(const gemm *g)
{
    const kr_job *job = g->job;
    int64_t n = 0;
    if (!job->bounds || g->first < 0) return;
    for (int i = 0; i < job->op->ntensors; i++) {
        const kr_operand *o = &job->view.t[i];
        if (job->op->tensor[i].out) n += o->batches * o->rows * o->cols;
    }
    for (int64_t i = 0; i < n; i++) g->lo[i] = INFINITY, g->hi[i] = -INFINITY;
}

static kiln_status products(const gemm *g, visit_element *visit)
{
    const kiln_shape *s = &g->job->view.shape;
    const int64_t m = s->size[M], n = s->size[N], k = s->size[K];
    int64_t kept = KEPT / (k + 1) / ROWS * ROWS; /* rows of A */
    const bool outputs = names_outputs(g->job);
    if (outputs && kept > KEPT / (n + 1) / ROWS * ROWS) kept = KEPT / (n + 1) / ROWS * ROWS;
    if (kept < ROWS) kept = ROWS;
    if (kept > m) kept = m + !m;
    panel a = {0}, b[KILN_MAX_B] = {0};
    tile *t = calloc(1, sizeof *t);
    kiln_status status = KILN_OK;
    kr_gemm_outputs *rows_of = outputs ? kr_gemm_outputs_open(g, kept) : NULL;
    nobody_has(g);
    bool room = t && (rows_of || !outputs) && alloc_panel(&a, kept, k, g->job->bounds);
    for (int p = 0; p < g->job->op->products && room; p++)
        room = alloc_panel(&b[p], COLS, k, g->job->bounds);
    for (int64_t batch = 0; room && batch < s->size[KILN_BATCH]; batch++) {
        int64_t first, end;
        range_of(g, batch, &first, &end);
        for (int64_t top = first; room && top < end; top += kept) {
            const int64_t height = end - top < kept ? end - top : kept;
            pack_a(g, batch, top, height, &a);
            for (int64_t j = 0; j < n; j += COLS) {
                const int64_t cols = n - j < COLS ? n - j : COLS;
                for (int p = 0; p < g->job->op->products; p++) pack_b(g, p, batch, j, cols, &b[p]);
                for (int64_t i = 0; i < height; i += ROWS) {
                    const int64_t rows = height - i < ROWS ? height - i : ROWS;
                    const tile_place at = {batch, top + i, j, rows, cols, i};
                    for (int p = 0; p < g->job->op->products; p++)
                        kr_gemm_multiply(g, p, &at, &a, &b[p], t);
                    if (outputs) kr_gemm_outputs_keep(g, rows_of, &at, top, t);
                    for (int64_t e = 0; e < rows * cols && !outputs; e++)
                        visit(g, batch, top + i + e / cols, j + e % cols, t, e / cols, e % cols);
                }
            }
            if (outputs) room = kr_gemm_outputs_rows(g, rows_of, batch, top, height);
        }
        if (outputs && room) room = kr_gemm_outputs_end(g, rows_of, batch);
    }
    if (!room)
        status = kr_fail(KILN_NO_MEMORY, "no memory for a reference with k=%lld", (long long)k);
    kr_gemm_outputs_close(rows_of);
    free_panel(&a);
    for (int p = 0; p < KILN_MAX_B; p++) free_panel(&b[p]);
    free(t);
    return status;
}

/* ---- elements of E ---- */

static void load_inputs(const gemm *g, int64_t batch, int64_t i, int64_t j, double *d)
{
    const int64_t at[KILN_MAX_SIZES] = {[M] = i, [N] = j};
    kr_load_d(g->job, kr_inputs_of(g->job, g->job->op->function[0]), batch, at, d);
}

static void write_element(const gemm *g, int64_t batch, int64_t i, int64_t j, const tile *t,
                          int64_t row, int64_t col)
{
    const kr_job *job = g->job;
    double acc[KILN_MAX_B], d[KILN_MAX_TENSORS] = {0};
    for (int p = 0; p < job->op->products; p++) acc[p] = t->value[p][row][col];
    load_inputs(g, batch, i, j, d);
    const kr_leaves leaf = {.acc = acc, .d = d, .s = job->scalar};
    const kiln_expr_ref ref = job->op->function[0];
    const double e = kr_eval(kr_nodes(job, ref), ref.count, &leaf, (double *)g->scratch);
    kr_encode(g->e->type, e, kr_element(job, B + job->op->products, batch, i, j));
}

static void bound_element(const gemm *g, int64_t batch, int64_t i, int64_t j, const tile *t,
                          int64_t row, int64_t col)
{
    const kr_job *job = g->job;
    const int64_t *size = job->view.shape.size,
                  at = ((g->e->batches > 1 ? batch : 0) * size[M] + i) * size[N] + j;
    kr_interval acc[KILN_MAX_B];
    double d[KILN_MAX_TENSORS] = {0};
    for (int p = 0; p < job->op->products; p++) acc[p] = t->bounds[p][row][col];
    load_inputs(g, batch, i, j, d);
    const kr_leaves leaf = {.d = d, .s = job->scalar};
    const kiln_expr_ref ref = job->op->function[0];
    const kr_interval e = kr_eval_interval(kr_nodes(job, ref), ref.count, acc, &leaf, g->scratch);
    kr_interval_put(g->e->type, e, &g->lo[at], &g->hi[at]);
}

/* ---- the interface ---- */

/* Position of the op's index array of that kind; -1: it has none. */
static int index_of(const kr_job *job, kiln_index index)
{
    for (int i = 0; i < job->op->ntensors; i++)
        if (job->op->tensor[i].index == index) return i;
    return -1;
}

/* The op's tensors as this file takes them: A, each product's B, E, inputs, outputs, index arrays. */
static bool is_gemm(const kr_job *job)
{
    const kiln_op_row *op = job->op;
    const int e = B + op->products;
    if (job->family->nsizes < 3 || job->family->nsizes > 4 || job->family->ntypes != 4 ||
        op->ntensors <= e || op->ntensors < e + 1 + job->nd)
        return false;
    const bool begins = index_of(job, KILN_INDEX_FIRST) >= 0;
    if (begins != (index_of(job, KILN_INDEX_END) >= 0) ||
        (!begins && index_of(job, KILN_INDEX_ROW) >= 0))
        return false;
    for (int i = e + 1; i < op->ntensors; i++) {
        const kiln_tensor_row *t = &op->tensor[i];
        if (t->index && (t->cols != KILN_NOWHERE ||
                         (t->index == KILN_INDEX_ROW ? t->rows != M || t->within != TOKENS
                                                     : t->rows != KILN_BATCH || t->within != M ||
                                                           t->index < KILN_INDEX_FIRST)))
            return false;
        if (t->out && ((t->rows != M && t->rows != KILN_NOWHERE) || t->row_block != 1 ||
                       (t->cols != N && t->cols != KILN_NOWHERE)))
            return false;
    }
    for (int i = 0; i <= e; i++) {
        static const uint8_t rows[] = {M, K, M}, cols[] = {K, N, N};
        const kiln_tensor_row *t = &op->tensor[i];
        const int own = i == A ? 0 : i < e ? 1 : 2;
        const uint8_t down = i == A && index_of(job, KILN_INDEX_ROW) >= 0 ? TOKENS : rows[own];
        if (t->own != own || t->rows != down || t->cols != cols[own] || t->row_block != 1 ||
            t->col_block != 1 || t->out != (i == e))
            return false;
    }
    return true;
}

/* Whether all inputs that a function uses vary along no other sizes than these; and the length of
 * their blocks along K, 0 where it uses none or they differ. */
static bool inputs_ok(const kr_job *job, kiln_expr_ref ref, unsigned over, int64_t *block)
{
    const uint32_t inputs = kr_inputs_of(job, ref);
    int64_t length = 0;
    bool same = true;
    for (int n = 0; n < job->nd; n++) {
        const kiln_tensor_row *t = &job->op->tensor[job->d[n]];
        if (!(inputs >> n & 1)) continue;
        if ((t->rows != KILN_NOWHERE && !(over >> t->rows & 1)) ||
            (t->cols != KILN_NOWHERE && !(over >> t->cols & 1)))
            return false;
        const int64_t own = t->rows == K ? t->row_block : t->cols == K ? t->col_block : 0;
        same &= !length || own == length;
        length = own;
    }
    *block = same ? length : 0;
    return true;
}

static bool functions_ok(const kr_job *job, int64_t *block)
{
    static const unsigned of_a = 1u << M | 1u << TOKENS | 1u << K;
    static const unsigned over[] = {1u << M | 1u << N, of_a, 1u << K | 1u << N, of_a | 1u << N};
    const kiln_op_row *op = job->op;
    int64_t length = 0;
    *block = 0;
    for (int i = 0; i < KILN_MAX_FUNCTIONS; i++) {
        if (!inputs_ok(job, op->function[i], over[i], &length)) return false;
        if (i == BLOCK && op->function[i].count && !(*block = length)) return false;
        for (int p = 1; p < op->products && i >= B_OP; p++) {
            const kiln_expr_ref more = op->more[p - 1][i];
            if (!more.count != !op->function[i].count || !inputs_ok(job, more, over[i], &length) ||
                (i == BLOCK && length != *block))
                return false;
        }
    }
    return true;
}

/* The epilogue's value is the one sum, and E's type is the sum's. */
static bool is_kept(const gemm *g)
{
    const kiln_expr_ref ref = g->job->op->function[0];
    return g->acc == KILN_I32 && g->e->type == KILN_I32 && !g->block && !names_outputs(g->job) &&
           ref.count == 1 && kr_nodes(g->job, ref)->op == KILN_X_ACC;
}

static kiln_status run(const kr_job *job, double *lo, double *hi)
{
    int64_t block;
    if (!is_gemm(job) || !functions_ok(job, &block))
        return kr_fail(KILN_BAD_MODULE, "%s: its op '%s' is no gemm as this libkiln knows them",
                       job->module->path, kr_str(job->module, job->op->name));
    gemm g = {.job = job,
              .acc = (kiln_dtype)job->sig.sig[3],
              .block = block,
              .first = index_of(job, KILN_INDEX_FIRST),
              .end = index_of(job, KILN_INDEX_END),
              .row = index_of(job, KILN_INDEX_ROW),
              .lo = lo,
              .hi = hi};
    const kiln_dtype a = (kiln_dtype)job->sig.sig[0], b = (kiln_dtype)job->sig.sig[1];
    kiln_mul_types(a, b, &g.mul_a, &g.mul_b);
    g.e = &job->view.t[B + job->op->products];
    if (g.acc != KILN_F32 && !(g.acc == KILN_I32 && !kr_is_float(a) && !kr_is_float(b)))
        return kr_fail(KILN_NOT_SUPPORTED,
                       "the reference sums in f32, or integers in i32, but not %s and %s in %s",
                       kiln_dtype_name(a), kiln_dtype_name(b), kiln_dtype_name(g.acc));
    g.kept = is_kept(&g);
    const int bits = job->args->sums.bits;
    g.short_sums = job->bounds && g.acc == KILN_F32 && bits > 0 && bits < FLT_MANT_DIG;
    uint32_t nodes = 1;
    for (int i = 0; i < KILN_MAX_FUNCTIONS; i++)
        for (int p = 0; p < job->op->products; p++) nodes += kr_gemm_function(&g, i, p).count;
    g.scratch = malloc(nodes * sizeof *g.scratch);
    if (!g.scratch) return kr_fail(KILN_NO_MEMORY, "no memory for a reference");
    const kiln_status status = products(&g, job->bounds ? bound_element : write_element);
    free(g.scratch);
    return status;
}

static kiln_status values(const kr_job *job)
{
    return run(job, NULL, NULL);
}

/* ---- problems of ops that nobody knows ---- */

static const struct text {
    char none, gemm[5], m[2], n[2], k[2], tokens[7], a[2], b[2], e[2], acc[4], d[3], big_a[2],
        big_b[2], big_e[2];
} text = {0, "gemm", "m", "n", "k", "tokens", "a", "b", "e", "acc", "d.", "A", "B", "E"};
#define S(name) ((kiln_str)offsetof(struct text, name))

static const kiln_family family = {
    .name = S(gemm),
    .size = {S(m), S(n), S(k), S(tokens)},
    .own = {S(a), S(b), S(e)},
    .prefix = S(d),
    .type = {{S(a), 0, 0, 0, 0},
             {S(b), 0, 0, 0, 1},
             {S(e), 0, 0, 0, 2},
             {S(acc), KILN_I32, KILN_F32, 1 | 2, KILN_NOWHERE}},
    .nsizes = 4,
    .nown = 3,
    .ntypes = 4,
    .nlayouts = 3,
    .rows = M,
    .cols = N,
    .empty = 1 << M | 1 << N,
    .independent = 1 << M | 1 << N,
    .summed = K,
    .planes = KILN_NOWHERE,
    .groups = KILN_NOWHERE,
    .at = {0, 1, 2},
    .layout_of = {0, 1, 2},
    .extra = 3,
    .most_extra = KILN_MAX_D,
};
static const kiln_op_row op = {
    .sizes = 1 << M | 1 << N | 1 << K,
    .ntensors = 3,
    .products = 1,
    .ntypes = 4,
    .type = {S(a), S(b), S(e), S(acc)},
    .tensor = {{.name = S(big_a),
                .at = 0,
                .arg = 0,
                .own = 0,
                .type = 0x80,
                .layout = 0x80,
                .rows = M,
                .cols = K,
                .planes = KILN_NOWHERE,
                .row_block = 1,
                .col_block = 1},
               {.name = S(big_b),
                .at = 1,
                .arg = 1,
                .own = 1,
                .type = 0x81,
                .layout = 0x81,
                .rows = K,
                .cols = N,
                .planes = KILN_NOWHERE,
                .row_block = 1,
                .col_block = 1},
               {.name = S(big_e),
                .at = 2,
                .arg = 11,
                .own = 2,
                .type = 0x82,
                .layout = 0x82,
                .rows = M,
                .cols = N,
                .planes = KILN_NOWHERE,
                .row_block = 1,
                .col_block = 1,
                .out = 1}},
};
static const kiln_module table = {.nfamilies = 1, .families = &family, .strings = &text.none};
static const kr_module module = {.table = &table};
static const kr_op builtin = {&module, &op};

const kr_reference kr_ref_gemm = {"gemm", values, run, &builtin};
