// SPDX-License-Identifier: MIT
// Tuning files of `kiln tune`: what -o names, rows that are added to it (tuning_rows.c), files that
// are merged.  A device or a pipe is written to as it comes, and never replaced.
#define _GNU_SOURCE
#include "tuning_file.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct kt_tuning {
    FILE *stream; /* a device, a pipe, standard output; NULL: the file below */
    kt_rows rows;
};

/* Says why; an exit code. */
static int said(const kt_rows *r)
{
    kt_message("%s", r->why);
    return EXIT_USAGE;
}

static int wrong(kt_rows *r)
{
    kt_rows_wrong(r);
    return said(r);
}

static int make_head(kt_tuning *t, kiln_ctx *ctx)
{
    kiln_device_info d = {.struct_size = sizeof d};
    const kiln_status status = kiln_device_describe(ctx, &d);
    if (status) return kt_failed(status, "tune");
    return kt_rows_head(&t->rows, &d) ? said(&t->rows) : 0;
}

int kt_tuning_add(kt_tuning *t, const kiln_problem *p, const kt_row *row)
{
    char problem[KT_PROBLEM_TEXT];
    size_t len = sizeof problem;
    const kiln_status status = kiln_problem_format(p, problem, &len);
    if (status) return kt_failed(status, p->op);
    if (!t->stream) return kt_rows_add(&t->rows, problem, row) ? said(&t->rows) : 0;
    kt_rows_put(t->stream, problem, row);
    return fflush(t->stream) ? wrong(&t->rows) : 0;
}

/* ---- rows ---- */
/* Bytes of the first field, quotes and all; 0: the line is no row. */
static size_t first_field(const char *line, size_t n)
{
    size_t i = 0;
    if (*line != '"') {
        i = strcspn(line, ",\n");
    } else {
        for (i = 1; i < n && (line[i] != '"' || line[i + 1] == '"'); i++) i += line[i] == '"';
        i++;
    }
    return i < n && line[i] == ',' ? i : 0;
}

enum { INSTANCE = 512 };

/* What a row has behind its problem; the bytes of that, 0: the line is no row. */
static size_t read_row(const char *line, size_t n, char instance[INSTANCE], kt_row *row)
{
    const size_t problem = first_field(line, n);
    row->instance = instance;
    return problem && sscanf(line + problem, ",%511[^,\n],%lf,%lf,%16" SCNx64, instance, &row->us,
                             &row->error, &row->content) == 4
               ? problem
               : 0;
}

int kt_tuning_has(const kt_tuning *t, kiln_ctx *ctx, const kiln_problem *p)
{
    char problem[KT_PROBLEM_TEXT], instance[INSTANCE];
    size_t len = sizeof problem;
    const int fd = t->stream || t->rows.replace ? -1 : open(t->rows.path, O_RDONLY | O_CLOEXEC);
    char *text = fd < 0 || kiln_problem_format(p, problem, &len) ? NULL : kt_rows_read(fd);
    int found = 0;
    for (const char *line = text; line && *line && !found; line = kt_line_next(line)) {
        kt_row row;
        const kiln_kernel *k;
        kiln_kernel_info info;
        found = kt_line_is_of(line, problem) &&
                read_row(line, kt_line_length(line), instance, &row) &&
                !kiln_kernel_by_name(ctx, instance, &k) && !kt_describe(k, &info) &&
                info.content == row.content;
    }
    free(text);
    if (fd >= 0) close(fd);
    return found;
}

/* ---- merging ---- */
typedef struct merged {
    const char *line;         /* of a file's text */
    size_t problem, n, order; /* bytes of its first field, of the whole; which line it is */
    double us;
} merged;
typedef struct pile {
    merged *row;
    size_t n, room;
    char **text; /* of the files */
    size_t texts;
} pile;

static int pile_up(pile *all, const char *name, const char *text)
{
    size_t number = 1, unused = 0;
    for (const char *line = text; *line; line = kt_line_next(line), number++) {
        kt_row row;
        char instance[INSTANCE];
        const size_t n = kt_line_length(line);
        if (!n || kt_line_validates(line)) continue;
        const size_t problem = read_row(line, n, instance, &row);
        if (!problem) {
            if (!unused++)
                kt_message("%s:%zu: '%.*s': not `problem,instance,us,error,content`; left out",
                           name, number, (int)(n < 80 ? n : 80), line);
            continue;
        }
        if (all->n == all->room) {
            const size_t room = all->room ? 2 * all->room : 256;
            merged *more = realloc(all->row, room * sizeof *more);
            if (!more) return kt_failed(KILN_NO_MEMORY, "tune");
            all->row = more;
            all->room = room;
        }
        all->row[all->n] = (merged){line, problem, n, all->n, row.us};
        all->n++;
    }
    if (unused) kt_message("%s: %zu lines left out", name, unused);
    return 0;
}

static int same_problem(const merged *a, const merged *b)
{
    return a->problem == b->problem && !memcmp(a->line, b->line, a->problem);
}

static int by_problem(const void *x, const void *y)
{
    const merged *a = x, *b = y;
    const size_t n = a->problem < b->problem ? a->problem : b->problem;
    const int order = memcmp(a->line, b->line, n);
    if (order) return order;
    if (a->problem != b->problem) return a->problem < b->problem ? -1 : 1;
    if (a->us != b->us) return a->us < b->us ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* Sorted by problem: the same files give the same bytes in any order. */
static int write_merged(kt_rows *t, const char *text, FILE *to, const void *arg)
{
    pile all = *(const pile *)arg;
    const size_t given = all.n;
    size_t kept = 0;
    all.row = malloc((given + 1) * sizeof *all.row);
    all.room = given + 1;
    if (!all.row) return kt_failed(KILN_NO_MEMORY, "tune");
    if (given) memcpy(all.row, ((const pile *)arg)->row, given * sizeof *all.row);
    const int code = pile_up(&all, t->name, text);
    if (all.n) qsort(all.row, all.n, sizeof *all.row, by_problem);
    for (size_t i = 0; i < all.n; i++) {
        if (i && same_problem(&all.row[i], &all.row[i - 1])) continue;
        fprintf(to, "%.*s\n", (int)all.row[i].n, all.row[i].line);
        kept++;
    }
    if (!code) kt_message("%s: %zu problems, of %zu rows", t->name, kept, all.n);
    free(all.row);
    return code;
}

/* The validator lines that a text begins with. */
static int take_head(kt_rows *t, const char *name, const char *text)
{
    size_t used = 0;
    for (const char *line = text; kt_line_validates(line); line = kt_line_next(line)) {
        const size_t n = kt_line_length(line);
        if (used + n + 2 > sizeof t->head)
            return kt_message("%s: not a tuning file", name), EXIT_USAGE;
        memcpy(t->head + used, line, n);
        used += n;
        t->head[used++] = '\n';
        t->head[used] = 0;
    }
    if (used) return 0;
    return kt_message("%s:1: no validators: not a tuning file; `kiln tune -o` writes them", name),
           EXIT_USAGE;
}

static int open_path(kt_tuning *t, const char *path);

int kt_tuning_merge(const kt_options *o)
{
    kt_tuning t = {.rows = {.name = o->output, .replace = o->replace}};
    kt_rows *const r = &t.rows;
    pile all = {.text = calloc((size_t)o->arguments + 1, sizeof *all.text)};
    int code = all.text ? 0 : kt_failed(KILN_NO_MEMORY, "tune");
    if (!code && !o->arguments) code = (kt_message("tune --merge: FILE... is missing"), EXIT_USAGE);
    if (!code && !o->output)
        code = (kt_message("tune --merge needs a file to write: name it with -o FILE"), EXIT_USAGE);
    for (int i = 0; i < o->arguments && !code; i++) {
        r->name = o->argument[i];
        const int fd = open(r->name, O_RDONLY | O_CLOEXEC);
        char *text = fd < 0 ? NULL : kt_rows_read(fd);
        if (!text)
            code = wrong(r);
        else if (!*r->head)
            code = take_head(r, r->name, text);
        if (text && !code) code = kt_rows_check(r, text) ? said(r) : 0;
        if (text && !code) code = pile_up(&all, r->name, text);
        if (fd >= 0) close(fd);
        all.text[all.texts++] = text;
    }
    r->name = o->output;
    if (!code) code = open_path(&t, o->output);
    if (!code && t.stream) code = (kt_message("%s: not a plain file", r->name), EXIT_USAGE);
    if (!code) code = kt_rows_update(r, write_merged, &all);
    if (code < 0) code = said(r);
    for (size_t i = 0; i < all.texts; i++) free(all.text[i]);
    if (t.stream) fclose(t.stream);
    free(all.text);
    free(all.row);
    return code;
}

/* ---- reading ---- */
/* A field that may be in quotes, of n bytes. */
static void unquote(const char *from, size_t n, char *to, size_t size)
{
    size_t used = 0;
    const int quoted = n >= 2 && *from == '"';
    for (size_t i = (size_t)quoted; i < n - (size_t)quoted && used + 1 < size; i++) {
        to[used++] = from[i];
        i += quoted && from[i] == '"';
    }
    to[used] = 0;
}

static int read_validator(const char *line, size_t n,
                          void (*visit)(void *, const char *, const char *), void *user)
{
    char key[64], value[256];
    const char *from = line + strlen("Validator,"), *comma = memchr(from, ',', n - 10);
    if (!comma) return 0;
    unquote(from, (size_t)(comma - from), key, sizeof key);
    unquote(comma + 1, (size_t)(line + n - comma - 1), value, sizeof value);
    visit(user, key, value);
    return 1;
}

static int visit_row(const char *line, size_t n,
                     void (*visit)(void *, const char *, const kt_row *), void *user)
{
    kt_row row;
    char problem[KT_PROBLEM_TEXT], instance[INSTANCE];
    const size_t first = read_row(line, n, instance, &row);
    if (!first) return 0;
    unquote(line, first, problem, sizeof problem);
    visit(user, problem, &row);
    return 1;
}

int kt_tuning_each(const char *file, void (*validator)(void *, const char *key, const char *value),
                   void (*row)(void *, const char *problem, const kt_row *), void *user)
{
    kt_rows t = {.name = file};
    size_t number = 1;
    int code = 0;
    const int fd = open(file, O_RDONLY | O_CLOEXEC);
    char *text = fd < 0 ? NULL : kt_rows_read(fd);
    if (!text) code = wrong(&t);
    for (const char *line = text; line && *line && !code; line = kt_line_next(line), number++) {
        const size_t n = kt_line_length(line);
        if (!n || (kt_line_validates(line) ? read_validator(line, n, validator, user)
                                           : visit_row(line, n, row, user)))
            continue;
        kt_message("%s:%zu: '%.*s': no line of a tuning file", file, number, (int)(n < 80 ? n : 80),
                   line);
        code = EXIT_USAGE;
    }
    free(text);
    if (fd >= 0) close(fd);
    return code;
}

/* ---- opening ---- */
static int open_stream(kt_tuning *t, FILE *f)
{
    t->stream = f;
    if (!f) return wrong(&t->rows);
    fputs(t->rows.head, f);
    return fflush(f) ? wrong(&t->rows) : 0;
}

/* Said before anything is measured: a file that cannot be written to, or has other rows. */
static int check_file(kt_rows *t, int exists)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", t->path);
    char *slash = strrchr(folder, '/');
    if (slash) slash[slash == folder] = 0;
    if (access(slash ? folder : ".", W_OK | X_OK)) return wrong(t);
    if (!exists) return 0;
    const int fd = open(t->path, O_RDWR | O_CLOEXEC);
    char *text = fd < 0 ? NULL : kt_rows_read(fd);
    const int code = !text ? wrong(t) : t->replace || !kt_rows_check(t, text) ? 0 : said(t);
    free(text);
    if (fd >= 0) close(fd);
    return code;
}

static int open_path(kt_tuning *t, const char *path)
{
    struct stat st;
    const int exists = !stat(path, &st);
    if (exists && !S_ISREG(st.st_mode)) return open_stream(t, fopen(path, "we"));
    return kt_rows_at(&t->rows, path) ? said(&t->rows) : check_file(&t->rows, exists);
}

int kt_tuning_open(const kt_options *o, kiln_ctx *ctx, kt_tuning **out)
{
    kt_tuning *t = *out = calloc(1, sizeof *t);
    if (!t) return kt_failed(KILN_NO_MEMORY, "tune");
    t->rows.name = o->output ? o->output : "standard output";
    t->rows.replace = o->replace;
    if (!o->output && (t->rows.replace || o->resume)) {
        kt_message(t->rows.replace ? "--replace starts a file anew: name it with -o FILE"
                                   : "--resume goes on with a file: name it with -o FILE");
        return EXIT_USAGE;
    }
    const int code = make_head(t, ctx);
    if (code) return code;
    return o->output ? open_path(t, o->output) : open_stream(t, stdout);
}

void kt_tuning_close(kt_tuning *t)
{
    if (t && t->stream && t->stream != stdout) fclose(t->stream);
    free(t);
}
