// SPDX-License-Identifier: MIT
// kiln report --cost: each instance runs once on the simulator, on a problem of its own tiles'
// sizes, and what libkilnsim says of its launches becomes a row each.  The problem has whole tiles,
// several in each direction, so that the workgroup that is modelled has neighbours, and a depth of
// several steps.
#include "report_cost.h"
#include "report_page.h"
#include "simulator.h"
#include <stdlib.h>
#include <string.h>

/* ---- columns: sums over the classes of instructions that libkilnsim names ---- */
static const struct kind {
    const char *head, *classes; /* of which it is the sum, blanks around each */
} kinds[] = {
    {"matrix", " mfma "},
    {"vector", " valu trans valu_f64 "},
    {"scalar", " salu branch smem message "},
    {"LDS", " lds "},
    {"memory", " global flat buffer scratch cache "},
    {"other", " wait nop barrier "},
};
enum { KINDS = sizeof kinds / sizeof *kinds };
static const char *const figures[] = {"matrix cycles",   "LDS cycles",      "conflicts",
                                      "segments",        "needed",          "groups per unit",
                                      "waves per SIMD",  "modelled cycles", "modelled matrix share",
                                      "modelled TFLOP/s"};
enum { FIGURES = sizeof figures / sizeof *figures, SHARED = 5 /* of matrix, LDS and memory */ };

static unsigned long long sum_of(const kilnsim_cost *c, const char *classes)
{
    unsigned long long sum = 0;
    char name[64];
    for (unsigned i = 0; i < c->class_count; i++) {
        snprintf(name, sizeof name, " %s ", c->class_name[i]);
        if (strstr(classes, name)) sum += c->count[i];
    }
    return sum;
}

typedef struct report {
    const kt_options *o;
    kiln_ctx *ctx;
    kt_table *table;
    json_t *rows;
    const kiln_kernel_info *kernel; /* whose launches are being added */
    const kiln_problem *problem;
    double flops; /* of that problem */
    size_t launches, shown, failed;
} report;

/* TFLOP/s (of integers TOP/s) of the whole device at its peak clock, all its compute units as busy
   as the modelled one.  A first launch does the multiplications, each workgroup the same share of
   them; what comes after it adds up what split_k left, which is none of the problem's. */
static double modelled_rate(const report *p, const kilnsim_cost *c)
{
    if (p->launches > 1 || c->modelled_cycles <= 0) return 0;
    const uint64_t on_unit = c->groups < c->groups_per_cu ? c->groups : c->groups_per_cu;
    const double flops = p->flops / (double)c->groups * (double)on_unit;
    return flops / c->modelled_cycles * c->clock_mhz * 1e6 * c->compute_units / 1e12;
}

static json_t *json_row(const report *p, const kilnsim_cost *c, const char *name)
{
    char problem[KT_PROBLEM_TEXT];
    json_t *counts = json_object();
    for (unsigned i = 0; i < c->class_count; i++)
        json_object_set_new(counts, c->class_name[i], json_integer((json_int_t)c->count[i]));
    return json_pack(
        "{s:s s:s s:s s:s s:s s:I s:I s:o s:I s:I s:I s:I s:I s:I s:I s:I s:f s:f "
        "s:f s:I s:I}",
        "instance", name, "op", p->kernel->op, "target", c->target, "kernel", c->kernel, "problem",
        kt_problem_text(p->problem, problem, sizeof problem), "groups", (json_int_t)c->groups,
        "waves", (json_int_t)c->waves, "instructions", counts, "mfma_cycles",
        (json_int_t)c->mfma_cycles, "lds_cycles", (json_int_t)c->lds_cycles, "lds_ideal_cycles",
        (json_int_t)c->lds_ideal_cycles, "segments", (json_int_t)c->segments, "segments_needed",
        (json_int_t)c->segments_needed, "global_bytes", (json_int_t)c->global_bytes,
        "groups_per_cu", (json_int_t)c->groups_per_cu, "waves_per_simd",
        (json_int_t)c->waves_per_simd, "modelled_cycles", c->modelled_cycles,
        "modelled_matrix_share", c->modelled_matrix_share, "modelled_tflops", modelled_rate(p, c),
        "clock_mhz", (json_int_t)c->clock_mhz, "compute_units", (json_int_t)c->compute_units);
}

static void add_row(const kilnsim_cost *c, void *user)
{
    report *p = user;
    char name[512];
    snprintf(name, sizeof name, p->launches ? "%s#%zu" : "%s", p->kernel->name, p->launches + 1);
    p->launches++;
    p->shown++;
    if (p->o->json) {
        json_array_append_new(p->rows, json_row(p, c, name));
        return;
    }
    kt_cell(p->table, "%s", name);
    for (int i = 0; i < KINDS; i++) kt_cell(p->table, "%llu", sum_of(c, kinds[i].classes));
    const uint64_t number[] = {
        c->mfma_cycles,   c->lds_cycles,      c->lds_cycles - c->lds_ideal_cycles,
        c->segments,      c->segments_needed, c->groups_per_cu,
        c->waves_per_simd};
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        kt_cell(p->table, "%llu", (unsigned long long)number[i]);
    kt_cell(p->table, "%.0f", c->modelled_cycles);
    kt_cell(p->table, "%.3f", c->modelled_matrix_share);
    kt_cell(p->table, "%.1f", modelled_rate(p, c));
}

/* ---- one instance ---- */
static int64_t tile(const kiln_kernel_info *k, const char *name, int64_t otherwise)
{
    for (size_t i = 0; i < k->ntunables; i++)
        if (!strcmp(k->value_name[i], name) && k->value[i] > 0) return k->value[i];
    return otherwise;
}

enum { ATTEMPTS = 3 };
static int64_t at_least(int64_t n, int64_t least)
{
    return n > least ? n : least;
}

/* Whole tiles, whose sides are powers of two, and tensors as aligned as can be: the path that large
   problems take.  mfma needs more depth, lest its start and end be most of what is priced. */
static void matrix_sizes(const kiln_op_info *op, const kiln_kernel_info *k, kiln_problem *p)
{
    enum { STEPS = 8, SIDE = 64 };
    static const struct sizes {
        int64_t tiles, side, depth; /* tiles along rows and columns, but no less than side */
    } usual = {4, 1, 256}, matrix = {2, 256, 1024};
    const struct sizes *least = strcmp(k->schedule, "mfma") ? &usual : &matrix;
    const int side[] = {op->rows, op->cols};
    for (int i = 0; i < 2; i++)
        p->size[side[i]] =
            at_least(least->tiles * tile(k, op->size_name[side[i]], SIDE), least->side);
    p->size[op->summed] = at_least(
        STEPS * tile(k, op->size_name[op->summed], SIDE / 2) * tile(k, "split_k", 1), least->depth);
}

/* Rows enough for several workgroups: as long as models have them, short, long. */
static void row_sizes(const kiln_op_info *op, const kiln_kernel_info *k, int attempt,
                      kiln_problem *p)
{
    enum { GROUPS = 8 };
    static const int64_t least[ATTEMPTS][2] = {{16, 4096}, {64, 256}, {1, 65536}};
    const int64_t *size = least[attempt];
    p->size[op->rows] = at_least(GROUPS * tile(k, op->size_name[op->rows], 0), size[0]);
    p->size[op->cols] = at_least(tile(k, op->size_name[op->cols], size[1]), size[1]);
}

/* Of several matrices, whose rows meet all columns: long ones for matrix cores, square, so that
   masks cut some of them; others are priced by less. */
static void plane_sizes(const kiln_op_info *op, const kiln_kernel_info *k, kiln_problem *p)
{
    enum { PLANES = 2, GROUPS = 8, LONG = 4096, SHORT = 256 };
    const int matrix = !strcmp(k->schedule, "mfma");
    const int64_t cols = matrix ? LONG : at_least(tile(k, kh_size_name(op, op->cols), 0), SHORT);
    for (int i = 0; i < (int)op->nsizes; i++) {
        const int at = KILN_POSITION(i);
        if (kh_size_name(op, at) && !kh_size_of(p, at)) *kh_size(p, at) = cols;
    }
    *kh_size(p, op->planes) = PLANES;
    *kh_size(p, op->groups) = PLANES;
    *kh_size(p, op->rows) = matrix ? cols : GROUPS * tile(k, kh_size_name(op, op->rows), 1);
}

/* attempt: instances are made for other sizes than the first. */
static kiln_status problem_of(kiln_ctx *ctx, const kiln_kernel_info *k, int attempt,
                              kiln_problem *p)
{
    enum { ALIGN = 256 };
    kiln_op_info op = {.struct_size = sizeof op};
    kiln_status status = kt_kernel_problem(ctx, k, p);
    if (!status) status = kiln_op_describe(ctx, k->op, &op);
    if (status) return status;
    if (op.planes >= 0)
        plane_sizes(&op, k, p);
    else if (op.summed >= 0)
        matrix_sizes(&op, k, p);
    else
        row_sizes(&op, k, attempt, p);
    for (size_t i = 0; i < op.ntensors; i++) p->tensor[op.tensor[i].at].align = ALIGN;
    return KILN_OK;
}

typedef struct memory { /* one allocation for all operands and the workspace */
    char *device, *image;
    size_t start[KH_MAX_OPERANDS + 1], total;
} memory;

static kiln_status memory_open(kiln_ctx *ctx, const kh_shape *s, size_t workspace, memory *m)
{
    enum { PAGE = 4096 };
    size_t total = 0;
    void *device;
    for (int i = 0; i <= s->count; i++) {
        const kh_operand *o = &s->operand[i];
        m->start[i] = total;
        total += i < s->count ? kh_span(o) : workspace;
        total = (total + PAGE) / PAGE * PAGE;
    }
    m->total = total;
    const kiln_status status = kiln_malloc(ctx, total, &device);
    if (status) return status;
    m->device = device;
    m->image = calloc(total, 1);
    return m->image ? KILN_OK : KILN_NO_MEMORY;
}

static void memory_close(kiln_ctx *ctx, memory *m)
{
    if (m->device) kiln_free(ctx, m->device);
    free(m->image);
}

kiln_status kt_cost_run(kiln_ctx *ctx, const kiln_kernel *kernel, kiln_problem *p, uint64_t seed,
                        double *flops)
{
    kh_shape s;
    memory m = {0};
    kiln_args args = {.struct_size = sizeof args};
    kiln_status status = kh_shape_of(ctx, p, &s);
    if (status) return status;
    *p = s.problem;
    *flops = kh_flops(&s);
    args.workspace_size = kiln_workspace_size(kernel, p);
    if (args.workspace_size == SIZE_MAX) return KILN_NOT_SUPPORTED;
    status = memory_open(ctx, &s, args.workspace_size, &m);
    for (int i = 0; !status && i < s.count; i++) {
        kh_fill(&s, &s.operand[i], KH_RANDOM, &seed, m.image + m.start[i]);
        *kh_slot(&args, &s.operand[i]) = m.device + m.start[i];
    }
    args.workspace = m.device + m.start[s.count];
    kh_fill_scalars(&s, KH_RANDOM, 0, &seed, args.scalars);
    if (!status) status = kiln_upload(ctx, m.device, m.image, m.total);
    if (!status) {
        kt_price_begin();
        status = kiln_launch(ctx, kernel, p, &args, NULL);
        if (!status) status = kiln_synchronize(ctx, NULL);
        kt_price_end();
    }
    memory_close(ctx, &m);
    return status;
}

kiln_status kt_cost_run_tiles(kiln_ctx *ctx, const kt_instance *i, uint64_t seed, kiln_problem *p,
                              double *flops)
{
    kiln_status status = KILN_NOT_SUPPORTED;
    for (int attempt = 0; attempt < ATTEMPTS && status == KILN_NOT_SUPPORTED; attempt++) {
        status = problem_of(ctx, &i->info, attempt, p);
        if (!status) status = kt_cost_run(ctx, i->kernel, p, seed, flops);
    }
    return status;
}

static void report_instance(report *p, const kt_instance *i)
{
    kiln_problem problem;
    double flops = 0;
    const kiln_status status =
        kt_cost_run_tiles(p->ctx, i, p->o->has_seed ? p->o->seed : 1, &problem, &flops);
    if (status == KILN_NOT_SUPPORTED)
        kt_message("%s: not legal for whole tiles of its own", i->info.name);
    else if (status)
        kt_failed(status, i->info.name);
    if (status) {
        p->failed++;
        return;
    }
    p->kernel = &i->info;
    p->problem = &problem;
    p->flops = flops;
    p->launches = 0;
    kt_price_costs(add_row, p);
}

static kt_table *open_table(void)
{
    const char *heads[1 + KINDS + FIGURES] = {"instance"};
    for (int i = 0; i < KINDS; i++) heads[1 + i] = kinds[i].head;
    for (int i = 0; i < FIGURES; i++) heads[1 + KINDS + i] = figures[i];
    return kt_table_open(heads, 1 + KINDS + FIGURES);
}

/* Runs what is selected; an exit code. */
static int run_all(report *p)
{
    const kt_options *o = p->o;
    kt_instance *found;
    const int code = kt_open(o, getenv("KILN_DEVICE") ? NULL : "sim:gfx942", &p->ctx);
    if (code) return code;
    if (!kt_simulated(p->ctx)) {
        kt_message("report --cost: this device is not the simulator; give --device sim:gfx942 or "
                   "sim:gfx90a");
        kiln_close(p->ctx);
        return EXIT_USAGE;
    }
    const size_t n = kt_select(o, p->ctx, &found);
    for (size_t i = 0; i < n; i++)
        if (found[i].info.runnable) report_instance(p, &found[i]);
    if (!p->shown && !p->failed)
        kt_none(o, p->ctx, "no instance that runs on this device passes these filters");
    free(found);
    kiln_close(p->ctx);
    return p->failed || !p->shown ? EXIT_FAILED : EXIT_PASS;
}

int kt_cost_json(const kt_options *o, json_t **rows)
{
    kt_options json = *o;
    json.json = 1;
    report p = {.o = &json, .rows = *rows = json_array()};
    return run_all(&p);
}

int kt_report_cost(const kt_options *o)
{
    report p = {.o = o, .table = open_table(), .rows = json_array()};
    kt_table_fold(p.table, 1);
    kt_table_fold(p.table, 1 + KINDS);
    kt_table_fold(p.table, 1 + KINDS + SHARED);
    const int code = run_all(&p);
    if (code == EXIT_PASS || code == EXIT_FAILED) {
        if (o->json) {
            json_dumpf(p.rows, stdout, JSON_INDENT(1));
            puts("");
        } else if (p.shown)
            kt_table_print(p.table, stdout, o->csv);
    }
    json_decref(p.rows);
    kt_table_close(p.table);
    return code;
}
