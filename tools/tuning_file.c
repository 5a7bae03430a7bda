// SPDX-License-Identifier: MIT
// Tuning files grow row by row, so that a run that is cut short keeps what it measured: under a
// lock on the file, its rows and the new one are written to a file beside, which is then renamed.
// A reader sees the one or the other, and several writers lose nothing.  A device or a pipe is
// written to as it comes, and never replaced.
#define _GNU_SOURCE
#include "tuning_file.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct kt_tuning {
    FILE *stream;        /* a device, a pipe, standard output; NULL: the file below */
    char path[PATH_MAX]; /* where the file is, links followed */
    char beside[PATH_MAX + 8];
    const char *name; /* as it was given */
    char head[1024];  /* validator lines */
    int replace;      /* the next row is the first */
};

static void put_quoted(FILE *f, const char *text)
{
    fputc('"', f);
    for (; *text; text++) {
        if (*text == '"') fputc('"', f);
        fputc(*text, f);
    }
    fputc('"', f);
}

static int wrong(const kt_tuning *t)
{
    kt_message("%s: %s", t->name, strerror(errno));
    return EXIT_USAGE;
}

static int make_head(kt_tuning *t, kiln_ctx *ctx)
{
    kiln_device_info d = {.struct_size = sizeof d};
    const kiln_status status = kiln_device_describe(ctx, &d);
    if (status) return kt_failed(status, "tune");
    FILE *f = fmemopen(t->head, sizeof t->head, "w");
    if (!f) return kt_failed(KILN_NO_MEMORY, "tune");
    fprintf(f, "Validator,KILN_VERSION,%s\nValidator,TARGET,%s\nValidator,DEVICE,", kiln_version(),
            d.target);
    put_quoted(f, d.name);
    fprintf(f, "\nValidator,UNITS,%d\n", d.units);
    fclose(f);
    return 0;
}

/* ---- what the file has ---- */
static char *read_all(int fd)
{
    struct stat st;
    if (fstat(fd, &st)) return NULL;
    char *text = malloc((size_t)st.st_size + 1);
    size_t used = 0;
    for (ssize_t n = 1; text && n && used < (size_t)st.st_size; used += (size_t)n) {
        n = pread(fd, text + used, (size_t)st.st_size - used, (off_t)used);
        if (n < 0) {
            free(text);
            return NULL;
        }
    }
    if (text) text[used] = 0;
    return text;
}

static size_t line_length(const char *line)
{
    const size_t n = strcspn(line, "\n");
    return n && line[n - 1] == '\r' ? n - 1 : n;
}

static const char *next_line(const char *line)
{
    line += strcspn(line, "\n");
    return *line ? line + 1 : line;
}

static int is_validator(const char *line)
{
    return !strncmp(line, "Validator,", 10);
}

/* Whether its rows hold where this one's do: the validators are the same. */
static int check_head(const kt_tuning *t, const char *text)
{
    const char *head = t->head;
    int number = 1;
    for (const char *line = text; *line; line = next_line(line), number++) {
        const size_t n = line_length(line), expected = line_length(head);
        if (!n || (!*head && !is_validator(line))) continue;
        if (n != expected || strncmp(line, head, n)) {
            kt_message("%s:%d: '%.*s', where this device has '%.*s': rows of both do "
                       "not fit into one file; name another, or start it anew with --replace",
                       t->name, number, (int)n, line, *head ? (int)expected : 9,
                       *head ? head : "no more validators");
            return EXIT_USAGE;
        }
        head = next_line(head);
    }
    return 0;
}

/* Whether a row is of the problem: its first field. */
static int is_of(const char *line, const char *problem)
{
    const int quoted = *line == '"';
    const size_t n = strlen(problem);
    if (strncmp(line + quoted, problem, n)) return 0;
    line += (size_t)quoted + n;
    return quoted ? line[0] == '"' && line[1] == ',' : line[0] == ',';
}

/* ---- writing ---- */
/* The file, locked; -1: errno says why.  It may be renamed while this waits for the lock, and then
 * it is another's. */
static int lock(const kt_tuning *t, struct stat *st)
{
    for (;;) {
        struct stat now;
        const int fd = open(t->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0) return -1;
        if (!flock(fd, LOCK_EX) && !fstat(fd, st)) {
            if (!stat(t->path, &now) && now.st_dev == st->st_dev && now.st_ino == st->st_ino)
                return fd;
            errno = 0;
        }
        const int why = errno;
        close(fd);
        errno = why;
        if (why) return -1;
    }
}

static void put_row(FILE *f, const char *problem, const kt_row *row)
{
    put_quoted(f, problem);
    fprintf(f, ",%s,%.3f,%.3g,%016" PRIx64 "\n", row->instance, row->us, row->error, row->content);
}

static int finish(FILE *f, mode_t mode)
{
    int failed = ferror(f);
    failed |= fflush(f) || fchmod(fileno(f), mode & 0777) || fsync(fileno(f));
    return fclose(f) || failed ? -1 : 0;
}

static int rewrite(kt_tuning *t, int fd, mode_t mode, const char *problem, const kt_row *row)
{
    char *text = read_all(fd);
    FILE *f = NULL;
    int code = EXIT_USAGE;
    if (!text) return wrong(t);
    if (t->replace) *text = 0;
    if (check_head(t, text)) goto out;
    f = fopen(t->beside, "we");
    if (!f) {
        kt_message("%s: %s", t->beside, strerror(errno));
        goto out;
    }
    fputs(t->head, f);
    for (const char *line = text; *line; line = next_line(line))
        if (line_length(line) && !is_validator(line) && !is_of(line, problem))
            fprintf(f, "%.*s\n", (int)line_length(line), line);
    put_row(f, problem, row);
    if (finish(f, mode) || rename(t->beside, t->path)) {
        wrong(t);
        unlink(t->beside);
        goto out;
    }
    t->replace = 0;
    code = 0;
out:
    free(text);
    return code;
}

int kt_tuning_add(kt_tuning *t, const kiln_problem *p, const kt_row *row)
{
    char problem[KT_PROBLEM_TEXT];
    size_t len = sizeof problem;
    struct stat st;
    const kiln_status status = kiln_problem_format(p, problem, &len);
    if (status) return kt_failed(status, p->op);
    if (t->stream) {
        put_row(t->stream, problem, row);
        return fflush(t->stream) ? wrong(t) : 0;
    }
    const int fd = lock(t, &st);
    if (fd < 0) return wrong(t);
    const int code = rewrite(t, fd, st.st_mode, problem, row);
    if (code && !st.st_size) unlink(t->path); /* made by the lock */
    close(fd);
    return code;
}

/* ---- opening ---- */
static int open_stream(kt_tuning *t, FILE *f)
{
    t->stream = f;
    if (!f) return wrong(t);
    fputs(t->head, f);
    return fflush(f) ? wrong(t) : 0;
}

/* Said before anything is measured: a file that cannot be written to, or has other rows. */
static int check_file(const kt_tuning *t, int exists)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", t->path);
    char *slash = strrchr(folder, '/');
    if (slash) slash[slash == folder] = 0;
    if (access(slash ? folder : ".", W_OK | X_OK)) return wrong(t);
    if (!exists) return 0;
    const int fd = open(t->path, O_RDWR | O_CLOEXEC);
    char *text = fd < 0 ? NULL : read_all(fd);
    const int code = !text ? wrong(t) : t->replace ? 0 : check_head(t, text);
    free(text);
    if (fd >= 0) close(fd);
    return code;
}

int kt_tuning_open(const kt_options *o, kiln_ctx *ctx, kt_tuning **out)
{
    struct stat st;
    kt_tuning *t = *out = calloc(1, sizeof *t);
    if (!t) return kt_failed(KILN_NO_MEMORY, "tune");
    t->name = o->output ? o->output : "standard output";
    t->replace = o->replace;
    if (t->replace && !o->output) {
        kt_message("--replace starts a file anew: name it with -o FILE");
        return EXIT_USAGE;
    }
    const int code = make_head(t, ctx);
    if (code) return code;
    if (!o->output) return open_stream(t, stdout);
    const int exists = !stat(o->output, &st);
    if (exists && !S_ISREG(st.st_mode)) return open_stream(t, fopen(o->output, "we"));
    if (exists ? !realpath(o->output, t->path)
               : snprintf(t->path, sizeof t->path, "%s", o->output) >= (int)sizeof t->path) {
        if (!exists) errno = ENAMETOOLONG;
        return wrong(t);
    }
    snprintf(t->beside, sizeof t->beside, "%s.new", t->path);
    return check_file(t, exists);
}

void kt_tuning_close(kt_tuning *t)
{
    if (t && t->stream && t->stream != stdout) fclose(t->stream);
    free(t);
}
