// SPDX-License-Identifier: MIT
// kiln-gen's command line and the path through its parts.  Exit status: 0 fine, 1 an instance or
// template is wrong, 2 usage or a file that cannot be read or written, 70 a fault of its own.
#include "spec.h"
#include "../abi/kiln_version.h"
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    KEY_CHECK = 256,
    KEY_TEMPLATES,
    KEY_OUT,
    KEY_TARGET,
    KEY_OP,
    KEY_STATS,
    KEY_SEAL,
    KEY_PACK,
    KEY_LANGUAGE,
    KEY_ANNOTATIONS
};

typedef struct command {
    bool check, stats, language, annotations;
    const char *templates, *out, *seal, *pack;
    const char **path, **target, **op;
    size_t npaths, ntargets, nops;
} command;

const char *argp_program_version = "kiln-gen " KILN_VERSION;
static const char usage[] =
    "[--check] FILE|DIR...\n--out DIR [--target NAME]... [--op NAME]... FILE|DIR...\n--pack DIR\n"
    "--seal FILE\n"
    "--language\n--annotations";
static const char doc[] =
    "\nTurns instance files into kernel sources and module tables.\n\n"
    "  kiln-gen --check instances/my_op.lua    check one file, write nothing\n"
    "  kiln-gen --out build/gen instances      sources and tables for all targets\n"
    "  kiln-gen --out gen --target gfx942 --target host my_ops\n"
    "\vExit status: 0 fine, 1 an instance is wrong, 2 usage or input and output, 70 internal.  "
    "Messages go to standard error.  Only files whose content changed are written.";

static const struct argp_option options[] = {
    {"check", KEY_CHECK, NULL, 0, "check instance files and what they expand to; write nothing", 0},
    {"out", KEY_OUT, "DIR", 0, "write sources and module tables under DIR", 0},
    {"target", KEY_TARGET, "NAME", 0, "only this target; may be given several times (default: all)",
     0},
    {"op", KEY_OP, "NAME", 0, "only this op; may be given several times (default: all)", 0},
    {"templates", KEY_TEMPLATES, "DIR", 0,
     "schedules, targets and templates (default: beside the program)", 0},
    {"stats", KEY_STATS, NULL, 0, "print counts, time and memory", 0},
    {"pack", KEY_PACK, "DIR", 0,
     "after compiling: gather the code objects of the target folder DIR", 1},
    {"seal", KEY_SEAL, "FILE", 0, "after linking: append the checksums that the runtime verifies",
     1},
    {"language", KEY_LANGUAGE, NULL, 0,
     "print the description language's fields, functions and names", 1},
    {"annotations", KEY_ANNOTATIONS, NULL, 0,
     "print targets, schedules and their tunables for editors (instances/schedules.d.lua)", 1},
    {0}};

/* Which of two values was meant is not known. */
static void set_once(const char **to, const char *arg, const char *name, struct argp_state *state)
{
    if (*to) argp_error(state, "--%s is given twice", name);
    *to = arg;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    command *c = state->input;
    switch (key) {
    case KEY_CHECK: c->check = true; break;
    case KEY_OUT: set_once(&c->out, arg, "out", state); break;
    case KEY_TARGET: c->target[c->ntargets++] = arg; break;
    case KEY_OP: c->op[c->nops++] = arg; break;
    case KEY_TEMPLATES: set_once(&c->templates, arg, "templates", state); break;
    case KEY_STATS: c->stats = true; break;
    case KEY_SEAL: set_once(&c->seal, arg, "seal", state); break;
    case KEY_PACK: set_once(&c->pack, arg, "pack", state); break;
    case KEY_LANGUAGE: c->language = true; break;
    case KEY_ANNOTATIONS: c->annotations = true; break;
    case ARGP_KEY_ARG: c->path[c->npaths++] = arg; break;
    case ARGP_KEY_END:
        if (c->seal || c->pack || c->language || c->annotations) break;
        if (!c->npaths) argp_error(state, "no instance files given");
        if (!c->check && !c->out) argp_error(state, "--out DIR or --check is needed");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* ---- templates and targets ---- */

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* In the source tree (build/bin/kiln-gen) or installed (PREFIX/bin/kiln-gen). */
static const char *find_templates(kg_arena *arena)
{
    static const char *const beside[] = {"../../templates", "../share/kiln/templates",
                                         "../../../templates"};
    char exe[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[n > 0 ? n : 0] = 0;
    char *slash = strrchr(exe, '/');
    if (slash) *slash = 0;
    for (size_t i = 0; slash && i < sizeof beside / sizeof *beside; i++) {
        const char *path = kg_printf(arena, "%s/%s", exe, beside[i]);
        if (is_folder(path)) return path;
    }
    return is_folder("templates") ? "templates" : NULL;
}

static bool check_usage(kg_ctx *cx, const command *c)
{
    if (!cx->templates || !is_folder(cx->templates)) {
        fprintf(stderr, "kiln-gen: no templates folder%s%s; give --templates DIR\n",
                cx->templates ? " " : "", cx->templates ? cx->templates : "");
        return false;
    }
    const char *targets = kg_printf(cx->arena, "%s/targets", cx->templates);
    for (size_t i = 0; i < c->ntargets; i++) {
        const char *t = c->target[i], *path = kg_printf(cx->arena, "%s/%s.lua", targets, t);
        kg_names_list known = {0};
        if (!strchr(t, '/') && access(path, R_OK) == 0) continue;
        const char *near = kg_list_lua(cx, targets, &known) ? kg_closest(t, known.v, known.n) : NULL;
        fprintf(stderr, "kiln-gen: unknown target %s%s: %s has no such file\n",
                kg_quote(cx, t, strlen(t)),
                near ? kg_printf(cx->arena, " (did you mean '%s'?)", near) : "", targets);
        return false;
    }
    return true;
}

/* ---- the run ---- */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool is_among(const char *name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i], name) == 0) return true;
    return false;
}

/* Leaves the ops of --op, each of which must be there. */
static bool select_ops(kg_ctx *cx, const command *c)
{
    if (!c->nops) return true;
    const char **known = kg_alloc(cx->arena, (cx->nops + 1) * sizeof *known);
    size_t n = 0;
    for (size_t i = 0; i < cx->nops; i++) known[i] = cx->op[i]->name;
    for (size_t i = 0; i < c->nops; i++) {
        if (is_among(c->op[i], known, cx->nops)) continue;
        const char *near = kg_closest(c->op[i], known, cx->nops);
        fprintf(stderr, "kiln-gen: no file given describes an op %s%s\n",
                kg_quote(cx, c->op[i], strlen(c->op[i])),
                near ? kg_printf(cx->arena, " (did you mean '%s'?)", near) : "");
        cx->io_failed = true;
    }
    for (size_t i = 0; i < cx->nops; i++)
        if (is_among(known[i], c->op, c->nops)) cx->op[n++] = cx->op[i];
    cx->nops = n;
    return !cx->io_failed;
}

static bool generate(kg_ctx *cx, const command *c)
{
    double start = seconds();
    bool ok = kg_families_load(cx) && kg_schedules_load(cx, c->target, c->ntargets);
    double loaded = seconds();
    ok = ok && kg_lang_load(cx, c->path, c->npaths) && (cx->errors || select_ops(cx, c));
    double read = seconds();
    ok = ok && !cx->errors && kg_expand(cx);
    double expanded = seconds();
    ok = ok && (c->check || kg_emit(cx));
    if (c->stats && ok) {
        struct rusage use;
        getrusage(RUSAGE_SELF, &use);
        fprintf(stderr,
                "%zu ops, %zu instances, %.0f ms (schedules %.0f, ops %.0f, expand %.0f, emit "
                "%.0f), %ld MiB\n",
                cx->nops, cx->ninstances, 1e3 * (seconds() - start), 1e3 * (loaded - start),
                1e3 * (read - loaded), 1e3 * (expanded - read), 1e3 * (seconds() - expanded),
                use.ru_maxrss >> 10);
    }
    return ok;
}

static bool annotate(kg_ctx *cx)
{
    if (!kg_families_load(cx) || !kg_schedules_load(cx, NULL, 0)) return false;
    kg_annotate(cx, stdout);
    return true;
}

static bool language(kg_ctx *cx)
{
    if (!kg_families_load(cx)) return false;
    kg_lang_describe(cx, stdout);
    return true;
}

static int run(kg_ctx *cx, const command *c)
{
    cx->templates = c->templates ? c->templates : find_templates(cx->arena);
    cx->out = c->check ? NULL : c->out;
    if (!check_usage(cx, c)) return KG_EXIT_USAGE;
    bool ok = c->language ? language(cx) : c->annotations ? annotate(cx) : generate(cx, c);
    kg_diag_flush(cx);
    kg_lang_close(cx);
    kg_schedules_close(cx);
    if (cx->io_failed) return KG_EXIT_USAGE;
    if (cx->errors) return KG_EXIT_WRONG;
    if (!ok) fputs("kiln-gen: failed without a message\n", stderr);
    return ok ? KG_EXIT_OK : KG_EXIT_INTERNAL;
}

/* Whatever ends the program, argp's help too: what could not be written is said.  A stream that
 * was closed from the start harms nobody who writes nothing. */
static void close_stdout(void)
{
    bool failed = ferror(stdout) != 0, pending = __fpending(stdout) > 0;
    errno = 0;
    if (fclose(stdout) == 0 && !failed) return;
    if (!failed && !pending && errno == EBADF) return;
    fprintf(stderr, "kiln-gen: standard output: %s\n",
            errno ? strerror(errno) : "not all of it could be written");
    _exit(KG_EXIT_USAGE);
}

int main(int argc, char **argv)
{
    static const struct argp argp = {options, parse, usage, doc, NULL, NULL, NULL};
    static jmp_buf oom;
    static kg_ctx cx;
    kg_on_oom(&oom);
    atexit(close_stdout);
    if (setjmp(oom)) {
        fputs("kiln-gen: out of memory\n", stderr);
        return KG_EXIT_INTERNAL;
    }
    cx.arena = kg_arena_new();
    cx.err = stderr;
    command c = {0};
    c.path = kg_alloc(cx.arena, (size_t)argc * sizeof *c.path);
    c.target = kg_alloc(cx.arena, (size_t)argc * sizeof *c.target);
    c.op = kg_alloc(cx.arena, (size_t)argc * sizeof *c.op);
    argp_err_exit_status = KG_EXIT_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, &c);
    int status = KG_EXIT_OK;
    if (c.seal) status = kg_seal(c.seal);
    else if (c.pack) status = kg_pack(c.pack);
    else status = run(&cx, &c);
    kg_arena_free(cx.arena);
    return status;
}
