// SPDX-License-Identifier: MIT
// Writes module.c: the constant table of one target's instances (abi/kiln_module.h), its schedules'
// functions and the blob of code objects.  What is known only after compiling comes from code.h,
// which `kiln-gen --pack` writes.
#define _GNU_SOURCE /* qsort_r */
#include "back.h"
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

/* What an op means: not where it is written, nor which types and layouts it is compiled for. */
static uint64_t op_hash(const kg_op *op)
{
    XXH3_state_t h;
    XXH3_64bits_reset(&h);
    feed_text(&h, op->family);
    feed_text(&h, op->name);
    feed_number(&h, op->nd);
    for (size_t i = 0; i < op->nd; i++) {
        feed_text(&h, op->d[i].name);
        feed(&h, (const uint8_t[]){(uint8_t)op->d[i].kind, op->d[i].type, (uint8_t)op->d[i].layout},
             3);
    }
    feed_number(&h, op->nscalars);
    for (size_t i = 0; i < op->nscalars; i++) feed_text(&h, op->scalar[i]);
    feed_number(&h, op->products);
    for (size_t i = 0; i < op->products; i++) feed_text(&h, op->b_name[i]);
    const kg_expr *e[] = {&op->epilogue, &op->a_op, &op->b_op};
    for (int i = 0; i < 3; i++)
        feed(&h, e[i]->count ? (const void *)e[i]->node : "", e[i]->count * sizeof *e[i]->node);
    feed_text(&h, op->code);
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

static void put_op(writer *w, const kg_op *op, const kiln_expr_ref ref[3], uint32_t first_shape)
{
    kg_buf *b = w->out;
    uint64_t hash = op_hash(op);
    kiln_str name = str(w, op->name), file = str(w, kg_shown(w->cx, op->pos.file));
    feed_number(&w->id, hash);
    kg_putf(b,
            "    { .hash = 0x%016llxull, .name = %u, .file = %u, .line = %d, .nd = %zu, .nscalars "
            "= %zu, .products = %zu,\n",
            (unsigned long long)hash, name, file, op->pos.line, op->nd, op->nscalars, op->products);
    if (op->nd) kg_puts(b, "      .d = {");
    for (size_t i = 0; i < op->nd; i++)
        kg_putf(b, " { %u, %d, %d, 0x%02x, 0 },", str(w, op->d[i].name), op->d[i].kind,
                op->d[i].layout, op->d[i].type);
    if (op->nd) kg_puts(b, " },\n");
    if (op->nscalars) kg_puts(b, "      .scalar = {");
    for (size_t i = 0; i < op->nscalars; i++) kg_putf(b, " %u,", str(w, op->scalar[i]));
    if (op->nscalars) kg_puts(b, " },\n");
    if (op->b_name[0]) {
        kg_puts(b, "      .b_name = {");
        for (size_t i = 0; i < op->products; i++) kg_putf(b, " %u,", str(w, op->b_name[i]));
        kg_puts(b, " },\n");
    }
    kg_putf(b, "      .epilogue = { %u, %u }, .a_op = { %u, %u }, .b_op = { %u, %u }, .rtol = ",
            ref[0].first, ref[0].count, ref[1].first, ref[1].count, ref[2].first, ref[2].count);
    put_float(b, op->rtol);
    kg_putf(b, ",\n      .first_shape = %u, .shapes = %zu },\n", first_shape, op->nshapes);
}

static void put_shapes(writer *w, uint32_t *n)
{
    *n = 0;
    for (size_t i = 0; i < w->nops; i++) {
        for (size_t k = 0; k < w->op[i]->nshapes; k++) {
            const int64_t *s = w->op[i]->shape[k];
            if (!(*n)++) kg_puts(w->out, "\nstatic const int64_t shapes[][3] = {\n");
            kg_putf(w->out, "    { %lld, %lld, %lld },\n", (long long)s[0], (long long)s[1],
                    (long long)s[2]);
        }
    }
    if (*n) kg_puts(w->out, "};\n");
}

static void put_ops(writer *w, uint32_t *nnodes)
{
    kiln_expr_ref(*ref)[3] = kg_alloc(w->cx->arena, (w->nops + 1) * sizeof *ref);
    *nnodes = 0;
    kg_puts(w->out, "\nstatic const kiln_xnode nodes[] = {\n");
    for (size_t i = 0; i < w->nops; i++) {
        ref[i][0] = put_nodes(w, &w->op[i]->epilogue, nnodes);
        ref[i][1] = put_nodes(w, &w->op[i]->a_op, nnodes);
        ref[i][2] = put_nodes(w, &w->op[i]->b_op, nnodes);
    }
    kg_puts(w->out, "};\n\nstatic const kiln_op_row ops[] = {\n");
    uint32_t shape = 0;
    for (size_t i = 0; i < w->nops; i++) {
        put_op(w, w->op[i], ref[i], shape);
        shape += (uint32_t)w->op[i]->nshapes;
    }
    kg_puts(w->out, "};\n");
}

/* ---- schedules ---- */
static void put_schedule(writer *w, const kg_schedule *s)
{
    const kg_lowered *f = kg_schedule_lower(w->cx, s, w->slice->target);
    const char *const in = "const kiln_shape *p, const int32_t *t";
    kg_buf *b = w->out;
    const char *part[] = {s->name, f->check, f->plan, f->workspace, f->cost};
    for (int i = 0; i < 5; i++) feed_text(&w->id, part[i]);
    kg_putf(b, "\n/* t:");
    for (size_t i = 0; i < s->nslots; i++) kg_putf(b, " %zu %s", i, s->slot[i]);
    kg_putf(b, " */\nstatic uint32_t %s_check(%s)\n{\n%s}\n", s->name, in, f->check);
    kg_putf(b, "static void %s_plan(%s, kiln_plan *out)\n{\n%s}\n", s->name, in, f->plan);
    kg_putf(b, "static uint64_t %s_workspace(%s)\n{\n%s}\n", s->name, in, f->workspace);
    kg_putf(b, "static double %s_cost(%s)\n{\n%s}\n", s->name, in, f->cost);
    kg_putf(b, "static const kiln_str %s_slot[] = {", s->name);
    for (size_t i = 0; i < s->nslots; i++) kg_putf(b, " %u,", str(w, s->slot[i]));
    kg_putf(b, " };\n");
    if (s->nproblem_rules) kg_putf(b, "static const kiln_str %s_rule[] = {", s->name);
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
        const char *n = s->name;
        bool rules = s->nproblem_rules > 0;
        kg_putf(
            b,
            "    { %u, %zu, %s%s, %zu, %zu, %s_slot, %s_check, %s_plan, %s_workspace, %s_cost },\n",
            str(w, n), s->nproblem_rules, rules ? n : "NULL", rules ? "_rule" : "", s->nslots,
            s->ntunables, n, n, n, n, n);
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

static void sort_rows(writer *w)
{
    size_t n = w->slice->n;
    w->row = kg_alloc(w->cx->arena, (n + 1) * sizeof *w->row);
    w->key = kg_alloc(w->cx->arena, (n + 1) * sizeof *w->key);
    for (size_t i = 0; i < n; i++) {
        const kg_instance *in = w->slice->instance[i];
        const kg_types *t = in->types;
        const kg_layout *l = in->layout;
        const uint8_t sig[7] = {(uint8_t)t->a, (uint8_t)t->b, (uint8_t)t->e, (uint8_t)t->acc,
                                (uint8_t)l->a, (uint8_t)l->b, (uint8_t)l->e};
        w->row[i] = i;
        w->key[i] = kiln_key(in->op->name, sig);
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
                kg_putf(w->out, "    { %d, %d, %d, %d, %d, %d },\n", in->map[m].operand,
                        in->map[m].swizzle, in->map[m].box_inner, in->map[m].box_outer,
                        in->map[m].clip, in->map[m].promote);
        }
        first[i] = seen_at[k];
    }
    if (total) kg_puts(w->out, "};\n");
    return total;
}

static size_t position(const void *const *list, size_t n, const void *what)
{
    size_t i = 0;
    while (i < n && list[i] != what) i++;
    return i;
}

static void put_row(writer *w, size_t i, uint32_t first_map, bool host)
{
    const kg_instance *in = w->slice->instance[i];
    const kg_types *t = in->types;
    const kg_layout *l = in->layout;
    kg_buf *b = w->out;
    kiln_str name = str(w, in->name), symbol[2] = {str(w, in->id), 0};
    if (in->stages > 1) symbol[1] = str(w, kg_printf(w->cx->arena, "%s_2", in->id));
    kg_putf(b, "    { .key = 0x%016llxull, ", (unsigned long long)w->key[i]);
    if (!host) kg_putf(b, "CODE_%zu, ", i);
    kg_putf(b, ".name = %u, .symbol = { %u, %u }, ", name, symbol[0], symbol[1]);
    size_t op = position((const void *const *)w->op, w->nops, in->op);
    size_t schedule = position((const void *const *)w->schedule, w->nschedules, in->schedule);
    kg_putf(b, ".op = %zu, .schedule = %zu, .host_fn = %zu, .first_map = %u, .maps = %zu,\n", op,
            schedule, host ? i : 0, first_map, in->nmaps);
    kg_putf(b, "      TYPES(%s, %s, %s, %s, %s, %s, %s), .t = {", dtype_name[t->a],
            dtype_name[t->b], dtype_name[t->e], dtype_name[t->acc], layout_name[l->a],
            layout_name[l->b], layout_name[l->e]);
    for (size_t k = 0; k < in->schedule->nslots; k++)
        kg_putf(b, k ? ", %d" : " %d", (int)in->slot[k]);
    kg_puts(b, " } },\n");
    feed_text(&w->id, in->name);
    feed_number(&w->id, in->stages);
    feed(&w->id, in->slot, sizeof in->slot);
    feed(&w->id, in->nmaps ? (const void *)in->map : "", in->nmaps * sizeof *in->map);
}

static void put_rows(writer *w, bool host, size_t *nmaps)
{
    const kg_slice *s = w->slice;
    uint32_t *first_map = kg_alloc(w->cx->arena, (s->n + 1) * sizeof *first_map);
    *nmaps = put_maps(w, first_map);
    if (host) {
        kg_puts(w->out, "\n");
        for (size_t i = 0; i < s->n; i++)
            kg_putf(w->out, "void %s(const kiln_gemm_args *);\n", s->instance[i]->id);
        kg_puts(w->out, "static const kiln_host_fn host_fns[] = {\n");
        for (size_t i = 0; i < s->n; i++) kg_putf(w->out, "    %s,\n", s->instance[i]->id);
        kg_puts(w->out, "};\n");
    }
    kg_puts(w->out, "\n#define TYPES(a_, b_, e_, acc_, la_, lb_, le_) \\\n"
                    "    .a = a_, .b = b_, .e = e_, .acc = acc_, .layout_a = la_, .layout_b = lb_, "
                    ".layout_e = le_\n");
    kg_puts(w->out, "static const kiln_row rows[] = {\n");
    for (size_t i = 0; i < s->n; i++) put_row(w, w->row[i], first_map[w->row[i]], host);
    kg_puts(w->out, "};\n");
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
    kg_putf(w->out, "    .target = %u, .version = %u, .id = 0x%016llxull ^ KILN_CODE_ID,\n", target,
            version, (unsigned long long)XXH3_64bits_digest(&w->id));
    kg_putf(w->out,
            "    .nrows = %zu, .nops = %zu, .nschedules = %zu, .nnodes = %u, .nmaps = %zu, "
            ".nhost_fns = %zu,\n",
            s->n, w->nops, w->nschedules, nnodes, nmaps, host ? s->n : 0);
    kg_putf(w->out, "    .nshapes = %u, .strings_size = sizeof strings - 1,%s\n", nshapes,
            host ? "" : " .code_size = KILN_CODE_SIZE,");
    kg_puts(w->out, "    .rows = rows, .ops = ops, .schedules = schedules, .nodes = nodes,");
    if (nmaps) kg_puts(w->out, " .map = maps,");
    if (host) kg_puts(w->out, " .host_fns = host_fns,");
    if (nshapes) kg_puts(w->out, " .shapes = shapes,");
    kg_putf(w->out, " .strings = strings,%s\n};\n", host ? "" : " .code = kiln_code,");
}

/* The slice's ops and schedules, each in the order of its name. */
static void collect(writer *w)
{
    const kg_slice *s = w->slice;
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
    put_ops(&w, &nnodes);
    put_shapes(&w, &nshapes);
    put_schedules(&w);
    put_rows(&w, host, &nmaps);
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
