// SPDX-License-Identifier: MIT
// What the commands share: messages, opening a device, selecting instances, tables.
#define _GNU_SOURCE
#include "command.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void kt_message(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    fputs("kiln: ", stderr);
    vfprintf(stderr, format, ap);
    fputc('\n', stderr);
    va_end(ap);
}

int kt_failed(kiln_status status, const char *what)
{
    const char *why = kiln_error();
    kt_message("%s: %s", what, why && *why ? why : kiln_status_name(status));
    switch (status) {
    case KILN_NO_DEVICE:
        return EXIT_NO_DEVICE;
    case KILN_IO:
        return EXIT_USAGE;
    case KILN_OK:
    case KILN_INVALID:
    case KILN_NOT_FOUND:
    case KILN_NOT_SUPPORTED:
    case KILN_NO_MEMORY:
    case KILN_BAD_MODULE:
    case KILN_WORKSPACE:
    case KILN_DRIVER:
    case KILN_TRUNCATED:
        break;
    }
    return EXIT_FAILED;
}

int kt_open(const kt_options *o, const char *fallback, kiln_ctx **ctx)
{
    const kiln_config config = {.struct_size = sizeof config,
                                .device = o->device ? o->device : fallback,
                                .module_path = o->modules,
                                .only_module_path = o->modules != NULL,
                                .threads = o->threads};
    const kiln_status status = kiln_open(ctx, &config);
    if (status) { /* a device that cannot be is wrong usage */
        const int code =
            kt_failed(status, config.device ? config.device : "no device can be opened");
        return status == KILN_INVALID ? EXIT_USAGE : code;
    }
    const char *why;
    for (size_t i = 0; (why = kiln_refused_at(*ctx, i)); i++) kt_message("refused: %s", why);
    return 0;
}

int kt_problem(const char *text, kiln_problem *p)
{
    if (!kiln_problem_parse(text, p)) return 0;
    kt_message("'%s': %s", text, kiln_error());
    return EXIT_USAGE;
}

const char *kt_problem_text(const kiln_problem *p, char *text, size_t size)
{
    size_t len = size;
    if (kiln_problem_format(p, text, &len)) snprintf(text, size, "%s", p->op);
    return text;
}

kiln_status kt_describe(const kiln_kernel *k, kiln_kernel_info *info)
{
    memset(info, 0, sizeof *info);
    info->struct_size = sizeof *info;
    return kiln_kernel_describe(k, info);
}

static int is(const char *wanted, const char *name)
{
    return !wanted || !strcmp(wanted, name);
}

int kt_selected(const kt_options *o, const kiln_kernel_info *k)
{
    const kiln_dtype types[] = {k->a, k->b, k->e};
    int typed = !o->dtype;
    for (int i = 0; i < 3 && !typed; i++) typed = !strcmp(o->dtype, kiln_dtype_name(types[i]));
    return typed && is(o->op, k->op) && is(o->target, k->target) && is(o->schedule, k->schedule) &&
           is(o->instance, k->name);
}

static int by_name(const void *x, const void *y)
{
    return strcmp(((const kt_instance *)x)->info.name, ((const kt_instance *)y)->info.name);
}

size_t kt_select(const kt_options *o, kiln_ctx *ctx, kt_instance **found)
{
    const kiln_kernel *kernel;
    kiln_kernel_info info;
    size_t n = 0, room = 0;
    *found = NULL;
    for (size_t i = 0; !kiln_kernel_at(ctx, i, &kernel); i++) {
        if (kt_describe(kernel, &info) || !kt_selected(o, &info)) continue;
        if (n == room) {
            room = room ? 2 * room : 256;
            kt_instance *more = realloc(*found, room * sizeof *more);
            if (!more) break;
            *found = more;
        }
        (*found)[n++] = (kt_instance){kernel, info};
    }
    if (n) qsort(*found, n, sizeof **found, by_name);
    return n;
}

static size_t count(const kt_options *o, kiln_ctx *ctx)
{
    kt_instance *found;
    const size_t n = kt_select(o, ctx, &found);
    free(found);
    return n;
}

void kt_none(const kt_options *o, kiln_ctx *ctx, const char *otherwise)
{
    const struct {
        const char *name, *value;
        kt_options alone;
    } filter[] = {{"op", o->op, {.op = o->op}},
                  {"target", o->target, {.target = o->target}},
                  {"schedule", o->schedule, {.schedule = o->schedule}},
                  {"dtype", o->dtype, {.dtype = o->dtype}},
                  {"instance", o->instance, {.instance = o->instance}}};
    const kt_options all = {0};
    if (!count(&all, ctx)) {
        kt_message("there are no instances: run `make instances`, or name folders of modules in "
                   "KILN_MODULE_PATH");
        return;
    }
    for (size_t i = 0; i < sizeof filter / sizeof *filter; i++) {
        if (!filter[i].value || count(&filter[i].alone, ctx)) continue;
        kt_message("no instance has --%s %s; `kiln list` shows all", filter[i].name,
                   filter[i].value);
        return;
    }
    kt_message("%s", otherwise);
}

const char *kt_types(const kiln_kernel_info *k, char text[64])
{
    snprintf(text, 64, "%s,%s,%s", kiln_dtype_name(k->a), kiln_dtype_name(k->b),
             kiln_dtype_name(k->e));
    return text;
}

const char *kt_layouts(const kiln_kernel_info *k, char text[4])
{
    static const char letter[] = {[KILN_LAYOUT_NONE] = '-',
#define X(id, c, doc) [id] = c,
                                  KILN_LAYOUTS(X)
#undef X
    };
    text[0] = letter[k->layout_a], text[1] = letter[k->layout_b], text[2] = letter[k->layout_e],
    text[3] = 0;
    return text;
}

static int colored(FILE *f)
{
    const char *no = getenv("NO_COLOR");
    return !(no && *no) && isatty(fileno(f));
}

const char *kt_color_on(FILE *f, kt_color c)
{
    static const char *const code[] = {
        [KT_PLAIN] = "", [KT_RED] = "\033[31m", [KT_GREEN] = "\033[32m", [KT_DIM] = "\033[2m"};
    return colored(f) ? code[c] : "";
}

const char *kt_color_off(FILE *f)
{
    return colored(f) ? "\033[0m" : "";
}

/* ---- tables ---- */
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
