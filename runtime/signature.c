// SPDX-License-Identifier: MIT
// What a problem is found by: its op's name, its types and its layouts, as the op and its family
// name them.
#include <string.h>
#include "internal.h"

#define INVALID(...) kr_fail(KILN_INVALID, __VA_ARGS__)

kiln_status kr_op_name(const kiln_problem *p, uint64_t *hash)
{
    if (!p->op[0] || !memchr(p->op, 0, sizeof p->op))
        return INVALID("kiln_problem.op is %s: it takes the name of an op, at most %d bytes",
                       p->op[0] ? "not 0-terminated" : "empty", KILN_NAME_MAX - 1);
    *hash = kiln_name_hash(p->op);
    return KILN_OK;
}

const char *kr_size_name(const kr_module *m, const kiln_op_row *op, int position)
{
    if (position == KILN_BATCH) return op->batch ? kr_str(m, op->batch) : "batch";
    return kr_str(m, kr_family(m, op)->size[position - (position > KILN_BATCH)]);
}

/* ---- types ---- */

/* Where a type is the family's: of a tensor of its own, or kiln_problem.acc. */
static kiln_dtype family_type(const kiln_problem *p, const kiln_family *f, int i,
                              const uint8_t *sig)
{
    const kiln_type_row *t = &f->type[i];
    if (t->tensor != KILN_NOWHERE) return p->tensor[f->at[t->tensor]].dtype;
    if (p->acc) return p->acc;
    bool integers = true;
    for (int from = 0; from < i; from++)
        if (t->of >> from & 1 && kr_dtype_ok((kiln_dtype)sig[from]) &&
            kr_is_float((kiln_dtype)sig[from]))
            integers = false;
    return (kiln_dtype)(integers ? t->integer : t->real);
}

static kiln_status bad_family_types(const kiln_problem *p, const kr_module *m, const kiln_family *f,
                                    const uint8_t *sig)
{
    for (int own = 0; own < f->nown; own++) {
        const kiln_tensor *t = &p->tensor[f->at[own]];
        for (int i = 0; i < f->ntypes; i++)
            if (f->type[i].tensor == own && !kr_dtype_ok(t->dtype))
                return INVALID("%s.dtype is %d: name one of kiln_dtype", kr_str(m, f->own[own]),
                               (int)t->dtype);
        for (int i = 0; i < f->nlayouts; i++)
            if (f->layout_of[i] == own && !kr_layout_ok(t->layout))
                return INVALID("%s.layout is %d: it is KILN_ROW or KILN_COL",
                               kr_str(m, f->own[own]), (int)t->layout);
    }
    int i = 0;
    while (i + 1 < f->ntypes && kr_dtype_ok((kiln_dtype)sig[i])) i++;
    const char *name = kr_str(m, f->type[i].name);
    return p->acc ? INVALID("%s is %d: name one of kiln_dtype, or 0 for the default", name,
                            (int)p->acc)
                  : INVALID("%s is not given: name one of kiln_dtype", name);
}

/* The types of an op that names its own: each from the first of its tensors that says one. */
static kiln_status op_types(const kiln_problem *p, const kr_module *m, const kiln_op_row *op,
                            uint8_t *sig)
{
    for (int i = 0; i < op->ntensors; i++) {
        const kiln_tensor_row *t = &op->tensor[i];
        const kiln_dtype type = p->tensor[t->at].dtype;
        if (!(t->type & 0x80) || !type) continue;
        if (!kr_dtype_ok(type))
            return INVALID("tensor[%d].dtype (%s's '%s') is %d: name one of kiln_dtype", t->at,
                           p->op, kr_str(m, t->name), (int)type);
        uint8_t *const to = &sig[t->type & 0x7f];
        if (!*to) *to = (uint8_t)type;
    }
    for (int i = 0; i < op->ntypes; i++) {
        if (sig[i]) continue;
        int at = 0;
        while (at + 1 < op->ntensors && op->tensor[at].type != (0x80 | i)) at++;
        return INVALID("%s's type '%s' is not given: set tensor[%d].dtype, that of '%s'", p->op,
                       kr_str(m, op->type[i]), op->tensor[at].at, kr_str(m, op->tensor[at].name));
    }
    return KILN_OK;
}

/* The row of the op's fixed sizes that a problem means: the first that has all it says. */
static kiln_status fixed_row(const kiln_problem *p, const kr_module *m, const kiln_op_row *op,
                             uint8_t *out)
{
    const kiln_family *f = kr_family(m, op);
    char names[16 * (KILN_MAX_FIXED * (KILN_NAME_MAX + 24) + 8)] = "";
    kr_text text = {names, sizeof names, 0};
    bool given = false;
    for (int i = 0; i < f->nfixed; i++) given |= kr_size_of(p, f->fixed[i]) != 0;
    for (uint32_t r = 0; r < op->nfixed; r++) {
        bool fits = given || op->nfixed == 1;
        const int64_t *const row = kr_fixed(m, op, (int)r);
        for (int i = 0; i < f->nfixed; i++) {
            const int64_t size = kr_size_of(p, f->fixed[i]);
            fits &= !size || size == row[i];
            kr_put(&text, "%s%s=%lld",
                   i   ? " "
                   : r ? ", "
                       : "",
                   kr_size_name(m, op, f->fixed[i]), (long long)row[i]);
        }
        *out = (uint8_t)r;
        if (fits) return KILN_OK;
    }
    return given ? kr_fail(KILN_NOT_FOUND, "%s is not described for these sizes; it has %s", p->op,
                           names)
                 : INVALID("%s= is missing: %s has %s", kr_size_name(m, op, f->fixed[0]), p->op,
                           names);
}

kiln_status kr_sign(const kiln_problem *p, const kr_module *m, const kiln_op_row *op, uint64_t hash,
                    kr_signature *out)
{
    const kiln_family *f = kr_family(m, op);
    uint8_t *const sig = out->sig;
    bool ok = true;
    if (f->ntypes) {
        for (int i = 0; i < f->ntypes; i++) {
            const kiln_dtype type = family_type(p, f, i, sig);
            sig[i] = (uint8_t)type;
            ok &= kr_dtype_ok(type);
        }
    } else {
        memset(sig, 0, op->ntypes);
        const kiln_status status = op_types(p, m, op, sig);
        if (status) return status;
    }
    for (int i = 0; i < f->nlayouts; i++) {
        const kiln_layout layout = p->tensor[f->at[f->layout_of[i]]].layout;
        sig[op->ntypes + i] = (uint8_t)layout;
        ok &= kr_layout_ok(layout);
    }
    if (!ok) return bad_family_types(p, m, f, sig);
    out->n = op->ntypes + f->nlayouts;
    if (f->nfixed) {
        const kiln_status status = fixed_row(p, m, op, &sig[out->n++]);
        if (status) return status;
    }
    out->key = kiln_key_of(hash, sig, out->n);
    return KILN_OK;
}

/* ---- in words ---- */

bool kr_type_in_text(const kiln_family *f, int type)
{
    return !f->ntypes || f->type[type].tensor != KILN_NOWHERE;
}

void kr_put_types(const kiln_family *f, const kiln_op_row *op, const uint8_t *sig, kr_text *t)
{
    const char *between = "";
    for (int i = 0; i < op->ntypes; i++) {
        if (!kr_type_in_text(f, i)) continue;
        kr_put(t, "%s%s", between, kiln_dtype_name((kiln_dtype)sig[i]));
        between = ",";
    }
}

void kr_put_layouts(const kiln_family *f, const kiln_op_row *op, const uint8_t *sig, kr_text *t)
{
    for (int i = 0; i < f->nlayouts; i++)
        kr_put(t, "%c", sig[op->ntypes + i] == KILN_ROW ? 'r' : 'c');
}

kr_label kr_own_label(const kr_module *m, const kiln_op_row *op, int own)
{
    kr_label label = {{0}};
    int count = 0;
    const char *name = "";
    for (int i = 0; i < op->ntensors; i++)
        if (op->tensor[i].own == own) name = kr_str(m, op->tensor[i].name), count++;
    if (count != 1) name = kr_str(m, kr_family(m, op)->own[own]);
    for (int i = 0; name[i] && i < KILN_NAME_MAX - 1; i++)
        label.text[i] =
            (char)(count > 1 && name[i] >= 'a' && name[i] <= 'z' ? name[i] - 32 : name[i]);
    return label;
}
