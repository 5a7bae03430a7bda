// SPDX-License-Identifier: MIT
// Tuning files grow row by row, so that a run that is cut short keeps what it measured: under a
// lock on the file, its rows and the new one are written to a file beside, which is then renamed.
// A reader sees the one or the other, and several writers lose nothing.
#define _GNU_SOURCE
#include "tuning_rows.h"
#include "utf8_mark.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

int kt_rows_wrong(kt_rows *t)
{
    snprintf(t->why, sizeof t->why, "%.600s: %s", t->name, strerror(errno));
    return -1;
}

static void put_quoted(FILE *f, const char *text)
{
    fputc('"', f);
    for (; *text; text++) {
        if (*text == '"') fputc('"', f);
        fputc(*text, f);
    }
    fputc('"', f);
}

int kt_rows_head(kt_rows *t, const kiln_device_info *d)
{
    FILE *f = fmemopen(t->head, sizeof t->head, "w");
    if (!f) return kt_rows_wrong(t);
    fprintf(f, "Validator,KILN_VERSION,%s\nValidator,TARGET,%s\nValidator,DEVICE,", kiln_version(),
            d->target);
    put_quoted(f, d->name);
    fprintf(f, "\nValidator,UNITS,%d\n", d->units);
    fclose(f);
    return 0;
}

int kt_rows_at(kt_rows *t, const char *path)
{
    struct stat st;
    const int exists = !stat(path, &st);
    if (exists ? !realpath(path, t->path)
               : snprintf(t->path, sizeof t->path, "%s", path) >= (int)sizeof t->path) {
        if (!exists) errno = ENAMETOOLONG;
        return kt_rows_wrong(t);
    }
    snprintf(t->beside, sizeof t->beside, "%s.new", t->path);
    return 0;
}

/* ---- what the file has ---- */
char *kt_rows_read(int fd)
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
    if (!text) return NULL;
    text[used] = 0;
    const size_t mark = kr_utf8_mark(text);
    return memmove(text, text + mark, used + 1 - mark);
}

size_t kt_line_length(const char *line)
{
    const size_t n = strcspn(line, "\n");
    return n && line[n - 1] == '\r' ? n - 1 : n;
}

const char *kt_line_next(const char *line)
{
    line += strcspn(line, "\n");
    return *line ? line + 1 : line;
}

int kt_line_validates(const char *line)
{
    return !strncmp(line, "Validator,", 10);
}

/* Whether its rows hold where this one's do: the validators are the same, however often they are
 * there, as in files put behind each other. */
int kt_rows_check(kt_rows *t, const char *text)
{
    const char *head = t->head;
    int number = 1;
    for (const char *line = text; *line; line = kt_line_next(line), number++) {
        const size_t n = kt_line_length(line);
        if (!n || (!*head && !kt_line_validates(line))) continue;
        if (!*head) head = t->head;
        const size_t expected = kt_line_length(head);
        if (n != expected || strncmp(line, head, n)) {
            snprintf(t->why, sizeof t->why,
                     "%.600s:%d: '%.*s', where this device has '%.*s': rows of both do "
                     "not fit into one file; name another, or start it anew with --replace",
                     t->name, number, (int)(n < 200 ? n : 200), line, (int)expected, head);
            return -1;
        }
        head = kt_line_next(head);
    }
    return 0;
}

/* Whether a row is of the problem: its first field. */
int kt_line_is_of(const char *line, const char *problem)
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
static int lock(const kt_rows *t, struct stat *st)
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

void kt_rows_put(FILE *f, const char *problem, const kt_row *row)
{
    put_quoted(f, problem);
    /* Whatever the program's locale has for a point. */
    const locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    const locale_t before = plain ? uselocale(plain) : (locale_t)0;
    fprintf(f, ",%s,%.3f,%.3g,%016" PRIx64 "\n", row->instance, row->us, row->error, row->content);
    if (plain) uselocale(before), freelocale(plain);
}

static int finish(FILE *f, mode_t mode)
{
    int failed = ferror(f);
    failed |= fflush(f) || fchmod(fileno(f), mode & 0777) || fsync(fileno(f));
    return fclose(f) || failed ? -1 : 0;
}

static int rewrite(kt_rows *t, int fd, mode_t mode, kt_rows_writer *write, const void *arg)
{
    char *text = kt_rows_read(fd);
    FILE *f = NULL;
    int code = -1;
    if (!text) return kt_rows_wrong(t);
    if (t->replace) *text = 0;
    if (kt_rows_check(t, text)) goto out;
    f = fopen(t->beside, "we");
    if (!f) {
        snprintf(t->why, sizeof t->why, "%.600s: %s", t->beside, strerror(errno));
        goto out;
    }
    fputs(t->head, f);
    code = write(t, text, f, arg);
    if (finish(f, mode) || (!code && rename(t->beside, t->path))) code = kt_rows_wrong(t);
    if (code)
        unlink(t->beside);
    else
        t->replace = 0;
out:
    free(text);
    return code;
}

int kt_rows_update(kt_rows *t, kt_rows_writer *write, const void *arg)
{
    struct stat st;
    const int fd = lock(t, &st);
    if (fd < 0) return kt_rows_wrong(t);
    const int code = rewrite(t, fd, st.st_mode, write, arg);
    if (code && !st.st_size) unlink(t->path); /* made by the lock */
    close(fd);
    return code;
}

typedef struct addition {
    const char *problem;
    const kt_row *row;
} addition;

static int write_row(kt_rows *t, const char *text, FILE *to, const void *arg)
{
    const addition *a = arg;
    (void)t;
    for (const char *line = text; *line; line = kt_line_next(line))
        if (kt_line_length(line) && !kt_line_validates(line) && !kt_line_is_of(line, a->problem))
            fprintf(to, "%.*s\n", (int)kt_line_length(line), line);
    kt_rows_put(to, a->problem, a->row);
    return 0;
}

int kt_rows_add(kt_rows *t, const char *problem, const kt_row *row)
{
    return kt_rows_update(t, write_row, &(addition){problem, row});
}
