// SPDX-License-Identifier: MIT
// Results of bench, from a run or from a file that it wrote (CSV by its heads, or JSON): rows,
// layers (problems that differ in one size alone), ceilings.
#define _GNU_SOURCE
#include "output.h"
#include "plot.h"
#include "utf8_mark.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Beyond that products and quotients of what a row has would be no numbers. */
static int drawable(double v)
{
    return v > 1e-30 && v < 1e30;
}

/* ---- rows ---- */
/* 0: it has none that could be drawn. */
static double number_of(const json_t *row, const char *a, const char *b)
{
    const json_t *v = json_object_get(row, a);
    if (!json_is_number(v)) v = json_object_get(row, b);
    const double n = json_is_number(v) ? json_number_value(v) : 0;
    return drawable(n) ? n : 0;
}

static const char *text_of(const json_t *row, const char *key)
{
    const char *s = json_string_value(json_object_get(row, key));
    return s ? s : "";
}

static int name_of(kt_plot *p, const char *name)
{
    for (int i = 0; i < p->names; i++)
        if (!strcmp(p->name[i], name)) return i;
    if (p->names == KT_PLOT_NAMES) return -1;
    p->name[p->names] = name;
    return p->names++;
}

static void add_rows(kt_plot *p)
{
    size_t i;
    json_t *from;
    json_array_foreach(p->rows, i, from)
    {
        kt_plot_row *r = &p->row[p->count];
        *r = (kt_plot_row){.set = text_of(from, "set"),
                           .problem = text_of(from, "problem"),
                           .note = text_of(from, "note"),
                           .us = number_of(from, "us", "modelled_us"),
                           .tflops = number_of(from, "gflops", "modelled_gflops") * 1e-3,
                           .gbps = number_of(from, "gbps", "gbps")};
        if (r->us <= 0 || !*r->problem) continue;
        /* The peer that reads the operands of products neither multiplies nor writes. */
        if (r->tflops > 0 && !strcmp(text_of(from, "implementation"), "memory"))
            r->tflops = r->gbps = 0;
        r->name = name_of(p, text_of(from, "implementation"));
        p->modelled |= json_object_get(from, "modelled_us") != NULL;
        if (!*p->device) p->device = text_of(from, "device");
        if (r->name < 0)
            p->unnamed++;
        else
            p->count++;
    }
}

/* ---- layers ---- */
static const char *const sizes[] = {"m", "rows", "q", "kv", "batch"};
enum { SIZES = sizeof sizes / sizeof *sizes };

typedef struct entry { /* a row, without one of its sizes */
    int size;
    char *text;
    double at;
    const kt_plot_row *row;
} entry;

typedef struct group {
    const entry *first;
    size_t count, values;
} group;

/* " m=512 n=8" without " m=512"; NULL: it has no such size, or there is no memory. */
static char *without(const char *problem, const char *size, double *at)
{
    char key[16], *text = NULL, *end;
    snprintf(key, sizeof key, " %s=", size);
    const char *found = strstr(problem, key);
    if (!found) return NULL;
    *at = strtod(found + strlen(key), &end);
    if (!drawable(*at) || asprintf(&text, "%.*s%s", (int)(found - problem), problem, end) < 0)
        return NULL;
    return text;
}

static int by_text(const void *x, const void *y)
{
    const entry *a = x, *b = y;
    if (a->size != b->size) return a->size - b->size;
    const int order = strcmp(a->text, b->text);
    if (order) return order;
    if (a->at != b->at) return a->at < b->at ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* Those of most values first, then in the order of the results. */
static int by_values(const void *x, const void *y)
{
    const group *a = x, *b = y;
    if (a->values != b->values) return a->values < b->values ? 1 : -1;
    return (a->first > b->first) - (a->first < b->first);
}

static int open_layer(kt_plot_layer *l, const group *g)
{
    *l = (kt_plot_layer){.size = sizes[g->first->size], .text = strdup(g->first->text)};
    if (!l->text) return 0;
    for (size_t i = 0; i < g->count; i++) {
        const entry *e = &g->first[i];
        const int name = e->row->name;
        if (!l->point[name]) l->point[name] = calloc(g->count, sizeof *l->point[name]);
        if (!l->point[name]) return 0;
        kt_plot_point *last = l->point[name] + l->points[name];
        if (l->points[name] && last[-1].at == e->at) {
            if (e->row->us < last[-1].us) last[-1].us = e->row->us, last[-1].row = e->row;
            continue;
        }
        *last = (kt_plot_point){e->at, e->row->us, e->row};
        l->points[name]++;
    }
    return 1;
}

static int find_layers(kt_plot *p)
{
    entry *all = calloc(p->count * SIZES + 1, sizeof *all);
    group *groups = calloc(p->count * SIZES + 1, sizeof *groups);
    size_t n = 0, found = 0;
    int good = all && groups;
    for (size_t i = 0; good && i < p->count; i++)
        for (int s = 0; s < SIZES; s++) {
            all[n] = (entry){.size = s, .row = &p->row[i]};
            all[n].text = without(p->row[i].problem, sizes[s], &all[n].at);
            if (all[n].text) n++;
        }
    if (n) qsort(all, n, sizeof *all, by_text);
    for (size_t i = 0, end; i < n; i = end) {
        group g = {&all[i], 0, 0};
        for (end = i;
             end < n && all[end].size == all[i].size && !strcmp(all[end].text, all[i].text); end++)
            g.values += end == i || all[end].at != all[end - 1].at;
        g.count = end - i;
        if (g.values > 1) groups[found++] = g;
    }
    if (found) qsort(groups, found, sizeof *groups, by_values);
    for (size_t i = 0; good && i < found && i < KT_PLOT_LAYERS; i++)
        good = open_layer(&p->layer[p->layers++], &groups[i]);
    p->layers_left = found > KT_PLOT_LAYERS ? found - KT_PLOT_LAYERS : 0;
    for (size_t i = 0; i < n; i++) free(all[i].text);
    free(all);
    free(groups);
    return good;
}

/* ---- ceilings ---- */
/* The first type of a problem: that of A. */
static void type_of(const kt_plot_row *r, char *out, size_t size)
{
    const char *space = strchr(r->problem, ' ');
    const size_t n = space ? strspn(space + 1, "abcdefghijklmnopqrstuvwxyz0123456789_") : 0;
    snprintf(out, size, "%.*s", (int)n, n ? space + 1 : "");
}

static void raise_to(kt_plot_ceiling *c, const kt_plot_row *r, double value)
{
    if (value <= c->value) return;
    c->value = value;
    c->row = r;
}

/* The most of any row, by type; where bench was to draw, large problems of KT_CEILING are among
 * them. */
static void find_ceilings(kt_plot *p)
{
    for (size_t i = 0; i < p->count; i++) {
        char type[sizeof p->rate[0].type];
        const kt_plot_row *r = &p->row[i];
        int at = 0;
        raise_to(&p->bytes, r, r->gbps);
        if (r->tflops <= 0) continue;
        type_of(r, type, sizeof type);
        while (at < p->rates && strcmp(p->rate[at].type, type)) at++;
        if (at == KT_PLOT_RATES) continue;
        if (at == p->rates) memcpy(p->rate[p->rates++].type, type, sizeof type);
        raise_to(&p->rate[at], r, r->tflops);
    }
}

int kt_plot_open(json_t *rows, kt_plot *p)
{
    *p = (kt_plot){
        .rows = rows, .device = "", .row = calloc(json_array_size(rows) + 1, sizeof *p->row)};
    if (!p->row) return kt_failed(KILN_NO_MEMORY, "--plot");
    add_rows(p);
    find_ceilings(p);
    if (!find_layers(p)) return kt_failed(KILN_NO_MEMORY, "--plot");
    if (p->unnamed)
        kt_message("--plot: %zu rows are left out: more than %d implementations", p->unnamed,
                   KT_PLOT_NAMES);
    if (p->layers_left)
        kt_message("--plot: %zu layers are left out, those with the fewest sizes", p->layers_left);
    return 0;
}

void kt_plot_close(kt_plot *p)
{
    for (int i = 0; i < p->layers; i++) {
        for (int k = 0; k < KT_PLOT_NAMES; k++) free(p->layer[i].point[k]);
        free(p->layer[i].text);
    }
    free(p->row);
    json_decref(p->rows);
}

int kt_plot_write(json_t *rows, const char *name)
{
    kt_plot p;
    kt_output out;
    int code = kt_plot_open(json_incref(rows), &p);
    if (!code && !p.count) {
        kt_message("--plot: there are no rows with a time to draw");
        code = EXIT_FAILED;
    }
    if (!code) code = kt_output_open(name, &out);
    if (!code) {
        kt_plot_draw(&p, out.f);
        code = kt_output_close(&out);
    }
    kt_plot_close(&p);
    return code;
}

/* ---- files ---- */
/* What columns are called, and here; in what unit of ours. */
static const struct column {
    const char *head, *key;
    double times; /* 0: text */
} columns[] = {
    {"set", "set", 0},
    {"problem", "problem", 0},
    {"implementation", "implementation", 0},
    {"note", "note", 0},
    {"us", "us", 1},
    {"modelled us", "modelled_us", 1},
    {"TFLOP/s", "gflops", 1000},
    {"modelled TFLOP/s", "modelled_gflops", 1000},
    {"GB/s", "gbps", 1},
};
enum { COLUMNS = sizeof columns / sizeof *columns, MOST_FIELDS = 64 };

/* Cuts the next record of CSV (RFC 4180) at `s` into fields in place; what is behind it, NULL: a
 * quote does not end, or there are too many. */
static char *cut_record(char *s, char *field[MOST_FIELDS], size_t *n, int *lines)
{
    *n = 0;
    for (*lines = 1; *n < MOST_FIELDS;) {
        const int quoted = *s == '"';
        char *to = s += quoted;
        field[(*n)++] = to;
        for (; *s && (quoted ? *s != '"' || s[1] == '"' : !strchr(",\r\n", *s)); s++) {
            *lines += *s == '\n';
            if (quoted && *s == '"') s++;
            *to++ = *s;
        }
        if (quoted && *s++ != '"') return NULL;
        s += *s == '\r' && s[1] == '\n';
        const char end = *s;
        if (end && !strchr(",\n", end)) return NULL;
        *to = 0;
        if (end) s++;
        if (end != ',') return s;
    }
    return NULL;
}

/* Which column each field is of; 0: those that are needed are not among them. */
static int take_heads(char *const *field, size_t n, const struct column **of)
{
    int have = 0;
    for (size_t i = 0; i < n; i++)
        for (int c = 0; c < COLUMNS; c++)
            if (!strcmp(field[i], columns[c].head)) of[i] = &columns[c], have |= 1 << c;
    return (have & 6) == 6 && have & 0x30; /* problem, implementation, a time */
}

/* Fields that are no number, `-` and what is beyond one, are left out.  NULL: one is not UTF-8. */
static json_t *row_of(char *const *field, size_t n, const struct column *const *of)
{
    json_t *row = json_object();
    for (size_t i = 0; i < n; i++) {
        char *end;
        if (!of[i]) continue;
        if (of[i]->times > 0) {
            const double v = strtod(field[i], &end) * of[i]->times;
            if (end != field[i] && !*end && isfinite(v))
                json_object_set_new(row, of[i]->key, json_real(v));
        } else if (json_object_set_new(row, of[i]->key, json_string(field[i]))) {
            json_decref(row);
            return NULL;
        }
    }
    return row;
}

static json_t *read_csv(char *text, const char *name)
{
    char *field[MOST_FIELDS];
    const struct column *of[MOST_FIELDS] = {NULL};
    const char *why = NULL;
    size_t n;
    int line = 1, lines = 0;
    json_t *rows = json_array();
    for (char *s = text; *s; line += lines) {
        const int heads = s == text;
        s = cut_record(s, field, &n, &lines);
        if (!s)
            why = "not CSV as `kiln bench --csv` writes it";
        else if (!heads)
            why = json_array_append_new(rows, row_of(field, n, of)) ? "not UTF-8" : NULL;
        else if (!take_heads(field, n, of))
            why = "no columns problem, implementation and us: not what `kiln bench --csv` writes";
        if (!why) continue;
        kt_message("%s:%d: %s", name, line, why);
        json_decref(rows);
        return NULL;
    }
    return rows;
}

static char *read_file(const char *name)
{
    FILE *f = fopen(name, "re");
    char *text = NULL;
    size_t size = 0;
    if (f && getdelim(&text, &size, 0, f) < 0 && !ferror(f)) {
        free(text);
        text = strdup("");
    }
    if (!f || ferror(f)) {
        kt_message("%s: %s", name, strerror(errno));
        free(text);
        text = NULL;
    }
    if (f) fclose(f);
    return text;
}

static json_t *read_json(const char *text, const char *name)
{
    json_error_t why;
    json_t *rows = json_loads(text, 0, &why);
    if (!json_is_array(rows)) {
        kt_message("%s:%d: %s", name, rows ? 1 : why.line,
                   rows ? "not what `kiln bench --json` prints: a list of rows" : why.text);
        json_decref(rows);
        return NULL;
    }
    return rows;
}

static int same_file(const char *a, const char *b)
{
    struct stat x, y;
    return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

int kt_plot_from(const kt_options *o)
{
    if (same_file(o->from, o->plot)) {
        kt_message("%s: both what --from reads and what --plot writes", o->plot);
        return EXIT_USAGE;
    }
    char *text = read_file(o->from);
    if (!text) return EXIT_USAGE;
    char *from = text + kr_utf8_mark(text);
    json_t *rows =
        from[strspn(from, " \t\r\n")] == '[' ? read_json(from, o->from) : read_csv(from, o->from);
    free(text);
    if (!rows) return EXIT_USAGE;
    const int code = kt_plot_write(rows, o->plot);
    json_decref(rows);
    return code;
}
