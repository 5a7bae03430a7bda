// SPDX-License-Identifier: MIT
// Tuning files: CSV (RFC 4180) in the manner of PyTorch's TunableOp.
//     Validator,KILN_VERSION,0.1.0
//     Validator,TARGET,gfx942
//     Validator,DEVICE,AMD Instinct MI300X
//     Validator,UNITS,304
//     Validator,REGISTRY,0123456789abcdef
//     "gemm f16,f16,f16 rcr m=64 n=64 k=64",gfx942/gemm/f16_f16_f16/rcr/simt_64x64x16,412.5,0.0003
// A validator that is wrong or missing drops the file.  A row is used only if its instance is
// there, computes that problem and is legal for it; the others are dropped and counted.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

enum { LINE = 4096, FIELDS = 4, MAX_ROWS = 1000000 };

typedef struct reader {
    kiln_ctx *ctx;
    const char *path;
    size_t line, rows, dropped, room;
    char first_dropped[160];
    unsigned validators; /* bits of validator */
    kr_names kernel;     /* positions of the instances that the device runs */
} reader;

static const char *const validator[] = {"KILN_VERSION", "TARGET", "DEVICE", "UNITS", "REGISTRY"};
enum { VALIDATORS = sizeof validator / sizeof *validator };

/* ---- lines and fields ---- */

/* Cuts a line into fields in place; 0: not CSV, or too many. */
static int split(char *line, char *out[FIELDS])
{
    int n = 0;
    char *from = line, *to = line;
    for (;;) {
        if (n == FIELDS) return 0;
        out[n++] = to;
        if (*from == '"') {
            for (from++; *from != '"' || from[1] == '"'; from++) {
                if (!*from) return 0;
                if (*from == '"') from++;
                *to++ = *from;
            }
            from++;
            if (*from && *from != ',') return 0;
        } else {
            while (*from && *from != ',') {
                if (*from == '"') return 0;
                *to++ = *from++;
            }
        }
        const char end = *from++;
        *to++ = 0;
        if (!end) return n;
    }
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
    char units[16], id[20];
    snprintf(units, sizeof units, "%d", dev->units);
    snprintf(id, sizeof id, "%016llx", (unsigned long long)r->ctx->registry_id);
    const char *const expected[VALIDATORS] = {KILN_VERSION, dev->target, dev->name, units, id};
    for (int i = 0; i < VALIDATORS; i++) {
        if (strcmp(name, validator[i]) != 0) continue;
        r->validators |= 1u << i;
        if (strcmp(value, expected[i]) == 0) return true;
        kr_refuse(r->ctx, "%s: made with %s %.80s, this is %s: not used", r->path, name, value,
                  expected[i]);
        return false;
    }
    kr_refuse(r->ctx, "%s:%zu: unknown validator %.40s: not used", r->path, r->line, name);
    return false;
}

/* ---- rows ---- */

static bool index_names(reader *r)
{
    const kiln_ctx *ctx = r->ctx;
    if (!kr_names_make(&r->kernel, ctx->nkernels)) return false;
    for (uint32_t i = 0; i < ctx->nkernels; i++)
        if (kr_kernel_runs(ctx, &ctx->kernel[i]))
            kr_names_add(&r->kernel, kr_kernel_name(&ctx->kernel[i]), i);
    return true;
}

static void drop(reader *r, const char *why)
{
    if (r->dropped++ == 0)
        snprintf(r->first_dropped, sizeof r->first_dropped, "line %zu: %s", r->line, why);
}

static bool keep(reader *r, const kr_tuned *row)
{
    kiln_ctx *ctx = r->ctx;
    if (ctx->ntuned == r->room) {
        const size_t room = r->room ? 2 * r->room : 64;
        kr_tuned *list = realloc(ctx->tuned, room * sizeof *list);
        if (!list) return false;
        ctx->tuned = list;
        r->room = room;
    }
    ctx->tuned[ctx->ntuned++] = *row;
    return true;
}

static void read_row(reader *r, char *field[FIELDS], int n)
{
    kiln_problem p;
    uint64_t hash;
    kr_signature sig;
    kr_view v;
    if (n != FIELDS || !is_number(field[2]) || !is_number(field[3])) {
        drop(r, "not `problem,instance,us,error`");
        return;
    }
    uint32_t at;
    if (!kr_names_find(&r->kernel, field[1], kiln_name_hash(field[1]), &at)) {
        drop(r, "its instance is not there");
        return;
    }
    const kiln_kernel *k = &r->ctx->kernel[at];
    if (kiln_problem_parse(field[0], &p) || kr_op_name(&p, &hash)) {
        drop(r, kiln_error());
        return;
    }
    if (strcmp(p.op, kr_str(k->module, k->op->name)) != 0 ||
        kr_sign(&p, k->module, k->op, hash, &sig) || sig.key != k->row->key ||
        kr_view_make(&p, &sig, k->module, k->op, r->ctx->device, &v) ||
        k->schedule->check(&v.shape, k->row->t)) {
        drop(r, "its instance does not take its problem");
        return;
    }
    kr_tuned row = {
        .key = sig.key, .shape_id = kr_shape_id(&v.shape), .kernel = at, .line = (uint32_t)r->line};
    memcpy(row.size, v.shape.size, sizeof row.size);
    if (!keep(r, &row)) drop(r, "no memory for it");
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
        kr_refuse(r->ctx, "%s: no validator %s before its rows: not used", r->path,
                  validator[missing]);
        return false;
    }
    if (++r->rows > MAX_ROWS) {
        kr_refuse(r->ctx, "%s: more than %d rows: not used", r->path, MAX_ROWS);
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
        r->line++;
        if (len > LINE) {
            kr_refuse(r->ctx, "%s:%zu: longer than %d bytes: not used", r->path, r->line, LINE);
            return false;
        }
        while (len && (line[len - 1] == '\n' || line[len - 1] == '\r')) line[--len] = 0;
        if (len && !read_line(r, line)) return false;
    }
    if (!ferror(f)) return true;
    kr_refuse(r->ctx, "%s: %s: not used", r->path, strerror(errno));
    return false;
}

static int by_key(const void *x, const void *y)
{
    const kr_tuned *a = x, *b = y;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

void kr_tuning_load(kiln_ctx *ctx, const char *path)
{
    reader r = {.ctx = ctx, .path = path};
    FILE *f = fopen(path, "re");
    if (!f) {
        kr_refuse(ctx, "%s: %s: no tuning", path, strerror(errno));
        return;
    }
    if (!index_names(&r)) {
        kr_refuse(ctx, "%s: no memory to read it", path);
    } else if (!read_file(&r, f)) {
        ctx->ntuned = 0;
    } else {
        if (ctx->ntuned) qsort(ctx->tuned, ctx->ntuned, sizeof *ctx->tuned, by_key);
        kr_log("%s: %zu rows used", path, ctx->ntuned);
        if (r.dropped)
            kr_refuse(ctx, "%s: %zu of %zu rows dropped (%s)", path, r.dropped, r.rows,
                      r.first_dropped);
    }
    free(r.kernel.slot);
    fclose(f);
}

/* ---- looking up ---- */

/* How many doublings lie between two shapes, all sizes together. */
static double distance(const kr_tuned *row, const kiln_shape *s)
{
    const int64_t *const size = s->size;
    double d = 0;
    for (int i = 0; i <= KILN_MAX_SIZES; i++) {
        if (row->size[i] == size[i]) continue;
        if (row->size[i] == 0 || size[i] == 0) return INFINITY;
        d += fabs(log2((double)row->size[i] / (double)size[i]));
    }
    return d;
}

const kiln_kernel *kr_tuned_find(const kiln_ctx *ctx, uint64_t key, const kr_view *v, bool *exact)
{
    const double furthest = 1; /* beyond a factor of two, the cost model knows better */
    size_t lo = 0, hi = ctx->ntuned;
    while (lo < hi) {
        const size_t middle = lo + (hi - lo) / 2;
        if (ctx->tuned[middle].key < key)
            lo = middle + 1;
        else
            hi = middle;
    }
    const int64_t id = kr_shape_id(&v->shape);
    const kiln_kernel *best = NULL;
    double least = furthest;
    bool best_same = false;
    for (size_t i = lo; i < ctx->ntuned && ctx->tuned[i].key == key; i++) {
        const kr_tuned *row = &ctx->tuned[i];
        const double d = distance(row, &v->shape);
        const bool same = d == 0 && row->shape_id == id;
        if (d > least || (d == least && best_same && !same)) continue;
        const kiln_kernel *k = &ctx->kernel[row->kernel];
        if (k->schedule->check(&v->shape, k->row->t)) continue;
        best = k;
        least = d;
        best_same = same;
    }
    *exact = best && least == 0;
    return best;
}
