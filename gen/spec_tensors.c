// SPDX-License-Identifier: MIT
// The tensors of an op: its family's own, then those of the fields d and outputs, each with its
// place in problems and in a kernel's arguments (docs/families.md, "Where tensors stand").
#include "spec.h"
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

static kg_tensor *add(kg_op *op)
{
    kg_tensor *t = &op->tensor[op->ntensors++];
    *t = (kg_tensor){.own = KILN_NOWHERE,
                     .rows = KILN_NOWHERE,
                     .cols = KILN_NOWHERE,
                     .planes = KILN_NOWHERE,
                     .row_block = 1,
                     .col_block = 1};
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

/* One of them, as often as the op has it; out of order in the arguments only where outputs are:
 * those stand last. */
static void add_own(kg_op *op, size_t i, size_t *arg, size_t *last_arg, size_t pointer)
{
    const kg_family *fam = op->family;
    const kg_own *own = &fam->own[i];
    size_t n = own->count > 1 ? op->products : 1;
    for (size_t k = 0; k < n; k++) {
        kg_tensor *t = add(op);
        t->name = n > 1 ? op->b_name[k] : own->label;
        t->at = (uint8_t)i;
        t->arg = (uint8_t)(own->out ? (*last_arg)-- : *arg + k);
        t->own = (uint8_t)i;
        t->type = own_type(fam, i);
        t->layout = own_layout(fam, i);
        t->rows = own->rows;
        t->cols = own->cols;
        t->planes = own->planes;
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
        if (out) op->first_output = op->ntensors;
        for (size_t i = 0; i < fam->nown; pointer += fam->own[i++].count)
            if (fam->own[i].out == out) add_own(op, i, &arg, &last_arg, pointer);
    }
    op->noutputs = fam->ncomputed ? 0 : op->ntensors - op->first_output;
    op->first_input = op->ntensors;
}

void kg_spec_b(kg_spec *sp, const kg_value *v)
{
    kg_op *op = sp->op;
    const kg_own *own = several(op->family);
    const char *word = kg_count_word(sp->cx, own->count);
    size_t before = sp->cx->errors, n = kg_spec_names(sp, v, own->word, op->b_name, own->count);
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

const char *kg_kinds_text(kg_ctx *cx, uint16_t kinds)
{
    static const char *const made[] = {"",
#define X(name, id, text) [id] = id == KILN_D_PER_BLOCK ? #name "(t, 1, n)" : #name "(t)",
                                       KILN_DKINDS(X)
#undef X
    };
    const char *name[sizeof made / sizeof *made];
    size_t n = 0;
    for (unsigned i = 1; i < sizeof made / sizeof *made; i++)
        if (kg_is_kind(kinds, (kiln_dkind)i)) name[n++] = made[i];
    return kg_listed(cx, name, n, " or ");
}

/* Which of rows, columns and planes a kind has an element for. */
static void set_extent(kg_tensor *t, const kg_family *fam, const kg_made *m)
{
    bool rows = m->kind == KILN_D_FULL || m->kind == KILN_D_PER_ROW || m->kind == KILN_D_PER_BLOCK,
         cols = m->kind == KILN_D_FULL || m->kind == KILN_D_PER_COL || m->kind == KILN_D_PER_BLOCK;
    const bool query = m->kind == KILN_D_PER_QUERY;
    t->kind = (uint8_t)m->kind;
    if (query || m->kind == KILN_D_FULL || m->kind == KILN_D_PER_HEAD) t->planes = fam->planes;
    if (m->kind == KILN_D_PER_KV_HEAD) t->planes = fam->groups;
    if (query) t->rows = fam->rows;
    if (rows) t->rows = fam->rows;
    if (cols) t->cols = fam->cols;
    if (m->kind == KILN_D_PER_BLOCK) t->col_block = m->block;
}

static uint8_t matrix_layout(const kg_family *fam, const kg_made *m)
{
    if (m->kind != KILN_D_FULL && m->kind != KILN_D_PER_BLOCK) return KILN_LAYOUT_NONE;
    if (m->layout) return (uint8_t)m->layout;
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
                     fam->output_kinds ? "inputs and outputs" : "extra inputs");
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
    kg_pos key_pos = kg_key_pos(sp, v->place, v->pos);
    uint8_t type = 0;
    if (!kg_name_ok(sp->cx, l->noun, key, strlen(key), &why)) {
        kg_wrong(sp, key_pos, "%s", why);
    } else if (!m || m->made != KG_MADE_INPUT || !kg_is_kind(l->kinds, m->kind)) {
        kg_wrong(sp, v->pos, "%s: expected %s, got %s", what, kg_kinds_text(sp->cx, l->kinds),
                 m && m->made == KG_MADE_INPUT ? kg_kind_names[m->kind] : kg_kind_of(sp->L, -1));
    } else if (op->ntensors - op->first_input == fam->most) {
        kg_wrong(sp, key_pos, "%s: %s", what, most_text(sp));
    } else if (m->layout && !fam->nlayouts && m->layout != KILN_ROW) {
        kg_wrong(sp, v->pos, "%s: a matrix of %s lies row by row: it takes no layout", what,
                 fam->name);
    } else if (l->out && !computes(fam, key)) {
        kg_wrong(sp, key_pos, "%s: unknown output; there %s %s", what,
                 fam->ncomputed == 1 ? "is" : "are",
                 kg_listed(sp->cx, fam->computed, fam->ncomputed, " and "));
    } else if (find(op, key)) {
        kg_wrong(sp, key_pos, "%s: an input has this name, too", what);
    } else if (kg_spec_type_of(sp, v->pos, what, m, &type)) {
        size_t extra = op->ntensors - op->first_input;
        kg_tensor *t = add(op);
        t->name = kg_strndup(sp->cx->arena, key, strlen(key));
        t->at = t->arg = (uint8_t)(fam->first + extra);
        t->pointer = (uint8_t)(fam->pointers - fam->most + extra);
        t->pitch = (uint8_t)(fam->pitches - fam->most + extra);
        t->type = type;
        t->layout = matrix_layout(fam, m);
        t->out = l->out;
        t->pos = key_pos;
        set_extent(t, fam, m);
        *(l->out ? &op->noutputs : &op->ninputs) += !(l->out && fam->ncomputed);
    }
}

void kg_spec_d(kg_spec *sp, const kg_value *v)
{
    kg_value own = *v;
    list l = {"d", "input", sp->op->family->input_kinds, false};
    own.what = "d";
    kg_spec_fields(sp, &own, read_tensor, &l); /* in the order of names */
}

void kg_spec_outputs(kg_spec *sp, const kg_value *v)
{
    kg_value own = *v;
    list l = {"outputs", "output", sp->op->family->output_kinds, true};
    size_t before = sp->cx->errors;
    own.what = "outputs";
    if (kg_returns_outputs(sp->op->family)) sp->op->first_output = sp->op->ntensors;
    kg_spec_fields(sp, &own, read_tensor, &l);
    if (kg_returns_outputs(sp->op->family) && !sp->op->noutputs && !sp->names_wrong &&
        sp->cx->errors == before)
        kg_wrong(sp, v->pos, "outputs: the table is empty: an op writes at least one");
}
