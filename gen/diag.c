// SPDX-License-Identifier: MIT
// Messages about instance files and templates:  file:line:col: error: text, the source line and a
// caret. They are kept until kg_diag_flush, which prints them in source order: 20, then how many
// more there are. A note belongs to the error reported before it and stays behind it.
#include "gen.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 20, KEPT = 4096, LINE_WIDTH = 160, QUOTED = 40 };

typedef struct source {
    const char *file, *text;
    size_t len;
    struct source *next;
} source;

typedef struct note {
    kg_pos pos;
    const char *text;
    struct note *next;
} note;

typedef struct message {
    kg_pos pos;
    const char *text;
    note *first, **last;
    size_t serial;
    size_t file_rank;
} message;

typedef struct diag {
    source *first, **last;
    message *kept;
    size_t nkept;
} diag;

static diag *state(kg_ctx *cx)
{
    if (!cx->diag) {
        diag *d = kg_alloc(cx->arena, sizeof *d);
        d->last = &d->first;
        d->kept = kg_alloc(cx->arena, KEPT * sizeof *d->kept);
        cx->diag = d;
    }
    return cx->diag;
}

void kg_source_add(kg_ctx *cx, const char *file, const char *text, size_t len)
{
    diag *d = state(cx);
    source *s = kg_alloc(cx->arena, sizeof *s);
    *s = (source){file, text, len, NULL};
    *d->last = s;
    d->last = &s->next;
}

/* The same pointer is the same file; two files may be shown alike (x/a.lua from two folders). */
static const source *find_source(const diag *d, const char *file, size_t *rank)
{
    *rank = 0;
    for (const source *s = d->first; s; s = s->next, ++*rank)
        if (s->file == file) return s;
    size_t i = 0;
    for (const source *s = d->first; s && file; s = s->next, i++) {
        if (strcmp(s->file, file) == 0) {
            *rank = i;
            return s;
        }
    }
    return NULL;
}

__attribute__((nonnull)) static const char *vtext(kg_ctx *cx, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (n < 0) return "(a message that cannot be formatted)";
    char *p = kg_alloc(cx->arena, (size_t)n + 1);
    vsnprintf(p, (size_t)n + 1, format, args);
    for (char *c = p; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f) *c = ' '; /* one message is one line */
    return p;
}

void kg_error(kg_ctx *cx, kg_pos pos, const char *format, ...)
{
    diag *d = state(cx);
    cx->errors++;
    if (d->nkept == KEPT) return;
    message *m = &d->kept[d->nkept];
    va_list args;
    va_start(args, format);
    m->text = vtext(cx, format, args);
    va_end(args);
    m->pos = pos;
    m->first = NULL;
    m->last = &m->first;
    m->serial = d->nkept++;
    find_source(d, pos.file, &m->file_rank);
}

void kg_note(kg_ctx *cx, kg_pos pos, const char *format, ...)
{
    diag *d = state(cx);
    if (!d->nkept) return;
    message *m = &d->kept[d->nkept - 1];
    note *n = kg_alloc(cx->arena, sizeof *n);
    va_list args;
    va_start(args, format);
    n->text = vtext(cx, format, args);
    va_end(args);
    n->pos = pos;
    *m->last = n;
    m->last = &n->next;
}

static int by_place(const void *pa, const void *pb)
{
    const message *a = pa, *b = pb;
    if (a->file_rank != b->file_rank) return a->file_rank < b->file_rank ? -1 : 1;
    if (a->pos.line != b->pos.line) return a->pos.line < b->pos.line ? -1 : 1;
    if (a->pos.col != b->pos.col) return a->pos.col < b->pos.col ? -1 : 1;
    return a->serial < b->serial ? -1 : a->serial > b->serial;
}

/* The line with tabs as blanks and control bytes as '?', and the caret under column col (bytes,
 * from 1). */
static void print_line(FILE *to, const source *s, kg_pos pos)
{
    const char *p = s->text, *end = s->text + s->len;
    for (int line = 1; line < pos.line && p < end; line++) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        p = nl ? nl + 1 : end;
    }
    if (p == end) return;
    const char *nl = memchr(p, '\n', (size_t)(end - p));
    const char *stop = nl ? nl : end;
    while (stop > p && stop[-1] == '\r') stop--;
    size_t len = (size_t)(stop - p), col = pos.col > 0 ? (size_t)pos.col - 1 : 0, from = 0;
    if (col > len) col = len;
    if (len > LINE_WIDTH) { /* a window around the caret */
        from = col > LINE_WIDTH / 2 ? col - LINE_WIDTH / 2 : 0;
        while (from < col && ((unsigned char)p[from] & 0xC0) == 0x80) from++;
        if (len - from > LINE_WIDTH) len = from + LINE_WIDTH;
        while (len > col && len < (size_t)(stop - p) && ((unsigned char)p[len] & 0xC0) == 0x80)
            len--;
    }
    fprintf(to, "%5d | ", pos.line);
    for (size_t i = from; i < len; i++) {
        unsigned char c = (unsigned char)p[i];
        fputc(c == '\t' ? ' ' : c < ' ' || c == 0x7f ? '?' : c, to);
    }
    fputc('\n', to);
    if (pos.col <= 0) return;
    fputs("      | ", to);
    for (size_t i = from; i < col; i++)
        if (((unsigned char)p[i] & 0xC0) != 0x80)
            fputc(' ', to); /* a UTF-8 letter takes one place */
    fputs("^\n", to);
}

static void print_one(FILE *to, const diag *d, kg_pos pos, const char *kind, const char *text)
{
    size_t rank;
    if (!pos.file) {
        fprintf(to, "kiln-gen: %s: %s\n", kind, text);
        return;
    }
    fputs(pos.file, to);
    if (pos.line > 0) fprintf(to, ":%d", pos.line);
    if (pos.line > 0 && pos.col > 0) fprintf(to, ":%d", pos.col);
    fprintf(to, ": %s: %s\n", kind, text);
    const source *s = pos.line > 0 ? find_source(d, pos.file, &rank) : NULL;
    if (s) print_line(to, s, pos);
}

/* The same message at the same place says it once (a rule that fails for each instance). */
static size_t drop_repeats(diag *d)
{
    size_t n = 0;
    for (size_t i = 0; i < d->nkept; i++) {
        const message *last = n ? &d->kept[n - 1] : NULL, *m = &d->kept[i];
        if (last && last->pos.file == m->pos.file && last->pos.line == m->pos.line &&
            last->pos.col == m->pos.col && strcmp(last->text, m->text) == 0 && !m->first)
            continue;
        d->kept[n++] = *m;
    }
    return n;
}

void kg_diag_flush(kg_ctx *cx)
{
    diag *d = cx->diag;
    if (!d || !d->nkept) return;
    qsort(d->kept, d->nkept, sizeof *d->kept, by_place);
    size_t distinct = drop_repeats(d), total = cx->errors - (d->nkept - distinct);
    for (size_t i = 0; i < distinct && i < SHOWN; i++) {
        print_one(cx->err, d, d->kept[i].pos, "error", d->kept[i].text);
        for (const note *n = d->kept[i].first; n; n = n->next)
            print_one(cx->err, d, n->pos, "note", n->text);
    }
    if (total > SHOWN) {
        size_t more = total - SHOWN;
        fprintf(cx->err, "%zu more error%s\n", more, more == 1 ? "" : "s");
    }
    d->nkept = 0;
}

const char *kg_quote(kg_ctx *cx, const char *text, size_t len)
{
    kg_buf b = {0};
    kg_puts(&b, "'");
    for (size_t i = 0; i < len && i < QUOTED; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < ' ' || c > '~') kg_putf(&b, "\\x%02x", c);
        else kg_put(&b, &text[i], 1);
    }
    kg_puts(&b, len > QUOTED ? "...'" : "'");
    if (len > QUOTED) kg_putf(&b, " (%zu bytes)", len);
    const char *s = kg_strndup(cx->arena, b.p, b.len);
    kg_buf_free(&b);
    return s;
}

/* Optimal string alignment: insert, delete, replace, swap neighbours. */
static size_t distance(const char *a, size_t na, const char *b, size_t nb)
{
    enum { MAX = 64 };
    size_t row[3][MAX + 1];
    if (na > MAX || nb > MAX) return SIZE_MAX;
    for (size_t j = 0; j <= nb; j++) row[0][j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t *now = row[i % 3], *up = row[(i + 2) % 3], *up2 = row[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            size_t best = up[j - 1] + (a[i - 1] != b[j - 1]);
            if (up[j] + 1 < best) best = up[j] + 1;
            if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                up2[j - 2] + 1 < best)
                best = up2[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[na % 3][nb];
}

const char *kg_closest(const char *word, const char *const *names, size_t n)
{
    size_t len = strlen(word), limit = len <= 2 ? 0 : len <= 5 ? 1 : len <= 9 ? 2 : 3;
    size_t nearest = 0;
    const char *best = NULL;
    for (size_t i = 0; i < n; i++) {
        size_t other = strlen(names[i]);
        size_t d = distance(word, len, names[i], other);
        if (d >= len || d >= other) continue; /* nothing in common */
        if (d <= limit && (!best || d < nearest)) {
            best = names[i];
            nearest = d;
        }
    }
    return best;
}
