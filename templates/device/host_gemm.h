// SPDX-License-Identifier: MIT
// The host schedule's driver: cache blocking, threads, choice of the instruction set.
//   for each slab of rows (all, unless they make more than HOST_SLAB units; at least HOST_MC_MIN):
//     pack Y's slab for all of k, shared by all threads
//     for each task (HOST_NC columns, at most HOST_MC of the slab's rows), by any thread:
//       for each block of HOST_KC along k:
//         pack X's block, private, into L2; run the tiles; after the last block: epilogue
// Sums of a task stay in its thread's scratch between blocks of k.  Where sums over HOST_DEEP
// elements are scaled, blocks end there, too, and what stays are the sums of scaled ones.  After Goto and van de Geijn
// (2008), Van Zee and van de Geijn (2015); docs/host-schedule.md.
#ifndef HOST_GEMM_H
#define HOST_GEMM_H
#include "host_base.h"

#define HOST_TYPE(side)   ((side) == HOST_SIDE_A ? HOST_A_T : HOST_B_T)
#define HOST_BITS(side)   host_bits(HOST_TYPE(side))
#define HOST_SPAN(side, n) host_span(HOST_TYPE(side), n) /* bytes of n elements that begin at a byte */
#define HOST_HAS_OP(side) ((side) == HOST_SIDE_A ? HOST_A_OP : HOST_B_OP)
#define HOST_IS_PLACED(side) ((side) == HOST_SIDE_A ? HOST_A_PLACED : HOST_B_PLACED)
#if HOST_E_ROW
#define HOST_X_SIDE   HOST_SIDE_B
#define HOST_Y_SIDE   HOST_SIDE_A
#define HOST_X_KMAJOR HOST_B_KMAJOR
#define HOST_Y_KMAJOR HOST_A_KMAJOR
#define HOST_X_COUNT  HOST_PRODUCTS
#define HOST_Y_COUNT  1
#else
#define HOST_X_SIDE   HOST_SIDE_A
#define HOST_Y_SIDE   HOST_SIDE_B
#define HOST_X_KMAJOR HOST_A_KMAJOR
#define HOST_Y_KMAJOR HOST_B_KMAJOR
#define HOST_X_COUNT  1
#define HOST_Y_COUNT  HOST_PRODUCTS
#endif
#define HOST_HEAD 16 /* units at the head of a panel of Y */
#define HOST_PLACED (HOST_A_PLACED || HOST_B_PLACED)
#define HOST_X_OP HOST_HAS_OP(HOST_X_SIDE)
#define HOST_UNSIGNED(side) (HOST_TYPE(side) == KILN_U8)
/* VNNI multiplies unsigned bytes by signed ones.  Where X and Y are both of one kind, X's are stored with their highest
 * bit flipped, 128 more or less, and sums start at HOST_START * sum(y). */
#define HOST_FLIP  (HOST_UNSIGNED(HOST_X_SIDE) == HOST_UNSIGNED(HOST_Y_SIDE) ? 0x80808080u : 0u)
#define HOST_START ((host_unit_t)(HOST_UNSIGNED(HOST_Y_SIDE) ? 128 : -128))

/* Part b of k, of those that are packed together; none goes past the end of a block that is scaled.
 * kc: length of a whole one. */
typedef struct host_part {
    long k0, kc;
} host_part;

static HOST_INLINE host_part host_part_of(long k, long kc, long b)
{
    host_part part = {b * kc, host_min(kc, k - b * kc)};
#if HOST_DEEP
    if (k == 0) return part;
    const long parts = host_ceil_div(host_min(HOST_DEEP, k), kc), first = b / parts * HOST_DEEP;
    part.k0 = first + b % parts * kc;
    part.kc = host_min(kc, host_min(first + HOST_DEEP, k) - part.k0);
#endif
    return part;
}

/* Columns j0 .. j0+cols-1, rows i0 .. i0+rows-1 of E, by one thread. */
typedef struct host_task {
    const host_out *out;
    const host_operand *x;           /* HOST_X_COUNT of them */
    const host_unit_t *y;            /* packed: matrix, block of k, panel */
    long y_matrix, y_block, y_panel; /* strides in units */
    host_unit_t *scratch;            /* packed X, sums between blocks of k */
    long i0, rows, j0, cols, k, kc, parts;
    float *of_rows, *of_columns; /* what the task makes of rows and columns: by their numbers, */
    long rows_plane, columns_plane; /* reductions so far apart */
} host_task;

typedef struct host_isa {
    int mr, nr, group;
    void (*pack_y)(const host_operand *, long r0, long panels, long k0, long kc, host_unit_t *to,
                   long stride);
    void (*task)(const host_task *);
    /* Products of few rows; plain C has none and makes a tile of them. */
    void (*few_units)(const host_operand *, long k, host_unit_t *to, long stride, char *flat);
    void (*few)(const host_out *, const host_operand *x, const host_unit_t *y, long y_row,
                long rows, long j0, long cols, long k);
} host_isa;

#if defined(__x86_64__)
#define HOST_ISA 512
#include "host_isa.h"
#define HOST_ISA 256
#include "host_isa.h"
#endif
#define HOST_ISA 128
#include "host_isa.h"

/* AVX-512 with VNNI only. */
static const host_isa *host_choose(void)
{
#if defined(__x86_64__)
    const int widest = host_widest();
    if (widest == 512 && __builtin_cpu_supports("avx512vnni")) return &isa_avx512;
    if (widest >= 256) return &isa_avx2;
#endif
    return &isa_plain;
}

/* One problem, cut up.  Steps of it are done by `each`. */
typedef struct host_plan {
    const kiln_gemm_args *g;
    kiln_each each;
    const host_isa *isa;
    int threads;
    int few;   /* Y has few rows: their products read X in place */
    int alone; /* every thread takes whole batches */
    long x_rows, y_rows, k;
    long slab_rows, kc, blocks; /* length and number of the blocks of k */
    long nc, nx, ny;            /* columns of a task, tasks along X, along Y */
    long panels, y_panel, y_block, y_matrix, y_units, scratch_units;
    long y_row;  /* units from one of few rows to the next */
    long shares; /* of few rows' columns */
    host_unit_t *y, *scratch;
    float *reduced; /* what tasks make of rows and columns */
} host_plan;

/* Threads that have enough to do with `products` products. */
static int host_threads(const host_plan *p, double products)
{
    const double work = products * HOST_PRODUCTS / (1 << 20);
    return p->g->units <= 1 ? 1 : work < p->g->units ? (int)work + 1 : p->g->units;
}

static void host_cut_threads(host_plan *p)
{
    const double products = (double)p->x_rows * (double)p->y_rows * (double)p->k;
    p->threads = host_threads(p, products * p->g->batch);
    p->shares = host_ceil_div(p->threads, p->g->batch);
    p->alone = p->threads > 1 && p->g->batch >= p->threads && p->slab_rows * p->k <= HOST_SLAB / 4;
    p->ny = host_ceil_div(p->slab_rows, HOST_MC);
    if (p->alone || p->few) return;
    p->threads = host_threads(p, products);
    if (p->threads > 1 && p->nx % p->threads && p->nx < 4 * p->threads)
        p->ny = host_max(p->ny, host_min(host_ceil_div(4 * p->threads, p->nx), p->slab_rows / 48));
}

static void host_cut(host_plan *p, const kiln_gemm_args *g, kiln_each each)
{
    const host_isa *isa = p->isa = host_choose();
    p->g = g;
    p->each = each;
    p->k = g->k;
    p->x_rows = HOST_E_ROW ? g->n : g->m;
    p->y_rows = HOST_E_ROW ? g->m : g->n;
    p->few = p->y_rows <= HOST_FEW && isa->few;
    p->slab_rows = host_min(p->y_rows, host_max(HOST_MC_MIN, HOST_SLAB / host_max(256, p->k)));
    const long whole = HOST_DEEP && HOST_DEEP < p->k ? HOST_DEEP : p->k; /* one is cut into parts */
    p->blocks = host_max(1, host_ceil_div(whole, HOST_KC));
    p->kc = p->blocks == 1 ? whole : host_round_up(host_ceil_div(whole, p->blocks), 16);
    if (whole < p->k)
        p->blocks = p->k / whole * host_ceil_div(whole, p->kc) + host_ceil_div(p->k % whole, p->kc);
    p->nx = host_ceil_div(p->x_rows, HOST_NC);
    p->nc = host_round_up(host_ceil_div(p->x_rows, p->nx), host_max(isa->nr, HOST_BLOCK));
    p->nx = host_ceil_div(p->x_rows, p->nc);
    host_cut_threads(p);

    const long units = host_ceil_div(p->kc, isa->group);
    p->panels = host_ceil_div(p->slab_rows, isa->mr);
    p->y_panel = HOST_HEAD + host_round_up(units * isa->mr + 16, 16);
    p->y_block = p->panels * p->y_panel;
    p->y_matrix = p->blocks * p->y_block;
    /* Rows that are a little apart modulo 4 KiB share no place in the first-level cache. */
    p->y_row = HOST_HEAD + host_round_up(host_ceil_div(p->k, isa->group), 16);
    if (p->y_row > 1024) p->y_row = host_round_up(p->y_row - 192, 1024) + 192;
    if (p->few) p->y_matrix = p->y_rows * p->y_row;
    p->y_units = HOST_Y_COUNT * p->y_matrix;
    if (p->few && HOST_Y_COUNT * p->y_rows % 2) p->y_units += p->y_row; /* zeros */
    if (p->few) p->y_units += host_round_up(p->k, 16); /* strided elements, side by side */
    p->scratch_units = HOST_X_COUNT * p->nc * units;
    if (p->blocks > 1 || HOST_DEEP || HOST_OUTPUTS)
        p->scratch_units += HOST_PRODUCTS * host_ceil_div(p->panels, p->ny) * isa->mr * p->nc;
    p->scratch_units = host_round_up(p->scratch_units, 16);
    p->y = (host_unit_t *)(((uintptr_t)g->workspace + 63) & ~(uintptr_t)63);
    p->scratch = p->y + (p->alone || p->few ? p->threads : 1) * p->y_units;
    p->reduced = (float *)(void *)(p->scratch + p->threads * p->scratch_units);
}

/* What tasks make of the rows of a batch: [reduction][batch][task along X][row].  Behind it what they make of columns:
 * [reduction][batch][task along Y, slab by slab][column]. */
#if HOST_OUTPUTS
static HOST_INLINE long host_tasks_y(const host_plan *p)
{
    return host_ceil_div(p->y_rows, p->slab_rows) * p->ny;
}
static HOST_INLINE long host_rows_plane(const host_plan *p)
{
    return p->g->batch * p->nx * p->y_rows;
}
static HOST_INLINE long host_columns_plane(const host_plan *p)
{
    return p->g->batch * host_tasks_y(p) * p->x_rows;
}
static float *host_of_rows(const host_plan *p, long batch, long task)
{
    return p->reduced + (batch * p->nx + task) * p->y_rows;
}
static float *host_of_columns(const host_plan *p, long batch, long task)
{
    return p->reduced + HOST_ROWS_OF * host_rows_plane(p) +
           (batch * host_tasks_y(p) + task) * p->x_rows;
}

/* Rows and columns, some at a time, when all tasks of all batches are done. */
enum { HOST_FINISH = 1024 };
static long host_finish_steps(const host_plan *p)
{
    return p->g->batch *
           (host_ceil_div(p->y_rows, HOST_FINISH) + host_ceil_div(p->x_rows, HOST_FINISH));
}
static void host_finish_step(const void *plan, long long w, int thread)
{
    const host_plan *const p = plan;
    const long rows = host_ceil_div(p->y_rows, HOST_FINISH), b = w / (host_finish_steps(p) / p->g->batch);
    const long at = w % (host_finish_steps(p) / p->g->batch), first = (at < rows ? at : at - rows) * HOST_FINISH;
    host_out out;
    (void)thread;
    host_place(&out, p->g, b);
    if (at < rows)
        host_finish_rows(&out, host_of_rows(p, b, 0), p->nx, p->y_rows, host_rows_plane(p), first,
                         host_min(first + HOST_FINISH, p->y_rows));
    else
        host_finish_columns(&out, host_of_columns(p, b, 0), host_tasks_y(p), p->x_rows,
                            host_columns_plane(p), first, host_min(first + HOST_FINISH, p->x_rows));
}
#endif

/* One batch, and the slab of it that is being computed. */
typedef struct host_job {
    const host_plan *plan;
    host_operand x[HOST_PRODUCTS], y[HOST_PRODUCTS];
    host_out out;
    host_unit_t *slab; /* packed Y, or the units of few rows */
    long i0, rows, batch;
} host_job;

static const char *host_at(const void *p, long elements, const int type)
{
    return p ? (const char *)p + host_span(type, elements) : 0;
}

static void host_begin(const host_plan *p, host_job *j, long b, int thread)
{
    const kiln_gemm_args *g = p->g;
    j->plan = p;
    j->batch = b;
    for (int s = 0; s < HOST_PRODUCTS; s++) {
        const host_operand m = {host_at(g->b[s], b * (long)g->stride_b, HOST_B_T),
                                (long)g->ldb, g->n, &j->out, s};
        (HOST_E_ROW ? j->x : j->y)[s] = m;
    }
    const host_operand a = {host_at(g->a, b * (long)g->stride_a, HOST_A_T),
                            (long)g->lda, g->m, &j->out, 0};
    (HOST_E_ROW ? j->y : j->x)[0] = a;
    host_place(&j->out, g, b);
    j->slab = p->y + (p->alone || p->few ? thread * p->y_units : 0);
}

/* Steps of packing a slab: a few panels of one block of k each. */
enum { HOST_PACK_PANELS = 4 };
static long host_pack_steps(const host_plan *p, const host_job *j)
{
    return HOST_Y_COUNT * p->blocks *
           host_ceil_div(host_ceil_div(j->rows, p->isa->mr), HOST_PACK_PANELS);
}

static void host_pack_step(const void *job, long long w, int thread)
{
    const host_job *const j = job;
    const host_plan *const p = j->plan;
    const long panels = host_ceil_div(j->rows, p->isa->mr);
    const long steps = host_ceil_div(panels, HOST_PACK_PANELS), q = w % steps * HOST_PACK_PANELS;
    const long b = w / steps % p->blocks, s = w / steps / p->blocks;
    const host_part part = host_part_of(p->k, p->kc, b);
    (void)thread;
    p->isa->pack_y(j->y + s, j->i0 + q * p->isa->mr, host_min(HOST_PACK_PANELS, panels - q),
                   part.k0, part.kc,
                   j->slab + s * p->y_matrix + b * p->y_block + q * p->y_panel, p->y_panel);
}

/* Steps of computing a slab: p->nx * p->ny tasks. */
static void host_task_step(const void *job, long long w, int thread)
{
    const host_job *const j = job;
    const host_plan *const p = j->plan;
    const long share = host_ceil_div(host_ceil_div(j->rows, p->isa->mr), p->ny);
    const long j0 = w / p->ny * p->nc, first = w % p->ny * share, skip = first * p->isa->mr;
#if HOST_OUTPUTS
    float *const columns =
        host_of_columns(p, j->batch, j->i0 / p->slab_rows * p->ny + w % p->ny);
    if (skip >= j->rows) { /* it has seen none */
        float seen[(HOST_COLUMNS_OF + 1) * HOST_MAX_NC];
        const long cols = host_min(p->nc, p->x_rows - j0);
        host_none_of(seen, cols);
        for (int r = 0; r < HOST_COLUMNS_OF; r++)
            __builtin_memcpy(columns + r * host_columns_plane(p) + j0, seen + r * HOST_MAX_NC,
                             (size_t)cols * sizeof *seen);
    }
#endif
    if (skip >= j->rows) return;
    const host_task t = {
        .out = &j->out,
        .x = j->x,
        .y = j->slab + first * p->y_panel,
        .y_matrix = p->y_matrix,
        .y_block = p->y_block,
        .y_panel = p->y_panel,
        .scratch = p->scratch + thread * p->scratch_units,
        .i0 = j->i0 + skip,
        .rows = host_min(share * p->isa->mr, j->rows - skip),
        .j0 = j0,
        .cols = host_min(p->nc, p->x_rows - j0),
        .k = p->k,
        .kc = p->kc,
        .parts = p->blocks,
#if HOST_OUTPUTS
        .of_rows = host_of_rows(p, j->batch, w / p->ny),
        .of_columns = columns,
        .rows_plane = host_rows_plane(p),
        .columns_plane = host_columns_plane(p),
#endif
    };
    p->isa->task(&t);
}

/* A share of the columns of one batch's few rows. */
static void host_few_step(const void *plan, long long w, int thread)
{
    const host_plan *const p = plan;
    host_job j;
    host_begin(p, &j, w / p->shares, thread);
    const long share = host_round_up(host_ceil_div(p->x_rows, p->shares), 64);
    const long c = w % p->shares * share, rows = HOST_Y_COUNT * p->y_rows;
    if (c >= p->x_rows) return;
    host_unit_t *const zeros = j.slab + rows * p->y_row, *const flat = zeros + rows % 2 * p->y_row;
    __builtin_memset(zeros, 0, (size_t)(flat - zeros) * sizeof *zeros);
    for (int s = 0; s < HOST_Y_COUNT; s++)
        p->isa->few_units(j.y + s, p->k, j.slab + s * p->y_matrix, p->y_row, (char *)flat);
    p->isa->few(&j.out, j.x, j.slab, p->y_row, p->y_rows, c, host_min(share, p->x_rows - c), p->k);
}

/* All threads work on one batch. */
static void host_batch_shared(const host_plan *p, long b)
{
    host_job j;
    host_begin(p, &j, b, 0);
    for (j.i0 = 0; j.i0 < p->y_rows; j.i0 += p->slab_rows) {
        j.rows = host_min(p->slab_rows, p->y_rows - j.i0);
        p->each(p->threads, host_pack_steps(p, &j), host_pack_step, &j);
        p->each(p->threads, p->nx * p->ny, host_task_step, &j);
    }
}

/* One thread computes a whole batch: nobody waits for anybody. */
static void host_batch_step(const void *plan, long long b, int thread)
{
    const host_plan *const p = plan;
    host_job j;
    host_begin(p, &j, b, thread);
    for (j.i0 = 0; j.i0 < p->y_rows; j.i0 += p->slab_rows) {
        j.rows = host_min(p->slab_rows, p->y_rows - j.i0);
        for (long w = 0; w < host_pack_steps(p, &j); w++) host_pack_step(&j, w, thread);
        for (long w = 0; w < p->nx * p->ny; w++) host_task_step(&j, w, thread);
    }
}

static void host_gemm(const kiln_gemm_args *g, kiln_each each)
{
    host_plan plan;
    const host_plan *const p = &plan;
    if (g->m <= 0 || g->n <= 0 || g->batch <= 0) return;
    host_cut(&plan, g, each);
    if (p->few) {
        each(p->threads, g->batch * p->shares, host_few_step, p);
    } else if (p->alone) {
        each(p->threads, g->batch, host_batch_step, p);
    } else {
        for (long b = 0; b < g->batch; b++) host_batch_shared(p, b);
    }
#if HOST_OUTPUTS
    each(p->threads, host_finish_steps(p), host_finish_step, p);
#endif
}
#endif
