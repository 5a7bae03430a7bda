// SPDX-License-Identifier: MIT
// kiln bench: Kiln's kernel and its peers timed together on the same inputs, problem by problem; of
// sets of problems, how Kiln stands against the fastest peer.
#include "command.h"
#include "contest.h"
#include "output.h"
#include "peer.h"
#include "plot.h"
#include "simulator.h"
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const kt_peer peers[] = {
#define X(name, vendor, open) {name, vendor, open},
    KT_PEERS(X)
#undef X
};
enum { PEERS = sizeof peers / sizeof *peers, MAX_ENTRIES = PEERS + 1 };

static const char *const main_problems[] = {
    /* those of `make run`, and a square one */
    "bias_relu bf16,bf16,bf16 rcr m=512 n=11008 k=4096",
    "linear_relu_abde_i8 i8,i8,i8 rcr m=512 n=5120 k=5120",
    "gemm f32,f32,f32 rrr m=1024 n=1024 k=1024",
};
enum { COLUMNS = 10 };
static const char *const heads[COLUMNS] = {"set",     "problem", "implementation", "us",
                                           "spread",  "TFLOP/s", "GB/s",           "ratio",
                                           "replays", "note"};
/* On the simulator: of one launch, as modelled; the model has no memory that all units share. */
static const char *const modelled_heads[COLUMNS] = {
    "set",  "problem", "implementation", "modelled us", "spread", "modelled TFLOP/s",
    "GB/s", "ratio",   "replays",        "note"};

/* Seconds that a problem takes beside the replays, until it is known better. */
static const double preparation = 2, least_seconds = 0.2, usual_seconds = 1;

typedef struct tally { /* of a set, against the fastest peer that does all of the work */
    const char *set, *aim;
    size_t problems, compared;
    double logs, least, most;
} tally;

typedef struct bench {
    const kt_options *o;
    kiln_ctx *ctx;
    kiln_device_info device;
    int modelled; /* the device is the simulator */
    uint64_t seed;
    double start, replaying; /* when it began; seconds of that spent on replays */
    size_t timed;            /* problems that had their turn */
    kt_table *table;
    FILE *csv;     /* NULL: no CSV is asked for */
    int csv_error; /* errno of what could not be written */
    json_t *rows;
    tally *tallies;
    size_t ntallies;
    int code;
    const char *lost; /* the problem after which the device did not answer, or NULL */
} bench;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void worse(bench *b, int code)
{
    if (code > b->code) b->code = code;
}

/* ---- peers ---- */
/* Whether --peer names it, or says all and it runs on this device. */
static int wanted(const bench *b, const kt_peer *p)
{
    if (!b->o->peer) return 0;
    return strcmp(b->o->peer, "all") ? !strcmp(b->o->peer, p->name)
                                     : !strcmp(p->vendor, b->device.vendor);
}

static int known_peer(const char *name)
{
    int found = !strcmp(name, "all");
    for (size_t i = 0; i < PEERS; i++) found |= !strcmp(name, peers[i].name);
    return found;
}

static double implementations(const bench *b)
{
    double n = 1;
    for (size_t i = 0; i < PEERS; i++) n += wanted(b, &peers[i]);
    return n;
}

static size_t open_peers(bench *b, kh_sets *sets, const kt_item *item, const kh_protocol *protocol,
                         kt_entry *entries, size_t n)
{
    const kt_peer_options options = {.threads = b->o->threads, .protocol = *protocol};
    for (size_t i = 0; i < PEERS; i++) {
        char why[256] = "";
        kt_entry *e = &entries[n];
        if (!wanted(b, &peers[i])) continue;
        *e = (kt_entry){0};
        snprintf(e->name, sizeof e->name, "%s", peers[i].name);
        if (strcmp(peers[i].vendor, b->device.vendor))
            snprintf(why, sizeof why, "it does not run on this device");
        else if (!peers[i].open(sets, &options, e, why, sizeof why)) {
            if (item->versus) e->same = 0;
            n++;
            continue;
        }
        if (e->close) e->close(e);
        kt_message("%s: no peer %s: %s", item->text, peers[i].name, why);
        if (strcmp(b->o->peer, "all")) worse(b, EXIT_FAILED);
    }
    return n;
}

/* ---- results compared ---- */
/* The first set's outputs, one after the other in `image`. */
static int compute(kh_sets *sets, kh_runner *r, char *image, size_t bytes)
{
    kiln_ctx *ctx = kh_sets_ctx(sets);
    const kh_shape *s = kh_sets_shape(sets);
    const kiln_args *args = kh_sets_args(sets, 0);
    memset(image, 0xa5, bytes);
    int ok = 1;
    for (int step = 0; step < 2 && ok; step++) {
        char *at = image;
        for (int o = s->inputs; o < s->count && ok; o++) {
            const size_t size = (size_t)s->operand[o].span * s->operand[o].size;
            void *e = kh_pointer(args, &s->operand[o]);
            ok = size == 0 ||
                 !(step ? kiln_download(ctx, at, e, size) : kiln_upload(ctx, e, at, size));
            at += size;
        }
        if (!step) ok = ok && !r->launch(r, 0, NULL) && !kiln_synchronize(ctx, NULL);
    }
    return ok;
}

/* Relative root mean square of the difference between two images of an output. */
static double distance(const kh_operand *e, const char *x, const char *y)
{
    const int64_t step = e->span / 65536 + 1;
    double sum = 0, square = 0;
    for (int64_t at = 0; at < e->span; at += step) {
        const double ours_e = kh_decode(e->dtype, x + (size_t)at * e->size);
        const double theirs_e = kh_decode(e->dtype, y + (size_t)at * e->size);
        sum += (ours_e - theirs_e) * (ours_e - theirs_e), square += ours_e * ours_e;
    }
    return sqrt(sum / (square > 0 ? square : 1));
}

/* Between a peer's outputs and Kiln's, of the output where it is most; NAN: could not be had. */
static double difference(kh_sets *sets, kh_runner *ours, kh_runner *theirs)
{
    const kh_shape *s = kh_sets_shape(sets);
    size_t bytes = 0, at = 0;
    for (int o = s->inputs; o < s->count; o++)
        bytes += (size_t)s->operand[o].span * s->operand[o].size;
    char *x = malloc(bytes + 1), *y = malloc(bytes + 1);
    double most = 0;
    const int ok =
        x && y && bytes && compute(sets, ours, x, bytes) && compute(sets, theirs, y, bytes);
    for (int o = s->inputs; ok && o < s->count; o++) {
        const double d = distance(&s->operand[o], x + at, y + at);
        if (!(d <= most)) most = d;
        at += (size_t)s->operand[o].span * s->operand[o].size;
    }
    free(x);
    free(y);
    return ok ? most : (double)NAN;
}

static void compare(bench *b, kh_sets *sets, kt_entry *ours, kt_entry *theirs)
{
    const double d = difference(sets, &ours->runner, &theirs->runner);
    const size_t used = strlen(theirs->note);
    if (d < 0.02) return;
    snprintf(theirs->note + used, sizeof theirs->note - used,
             ", RESULTS DIFFER (relative rms %.2g)", d);
    theirs->whole = 0;
    worse(b, EXIT_FAILED);
}

/* ---- rows ---- */
/* What is done is there when a run is cut short. */
static void put_csv_row(bench *b, size_t row)
{
    kt_table_csv_row(b->table, row, b->csv);
    if (fflush(b->csv) && !b->csv_error) b->csv_error = errno;
}

static void add_row(bench *b, const kt_item *item, const kt_entry *e, double ours)
{
    const kh_shape *s = kh_sets_shape(e->runner.sets);
    const double t = e->runner.seconds, flops = kh_flops(s), bytes = kh_bytes(s);
    const double ratio = ours > 0 ? t / ours : 0;
    json_array_append_new(
        b->rows, json_pack("{s:s s:s s:s s:s s:f s:f s:o s:o s:f s:I s:s}", "set", item->set,
                           "problem", item->text, "implementation", e->name, "device",
                           b->device.name, b->modelled ? "modelled_us" : "us", t * 1e6, "spread",
                           e->runner.spread, b->modelled ? "modelled_gflops" : "gflops",
                           flops > 0 ? json_real(flops / t * 1e-9) : json_null(), "gbps",
                           b->modelled ? json_null() : json_real(bytes / t * 1e-9), "ratio", ratio,
                           "replays", (json_int_t)e->runner.replays, "note", e->note));
    kt_cell(b->table, "%s", item->set);
    kt_cell(b->table, "%s", item->text);
    kt_cell(b->table, "%s", e->name);
    kt_cell(b->table, "%.2f", t * 1e6);
    kt_cell(b->table, "%.3f", e->runner.spread);
    if (flops > 0)
        kt_cell(b->table, "%.5g", flops / t * 1e-12);
    else
        kt_cell(b->table, "-");
    if (b->modelled)
        kt_cell(b->table, "-");
    else
        kt_cell(b->table, "%.5g", bytes / t * 1e-9);
    kt_cell(b->table, "%.3f", ratio);
    kt_cell(b->table, "%zu", e->runner.replays);
    kt_cell(b->table, "%s", e->note);
    if (b->csv) put_csv_row(b, kt_table_rows(b->table) - 1);
}

/* One for each set, in the file's order, whatever order problems are timed in. */
static int open_tallies(bench *b, const kt_problems *list)
{
    b->tallies = calloc(list->count + 1, sizeof *b->tallies);
    for (size_t i = 0; b->tallies && i < list->count; i++) {
        const kt_item *item = &list->item[i];
        size_t at = 0;
        while (at < b->ntallies && strcmp(b->tallies[at].set, item->set)) at++;
        if (at == b->ntallies)
            b->tallies[b->ntallies++] = (tally){.set = item->set, .aim = item->aim};
    }
    return b->tallies != NULL;
}

/* The set's tally, with this problem in it; n = 0: one that could not be timed. */
static void count(bench *b, const kt_item *item, const kt_entry *entries, size_t n)
{
    double best = 0, ours = n ? entries[0].runner.seconds : 0;
    for (size_t i = 1; i < n; i++) {
        const double t = entries[i].runner.seconds;
        if (entries[i].whole && t > 0 && (best <= 0 || t < best)) best = t;
    }
    tally *t = b->tallies;
    while (strcmp(t->set, item->set)) t++;
    t->problems++;
    if (best <= 0 || !(ours > 0)) return;
    const double ratio = best / ours;
    t->logs += log(ratio);
    if (!t->compared || ratio < t->least) t->least = ratio;
    if (!t->compared || ratio > t->most) t->most = ratio;
    t->compared++;
}

static void report_progress(const bench *b, const kt_item *item, const kt_entry *entries, size_t n,
                            size_t done, size_t of)
{
    char text[256];
    int used = 0;
    for (size_t i = 0; i < n && used < (int)sizeof text; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%s %.2f us%s", i ? ", " : "",
                         entries[i].name, entries[i].runner.seconds * 1e6,
                         b->modelled ? ", modelled" : "");
    kt_message("%zu/%zu, %.1f s: %s: %s", done, of, now() - b->start, item->text, text);
}

/* ---- one problem ---- */
/* Times entries[0] = Kiln and the peers; adds a row for each. */
static int time_entries(bench *b, const kt_item *item, kh_sets *sets, kt_entry *entries, size_t n,
                        const kh_protocol *protocol)
{
    kh_runner runners[MAX_ENTRIES];
    for (size_t i = 0; i < n; i++) runners[i] = entries[i].runner;
    const double start = now();
    const kiln_status status = kh_time(runners, n, protocol);
    b->replaying += now() - start;
    if (status) {
        worse(b, kt_failed(status, item->text));
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        entries[i].runner = runners[i];
        if (i && entries[i].same) compare(b, sets, &entries[0], &entries[i]);
        add_row(b, item, &entries[i], entries[0].runner.seconds);
    }
    return 1;
}

/* An instance's name; among all of a problem's the one that kiln_find takes says so. */
static kiln_status note_instance(const kt_contestant *c, char *note, size_t size)
{
    kiln_kernel_info info;
    const kiln_status status = kt_describe(c->kernel, &info);
    if (!status) snprintf(note, size, "%s%s", info.name, c->taken ? ", chosen" : "");
    return status;
}

/* Rows for the instances that lost; each against the winner's results, too. */
static void list_others(bench *b, const kt_item *item, kh_sets *sets, kt_entry *best,
                        const kt_contestant *c, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        kt_entry e = {.name = "kiln"};
        if (note_instance(&c[i], e.note, sizeof e.note) ||
            kh_runner_open(sets, c[i].kernel, &e.runner))
            continue;
        e.runner.seconds = c[i].seconds;
        e.runner.spread = c[i].spread;
        e.runner.replays = c[i].replays;
        compare(b, sets, best, &e);
        add_row(b, item, &e, best->runner.seconds);
        kh_runner_close(&e.runner);
    }
}

/* The instance to time: the one named, the fastest of all, or what kiln_find takes. */
static kiln_status choose(bench *b, kh_sets *sets, const kiln_problem *p, kt_contestant *c,
                          size_t *n, const kh_protocol *protocol)
{
    *n = 1;
    if (b->o->instance.count)
        return kiln_kernel_by_name(b->ctx, b->o->instance.name[0], &c[0].kernel);
    if (!b->o->all) return kiln_find(b->ctx, p, &c[0].kernel);
    *n = kt_contestants(b->ctx, p, c);
    if (*n) c[0].taken = 1; /* kiln_find_all's first is kiln_find's */
    if (*n) *n = kt_contest(sets, c, *n, protocol);
    return *n ? KILN_OK : KILN_NOT_SUPPORTED;
}

static kiln_status bench_sets(bench *b, const kt_item *item, const kiln_problem *p, kh_sets *sets,
                              kh_sets *others, const kh_protocol *protocol, size_t done, size_t of)
{
    kt_entry entries[MAX_ENTRIES] = {0};
    size_t n = 1, instances = 0;
    kt_contestant *c = calloc(KT_CONTESTANTS, sizeof *c);
    kiln_status status = c ? choose(b, sets, p, c, &instances, protocol) : KILN_NO_MEMORY;
    if (!status) status = note_instance(&c[0], entries[0].note, sizeof entries[0].note);
    if (!status) status = kh_runner_open(sets, c[0].kernel, &entries[0].runner);
    if (!status) {
        snprintf(entries[0].name, sizeof entries[0].name, "kiln");
        n = open_peers(b, others ? others : sets, item, protocol, entries, 1);
        for (size_t i = 1; i < n && item->versus; i++) {
            char note[sizeof entries[i].note];
            snprintf(note, sizeof note, "%.200s, for %.100s", entries[i].note, item->versus);
            memcpy(entries[i].note, note, sizeof note);
        }
        const int timed = time_entries(b, item, sets, entries, n, protocol);
        count(b, item, entries, timed ? n : 0);
        if (timed) {
            list_others(b, item, sets, &entries[0], c, instances);
            if (of > 1) report_progress(b, item, entries, n, done, of);
        }
        for (size_t i = 1; i < n; i++)
            if (entries[i].close) entries[i].close(&entries[i]);
        kh_runner_close(&entries[0].runner);
    }
    free(c);
    return status;
}

static void bench_problem(bench *b, const kt_item *item, const kh_protocol *protocol, size_t done,
                          size_t of)
{
    kiln_problem p, versus;
    kh_sets *sets = NULL, *others = NULL;
    int code = kt_problem(item->text, &p);
    if (!code && item->versus) code = kt_problem(item->versus, &versus);
    if (code) {
        worse(b, code);
        count(b, item, NULL, 0);
        return;
    }
    size_t legal;
    kiln_status status = kiln_find_all(b->ctx, &p, NULL, &legal); /* says best why there is none */
    if (!status) status = kh_sets_open(b->ctx, &p, b->seed, &sets);
    if (!status && item->versus && b->o->peer)
        status = kh_sets_open(b->ctx, &versus, b->seed, &others);
    if (!status) status = bench_sets(b, item, &p, sets, others, protocol, done, of);
    if (status) {
        worse(b, kt_failed(status, item->text));
        count(b, item, NULL, 0);
    }
    kh_sets_close(others);
    kh_sets_close(sets);
}

/* ---- all of them ---- */
/* What --budget leaves for each implementation of each problem that is left. */
static double seconds_for(const bench *b, size_t done, size_t left)
{
    const double asked = b->o->seconds > 0 ? b->o->seconds : usual_seconds;
    if (b->o->budget <= 0) return asked;
    const double spent = now() - b->start;
    const double beside = done ? (spent - b->replaying) / (double)done : preparation;
    const double each = ((b->o->budget - spent) / (double)left - beside) / implementations(b);
    return each > asked ? asked : each < least_seconds ? least_seconds : each;
}

/* The same order for a seed, so that two runs that end early have the same problems first. */
static void shuffle(kt_problems *list, uint64_t seed)
{
    for (size_t i = list->count; i > 1; i--) {
        const size_t at = (size_t)(kh_random(&seed) % i);
        const kt_item swap = list->item[i - 1];
        list->item[i - 1] = list->item[at];
        list->item[at] = swap;
    }
}

static void bench_all(bench *b, kt_problems *list)
{
    const double each = preparation + implementations(b) * seconds_for(b, 0, list->count);
    if (list->count > 1 && !b->modelled)
        kt_message("%zu problems, about %.0f s", list->count, (double)list->count * each);
    if (b->o->has_shuffle) shuffle(list, b->o->shuffle);
    for (size_t i = 0; i < list->count; i++, b->timed++) {
        if (b->o->budget > 0 && i && now() - b->start >= b->o->budget) break;
        const kh_protocol protocol = {.seconds = seconds_for(b, i, list->count - i),
                                      .idle = b->o->idle,
                                      .replay = b->o->replay,
                                      .price = b->modelled ? kt_price : NULL};
        bench_problem(b, &list->item[i], &protocol, i + 1, list->count);
        const kiln_status status = kiln_synchronize(b->ctx, NULL);
        if (status) {
            /* A kernel's fault, maybe a peer's, which no later launch of this process survives. */
            worse(b, kt_failed(status, "the device is lost"));
            b->lost = list->item[i].text;
            break;
        }
    }
}

/* Of each named set, beside what it is to show. */
static void sum_up(const bench *b, size_t of, FILE *f)
{
    static const char *const columns[] = {"set",   "problems", "compared", "geomean",
                                          "least", "greatest", "to show"};
    kt_table *t = kt_table_open(columns, sizeof columns / sizeof *columns);
    kt_table_fold(t, 6);
    size_t named = 0;
    for (size_t i = 0; i < b->ntallies; i++) {
        const tally *s = &b->tallies[i];
        const double n = (double)s->compared;
        if (!*s->set) continue;
        kt_cell(t, "%s", s->set);
        kt_cell(t, "%zu", s->problems);
        kt_cell(t, "%zu", s->compared);
        kt_cell(t, s->compared ? "%.3f" : "-", exp(s->logs / (n > 0 ? n : 1)));
        kt_cell(t, s->compared ? "%.3f" : "-", s->least);
        kt_cell(t, s->compared ? "%.3f" : "-", s->most);
        kt_cell(t, "%s", s->aim);
        named++;
    }
    if (b->lost)
        fprintf(
            f,
            "\n%zu of %zu problems were timed, then the device was lost: leave out '%s' to time "
            "the others\n",
            b->timed, of, b->lost);
    else if (b->timed < of)
        fprintf(f, "\n%zu of %zu problems were timed, then --budget was spent%s\n", b->timed, of,
                b->o->has_shuffle ? "" : "; --shuffle takes them in random order");
    if (named) {
        fprintf(f, "\nratio to the fastest peer that does all of the work:\n");
        kt_table_print(t, f, 0);
    }
    kt_table_close(t);
}

static void print(bench *b, size_t of)
{
    if (b->o->json) {
        json_dumpf(b->rows, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
        puts("");
    } else if (b->csv != stdout)
        kt_table_print(b->table, stdout, 0);
    sum_up(b, of, b->o->json || b->csv == stdout ? stderr : stdout);
}

/* ---- what a picture needs ---- */
/* A problem of the set of ceilings, ahead of all others so that no budget cuts it off. */
static int add_ceiling(kt_problems *list, const char *text)
{
    kt_item *item = realloc(list->item, (list->count + 1) * sizeof *item);
    if (item) list->item = item;
    char **texts = realloc(list->text, (list->texts + 1) * sizeof *texts);
    if (texts) list->text = texts;
    char *copy = item && texts ? strdup(text) : NULL;
    if (!copy) return kt_failed(KILN_NO_MEMORY, "--plot");
    list->text[list->texts++] = copy;
    memmove(item + 1, item, list->count * sizeof *item);
    list->item[0] = (kt_item){KT_CEILING, KT_CEILING_AIM, copy, NULL};
    list->count++;
    return 0;
}

/* The plain product of a type, large enough that nothing else limits it; 0: none was built. */
static int rate_problem(const bench *b, kiln_dtype type, char *text, size_t size)
{
    const int side = strcmp(b->device.vendor, "host") ? 8192 : 1024;
    const kiln_kernel *k;
    kiln_kernel_info info;
    for (size_t i = 0; !kiln_kernel_at(b->ctx, i, &k); i++) {
        if (kt_describe(k, &info) || !info.runnable || strcmp(info.op, "gemm") || info.a != type ||
            info.layout_a != KILN_ROW || info.layout_b != KILN_COL || info.layout_e != KILN_ROW)
            continue;
        snprintf(text, size, "gemm %s,%s,%s rcr m=%d n=%d k=%d align=256", kiln_dtype_name(info.a),
                 kiln_dtype_name(info.b), kiln_dtype_name(info.e), side, side, side);
        return 1;
    }
    return 0;
}

/* The device's ceilings: the plain product of each type that products are asked of, and a copy that
 * multiplies, of instances/elementwise.lua.  What was not built is left out. */
static int add_ceilings(const bench *b, kt_problems *list)
{
    static const char copy[] = "elementwise_scale bf16 rows=8192 cols=8192 align=256";
    char text[256];
    int code = 0, types = 0;
    kiln_dtype type[KT_PLOT_RATES];
    kiln_problem p;
    const kiln_kernel *k;
    for (size_t i = 0; i < list->count && types < KT_PLOT_RATES; i++) {
        kiln_op_info op = {.struct_size = sizeof op};
        int known = 0;
        if (kiln_problem_parse(list->item[i].text, &p) || kiln_op_describe(b->ctx, p.op, &op) ||
            op.summed < 0)
            continue;
        for (int t = 0; t < types; t++) known |= type[t] == p.a.dtype;
        if (!known) type[types++] = p.a.dtype;
    }
    for (int t = types; t-- > 0 && !code;)
        if (rate_problem(b, type[t], text, sizeof text)) code = add_ceiling(list, text);
    if (!code && !kiln_problem_parse(copy, &p) && !kiln_find(b->ctx, &p, &k))
        code = add_ceiling(list, copy);
    return code;
}

static int open_csv(bench *b)
{
    if (!b->o->csv) return 0;
    b->csv = b->o->csv_file ? fopen(b->o->csv_file, "w") : stdout;
    if (!b->csv) return kt_message("%s: %s", b->o->csv_file, strerror(errno)), EXIT_USAGE;
    put_csv_row(b, 0);
    return 0;
}

static void close_csv(bench *b)
{
    if (!b->csv) return;
    if (b->csv != stdout && fclose(b->csv) && !b->csv_error) b->csv_error = errno;
    if (!b->csv_error) return;
    kt_message("%s: %s", b->o->csv_file ? b->o->csv_file : "standard output",
               strerror(b->csv_error));
    worse(b, EXIT_USAGE);
}

int cmd_bench(const kt_options *o)
{
    bench b = {.o = o,
               .device.struct_size = sizeof b.device,
               .seed = o->has_seed ? o->seed : kh_seed(),
               .start = now()};
    kt_problems list;
    if (o->peer && !known_peer(o->peer)) {
        kt_message("there is no peer '%s'; all, openblas, memory, cublaslt, hipblaslt are known",
                   o->peer);
        return EXIT_USAGE;
    }
    if (o->instance.count > 1) {
        kt_message("bench times one --instance; --all lists every legal one");
        return EXIT_USAGE;
    }
    if (o->from && (!o->plot || o->arguments || o->problems || o->set || o->csv || o->json)) {
        kt_message("--from FILE draws what a run measured, with --plot FILE.svg, and measures "
                   "nothing itself: no problems go with it, nor --csv or --json");
        return EXIT_USAGE;
    }
    if (o->from) return kt_plot_from(o);
    const int code = kt_open_here(o, &b.ctx);
    if (code) return code;
    if (!kiln_device_describe(b.ctx, &b.device))
        kt_message("bench on %s (%s), %d units, seed %llu", b.device.name, b.device.target,
                   b.device.units, (unsigned long long)b.seed);
    b.modelled = kt_simulated(b.ctx);
    if (b.modelled && o->peer) {
        kt_message("--peer %s: on the simulator only Kiln's own kernels have a modelled time; "
                   "leave --peer out, or name a device",
                   o->peer);
        kiln_close(b.ctx);
        return EXIT_USAGE;
    }
    if (b.modelled)
        kt_message("times are modelled: of one launch, at the device's peak clock, if memory never "
                   "held it back");
    b.table = kt_table_open(b.modelled ? modelled_heads : heads, COLUMNS);
    kt_table_fold(b.table, 2);           /* set and problem on a line, which its rows share */
    kt_table_fold(b.table, COLUMNS - 1); /* the instance's name */
    b.rows = json_array();
    worse(&b,
          kt_problems_open(o, main_problems, sizeof main_problems / sizeof *main_problems, &list));
    if (!b.code && o->plot && !b.modelled) worse(&b, add_ceilings(&b, &list));
    if (!b.code && !open_tallies(&b, &list)) worse(&b, kt_failed(KILN_NO_MEMORY, NULL));
    if (!b.code && o->plot) worse(&b, kt_output_check(o->plot));
    if (!b.code) worse(&b, open_csv(&b));
    if (!b.code) {
        bench_all(&b, &list);
        print(&b, list.count);
        close_csv(&b);
        if (o->plot) worse(&b, kt_plot_write(b.rows, o->plot));
    }
    kt_problems_close(&list);
    json_decref(b.rows);
    kt_table_close(b.table);
    free(b.tallies);
    kiln_close(b.ctx);
    return b.code;
}
