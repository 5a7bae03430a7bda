// SPDX-License-Identifier: MIT
// What an op chooses of what its family offers: words (`mask = causal`), and the sizes that its
// kernels are compiled for, row by row (`heads = { { 128, 128 } }`).
#include "spec.h"
#include <stdio.h>
#include <string.h>

const char *kg_words_want(kg_ctx *cx, const kg_option *o)
{
    const char *word[sizeof o->word / sizeof *o->word];
    for (size_t i = 0; i < o->nwords; i++)
        word[i] = o->number ? kg_printf(cx->arena, "%s(%s)", o->word[i], o->number) : o->word[i];
    return kg_listed(cx, word, o->nwords, " or ");
}

/* The number behind a word: "(16)". */
static bool read_number(const char *s, uint16_t *number)
{
    int end = 0;
    unsigned n = 0;
    if (sscanf(s, "(%4u)%n", &n, &end) != 1 || !end || s[end] || !n || n > KG_NUMBER_MOST)
        return false;
    *number = (uint16_t)n;
    return true;
}

void kg_spec_option(kg_spec *sp, const kg_value *v)
{
    const kg_family *fam = sp->op->family;
    size_t at = 0;
    while (strcmp(fam->option[at].name, v->what) != 0) at++;
    const kg_option *o = &fam->option[at];
    if (o->flag) { /* false: as if it were left out */
        sp->op->option[at] = lua_toboolean(sp->L, -1) ? 1 : 0;
        return;
    }
    const char *s = lua_tostring(sp->L, -1);
    for (size_t i = 0; i < o->nwords; i++) {
        const size_t n = strlen(o->word[i]);
        if (strncmp(o->word[i], s, n) != 0) continue;
        if (o->number ? read_number(s + n, &sp->op->number[at]) : !s[n])
            sp->op->option[at] = (uint8_t)(i + 1);
    }
    if (!sp->op->option[at])
        kg_wrong(sp, v->pos, "%s: expected %s, got %s", v->what, kg_words_want(sp->cx, o),
                 kg_kind_of(sp->L, -1));
}

/* Options about functions that the op does not use. */
void kg_spec_options_used(kg_spec *sp)
{
    const kg_op *op = sp->op;
    const kg_family *fam = op->family;
    uint64_t uses = 0; /* bits of kiln_xop */
    for (size_t i = 0; i < fam->nfunctions; i++)
        for (size_t k = 0; k < op->function[i].count; k++)
            uses |= (uint64_t)1 << op->function[i].node[k].op;
    for (size_t i = 0; i < fam->noptions; i++) {
        const kg_option *o = &fam->option[i];
        if (!op->option[i] || !o->of || o->of & uses) continue;
        const char *name[KILN_X_COUNT];
        size_t n = 0;
        for (size_t k = 0; k < KILN_X_COUNT; k++)
            if (o->of >> k & 1) name[n++] = kg_function_name[k];
        kg_wrong(sp, kg_place_pos(sp, kg_place_field(sp->place, o->name), op->pos),
                 "%s = %s: %s has no %s: leave it out", o->name,
                 kg_option_text(sp->cx->arena, op, i), fam->function[0].name,
                 kg_listed(sp->cx, name, n, " or "));
    }
}

static bool read_row(kg_spec *sp, const kg_value *v, const char *names, kg_layout *row)
{
    const kg_family *fam = sp->op->family;
    size_t n, before = sp->cx->errors;
    if (!kg_spec_list(sp, v, &n, names)) return false;
    if (n != fam->nfixed) {
        kg_wrong(sp, v->pos, "%s: expected { %s }, got %zu numbers", v->what, names, n);
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        kg_value size = kg_spec_item(sp, v, i + 1, v->what);
        if (kg_spec_whole(sp, &size, &row->fixed[i]) &&
            (row->fixed[i] < 1 || row->fixed[i] > KG_FIXED_MOST))
            kg_wrong(sp, size.pos, "%s: expected 1 .. %d, got %lld", v->what, KG_FIXED_MOST,
                     (long long)row->fixed[i]);
        lua_pop(sp->L, 1);
    }
    return sp->cx->errors == before;
}

void kg_spec_fixed(kg_spec *sp, const kg_value *v)
{
    kg_op *op = sp->op;
    const kg_family *fam = op->family;
    const char *name[KILN_MAX_FIXED];
    size_t n;
    for (size_t i = 0; i < fam->nfixed; i++) name[i] = kg_size_at(fam, fam->fixed[i]);
    const char *names = kg_listed(sp->cx, name, fam->nfixed, ", ");
    if (!kg_spec_list(sp, v, &n, kg_printf(sp->cx->arena, "rows { %s }", names))) return;
    if (n > KG_FIXED_ROWS) {
        kg_wrong(sp, v->pos, "%s: %zu rows, at most %d are possible", v->what, n, KG_FIXED_ROWS);
        return;
    }
    op->layouts = kg_alloc(sp->cx->arena, n * sizeof *op->layouts);
    for (size_t i = 1; i <= n; i++) {
        kg_value item = kg_spec_item(sp, v, i, kg_printf(sp->cx->arena, "%s: row %zu", v->what, i));
        kg_layout row = {.pos = item.pos};
        bool ok = read_row(sp, &item, names, &row);
        for (size_t k = 0; ok && k < op->nlayouts; k++) {
            if (memcmp(op->layouts[k].fixed, row.fixed, sizeof row.fixed) != 0) continue;
            kg_wrong(sp, item.pos, "%s is the same as row %zu", item.what, k + 1);
            ok = false;
        }
        if (ok) op->layouts[op->nlayouts++] = row;
        lua_pop(sp->L, 1);
    }
}
