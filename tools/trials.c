// SPDX-License-Identifier: MIT
// What `kiln verify --all` tries: sizes that an op's instances share, those that suit its family
// and those its description asks for, and the sizes around each instance's own tile, since that is
// where tiled kernels go wrong.  Sizes are by position: a family with fewer of them takes the
// first.
#include "trials.h"
#include "command.h"
#include <string.h>

/* Shorter names for tables. */
enum {
    PLAIN = 0,
    PADDED = KT_PADDED,
    STRIDED = KT_STRIDED,
    BROADCAST = KT_BROADCAST,
    ALIGNED = KT_ALIGNED,
    ALIGNED16 = KT_ALIGNED16,
    QUICK = KT_QUICK,
    CUT = KT_CUT,
    IN_PLACE = KT_IN_PLACE,
    ONLY = KT_ONLY,
    HOSTILE = KT_HOSTILE,
    DISORDER = KT_DISORDER
};

static const kt_trial common_trials[] = {
    {{1, 1, 1}, 1, QUICK, KH_RANDOM},
    {{61, 67, 71}, 1, QUICK, KH_RANDOM},
    {{5, 7, 0}, 1, QUICK, KH_RANDOM},
    {{64, 64, 64}, 1, QUICK | ALIGNED, KH_RANDOM},
    {{40, 48, 56}, 1, QUICK | ALIGNED16, KH_SPECIALS},
    {{19, 23, 37}, 3, QUICK | PADDED | STRIDED, KH_RANDOM},
    {{21, 35, 18}, 3, QUICK | BROADCAST, KH_RANDOM},
    {{67, 93, 35}, 2, QUICK | PADDED | STRIDED | IN_PLACE | ONLY, KH_RANDOM},
    {{33, 31, 3}, 1, PADDED, KH_RANDOM},
    {{1, 129, 65}, 1, PLAIN, KH_RANDOM},
    {{127, 1, 33}, 1, PADDED, KH_RANDOM},
    {{0, 5, 5}, 1, PLAIN, KH_RANDOM},
    {{5, 0, 5}, 1, PLAIN, KH_RANDOM},
    {{96, 80, 72}, 1, ALIGNED16, KH_INTEGERS},
    {{73, 107, 133}, 2, ALIGNED16 | PADDED, KH_RANDOM},
    {{37, 41, 43}, 1, PADDED, KH_SPECIALS},
    {{257, 263, 521}, 1, PLAIN, KH_RANDOM},
};
enum { COMMON = sizeof common_trials / sizeof *common_trials };

/* In a quick run of what is computed row by row, where simulators take as long for a short row as
 * for one of a thousand elements. */
static const kt_trial row_trials[] = {
    {{1, 1}, 1, PLAIN, KH_RANDOM},
    {{13, 67}, 1, PLAIN, KH_RANDOM},
    {{5, 7}, 1, PLAIN, KH_RANDOM},
    {{16, 64}, 1, ALIGNED, KH_RANDOM},
    {{9, 48}, 1, ALIGNED16, KH_SPECIALS},
    {{5, 23}, 3, PADDED | STRIDED, KH_RANDOM},
    {{5, 35}, 3, BROADCAST, KH_RANDOM},
    {{7, 93}, 2, PADDED | STRIDED | IN_PLACE | ONLY, KH_RANDOM},
    {{3, 264}, 2, ALIGNED16 | PADDED, KH_RANDOM},
    {{6, 1031}, 1, PLAIN, KH_SPECIALS},
};
enum { ROWS = sizeof row_trials / sizeof *row_trials };

static void add(kt_trial *t, size_t *count, const kt_trial *more)
{
    if (*count < KT_MAX_TRIALS) t[(*count)++] = *more;
}

static kt_trial of_shape(const int64_t *size, size_t sizes, int variant)
{
    kt_trial t = {.batch = 1, .variant = variant, .values = KH_RANDOM};
    memcpy(t.size, size, sizes * sizeof *size);
    return t;
}

static const int64_t *family_shape(const kiln_op_info *op, size_t i)
{
    return &op->family_shapes[0][0] + i * op->shape_step;
}

/* Sizes that suit the family: aligned, and once more as they come. */
static void add_family(const kiln_op_info *op, int quick, kt_trial *t, size_t *count)
{
    const size_t shapes = quick ? op->nquick_shapes : op->nfamily_shapes;
    for (size_t i = 0; i < shapes; i++) {
        const kt_trial aligned = of_shape(family_shape(op, i), op->nsizes, ALIGNED),
                       plain = of_shape(family_shape(op, i), op->nsizes, PLAIN);
        add(t, count, &aligned);
        add(t, count, &plain);
    }
}

/* Of a family with planes, whose first sizes are no matrix's: its own shapes in every variant. */
static void add_stacked(const kiln_op_info *op, int quick, kt_trial *t, size_t *count)
{
    static const struct {
        int64_t batch;
        int variant;
        kh_values values;
    } also[] = {{3, PADDED | STRIDED, KH_RANDOM},
                {2, BROADCAST, KH_RANDOM},
                {2, ALIGNED16 | PADDED, KH_INTEGERS},
                {1, PLAIN, KH_SPECIALS}};
    enum { ALSO = sizeof also / sizeof *also };
    const size_t shapes = quick ? op->nquick_shapes : op->nfamily_shapes;
    for (size_t i = 0; i < shapes; i++)
        for (size_t k = 0; k < ALSO; k++) {
            if (quick && k != i % ALSO) continue;
            kt_trial one = of_shape(family_shape(op, i), op->nsizes, also[k].variant);
            one.batch = also[k].batch, one.values = also[k].values;
            add(t, count, &one);
        }
}

static int has_indices(const kiln_op_info *op)
{
    for (size_t i = 0; i < op->ntensors; i++)
        if (op->rows_of[i].index) return 1;
    return 0;
}

/* Of ops with index arrays: what they say is wrong here and there, and everywhere. */
static void add_hostile(const kiln_op_info *op, int quick, kt_trial *t, size_t *count)
{
    const size_t shapes = quick ? op->nquick_shapes : op->nfamily_shapes;
    for (size_t i = 0; i < shapes; i++)
        for (int disorder = 0; disorder < 2; disorder++) {
            if (quick && disorder && i % 2) continue;
            kt_trial one = of_shape(family_shape(op, i), op->nsizes,
                                    ALIGNED16 | (disorder ? DISORDER : HOSTILE));
            one.batch = 2;
            add(t, count, &one);
        }
    for (size_t i = 0; i < COMMON && !shapes; i++)
        for (int disorder = 0; disorder < 2 && common_trials[i].variant & QUICK; disorder++) {
            kt_trial one = common_trials[i];
            one.variant = (one.variant & ~QUICK) | (disorder ? DISORDER : HOSTILE);
            add(t, count, &one);
        }
}

size_t kt_common_trials(const kiln_op_info *op, int quick, kt_trial *t)
{
    const int stacked = op->planes >= 0, by_rows = quick && op->summed < 0 && !stacked;
    size_t count = 0;
    for (size_t i = 0; i < ROWS && by_rows; i++) add(t, &count, &row_trials[i]);
    if (stacked) add_stacked(op, quick, t, &count);
    for (size_t i = 0; i < COMMON && !by_rows && !stacked; i++)
        if (!quick || common_trials[i].variant & QUICK) add(t, &count, &common_trials[i]);
    add_family(op, quick, t, &count);
    if (has_indices(op)) add_hostile(op, quick, t, &count);
    for (size_t i = 0; i < op->nshapes && !quick; i++) {
        const kt_trial asked =
            of_shape(&op->shapes[0][0] + i * op->shape_step, op->nsizes, ALIGNED);
        add(t, &count, &asked);
    }
    return count;
}

/* ---- tiles ---- */
static int64_t value_of(const kiln_kernel_info *k, size_t values, const char *name)
{
    for (size_t i = 0; i < values; i++)
        if (!strcmp(k->value_name[i], name)) return k->value[i];
    return 0;
}

void kt_tile_of(const kiln_op_info *op, const kiln_kernel_info *k, int64_t tile[KH_SIZES])
{
    for (int i = 0; i < KH_SIZES; i++) {
        tile[i] = 0;
        if (i == KH_BATCH || !kh_size_name(op, i)) continue;
        /* A depth that is derived is a step of the kernel's own, and no edge. */
        tile[i] = value_of(k, i == op->summed ? k->ntunables : k->nvalues, kh_size_name(op, i));
    }
}

static int is_cut(const kiln_kernel_info *k)
{
    return value_of(k, k->ntunables, "split_k") > 1 || value_of(k, k->ntunables, "cluster") > 1 ||
           value_of(k, k->ntunables, "stream") > 0;
}

/* Of m x n results, each a sum over d. */
static size_t matrix_tile(int64_t m, int64_t n, int64_t d, kt_trial *t)
{
    if (m <= 1 || n <= 1 || m > 4096 || n > 4096) return 0;
    const int64_t depth = d > 1 && d <= 4096 ? d : 32;
    const kt_trial all[] = {
        {{m + 1, n + 1, depth + 1}, 1, QUICK, KH_RANDOM},
        {{2 * m - 3, 2 * n - 3, 7 * depth - 3}, 1, QUICK | ALIGNED | PADDED, KH_RANDOM},
        {{m, n, 24 * depth + 16}, 1, QUICK | ALIGNED | CUT | IN_PLACE, KH_RANDOM}, /* long enough */
        {{m, n, depth}, 1, QUICK | ALIGNED | IN_PLACE | ONLY, KH_RANDOM},
        {{m - 1, n - 1, depth - 1}, 1, PLAIN, KH_RANDOM},
        {{m, n, depth / 2}, 1, ALIGNED, KH_RANDOM},
        {{2 * m + 1, n - 1, 2 * depth + 3}, 2, PADDED, KH_RANDOM},
        {{m, n, depth}, 2, ALIGNED | STRIDED, KH_INTEGERS},
    };
    memcpy(t, all, sizeof all);
    return sizeof all / sizeof *all;
}

/* Of rows that are computed each on their own, `cols` of them at a time.  Long ones are tried few
 * at a time, and not in a quick run. */
static size_t row_tile(int64_t rows, int64_t cols, kt_trial *t)
{
    enum { SMALL = 6000 };
    if (rows < 1) rows = 1;
    if (cols <= 1 || cols > 1 << 20 || rows > 4096) return 0;
    const int quick = rows * cols <= SMALL ? QUICK : 0;
    const kt_trial all[] = {
        {{rows + 1, cols + 1}, 1, quick, KH_RANDOM},
        {{rows, cols}, 1, quick | ALIGNED | IN_PLACE, KH_RANDOM},
        {{rows, cols - 1}, 1, PLAIN, KH_RANDOM},
        {{1, 2 * cols}, 1, ALIGNED, KH_RANDOM},
        {{1, 2 * cols + 5}, 2, PADDED, KH_RANDOM},
        {{2 * rows + 1, cols - 1}, 2, PADDED | STRIDED, KH_RANDOM},
        {{rows, cols}, 2, ALIGNED | STRIDED, KH_INTEGERS},
    };
    memcpy(t, all, sizeof all);
    return sizeof all / sizeof *all;
}

/* Of a family with planes: rows and columns around the tile's edges; two groups and one. */
static size_t stacked_tile(const kiln_op_info *op, int64_t rows, int64_t cols, kt_trial *t)
{
    if (rows < 1 || cols <= 1 || rows > 4096 || cols > 4096) return 0;
    const struct {
        int64_t planes, groups, rows, cols, batch;
        int variant;
    } all[] = {
        {2, 1, rows + 1, cols + 1, 1, QUICK},
        {2, 2, rows, cols, 1, QUICK | ALIGNED},
        {3, 1, rows - 1, 2 * cols - 1, 1, PLAIN},
        {4, 2, 2 * rows + 1, 3 * cols, 2, PADDED},
        {2, 1, rows, 2 * cols, 2, ALIGNED | STRIDED},
    };
    enum { ALL = sizeof all / sizeof *all };
    for (size_t i = 0; i < ALL; i++) {
        t[i] = (kt_trial){.batch = all[i].batch, .variant = all[i].variant, .values = KH_RANDOM};
        for (int n = 0; n < KILN_MAX_SIZES; n++) {
            const int at = KILN_POSITION(n);
            t[i].size[n] = at == op->planes   ? all[i].planes
                           : at == op->groups ? all[i].groups
                           : at == op->rows   ? all[i].rows
                           : at == op->cols   ? all[i].cols
                           : n < (int)op->nsizes ? cols
                                                 : 0;
        }
    }
    return ALL;
}

size_t kt_tile_trials(const kiln_op_info *op, const kiln_kernel_info *k, int quick, kt_trial *t)
{
    int64_t tile[KH_SIZES];
    size_t kept = 0;
    kt_tile_of(op, k, tile);
    /* By position: a matrix's are rows, columns, depth. */
    const size_t n = op->planes >= 0   ? stacked_tile(op, tile[op->rows], tile[op->cols], t)
                     : op->summed >= 0 ? matrix_tile(tile[0], tile[1], tile[2], t)
                                       : row_tile(tile[op->rows], tile[op->cols], t);
    for (size_t i = 0; i < n; i++)
        if ((!quick || t[i].variant & QUICK) && (is_cut(k) || !(t[i].variant & CUT)))
            t[kept++] = t[i];
    return kept;
}

/* ---- problems ---- */
/* `by` is another number for each tensor, and odd, but that of what a gemm's products are summed
 * with. */
static void lay_out(const kh_shape *s, int i, const kt_trial *trial, kiln_tensor *t)
{
    /* Where the base is aligned all lines are, wherever they end. */
    const kh_operand *o = &s->operand[i];
    const int variant = trial->variant, by = 3 + 2 * i + o->scaled, batches = trial->batch > 1;
    const int64_t even = variant & (ALIGNED | ALIGNED16) ? 16 : kh_pieces(o);
    const int64_t ld = ((o->ld + even - 1) / even + by) * even;
    const int64_t outer = o->layout == KILN_ROW ? o->rows : o->cols;
    /* Where nothing is summed some inputs are shared by all batches, and others are not. */
    const int shared = !o->out && by % 2 && (s->op.summed >= 0 || i % 2 == 0);
    if (variant & PADDED && !o->vector && (!o->extra || (o->rows > 1 && o->cols > 1))) t->ld = ld;
    if (batches && variant & STRIDED) t->batch_stride = (t->ld ? t->ld : o->ld) * outer + 7 * even;
    if (batches && variant & BROADCAST && shared) t->batch_stride = KILN_BROADCAST;
    t->align = variant & ALIGNED ? 256 : variant & ALIGNED16 ? 16 : 0;
}

/* Planes behind each other with some room between, or, of every other tensor, side by side in a row
 * of all of them; some inputs' shared. */
static void lay_out_planes(const kh_shape *s, int i, const kt_trial *trial, kiln_problem *p)
{
    const kh_operand *o = &s->operand[i];
    const int even = trial->variant & (ALIGNED | ALIGNED16) ? 16 : 1;
    kiln_tensor *t = &p->tensor[o->at];
    int64_t *plane = &p->plane_stride[o->at];
    const int64_t pad = (3 + 2 * i) * even, inner = o->layout == KILN_ROW ? o->cols : o->rows,
                  outer = o->layout == KILN_ROW ? o->rows : o->cols;
    if (o->stacked < 0) return;
    if (trial->variant & BROADCAST && o->extra && !o->out) {
        *plane = KILN_BROADCAST;
        if (!o->vector) t->ld = KILN_BROADCAST;
    } else if (trial->variant & PADDED) {
        const int beside = i % 2 == 0 && outer > 1;
        *plane = beside ? inner + 2 * even : (t->ld ? t->ld : inner) * outer + pad;
        if (beside) t->ld = o->planes * *plane + pad;
    }
    if (trial->variant & STRIDED && trial->batch > 1) {
        const int64_t ld = t->ld > 0 ? t->ld : inner, each = *plane > 0 ? *plane : ld * outer;
        t->batch_stride = o->planes * each + ld * outer + 7 * even;
    }
}

/* Whether an operand before it is described by the same tensor: both B's of two products. */
static int is_again(const kh_shape *s, int i)
{
    return i > 0 && s->operand[i - 1].at == s->operand[i].at;
}

/* Whether a problem's size is for a trial to say: not what kernels are compiled for. */
static int is_free(const kiln_op_info *op, int position)
{
    for (size_t i = 0; i < op->nfixed; i++)
        if (op->fixed[i] == position) return 0;
    return kh_size_name(op, position) != NULL;
}

kiln_status kt_trial_problem(kiln_ctx *ctx, const kiln_kernel_info *k, const kt_trial *t, int nth,
                             kiln_problem *p, int *in_place)
{
    kh_shape s;
    int input[KH_MAX_OPERANDS], ways = 0;
    *in_place = 0;
    kiln_status status = kt_kernel_problem(ctx, k, p);
    if (status) return status;
    kiln_op_info op = {.struct_size = sizeof op};
    status = kiln_op_describe(ctx, k->op, &op);
    if (status) return status;
    for (int i = 0; i < (int)op.nsizes; i++)
        if (is_free(&op, KILN_POSITION(i))) *kh_size(p, KILN_POSITION(i)) = t->size[i];
    p->batch = t->batch + (has_indices(&op) ? 3 : 0); /* enough to be of different lengths, */
    for (size_t i = 0; i < op.ntensors; i++) /* with as many rows each, about */
        if ((op.rows_of[i].index == KILN_INDEX_BEGIN || op.rows_of[i].index == KILN_INDEX_FIRST) &&
            op.rows_of[i].within == op.rows)
            *kh_size(p, op.rows) *= p->batch;
    for (size_t i = 0; i < op.ntensors; i++) /* about every second row is some other's, too */
        if (op.rows_of[i].index == KILN_INDEX_ROW)
            *kh_size(p, op.rows_of[i].within) = (kh_size_of(p, op.rows) + 1) / 2;
    status = kh_shape_of(ctx, p, &s);
    if (status) return status;
    for (int i = 0; i < s.count; i++)
        if (!is_again(&s, i)) {
            lay_out(&s, i, t, &p->tensor[s.operand[i].at]);
            lay_out_planes(&s, i, t, p);
        }
    if (!(t->variant & IN_PLACE)) return KILN_OK;
    while (kh_in_place(&s, ways, input)) ways++;
    if (!ways) return KILN_OK;
    kh_in_place(&s, nth % ways, input);
    *in_place = 1 + nth % ways;
    for (int o = s.inputs; o < s.count; o++) {
        if (input[o] < 0) continue;
        kiln_tensor *d = &p->tensor[s.operand[input[o]].at];
        const kiln_tensor *e = &p->tensor[s.operand[o].at];
        d->ld = e->ld, d->batch_stride = e->batch_stride, d->align = e->align;
    }
    return KILN_OK;
}
