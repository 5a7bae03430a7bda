// SPDX-License-Identifier: MIT
// kiln verify: runs instances on problems of many shapes and compares with the reference.
// With --all, instances that compute the same thing are grouped, so that inputs and expected values
// are made once per shape; each instance adds the shapes around its own tile, since that is where
// tiled kernels go wrong.
#include "command.h"
#include "harness.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PLAIN = 0,
    PADDED = 1,     /* leading dimensions larger than need be */
    STRIDED = 2,    /* batches apart from each other */
    BROADCAST = 4,  /* every batch reads the same inputs */
    ALIGNED = 8,    /* bases on 256 bytes; without it on one element only */
    ALIGNED16 = 16, /* bases on 16 bytes */
    QUICK = 32,     /* with --quick, too */
    CUT = 64,       /* of tiles that blocks share along K */
    IN_PLACE = 128, /* E is a full input's memory where the op has one like E */
    ONLY = 256      /* else there is no such trial */
};

typedef struct trial {
    int64_t m, n, k, batch;
    int variant; /* of the flags above */
    kh_values values;
} trial;

static const trial common_trials[] = {
    {1, 1, 1, 1, QUICK, KH_RANDOM},
    {61, 67, 71, 1, QUICK, KH_RANDOM},
    {5, 7, 0, 1, QUICK, KH_RANDOM},
    {64, 64, 64, 1, QUICK | ALIGNED, KH_RANDOM},
    {40, 48, 56, 1, QUICK | ALIGNED16, KH_SPECIALS},
    {19, 23, 37, 3, QUICK | PADDED | STRIDED, KH_RANDOM},
    {21, 35, 18, 3, QUICK | BROADCAST, KH_RANDOM},
    {67, 93, 35, 2, QUICK | PADDED | STRIDED | IN_PLACE | ONLY, KH_RANDOM},
    {33, 31, 3, 1, PADDED, KH_RANDOM},
    {1, 129, 65, 1, PLAIN, KH_RANDOM},
    {127, 1, 33, 1, PADDED, KH_RANDOM},
    {0, 5, 5, 1, PLAIN, KH_RANDOM},
    {5, 0, 5, 1, PLAIN, KH_RANDOM},
    {96, 80, 72, 1, ALIGNED16, KH_INTEGERS},
    {72, 104, 136, 2, ALIGNED16 | PADDED, KH_RANDOM},
    {37, 41, 43, 1, PADDED, KH_SPECIALS},
    {257, 263, 521, 1, PLAIN, KH_RANDOM},
};

enum { MAX_TRIALS = 96 };

typedef struct unit { /* one instance and how it fares */
    const kiln_kernel *kernel;
    kiln_kernel_info info;
    size_t ran, failed, checked, determined; /* problems; elements of all of them */
    char text[640];
} unit;

typedef struct run {
    const kt_options *o;
    kiln_ctx *ctx;
    uint64_t seed;
    size_t passed, failed;
} run;

/* ---- shapes ---- */
static int value_of(const kiln_kernel_info *k, const char *name)
{
    for (size_t i = 0; i < k->ntunables; i++)
        if (!strcmp(k->value_name[i], name)) return k->value[i];
    return 0;
}

/* The edges of one instance's tile. */
static size_t tile_trials(const kiln_kernel_info *k, int quick, trial *t)
{
    const int64_t m = value_of(k, "m"), n = value_of(k, "n"), d = value_of(k, "k");
    if (m <= 1 || n <= 1 || m > 4096 || n > 4096) return 0;
    const int64_t depth = d > 1 && d <= 4096 ? d : 32;
    const trial all[] = {
        {m + 1, n + 1, depth + 1, 1, QUICK, KH_RANDOM},
        {2 * m, 2 * n, 7 * depth, 1, QUICK | ALIGNED, KH_RANDOM},
        {m, n, 24 * depth + 16, 1, QUICK | ALIGNED | CUT | IN_PLACE, KH_RANDOM}, /* long enough */
        {m, n, depth, 1, QUICK | ALIGNED | IN_PLACE | ONLY, KH_RANDOM},
        {m - 1, n - 1, depth - 1, 1, PLAIN, KH_RANDOM},
        {m, n, depth / 2, 1, ALIGNED, KH_RANDOM},
        {2 * m + 1, n - 1, 2 * depth + 3, 2, PADDED, KH_RANDOM},
        {m, n, depth, 2, ALIGNED | STRIDED, KH_INTEGERS},
    };
    const int cut =
        value_of(k, "split_k") > 1 || value_of(k, "cluster") > 1 || value_of(k, "stream") > 0;
    size_t count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if ((!quick || all[i].variant & QUICK) && (cut || !(all[i].variant & CUT)))
            t[count++] = all[i];
    return count;
}

static size_t group_trials(const kt_options *o, const kiln_op_info *op, trial *t)
{
    size_t count = 0;
    for (size_t i = 0; i < sizeof common_trials / sizeof *common_trials; i++)
        if (!o->quick || common_trials[i].variant & QUICK) t[count++] = common_trials[i];
    for (size_t i = 0; i < op->nshapes && count < MAX_TRIALS && !o->quick; i++)
        t[count++] =
            (trial){op->shapes[i][0], op->shapes[i][1], op->shapes[i][2], 1, ALIGNED, KH_RANDOM};
    return count;
}

static void pad(kiln_tensor *t, const kh_operand *o, int variant, int64_t by, int batches)
{
    /* Vector loads stay possible where the base is aligned. */
    const int64_t even = variant & (ALIGNED | ALIGNED16) ? 16 : 1, ld = o->ld + by * even;
    const int64_t outer = o->layout == KILN_ROW ? o->rows : o->cols;
    if (variant & PADDED && (o->role != KH_D || (o->rows > 1 && o->cols > 1))) t->ld = ld;
    if (batches && variant & STRIDED) t->batch_stride = (t->ld ? t->ld : o->ld) * outer + 7 * even;
    if (batches && variant & BROADCAST && o->role != KH_E && by % 2)
        t->batch_stride = KILN_BROADCAST;
    t->align = variant & ALIGNED ? 256 : variant & ALIGNED16 ? 16 : 0;
}

/* The problem of a trial for what an instance computes; *in_place: the input that is to be E, or
 * -1. */
static kiln_status problem_of(kiln_ctx *ctx, const kiln_kernel_info *k, const trial *t,
                              kiln_problem *p, int *in_place)
{
    kh_shape shape;
    *p = (kiln_problem){.struct_size = sizeof *p,
                        .m = t->m,
                        .n = t->n,
                        .k = t->k,
                        .batch = t->batch,
                        .acc = k->acc};
    snprintf(p->op, sizeof p->op, "%s", k->op);
    p->a.dtype = k->a, p->b.dtype = k->b, p->e.dtype = k->e;
    p->a.layout = k->layout_a, p->b.layout = k->layout_b, p->e.layout = k->layout_e;
    const kiln_status status = kh_shape_of(ctx, p, &shape);
    if (status) return status;
    for (int i = 0; i < shape.count; i++) {
        const kh_operand *o = &shape.operand[i];
        kiln_tensor *to = o->role == KH_A   ? &p->a
                          : o->role == KH_B ? &p->b
                          : o->role == KH_E ? &p->e
                                            : &p->d[o->index];
        if (o->role != KH_B || o->index == 0)
            pad(to, o, t->variant, 3 + 2 * i + (o->role == KH_B), t->batch > 1);
    }
    *in_place = t->variant & IN_PLACE ? kh_in_place(&shape) : -1;
    if (*in_place >= 0) {
        kiln_tensor *d = &p->d[shape.operand[*in_place].index];
        d->ld = p->e.ld, d->batch_stride = p->e.batch_stride, d->align = p->e.align;
    }
    return KILN_OK;
}

/* ---- running ---- */
static void blame(unit *u, const kiln_problem *p, const char *text)
{
    char problem[320];
    if (!u->failed)
        snprintf(u->text, sizeof u->text, "%s: %s", kt_problem_text(p, problem, sizeof problem),
                 text);
    u->failed++;
}

/* Where there are other problems, one whose inputs determine little (1 / acc where K is 0) is only
 * counted. */
static void run_case(unit *u, const kiln_problem *p, kh_case *c, int others)
{
    kh_result result;
    if (kiln_workspace_size(u->kernel, p) == SIZE_MAX) return; /* not legal for this instance */
    u->ran++;
    const kiln_status status = kh_case_run(c, u->kernel, &result);
    if (status) {
        blame(u, p, kiln_error());
        return;
    }
    u->checked += result.checked, u->determined += result.determined;
    if (!result.ok && !(others && result.too_few))
        blame(u, p, result.text);
    else if (!u->failed)
        snprintf(u->text, sizeof u->text, "%s", result.text);
}

static void run_trial(run *r, unit *units, size_t n, const trial *t, int edges)
{
    kiln_problem p;
    kh_case *c = NULL;
    int in_place = -1;
    kiln_status status = problem_of(r->ctx, &units->info, t, &p, &in_place);
    if (!status && t->variant & ONLY && in_place < 0) return;
    const kh_options options = {.seed = r->seed,
                                .values = t->values,
                                .tile_m = edges ? value_of(&units->info, "m") : 0,
                                .tile_n = edges ? value_of(&units->info, "n") : 0,
                                .in_place = in_place >= 0};
    if (!status) status = kh_case_open(r->ctx, &p, &options, &c);
    for (size_t i = 0; i < n; i++) {
        if (status)
            blame(&units[i], &p, kiln_error());
        else
            run_case(&units[i], &p, c, 1);
    }
    kh_case_close(c);
}

static void report_unit(run *r, unit *u)
{
    if (!u->ran)
        snprintf(u->text, sizeof u->text, "legal for none of the shapes tried");
    else if (!u->failed && kh_too_few(u->determined, u->checked)) {
        u->failed = 1;
        snprintf(u->text, sizeof u->text,
                 "%zu of %zu elements of %zu problems are determined: too few to tell right from "
                 "wrong",
                 u->determined, u->checked, u->ran);
    }
    const int ok = u->ran && !u->failed;
    r->passed += (size_t)ok;
    r->failed += (size_t)!ok;
    if (ok)
        printf("%sok%s    %s  %zu problem%s, %zu of %zu elements determined\n",
               kt_color_on(stdout, KT_GREEN), kt_color_off(stdout), u->info.name, u->ran,
               u->ran == 1 ? "" : "s", u->determined, u->checked);
    else
        printf("%sFAIL%s  %s  %s\n", kt_color_on(stdout, KT_RED), kt_color_off(stdout),
               u->info.name, u->text);
    fflush(stdout);
}

/* Instances of one op, types and layouts: the shapes they share, then those of each one's tile. */
static int run_group(run *r, unit *units, size_t n)
{
    trial trials[MAX_TRIALS];
    kiln_op_info op = {.struct_size = sizeof op};
    const kiln_status status = kiln_op_describe(r->ctx, units->info.op, &op);
    if (status) return kt_failed(status, units->info.op);
    if (isatty(STDERR_FILENO)) fprintf(stderr, "\r\033[K%s\r", units->info.name);
    const size_t count = group_trials(r->o, &op, trials);
    for (size_t i = 0; i < count; i++) run_trial(r, units, n, &trials[i], 0);
    for (size_t u = 0; u < n; u++) {
        const size_t own = tile_trials(&units[u].info, r->o->quick, trials);
        for (size_t i = 0; i < own; i++) run_trial(r, &units[u], 1, &trials[i], 1);
        report_unit(r, &units[u]);
    }
    return 0;
}

/* Functional key first, then name. */
static int by_function(const void *x, const void *y)
{
    const kiln_kernel_info *a = &((const unit *)x)->info, *b = &((const unit *)y)->info;
    int d = strcmp(a->op, b->op);
    const int pairs[][2] = {{(int)a->a, (int)b->a},
                            {(int)a->b, (int)b->b},
                            {(int)a->e, (int)b->e},
                            {(int)a->acc, (int)b->acc},
                            {(int)a->layout_a, (int)b->layout_a},
                            {(int)a->layout_b, (int)b->layout_b},
                            {(int)a->layout_e, (int)b->layout_e}};
    for (size_t i = 0; !d && i < sizeof pairs / sizeof *pairs; i++) d = pairs[i][0] - pairs[i][1];
    return d;
}

static int by_function_and_name(const void *x, const void *y)
{
    const int d = by_function(x, y);
    return d ? d : strcmp(((const unit *)x)->info.name, ((const unit *)y)->info.name);
}

static int verify_all(run *r)
{
    kt_instance *found;
    size_t n = 0;
    int code = 0;
    const size_t selected = kt_select(r->o, r->ctx, &found);
    unit *units = calloc(selected + 1, sizeof *units);
    if (!units) return free(found), kt_failed(KILN_NO_MEMORY, "verify");
    for (size_t i = 0; i < selected; i++)
        if (found[i].info.runnable)
            units[n++] = (unit){.kernel = found[i].kernel, .info = found[i].info};
    free(found);
    qsort(units, n, sizeof *units, by_function_and_name);
    for (size_t i = 0, next; i < n && !code; i = next) {
        for (next = i + 1; next < n && !by_function(&units[i], &units[next]);) next++;
        code = run_group(r, &units[i], next - i);
    }
    if (!n) kt_none(r->o, r->ctx, "no instance that runs on this device passes these filters");
    free(units);
    return code ? code : n ? 0 : EXIT_FAILED;
}

/* ---- one problem as the user gave it ---- */
/* All legal instances; the caller frees the list. */
static kiln_status find_all(kiln_ctx *ctx, const kiln_problem *p, const kiln_kernel ***out,
                            size_t *count)
{
    *out = NULL;
    kiln_status status = kiln_find_all(ctx, p, NULL, count);
    if (status) return status;
    const kiln_kernel **kernel = calloc(*count, sizeof *kernel);
    if (!kernel) return KILN_NO_MEMORY;
    status = kiln_find_all(ctx, p, kernel, count);
    if (status)
        free(kernel);
    else
        *out = kernel;
    return status;
}

/* The number of instances that the options select. */
static size_t run_problem(run *r, const kiln_problem *p, kh_case *c, const kiln_kernel **kernel,
                          size_t count)
{
    size_t shown = 0;
    for (size_t i = 0; i < count; i++) {
        unit u = {.kernel = kernel[i]};
        if (kt_describe(kernel[i], &u.info) || !kt_selected(r->o, &u.info)) continue;
        run_case(&u, p, c, 0);
        const int ok = u.ran && !u.failed;
        r->passed += (size_t)ok, r->failed += (size_t)!ok, shown++;
        printf("%s%s%s  %s  %s\n", kt_color_on(stdout, ok ? KT_GREEN : KT_RED),
               ok ? "ok  " : "FAIL", kt_color_off(stdout), u.info.name, u.text);
        fflush(stdout);
    }
    return shown;
}

static int verify_problem(run *r, const char *text)
{
    kiln_problem p;
    const kiln_kernel **kernel;
    size_t count, shown = 0;
    kh_case *c;
    const int code = kt_problem(text, &p);
    if (code) return code;
    kiln_status status = find_all(r->ctx, &p, &kernel, &count);
    if (status) return kt_failed(status, text);
    const kh_options options = {.seed = r->seed};
    status = kh_case_open(r->ctx, &p, &options, &c);
    if (!status) {
        if (*kh_case_sampling(c)) kt_message("%s: compared on %s", p.op, kh_case_sampling(c));
        shown = run_problem(r, &p, c, kernel, count);
        kh_case_close(c);
    }
    free(kernel);
    if (status) return kt_failed(status, text);
    if (!shown) kt_message("'%s': no instance is like this", text);
    return shown ? 0 : EXIT_FAILED;
}

int cmd_verify(const kt_options *o)
{
    run r = {.o = o, .seed = o->has_seed ? o->seed : kh_seed()};
    kiln_device_info device = {.struct_size = sizeof device};
    if (!o->all == !o->arguments) {
        kt_message("verify: give either problems or --all");
        return EXIT_USAGE;
    }
    int code = kt_open(o, NULL, &r.ctx), worst = 0;
    if (code) return code;
    if (!kiln_device_describe(r.ctx, &device))
        kt_message("verify on %s (%s), seed %llu", device.name, device.target,
                   (unsigned long long)r.seed);
    if (o->all) worst = verify_all(&r);
    for (int i = 0; i < o->arguments; i++) {
        code = verify_problem(&r, o->argument[i]);
        if (code > worst) worst = code;
    }
    printf("%zu passed, %zu failed\n", r.passed, r.failed);
    kiln_close(r.ctx);
    return worst ? worst : r.failed ? EXIT_FAILED : EXIT_PASS;
}
