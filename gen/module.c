// SPDX-License-Identifier: MIT
// Writes module.c: the constant table of one target's instances (abi/kiln_module.h), their
// families' signatures, its schedules' functions and the blob of code objects.  What is known only
// after compiling comes from code.h, which `kiln-gen --pack` writes.
#define _GNU_SOURCE /* qsort_r */
#include "back.h"
#include "../abi/kiln_version.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* Deduplicated strings; offsets are what rows hold. */
typedef struct pool {
    kg_buf text;
    uint32_t *slot; /* open addressing: offset + 1 */
    size_t used, cap;
} pool;

typedef struct writer {
    kg_ctx *cx;
    const kg_slice *slice;
    kg_buf *out;
    pool pool;
    const kg_family **family;
    size_t nfamilies;
    const kg_op **op;
    size_t nops;
    const kg_schedule **schedule;
    size_t nschedules;
    size_t *row;   /* rows in (key, name) order: positions in the slice */
    uint64_t *key; /* of each instance of the slice */
    XXH3_state_t id;
} writer;

/* ---- strings ---- */
static void grow(kg_arena *arena, pool *p)
{
    size_t cap = p->cap ? 2 * p->cap : 1024;
    uint32_t *slot = kg_alloc(arena, cap * sizeof *slot);
    for (size_t i = 0; i < p->cap; i++) {
        if (!p->slot[i]) continue;
        const char *s = p->text.p + p->slot[i] - 1;
        size_t at = XXH3_64bits(s, strlen(s)) & (cap - 1);
        while (slot[at]) at = (at + 1) & (cap - 1);
        slot[at] = p->slot[i];
    }
    p->slot = slot;
    p->cap = cap;
}

static kiln_str str(writer *w, const char *s)
{
    pool *p = &w->pool;
    size_t len = strlen(s);
    if (!p->text.len) kg_put(&p->text, "", 1); /* offset 0 is "" */
    if (!len) return 0;
    if (2 * p->used >= p->cap) grow(w->cx->arena, p);
    size_t at = XXH3_64bits(s, len) & (p->cap - 1);
    for (; p->slot[at]; at = (at + 1) & (p->cap - 1))
        if (strcmp(p->text.p + p->slot[at] - 1, s) == 0) return p->slot[at] - 1;
    kiln_str offset = (kiln_str)p->text.len;
    kg_put(&p->text, s, len + 1);
    p->slot[at] = offset + 1;
    p->used++;
    return offset;
}

static void put_strings(writer *w)
{
    const pool *p = &w->pool;
    kg_puts(w->out, "\nstatic const char strings[] =");
    for (size_t i = 0; i < p->text.len;) {
        size_t len = strlen(p->text.p + i);
        kg_puts(w->out, "\n    ");
        kg_put_quoted(w->out, p->text.p + i, len);
        w->out->len--; /* the closing quote: the 0 byte belongs to the text */
        kg_puts(w->out, "\\0\"");
        i += len + 1;
    }
    kg_puts(w->out, ";\n");
}

/* ---- hashes ---- */
static void feed(XXH3_state_t *h, const void *p, size_t len)
{
    XXH3_64bits_update(h, &(uint64_t){len}, sizeof(uint64_t));
    XXH3_64bits_update(h, p, len);
}

static void feed_text(XXH3_state_t *h, const char *s)
{
    feed(h, s ? s : "", s ? strlen(s) : 0);
}

static void feed_number(XXH3_state_t *h, uint64_t v)
{
    XXH3_64bits_update(h, &v, sizeof v);
}

static void feed_tensor(XXH3_state_t *h, const kg_tensor *t)
{
    feed_text(h, t->name);
    feed(h,
         (const uint8_t[]){t->at, t->arg, t->own, t->kind, t->type, t->layout, t->rows, t->cols,
                           t->planes, t->out, t->batches, t->beyond, t->index, t->within},
         14);
    feed(h, (const uint16_t[]){t->row_block, t->col_block, t->result, t->page},
         4 * sizeof(uint16_t));
}

/* What an op means: not where it is written, nor which types and layouts it is compiled for. */
static uint64_t op_hash(kg_arena *arena, const kg_op *op)
{
    XXH3_state_t h;
    XXH3_64bits_reset(&h);
    feed_text(&h, op->family->name);
    feed_text(&h, op->name);
    feed_number(&h, op->nsig_types);
    for (size_t i = 0; i < op->nsig_types; i++) feed_text(&h, op->type_name[i]);
    feed_number(&h, op->ntensors);
    for (size_t i = 0; i < op->ntensors; i++) feed_tensor(&h, &op->tensor[i]);
    feed_number(&h, op->nscalars);
    for (size_t i = 0; i < op->nscalars; i++) feed_text(&h, op->scalar[i]);
    feed_number(&h, op->products);
    for (size_t i = 0; i < op->products; i++) feed_text(&h, op->b_name[i]);
    for (size_t i = 0; i < op->family->nfunctions; i++)
        for (size_t k = 0; k < kg_function_products(op, i); k++) {
            const kg_expr *e = kg_function_of(op, i, k);
            feed(&h, e->count ? (const void *)e->node : "", e->count * sizeof *e->node);
        }
    feed_text(&h, op->code);
    for (size_t i = 0; i < op->family->noptions; i++) feed_text(&h, kg_option_text(arena, op, i));
    for (size_t i = 0; i < op->nlayouts && op->family->nfixed; i++)
        feed(&h, op->layouts[i].fixed, sizeof op->layouts[i].fixed);
    return XXH3_64bits_digest(&h);
}

/* ---- ops and expressions ---- */
static void put_float(kg_buf *b, float x)
{
    if (isnan(x))
        kg_puts(b, "__builtin_nanf(\"\")");
    else if (isinf(x))
        kg_puts(b, x < 0 ? "-__builtin_inff()" : "__builtin_inff()");
    else if (x == floorf(x) && fabsf(x) < 1e6f && !(x == 0 && signbit(x)))
        kg_putf(b, "%.0f", (double)x);
    else
        kg_putf(b, "%af", (double)x);
}

static const char *const dtype_name[] = {"KILN_DTYPE_NONE",
#define X(name, id, ...) #id,
                                         KILN_DTYPES(X)
#undef X
};
static const char *const layout_name[] = {"KILN_LAYOUT_NONE",
#define X(id, ...) #id,
                                          KILN_LAYOUTS(X)
#undef X
};
static const char *const node_name[] = {
#define X(name, id, ...) #id,
    KILN_EXPR_OPS(X)
#undef X
};

static kiln_expr_ref put_nodes(writer *w, const kg_expr *e, uint32_t *n)
{
    for (size_t i = 0; i < e->count; i++) {
        const kiln_xnode *x = &e->node[i];
        kg_putf(w->out, "    { %s, %u, { %u, %u, %u }, ", node_name[x->op], x->index, x->arg[0],
                x->arg[1], x->arg[2]);
        put_float(w->out, x->value);
        kg_puts(w->out, " },\n");
    }
    kiln_expr_ref r = {e->count ? *n : 0, (uint32_t)e->count};
    *n += (uint32_t)e->count;
    return r;
}

static void put_tensor(writer *w, const kg_tensor *t)
{
    kg_putf(w->out,
            "        { %u, %u, %u, 0x%02x, %u, 0x%02x, 0x%02x, 0x%02x, 0x%02x, %u, %u, %d, ",
            str(w, t->name), t->at, t->arg, t->own, t->kind, t->type, t->layout, t->rows, t->cols,
            t->pointer, t->pitch, t->out);
    kg_putf(w->out, "0x%02x, %u, %u, %u, %u, %u, %u, %u, %u },\n", t->planes, t->row_block,
            t->col_block, t->result, t->page, t->batches, t->beyond, t->index, t->within);
}

static void put_strs(writer *w, const char *field, const char *const *text, size_t n)
{
    if (n) kg_putf(w->out, "      .%s = {", field);
    for (size_t i = 0; i < n; i++) kg_putf(w->out, " %u,", str(w, text[i]));
    if (n) kg_puts(w->out, " },\n");
}

static size_t position(const void *const *list, size_t n, const void *what)
{
    size_t i = 0;
    while (i < n && list[i] != what) i++;
    return i;
}

static uint32_t shape_numbers(const kg_family *f, size_t shapes)
{
    return (uint32_t)shapes * kiln_shape_step((unsigned)f->nsizes);
}

static uint32_t op_numbers(const kg_op *op)
{
    const size_t rows = op->family->nfixed ? op->nlayouts : 0;
    return shape_numbers(op->family, op->nshapes) + (uint32_t)(rows * KILN_MAX_FIXED);
}

/* What an op chose of what its family offers; the rows of fixed sizes stand behind its shapes. */
static void put_choices(writer *w, const kg_op *op, uint32_t first_fixed)
{
    const kg_family *f = op->family;
    const char *word[KILN_MAX_OPTIONS];
    unsigned sizes = 0;
    for (size_t i = 0; i < f->nsizes; i++)
        sizes |= (unsigned)kg_has_size(op, i) << KILN_POSITION(i);
    for (size_t i = 0; i < f->noptions; i++) word[i] = kg_option_text(w->cx->arena, op, i);
    put_strs(w, "option", word, f->noptions);
    kg_putf(w->out, "      .sizes = 0x%03x, .batch = %u, .first_fixed = %u, .nfixed = %zu,\n",
            sizes, str(w, kg_batch_name(op)), first_fixed, f->nfixed ? op->nlayouts : 0);
}

/* Where the nodes of an op's functions are, for each product that has its own. */
typedef struct refs {
    kiln_expr_ref of[KILN_MAX_B][KILN_MAX_FUNCTIONS];
} refs;

static void put_refs(kg_buf *b, const kiln_expr_ref *ref, size_t n)
{
    for (size_t i = 0; i < n; i++) kg_putf(b, " { %u, %u },", ref[i].first, ref[i].count);
}

static void put_op(writer *w, const kg_op *op, const refs *ref, uint32_t first_shape)
{
    kg_buf *b = w->out;
    uint64_t hash = op_hash(w->cx->arena, op);
    kiln_str name = str(w, op->name), file = str(w, kg_shown(w->cx, op->pos.file));
    feed_number(&w->id, hash);
    kg_putf(b,
            "    { .hash = 0x%016llxull, .name = %u, .file = %u, .line = %d, .family = %zu, "
            ".ntensors = %zu,\n      .nscalars = %zu, .products = %zu, .ntypes = %zu, .uses_at = "
            "%d,\n",
            (unsigned long long)hash, name, file, op->pos.line,
            position((const void *const *)w->family, w->nfamilies, op->family), op->ntensors,
            op->nscalars, op->products, op->nsig_types, op->uses_at);
    put_strs(w, "type", op->type_name, op->nsig_types);
    kg_puts(b, "      .tensor = {\n");
    for (size_t i = 0; i < op->ntensors; i++) put_tensor(w, &op->tensor[i]);
    kg_puts(b, "      },\n");
    put_strs(w, "scalar", op->scalar, op->nscalars);
    put_choices(w, op, first_shape + shape_numbers(op->family, op->nshapes));
    kg_puts(b, "      .function = {");
    put_refs(b, ref->of[0], op->family->nfunctions);
    for (size_t k = 1; k < op->products; k++) {
        kg_puts(b, k == 1 ? " },\n      .more = { {" : " }, {");
        put_refs(b, ref->of[k], op->family->nfunctions);
        if (k + 1 == op->products) kg_puts(b, " }");
    }
    kg_puts(b, " }, .rtol = ");
    put_float(b, op->rtol);
    kg_putf(b, ",\n      .first_shape = %u, .shapes = %zu },\n", first_shape, op->nshapes);
}

static void put_numbers(writer *w, const int64_t *v, size_t n, uint32_t *total)
{
    if (!*total) kg_puts(w->out, "\nstatic const int64_t shapes[] = {\n");
    for (size_t k = 0; k < n; k++) {
        kg_putf(w->out, "%s%lld,", k ? " " : "    ", (long long)v[k]);
        feed_number(&w->id, (uint64_t)v[k]);
    }
    kg_puts(w->out, "\n");
    *total += (uint32_t)n;
}

static void put_shape_list(writer *w, const kg_family *f, const int64_t (*shape)[KILN_MAX_SIZES],
                           size_t n, uint32_t *total)
{
    for (size_t i = 0; i < n; i++)
        put_numbers(w, shape[i], kiln_shape_step((unsigned)f->nsizes), total);
}

/* The families', then the ops', in their orders. */
static void put_shapes(writer *w, uint32_t *n)
{
    *n = 0;
    for (size_t i = 0; i < w->nfamilies; i++)
        put_shape_list(w, w->family[i], (const int64_t(*)[KILN_MAX_SIZES])w->family[i]->shape,
                       w->family[i]->nshapes, n);
    for (size_t i = 0; i < w->nops; i++) {
        const kg_op *op = w->op[i];
        put_shape_list(w, op->family, (const int64_t(*)[KILN_MAX_SIZES])op->shape, op->nshapes, n);
        for (size_t k = 0; k < op->nlayouts && op->family->nfixed; k++)
            put_numbers(w, op->layouts[k].fixed, KILN_MAX_FIXED, n);
    }
    if (*n) kg_puts(w->out, "};\n");
}

static void put_ops(writer *w, uint32_t *nnodes)
{
    refs *ref = kg_alloc(w->cx->arena, (w->nops + 1) * sizeof *ref);
    *nnodes = 0;
    kg_puts(w->out, "\nstatic const kiln_xnode nodes[] = {\n");
    for (size_t i = 0; i < w->nops; i++)
        for (size_t k = 0; k < w->op[i]->family->nfunctions; k++)
            for (size_t q = 0; q < kg_function_products(w->op[i], k); q++)
                ref[i].of[q][k] = put_nodes(w, kg_function_of(w->op[i], k, q), nnodes);
    kg_puts(w->out, "};\n\nstatic const kiln_op_row ops[] = {\n");
    uint32_t shape = 0;
    for (size_t i = 0; i < w->nfamilies; i++)
        shape += shape_numbers(w->family[i], w->family[i]->nshapes);
    for (size_t i = 0; i < w->nops; i++) {
        put_op(w, w->op[i], &ref[i], shape);
        shape += op_numbers(w->op[i]);
    }
    kg_puts(w->out, "};\n");
}

/* ---- families ---- */
static void put_type_rules(writer *w, const kg_family *f)
{
    kg_buf *b = w->out;
    if (f->ntypes) kg_puts(b, "      .type = {\n");
    for (size_t i = 0; i < f->ntypes; i++) {
        const kg_type_rule *t = &f->type[i];
        kg_putf(b, "        { %u, %s, %s, 0x%02x, 0x%02x },\n", str(w, t->name),
                dtype_name[t->integer], dtype_name[t->real], t->from, t->tensor);
    }
    if (f->ntypes) kg_puts(b, "      },\n");
}

static void put_bytes(kg_buf *b, const char *field, const uint8_t *v, size_t n)
{
    kg_putf(b, " .%s = {", field);
    for (size_t i = 0; i < n; i++) kg_putf(b, " %u,", v[i]);
    kg_puts(b, n ? " }," : " 0 },");
}

static void put_family(writer *w, const kg_family *f, uint32_t first_shape)
{
    kg_buf *b = w->out;
    const char *own[KILN_MAX_OWN], *option[KILN_MAX_OPTIONS], *function[KILN_MAX_FUNCTIONS];
    uint8_t at[KILN_MAX_OWN];
    for (size_t i = 0; i < f->nown; i++) own[i] = f->own[i].name, at[i] = (uint8_t)i;
    feed_text(&w->id, f->name);
    feed_number(&w->id, f->args_size);
    kg_putf(b, "    { .name = %u, .prefix = %u, .example = %u,\n", str(w, f->name),
            str(w, f->prefix), str(w, f->example));
    put_strs(w, "size", f->size, f->nsizes);
    put_strs(w, "own", own, f->nown);
    for (size_t i = 0; i < f->noptions; i++) option[i] = f->option[i].name;
    put_strs(w, "option", option, f->noptions);
    for (size_t i = 0; i < f->nfunctions; i++) function[i] = f->function[i].name;
    put_strs(w, "function", function, f->nfunctions);
    put_strs(w, "place", f->place, f->nplaces);
    put_type_rules(w, f);
    kg_putf(
        b,
        "      .nsizes = %zu, .nown = %zu, .ntypes = %zu, .nlayouts = %zu, .rows = 0x%02x, "
        ".cols = 0x%02x,\n"
        "      .empty = 0x%02x, .independent = 0x%02x, .summed = 0x%02x, .planes = 0x%02x, .groups "
        "= 0x%02x,\n"
        "      .noptions = %zu, .nfixed = %zu, .computes = %d,",
        f->nsizes, f->nown, f->ntypes, f->nlayouts, f->rows, f->cols, f->empty, f->independent,
        f->summed, f->planes, f->groups, f->noptions, f->nfixed, f->ncomputed > 0);
    put_bytes(b, "fixed", f->fixed, f->nfixed);
    put_bytes(b, "at", at, f->nown);
    put_bytes(b, "layout_of", f->layout, f->nlayouts);
    kg_putf(b,
            "\n      .extra = %u, .most_extra = %u, .pointers = %u, .pitches = %u, .args_size = "
            "%u,\n      .first_shape = %u, .quick = %zu, .shapes = %zu },\n",
            f->first, f->most, f->pointers, f->pitches, f->args_size, first_shape, f->nquick,
            f->nshapes);
}

static void put_families(writer *w)
{
    uint32_t shape = 0;
    kg_puts(w->out, "\nstatic const kiln_family families[] = {\n");
    for (size_t i = 0; i < w->nfamilies; i++) {
        put_family(w, w->family[i], shape);
        shape += shape_numbers(w->family[i], w->family[i]->nshapes);
    }
    kg_puts(w->out, "};\n");
}

/* ---- schedules ---- */
/* Two families may each have a schedule of one name. */
static const char *symbol_of(writer *w, const kg_schedule *s)
{
    return kg_printf(w->cx->arena, "%s_%s", s->family->name, s->name);
}

static void put_schedule(writer *w, const kg_schedule *s)
{
    const kg_lowered *f = kg_schedule_lower(w->cx, s, w->slice->target);
    const char *const in = "const kiln_shape *p, const int32_t *t", *const n = symbol_of(w, s);
    kg_buf *b = w->out;
    const char *part[] = {s->family->name, s->name, f->check, f->plan,
                          f->workspace,    f->cost, f->parts};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) feed_text(&w->id, part[i]);
    kg_putf(b, "\n/* t:");
    for (size_t i = 0; i < s->nslots; i++) kg_putf(b, " %zu %s", i, s->slot[i]);
    kg_putf(b, " */\nstatic uint32_t %s_check(%s)\n{\n%s}\n", n, in, f->check);
    kg_putf(b, "static void %s_plan(%s, kiln_plan *out)\n{\n%s}\n", n, in, f->plan);
    kg_putf(b, "static uint64_t %s_workspace(%s)\n{\n%s}\n", n, in, f->workspace);
    kg_putf(b, "static double %s_cost(%s)\n{\n%s}\n", n, in, f->cost);
    if (f->nparts) {
        kg_putf(b, "static void %s_parts(%s, double *out)\n{\n%s}\n", n, in, f->parts);
        kg_putf(b, "static const kiln_part %s_part[] = {", n);
        for (size_t i = 0; i < f->nparts; i++)
            kg_putf(b, " { %u, %d },", str(w, f->part[i].name), (int)f->part[i].kind);
        kg_puts(b, " };\n");
    }
    if (s->nslots) {
        kg_putf(b, "static const kiln_str %s_slot[] = {", n);
        for (size_t i = 0; i < s->nslots; i++) kg_putf(b, " %u,", str(w, s->slot[i]));
        kg_putf(b, " };\n");
    }
    if (s->nproblem_rules) kg_putf(b, "static const kiln_str %s_rule[] = {", n);
    for (size_t i = 0; i < s->nproblem_rules; i++)
        kg_putf(b, " %u,", str(w, s->problem_rule[i].sentence));
    if (s->nproblem_rules) kg_puts(b, " };\n");
}

static void put_schedules(writer *w)
{
    kg_buf *b = w->out;
    for (size_t i = 0; i < w->nschedules; i++) put_schedule(w, w->schedule[i]);
    kg_puts(b, "\nstatic const kiln_schedule schedules[] = {\n");
    for (size_t i = 0; i < w->nschedules; i++) {
        const kg_schedule *s = w->schedule[i];
        const char *n = symbol_of(w, s);
        const size_t parts = kg_schedule_lower(w->cx, s, w->slice->target)->nparts;
        bool rules = s->nproblem_rules > 0, slots = s->nslots > 0;
        kg_putf(b,
                "    { %u, %zu, %s%s, %zu, %zu, %s%s, %s_check, %s_plan, %s_workspace, %s_cost,\n"
                "      %zu, %s%s, %s%s },\n",
                str(w, s->name), s->nproblem_rules, rules ? n : "NULL", rules ? "_rule" : "",
                s->nslots, s->ntunables, slots ? n : "NULL", slots ? "_slot" : "", n, n, n, n,
                parts, parts ? n : "NULL", parts ? "_part" : "", parts ? n : "NULL",
                parts ? "_parts" : "");
    }
    kg_puts(b, "};\n");
}

/* ---- rows ---- */
static int by_key(const void *pa, const void *pb, void *key)
{
    size_t a = *(const size_t *)pa, b = *(const size_t *)pb;
    uint64_t x = ((const uint64_t *)key)[a], y = ((const uint64_t *)key)[b];
    if (x != y) return x < y ? -1 : 1;
    return a < b ? -1 : a > b; /* the slice is sorted by name */
}

static uint64_t key_of(kg_view v)
{
    uint8_t sig[KILN_MAX_SIG];
    int len = 0;
    for (size_t k = 0; k < v.op->nsig_types; k++) sig[len++] = (uint8_t)v.types->type[k];
    for (size_t k = 0; k < v.op->family->nlayouts; k++) sig[len++] = (uint8_t)v.layout->layout[k];
    if (v.op->family->nfixed) sig[len++] = (uint8_t)(v.layout - v.op->layouts);
    return kiln_key_of(kiln_name_hash(v.op->name), sig, len);
}

static void sort_rows(writer *w)
{
    size_t n = w->slice->n;
    w->row = kg_alloc(w->cx->arena, (n + 1) * sizeof *w->row);
    w->key = kg_alloc(w->cx->arena, (n + 1) * sizeof *w->key);
    for (size_t i = 0; i < n; i++) {
        const kg_instance *in = w->slice->instance[i];
        w->row[i] = i;
        w->key[i] = key_of((kg_view){in->op, in->types, in->layout});
    }
    qsort_r(w->row, n, sizeof *w->row, by_key, w->key);
}

/* Lists of maps, each distinct one once; first[i]: of instance i. */
static size_t put_maps(writer *w, uint32_t *first)
{
    const kg_slice *s = w->slice;
    const kg_instance **seen = kg_alloc(w->cx->arena, (s->n + 1) * sizeof *seen);
    uint32_t *seen_at = kg_alloc(w->cx->arena, (s->n + 1) * sizeof *seen_at);
    size_t nseen = 0, total = 0;
    for (size_t i = 0; i < s->n; i++) {
        const kg_instance *in = s->instance[i];
        size_t k = 0;
        if (!in->nmaps) continue;
        while (k < nseen && (seen[k]->nmaps != in->nmaps ||
                             memcmp(seen[k]->map, in->map, in->nmaps * sizeof *in->map) != 0))
            k++;
        if (k == nseen) {
            if (!total) kg_puts(w->out, "\nstatic const kiln_map maps[] = {\n");
            seen[nseen] = in;
            seen_at[nseen++] = (uint32_t)total;
            total += in->nmaps;
            for (size_t m = 0; m < in->nmaps; m++)
                kg_putf(w->out, "    { %d, %d, %d, %d, %d, %d, %d, %d, %d },\n", in->map[m].operand,
                        in->map[m].swizzle, in->map[m].box_inner, in->map[m].box_outer,
                        in->map[m].clip, in->map[m].promote, in->map[m].box_planes,
                        in->map[m].optional, in->map[m].gathered);
        }
        first[i] = seen_at[k];
    }
    if (total) kg_puts(w->out, "};\n");
    return total;
}

static void put_row(writer *w, size_t i, uint32_t first_map, bool host)
{
    const kg_instance *in = w->slice->instance[i];
    kg_buf *b = w->out;
    kiln_str name = str(w, in->name);
    kg_putf(b, "    { .key = 0x%016llxull, ", (unsigned long long)w->key[i]);
    kg_putf(b, "CODE_%zu, ", i);
    kg_putf(b, ".name = %u, .symbol = { %u", name, str(w, in->id));
    for (size_t k = 2; k <= in->stages; k++)
        kg_putf(b, ", %u", str(w, kg_printf(w->cx->arena, "%s_%zu", in->id, k)));
    kg_puts(b, " }, ");
    size_t op = position((const void *const *)w->op, w->nops, in->op);
    size_t schedule = position((const void *const *)w->schedule, w->nschedules, in->schedule);
    kg_putf(b, ".op = %zu, .schedule = %zu, .host_fn = %zu, .first_map = %u, .maps = %zu,\n", op,
            schedule, host ? i : 0, first_map, in->nmaps);
    if (in->realigns) kg_puts(b, "      .realigns = 1,\n");
    kg_puts(b, "      .sig = {");
    for (size_t k = 0; k < in->op->nsig_types; k++)
        kg_putf(b, "%s %s", k ? "," : "", dtype_name[in->types->type[k]]);
    for (size_t k = 0; k < in->op->family->nlayouts; k++)
        kg_putf(b, "%s %s", k || in->op->nsig_types ? "," : "", layout_name[in->layout->layout[k]]);
    if (in->op->family->nfixed) kg_putf(b, ", %d", (int)(in->layout - in->op->layouts));
    kg_puts(b, " }, .t = {");
    for (size_t k = 0; k < in->schedule->nslots; k++)
        kg_putf(b, k ? ", %d" : " %d", (int)in->slot[k]);
    kg_puts(b, " } },\n");
    feed_text(&w->id, in->name);
    feed_number(&w->id, in->stages);
    feed_number(&w->id, in->realigns);
    feed(&w->id, in->slot, sizeof in->slot);
    feed(&w->id, in->nmaps ? (const void *)in->map : "", in->nmaps * sizeof *in->map);
}

static void put_host_functions(writer *w)
{
    const kg_slice *s = w->slice;
    kg_puts(w->out, "\n");
    for (size_t i = 0; i < w->nfamilies; i++)
        kg_putf(w->out, "struct kiln_%s_args;\n", w->family[i]->name);
    for (size_t i = 0; i < s->n; i++)
        kg_putf(w->out, "void %s(const struct kiln_%s_args *, kiln_each);\n", s->instance[i]->id,
                s->instance[i]->op->family->name);
    kg_puts(w->out, "static const kiln_host_fn host_fns[] = {\n");
    for (size_t i = 0; i < s->n; i++)
        kg_putf(w->out, "    (kiln_host_fn)%s,\n", s->instance[i]->id);
    kg_puts(w->out, "};\n");
}

static void put_rows(writer *w, bool host, size_t *nmaps)
{
    const kg_slice *s = w->slice;
    uint32_t *first_map = kg_alloc(w->cx->arena, (s->n + 1) * sizeof *first_map);
    *nmaps = put_maps(w, first_map);
    if (host) put_host_functions(w);
    kg_puts(w->out, "\n");
    kg_puts(w->out, "static const kiln_row rows[] = {\n");
    for (size_t i = 0; i < s->n; i++) put_row(w, w->row[i], first_map[w->row[i]], host);
    kg_puts(w->out, "};\n");
}

/* ---- what has no rows ---- */
typedef struct absent {
    uint64_t key;
    const kg_absence *of;
} absent;

static int by_absent_key(const void *pa, const void *pb)
{
    const absent *a = pa, *b = pb;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return strcmp(a->of->schedule->name, b->of->schedule->name);
}

static void put_absent(writer *w)
{
    const kg_ctx *cx = w->cx;
    absent *list = kg_alloc(cx->arena, (cx->nabsences + 1) * sizeof *list);
    size_t n = 0;
    for (size_t i = 0; i < cx->nabsences; i++) {
        const kg_absence *a = &cx->absence[i];
        const size_t op = position((const void *const *)w->op, w->nops, a->view.op);
        if (a->target == w->slice->target && op < w->nops) list[n++] = (absent){key_of(a->view), a};
    }
    if (n) qsort(list, n, sizeof *list, by_absent_key);
    if (n) kg_puts(w->out, "\nstatic const kiln_absent absent[] = {\n");
    for (size_t i = 0; i < n; i++)
        kg_putf(w->out, "    { 0x%016llxull, %u, %u },\n", (unsigned long long)list[i].key,
                str(w, list[i].of->schedule->name), str(w, list[i].of->why));
    if (n) kg_puts(w->out, "};\n");
    kg_putf(w->out,
            "\nextern const kiln_absents kiln_module_absent;\n"
            "__attribute__((visibility(\"default\"))) const kiln_absents kiln_module_absent = {\n"
            "    .size = sizeof(kiln_absent), .count = %zu, .list = %s\n};\n",
            n, n ? "absent" : "NULL");
}

/* ---- the file ---- */
static void put_head(writer *w, bool host)
{
    kg_putf(w->out,
            "// Generated by kiln-gen " KILN_VERSION
            "; do not edit.\n// To rebuild: make instances TARGETS=%s\n",
            w->slice->target->name);
    kg_puts(w->out, "#include <stddef.h>\n#include \"kiln_module.h\"\n#include "
                    "\"kiln_problem_math.h\"\n#include \"code.h\"\n");
    if (host) return;
    kg_puts(w->out, "\n__asm__(\".pushsection .kiln_code, \\\"a\\\"\\n\"\n"
                    "        \".balign 64\\n\"\n"
                    "        \".globl kiln_code\\n\"\n"
                    "        \".hidden kiln_code\\n\"\n"
                    "        \"kiln_code:\\n\"\n"
                    "        \".incbin \\\"code.bin\\\"\\n\"\n"
                    "        \".popsection\\n\");\n"
                    "extern const uint8_t kiln_code[] __attribute__((visibility(\"hidden\")));\n");
}

static void put_table(writer *w, bool host, uint32_t nnodes, size_t nmaps, uint32_t nshapes)
{
    const kg_slice *s = w->slice;
    kiln_str target = str(w, s->target->name), version = str(w, KILN_VERSION);
    feed_text(&w->id, s->target->name);
    feed_text(&w->id, KILN_VERSION);
    kg_puts(w->out,
            "\nextern const kiln_module kiln_module_table;\n"
            "__attribute__((visibility(\"default\"))) const kiln_module kiln_module_table = {\n"
            "    .magic = KILN_MODULE_MAGIC, .abi_version = KILN_ABI_VERSION, .size = "
            "sizeof(kiln_module),\n"
            "    .row_size = sizeof(kiln_row), .op_size = sizeof(kiln_op_row),\n");
    kg_putf(w->out, "    .family_size = sizeof(kiln_family), .nfamilies = %zu,\n", w->nfamilies);
    kg_putf(w->out, "    .target = %u, .version = %u, .id = 0x%016llxull ^ KILN_CODE_ID,\n", target,
            version, (unsigned long long)XXH3_64bits_digest(&w->id));
    kg_putf(w->out,
            "    .nrows = %zu, .nops = %zu, .nschedules = %zu, .nnodes = %u, .nmaps = %zu, "
            ".nhost_fns = %zu,\n",
            s->n, w->nops, w->nschedules, nnodes, nmaps, host ? s->n : 0);
    kg_putf(w->out, "    .nshapes = %u, .units = %u, .strings_size = sizeof strings - 1,%s\n",
            nshapes, s->target->units, host ? "" : " .code_size = KILN_CODE_SIZE,");
    kg_puts(w->out, "    .rows = rows, .ops = ops, .families = families, .schedules = schedules, "
                    ".nodes = nodes,");
    if (kg_realigns(s)) kg_puts(w->out, " .realign = CODE_" KG_REALIGN ",");
    if (nmaps) kg_puts(w->out, " .map = maps,");
    if (host) kg_puts(w->out, " .host_fns = host_fns,");
    if (nshapes) kg_puts(w->out, " .shapes = shapes,");
    kg_putf(w->out, " .strings = strings,%s\n};\n", host ? "" : " .code = kiln_code,");
}

bool kg_slice_has(const kg_slice *s, const kg_family *f)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->instance[i]->op->family == f) return true;
    return false;
}

/* The slice's families, ops and schedules, each in the order of its name. */
static void collect(writer *w)
{
    const kg_slice *s = w->slice;
    w->family = kg_alloc(w->cx->arena, (w->cx->nfamilies + 1) * sizeof *w->family);
    for (size_t i = 0; i < w->cx->nfamilies; i++)
        if (kg_slice_has(s, w->cx->family[i])) w->family[w->nfamilies++] = w->cx->family[i];
    w->op = kg_alloc(w->cx->arena, (w->cx->nops + 1) * sizeof *w->op);
    w->schedule = kg_alloc(w->cx->arena, (w->cx->nschedules + 1) * sizeof *w->schedule);
    for (size_t i = 0; i < w->cx->nops; i++)
        for (size_t k = 0; k < s->n; k++)
            if (s->instance[k]->op == w->cx->op[i]) {
                w->op[w->nops++] = w->cx->op[i];
                break;
            }
    for (size_t i = 0; i < w->cx->nschedules; i++)
        for (size_t k = 0; k < s->n; k++)
            if (s->instance[k]->schedule == w->cx->schedule[i]) {
                w->schedule[w->nschedules++] = w->cx->schedule[i];
                break;
            }
}

const char *kg_object_ext(const kg_target *t)
{
    return strcmp(t->vendor, "host") == 0 ? ".o" : strcmp(t->vendor, "amd") == 0 ? ".co" : ".cubin";
}

void kg_module_text(kg_ctx *cx, const kg_slice *slice, kg_buf *out)
{
    writer w = {.cx = cx, .slice = slice};
    bool host = strcmp(slice->target->vendor, "host") == 0;
    uint32_t nnodes, nshapes;
    size_t nmaps;
    kg_buf head = {0}, body = {0}, tail = {0};
    XXH3_64bits_reset(&w.id);
    collect(&w);
    sort_rows(&w);
    w.out = &head;
    put_head(&w, host);
    w.out = &body;
    put_families(&w);
    put_ops(&w, &nnodes);
    put_shapes(&w, &nshapes);
    put_schedules(&w);
    put_rows(&w, host, &nmaps);
    put_absent(&w);
    w.out = &tail;
    put_table(&w, host, nnodes, nmaps, nshapes);
    w.out = &head;
    put_strings(&w); /* now that all are known */
    kg_put(out, head.p, head.len);
    kg_put(out, body.p, body.len);
    kg_put(out, tail.p, tail.len);
    kg_buf_free(&head);
    kg_buf_free(&body);
    kg_buf_free(&tail);
    kg_buf_free(&w.pool.text);
}
