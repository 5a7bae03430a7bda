// SPDX-License-Identifier: MIT
// Tables: aligned columns, or CSV.
#define _GNU_SOURCE
#include "command.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct kt_table {
    size_t columns, count, room; /* cells, the heads among them */
    char **cell;
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
    kt_table *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->columns = columns;
    for (size_t i = 0; i < columns; i++) keep(t, strdup(heads[i]));
    return t;
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

/* Columns on a terminal, not bytes: names in messages are UTF-8. */
static size_t width(const char *s)
{
    size_t n = 0;
    for (; *s; s++) n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
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

void kt_table_print(kt_table *t, FILE *f, int csv)
{
    if (!t) return;
    for (size_t row = 0; csv && row < kt_table_rows(t); row++) kt_table_csv_row(t, row, f);
    if (csv) return;
    size_t *wide = calloc(t->columns, sizeof *wide);
    if (!wide) return;
    for (size_t i = 0; i < t->count; i++)
        if (width(cell(t, i)) > wide[i % t->columns]) wide[i % t->columns] = width(cell(t, i));
    for (size_t i = 0; i < t->count; i++) {
        const size_t column = i % t->columns;
        const int pad = (int)(wide[column] - width(cell(t, i))), right = numeric(t, column);
        const int last = column + 1 == t->columns;
        if (i == 0) fputs(kt_color_on(f, KT_DIM), f);
        fprintf(f, "%*s%s%*s", right ? pad : 0, "", cell(t, i), right || last ? 0 : pad, "");
        if (i + 1 == t->columns) fputs(kt_color_off(f), f);
        fputs(last ? "\n" : "  ", f);
    }
    free(wide);
}

void kt_table_close(kt_table *t)
{
    if (!t) return;
    for (size_t i = 0; i < t->count; i++) free(t->cell[i]);
    free(t->cell);
    free(t);
}
