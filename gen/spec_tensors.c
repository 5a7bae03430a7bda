// SPDX-License-Identifier: MIT
// The tensors of an op: its family's own, then those of the fields d and outputs, each with its
// place in problems and in a kernel's arguments (docs/families.md, "Where tensors stand").
#include "spec.h"
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

static const kg_tensor nothing = {.own = KILN_NOWHERE,
                                  .rows = KILN_NOWHERE,
                                  .cols = KILN_NOWHERE,
                                  .planes = KILN_NOWHERE,
                                  .operand = KILN_NOWHERE,
                                  .product = KILN_NOWHERE,
                                  .row_block = 1,
                                  .col_block = 1};

static kg_tensor *add(kg_op *op)
{
    kg_tensor *t = &op->tensor[op->ntensors++];
    *t = nothing;
    return t;
}

/* ---- the family's own ---- */

static const kg_own *several(const kg_family *fam)
{
    for (size_t i = 0; i < fam->nown; i++)
        if (fam->own[i].count > 1) return &fam->own[i];
    return NULL;
}

static uint8_t own_type(const kg_family *fam, size_t own)
{
    for (size_t i = 0; i < fam->ntypes; i++)
        if (fam->type[i].tensor == own) return (uint8_t)(0x80 | i);
    return KILN_DTYPE_NONE;
}

static uint8_t own_layout(const kg_family *fam, size_t own)
{
    for (size_t i = 0; i < fam->nlayouts; i++)
        if (fam->layout[i] == own) return (uint8_t)(0x80 | i);
    return KILN_ROW;
}

/* Whose matrices it is: each batch's, that of all of them, or pages. */
static void set_batches(const kg_op *op, kg_tensor *t)
{
    const kg_family *fam = op->family;
    if (t->own != KILN_NOWHERE && kg_is_paged(op, t->rows)) {
        t->page = op->number[fam->paged];
        t->batches = (uint8_t)(1 + fam->pages);
    } else if (kg_is_ragged(op, t->rows)) {
        t->batches = KILN_ONE_BATCH;
        const uint8_t own = t->own != KILN_NOWHERE ? t->own : t->operand;
        if (kg_is_gathered(op, own)) t->rows = fam->gathered_size;
    }
}

/* One of them, as often as the op has it; out of order in the arguments only where outputs are:
 * those stand last. */
static void add_own(kg_op *op, size_t i, size_t *arg, size_t *last_arg, size_t pointer)
{
    const kg_family *fam = op->family;
    const kg_own *own = &fam->own[i];
    size_t n = own->count > 1 ? op->products : 1;
    for (size_t k = 0; k < n; k++) {
        kg_tensor *t = add(op);
        t->name = t->given = n > 1 ? op->b_name[k] : own->label;
        t->at = (uint8_t)i;
        t->arg = (uint8_t)(own->out ? (*last_arg)-- : *arg + k);
        t->own = (uint8_t)i;
        t->type = own_type(fam, i);
        t->layout = own_layout(fam, i);
        t->rows = own->rows;
        t->cols = own->cols;
        t->planes = own->planes;
        set_batches(op, t);
        t->pointer = (uint8_t)(pointer + k);
        t->pitch = (uint8_t)i;
        t->out = own->out;
        t->pos = op->pos;
    }
    if (!own->out) *arg += own->count;
}

void kg_spec_own(kg_spec *sp)
{
    kg_op *op = sp->op;
    const kg_family *fam = op->family;
    size_t arg = 0, last_arg = KILN_MAX_TENSORS - 1;
    for (int out = 0; out < 2; out++) {
        size_t pointer = 0;
        for (size_t i = 0; i < fam->nown; pointer += fam->own[i++].count)
            if (fam->own[i].out == out) add_own(op, i, &arg, &last_arg, pointer);
    }
    op->noutputs = kg_own_outputs(fam);
    op->first_input = op->ntensors;
}

/* Whether one of the family's own tensors is called so; own: but that one. */
static bool is_taken(const kg_op *op, const kg_own *own, const char *name)
{
    for (const kg_own *x = op->family->own; x < op->family->own + op->family->nown; x++) {
        const bool products = x->count > 1 && op->products > 1;
        for (size_t k = 0; k < (products ? op->products : 1); k++)
            if (x != own && strcmp(products ? op->b_name[k] : x->name, name) == 0) return true;
    }
    return false;
}

void kg_spec_b(kg_spec *sp, const kg_value *v)
{
    kg_op *op = sp->op;
    const kg_own *own = several(op->family);
    const char *word = kg_count_word(sp->cx, own->count);
    size_t before = sp->cx->errors, n = kg_spec_names(sp, v, own->word, op->b_name, own->count);
    for (size_t k = 0; k < n; k++)
        if (is_taken(op, own, op->b_name[k]))
            kg_wrong(sp, v->pos, "%s: '%s' is what another tensor of this op is called", own->name,
                     op->b_name[k]);
    if (n > 1)
        op->products = n;
    else if (sp->cx->errors == before)
        kg_wrong(sp, v->pos, "%s: expected %s names, for %s %ss; leave it out for one", own->name,
                 word, word, own->word);
}

/* ---- d, outputs ---- */

const char *const kg_kind_names[] = {"",
#define X(name, id, text) [id] = #name,
                                     KILN_DKINDS(X)
#undef X
};

bool kg_is_kind(uint16_t kinds, kiln_dkind kind)
{
    return kinds >> kind & 1;
}

const char *kg_kinds_text(kg_ctx *cx, const kg_family *fam, uint16_t kinds)
{
    const char *name[KILN_D_PER_QUERY + 1];
    size_t n = 0;
    for (unsigned i = 1; i <= KILN_D_PER_QUERY; i++)
        if (kg_is_kind(kinds, (kiln_dkind)i))
            name[n++] = kg_printf(cx->arena, "%s(%s)", kg_kind_names[i],
                                  i != KILN_D_PER_BLOCK         ? "t"
                                  : fam->summed == KILN_NOWHERE ? "t, 1, n"
                                                                : "operand, t, along, k");
    return kg_listed(cx, name, n, " or ");
}

/* Which of rows, columns and planes a kind has an element for. */
static void set_extent(kg_tensor *t, const kg_family *fam, const kg_made *m)
{
    bool rows = m->kind == KILN_D_FULL || m->kind == KILN_D_PER_ROW || m->kind == KILN_D_PER_BLOCK,
         cols = m->kind == KILN_D_FULL || m->kind == KILN_D_PER_COL || m->kind == KILN_D_PER_BLOCK;
    const bool query = m->kind == KILN_D_PER_QUERY;
    t->kind = (uint8_t)m->kind;
    if (t->operand != KILN_NOWHERE) {
        const kg_own *own = &fam->own[t->operand];
        const bool down = own->rows == fam->summed;
        t->rows = own->rows;
        t->cols = own->cols;
        t->row_block = down ? m->block : m->along;
        t->col_block = down ? m->along : m->block;
        return;
    }
    if (query || m->kind == KILN_D_FULL || m->kind == KILN_D_PER_HEAD) t->planes = fam->planes;
    if (m->kind == KILN_D_PER_KV_HEAD) t->planes = fam->groups;
    if (query) t->rows = fam->rows;
    if (rows) t->rows = fam->rows;
    if (cols) t->cols = fam->cols;
    if (m->kind == KILN_D_PER_BLOCK) t->col_block = m->block;
}

static uint8_t matrix_layout(const kg_family *fam, const kg_tensor *t, const kg_made *m)
{
    if (m->kind != KILN_D_FULL && m->kind != KILN_D_PER_BLOCK) return KILN_LAYOUT_NONE;
    if (m->layout) return (uint8_t)m->layout;
    if (t->operand != KILN_NOWHERE) return own_layout(fam, t->operand);
    return fam->nlayouts ? (uint8_t)(0x80 | (fam->nlayouts - 1)) : KILN_ROW;
}

typedef struct list {
    const char *field, *noun; /* "d", "input" */
    uint16_t kinds;
    bool out;
} list;

static const kg_tensor *find(const kg_op *op, const char *name)
{
    for (size_t i = op->first_input; i < op->ntensors; i++)
        if (strcmp(op->tensor[i].name, name) == 0) return &op->tensor[i];
    return NULL;
}

static const char *most_text(kg_spec *sp)
{
    const kg_family *fam = sp->op->family;
    return kg_printf(sp->cx->arena, "an op has at most %d %s", fam->most,
                     !fam->output_kinds    ? "extra inputs"
                     : kg_own_outputs(fam) ? "extra inputs and outputs"
                                           : "inputs and outputs");
}

/* A type of the tensor's, in some row of `types`, whose elements share bytes. */
static kiln_dtype packed_type(const kg_op *op, uint8_t type)
{
    if (!(type & 0x80)) return kiln_per_byte((kiln_dtype)type) > 1 ? (kiln_dtype)type : 0;
    for (size_t i = 0; i < op->ntypes; i++) {
        kiln_dtype t = op->types[i].type[type & 0x7f];
        if (kiln_per_byte(t) > 1) return t;
    }
    return KILN_DTYPE_NONE;
}

static bool packs(kg_spec *sp, kg_pos pos, const char *what, const list *l, const kg_made *m,
                  uint8_t type)
{
    const kg_family *fam = sp->op->family;
    kiln_dtype packed = packed_type(sp->op, type);
    if (!packed || (!l->out && kg_is_kind(fam->packed_kinds, m->kind))) return true;
    const char *name = kiln_formats[packed].name;
    if (l->out || !fam->packed_kinds)
        kg_wrong(sp, pos, "%s: no %s of %s may be of %s, whose elements share bytes", what, l->noun,
                 fam->name, name);
    else
        kg_wrong(sp, pos, "%s: of %s, whose elements share bytes, an input must be %s", what, name,
                 kg_kinds_text(sp->cx, fam, fam->packed_kinds));
    return false;
}

/* The operand that per_block names: an own tensor, or one of several by its name. */
static bool read_operand(kg_spec *sp, const kg_value *v, const list *l, const char *what,
                         const kg_made *m, kg_tensor *t)
{
    const kg_op *op = sp->op;
    const kg_family *fam = op->family;
    const char *known[KILN_MAX_OWN + KILN_MAX_B];
    size_t n = 0;
    if (m->kind != KILN_D_PER_BLOCK || (!m->operand && fam->summed == KILN_NOWHERE)) return true;
    if (!m->operand || fam->summed == KILN_NOWHERE) {
        kg_wrong(sp, v->pos, "%s: expected %s, got per_block with%s an operand", what,
                 kg_kinds_text(sp->cx, fam, l->kinds), m->operand ? "" : "out");
        return false;
    }
    for (size_t i = 0; i < fam->nown; i++) {
        if (fam->own[i].out != l->out) continue;
        known[n++] = fam->own[i].name;
        for (size_t k = 0; k < op->products && op->products > 1 && fam->own[i].count > 1; k++) {
            known[n++] = op->b_name[k];
            if (strcmp(op->b_name[k], m->operand) != 0) continue;
            t->operand = (uint8_t)i;
            t->product = (uint8_t)k;
        }
        if (strcmp(fam->own[i].name, m->operand) != 0) continue;
        t->operand = (uint8_t)i;
        t->product = KILN_NOWHERE;
    }
    if (t->operand != KILN_NOWHERE) return true;
    const char *quoted = kg_quote(sp->cx, m->operand, strlen(m->operand));
    kg_wrong(sp, v->pos, "%s: per_block: unknown operand %s; there %s %s", what, quoted,
             n == 1 ? "is" : "are", kg_listed(sp->cx, known, n, " and "));
    return false;
}

/* One that is checked; name: of one of several products' its own. */
static void keep_tensor(kg_spec *sp, const list *l, const kg_tensor *t, const kg_made *m,
                        const char *name)
{
    kg_op *op = sp->op;
    const char *why, *what = kg_printf(sp->cx->arena, "%s.%s", l->field, t->given);
    if (op->ntensors - op->first_input == op->family->most) {
        kg_wrong(sp, t->pos, "%s: %s", what, most_text(sp));
    } else if (name != t->given && !kg_name_ok(sp->cx, l->noun, name, strlen(name), &why)) {
        kg_wrong(sp, t->pos, "%s: one for each product: %s", what, why);
    } else if (find(op, name)) {
        kg_wrong(sp, t->pos,
                 name == t->given ? "%s: an input has this name, too"
                                  : "%s: one of each product's is called '%s', as "
                                    "another is",
                 what, name);
    } else if (is_taken(op, NULL, name)) {
        kg_wrong(sp, t->pos, "%s: '%s' is what another tensor of this op is called", what, name);
    } else {
        kg_tensor *to = add(op);
        *to = *t;
        to->name = name;
        to->layout = matrix_layout(op->family, t, m);
        to->out = l->out;
        set_extent(to, op->family, m);
        set_batches(op, to);
        *(l->out ? &op->noutputs : &op->ninputs) += !(l->out && op->family->ncomputed);
    }
}

static bool is_own_output(const kg_family *fam, const char *name)
{
    for (size_t i = 0; i < fam->nown; i++)
        if (fam->own[i].out && strcmp(fam->own[i].name, name) == 0) return true;
    return false;
}

/* Whether an output of that name may be: where schedules make them they know them by name. */
static bool computes(const kg_family *fam, const char *name)
{
    bool known = !fam->ncomputed;
    for (size_t i = 0; i < fam->ncomputed; i++) known |= strcmp(fam->computed[i], name) == 0;
    return known;
}

static void read_tensor(kg_spec *sp, const kg_value *v, const char *key, void *arg)
{
    const list *l = arg;
    kg_op *op = sp->op;
    const kg_family *fam = op->family;
    const char *why, *what = kg_printf(sp->cx->arena, "%s.%s", l->field, key);
    const kg_made *m = luaL_testudata(sp->L, -1, KG_MADE);
    kg_tensor t = nothing;
    t.pos = kg_key_pos(sp, v->place, v->pos);
    t.given = kg_strndup(sp->cx->arena, key, strlen(key));
    if (!kg_name_ok(sp->cx, l->noun, key, strlen(key), &why)) {
        kg_wrong(sp, t.pos, "%s", why);
    } else if (!m || m->made != KG_MADE_INPUT || !kg_is_kind(l->kinds, m->kind)) {
        kg_wrong(sp, v->pos, "%s: expected %s, got %s", what, kg_kinds_text(sp->cx, fam, l->kinds),
                 m && m->made == KG_MADE_INPUT ? kg_kind_names[m->kind] : kg_kind_of(sp->L, -1));
    } else if (l->out && is_own_output(fam, key)) {
        kg_wrong(sp, t.pos, "%s: every %s has this output; its type stands in `types`", what,
                 fam->name);
    } else if (l->out && m->kind == KILN_D_PER_BLOCK && m->along > 1) {
        kg_wrong(sp, v->pos, "%s: per_block: an output has a value for each row, not for %d", what,
                 (int)m->along);
    } else if (l->out && m->kind == KILN_D_PER_BLOCK &&
               (m->block < KILN_BLOCK_LEAST || m->block > KILN_BLOCK_MOST ||
                (m->block & (m->block - 1)))) {
        kg_wrong(sp, v->pos,
                 "%s: per_block: the columns of a block must be a power of two from %d to %d, got "
                 "%d",
                 what, KILN_BLOCK_LEAST, KILN_BLOCK_MOST, (int)m->block);
    } else if (m->layout && !fam->nlayouts && m->layout != KILN_ROW) {
        kg_wrong(sp, v->pos, "%s: a matrix of %s lies row by row: it takes no layout", what,
                 fam->name);
    } else if (l->out && !computes(fam, key)) {
        kg_wrong(sp, t.pos, "%s: unknown output; there %s %s", what,
                 fam->ncomputed == 1 ? "is" : "are",
                 kg_listed(sp->cx, fam->computed, fam->ncomputed, " and "));
    } else if (read_operand(sp, v, l, what, m, &t) &&
               kg_spec_type_of(sp, v->pos, what, m, &t.type) &&
               packs(sp, v->pos, what, l, m, t.type)) {
        const bool each = t.operand != KILN_NOWHERE && t.product == KILN_NOWHERE &&
                          fam->own[t.operand].count > 1 && op->products > 1;
        if (!each) keep_tensor(sp, l, &t, m, t.given);
        for (size_t k = 0; each && k < op->products; k++) {
            t.product = (uint8_t)k;
            keep_tensor(sp, l, &t, m, kg_printf(sp->cx->arena, "%s_%s", key, op->b_name[k]));
        }
    }
}

static int by_tensor_name(const void *a, const void *b)
{
    return strcmp(((const kg_tensor *)a)->name, ((const kg_tensor *)b)->name);
}

/* Those from `first` on, in the order of their names, get their places. */
static void place(kg_op *op, size_t first)
{
    const kg_family *fam = op->family;
    if (op->ntensors > first)
        qsort(&op->tensor[first], op->ntensors - first, sizeof *op->tensor, by_tensor_name);
    for (size_t i = first; i < op->ntensors; i++) {
        kg_tensor *t = &op->tensor[i];
        size_t extra = i - op->first_input;
        t->at = t->arg = (uint8_t)(fam->first + extra);
        t->pointer = (uint8_t)(fam->pointers - fam->most + extra);
        t->pitch = (uint8_t)(fam->pitches - fam->most + extra);
    }
}

void kg_spec_d(kg_spec *sp, const kg_value *v)
{
    kg_value own = *v;
    list l = {"d", "input", sp->op->family->input_kinds, false};
    own.what = "d";
    kg_spec_fields(sp, &own, read_tensor, &l);
    place(sp->op, sp->op->first_input);
}

void kg_spec_outputs(kg_spec *sp, const kg_value *v)
{
    kg_value own = *v;
    list l = {"outputs", "output", sp->op->family->output_kinds, true};
    size_t before = sp->cx->errors, first = sp->op->ntensors;
    own.what = "outputs";
    kg_spec_fields(sp, &own, read_tensor, &l);
    place(sp->op, first);
    if (sp->op->ntensors == first && !sp->names_wrong && sp->cx->errors == before)
        kg_wrong(sp, v->pos, "outputs: the table is empty: an op writes at least one");
}

/* ---- index arrays ---- */

static void add_index(kg_spec *sp, const char *name, uint8_t rows, kiln_index index,
                      uint8_t within)
{
    kg_op *op = sp->op;
    const kg_family *fam = op->family;
    if (find(op, name)) {
        kg_wrong(sp, find(op, name)->pos, "'%s' is what an index array of this op is called", name);
    } else if (op->ntensors - op->first_input == fam->most) {
        kg_wrong(sp, op->pos, "%s, its index arrays among them", most_text(sp));
    } else {
        kg_tensor *t = add(op);
        t->name = t->given = name;
        t->kind = KILN_D_INDEX;
        t->type = KILN_I32;
        t->rows = rows;
        t->batches = KILN_ONE_BATCH;
        t->index = (uint8_t)index;
        t->within = within;
        t->pos = op->pos;
        if (index == KILN_INDEX_BEGIN) t->beyond = 1;
        if (index != KILN_INDEX_PAGE) return;
        t->layout = KILN_ROW;
        t->cols = fam->paged_size;
        t->col_block = op->number[fam->paged];
    }
}

/* What ops whose rows are of groups, or gathered, are without. */
static void check_rows(kg_spec *sp)
{
    const kg_op *op = sp->op;
    const kg_family *fam = op->family;
    if (fam->ragged == KILN_NOWHERE || !fam->ragged_first) return;
    const char *gather = fam->gathered == KILN_NOWHERE ? NULL : fam->option[fam->gathered].name;
    const char *ragged = fam->option[fam->ragged].name;
    if (gather && op->option[fam->gathered] && !op->option[fam->ragged])
        kg_wrong(sp, kg_place_pos(sp, kg_place_field(sp->place, gather), op->pos),
                 "%s = true: rows are gathered for groups: it goes with %s = true", gather, ragged);
    if (!op->option[fam->ragged]) return;
    for (size_t i = op->first_input; i < op->ntensors; i++) {
        const kg_tensor *t = &op->tensor[i];
        if (t->out && t->kind != KILN_D_FULL && t->kind != KILN_D_PER_BLOCK)
            kg_wrong(sp, t->pos,
                     "outputs.%s: of an op with %s = true an output is full or per_block: what is "
                     "made of all rows or columns of a group is another launch",
                     t->given, ragged);
        const bool gathered = gather && kg_is_gathered(op, t->operand);
        if (t->rows != KILN_NOWHERE && t->row_block > 1 && (gathered || kg_is_ragged(op, t->rows)))
            kg_wrong(sp, t->pos,
                     "d.%s: with %s = true rows of a group begin anywhere, not where blocks of %d "
                     "rows do: a value for each row, or one for a block along %s alone",
                     t->given, ragged, (int)t->row_block, kg_size_at(fam, fam->summed));
    }
}

void kg_spec_indices(kg_spec *sp)
{
    kg_op *op = sp->op;
    const kg_family *fam = op->family;
    const size_t first = op->ntensors;
    for (size_t i = 0; i < fam->nsizes; i++) {
        const uint8_t at = KILN_POSITION((uint8_t)i);
        const char *size = fam->size[i];
        if (kg_is_ragged(op, at) && fam->ragged_first) {
            add_index(sp, fam->ragged_first, KILN_BATCH, KILN_INDEX_FIRST, at);
            add_index(sp, fam->ragged_end, KILN_BATCH, KILN_INDEX_END, at);
        } else if (kg_is_ragged(op, at)) {
            add_index(sp, kg_printf(sp->cx->arena, "%s_begin", size), KILN_BATCH, KILN_INDEX_BEGIN,
                      at);
        }
        if (!kg_is_paged(op, at)) continue;
        add_index(sp, kg_printf(sp->cx->arena, "%s_length", size), KILN_BATCH, KILN_INDEX_LENGTH,
                  at);
        add_index(sp, kg_printf(sp->cx->arena, "%s_pages", size), KILN_BATCH, KILN_INDEX_PAGE,
                  fam->pages);
    }
    if (fam->gathered != KILN_NOWHERE && op->option[fam->gathered])
        add_index(sp, fam->gathered_rows, fam->own[fam->gathered_own].rows, KILN_INDEX_ROW,
                  fam->gathered_size);
    place(op, first);
    check_rows(sp);
}
