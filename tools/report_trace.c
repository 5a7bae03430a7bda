// SPDX-License-Identifier: MIT
// kiln report --trace FILE: one launch on the simulator, and of each of its kernels the
// instructions of one workgroup on the time of the cost model, for Perfetto or chrome://tracing.
// Its process "waves" has a track for each wave, where an instruction lasts from the wave's coming
// to it until the wave goes on, waiting included; its process "units" has one for each unit, with
// the time that the workgroup's instructions keep it busy.  A microsecond of the trace is a cycle.
#include "output.h"
#include "report_cost.h"
#include "simulator.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_EVENTS = 1000000, /* a page of Perfetto takes them */
    MOST_WAVES = 16,       /* of a workgroup */
    MOST_LAUNCHES = 8,     /* kernels of an instance, one after the other */
    SIMDS = 8,             /* at most */
    ISSUE = 4              /* cycles of an instruction that nothing follows */
};

/* Units in the order of their tracks; whether each SIMD has its own. */
static const struct unit {
    const char *name;
    int own;
} units[] = {{"VALU", 1}, {"MFMA", 1},   {"SALU", 1},
             {"LDS", 0},  {"memory", 0}, {"scalar memory", 0}};
enum { UNITS = sizeof units / sizeof *units };

typedef struct trace {
    FILE *f;
    const char *instance, *problem;
    const char *between; /* "" before the first event */
    size_t launch;
    kilnsim_event last[MOST_WAVES]; /* of each wave, not written yet */
    int has_last[MOST_WAVES];
    char used[UNITS][SIMDS];
} trace;

static void put_text(FILE *f, const char *s)
{
    fputc('"', f);
    for (; *s; s++) {
        const unsigned char c = (unsigned char)*s;
        if (c < 0x20)
            fprintf(f, "\\u%04x", c);
        else
            fprintf(f, c == '"' || c == '\\' ? "\\%c" : "%c", c);
    }
    fputc('"', f);
}

/* ---- events ---- */
static unsigned process(const trace *t, int of_units)
{
    return (unsigned)(2 * t->launch + 1) + (unsigned)of_units;
}

static void begin_event(trace *t)
{
    fputs(t->between, t->f);
    t->between = ",\n";
}

static void put_slice(trace *t, const kilnsim_event *e, int of_units, unsigned track, uint64_t from,
                      uint64_t to)
{
    begin_event(t);
    fputs("{\"ph\":\"X\",\"name\":", t->f);
    put_text(t->f, e->instruction);
    fprintf(t->f, ",\"cat\":\"%s\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64 ",\"dur\":%" PRIu64,
            e->class_name, process(t, of_units), track, from, to - from);
    fprintf(t->f, ",\"args\":{\"pc\":\"0x%x\"", e->pc);
    if (*e->line) fputs(",\"line\":", t->f), put_text(t->f, e->line);
    if (of_units)
        fprintf(t->f, ",\"wave\":%u", e->wave);
    else
        fprintf(t->f, ",\"issued\":%" PRIu64 ",\"waited\":%" PRIu64, e->issue, e->issue - e->ready);
    if (e->done) fprintf(t->f, ",\"data there\":%" PRIu64, e->done);
    fputs("}}", t->f);
}

static void put_wave(trace *t, unsigned wave, uint64_t until)
{
    if (t->has_last[wave]) put_slice(t, &t->last[wave], 0, wave + 1, t->last[wave].ready, until);
}

static unsigned track_of(unsigned unit, unsigned simd)
{
    return 1 + unit * SIMDS + (units[unit].own ? simd : 0);
}

/* Where it belongs is where the wave's next instruction begins. */
static void add_event(const kilnsim_event *e, void *user)
{
    trace *t = user;
    if (e->wave >= MOST_WAVES || e->simd >= SIMDS) return;
    put_wave(t, e->wave, e->ready);
    t->last[e->wave] = *e;
    t->has_last[e->wave] = 1;
    for (unsigned u = 0; u < UNITS; u++) {
        if (strcmp(units[u].name, e->unit)) continue;
        put_slice(t, e, 1, track_of(u, e->simd), e->from, e->to);
        t->used[u][units[u].own ? e->simd : 0] = 1;
    }
}

/* ---- names of tracks ---- */
static void put_name(trace *t, const char *what, int of_units, unsigned track, const char *name)
{
    begin_event(t);
    fprintf(t->f,
            "{\"ph\":\"M\",\"name\":\"%s_name\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":", what,
            process(t, of_units), track);
    put_text(t->f, name);
    fputs("}}", t->f);
    begin_event(t);
    fprintf(t->f,
            "{\"ph\":\"M\",\"name\":\"%s_sort_index\",\"pid\":%u,\"tid\":%u,"
            "\"args\":{\"sort_index\":%u}}",
            what, process(t, of_units), track,
            strcmp(what, "process") ? track : process(t, of_units));
}

static void put_names(trace *t, const kilnsim_cost *c)
{
    char name[600];
    snprintf(name, sizeof name, "waves of %.400s", c->kernel);
    put_name(t, "process", 0, 0, name);
    put_name(t, "process", 1, 0, "units");
    for (unsigned w = 0; w < MOST_WAVES; w++) {
        if (!t->has_last[w]) continue;
        snprintf(name, sizeof name, "wave %u (SIMD %u)", w, t->last[w].simd);
        put_name(t, "thread", 0, w + 1, name);
    }
    for (unsigned u = 0; u < UNITS; u++)
        for (unsigned s = 0; s < SIMDS; s++) {
            if (!t->used[u][s]) continue;
            if (units[u].own)
                snprintf(name, sizeof name, "SIMD %u %s", s, units[u].name);
            else
                snprintf(name, sizeof name, "%s", units[u].name);
            put_name(t, "thread", 1, track_of(u, s), name);
        }
}

/* ---- the file ---- */
typedef struct costs {
    kilnsim_cost cost[MOST_LAUNCHES];
    size_t count;
} costs;

static void keep_cost(const kilnsim_cost *c, void *user)
{
    costs *all = user;
    if (all->count < MOST_LAUNCHES) all->cost[all->count++] = *c;
}

static void put_launch(trace *t, const kilnsim_cost *c, size_t launch)
{
    t->launch = launch;
    memset(t->has_last, 0, sizeof t->has_last);
    memset(t->used, 0, sizeof t->used);
    kt_timeline(launch, add_event, t);
    for (unsigned w = 0; w < MOST_WAVES; w++) put_wave(t, w, t->last[w].issue + ISSUE);
    put_names(t, c);
}

static void put_head(trace *t, const costs *all)
{
    const kilnsim_cost *c = all->cost;
    fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"instance\":", t->f);
    put_text(t->f, t->instance);
    fputs(",\"problem\":", t->f);
    put_text(t->f, t->problem);
    fprintf(t->f,
            ",\"target\":\"%s\",\"clock_mhz\":%u,\"a microsecond here\":\"a cycle, modelled\"",
            c->target, c->clock_mhz);
    fprintf(t->f, ",\"kernels\":[");
    for (size_t i = 0; i < all->count; i++) {
        fputs(i ? ",{\"kernel\":" : "{\"kernel\":", t->f);
        put_text(t->f, all->cost[i].kernel);
        fprintf(t->f, ",\"workgroups\":%" PRIu64 ",\"workgroups on the unit\":%u,\"cycles\":%.0f}",
                all->cost[i].groups, all->cost[i].groups_per_cu, all->cost[i].modelled_cycles);
    }
    fputs("]},\n\"traceEvents\":[\n", t->f);
}

static int write_trace(const kt_options *o, trace *t)
{
    costs all = {.count = 0};
    size_t events = 0;
    kt_price_costs(keep_cost, &all);
    for (size_t i = 0; i < all.count; i++) {
        const size_t n = kt_timeline(i, NULL, NULL);
        events += n;
        if (!n) return kt_failed(KILN_NO_MEMORY, "report --trace");
    }
    if (!events) {
        kt_message("%s: nothing is launched for it, so that there is no timeline", t->problem);
        return EXIT_FAILED;
    }
    if (events > MOST_EVENTS) {
        kt_message("%s: a workgroup takes %zu instructions, and a trace at most %d: take a problem "
                   "with a smaller sum",
                   t->problem, events, MOST_EVENTS);
        return EXIT_FAILED;
    }
    kt_output out;
    int code = kt_output_open(o->trace, &out);
    if (code) return code;
    t->f = out.f;
    put_head(t, &all);
    for (size_t i = 0; i < all.count; i++) put_launch(t, &all.cost[i], i);
    fputs("\n]}\n", t->f);
    code = kt_output_close(&out);
    if (code) return code;
    kt_message("%s: %zu instructions of %s, for https://ui.perfetto.dev", o->trace, events,
               t->instance);
    return EXIT_PASS;
}

/* ---- what is run ---- */
/* The instance that --instance names, else what a problem's find takes. */
static int choose(const kt_options *o, kiln_ctx *ctx, const kiln_problem *p, kt_instance *i)
{
    kiln_status status;
    if (o->instance.count)
        status = kiln_kernel_by_name(ctx, o->instance.name[0], &i->kernel);
    else
        status = kiln_find(ctx, p, &i->kernel);
    if (!status) status = kt_describe(i->kernel, &i->info);
    if (status) return kt_failed(status, "report --trace");
    if (!o->arguments || !strcmp(i->info.op, p->op)) return 0;
    kt_message("the problem is of the op '%s', and --instance %s of '%s'", p->op, i->info.name,
               i->info.op);
    return EXIT_USAGE;
}

static int trace_one(const kt_options *o, kiln_ctx *ctx)
{
    kiln_problem p;
    kt_instance i;
    kt_problems list = {0};
    char text[KT_PROBLEM_TEXT];
    double flops;
    int code = kt_problems_open(o, NULL, 0, &list);
    if (!code && list.count) code = kt_problem(list.item[0].text, &p);
    kt_problems_close(&list);
    if (!code) code = choose(o, ctx, &p, &i);
    if (code) return code;
    kt_timelines(1);
    const kiln_status status = o->arguments ? kt_cost_run(ctx, i.kernel, &p, 1, &flops)
                                            : kt_cost_run_tiles(ctx, &i, 1, &p, &flops);
    kt_timelines(0);
    if (status) return kt_failed(status, i.info.name);
    trace t = {
        .instance = i.info.name, .problem = kt_problem_text(&p, text, sizeof text), .between = ""};
    return write_trace(o, &t);
}

int kt_report_trace(const kt_options *o)
{
    kiln_ctx *ctx;
    if (o->cost || o->json || o->csv) {
        kt_message("--trace writes a file of its own: leave out --%s", o->cost   ? "cost"
                                                                       : o->json ? "json"
                                                                                 : "csv");
        return EXIT_USAGE;
    }
    if (o->op.count || o->target.count || o->schedule.count || o->dtype.count ||
        o->instance.count > 1 || o->instance.count + (size_t)o->arguments == 0) {
        kt_message("--trace is of one launch: name a PROBLEM, an --instance NAME, which runs on "
                   "whole tiles of its own, or both, and no other filter");
        return EXIT_USAGE;
    }
    int code = kt_output_check(o->trace);
    if (!code) code = kt_open(o, getenv("KILN_DEVICE") ? NULL : "sim:gfx942", &ctx);
    if (code) return code;
    if (kt_simulated(ctx)) {
        code = trace_one(o, ctx);
    } else {
        kt_message("report --trace: this device is not the simulator, and another has no timeline "
                   "of instructions; give --device sim:gfx942 or sim:gfx90a");
        code = EXIT_USAGE;
    }
    kiln_close(ctx);
    return code;
}
