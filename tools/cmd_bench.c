// SPDX-License-Identifier: MIT
// kiln bench: Kiln's kernel and its peers timed together on the same inputs.
#include "command.h"
#include "peer.h"
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const kt_peer peers[] = {
#define X(name, vendor, open) {name, vendor, open},
    KT_PEERS(X)
#undef X
};
enum { PEERS = sizeof peers / sizeof *peers, MAX_ENTRIES = PEERS + 1 };

static const char *const main_problems[] = {
    /* those of `make run`, and a square one */
    "bias_relu bf16,bf16,bf16 rcr m=512 n=11008 k=4096 align=256",
    "linear_relu_abde_i8 i8,i8,i8 rcr m=512 n=5120 k=5120 align=256",
    "gemm f32,f32,f32 rrr m=1024 n=1024 k=1024 align=256",
};

typedef struct bench {
    const kt_options *o;
    kiln_ctx *ctx;
    kiln_device_info device;
    uint64_t seed;
    kt_table *table;
    json_t *rows;
    int code;
} bench;

static void worse(bench *b, int code)
{
    if (code > b->code) b->code = code;
}

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

static size_t open_peers(bench *b, kh_sets *sets, const char *problem, kt_entry *entries, size_t n)
{
    for (size_t i = 0; i < PEERS; i++) {
        char why[256] = "";
        kt_entry *e = &entries[n];
        if (!wanted(b, &peers[i])) continue;
        *e = (kt_entry){0};
        snprintf(e->name, sizeof e->name, "%s", peers[i].name);
        if (strcmp(peers[i].vendor, b->device.vendor))
            snprintf(why, sizeof why, "it does not run on this device");
        else if (!peers[i].open(sets, b->o->threads, e, why, sizeof why)) {
            n++;
            continue;
        }
        if (e->close) e->close(e);
        kt_message("%s: no peer %s: %s", problem, peers[i].name, why);
        if (strcmp(b->o->peer, "all")) worse(b, EXIT_FAILED);
    }
    return n;
}

/* Relative root mean square of the difference between a peer's E and Kiln's; NAN: could not be had.
 */
static double difference(kh_sets *sets, kh_runner *ours, kh_runner *theirs)
{
    const kh_shape *s = kh_sets_shape(sets);
    const kh_operand *e = &s->operand[s->e];
    const size_t bytes = (size_t)e->span * e->size;
    void *device = kh_sets_args(sets, 0)->e;
    char *image[2] = {malloc(bytes + 1), malloc(bytes + 1)};
    kh_runner *const runner[2] = {ours, theirs};
    double sum = 0, square = 0;
    int ok = image[0] && image[1] && bytes;
    for (int i = 0; ok && i < 2; i++) {
        memset(image[i], 0xa5, bytes);
        ok = !kiln_upload(kh_sets_ctx(sets), device, image[i], bytes) &&
             !runner[i]->launch(runner[i], 0, NULL) && !kiln_synchronize(kh_sets_ctx(sets), NULL) &&
             !kiln_download(kh_sets_ctx(sets), image[i], device, bytes);
    }
    const int64_t step = e->span / 65536 + 1;
    for (int64_t at = 0; ok && at < e->span; at += step) {
        const double x = kh_decode(e->dtype, image[0] + (size_t)at * e->size);
        const double y = kh_decode(e->dtype, image[1] + (size_t)at * e->size);
        sum += (x - y) * (x - y), square += x * x;
    }
    free(image[0]);
    free(image[1]);
    return ok ? sqrt(sum / (square > 0 ? square : 1)) : (double)NAN;
}

static void add_row(bench *b, const char *problem, const kt_entry *e, double ours)
{
    const kh_shape *s = kh_sets_shape(e->runner.sets);
    const double t = e->runner.seconds, flops = kh_flops(s), bytes = kh_bytes(s);
    const double ratio = ours > 0 ? t / ours : 0;
    if (b->o->json) {
        json_array_append_new(
            b->rows,
            json_pack("{s:s s:s s:s s:f s:f s:f s:f s:f s:I s:s}", "problem", problem,
                      "implementation", e->name, "device", b->device.name, "us", t * 1e6, "gflops",
                      flops / t * 1e-9, "gbps", bytes / t * 1e-9, "ratio", ratio, "spread",
                      e->runner.spread, "replays", (json_int_t)e->runner.replays, "note", e->note));
        return;
    }
    kt_cell(b->table, "%s", problem);
    kt_cell(b->table, "%s", e->name);
    kt_cell(b->table, "%.2f", t * 1e6);
    kt_cell(b->table, "%.1f", flops / t * 1e-9);
    kt_cell(b->table, "%.1f", bytes / t * 1e-9);
    kt_cell(b->table, "%.3f", ratio);
    kt_cell(b->table, "%.3f", e->runner.spread);
    kt_cell(b->table, "%s", e->note);
}

/* Times entries[0] = Kiln and the peers; adds a row for each. */
static void time_entries(bench *b, const char *problem, kh_sets *sets, kt_entry *entries, size_t n)
{
    kh_runner runners[MAX_ENTRIES];
    const kh_protocol protocol = {.seconds = b->o->seconds, .idle = b->o->idle};
    for (size_t i = 0; i < n; i++) runners[i] = entries[i].runner;
    const kiln_status status = kh_time(runners, n, &protocol);
    if (status) {
        worse(b, kt_failed(status, problem));
        return;
    }
    for (size_t i = 0; i < n; i++) {
        entries[i].runner = runners[i];
        if (i && entries[i].same) {
            const double d = difference(sets, &entries[0].runner, &entries[i].runner);
            if (!(d < 0.02)) {
                const size_t used = strlen(entries[i].note);
                snprintf(entries[i].note + used, sizeof entries[i].note - used,
                         ", RESULTS DIFFER (relative rms %.2g)", d);
                worse(b, EXIT_FAILED);
            }
        }
        add_row(b, problem, &entries[i], entries[0].runner.seconds);
    }
}

static void bench_problem(bench *b, const char *text)
{
    kiln_problem p;
    kiln_kernel_info info;
    kt_entry entries[MAX_ENTRIES] = {0};
    const kiln_kernel *kernel;
    kh_sets *sets;
    const int code = kt_problem(text, &p);
    if (code) {
        worse(b, code);
        return;
    }
    kiln_status status = b->o->instance ? kiln_kernel_by_name(b->ctx, b->o->instance, &kernel)
                                        : kiln_find(b->ctx, &p, &kernel);
    if (!status) status = kt_describe(kernel, &info);
    if (!status) status = kh_sets_open(b->ctx, &p, b->seed, &sets);
    if (status) {
        worse(b, kt_failed(status, text));
        return;
    }
    size_t n = 0;
    status = kh_runner_open(sets, kernel, &entries[0].runner);
    if (status)
        worse(b, kt_failed(status, text));
    else {
        snprintf(entries[0].name, sizeof entries[0].name, "kiln");
        snprintf(entries[0].note, sizeof entries[0].note, "%s", info.name);
        n = open_peers(b, sets, text, entries, 1);
        time_entries(b, text, sets, entries, n);
    }
    for (size_t i = 1; i < n; i++)
        if (entries[i].close) entries[i].close(&entries[i]);
    kh_runner_close(&entries[0].runner);
    kh_sets_close(sets);
}

int cmd_bench(const kt_options *o)
{
    static const char *const heads[] = {"problem", "implementation", "us",     "GFLOP/s",
                                        "GB/s",    "ratio",          "spread", "note"};
    bench b = {
        .o = o, .device.struct_size = sizeof b.device, .seed = o->has_seed ? o->seed : kh_seed()};
    if (o->peer && !known_peer(o->peer)) {
        kt_message("there is no peer '%s'; all, openblas, memory, cublaslt, hipblaslt are known",
                   o->peer);
        return EXIT_USAGE;
    }
    const int code = kt_open(o, NULL, &b.ctx);
    if (code) return code;
    if (!kiln_device_describe(b.ctx, &b.device))
        kt_message("bench on %s (%s), %d units, seed %llu", b.device.name, b.device.target,
                   b.device.units, (unsigned long long)b.seed);
    b.table = kt_table_open(heads, sizeof heads / sizeof *heads);
    b.rows = json_array();
    const int given = o->arguments > 0,
              n = given ? o->arguments : (int)(sizeof main_problems / sizeof *main_problems);
    for (int i = 0; i < n; i++) bench_problem(&b, given ? o->argument[i] : main_problems[i]);
    if (o->json) {
        json_dumpf(b.rows, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
        puts("");
    } else
        kt_table_print(b.table, stdout, o->csv);
    json_decref(b.rows);
    kt_table_close(b.table);
    kiln_close(b.ctx);
    return b.code;
}
