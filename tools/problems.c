// SPDX-License-Identifier: MIT
// Problems of a run: from the command line, or from a file of problem sets:
//   [set] what it is to show        names the lines that follow; the text is repeated in summaries
//   PROBLEM                         as on the command line
//   PROBLEM vs PROBLEM              peers are given the second one
//   # to the end of the line        a comment
// A problem that says nothing of alignment is taken with align=256, as bench and tune allocate.
#define _GNU_SOURCE
#include "command.h"
#include "utf8_mark.h"
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ERRORS = 20 };

typedef struct reader {
    const kt_options *o;
    kt_problems *list;
    const char *file;
    int line, errors, selected, sets;
    const char *set, *aim;
} reader;

static char *trimmed(char *s)
{
    while (isspace((unsigned char)*s)) s++;
    size_t n = strlen(s);
    while (n && isspace((unsigned char)s[n - 1])) s[--n] = 0;
    return s;
}

static int wrong(reader *r, const char *text, const char *why)
{
    if (r->file)
        kt_message("%s:%d: '%s': %s", r->file, r->line, text, why);
    else
        kt_message("'%s': %s", text, why);
    r->errors++;
    return 0;
}

/* Text that belongs to the list; NULL: out of memory, an error that is counted. */
static char *keep(reader *r, const char *text, const char *more)
{
    kt_problems *l = r->list;
    char **list = realloc(l->text, (l->texts + 1) * sizeof *list);
    char *copy = NULL;
    if (list) l->text = list;
    if (list && asprintf(&copy, "%s%s", text, more) >= 0) return l->text[l->texts++] = copy;
    wrong(r, text, "out of memory");
    return NULL;
}

static int promises_alignment(const kiln_problem *p)
{
    uint32_t any = 0;
    for (int i = 0; i < KILN_MAX_TENSORS; i++) any |= p->tensor[i].align;
    return any != 0;
}

/* The problem as it is computed; NULL: a mistake.  An op that no module has is none: it is reported
 * when its turn comes. */
static char *taken(reader *r, char *text)
{
    kiln_problem p;
    if (kiln_problem_parse(text, &p)) return wrong(r, text, kiln_error()), NULL;
    return promises_alignment(&p) ? text : keep(r, text, " align=256");
}

static void add(reader *r, const char *line)
{
    kt_problems *l = r->list;
    char *text = keep(r, line, ""), *versus = text ? strstr(text, " vs ") : NULL;
    if (!text) return;
    if (versus) *versus = 0, versus = trimmed(versus + 4);
    if (!(text = taken(r, trimmed(text))) || (versus && !(versus = taken(r, versus)))) return;
    kt_item *more = realloc(l->item, (l->count + 1) * sizeof *more);
    if (!more) {
        wrong(r, text, "out of memory");
        return;
    }
    l->item = more;
    l->item[l->count++] = (kt_item){r->set, r->aim, text, versus};
}

/* As bench --json needs it. */
static int is_utf8(const char *s)
{
    json_t *text = json_string(s);
    const int good = text != NULL;
    json_decref(text);
    return good;
}

static void start_set(reader *r, char *line)
{
    char *end = strchr(line, ']');
    if (!end) {
        wrong(r, line, "a set's name ends with ']'");
        return;
    }
    *end = 0;
    const char *name = trimmed(line + 1);
    if (!*name || !is_utf8(name)) {
        wrong(r, line, *name ? "a set's name is not UTF-8" : "a set has no name");
        return;
    }
    r->set = keep(r, name, "");
    r->aim = keep(r, trimmed(end + 1), "");
    if (!r->set || !r->aim) return;
    r->selected = !r->o->set || !fnmatch(r->o->set, name, 0);
    r->sets += r->selected;
}

/* The next line without blanks around it; NULL: there is none. */
static char *next_line(reader *r, FILE *f, char **line, size_t *room)
{
    errno = 0;
    if (getline(line, room, f) < 0) return NULL;
    return trimmed(*line + (r->line++ ? 0 : kr_utf8_mark(*line)));
}

/* Behind the last line. */
static int close_file(reader *r, FILE *f, char *line)
{
    const int why = ferror(f) ? errno : 0;
    free(line);
    fclose(f);
    return why ? (kt_message("%s: %s", r->file, strerror(why)), EXIT_USAGE) : 0;
}

static int read_file(reader *r)
{
    char *line = NULL, *text;
    size_t room = 0;
    FILE *f = fopen(r->file, "r");
    if (!f) return kt_message("%s: %s", r->file, strerror(errno)), EXIT_USAGE;
    while (r->errors < MOST_ERRORS && (text = next_line(r, f, &line, &room))) {
        char *comment = strchr(text, '#');
        if (comment) *comment = 0, text = trimmed(text);
        if (*text == '[')
            start_set(r, text);
        else if (*text && r->selected)
            add(r, text);
    }
    const int code = close_file(r, f, line);
    if (code || r->errors) return EXIT_USAGE;
    if (r->o->set && !r->sets)
        return kt_message("%s has no set '%s'", r->file, r->o->set), EXIT_USAGE;
    if (!r->list->count) return kt_message("%s has no problems", r->file), EXIT_USAGE;
    return 0;
}

/* Shapes that TunableOp recorded; lines without a problem are named, and do no harm. */
static int read_tunableop(reader *r)
{
    char *line = NULL, *from, text[256];
    const char *why;
    size_t room = 0, lines = 0, unused = 0;
    FILE *f = fopen(r->file, "r");
    if (!f) return kt_message("%s: %s", r->file, strerror(errno)), EXIT_USAGE;
    while ((from = next_line(r, f, &line, &room))) {
        if (!*from) continue;
        char shown[96];
        snprintf(shown, sizeof shown, "%.90s", from);
        const int found = kt_tunableop(from, text, sizeof text, &why);
        lines += found != 0;
        if (found > 0) add(r, text);
        if (found < 0 && unused++ < MOST_ERRORS)
            kt_message("%s:%d: '%s': %s; left out", r->file, r->line, shown, why);
    }
    if (close_file(r, f, line)) return EXIT_USAGE;
    if (unused) kt_message("%s: %zu of %zu lines left out", r->file, unused, lines);
    return r->errors ? EXIT_USAGE : 0;
}

int kt_problems_open(const kt_options *o, const char *const *otherwise, size_t count,
                     kt_problems *list)
{
    reader r = {.o = o, .list = list, .set = "", .aim = "", .selected = !o->set};
    *list = (kt_problems){0};
    if (o->set && !o->problems) return kt_message("--set chooses from --problems FILE"), EXIT_USAGE;
    for (int i = 0; i < o->arguments; i++) add(&r, o->argument[i]);
    for (size_t i = 0; !o->arguments && !o->problems && i < count; i++) add(&r, otherwise[i]);
    int code = r.errors ? EXIT_USAGE : 0;
    if (!code && (r.file = o->tunableop)) code = read_tunableop(&r);
    if (!code && (r.file = o->problems)) code = read_file(&r);
    return code;
}

void kt_problems_close(kt_problems *l)
{
    for (size_t i = 0; i < l->texts; i++) free(l->text[i]);
    free(l->text);
    free(l->item);
    *l = (kt_problems){0};
}
