// SPDX-License-Identifier: MIT
// Tuning files: CSV (RFC 4180) in the manner of PyTorch's TunableOp.
//     Validator,KILN_VERSION,0.1.0
//     Validator,TARGET,gfx942
//     Validator,DEVICE,AMD Instinct MI300X
//     Validator,UNITS,304
//     "gemm f16,f16,f16 rcr m=64 n=64
//     k=64",gfx942/gemm/f16_f16_f16/rcr/simt_64x64x16,412.5,0.0003,0123456789abcdef
// A validator that is wrong or missing drops the file.  A row is used only if its instance is
// there, has the content (kr_content) that was measured, computes that problem and is legal for it;
// the others are dropped and counted.
//   Of several files the first that has a shape decides.  Where none is named, those in tuning/
// beside the modules are read; there each device has its own, and others' are passed over.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "utf8_mark.h"
#include "internal.h"

enum { LINE = 4096, FIELDS = 5, MAX_ROWS = 1000000 };

/* A problem of an instance, from a row that was read.  Most rows of it differ in their sizes alone,
 * and are read by comparing the rest. */
typedef struct known {
    kiln_problem p;
    kr_signature sig;
    size_t prefix;      /* bytes of text before the sizes */
    const char *suffix; /* what is behind them, in text */
    char text[];
} known;

/* What all files of a context share. */
typedef struct loader {
    kiln_ctx *ctx;
    bool system;        /* files are of tuning/ folders */
    const char *writes; /* the first of those that are named: KILN_TUNE adds to it */
    size_t room;        /* rows that ctx->tuned has room for */
    kr_names kernel;    /* positions of the instances that the device runs */
    uint64_t *content;  /* of each instance; 0: not asked for yet */
    uint32_t *group;    /* of each instance whose content is known */
    known **known;      /* of each instance; NULL: no row was read, or its sizes are in its key */
} loader;

typedef struct reader {
    loader *all;
    kiln_ctx *ctx;
    const char *path;
    size_t line, rows, dropped, changed, gone;
    char first_dropped[160];
    unsigned validators; /* bits of validator */
    bool passed_over;
} reader;

static const char *const validator[] = {"KILN_VERSION", "TARGET", "DEVICE", "UNITS"};
enum { VALIDATORS = sizeof validator / sizeof *validator };

/* ---- lines and fields ---- */

/* The end of a quoted field that begins at s, its doubled quotes made single; NULL: there is none.
 */
static char *end_of_quoted(char *s)
{
    char *to = s;
    for (;;) {
        char *const quote = strchr(s, '"');
        if (!quote) return NULL;
        if (to != s) memmove(to, s, (size_t)(quote - s));
        to += quote - s;
        s = quote + 1;
        if (*s != '"') break;
        *to++ = *s++;
    }
    if (*s && *s != ',') return NULL;
    *to = 0;
    return s;
}

/* Cuts a line into fields in place; 0: not CSV, or too many. */
static int split(char *line, char *out[FIELDS])
{
    for (int n = 0; n < FIELDS;) {
        const bool quoted = *line == '"';
        out[n++] = line += quoted;
        char *const end = quoted ? end_of_quoted(line) : strchrnul(line, ',');
        if (!end || (!quoted && memchr(line, '"', (size_t)(end - line)))) return 0;
        const bool last = !*end;
        *end = 0;
        if (last) return n;
        line = end + 1;
    }
    return 0;
}

static size_t digits(const char *s)
{
    return strspn(s, "0123456789");
}

/* 0, 12.5, 3e-05: a number as every locale writes it in these files, whatever the program's own
 * has for a decimal point. */
static bool is_number(const char *s)
{
    size_t n = digits(s);
    s += n;
    if (*s == '.') {
        const size_t fraction = digits(++s);
        n += fraction, s += fraction;
    }
    if (n && (*s == 'e' || *s == 'E')) {
        s++;
        s += *s == '-' || *s == '+';
        const size_t exponent = digits(s);
        if (!exponent || exponent > 2) return false;
        s += exponent;
    }
    return n && !*s;
}

/* ---- validators ---- */

static bool check_validator(reader *r, const char *name, const char *value)
{
    const kiln_device_info *dev = &r->ctx->device->info;
    char units[16];
    snprintf(units, sizeof units, "%d", dev->units);
    const char *const expected[VALIDATORS] = {KILN_VERSION, dev->target, dev->name, units};
    for (int i = 0; i < VALIDATORS; i++) {
        if (strcmp(name, validator[i]) != 0) continue;
        r->validators |= 1u << i;
        if (strcmp(value, expected[i]) == 0) return true;
        r->passed_over = r->all->system && i > 0; /* another device's */
        if (r->passed_over)
            kr_log("%s passed over: %s %.80s, this is %s", r->path, name, value, expected[i]);
        else
            kr_refuse(
                r->ctx,
                "%s:%zu: made with %s %.80s, this is %s: not used; run `kiln tune` here, into "
                "another file",
                r->path, r->line, name, value, expected[i]);
        return false;
    }
    if (strcmp(name, "REGISTRY") == 0)
        kr_refuse(r->ctx,
                  "%s:%zu: rows of an earlier kiln, that do not say what their kernels were: not "
                  "used; write it anew with `kiln tune --replace`",
                  r->path, r->line);
    else
        kr_refuse(r->ctx,
                  "%s:%zu: unknown validator %.40s: not used; write it anew with `kiln tune "
                  "--replace`",
                  r->path, r->line, name);
    return false;
}

/* ---- rows ---- */

static bool open_loader(loader *l, kiln_ctx *ctx)
{
    *l = (loader){.ctx = ctx,
                  .content = calloc(ctx->nkernels + 1, sizeof *l->content),
                  .group = calloc(ctx->nkernels + 1, sizeof *l->group),
                  .known = calloc(ctx->nkernels + 1, sizeof *l->known)};
    if (!l->content || !l->group || !l->known || !kr_names_make(&l->kernel, ctx->nkernels))
        return false;
    for (uint32_t i = 0; i < ctx->nkernels; i++)
        if (kr_kernel_runs(ctx, &ctx->kernel[i]))
            kr_names_add(&l->kernel, kr_kernel_name(&ctx->kernel[i]), i);
    return true;
}

static void drop(reader *r, const char *why)
{
    if (r->dropped++ == 0)
        snprintf(r->first_dropped, sizeof r->first_dropped, "line %zu: %s", r->line, why);
}

static bool keep(loader *l, const kr_tuned *row)
{
    kiln_ctx *ctx = l->ctx;
    if (ctx->ntuned == l->room) {
        const size_t room = l->room ? 2 * l->room : 64;
        kr_tuned *list = realloc(ctx->tuned, room * sizeof *list);
        if (!list) return false;
        ctx->tuned = list;
        l->room = room;
    }
    ctx->tuned[ctx->ntuned++] = *row;
    return true;
}

/* Sixteen digits of hex. */
static bool read_content(const char *s, uint64_t *out)
{
    *out = 0;
    if (strspn(s, "0123456789abcdef") != 16 || s[16]) return false;
    for (; *s; s++) *out = *out << 4 | (uint64_t)(*s <= '9' ? *s - '0' : *s - 'a' + 10);
    return true;
}

static bool has_content(loader *l, uint32_t kernel, uint64_t content)
{
    if (!l->content[kernel]) {
        const kiln_kernel *k = &l->ctx->kernel[kernel];
        l->content[kernel] = kr_content(k);
        l->group[kernel] = (uint32_t)(kr_group_find(l->ctx, k->row->key) - l->ctx->group);
    }
    return l->content[kernel] == content;
}

/* NAME=NUMBER for each size of the op in the family's order; where that ends, NULL: it is not so.
 */
static const char *read_sizes(const kiln_kernel *k, const char *s, kiln_problem *p)
{
    const kiln_family *f = kr_family(k->module, k->op);
    const char *between = "";
    for (int i = 0; i < f->nsizes; i++) {
        const int at = KILN_POSITION(i);
        const char *name = kr_str(k->module, f->size[i]);
        const size_t len = strlen(name), digits_from = len + 1;
        if (!(k->op->sizes >> at & 1)) continue;
        if (*between && *s++ != *between) return NULL;
        if (strncmp(s, name, len) != 0 || s[len] != '=') return NULL;
        int64_t v = 0;
        size_t n = digits_from;
        for (; s[n] >= '0' && s[n] <= '9' && n < digits_from + 10; n++) v = 10 * v + (s[n] - '0');
        if (n == digits_from || v > INT32_MAX) return NULL;
        *kr_size(p, at) = v;
        s += n;
        between = " ";
    }
    return !*s || *s == ' ' ? s : NULL;
}

/* The first problem of an instance: what its text has beside sizes is kept. */
static void learn(loader *l, uint32_t kernel, const char *text, const kiln_problem *p,
                  const kr_signature *sig)
{
    const kiln_kernel *k = &l->ctx->kernel[kernel];
    const char *equals = strchr(text, '=');
    if (!equals || kr_family(k->module, k->op)->nfixed) return;
    while (equals > text && equals[-1] != ' ') equals--;
    known *to = malloc(sizeof *to + strlen(text) + 1);
    if (!to) return;
    to->p = *p;
    to->sig = *sig;
    to->prefix = (size_t)(equals - text);
    strcpy(to->text, text);
    to->suffix = read_sizes(k, to->text + to->prefix, &to->p);
    if (to->suffix)
        l->known[kernel] = to;
    else
        free(to);
}

static const known *recall(const loader *l, uint32_t kernel, const char *text)
{
    known *const of = l->known[kernel];
    if (!of || strncmp(text, of->text, of->prefix) != 0) return NULL;
    const char *end = read_sizes(&l->ctx->kernel[kernel], text + of->prefix, &of->p);
    return end && strcmp(end, of->suffix) == 0 ? of : NULL;
}

/* The problem's sizes and all that follows from them; false: the row is dropped. */
static bool view_row(reader *r, const char *text, uint32_t kernel, kr_view *v)
{
    kiln_problem p;
    uint64_t hash;
    kr_signature sig;
    const kiln_kernel *k = &r->ctx->kernel[kernel];
    const known *of = recall(r->all, kernel, text);
    if (!of && (kiln_problem_parse(text, &p) || kr_op_name(&p, &hash))) {
        drop(r, kiln_error());
        return false;
    }
    if ((!of && (strcmp(p.op, kr_str(k->module, k->op->name)) != 0 ||
                 kr_sign(&p, k->module, k->op, hash, &sig) || sig.key != k->row->key)) ||
        kr_view_make(of ? &of->p : &p, of ? &of->sig : &sig, k->module, k->op, r->ctx->device, v) ||
        k->schedule->check(&v->shape, k->row->t)) {
        drop(r, "its instance does not take its problem");
        return false;
    }
    if (!r->all->known[kernel]) learn(r->all, kernel, text, &p, &sig);
    return true;
}

static void read_row(reader *r, char *field[FIELDS], int n)
{
    uint64_t content;
    kr_view v;
    if (n != FIELDS || !is_number(field[2]) || !is_number(field[3]) ||
        !read_content(field[4], &content)) {
        drop(r, "not `problem,instance,us,error,content`");
        return;
    }
    uint32_t at;
    if (!kr_names_find(&r->all->kernel, field[1], kiln_name_hash(field[1]), &at)) {
        r->gone++;
        drop(r, "its instance is not there");
        return;
    }
    if (!has_content(r->all, at, content)) {
        r->changed++;
        drop(r, "its kernel has changed");
        return;
    }
    if (!view_row(r, field[0], at, &v)) return;
    kr_tuned row = {.shape_id = kr_shape_id(&v.shape),
                    .group = r->all->group[at],
                    .kernel = at,
                    .order = (uint32_t)r->ctx->ntuned};
    for (int i = 0; i <= KILN_MAX_SIZES; i++) row.size[i] = (int32_t)v.shape.size[i];
    if (!keep(r->all, &row)) drop(r, "no memory for it");
}

/* false: the whole file is dropped. */
static bool read_line(reader *r, char *line)
{
    char *field[FIELDS];
    const int n = split(line, field);
    if (n == 3 && strcmp(field[0], "Validator") == 0) return check_validator(r, field[1], field[2]);
    if (r->validators != (1u << VALIDATORS) - 1) {
        int missing = 0;
        while (r->validators >> missing & 1) missing++;
        kr_refuse(
            r->ctx,
            "%s:%zu: no validator %s before its rows: not used; write it anew with `kiln tune "
            "--replace`",
            r->path, r->line, validator[missing]);
        return false;
    }
    if (++r->rows > MAX_ROWS) {
        kr_refuse(r->ctx, "%s:%zu: more than %d rows: not used; split it into several files",
                  r->path, r->line, MAX_ROWS);
        return false;
    }
    read_row(r, field, n);
    return true;
}

static bool read_file(reader *r, FILE *f)
{
    char line[LINE + 2];
    while (fgets(line, sizeof line, f)) {
        size_t len = strlen(line);
        if (r->line++ == 0 && kr_utf8_mark(line)) memmove(line, line + 3, (len -= 3) + 1);
        if (len > LINE) {
            kr_refuse(r->ctx, "%s:%zu: longer than %d bytes: not used; write it with `kiln tune`",
                      r->path, r->line, LINE);
            return false;
        }
        while (len && (line[len - 1] == '\n' || line[len - 1] == '\r')) line[--len] = 0;
        if (len && !read_line(r, line)) return false;
    }
    if (!ferror(f)) return true;
    kr_refuse(r->ctx, "%s: %s: not used", r->path, strerror(errno));
    return false;
}

static void put_dropped(reader *r)
{
    char counts[120] = "";
    if (r->changed || r->gone)
        snprintf(counts, sizeof counts,
                 "; kernels that have changed: %zu, that are gone: %zu; tune their problems again",
                 r->changed, r->gone);
    kr_refuse(r->ctx, "%s: %zu of %zu rows dropped (%s)%s", r->path, r->dropped, r->rows,
              r->first_dropped, counts);
}

static void load_file(loader *l, const char *path)
{
    reader r = {.all = l, .ctx = l->ctx, .path = path};
    const size_t before = l->ctx->ntuned;
    FILE *f = fopen(path, "re");
    if (!f && errno == ENOENT && l->ctx->first && l->writes == path) {
        kr_log("%s: not there yet", path);
        return;
    }
    if (!f) {
        kr_refuse(l->ctx, "%s: %s: no tuning from it; name files that `kiln tune` wrote", path,
                  strerror(errno));
        return;
    }
    if (!read_file(&r, f)) {
        l->ctx->ntuned = before;
    } else {
        kr_log("%s: %zu rows used", path, l->ctx->ntuned - before);
        if (r.dropped) put_dropped(&r);
    }
    fclose(f);
}

/* ---- which files ---- */

typedef struct paths {
    char **path;
    size_t n;
} paths;

static bool add_path(paths *p, char *path)
{
    char **list = path ? realloc(p->path, (p->n + 1) * sizeof *list) : NULL;
    if (!list) {
        free(path);
        return false;
    }
    p->path = list;
    list[p->n++] = path;
    return true;
}

static bool list_named(paths *p, const char *names)
{
    for (const char *from = names; *from;) {
        const size_t n = strcspn(from, ":");
        if (n && !add_path(p, strndup(from, n))) return false;
        from += n + (from[n] == ':');
    }
    return true;
}

static int is_tuning_name(const struct dirent *entry)
{
    const size_t len = strlen(entry->d_name);
    return entry->d_name[0] != '.' && len > 4 && strcmp(entry->d_name + len - 4, ".csv") == 0;
}

/* FOLDER/tuning/NAME.csv, by name. */
static bool list_folder(paths *p, const char *folder)
{
    char *tuning, *path;
    struct dirent **entry;
    if (asprintf(&tuning, "%s/tuning", folder) < 0) return false;
    const int count = scandir(tuning, &entry, is_tuning_name, alphasort);
    bool good = true;
    for (int i = 0; i < count; i++) {
        if (good)
            good = asprintf(&path, "%s/%s", tuning, entry[i]->d_name) >= 0 && add_path(p, path);
        free(entry[i]);
    }
    if (count >= 0) free(entry);
    free(tuning);
    return good;
}

/* Of each folder that modules are in, in their order. */
static bool list_system(paths *p, const kiln_ctx *ctx)
{
    char *before = NULL;
    bool good = true;
    for (size_t i = 0; i < ctx->nmodules && good; i++) {
        char *folder = strdup(ctx->module[i]->path);
        if (!(good = folder != NULL)) break;
        *strrchr(folder, '/') = 0;
        if (!before || strcmp(folder, before) != 0) good = list_folder(p, folder);
        free(before);
        before = folder;
    }
    free(before);
    return good;
}

/* The last file first: what is read later counts more, as rows of one file do. */
void kr_tuning_load(kiln_ctx *ctx, const char *names)
{
    paths p = {NULL, 0};
    loader l = {.content = NULL};
    const bool listed = names ? list_named(&p, names) : list_system(&p, ctx);
    if (listed && !p.n) return;
    if (!listed || !open_loader(&l, ctx)) {
        kr_refuse(ctx, "%s: no memory to read it", names ? names : "tuning");
    } else {
        l.system = !names;
        l.writes = names ? p.path[0] : NULL;
        for (size_t i = p.n; i-- > 0;) load_file(&l, p.path[i]);
        if (!kr_tuned_sort(ctx)) kr_refuse(ctx, "%s: no memory for its rows", p.path[0]);
    }
    for (size_t i = 0; i < p.n; i++) free(p.path[i]);
    free(p.path);
    free(l.kernel.slot);
    for (size_t i = 0; l.known && i < ctx->nkernels; i++) free(l.known[i]);
    free(l.content);
    free(l.group);
    free(l.known);
}

void kr_tuning_open(kiln_ctx *ctx, const kiln_config *config)
{
    if (config && config->tuning) {
        if (*config->tuning) kr_tuning_load(ctx, config->tuning);
        return;
    }
    const char *names = getenv("KILN_TUNING");
    kr_tuning_load(ctx, names && *names ? names : NULL);
}
