// SPDX-License-Identifier: MIT
// A module's table, number by number, before anything else trusts it: versions, sizes, offsets,
// positions, the rows' order and keys, and that every pointer stays inside the loaded object.
#define _GNU_SOURCE
#include <link.h>
#include <string.h>
#include "internal.h"

typedef struct check {
    const char *file;
    const kiln_module *t;
    uintptr_t lo, hi; /* the loaded object */
} check;

#define BAD(c, ...) (kr_fail(KILN_BAD_MODULE, "%s: damaged (" __VA_ARGS__), false)

/* ---- the object's place in memory ---- */

static int find_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    check *c = arg;
    uintptr_t lo = UINTPTR_MAX, hi = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
        const uintptr_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        if (at < lo) lo = at;
        if (at + info->dlpi_phdr[i].p_memsz > hi) hi = at + info->dlpi_phdr[i].p_memsz;
    }
    if ((uintptr_t)c->t < lo || (uintptr_t)c->t >= hi) return 0;
    c->lo = lo;
    c->hi = hi;
    return 1;
}

static bool inside(const check *c, const void *p, uint64_t count, size_t size, size_t align)
{
    if (count == 0) return true;
    const uintptr_t at = (uintptr_t)p;
    return at >= c->lo && at < c->hi && at % align == 0 && count <= (c->hi - at) / size;
}

static bool is_code(const check *c, uintptr_t function)
{
    return function >= c->lo && function < c->hi;
}

/* ---- text ---- */

static bool text_ok(const check *c, kiln_str s)
{
    return s < c->t->strings_size; /* the pool ends in a 0 byte */
}

static bool name_ok(const check *c, kiln_str s)
{
    return text_ok(c, s) && c->t->strings[s] && strlen(c->t->strings + s) < KILN_NAME_MAX;
}

/* ---- parts ---- */

/* Of a family: what its ops, rows and problems are read by. */
static bool family_types_ok(const check *c, const kiln_family *f)
{
    int without = 0; /* types that no tensor has: kiln_problem has room for one */
    for (int i = 0; i < f->ntypes; i++) {
        const kiln_type_row *t = &f->type[i];
        if (!name_ok(c, t->name)) return false;
        if (t->tensor != KILN_NOWHERE) {
            if (t->tensor >= f->nown) return false;
            continue;
        }
        if (++without > 1 || t->of >> i) return false; /* default from the types before it */
        if (t->integer >= KILN_DTYPE_COUNT || t->real >= KILN_DTYPE_COUNT) return false;
    }
    return true;
}

static uint32_t args_size(const kiln_family *f)
{
    const unsigned strides = kr_has_planes(f) ? 3 : 2;
    const size_t size = (f->pointers + 1u) * sizeof(void *) +
                        strides * f->pitches * sizeof(int64_t) + (f->nsizes + 1u) * sizeof(int) +
                        KILN_MAX_SCALARS * sizeof(float) + 2 * sizeof(int);
    return (uint32_t)((size + 7) / 8 * 8);
}

static bool is_size(const kiln_family *f, uint8_t at)
{
    return at != KILN_BATCH && at - (at > KILN_BATCH) < f->nsizes;
}

/* Numbers from `first` on in lists of `step`. */
static bool shapes_ok(const check *c, uint32_t first, uint32_t count, uint32_t step)
{
    return first <= c->t->nshapes && count <= (c->t->nshapes - first) / step;
}

/* Bits of sizes. */
static bool bits_ok(const kiln_family *f, unsigned bits)
{
    for (int i = 0; i < 16; i++)
        if (bits >> i & 1 && !is_size(f, (uint8_t)i)) return false;
    return true;
}

/* Planes, and what goes with them; sizes that kernels are compiled for; words. */
static bool family_extras_ok(const check *c, const kiln_family *f)
{
    if (kr_has_planes(f) ? !is_size(f, f->planes) : f->groups != KILN_NOWHERE) return false;
    if (f->groups != KILN_NOWHERE && !is_size(f, f->groups)) return false;
    if (f->nfixed > KILN_MAX_FIXED || f->noptions > KILN_MAX_OPTIONS) return false;
    for (int i = 0; i < f->nfixed; i++)
        if (!is_size(f, f->fixed[i])) return false;
    for (int i = 0; i < f->noptions; i++)
        if (!name_ok(c, f->option[i])) return false;
    for (int i = 0; i < KILN_MAX_FUNCTIONS; i++)
        if (!text_ok(c, f->function[i])) return false;
    for (int i = 0; i < KILN_MAX_PLACES; i++)
        if (!text_ok(c, f->place[i])) return false;
    return true;
}

static bool family_ok(const check *c, const kiln_family *f)
{
    if (!name_ok(c, f->name) || !text_ok(c, f->prefix) || !text_ok(c, f->example)) return false;
    if (f->nsizes < 1 || f->nsizes > KILN_MAX_SIZES || f->nown > KILN_MAX_OWN ||
        f->ntypes > KILN_MAX_TYPES || f->nlayouts > KILN_MAX_LAYOUTS)
        return false;
    for (int i = 0; i < f->nsizes; i++)
        if (!name_ok(c, f->size[i])) return false;
    unsigned used = 0; /* positions in kiln_problem.tensor */
    for (int i = 0; i < f->nown; i++) {
        if (!name_ok(c, f->own[i]) || f->at[i] >= KILN_MAX_TENSORS || used >> f->at[i] & 1)
            return false;
        used |= 1u << f->at[i];
    }
    if (f->extra + f->most_extra > KILN_MAX_TENSORS) return false;
    for (int i = 0; i < f->most_extra; i++)
        if (used >> (f->extra + i) & 1) return false;
    for (int i = 0; i < f->nlayouts; i++)
        if (f->layout_of[i] >= f->nown) return false;
    if (!is_size(f, f->rows) || !is_size(f, f->cols) || !bits_ok(f, f->empty) ||
        !bits_ok(f, f->independent) || (f->summed != KILN_NOWHERE && !is_size(f, f->summed)))
        return false;
    if (f->pointers > KR_MAX_PLACES || f->pitches > KR_MAX_PLACES || f->args_size != args_size(f))
        return false;
    return shapes_ok(c, f->first_shape, f->shapes, kiln_shape_step(f->nsizes)) &&
           f->quick <= f->shapes && family_types_ok(c, f) && family_extras_ok(c, f);
}

/* Reductions run over columns: where elements along them do not depend on each other there are
 * none, but in ops that have outputs beside the family's own. */
static bool names_outputs(const kiln_op_row *op)
{
    bool own = false, more = false;
    for (int i = 0; i < op->ntensors && i < KILN_MAX_TENSORS; i++)
        *(op->tensor[i].own == KILN_NOWHERE ? &more : &own) |= op->tensor[i].out;
    return own && more;
}

static bool reduces(const kiln_family *f, const kiln_op_row *op)
{
    return !(f->independent >> f->cols & 1) || names_outputs(op);
}

static bool is_block(double columns)
{
    return columns >= KILN_BLOCK_LEAST && columns <= KILN_BLOCK_MOST &&
           columns == (double)(int)columns && !((int)columns & ((int)columns - 1));
}

typedef struct op_facts {
    const kiln_op_row *op;
    const kiln_family *family;
    int inputs;
} op_facts;

static bool node_ok(const op_facts *o, const kiln_xnode *n, uint32_t at, bool main)
{
    if (n->op >= KILN_X_COUNT) return false;
    for (int i = 0; i < 3; i++) /* an unused operand is 0, so that evaluation may look at it */
        if (i < kr_x_operands[n->op] ? n->arg[i] >= at : n->arg[i] != 0) return false;
    if (kiln_x_is_row_reduction(n->op)) return main && reduces(o->family, o->op);
    if (kiln_x_is_col_reduction(n->op)) return main && names_outputs(o->op);
    if (kiln_x_is_block_reduction(n->op))
        return main && reduces(o->family, o->op) && is_block((double)n->value);
    const bool any = main || o->family->computes; /* such a family's functions have all leaves */
    switch ((kiln_xop)n->op) {
    case KILN_X_ACC:
        return main && o->family->summed != KILN_NOWHERE && n->index < o->op->products;
    case KILN_X_D:
        return n->index < o->inputs;
    case KILN_X_SCALAR:
        return any && n->index < o->op->nscalars;
    case KILN_X_AT:
        return any && n->index < (kr_has_planes(o->family) ? 4 : 2) && o->op->uses_at;
    case KILN_X_ARG:
        return !main || o->family->summed == KILN_NOWHERE; /* which has products in place of it */
    case KILN_X_CAST:
        return kr_dtype_ok((kiln_dtype)n->index);
    default:
        return true;
    }
}

static bool expr_ok(const check *c, const op_facts *o, kiln_expr_ref ref, bool main)
{
    if (ref.count > KILN_EXPR_MAX || ref.first > c->t->nnodes ||
        ref.count > c->t->nnodes - ref.first)
        return false;
    for (uint32_t i = 0; i < ref.count; i++)
        if (!node_ok(o, &c->t->nodes[ref.first + i], i, main)) return false;
    return true;
}

static bool dimension_ok(const kiln_family *f, uint8_t size, uint16_t block)
{
    if (size == KILN_NOWHERE) return block == 1;
    return is_size(f, size) && block > 0;
}

static bool tensor_ok(const check *c, const op_facts *o, const kiln_tensor_row *t)
{
    const kiln_family *f = o->family;
    if (!name_ok(c, t->name) || t->at >= KILN_MAX_TENSORS || t->arg >= KILN_MAX_TENSORS ||
        t->out > 1 || t->pointer >= f->pointers || t->pitch >= f->pitches)
        return false;
    if (t->own != KILN_NOWHERE ? t->own >= f->nown || t->at != f->at[t->own] || t->kind
                               : t->kind < KILN_D_FULL || t->kind > KILN_D_INDEX ||
                                     t->at < f->extra || t->at >= f->extra + f->most_extra)
        return false;
    if (t->type & 0x80 ? (t->type & 0x7f) >= o->op->ntypes : !kr_dtype_ok((kiln_dtype)t->type))
        return false;
    if (t->layout & 0x80 ? (t->layout & 0x7f) >= f->nlayouts : t->layout > KILN_COL) return false;
    const bool by_batch = t->index && t->rows == KILN_BATCH && t->row_block == 1;
    if ((!by_batch && !dimension_ok(f, t->rows, t->row_block)) ||
        !dimension_ok(f, t->cols, t->col_block))
        return false;
    if (!dimension_ok(f, t->planes, 1)) return false;
    if (t->batches && t->batches != KILN_ONE_BATCH && t->batches != KILN_BATCH + 1 &&
        !is_size(f, (uint8_t)(t->batches - 1)))
        return false;
    if (t->index > KILN_INDEX_ROW || (t->index != 0) != (t->kind == KILN_D_INDEX)) return false;
    if (t->index && (t->out || t->type != KILN_I32 || !is_size(f, t->within))) return false;
    return !t->out || f->computes || t->result < o->op->function[0].count;
}

/* Several tensors that are one of the family's own are neighbours, and alike in a problem; else
 * every place is one tensor's. */
static bool tensors_ok(const check *c, op_facts *o)
{
    const kiln_tensor_row *t = o->op->tensor;
    unsigned at = 0, arg = 0, pointer = 0, pitch = 0, own = 0;
    int products = 1;
    for (int i = 0; i < o->op->ntensors; i++) {
        if (!tensor_ok(c, o, &t[i])) return false;
        const bool again = i && t[i].own != KILN_NOWHERE && t[i].own == t[i - 1].own;
        if (again &&
            (t[i].out || t[i].rows != t[i - 1].rows || t[i].cols != t[i - 1].cols ||
             t[i].row_block != t[i - 1].row_block || t[i].col_block != t[i - 1].col_block ||
             t[i].type != t[i - 1].type || t[i].layout != t[i - 1].layout ||
             t[i].pitch != t[i - 1].pitch || t[i].planes != t[i - 1].planes ||
             t[i].page != t[i - 1].page || t[i].batches != t[i - 1].batches))
            return false;
        if (!again && (at >> t[i].at & 1 || pitch >> t[i].pitch & 1 ||
                       (t[i].own != KILN_NOWHERE && own >> t[i].own & 1)))
            return false;
        if (arg >> t[i].arg & 1 || pointer >> t[i].pointer & 1) return false;
        products += again;
        at |= 1u << t[i].at;
        arg |= 1u << t[i].arg;
        pointer |= 1u << t[i].pointer;
        pitch |= 1u << t[i].pitch;
        if (t[i].own != KILN_NOWHERE) own |= 1u << t[i].own;
        o->inputs += kr_is_input(&t[i]);
    }
    if (o->family->summed != KILN_NOWHERE && o->op->products != products) return false;
    return own + 1u == 1u << o->family->nown; /* all of the family's */
}

/* Words, and rows of the sizes that kernels are compiled for. */
static bool choices_ok(const check *c, const op_facts *o)
{
    const kiln_op_row *op = o->op;
    for (int i = 0; i < KILN_MAX_OPTIONS; i++)
        if (!text_ok(c, op->option[i])) return false;
    if (op->batch ? !name_ok(c, op->batch) : false) return false;
    if (!bits_ok(o->family, op->sizes) || op->nfixed > UINT8_MAX ||
        !shapes_ok(c, op->first_fixed, op->nfixed, KILN_MAX_FIXED))
        return false;
    for (uint32_t i = 0; i < op->nfixed * KILN_MAX_FIXED; i++)
        if (c->t->shapes[op->first_fixed + i] < 0 || c->t->shapes[op->first_fixed + i] > INT32_MAX)
            return false;
    return (op->nfixed > 0) == (o->family->nfixed > 0);
}

static bool op_ok(const check *c, const kiln_op_row *op)
{
    if (!name_ok(c, op->name) || !text_ok(c, op->file) || op->family >= c->t->nfamilies)
        return false;
    op_facts o = {op, &c->t->families[op->family], 0};
    if (op->ntensors < 1 || op->ntensors > KILN_MAX_TENSORS || op->nscalars > KILN_MAX_SCALARS ||
        op->products > KILN_MAX_B || op->ntypes > KILN_MAX_TYPES)
        return false;
    if (o.family->ntypes && op->ntypes != o.family->ntypes) return false;
    for (int i = 0; i < op->ntypes; i++)
        if (!name_ok(c, op->type[i])) return false;
    for (int i = 0; i < op->nscalars; i++)
        if (!name_ok(c, op->scalar[i])) return false;
    if ((op->function[0].count == 0 && !o.family->computes) ||
        !shapes_ok(c, op->first_shape, op->shapes, kiln_shape_step(o.family->nsizes)) ||
        !choices_ok(c, &o))
        return false;
    if (!tensors_ok(c, &o)) return false;
    for (int i = 0; i < KILN_MAX_FUNCTIONS; i++) {
        if (!expr_ok(c, &o, op->function[i], i == 0)) return false;
        for (int p = 1; p < KILN_MAX_B; p++)
            if (!expr_ok(c, &o, op->more[p - 1][i], false)) return false;
    }
    return true;
}

static bool schedule_ok(const check *c, const kiln_schedule *s)
{
    if (!name_ok(c, s->name) || s->slots > KILN_MAX_SLOTS || s->tunables > s->slots ||
        s->rules > 1000)
        return false;
    if (!inside(c, s->rule_text, s->rules, sizeof *s->rule_text, _Alignof(kiln_str)) ||
        !inside(c, s->slot_name, s->slots, sizeof *s->slot_name, _Alignof(kiln_str)))
        return false;
    for (uint32_t i = 0; i < s->rules; i++)
        if (!text_ok(c, s->rule_text[i])) return false;
    for (uint32_t i = 0; i < s->slots; i++)
        if (!text_ok(c, s->slot_name[i])) return false;
    if (s->nparts > KILN_MAX_PARTS ||
        !inside(c, s->part, s->nparts, sizeof *s->part, _Alignof(kiln_part)) ||
        (s->nparts && !is_code(c, (uintptr_t)s->parts)))
        return false;
    for (uint32_t i = 0; i < s->nparts; i++)
        if (!text_ok(c, s->part[i].name) || s->part[i].kind >= KILN_PART_KINDS) return false;
    return is_code(c, (uintptr_t)s->check) && is_code(c, (uintptr_t)s->plan) &&
           is_code(c, (uintptr_t)s->workspace) && is_code(c, (uintptr_t)s->cost);
}

static bool code_inside(const kiln_module *t, uint64_t offset, uint64_t size)
{
    return offset <= t->code_size && size <= t->code_size - offset;
}

/* The row's maps are of the op's tensors; rows are gathered by an index array that it has. */
static bool maps_of_row_ok(const kiln_module *t, const kiln_row *r, const kiln_op_row *op)
{
    for (int i = 0; i < r->maps; i++) {
        const kiln_map *m = &t->map[r->first_map + (uint32_t)i];
        if (m->operand >= op->ntensors) return false;
        bool named = !m->gathered;
        for (int x = 0; x < op->ntensors; x++)
            named |= op->tensor[x].index == KILN_INDEX_ROW &&
                     op->tensor[x].within == op->tensor[m->operand].rows;
        if (!named || (m->gathered && !r->realigns)) return false;
    }
    return true;
}

static bool row_ok(const check *c, const kiln_row *r, bool host)
{
    const kiln_module *t = c->t;
    if (!text_ok(c, r->name) || !t->strings[r->name] || r->op >= t->nops ||
        r->schedule >= t->nschedules)
        return false;
    const kiln_op_row *op = &t->ops[r->op];
    const kiln_family *f = &t->families[op->family];
    const int letters = op->ntypes + f->nlayouts, n = letters + (f->nfixed > 0);
    for (int i = 0; i < KILN_MAX_SIG; i++)
        if (i < op->ntypes ? !kr_dtype_ok((kiln_dtype)r->sig[i])
            : i < letters  ? !kr_layout_ok((kiln_layout)r->sig[i])
            : i < n        ? r->sig[i] >= op->nfixed
                           : r->sig[i] != 0)
            return false;
    if (r->key != kiln_key_of(kiln_name_hash(t->strings + op->name), r->sig, n)) return false;
    if (r->maps > KR_MAX_MAPS || r->first_map > t->nmaps || r->maps > t->nmaps - r->first_map)
        return false;
    if (!maps_of_row_ok(t, r, op)) return false;
    for (int i = 0; i < KILN_MAX_STAGES; i++)
        if (!text_ok(c, r->symbol[i])) return false;
    if (r->realigns && (r->realigns > 1 || !r->maps || !t->realign.size)) return false;
    if (host) return r->host_fn < t->nhost_fns && is_code(c, (uintptr_t)t->host_fns[r->host_fn]);
    return r->code_size > 0 && code_inside(t, r->code_offset, r->code_size) &&
           t->strings[r->symbol[0]];
}

static bool map_ok(const kiln_map *m)
{
    return m->operand < KILN_MAX_TENSORS && m->box_inner > 0 && m->box_outer > 0 &&
           m->box_inner <= 256 && m->box_outer <= 256 && m->box_planes <= 256 &&
           m->clip <= KILN_CLIP_REST && m->promote <= 3 && m->optional <= 1 && m->gathered <= 1 &&
           (m->swizzle == 0 || m->swizzle == 32 || m->swizzle == 64 || m->swizzle == 128);
}

static bool arrays_ok(const check *c)
{
    const kiln_module *t = c->t;
    return inside(c, t->rows, t->nrows, sizeof *t->rows, _Alignof(kiln_row)) &&
           inside(c, t->ops, t->nops, sizeof *t->ops, _Alignof(kiln_op_row)) &&
           inside(c, t->families, t->nfamilies, sizeof *t->families, _Alignof(kiln_family)) &&
           inside(c, t->schedules, t->nschedules, sizeof *t->schedules, _Alignof(kiln_schedule)) &&
           inside(c, t->nodes, t->nnodes, sizeof *t->nodes, _Alignof(kiln_xnode)) &&
           inside(c, t->map, t->nmaps, sizeof *t->map, _Alignof(kiln_map)) &&
           inside(c, t->host_fns, t->nhost_fns, sizeof *t->host_fns, _Alignof(kiln_host_fn)) &&
           inside(c, t->shapes, t->nshapes, sizeof *t->shapes, _Alignof(int64_t)) &&
           inside(c, t->code, t->code_size, 1, 1) && inside(c, t->strings, t->strings_size, 1, 1);
}

static bool contents_ok(const check *c)
{
    const kiln_module *t = c->t;
    if (!arrays_ok(c) || !code_inside(t, t->realign.offset, t->realign.size))
        return BAD(c, "an array lies outside the file); build it again", c->file);
    if (t->strings_size == 0 || t->strings[0] || t->strings[t->strings_size - 1] ||
        !name_ok(c, t->target))
        return BAD(c, "its text is not whole); build it again", c->file);
    for (uint32_t i = 0; i < t->nfamilies; i++)
        if (!family_ok(c, &t->families[i])) return BAD(c, "family %u); build it again", c->file, i);
    for (uint32_t i = 0; i < t->nops; i++)
        if (!op_ok(c, &t->ops[i])) return BAD(c, "op %u); build it again", c->file, i);
    for (uint32_t i = 0; i < t->nschedules; i++)
        if (!schedule_ok(c, &t->schedules[i]))
            return BAD(c, "schedule %u); build it again", c->file, i);
    for (uint32_t i = 0; i < t->nmaps; i++)
        if (!map_ok(&t->map[i])) return BAD(c, "tensor map %u); build it again", c->file, i);
    const bool host = strcmp(t->strings + t->target, "host") == 0;
    for (uint32_t i = 0; i < t->nrows; i++) {
        if (!row_ok(c, &t->rows[i], host)) return BAD(c, "row %u); build it again", c->file, i);
        if (i && t->rows[i - 1].key > t->rows[i].key)
            return BAD(c, "rows out of order); build it again", c->file);
    }
    return true;
}

kiln_status kr_table_check(const char *file, const kiln_module *t)
{
    check c = {.file = file, .t = t};
    dl_iterate_phdr(find_object, &c);
    if (!inside(&c, t, 1, sizeof *t, _Alignof(kiln_module)) || t->magic != KILN_MODULE_MAGIC)
        return kr_fail(KILN_BAD_MODULE, "%s: not a Kiln module (its table has no magic number)",
                       file);
    if (t->abi_version != KILN_ABI_VERSION)
        return kr_fail(
            KILN_BAD_MODULE,
            "%s: made for module ABI %u, this libkiln reads %d; run `make instances` again", file,
            t->abi_version, KILN_ABI_VERSION);
    if (t->size != sizeof *t || t->row_size != sizeof(kiln_row) ||
        t->op_size != sizeof(kiln_op_row) || t->family_size != sizeof(kiln_family))
        return kr_fail(KILN_BAD_MODULE,
                       "%s: laid out for another compiler or machine; run `make instances` again",
                       file);
    if (!inside(&c, t->strings, t->strings_size, 1, 1) || t->version >= t->strings_size ||
        t->strings[t->strings_size - 1])
        return kr_fail(KILN_BAD_MODULE, "%s: damaged (its text is not whole); build it again",
                       file);
    if (strcmp(t->strings + t->version, KILN_VERSION) != 0)
        return kr_fail(KILN_BAD_MODULE,
                       "%s: made by kiln-gen %s, this is libkiln %s; run `make instances` again",
                       file, t->strings + t->version, KILN_VERSION);
    return contents_ok(&c) ? KILN_OK : KILN_BAD_MODULE;
}

kiln_status kr_absent_check(const char *file, const kiln_module *t, const kiln_absents *a)
{
    check c = {.file = file, .t = t};
    dl_iterate_phdr(find_object, &c);
    bool good = inside(&c, a, 1, sizeof *a, _Alignof(kiln_absents)) && a->size == sizeof *a->list &&
                inside(&c, a->list, a->count, sizeof *a->list, _Alignof(kiln_absent));
    for (uint32_t i = 0; good && i < a->count; i++)
        good = name_ok(&c, a->list[i].schedule) && text_ok(&c, a->list[i].why) &&
               (!i || a->list[i - 1].key <= a->list[i].key);
    if (good) return KILN_OK;
    return kr_fail(KILN_BAD_MODULE, "%s: damaged (what has no instance); build it again", file);
}
