// SPDX-License-Identifier: MIT
// Problems as one line of text and back:
//   op TYPES [LAYOUTS] SIZE=.. [TYPE=] [batch=] [ldT= ..] [sT= ..] [pT= ..] [align=] [alignT= ..]
// with the family's sizes, its types and layouts of tensors of its own in their order, the types
// that no tensor has by name, and tensors T: of the family's own by their keys, extra ones behind
// the family's prefix.  What stands at its default is left out; a stride of KILN_BROADCAST
// reads `broadcast`.
#include <limits.h>
#include <string.h>
#include "internal.h"

#define INVALID(...) kr_fail(KILN_INVALID, "problem text: " __VA_ARGS__)
enum { TEXT_MAX = 4096 };

typedef enum field_kind { SIZE, COUNT, LD, STRIDE, PLANE, ALIGN, DTYPE } field_kind;

/* Fields of a tensor: what stands before its name. */
static const struct field {
    const char *name;
    field_kind kind;
    size_t offset;
} t_field[] = {
    {"ld", LD, offsetof(kiln_tensor, ld)},
    {"s", STRIDE, offsetof(kiln_tensor, batch_stride)},
    {"align", ALIGN, offsetof(kiln_tensor, align)},
    {"p", PLANE, 0}, /* kiln_problem.plane_stride, of families with planes */
};

static int fields_of(const kiln_family *f)
{
    return (int)(sizeof t_field / sizeof *t_field) - !kr_has_planes(f);
}

static char *field_at(kiln_problem *p, int tensor, const struct field *f)
{
    if (f->kind == PLANE) return (char *)&p->plane_stride[tensor];
    return (char *)&p->tensor[tensor] + f->offset;
}

/* Positions in kiln_problem.tensor that a problem of a family may use: its own, then extra ones. */
static int positions_of(const kiln_family *f, int at[KILN_MAX_TENSORS])
{
    int n = 0;
    for (int i = 0; i < f->nown; i++) at[n++] = f->at[i];
    for (int i = 0; i < f->most_extra && n < KILN_MAX_TENSORS; i++) at[n++] = f->extra + i;
    return n;
}

/* ---- reading ---- */

typedef struct word {
    const char *p;
    int len;
} word;

typedef struct reader {
    const char *at;
    kiln_problem *out;
    kr_op op;
    const kiln_family *family;
    bool known;                        /* the op: else it is taken for one of the family */
    unsigned sizes_seen, types_seen;   /* bits of positions */
    unsigned t_seen[KILN_MAX_TENSORS]; /* bits of t_field */
    bool align_seen;
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
    const kiln_status status = kr_op_guess(r->out->op, &r->op, &r->known);
    if (status == KILN_OK) r->family = kr_family(r->op.module, r->op.row);
    return status;
}

static kiln_status bad_dtype(word w)
{
    char names[160];
    kr_text text = {names, sizeof names, 0};
    for (int t = 1; t < KILN_DTYPE_COUNT; t++) kr_put(&text, " %s", kiln_dtype_name((kiln_dtype)t));
    return INVALID("unknown type '%s'; there are%s", show(w).text, names);
}

static const char *number_word(int n)
{
    static const char *const text[] = {"no", "one", "two", "three", "four", "five", "six"};
    return text[n];
}

/* Which tensors or types the words before the sizes are of. */
static void put_names(const reader *r, bool layouts, kr_text *text)
{
    const kiln_family *f = r->family;
    const char *between = "";
    for (int i = 0; i < (layouts ? f->nlayouts : r->op.row->ntypes); i++) {
        if (!layouts && !kr_type_in_text(f, i)) continue;
        const int own = layouts ? f->layout_of[i] : f->ntypes ? f->type[i].tensor : KILN_NOWHERE;
        kr_put(text, "%s%s", between,
               own != KILN_NOWHERE ? kr_own_label(r->op.module, r->op.row, own).text
                                   : kr_str(r->op.module, r->op.row->type[i]));
        between = ", ";
    }
}

/* Why the op is read as one of a family that it may not be of. */
static const char *guessed(const reader *r, char *room, size_t size)
{
    kr_text text = {room, size, 0};
    *room = 0;
    if (!r->known)
        kr_put(&text, "; op '%s' is not known here and read as a %s", r->out->op,
               kr_str(r->op.module, r->family->name));
    return room;
}

static kiln_status not_types(const reader *r, word w, int count)
{
    char names[KILN_MAX_TYPES * (KILN_NAME_MAX + 2)], like[64] = "", why[256];
    kr_text text = {names, sizeof names, 0}, example = {like, sizeof like, 0};
    put_names(r, false, &text);
    for (int i = 0; i < count; i++) kr_put(&example, "%sf16", i ? "," : "");
    return INVALID("'%s' is not %s type%s as in %s (of %s)%s", show(w).text, number_word(count),
                   count == 1 ? "" : "s", like, names, guessed(r, why, sizeof why));
}

/* Whose dtype field holds a type of the signature. */
static kiln_dtype *type_of(const reader *r, int type)
{
    const kiln_family *f = r->family;
    if (f->ntypes && f->type[type].tensor == KILN_NOWHERE) return &r->out->acc;
    if (f->ntypes) return &r->out->tensor[f->at[f->type[type].tensor]].dtype;
    return NULL;
}

static void set_type(reader *r, int type, kiln_dtype to)
{
    kiln_dtype *const own = type_of(r, type);
    if (own) *own = to;
    for (int i = 0; i < r->op.row->ntensors && !own; i++) {
        const kiln_tensor_row *t = &r->op.row->tensor[i];
        if (t->type == (0x80 | type)) r->out->tensor[t->at].dtype = to;
    }
}

static kiln_status read_types(reader *r)
{
    int count = 0, read = 0;
    for (int i = 0; i < r->op.row->ntypes; i++) count += kr_type_in_text(r->family, i);
    if (count == 0) return KILN_OK;
    const word w = next_word(r);
    const char *p = w.p, *end = w.p + w.len;
    for (int i = 0; i < r->op.row->ntypes; i++) {
        if (!kr_type_in_text(r->family, i)) continue;
        const char *comma = p < end ? memchr(p, ',', (size_t)(end - p)) : NULL;
        const char *stop = comma ? comma : end;
        if (stop == p || (++read == count) != !comma) return not_types(r, w, count);
        const word type = {p, (int)(stop - p)};
        const kiln_dtype t = kr_dtype_by_name(type.p, (size_t)type.len);
        if (!t) return bad_dtype(type);
        set_type(r, i, t);
        p = stop + 1;
    }
    return KILN_OK;
}

static kiln_status read_layouts(reader *r)
{
    const kiln_family *f = r->family;
    if (f->nlayouts == 0) return KILN_OK;
    const word w = next_word(r);
    for (int i = 0; i < f->nlayouts; i++) {
        kiln_layout *const out = &r->out->tensor[f->at[f->layout_of[i]]].layout;
        *out = w.len != f->nlayouts ? KILN_LAYOUT_NONE
               : w.p[i] == 'r'      ? KILN_ROW
               : w.p[i] == 'c'      ? KILN_COL
                                    : KILN_LAYOUT_NONE;
        if (*out) continue;
        char names[KILN_MAX_LAYOUTS * (KILN_NAME_MAX + 2)], why[256];
        kr_text text = {names, sizeof names, 0};
        put_names(r, true, &text);
        return INVALID("'%s' is not %s layouts as in %.*s (of %s; r row-major, c column-major)%s",
                       show(w).text, number_word(f->nlayouts), f->nlayouts, "rcr", names,
                       guessed(r, why, sizeof why));
    }
    return KILN_OK;
}

static kiln_status read_value(const reader *r, word key, word value, field_kind kind, void *out)
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
                           "has %s=0",
                           show(key).text, show(value).text,
                           kr_str(r->op.module, r->family->size[0]));
        memcpy(out, &v, sizeof v);
        return KILN_OK;
    case LD:
        if (kr_has_planes(r->family) && is_word(value, "broadcast"))
            v = KILN_BROADCAST;
        else if (!read_number(value, INT64_MAX, &v) || v == 0)
            return INVALID("%s=%s: a leading dimension is a number of elements from 1",
                           show(key).text, show(value).text);
        memcpy(out, &v, sizeof v);
        return KILN_OK;
    case STRIDE:
    case PLANE:
        if (is_word(value, "broadcast") || is_word(value, "-1"))
            v = KILN_BROADCAST;
        else if (!read_number(value, INT64_MAX, &v) || v == 0)
            return INVALID("%s=%s: a %s stride is a number of elements from 1, or `broadcast`",
                           show(key).text, show(value).text, kind == PLANE ? "plane" : "batch");
        memcpy(out, &v, sizeof v);
        return KILN_OK;
    case ALIGN:
        if (!read_number(value, UINT32_MAX, &v) || v == 0 || (v & (v - 1)))
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

/* ---- fields by name ---- */

static kiln_status once(unsigned *seen, unsigned bit, word key)
{
    if (*seen & bit) return INVALID("%s is given twice", show(key).text);
    *seen |= bit;
    return KILN_OK;
}

static kiln_status read_t(reader *r, word key, word value, int at, const struct field *f)
{
    const kiln_status status = once(&r->t_seen[at], 1u << (f - t_field), key);
    if (status) return status;
    return read_value(r, key, value, f->kind, field_at(r->out, at, f));
}

/* One `align` for all operands that have none of their own. */
static kiln_status read_align(reader *r, word key, word value)
{
    uint32_t align;
    int at[KILN_MAX_TENSORS];
    if (r->align_seen) return INVALID("align is given twice");
    r->align_seen = true;
    const kiln_status status = read_value(r, key, value, ALIGN, &align);
    if (status) return status;
    for (int i = positions_of(r->family, at); i-- > 0;)
        if (!r->out->tensor[at[i]].align) r->out->tensor[at[i]].align = align;
    return KILN_OK;
}

static void put_extra(const reader *r, kr_text *text)
{
    for (int i = 0; i < r->op.row->ntensors; i++)
        if (r->op.row->tensor[i].own == KILN_NOWHERE)
            kr_put(text, " %s", kr_str(r->op.module, r->op.row->tensor[i].name));
}

static kiln_status unknown_field(const reader *r, word key)
{
    char names[1200] = "";
    kr_text text = {names, sizeof names, 0};
    const kiln_family *f = r->family;
    const kr_module *m = r->op.module;
    for (int i = 0; i < f->nsizes; i++)
        if (r->op.row->sizes >> KILN_POSITION(i) & 1) kr_put(&text, " %s", kr_str(m, f->size[i]));
    kr_put(&text, " %s", kr_size_name(m, r->op.row, KILN_BATCH));
    for (int i = 0; i < f->ntypes; i++)
        if (!kr_type_in_text(f, i)) kr_put(&text, " %s", kr_str(m, f->type[i].name));
    for (int k = 0; k < fields_of(f); k++) {
        if (t_field[k].kind == ALIGN) kr_put(&text, " align");
        for (int i = 0; i < f->nown; i++)
            kr_put(&text, " %s%s", t_field[k].name, kr_str(m, f->own[i]));
        if (f->most_extra) kr_put(&text, " %s%sNAME", t_field[k].name, kr_str(m, f->prefix));
    }
    if (f->most_extra && !*kr_str(m, f->prefix)) {
        kr_put(&text, ", where NAME is one of");
        put_extra(r, &text);
    }
    return INVALID("unknown field '%s'; there are%s", show(key).text, names);
}

/* Of an extra tensor; KILN_NOT_FOUND: the key is none. */
static kiln_status read_extra(reader *r, word key, word value)
{
    const char *prefix = kr_str(r->op.module, r->family->prefix);
    for (int k = 0; k < fields_of(r->family); k++) {
        const int skip = (int)(strlen(t_field[k].name) + strlen(prefix));
        const word name = {key.p + skip, key.len - skip};
        if (name.len < 0 || memcmp(key.p, t_field[k].name, strlen(t_field[k].name)) != 0 ||
            memcmp(key.p + strlen(t_field[k].name), prefix, strlen(prefix)) != 0)
            continue;
        if (!r->known) {
            const kiln_op_row *op;
            kr_module *m;
            if (kr_op_acquire(r->out->op, &op, &m) == KILN_OK) kr_module_close(m);
            return INVALID("'%s' names an input: %s", show(key).text, kiln_error());
        }
        for (int i = 0; i < r->op.row->ntensors; i++) {
            const kiln_tensor_row *t = &r->op.row->tensor[i];
            if (t->own == KILN_NOWHERE && is_word(name, kr_str(r->op.module, t->name)))
                return read_t(r, key, value, t->at, &t_field[k]);
        }
        if (!*prefix) continue;
        char names[KILN_MAX_TENSORS * (KILN_NAME_MAX + 1)] = "";
        kr_text text = {names, sizeof names, 0};
        put_extra(r, &text);
        return INVALID("'%s': op '%s' has no such input; it has%.200s", show(key).text, r->out->op,
                       *names ? names : " none");
    }
    return KILN_NOT_FOUND;
}

static kiln_status read_field(reader *r, word w)
{
    const char *equals = memchr(w.p, '=', (size_t)w.len);
    if (!equals) return INVALID("'%s' is not of the form name=value", show(w).text);
    const word key = {w.p, (int)(equals - w.p)}, value = {equals + 1, w.len - key.len - 1};
    const kiln_family *f = r->family;
    const kr_module *m = r->op.module;
    for (int i = 0; i <= KILN_MAX_SIZES; i++) {
        if (i != KILN_BATCH && !(r->op.row->sizes >> i & 1)) continue;
        if (!is_word(key, kr_size_name(m, r->op.row, i))) continue;
        const kiln_status status = once(&r->sizes_seen, 1u << i, key);
        return status
                   ? status
                   : read_value(r, key, value, i == KILN_BATCH ? COUNT : SIZE, kr_size(r->out, i));
    }
    for (int i = 0; i < f->ntypes; i++) {
        if (kr_type_in_text(f, i) || !is_word(key, kr_str(m, f->type[i].name))) continue;
        const kiln_status status = once(&r->types_seen, 1u << i, key);
        return status ? status : read_value(r, key, value, DTYPE, type_of(r, i));
    }
    if (is_word(key, "align")) return read_align(r, key, value);
    for (int k = 0; k < fields_of(f); k++) {
        const int skip = (int)strlen(t_field[k].name);
        if (key.len <= skip || memcmp(key.p, t_field[k].name, (size_t)skip) != 0) continue;
        for (int i = 0; i < f->nown; i++)
            if (is_word((word){key.p + skip, key.len - skip}, kr_str(m, f->own[i])))
                return read_t(r, key, value, f->at[i], &t_field[k]);
    }
    const kiln_status status = read_extra(r, key, value);
    return status == KILN_NOT_FOUND ? unknown_field(r, key) : status;
}

/* Sizes that kernels are compiled for may be left out: kr_sign says where that is not clear. */
static bool needed(const reader *r, int size)
{
    if (size == KILN_BATCH || !(r->op.row->sizes >> size & 1)) return false;
    for (int i = 0; i < r->family->nfixed; i++)
        if (r->family->fixed[i] == size) return false;
    return true;
}

static kiln_status read_problem(reader *r)
{
    kiln_status status = read_op(r);
    if (status == KILN_OK) status = read_types(r);
    if (status == KILN_OK) status = read_layouts(r);
    for (word w; status == KILN_OK && (w = next_word(r)).len;) status = read_field(r, w);
    for (int i = 0; status == KILN_OK && i <= KILN_MAX_SIZES; i++)
        if (needed(r, i) && !(r->sizes_seen & 1u << i))
            status = INVALID("%s= is missing", kr_size_name(r->op.module, r->op.row, i));
    return status;
}

kiln_status kiln_problem_parse_sized(const char *text, kiln_problem *out, size_t size)
{
    if (!text || !out) return kr_fail(KILN_INVALID, "kiln_problem_parse needs a text and a place");
    if (strnlen(text, TEXT_MAX) == TEXT_MAX) return INVALID("longer than %d bytes", TEXT_MAX - 1);
    kiln_problem p = {.struct_size = sizeof p};
    reader r = {.at = text, .out = &p};
    const kiln_status status = read_problem(&r);
    if (r.op.row) kr_op_release(&r.op, r.known);
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

static void put_value(kr_text *t, const char *name, const char *prefix, const char *tensor,
                      const struct field *f, const kiln_problem *p, int at)
{
    int64_t v = 0;
    kiln_problem *const all = (kiln_problem *)(uintptr_t)p;
    const char *from = field_at(all, at, f);
    if (f->kind == ALIGN)
        v = *(const uint32_t *)(const void *)from;
    else
        memcpy(&v, from, sizeof v);
    if (v == 0) return;
    kr_put(t, " %s%s%s=", name, prefix, tensor);
    if (f->kind != ALIGN && v == KILN_BROADCAST)
        kr_put(t, "broadcast");
    else
        kr_put(t, "%lld", (long long)v);
}

/* What one `align=` says: the alignment that every operand has.  Of an op that is not known here
 * the extra tensors have no names, so there it speaks for those and the family's own may say
 * otherwise. */
static uint32_t common_align(const kiln_problem *p, const kr_op *op, bool known)
{
    const kiln_family *f = kr_family(op->module, op->row);
    int at[KILN_MAX_TENSORS];
    const int n = known ? op->row->ntensors : positions_of(f, at);
    uint32_t align = 0;
    for (int i = 0; i < n; i++) {
        const uint32_t a = p->tensor[known ? op->row->tensor[i].at : at[i]].align;
        if (!a) return 0;
        if (!known && i < f->nown) continue;
        if (align && a != align) return 0;
        align = a;
    }
    return align;
}

static bool has_extra_fields(const kiln_problem *p, const kiln_family *f, bool align)
{
    for (int i = f->extra; i < f->extra + f->most_extra; i++)
        if (p->tensor[i].ld || p->tensor[i].batch_stride || (align && p->tensor[i].align))
            return true;
    return false;
}

/* Sizes that kernels are compiled for stand there where the problem says them. */
static bool put_size(const kiln_problem *p, const kr_op *op, int size)
{
    if (size == KILN_BATCH || !(op->row->sizes >> size & 1)) return false;
    const kiln_family *f = kr_family(op->module, op->row);
    for (int i = 0; i < f->nfixed; i++)
        if (f->fixed[i] == size) return kr_size_of(p, size) != 0;
    return true;
}

static void put_fields(const kiln_problem *p, const kr_op *op, const uint8_t *sig, uint32_t align,
                       kr_text *t)
{
    const kr_module *m = op->module;
    const kiln_family *f = kr_family(m, op->row);
    bool types = false;
    for (int i = 0; i < op->row->ntypes; i++) types |= kr_type_in_text(f, i);
    kr_put(t, types ? "%s " : "%s", p->op);
    kr_put_types(f, op->row, sig, t);
    if (f->nlayouts) kr_put(t, " ");
    kr_put_layouts(f, op->row, sig, t);
    for (int i = 0; i <= KILN_MAX_SIZES; i++)
        if (put_size(p, op, i))
            kr_put(t, " %s=%lld", kr_size_name(m, op->row, i), (long long)kr_size_of(p, i));
    for (int i = 0; i < f->ntypes; i++)
        if (!kr_type_in_text(f, i) && p->acc)
            kr_put(t, " %s=%s", kr_str(m, f->type[i].name), kiln_dtype_name(p->acc));
    if (p->size[KILN_BATCH] > 1)
        kr_put(t, " %s=%lld", kr_size_name(m, op->row, KILN_BATCH),
               (long long)p->size[KILN_BATCH]);
    for (int k = 0; k < fields_of(f); k++)
        for (int i = 0; i < f->nown; i++) {
            if (t_field[k].kind == ALIGN && p->tensor[f->at[i]].align == align) continue;
            put_value(t, t_field[k].name, "", kr_str(m, f->own[i]), &t_field[k], p, f->at[i]);
        }
    for (int i = 0; i < op->row->ntensors; i++) {
        const kiln_tensor_row *row = &op->row->tensor[i];
        for (int k = 0; k < fields_of(f) && row->own == KILN_NOWHERE; k++)
            if (!(t_field[k].kind == ALIGN && align))
                put_value(t, t_field[k].name, kr_str(m, f->prefix), kr_str(m, row->name),
                          &t_field[k], p, row->at);
    }
    if (align) kr_put(t, " align=%u", align);
}

kiln_status kr_put_problem(const kiln_problem *p, kr_text *t)
{
    kr_op op;
    bool known;
    uint64_t hash;
    kr_signature sig;
    kiln_status status = kr_op_name(p, &hash);
    if (status == KILN_OK) status = kr_op_guess(p->op, &op, &known);
    if (status) return status;
    const kiln_family *f = kr_family(op.module, op.row);
    const uint32_t align = common_align(p, &op, known);
    if (!known && has_extra_fields(p, f, !align))
        status = kr_fail(KILN_NOT_FOUND, "the inputs of op '%s' have no names here: %s", p->op,
                         kiln_error());
    if (status == KILN_OK) status = kr_sign(p, op.module, op.row, hash, &sig);
    if (status == KILN_OK) put_fields(p, &op, sig.sig, align, t);
    kr_op_release(&op, known);
    return status;
}

kiln_status kiln_problem_format(const kiln_problem *p, char *out, size_t *len)
{
    if (!len) return kr_fail(KILN_INVALID, "kiln_problem_format needs a length");
    kiln_problem room;
    if (!(p = kr_problem_in(p, &room))) return KILN_INVALID;
    kr_text t = {out, *len, 0};
    const kiln_status status = kr_put_problem(p, &t);
    return status ? status : kr_text_end(&t, len);
}
