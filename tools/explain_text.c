// SPDX-License-Identifier: MIT
// What kiln_explain says, on a terminal.  Where a line is wider than that, names of instances are
// said once up to their last slash and then by what is behind it, and sentences are wrapped at
// blanks.  Nothing is left out.
#define _GNU_SOURCE
#include "explain_text.h"
#include "command.h"
#include <stdlib.h>
#include <string.h>

enum { CANDIDATE = 2, UNDER = 4, HANG = 4, LEAST = 32 /* columns of a sentence beside a name */ };

/* A line, cut into what is before its text, a name where it is about one, and the rest. */
typedef struct line {
    size_t indent;
    const char *name, *rest; /* NULL: it is about none; behind the name and its blanks */
    size_t folder, length;   /* bytes of the name up to its last slash, and behind it */
} line;

static line read_line(const char *s)
{
    line l = {.indent = strspn(s, " "), .rest = s + strspn(s, " ")};
    const size_t word = strcspn(l.rest, " ");
    if (l.indent != CANDIDATE || strncmp(l.rest + word, "  ", 2)) return l;
    const char *slash = memrchr(l.rest, '/', word);
    if (!slash) return l;
    l.name = l.rest;
    l.folder = (size_t)(slash + 1 - l.name);
    l.length = word - l.folder;
    l.rest = l.name + word + strspn(l.name + word, " ");
    return l;
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

/* Words from a column on; further lines begin at `hang`. */
static void put_wrapped(const char *s, size_t column, size_t hang, size_t limit, FILE *f)
{
    const char *between = "";
    while (*(s += strspn(s, " "))) {
        size_t bytes = strcspn(s, " "), columns = kt_width(s, bytes);
        if (*between && column + 1 + columns > limit) {
            fprintf(f, "\n%*s", (int)hang, "");
            column = hang;
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
        if (*s && *s != ' ') {
            fprintf(f, "\n%*s", (int)hang, "");
            column = hang;
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
        put_wrapped(l->rest, indent, indent + HANG, limit, f);
        return;
    }
    if (!before->name || before->folder != l->folder || strncmp(before->name, l->name, l->folder)) {
        char *folder = strndup(l->name, l->folder);
        fprintf(f, "%*s", CANDIDATE, "");
        put_wrapped(folder ? folder : "", CANDIDATE, CANDIDATE, limit, f);
        free(folder);
    }
    fprintf(f, "%*s%-*.*s", UNDER, "", (int)names, (int)l->length, l->name + l->folder);
    const size_t column = UNDER + names + 2, hang = UNDER + HANG;
    if (column + LEAST <= limit) {
        fputs("  ", f);
        put_wrapped(l->rest, column, column, limit, f);
    } else {
        fprintf(f, "\n%*s", (int)hang, "");
        put_wrapped(l->rest, hang, hang, limit, f);
    }
}

static int fits(char *text, size_t limit)
{
    for (const char *s = text; *s; s += strcspn(s, "\n") + (s[strcspn(s, "\n")] != 0))
        if (kt_width(s, strcspn(s, "\n")) > limit) return 0;
    return 1;
}

void kt_put_explained(char *text, size_t limit, FILE *f)
{
    size_t names = 0;
    line before = {.name = NULL};
    if (!limit || fits(text, limit)) {
        fputs(text, f);
        return;
    }
    for (char *s = text, *end; *s; s = end) {
        end = s + strcspn(s, "\n");
        if (*end) *end++ = 0;
        const line l = read_line(s);
        if (l.name && l.length > names) names = l.length;
        if (end[-1] == 0) end[-1] = '\n';
    }
    for (char *s = text, *end; *s; s = end) {
        end = s + strcspn(s, "\n");
        if (*end) *end++ = 0;
        const line l = read_line(s);
        put_line(&l, &before, names, limit, f);
        if (l.name) before = l;
    }
}
