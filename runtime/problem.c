// SPDX-License-Identifier: MIT
// Problems as one line of text and back:
//   op a,b,e LAYOUTS m=.. n=.. k=.. [acc=] [batch=] [lda= ldb= lde= ldd.NAME=] [sa= sb= se=
//   sd.NAME=] [align=] [aligna= alignb= aligne= alignd.NAME=]
// What stands at its default is left out; a batch stride of KILN_BROADCAST reads `broadcast`.
#include <limits.h>
#include <string.h>
#include "internal.h"

#define INVALID(...) kr_fail(KILN_INVALID, "problem text: " __VA_ARGS__)
enum { TEXT_MAX = 4096 };

typedef enum field_kind { SIZE, COUNT, LD, STRIDE, ALIGN, DTYPE } field_kind;

/* Fields by name; those of an extra input follow as PREFIX.NAME. */
static const struct field {
    const char *name;
    field_kind kind;
    size_t offset;
} field[] = {
    {"m", SIZE, offsetof(kiln_problem, m)},
    {"n", SIZE, offsetof(kiln_problem, n)},
    {"k", SIZE, offsetof(kiln_problem, k)},
    {"acc", DTYPE, offsetof(kiln_problem, acc)},
    {"batch", COUNT, offsetof(kiln_problem, batch)},
    {"lda", LD, offsetof(kiln_problem, a.ld)},
    {"ldb", LD, offsetof(kiln_problem, b.ld)},
    {"lde", LD, offsetof(kiln_problem, e.ld)},
    {"sa", STRIDE, offsetof(kiln_problem, a.batch_stride)},
    {"sb", STRIDE, offsetof(kiln_problem, b.batch_stride)},
    {"se", STRIDE, offsetof(kiln_problem, e.batch_stride)},
    {"aligna", ALIGN, offsetof(kiln_problem, a.align)},
    {"alignb", ALIGN, offsetof(kiln_problem, b.align)},
    {"aligne", ALIGN, offsetof(kiln_problem, e.align)},
};
static const struct field d_field[] = {
    {"ldd", LD, offsetof(kiln_tensor, ld)},
    {"sd", STRIDE, offsetof(kiln_tensor, batch_stride)},
    {"alignd", ALIGN, offsetof(kiln_tensor, align)},
};
enum {
    FIELDS = sizeof field / sizeof *field,
    D_FIELDS = sizeof d_field / sizeof *d_field,
    REQUIRED = 3
};

/* ---- reading ---- */

typedef struct word {
    const char *p;
    int len;
} word;

typedef struct reader {
    const char *at;
    kiln_problem *out;
    unsigned seen;               /* bits of field */
    unsigned d_seen[KILN_MAX_D]; /* bits of d_field */
    bool align_seen;
    kr_module *module; /* of the op, where an open one knows it */
    const kiln_op_row *op;
} reader;

/* The text means the same in every locale: ASCII alone is blank, a letter or printable. */
static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static word next_word(reader *r)
{
    while (is_blank(*r->at)) r->at++;
    const char *start = r->at;
    while (*r->at && !is_blank(*r->at)) r->at++;
    return (word){start, (int)(r->at - start)};
}

static bool is_word(word w, const char *text)
{
    return strlen(text) == (size_t)w.len && memcmp(w.p, text, (size_t)w.len) == 0;
}

/* What is shown of a word in a message: its start, without control characters. */
typedef struct shown {
    char text[48];
} shown;
static shown show(word w)
{
    shown s;
    int n = w.len < 40 ? w.len : 40;
    for (int i = 0; i < n; i++) s.text[i] = w.p[i] >= ' ' && w.p[i] <= '~' ? w.p[i] : '?';
    memcpy(s.text + n, n < w.len ? "..." : "", n < w.len ? 4 : 1);
    return s;
}

static bool read_number(word w, int64_t most, int64_t *out)
{
    int64_t v = 0;
    if (w.len == 0) return false;
    for (int i = 0; i < w.len; i++) {
        if (w.p[i] < '0' || w.p[i] > '9') return false;
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, w.p[i] - '0', &v) ||
            v > most)
            return false;
    }
    *out = v;
    return true;
}

static kiln_status read_op(reader *r)
{
    const word w = next_word(r);
    if (w.len == 0)
        return INVALID("empty; it looks like `bias_relu f16,f16,f16 rcr m=4096 n=11008 k=4096`");
    if (w.len >= KILN_NAME_MAX)
        return INVALID("the op's name has %d bytes, at most %d", w.len, KILN_NAME_MAX - 1);
    for (int i = 0; i < w.len; i++)
        if (!is_name(w.p[i]))
            return INVALID("'%s' is not an op's name (letters, digits, _)", show(w).text);
    memcpy(r->out->op, w.p, (size_t)w.len);
    return KILN_OK;
}

static kiln_status bad_dtype(word w)
{
    char names[160];
    kr_text text = {names, sizeof names, 0};
    for (int t = 1; t < KILN_DTYPE_COUNT; t++) kr_put(&text, " %s", kiln_dtype_name((kiln_dtype)t));
    return INVALID("unknown type '%s'; there are%s", show(w).text, names);
}

static kiln_status read_types(reader *r)
{
    kiln_dtype *const out[3] = {&r->out->a.dtype, &r->out->b.dtype, &r->out->e.dtype};
    const word w = next_word(r);
    const char *p = w.p, *end = w.p + w.len;
    for (int i = 0; i < 3; i++) {
        const char *comma = p < end ? memchr(p, ',', (size_t)(end - p)) : NULL;
        const char *stop = comma ? comma : end;
        if (stop == p || (i == 2) != !comma)
            return INVALID("'%s' is not three types as in f16,f16,f16 (of A, B, E)", show(w).text);
        const word type = {p, (int)(stop - p)};
        *out[i] = kr_dtype_by_name(type.p, (size_t)type.len);
        if (!*out[i]) return bad_dtype(type);
        p = stop + 1;
    }
    return KILN_OK;
}

static kiln_status read_layouts(reader *r)
{
    kiln_layout *const out[3] = {&r->out->a.layout, &r->out->b.layout, &r->out->e.layout};
    const word w = next_word(r);
    for (int i = 0; i < 3; i++) {
        *out[i] = w.len != 3      ? KILN_LAYOUT_NONE
                  : w.p[i] == 'r' ? KILN_ROW
                  : w.p[i] == 'c' ? KILN_COL
                                  : KILN_LAYOUT_NONE;
        if (!*out[i])
            return INVALID(
                "'%s' is not three layouts as in rcr (of A, B, E; r row-major, c column-major)",
                show(w).text);
    }
    return KILN_OK;
}

static kiln_status read_value(word key, word value, field_kind kind, void *out)
{
    int64_t v;
    switch (kind) {
    case SIZE:
        if (!read_number(value, INT32_MAX, &v))
            return INVALID("%s=%s: a size is a number from 0 to 2147483647", show(key).text,
                           show(value).text);
        memcpy(out, &v, sizeof v);
        return KILN_OK;
    case COUNT:
        if (!read_number(value, INT32_MAX, &v) || v == 0)
            return INVALID("%s=%s: a count is a number from 1 to 2147483647; what computes nothing "
                           "has m=0",
                           show(key).text, show(value).text);
        memcpy(out, &v, sizeof v);
        return KILN_OK;
    case LD:
        if (!read_number(value, INT64_MAX, &v) || v == 0)
            return INVALID("%s=%s: a leading dimension is a number of elements from 1",
                           show(key).text, show(value).text);
        memcpy(out, &v, sizeof v);
        return KILN_OK;
    case STRIDE:
        if (is_word(value, "broadcast") || is_word(value, "-1"))
            v = KILN_BROADCAST;
        else if (!read_number(value, INT64_MAX, &v) || v == 0)
            return INVALID("%s=%s: a batch stride is a number of elements from 1, or `broadcast`",
                           show(key).text, show(value).text);
        memcpy(out, &v, sizeof v);
        return KILN_OK;
    case ALIGN:
        if (!read_number(value, 1u << 30, &v) || v == 0 || (v & (v - 1)))
            return INVALID("%s=%s: an alignment is a power of two in bytes", show(key).text,
                           show(value).text);
        *(uint32_t *)out = (uint32_t)v;
        return KILN_OK;
    case DTYPE:
        *(kiln_dtype *)out = kr_dtype_by_name(value.p, (size_t)value.len);
        return *(kiln_dtype *)out ? KILN_OK : bad_dtype(value);
    }
    return KILN_OK;
}

static kiln_status read_d(reader *r, word key, word name, word value, int f)
{
    if (!r->op && kr_op_acquire(r->out->op, &r->op, &r->module))
        return INVALID("'%s' names an input: %s", show(key).text, kiln_error());
    for (int i = 0; i < r->op->nd; i++) {
        if (!is_word(name, kr_str(r->module, r->op->d[i].name))) continue;
        if (r->d_seen[i] & 1u << f) return INVALID("%s is given twice", show(key).text);
        r->d_seen[i] |= 1u << f;
        return read_value(key, value, d_field[f].kind, (char *)&r->out->d[i] + d_field[f].offset);
    }
    char names[200] = "";
    kr_text text = {names, sizeof names, 0};
    for (int i = 0; i < r->op->nd; i++) kr_put(&text, " %s", kr_str(r->module, r->op->d[i].name));
    return INVALID("'%s': op '%s' has no such input; it has%s", show(key).text, r->out->op,
                   *names ? names : " none");
}

static kiln_status read_field(reader *r, word w)
{
    const char *equals = memchr(w.p, '=', (size_t)w.len);
    if (!equals) return INVALID("'%s' is not of the form name=value", show(w).text);
    const word key = {w.p, (int)(equals - w.p)}, value = {equals + 1, w.len - key.len - 1};
    for (int f = 0; f < FIELDS; f++) {
        if (!is_word(key, field[f].name)) continue;
        if (r->seen & 1u << f) return INVALID("%s is given twice", field[f].name);
        r->seen |= 1u << f;
        return read_value(key, value, field[f].kind, (char *)r->out + field[f].offset);
    }
    if (is_word(key, "align")) {
        uint32_t align;
        if (r->align_seen) return INVALID("align is given twice");
        r->align_seen = true;
        const kiln_status status = read_value(key, value, ALIGN, &align);
        if (status) return status;
        kiln_tensor *t[3 + KILN_MAX_D] = {&r->out->a, &r->out->b, &r->out->e};
        for (int i = 0; i < KILN_MAX_D; i++) t[3 + i] = &r->out->d[i];
        for (int i = 0; i < 3 + KILN_MAX_D; i++)
            if (!t[i]->align) t[i]->align = align; /* one that has its own keeps it */
        return KILN_OK;
    }
    const char *dot = memchr(key.p, '.', (size_t)key.len);
    for (int f = 0; dot && f < D_FIELDS; f++)
        if (is_word((word){key.p, (int)(dot - key.p)}, d_field[f].name))
            return read_d(r, key, (word){dot + 1, key.len - (int)(dot + 1 - key.p)}, value, f);
    return INVALID("unknown field '%s'; there are m n k batch acc lda ldb lde ldd.NAME sa sb se "
                   "sd.NAME align aligna "
                   "alignb aligne alignd.NAME",
                   show(key).text);
}

static kiln_status read_problem(reader *r)
{
    kiln_status status = read_op(r);
    if (status == KILN_OK) status = read_types(r);
    if (status == KILN_OK) status = read_layouts(r);
    for (word w; status == KILN_OK && (w = next_word(r)).len;) status = read_field(r, w);
    for (int f = 0; f < REQUIRED && status == KILN_OK; f++)
        if (!(r->seen & 1u << f)) status = INVALID("%s= is missing", field[f].name);
    return status;
}

kiln_status kiln_problem_parse_sized(const char *text, kiln_problem *out, size_t size)
{
    if (!text || !out) return kr_fail(KILN_INVALID, "kiln_problem_parse needs a text and a place");
    if (strnlen(text, TEXT_MAX) == TEXT_MAX) return INVALID("longer than %d bytes", TEXT_MAX - 1);
    kiln_problem p = {.struct_size = sizeof p};
    reader r = {.at = text, .out = &p};
    const kiln_status status = read_problem(&r);
    if (r.op) kr_module_close(r.module);
    if (status) return status;
    for (size_t i = size; i < sizeof p; i++)
        if (((const char *)&p)[i])
            return INVALID("it sets fields that the caller's kiln_problem of %zu bytes lacks",
                           size);
    return kr_struct_out("kiln_problem", &p, sizeof p, out, size);
}

/* For callers without the header's macro: their struct is that of version 0.1.0. */
enum { FIRST_SIZE = offsetof(kiln_problem, d) + 8 * sizeof(kiln_tensor) };
kiln_status(kiln_problem_parse)(const char *text, kiln_problem *out)
{
    return kiln_problem_parse_sized(text, out, FIRST_SIZE);
}

/* ---- writing ---- */

static void put_value(kr_text *t, const char *name, const char *input, field_kind kind,
                      const void *p)
{
    int64_t v = 0;
    if (kind == ALIGN)
        v = *(const uint32_t *)p;
    else if (kind == DTYPE)
        v = *(const kiln_dtype *)p;
    else
        memcpy(&v, p, sizeof v);
    if (v == 0) return;
    kr_put(t, " %s%s%s=", name, input ? "." : "", input ? input : "");
    if (kind == DTYPE)
        kr_put(t, "%s", kiln_dtype_name((kiln_dtype)v));
    else if (kind == STRIDE && v == KILN_BROADCAST)
        kr_put(t, "broadcast");
    else
        kr_put(t, "%lld", (long long)v);
}

/* What one `align=` says: the alignment that every operand has.  Of an op that is not known here
 * the extra inputs have no names, so there it speaks for those and A, B and E may say otherwise. */
static uint32_t common_align(const kiln_problem *p, const kiln_op_row *op)
{
    const uint32_t align = op ? p->a.align : p->d[0].align;
    if (op && (p->b.align != align || p->e.align != align)) return 0;
    if (!op && (!p->a.align || !p->b.align || !p->e.align)) return 0;
    for (int i = 0; i < (op ? op->nd : KILN_MAX_D); i++)
        if (p->d[i].align != align) return 0;
    return align;
}

static bool has_d_fields(const kiln_problem *p, bool align)
{
    for (int i = 0; i < KILN_MAX_D; i++)
        if (p->d[i].ld || p->d[i].batch_stride || (align && p->d[i].align)) return true;
    return false;
}

static char letter(kiln_layout l)
{
    return l == KILN_ROW ? 'r' : 'c';
}

kiln_status kr_put_problem(const kiln_problem *p, kr_text *t)
{
    kr_module *m;
    const kiln_op_row *op;
    kr_op_acquire(p->op, &op, &m);
    const uint32_t align = common_align(p, op);
    if (!op && has_d_fields(p, !align))
        return kr_fail(KILN_NOT_FOUND, "the inputs of op '%s' have no names here: %s", p->op,
                       kiln_error());

    kr_put(t, "%s %s,%s,%s %c%c%c m=%lld n=%lld k=%lld", p->op, kiln_dtype_name(p->a.dtype),
           kiln_dtype_name(p->b.dtype), kiln_dtype_name(p->e.dtype), letter(p->a.layout),
           letter(p->b.layout), letter(p->e.layout), (long long)p->m, (long long)p->n,
           (long long)p->k);
    for (int f = REQUIRED; f < FIELDS; f++) {
        const void *value = (const char *)p + field[f].offset;
        if (field[f].kind == ALIGN && *(const uint32_t *)value == align) continue;
        if (field[f].kind == COUNT && p->batch == 1) continue;
        put_value(t, field[f].name, NULL, field[f].kind, value);
    }
    for (int i = 0; op && i < op->nd; i++)
        for (int f = 0; f < D_FIELDS; f++)
            if (!(d_field[f].kind == ALIGN && align))
                put_value(t, d_field[f].name, kr_str(m, op->d[i].name), d_field[f].kind,
                          (const char *)&p->d[i] + d_field[f].offset);
    if (align) kr_put(t, " align=%u", align);
    if (op) kr_module_close(m);
    return KILN_OK;
}

kiln_status kiln_problem_format(const kiln_problem *p, char *out, size_t *len)
{
    if (!len) return kr_fail(KILN_INVALID, "kiln_problem_format needs a length");
    uint8_t sig[7];
    uint64_t key;
    kiln_problem room;
    if (!(p = kr_problem_in(p, &room))) return KILN_INVALID;
    kr_text t = {out, *len, 0};
    kiln_status status = kr_key(p, sig, &key);
    if (status == KILN_OK) status = kr_put_problem(p, &t);
    return status ? status : kr_text_end(&t, len);
}
