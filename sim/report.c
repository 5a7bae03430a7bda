// SPDX-License-Identifier: MIT
// Findings: kept once per kind, kernel and instruction, in an order that does not depend on which
// host thread found them first; printed when their launch ends; counted at exit.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "hip.h"
#include "replay.h"

enum {
    MOST_FILED = 1000,    /* findings of a process; the rest is counted */
    MOST_PENDING = 65536, /* of the launches that are running */
    MOST_LEAKS = 10,      /* printed; a program that frees nothing has one text to learn from */
    PLACE = 256,
    INSTRUCTION = 160,
    NO_PC = UINT32_MAX,
};
static const char *const kind_option[] = {
#define X(name, option, error, text) option,
    KILNSIM_KINDS(X)
#undef X
};
static const char *const kind_text[] = {
#define X(name, option, error, text) text,
    KILNSIM_KINDS(X)
#undef X
};
static const int kind_error[] = {
#define X(name, option, error, text) error,
    KILNSIM_KINDS(X)
#undef X
};

typedef struct finding {
    kilnsim_finding f;
    ks_launch *launch; /* while it runs; NULL: none, or ended */
    uint64_t group,
        executed; /* the first instance is kept: workgroup, wave, its instructions, lane */
    char text[KS_TEXT], instruction[INSTRUCTION], line[PLACE];
    char *kernel;
} finding;
typedef struct findings {
    finding **at;
    size_t count, room;
} findings;

static struct {
    pthread_mutex_t mutex;
    pthread_once_t once;
    findings pending, filed;
    uint64_t dropped;                  /* findings past the limits */
    uint64_t seen[KILNSIM_KIND_COUNT]; /* filed since the start, whatever was cleared */
    findings refused;                  /* texts of refusals (finding.text), each printed once */
    FILE *log;
    pid_t process;
} report = {.once = PTHREAD_ONCE_INIT};

/* Recursive: a visitor of findings may launch. */
static void start(void)
{
    pthread_mutexattr_t attribute;
    pthread_mutexattr_init(&attribute);
    pthread_mutexattr_settype(&attribute, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&report.mutex, &attribute);
    pthread_mutexattr_destroy(&attribute);
    report.process = getpid();
}

void ks_report_start(void)
{
    pthread_once(&report.once, start);
}

static void lock(void)
{
    ks_report_start();
    pthread_mutex_lock(&report.mutex);
}

static void unlock(void)
{
    pthread_mutex_unlock(&report.mutex);
}

static void drop(finding *f)
{
    if (f) free(f->kernel);
    free(f);
}

/* Takes f over, also where there is no room. */
static bool append(findings *l, finding *f, size_t most)
{
    if (l->count == l->room && l->count < most) {
        const size_t room = l->room ? 2 * l->room : 16;
        finding **more = realloc(l->at, room * sizeof *more);
        if (more) {
            l->at = more;
            l->room = room;
        }
    }
    if (l->count == l->room || l->count >= most) {
        report.dropped++;
        drop(f);
        return false;
    }
    l->at[l->count++] = f;
    return true;
}

/* ---- where it goes ---- */

/* NULL: nowhere. */
static FILE *output(void)
{
    const char *path = ks_options_get()->log;
    if (!path) return stderr;
    if (strcmp(path, "off") == 0) return NULL;
    if (!report.log) report.log = fopen(path, "ae");
    return report.log ? report.log : stderr;
}

/* A few short lines: what kind, which instruction, who, what exactly. */
static void print(const finding *f)
{
    FILE *out = output();
    const kilnsim_finding *k = &f->f;
    if (!out) return;
    fprintf(out, "kilnsim: %s: %s\n", kind_option[k->kind], kind_text[k->kind]);
    if (*k->kernel) {
        char name[KS_NAME];
        ks_name_text(k->kernel, name);
        fprintf(out, "  %s, workgroup (%u,%u,%u) wave %u", name, k->group[0], k->group[1],
                k->group[2], k->wave);
        if (k->lane >= 0) fprintf(out, " lane %d", k->lane);
        if (k->address) fprintf(out, ", address 0x%llx", (unsigned long long)k->address);
        if (k->times > 1) fprintf(out, ", and %llu more times", (unsigned long long)k->times - 1);
        fputc('\n', out);
    }
    if (*k->instruction)
        fprintf(out, "  %s  at 0x%llx%s%s\n", k->instruction, (unsigned long long)k->pc,
                *k->line ? ", " : "", k->line);
    fprintf(out, "  %s\n", k->text);
    fflush(out);
}

/* ---- finding ---- */

static int earlier(const finding *f, const ks_wave *w, int lane)
{
#define COMPARE(a, b)                                                                              \
    if ((a) != (b)) return (a) < (b)
    COMPARE(w->group->index, f->group);
    COMPARE(w->index, f->f.wave);
    COMPARE(w->executed, f->executed);
    return lane < f->f.lane;
#undef COMPARE
}

static void fill(finding *f, const ks_wave *w, int lane, uint64_t address, const char *format,
                 va_list list)
{
    f->group = w->group->index;
    memcpy(f->f.group, w->group->id, sizeof f->f.group);
    f->f.wave = w->index;
    f->f.lane = lane;
    f->f.address = address;
    f->executed = w->executed;
    vsnprintf(f->text, sizeof f->text, format, list);
}

static finding *pending(const ks_launch *launch, kilnsim_kind kind, uint64_t pc)
{
    for (size_t i = report.pending.count; i-- > 0;) {
        finding *f = report.pending.at[i];
        if (f->launch == launch && f->f.pc == pc && f->f.kind == kind) return f;
    }
    return NULL;
}

void ks_report(ks_wave *w, const ks_inst *inst, kilnsim_kind kind, int lane, uint64_t address,
               const char *format, ...)
{
    const ks_options *o = ks_options_get();
    const uint64_t pc = inst ? inst->pc : NO_PC;
    va_list list;
    if (!o->check[kind]) return;
    if (ks_replay_on(w->group)) { /* found before */
        if (!o->errors || !kind_error[kind]) return;
        w->group->stop = kind_error[kind];
        w->state = KS_ENDED;
        return;
    }
    lock();
    finding *f = pending(w->launch, kind, pc);
    const bool fresh = !f;
    if (fresh) f = calloc(1, sizeof *f);
    if (f && (fresh || earlier(f, w, lane))) {
        va_start(list, format);
        fill(f, w, lane, address, format, list);
        va_end(list);
    }
    if (f) f->f.times++;
    if (f && fresh) {
        f->launch = w->launch;
        f->f.kind = kind;
        f->f.pc = pc;
        append(&report.pending, f, MOST_PENDING);
    }
    unlock();
    if (o->errors && kind_error[kind]) ks_stop(w, kind_error[kind]);
}

/* ---- filing ---- */

static bool same(const finding *a, const finding *b)
{
    return a->f.kind == b->f.kind && a->f.pc == b->f.pc && strcmp(a->f.kernel, b->f.kernel) == 0 &&
           strcmp(a->instruction, b->instruction) == 0 && strcmp(a->line, b->line) == 0 &&
           (*a->f.kernel || strcmp(a->text, b->text) == 0);
}

/* Counts it where it is known, else prints and keeps it. */
static void file_finding(finding *f)
{
    for (size_t i = 0; i < report.filed.count; i++) {
        if (!same(report.filed.at[i], f)) continue;
        report.filed.at[i]->f.times += f->f.times;
        drop(f);
        return;
    }
    const kilnsim_kind kind = f->f.kind;
    f->launch = NULL;
    f->f.text = f->text;
    f->f.instruction = f->instruction;
    f->f.line = f->line;
    if (!append(&report.filed, f, MOST_FILED)) return;
    report.seen[kind]++;
    if (kind != KILNSIM_LEAK || report.seen[kind] <= MOST_LEAKS) print(f);
}

static void describe(finding *f, ks_launch *launch)
{
    f->kernel = strdup(launch->kernel->name);
    f->f.kernel = f->kernel ? f->kernel : "";
    if (f->f.pc == NO_PC) {
        f->f.pc = 0;
        return;
    }
    ks_object_text(launch->object, (uint32_t)f->f.pc, f->instruction, sizeof f->instruction);
    ks_object_line(launch->object, (uint32_t)f->f.pc, f->line, sizeof f->line);
}

static int by_place(const void *left, const void *right)
{
    const finding *a = *(finding *const *)left, *b = *(finding *const *)right;
    if (a->f.pc != b->f.pc) return a->f.pc < b->f.pc ? -1 : 1;
    return (int)a->f.kind - (int)b->f.kind;
}

/* Moves the launch's findings out of the pending ones.  What workgroups after the one that stopped
 * it found depends on how far they had come. */
static findings take(const ks_launch *launch)
{
    const uint64_t stop = launch->stop;
    findings mine = {0};
    size_t kept = 0;
    for (size_t i = 0; i < report.pending.count; i++) {
        finding *f = report.pending.at[i];
        if (f->launch != launch)
            report.pending.at[kept++] = f;
        else if (stop && f->group > stop >> 16)
            drop(f);
        else
            append(&mine, f, MOST_PENDING);
    }
    report.pending.count = kept;
    return mine;
}

int ks_report_end(ks_launch *launch)
{
    int error = 0;
    lock();
    findings mine = take(launch);
    if (mine.count) qsort(mine.at, mine.count, sizeof *mine.at, by_place);
    for (size_t i = 0; i < mine.count; i++) {
        finding *f = mine.at[i];
        if (!error) error = kind_error[f->f.kind];
        describe(f, launch);
        file_finding(f);
    }
    free(mine.at);
    unlock();
    return ks_options_get()->errors ? error : 0;
}

void ks_report_host(kilnsim_kind kind, uint64_t address, const char *format, ...)
{
    va_list list;
    finding *f = ks_options_get()->check[kind] ? calloc(1, sizeof *f) : NULL;
    if (!f) return;
    va_start(list, format);
    vsnprintf(f->text, sizeof f->text, format, list);
    va_end(list);
    f->f.kind = kind;
    f->f.kernel = "";
    f->f.address = address;
    f->f.lane = -1;
    f->f.times = 1;
    lock();
    file_finding(f);
    unlock();
}

void ks_report_refusal(const char *text)
{
    lock();
    for (size_t i = 0; i < report.refused.count; i++) {
        if (strcmp(report.refused.at[i]->text, text) != 0) continue;
        unlock();
        return;
    }
    finding *f = calloc(1, sizeof *f);
    if (f) {
        snprintf(f->text, sizeof f->text, "%s", text);
        FILE *out = append(&report.refused, f, MOST_FILED) ? output() : NULL;
        if (out) {
            fprintf(out, "kilnsim: %s\n", text);
            fflush(out);
        }
    }
    unlock();
}

/* ---- for programs ---- */

KHIP_API size_t kilnsim_findings(void (*visit)(const kilnsim_finding *, void *), void *user);
KHIP_API void kilnsim_findings_clear(void);

size_t kilnsim_findings(void (*visit)(const kilnsim_finding *, void *), void *user)
{
    lock();
    const size_t count = report.filed.count;
    for (size_t i = 0; visit && i < report.filed.count; i++) visit(&report.filed.at[i]->f, user);
    unlock();
    return count;
}

void kilnsim_findings_clear(void)
{
    lock();
    for (size_t i = 0; i < report.filed.count; i++) drop(report.filed.at[i]);
    report.filed.count = 0;
    unlock();
}

/* ---- at exit ---- */

static void summary(void)
{
    FILE *out = output();
    uint64_t all = report.dropped;
    for (int i = 0; i < KILNSIM_KIND_COUNT; i++) all += report.seen[i];
    if (!all || !out) return;
    fprintf(out, "kilnsim: %llu finding%s:", (unsigned long long)all, all == 1 ? "" : "s");
    const char *separator = " ";
    for (int i = 0; i < KILNSIM_KIND_COUNT; i++) {
        if (!report.seen[i]) continue;
        fprintf(out, "%s%llu %s", separator, (unsigned long long)report.seen[i], kind_option[i]);
        separator = ", ";
    }
    if (report.dropped)
        fprintf(out, "%s%llu more not shown", separator, (unsigned long long)report.dropped);
    fputc('\n', out);
}

/* Runs after the program's own exit handlers, which may still free device memory. */
__attribute__((destructor)) static void at_exit(void)
{
    if (report.process != getpid()) return; /* never used, or a forked child's */
    if (ks_options_get()->check[KILNSIM_LEAK]) ks_alloc_leaks();
    lock(); /* other threads may still end their launches */
    summary();
    kilnsim_findings_clear();
    for (size_t i = 0; i < report.refused.count; i++) drop(report.refused.at[i]);
    free(report.filed.at);
    free(report.pending.at);
    free(report.refused.at);
    if (report.log) fclose(report.log);
    memset(&report.filed, 0, sizeof report.filed);
    memset(&report.pending, 0, sizeof report.pending);
    memset(&report.refused, 0, sizeof report.refused);
    report.log = NULL;
    unlock();
}
