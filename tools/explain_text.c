// SPDX-License-Identifier: MIT
// What kiln_explain says, on a terminal.  Where a line is wider than that, names of instances are
// said once up to their last slash and then by what is behind it, and sentences are wrapped at
// blanks.  Nothing is left out.
#define _GNU_SOURCE
#include "explain_text.h"
#include "command.h"
#include <string.h>

enum { CANDIDATE = 2, UNDER = 4, HANG = 4, LEAST = 32 /* columns of a sentence beside a name */ };

/* A line: what is before its text, a name where it is about one, and the rest. */
typedef struct line {
    size_t indent;
    const char *name, *rest; /* NULL: it is about none; behind the name and its blanks */
    const char *end;
    size_t folder, length; /* bytes of the name up to its last slash, and behind it */
} line;

/* The next line of a text, which is moved behind it; 0: there is none. */
static int read_line(const char **text, line *out)
{
    const char *s = *text;
    if (!*s) return 0;
    line l = {.indent = strspn(s, " "), .rest = s + strspn(s, " "), .end = s + strcspn(s, "\n")};
    const size_t word = strcspn(l.rest, " \n");
    *text = l.end + (*l.end != 0);
    *out = l;
    const char *slash = memrchr(l.rest, '/', word);
    if (l.indent != CANDIDATE || strncmp(l.rest + word, "  ", 2) || !slash) return 1;
    out->name = l.rest;
    out->folder = (size_t)(slash + 1 - l.rest);
    out->length = word - out->folder;
    out->rest = l.rest + word + strspn(l.rest + word, " ");
    return 1;
}

/* Bytes of a word's start that so many columns hold, behind a slash or a comma where it has one. */
static size_t cut(const char *word, size_t bytes, size_t columns)
{
    size_t end = 0, at = 0, best = 0;
    while (end < bytes && at < columns) {
        if (strchr("/,", word[end])) best = end + 1;
        end++;
        while (end < bytes && ((unsigned char)word[end] & 0xc0) == 0x80) end++;
        at++;
    }
    return end == bytes || !best ? end : best;
}

static size_t new_line(size_t column, FILE *f)
{
    fprintf(f, "\n%*s", (int)column, "");
    return column;
}

/* Words from a column on, up to `end`; further lines begin at `hang`. */
static void put_wrapped(const char *s, const char *end, size_t column, size_t hang, size_t limit,
                        FILE *f)
{
    const char *between = "";
    while ((s += strspn(s, " ")) < end) {
        const size_t left = (size_t)(end - s), word = strcspn(s, " ");
        size_t bytes = word < left ? word : left, columns = kt_width(s, bytes);
        if (*between && column + 1 + columns > limit) {
            column = new_line(hang, f);
            between = "";
        }
        fputs(between, f);
        column += *between != 0;
        if (column + columns > limit) { /* it has a line of its own, and is longer than that */
            bytes = cut(s, bytes, limit > column ? limit - column : 1);
            columns = kt_width(s, bytes);
        }
        fwrite(s, 1, bytes, f);
        s += bytes;
        column += columns;
        between = " ";
        if (s < end && *s != ' ') {
            column = new_line(hang, f);
            between = "";
        }
    }
    fputc('\n', f);
}

static void put_line(const line *l, const line *before, size_t names, size_t limit, FILE *f)
{
    if (!l->name) { /* what is said of a candidate stands below it */
        const size_t indent = l->indent + (l->indent > CANDIDATE ? UNDER - CANDIDATE : 0);
        fprintf(f, "%*s", (int)indent, "");
        put_wrapped(l->rest, l->end, indent, indent + HANG, limit, f);
        return;
    }
    if (!before->name || before->folder != l->folder || strncmp(before->name, l->name, l->folder)) {
        fprintf(f, "%*s", CANDIDATE, "");
        put_wrapped(l->name, l->name + l->folder, CANDIDATE, CANDIDATE, limit, f);
    }
    fprintf(f, "%*s%.*s", UNDER, "", (int)l->length, l->name + l->folder);
    size_t column = UNDER + names + 2;
    if (column + LEAST <= limit)
        fprintf(f, "%*s", (int)(names - l->length + 2), "");
    else
        column = new_line(UNDER + HANG, f);
    put_wrapped(l->rest, l->end, column, column, limit, f);
}

void kt_put_explained(const char *text, size_t limit, FILE *f)
{
    size_t names = 0, widest = 0;
    line l, before = {.name = NULL};
    for (const char *s = text, *from = s; read_line(&s, &l); from = s) {
        const size_t columns = kt_width(from, (size_t)(l.end - from));
        if (columns > widest) widest = columns;
        if (l.name && l.length > names) names = l.length;
    }
    if (!limit || widest <= limit) {
        fputs(text, f);
        return;
    }
    for (const char *s = text; read_line(&s, &l);) {
        put_line(&l, &before, names, limit, f);
        if (l.name) before = l;
    }
}
