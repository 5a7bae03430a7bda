// SPDX-License-Identifier: MIT
// The fields types and layouts, by what the op's family says of them; where a family leaves its
// types to the ops, the first row of `types` names them.
#include "spec.h"
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

/* ---- what messages say of a family's types ---- */

/* "{ a =, b =, e = }", and with those that may be left out: "{ a =, b =, e = [, acc =] }". */
static const char *row_text(kg_ctx *cx, const kg_family *fam, bool all)
{
    const char *text = "", *optional = "";
    if (!fam->ntypes) return "{ NAME =, ... }";
    for (size_t i = 0; i < fam->ntypes; i++) {
        const char *name = fam->type[i].name;
        if (fam->type[i].real)
            optional = kg_printf(cx->arena, "%s [, %s =]", optional, name);
        else
            text = kg_printf(cx->arena, "%s%s %s =", text, *text ? "," : "", name);
    }
    return kg_printf(cx->arena, "{%s%s }", text, all ? optional : "");
}

const char *kg_types_want(kg_ctx *cx, const kg_family *fam)
{
    return kg_printf(cx->arena, "a list of rows %s", row_text(cx, fam, true));
}

/* ---- rows of types ---- */

typedef struct type_row {
    kg_types types;
    bool named[KILN_MAX_TYPES]; /* is there, right or wrong */
    bool first;                 /* of an op that names its own: declares them */
} type_row;

static size_t names(const kg_op *op, const char **name)
{
    memcpy(name, op->type_name, op->nsig_types * sizeof *name);
    return op->nsig_types;
}

/* Adds a type of the op's own, in order of names; its position. */
static size_t declare(kg_spec *sp, const kg_value *v, const char *key)
{
    kg_op *op = sp->op;
    const char *why = NULL;
    kg_pos pos = kg_key_pos(sp, v->place, v->pos);
    if (kg_name_ok(sp->cx, "type", key, strlen(key), &why) && kg_dtype_named(key))
        why = kg_printf(sp->cx->arena, "type '%s': this is a dtype's name", key);
    else if (!why && op->nsig_types == KILN_MAX_TYPES)
        why = kg_printf(sp->cx->arena, "types: an op has at most %d types", KILN_MAX_TYPES);
    if (why) {
        kg_wrong(sp, pos, "%s", why);
        return SIZE_MAX;
    }
    op->type_name[op->nsig_types] =
        kg_strndup(sp->cx->arena, key, strlen(key)); /* fields come sorted */
    return op->nsig_types++;
}

static size_t position(kg_spec *sp, const kg_value *v, const char *key, const type_row *r)
{
    const kg_op *op = sp->op;
    const char *known[KILN_MAX_TYPES];
    size_t n = names(op, known);
    if (r->first) return declare(sp, v, key);
    for (size_t i = 0; i < n; i++)
        if (strcmp(known[i], key) == 0) return i;
    const char *near = kg_closest(key, known, n), *quoted = kg_quote(sp->cx, key, strlen(key));
    kg_pos pos = kg_key_pos(sp, v->place, v->pos);
    if (near)
        kg_wrong(sp, pos, "%s: unknown field %s (did you mean '%s'?)", v->what, quoted, near);
    else
        kg_wrong(sp, pos, "%s: unknown field %s; a row has %s", v->what, quoted,
                 kg_listed(sp->cx, known, n, " and "));
    return SIZE_MAX;
}

static void read_field(kg_spec *sp, const kg_value *v, const char *key, void *arg)
{
    type_row *r = arg;
    size_t at = position(sp, v, key, r);
    if (at == SIZE_MAX) return;
    kiln_dtype type = kg_to_dtype(sp->L, -1);
    if (!type) {
        bool text = lua_type(sp->L, -1) == LUA_TSTRING;
        kg_wrong(sp, v->pos, "%s: %s must be a dtype, got %s%s", v->what, key,
                 kg_kind_of(sp->L, -1), text ? "; dtypes are written without quotes" : "");
    }
    r->types.type[at] = type;
    r->named[at] = true;
}

/* The type where a row leaves it out. */
static kiln_dtype default_of(const kg_type_rule *rule, const kg_types *row)
{
    if (!rule->real) return KILN_DTYPE_NONE;
    for (size_t i = 0; i < KILN_MAX_TYPES; i++)
        if ((rule->from >> i & 1) && kiln_is_float(row->type[i])) return rule->real;
    return rule->integer;
}

static const char *wrong_type(const kg_type_rule *rule, const kg_types *row, kiln_dtype type)
{
    if (rule->of && !(rule->of >> type & 1)) return rule->says;
    if (rule->needs && !kiln_is_float(type) && kiln_is_float(default_of(rule, row)))
        return rule->needs;
    return NULL;
}

static bool check_row(kg_spec *sp, const kg_value *v, type_row *r)
{
    const kg_family *fam = sp->op->family;
    const char *wrong = NULL;
    bool complete = true;
    for (size_t i = 0; i < sp->op->nsig_types; i++) {
        if (r->named[i] || (fam->ntypes && fam->type[i].real)) continue;
        kg_wrong(sp, v->pos, "%s: missing '%s'", v->what, sp->op->type_name[i]);
        complete = false;
    }
    for (size_t i = 0; complete && !wrong && i < fam->ntypes; i++) {
        kiln_dtype *type = &r->types.type[i];
        if (!r->named[i]) *type = default_of(&fam->type[i], &r->types);
        wrong = wrong_type(&fam->type[i], &r->types, *type);
    }
    if (wrong) kg_wrong(sp, v->pos, "%s: %s", v->what, wrong);
    return complete && !wrong;
}

/* `types = { a = f16 }` for one row. */
static bool is_bare(kg_spec *sp, const kg_value *v)
{
    const kg_family *fam = sp->op->family;
    if (lua_rawlen(sp->L, -1)) return false;
    return fam->ntypes ? kg_place_field(v->place, fam->type[0].name) != NULL
                       : v->place && v->place->nchild && v->place->child[0].key;
}

static void add_row(kg_spec *sp, const kg_value *item, type_row *r)
{
    kg_op *op = sp->op;
    size_t before = sp->cx->errors;
    bool ok = lua_istable(sp->L, -1);
    r->types.pos = item->pos;
    if (ok)
        kg_spec_fields(sp, item, read_field, r);
    else
        kg_wrong(sp, item->pos, "%s: expected %s, got %s", item->what,
                 row_text(sp->cx, op->family, false), kg_kind_of(sp->L, -1));
    if (ok && r->first && !op->nsig_types && sp->cx->errors == before)
        kg_wrong(sp, item->pos, "%s: names no type", item->what);
    ok = ok && sp->cx->errors == before && check_row(sp, item, r);
    for (size_t k = 0; ok && k < op->ntypes; k++) {
        if (memcmp(op->types[k].type, r->types.type, sizeof r->types.type) != 0) continue;
        kg_wrong(sp, item->pos, "%s is the same as row %zu", item->what, k + 1);
        ok = false;
    }
    if (ok) op->types[op->ntypes++] = r->types;
}

void kg_spec_types(kg_spec *sp, const kg_value *v)
{
    kg_op *op = sp->op;
    const kg_family *fam = op->family;
    size_t n;
    bool bare = is_bare(sp, v);
    const char *one = row_text(sp->cx, fam, false);
    for (size_t i = 0; i < fam->ntypes; i++) op->type_name[i] = fam->type[i].name;
    op->nsig_types = fam->ntypes;
    if (bare)
        kg_wrong(sp, v->pos, "types: expected a list of rows; with one row it is { %s }", one);
    if (bare || !kg_spec_list(sp, v, &n, kg_printf(sp->cx->arena, "rows %s", one))) return;
    op->types = kg_alloc(sp->cx->arena, n * sizeof *op->types);
    for (size_t i = 1; i <= n; i++) {
        type_row r = {.first = !op->nsig_types};
        kg_value item = kg_spec_item(sp, v, i, kg_printf(sp->cx->arena, "types: row %zu", i));
        add_row(sp, &item, &r);
        lua_pop(sp->L, 1);
    }
}

/* ---- the type of a tensor ---- */

/* "a", "b", "acc", "e": what full() and the like take, in the order in which values flow. */
static const char *quoted_names(kg_spec *sp)
{
    const kg_op *op = sp->op;
    const kg_family *fam = op->family;
    const char *text = "";
    for (int pass = 0; pass < 3; pass++) {
        for (size_t i = 0; i < op->nsig_types; i++) {
            uint8_t own = i < fam->ntypes ? fam->type[i].tensor : KILN_NOWHERE;
            int when = own == KILN_NOWHERE ? 1 : fam->own[own].out ? 2 : 0;
            if (when == pass)
                text = kg_printf(sp->cx->arena, "%s%s\"%s\"", text, *text ? ", " : "",
                                 op->type_name[i]);
        }
    }
    return text;
}

bool kg_spec_type_of(kg_spec *sp, kg_pos pos, const char *what, const kg_made *m, uint8_t *type)
{
    const kg_op *op = sp->op;
    const char *name = m->type_name;
    *type = (uint8_t)m->type;
    if (m->type) return true;
    if (!op->family->ntypes && (sp->names_wrong || !op->nsig_types))
        return false; /* types is wrong, which was said */
    if (!name && !m->type_got) {
        *type = (uint8_t)(0x80 | op->family->input_type);
        if (op->family->input_type != KILN_NOWHERE) return true;
        kg_wrong(sp, pos, "%s: %s needs a type: a dtype%s%s", what, kg_kind_names[m->kind],
                 op->nsig_types ? " or " : "", quoted_names(sp));
        return false;
    }
    for (size_t i = 0; name && i < op->nsig_types; i++) {
        *type = (uint8_t)(0x80 | i);
        if (strcmp(op->type_name[i], name) == 0) return true;
    }
    const char *got =
        name ? kg_printf(sp->cx->arena, "the text %s", kg_quote(sp->cx, name, strlen(name)))
             : m->type_got;
    sp->wrong = true;
    kg_error(sp->cx, m->pos, "%s: expected a dtype or %s, got %s%s", kg_kind_names[m->kind],
             quoted_names(sp), got,
             name && kg_dtype_named(name) ? "; dtypes are written without quotes" : "");
    return false;
}

/* ---- layouts ---- */

static kiln_layout layout_of(char letter)
{
    static const struct {
        char letter;
        kiln_layout layout;
    } letters[] = {
#define X(id, ch, text) {ch, id},
        KILN_LAYOUTS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (letters[i].letter == letter) return letters[i].layout;
    return KILN_LAYOUT_NONE;
}

const char *kg_layouts_want(kg_ctx *cx, const kg_family *fam)
{
    char text[KILN_MAX_LAYOUTS + 1] = "";
    for (size_t i = 0; i < fam->nlayouts; i++) text[i] = i & 1 ? 'c' : 'r';
    return kg_printf(cx->arena, "texts like \"%s\"", text);
}

static bool read_letters(const kg_family *fam, const char *s, size_t len, kg_layout *row)
{
    if (!s || len != fam->nlayouts) return false;
    for (size_t i = 0; i < len; i++)
        if (!(row->layout[i] = layout_of(s[i]))) return false;
    return true;
}

static void wrong_letters(kg_spec *sp, kg_pos pos)
{
    const kg_family *fam = sp->op->family;
    const char *label[KILN_MAX_LAYOUTS];
    for (size_t i = 0; i < fam->nlayouts; i++) label[i] = fam->own[fam->layout[i]].label;
    kg_wrong(sp, pos,
             "layouts: expected %s letter%s, r (row-major) or c (column-major) for %s, got %s",
             kg_count_word(sp->cx, fam->nlayouts), fam->nlayouts == 1 ? "" : "s",
             kg_listed(sp->cx, label, fam->nlayouts, " and "), kg_kind_of(sp->L, -1));
}

void kg_spec_layouts(kg_spec *sp, const kg_value *v)
{
    size_t n, len = 0;
    kg_op *op = sp->op;
    if (!kg_spec_list(sp, v, &n, kg_layouts_want(sp->cx, op->family))) return;
    op->layouts = kg_alloc(sp->cx->arena, n * sizeof *op->layouts);
    for (size_t i = 1; i <= n; i++) {
        kg_value item = kg_spec_item(sp, v, i, "layouts");
        const char *s = lua_type(sp->L, -1) == LUA_TSTRING ? lua_tolstring(sp->L, -1, &len) : NULL;
        kg_layout row = {.pos = item.pos};
        bool ok = read_letters(op->family, s, len, &row);
        if (!ok) wrong_letters(sp, item.pos);
        for (size_t k = 0; ok && k < op->nlayouts; k++) {
            if (memcmp(op->layouts[k].layout, row.layout, sizeof row.layout) != 0) continue;
            kg_wrong(sp, item.pos, "layouts: \"%s\" is there twice", s);
            ok = false;
        }
        if (ok) op->layouts[op->nlayouts++] = row;
        lua_pop(sp->L, 1);
    }
}
