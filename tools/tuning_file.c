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

/* Writes a file from what it has; an exit code. */
typedef int writer(kt_tuning *, const char *text, FILE *to, const void *arg);

static int rewrite(kt_tuning *t, int fd, mode_t mode, writer *write, const void *arg)
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
    code = write(t, text, f, arg);
    if (finish(f, mode) || (!code && rename(t->beside, t->path))) code = wrong(t);
    if (code)
        unlink(t->beside);
    else
        t->replace = 0;
out:
    free(text);
    return code;
}

static int update(kt_tuning *t, writer *write, const void *arg)
{
    struct stat st;
    const int fd = lock(t, &st);
    if (fd < 0) return wrong(t);
    const int code = rewrite(t, fd, st.st_mode, write, arg);
    if (code && !st.st_size) unlink(t->path); /* made by the lock */
    close(fd);
    return code;
}

typedef struct addition {
    const char *problem;
    const kt_row *row;
} addition;

static int write_row(kt_tuning *t, const char *text, FILE *to, const void *arg)
{
    const addition *a = arg;
    (void)t;
    for (const char *line = text; *line; line = next_line(line))
        if (line_length(line) && !is_validator(line) && !is_of(line, a->problem))
            fprintf(to, "%.*s\n", (int)line_length(line), line);
    put_row(to, a->problem, a->row);
    return 0;
}

int kt_tuning_add(kt_tuning *t, const kiln_problem *p, const kt_row *row)
{
    char problem[KT_PROBLEM_TEXT];
    size_t len = sizeof problem;
    const kiln_status status = kiln_problem_format(p, problem, &len);
    if (status) return kt_failed(status, p->op);
    if (!t->stream) return update(t, write_row, &(addition){problem, row});
    put_row(t->stream, problem, row);
    return fflush(t->stream) ? wrong(t) : 0;
}

int kt_tuning_has(const kt_tuning *t, kiln_ctx *ctx, const kiln_problem *p)
{
    char problem[KT_PROBLEM_TEXT], instance[512];
    size_t len = sizeof problem;
    const int fd = t->stream || t->replace ? -1 : open(t->path, O_RDONLY | O_CLOEXEC);
    char *text = fd < 0 || kiln_problem_format(p, problem, &len) ? NULL : read_all(fd);
    int found = 0;
    for (const char *line = text; line && *line && !found; line = next_line(line)) {
        uint64_t content;
        const kiln_kernel *k;
        kiln_kernel_info info;
        if (!is_of(line, problem)) continue;
        found = sscanf(line + strlen(problem) + (*line == '"' ? 3 : 1),
                       "%511[^,],%*[^,],%*[^,],%16" SCNx64, instance, &content) == 2 &&
                !kiln_kernel_by_name(ctx, instance, &k) && !kt_describe(k, &info) &&
                info.content == content;
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

static int pile_up(pile *all, const char *name, const char *text)
{
    size_t number = 1, unused = 0;
    for (const char *line = text; *line; line = next_line(line), number++) {
        const size_t n = line_length(line), problem = first_field(line, n);
        char instance[512];
        uint64_t content;
        merged m = {.line = line, .problem = problem, .n = n, .order = all->n};
        if (!n || is_validator(line)) continue;
        if (!problem || sscanf(line + problem, ",%511[^,\n],%lf,%*[^,\n],%16" SCNx64, instance,
                               &m.us, &content) != 3) {
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
        all->row[all->n++] = m;
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
static int write_merged(kt_tuning *t, const char *text, FILE *to, const void *arg)
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
static int take_head(kt_tuning *t, const char *name, const char *text)
{
    size_t used = 0;
    for (const char *line = text; is_validator(line); line = next_line(line)) {
        const size_t n = line_length(line);
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
    kt_tuning t = {.name = o->output, .replace = o->replace};
    pile all = {.text = calloc((size_t)o->arguments + 1, sizeof *all.text)};
    int code = all.text ? 0 : kt_failed(KILN_NO_MEMORY, "tune");
    if (!code && !o->arguments) code = (kt_message("tune --merge: FILE... is missing"), EXIT_USAGE);
    if (!code && !o->output)
        code = (kt_message("tune --merge needs a file to write: name it with -o FILE"), EXIT_USAGE);
    for (int i = 0; i < o->arguments && !code; i++) {
        t.name = o->argument[i];
        const int fd = open(t.name, O_RDONLY | O_CLOEXEC);
        char *text = fd < 0 ? NULL : read_all(fd);
        if (!text)
            code = wrong(&t);
        else if (!*t.head)
            code = take_head(&t, t.name, text);
        if (text && !code) code = check_head(&t, text);
        if (text && !code) code = pile_up(&all, t.name, text);
        if (fd >= 0) close(fd);
        all.text[all.texts++] = text;
    }
    t.name = o->output;
    if (!code) code = open_path(&t, o->output);
    if (!code && t.stream) code = (kt_message("%s: not a plain file", t.name), EXIT_USAGE);
    if (!code) code = update(&t, write_merged, &all);
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

static int read_row(const char *line, size_t n, void (*visit)(void *, const char *, const kt_row *),
                    void *user)
{
    char problem[KT_PROBLEM_TEXT], instance[512];
    kt_row row = {.instance = instance};
    const size_t first = first_field(line, n);
    if (!first || sscanf(line + first, ",%511[^,\n],%lf,%lf,%16" SCNx64, instance, &row.us,
                         &row.error, &row.content) != 4)
        return 0;
    unquote(line, first, problem, sizeof problem);
    visit(user, problem, &row);
    return 1;
}

int kt_tuning_each(const char *file, void (*validator)(void *, const char *key, const char *value),
                   void (*row)(void *, const char *problem, const kt_row *), void *user)
{
    kt_tuning t = {.name = file};
    size_t number = 1;
    int code = 0;
    const int fd = open(file, O_RDONLY | O_CLOEXEC);
    char *text = fd < 0 ? NULL : read_all(fd);
    if (!text) code = wrong(&t);
    for (const char *line = text; line && *line && !code; line = next_line(line), number++) {
        const size_t n = line_length(line);
        if (!n || (is_validator(line) ? read_validator(line, n, validator, user)
                                      : read_row(line, n, row, user)))
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

static int open_path(kt_tuning *t, const char *path)
{
    struct stat st;
    const int exists = !stat(path, &st);
    if (exists && !S_ISREG(st.st_mode)) return open_stream(t, fopen(path, "we"));
    if (exists ? !realpath(path, t->path)
               : snprintf(t->path, sizeof t->path, "%s", path) >= (int)sizeof t->path) {
        if (!exists) errno = ENAMETOOLONG;
        return wrong(t);
    }
    snprintf(t->beside, sizeof t->beside, "%s.new", t->path);
    return check_file(t, exists);
}

int kt_tuning_open(const kt_options *o, kiln_ctx *ctx, kt_tuning **out)
{
    kt_tuning *t = *out = calloc(1, sizeof *t);
    if (!t) return kt_failed(KILN_NO_MEMORY, "tune");
    t->name = o->output ? o->output : "standard output";
    t->replace = o->replace;
    if (!o->output && (t->replace || o->resume)) {
        kt_message(t->replace ? "--replace starts a file anew: name it with -o FILE"
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
