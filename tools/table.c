// SPDX-License-Identifier: MIT
// Tables: aligned columns, or CSV.  What is wider than the terminal is folded: a row takes several
// lines, which begin at the columns that the table's maker named.  Where there is no terminal a row
// is one line, for other programs.
#define _GNU_SOURCE
#include "command.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { MAX_COLUMNS = 32 };
struct kt_table {
    size_t columns, count, room; /* cells, the heads among them */
    char **cell;
    unsigned folds;           /* bits of columns that a line may begin with */
    size_t wide[MAX_COLUMNS]; /* columns as printed */
};

static void keep(kt_table *t, char *text)
{
    if (t->count == t->room) {
        const size_t room = t->room ? 2 * t->room : 64;
        char **cell = realloc(t->cell, room * sizeof *cell);
        if (!cell) {
            free(text);
            return;
        }
        t->cell = cell, t->room = room;
    }
    t->cell[t->count++] = text;
}

kt_table *kt_table_open(const char *const *heads, size_t columns)
{
    kt_table *t = columns <= MAX_COLUMNS ? calloc(1, sizeof *t) : NULL;
    if (!t) return NULL;
    t->columns = columns;
    for (size_t i = 0; i < columns; i++) keep(t, strdup(heads[i]));
    return t;
}

void kt_table_fold(kt_table *t, size_t column)
{
    if (t) t->folds |= 1u << column;
}

void kt_cell(kt_table *t, const char *format, ...)
{
    char *text = NULL;
    va_list ap;
    if (!t) return;
    va_start(ap, format);
    if (vasprintf(&text, format, ap) < 0) text = NULL;
    va_end(ap);
    keep(t, text);
}

static const char *cell(const kt_table *t, size_t i)
{
    return t->cell[i] ? t->cell[i] : "";
}

static void print_csv(const char *s, FILE *f)
{
    if (!strpbrk(s, ",\"\n")) {
        fputs(s, f);
        return;
    }
    fputc('"', f);
    for (; *s; s++) {
        if (*s == '"') fputc('"', f);
        fputc(*s, f);
    }
    fputc('"', f);
}

size_t kt_width(const char *s, size_t bytes)
{
    size_t n = 0;
    for (; bytes--; s++) n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

static size_t width(const char *s)
{
    return kt_width(s, strlen(s));
}

static int numeric(const kt_table *t, size_t column)
{
    for (size_t i = t->columns + column; i < t->count; i += t->columns) {
        const char *s = cell(t, i);
        if (*s && strcmp(s, "-") && !isdigit((unsigned char)s[*s == '-' || *s == '.'])) return 0;
        if (strchr(s, ' ') || strchr(s, '/')) return 0;
    }
    return t->count > t->columns;
}

size_t kt_table_rows(const kt_table *t)
{
    return t ? t->count / t->columns : 0;
}

void kt_table_csv_row(const kt_table *t, size_t row, FILE *f)
{
    for (size_t i = 0; t && i < t->columns; i++) {
        print_csv(cell(t, row * t->columns + i), f);
        fputc(i + 1 == t->columns ? '\n' : ',', f);
    }
}

/* ---- printing ---- */
enum { GAP = 2, INDENT = 2 };

size_t kt_columns(FILE *f)
{
    struct winsize size;
    if (!isatty(fileno(f))) return 0;
    return !ioctl(fileno(f), TIOCGWINSZ, &size) && size.ws_col ? size.ws_col : 80;
}

static size_t indent(const kt_table *t, size_t from)
{
    return INDENT * (size_t)__builtin_popcount(t->folds & ((2u << from) - 1));
}

static size_t line_width(const kt_table *t, size_t from, size_t to)
{
    size_t sum = indent(t, from);
    for (size_t i = from; i < to; i++) sum += t->wide[i] + (i > from ? GAP : 0);
    return sum;
}

/* The first column behind `from` that the next line begins with: as many parts as fit. */
static size_t line_end(const kt_table *t, size_t from, size_t limit)
{
    size_t end = from;
    do {
        size_t next = end + 1;
        while (next < t->columns && !(t->folds >> next & 1)) next++;
        if (limit && end > from && line_width(t, from, next) > limit) break;
        end = next;
    } while (end < t->columns);
    return end;
}

/* Text columns of lines that are too wide all the same get narrower, the widest first. */
static void narrow(kt_table *t, size_t limit)
{
    enum { LEAST = 16 };
    for (size_t from = 0, to; limit && from < t->columns; from = to) {
        to = line_end(t, from, limit);
        for (size_t width; (width = line_width(t, from, to)) > limit;) {
            size_t most = from;
            for (size_t i = from; i < to; i++)
                if (!numeric(t, i) && (numeric(t, most) || t->wide[i] > t->wide[most])) most = i;
            if (numeric(t, most) || t->wide[most] <= LEAST) break;
            const size_t over = width - limit, spare = t->wide[most] - LEAST;
            t->wide[most] -= over < spare ? over : spare;
        }
    }
}

/* The start and the end of a text, which tell names apart, in so many columns. */
static void print_cut(const char *s, size_t columns, FILE *f)
{
    const size_t n = width(s);
    size_t at = 0, head = columns / 2, tail = n - (columns - 1 - head);
    for (; *s; s++) {
        if (((unsigned char)*s & 0xc0) != 0x80) at++;
        if (n <= columns || at <= head || at > tail) fputc(*s, f);
        if (n > columns && at == head + 1 && ((unsigned char)*s & 0xc0) != 0x80)
            fputs("\xe2\x80\xa6", f);
    }
}

static void print_line(const kt_table *t, size_t row, size_t from, size_t to, FILE *f)
{
    fprintf(f, "%*s", (int)indent(t, from), "");
    for (size_t i = from; i < to; i++) {
        const char *s = cell(t, row * t->columns + i);
        const size_t used = width(s) < t->wide[i] ? width(s) : t->wide[i];
        const int pad = (int)(t->wide[i] - used), right = numeric(t, i);
        fprintf(f, "%*s", right ? pad : 0, "");
        print_cut(s, t->wide[i], f);
        if (i + 1 < to) fprintf(f, "%*s", GAP + (right ? 0 : pad), "");
    }
}

/* Whether a row begins as the one before it, so that it need not be said again. */
static int repeats(const kt_table *t, size_t row, size_t columns)
{
    int same = row > 1;
    for (size_t i = 0; i < columns && same; i++)
        same = !strcmp(cell(t, row * t->columns + i), cell(t, (row - 1) * t->columns + i));
    return same;
}

static void print_row(const kt_table *t, size_t row, size_t limit, FILE *f)
{
    for (size_t from = 0, to; from < t->columns; from = to) {
        to = line_end(t, from, limit);
        if (from == 0 && to < t->columns && repeats(t, row, to)) continue;
        fputs(row ? "" : kt_color_on(f, KT_DIM), f);
        print_line(t, row, from, to, f);
        fputs(row ? "" : kt_color_off(f), f);
        fputc('\n', f);
    }
}

void kt_table_print(kt_table *t, FILE *f, int csv)
{
    if (!t) return;
    for (size_t row = 0; csv && row < kt_table_rows(t); row++) kt_table_csv_row(t, row, f);
    if (csv) return;
    size_t limit = kt_columns(f);
    memset(t->wide, 0, sizeof t->wide);
    for (size_t i = 0; i < t->count; i++)
        if (width(cell(t, i)) > t->wide[i % t->columns])
            t->wide[i % t->columns] = width(cell(t, i));
    if (line_width(t, 0, t->columns) <= limit) limit = 0;
    narrow(t, limit);
    for (size_t row = 0; row < kt_table_rows(t); row++) print_row(t, row, limit, f);
}

void kt_table_close(kt_table *t)
{
    if (!t) return;
    for (size_t i = 0; i < t->count; i++) free(t->cell[i]);
    free(t->cell);
    free(t);
}
