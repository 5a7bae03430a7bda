// SPDX-License-Identifier: MIT
// Checks what stands in `gemm "name" { ... }` and in its like of other families, field by field,
// each fault with its own message at its own place.  Which fields there are, in which order they
// are checked, and what each must be follows from the family's signature.
#include "spec.h"
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

typedef struct field {
    const char *name;
    bool required, declares; /* declares: names that functions use */
    int type;                /* Lua's; LUA_TNONE: the reader looks itself */
    const char *want;        /* expected ... */
    void (*read)(kg_spec *, const kg_value *);
    size_t function; /* 1 + position of the family's function that it is */
} field;
enum { MAX_FIELDS = 11 + KILN_MAX_OPTIONS + KILN_MAX_FUNCTIONS };

static void read_scalars(kg_spec *sp, const kg_value *v)
{
    sp->op->nscalars = kg_spec_names(sp, v, "scalar", sp->op->scalar, KILN_MAX_SCALARS);
}

static void read_ref(kg_spec *sp, const kg_value *v)
{
    const char *main = sp->op->family->function[0].name;
    if (sp->op->code || sp->wrong) return; /* traced with the code */
    kg_wrong(sp, v->pos,
             "ref goes with %s = code [[...]]; a%s %s that is a function is its own "
             "reference",
             main, strchr("aeiou", *main) ? "n" : "", main);
}

static bool takes(const kg_function *f, kg_arg arg)
{
    for (size_t i = 0; i < f->nargs; i++)
        if (f->arg[i] == arg) return true;
    return false;
}

static bool takes_any(const kg_family *fam, kg_arg arg)
{
    for (size_t i = 0; i < fam->nfunctions; i++)
        if (takes(&fam->function[i], arg)) return true;
    return false;
}

/* ---- a family's fields ---- */

static field function_field(const kg_family *fam, size_t i)
{
    const kg_function *f = &fam->function[i];
    return (field){f->name,
                   f->required,
                   false,
                   f->code ? LUA_TNONE : LUA_TFUNCTION,
                   f->code ? "a function or code [[...]]" : "a function",
                   NULL,
                   i + 1};
}

static const char *fixed_names(kg_ctx *cx, const kg_family *fam)
{
    const char *name[KILN_MAX_FIXED];
    for (size_t i = 0; i < fam->nfixed; i++) name[i] = kg_size_at(fam, fam->fixed[i]);
    return kg_listed(cx, name, fam->nfixed, ", ");
}

/* ORDER FIELD: names (b, d, scalars, outputs) stand before the functions that use them. */
static size_t list_fields(kg_ctx *cx, const kg_family *fam, field *to)
{
    size_t n = 0;
    const kg_function *main = &fam->function[0];
    to[n++] =
        (field){"types", true, !fam->ntypes, LUA_TTABLE, kg_types_want(cx, fam), kg_spec_types, 0};
    if (fam->nlayouts)
        to[n++] = (field){"layouts",
                          true,
                          false,
                          LUA_TTABLE,
                          kg_printf(cx->arena, "a list of %s", kg_layouts_want(cx, fam)),
                          kg_spec_layouts,
                          0};
    if (fam->fixed_field)
        to[n++] = (field){fam->fixed_field,
                          true,
                          false,
                          LUA_TTABLE,
                          kg_printf(cx->arena, "a list of rows { %s }",
                                    fixed_names(cx, fam)),
                          kg_spec_fixed,
                          0};
    for (size_t i = 0; i < fam->noptions; i++)
        to[n++] = (field){fam->option[i].name,
                          false,
                          false,
                          fam->option[i].flag ? LUA_TBOOLEAN : LUA_TSTRING,
                          kg_words_want(cx, &fam->option[i]),
                          kg_spec_option,
                          0};
    for (size_t i = 0; i < fam->nown; i++)
        if (fam->own[i].count > 1)
            to[n++] = (field){
                fam->own[i].name,
                false,
                true,
                LUA_TTABLE,
                kg_printf(cx->arena, "a list of %s names", kg_count_word(cx, fam->own[i].count)),
                kg_spec_b,
                0};
    if (fam->input_kinds)
        to[n++] = (field){
            "d",       false, true, LUA_TTABLE, "a table of extra inputs, name = per_col(...)",
            kg_spec_d, 0};
    if (takes_any(fam, KG_ARG_S))
        to[n++] = (field){"scalars", false, true, LUA_TTABLE, "a list of names", read_scalars, 0};
    if (fam->output_kinds)
        to[n++] =
            (field){"outputs",       !kg_own_outputs(fam), true, LUA_TTABLE,
                    kg_printf(cx->arena, "a table of outputs, name = %s(...)",
                              fam->ncomputed ? "per_query" : "full"),
                    kg_spec_outputs, 0};
    to[n++] = function_field(fam, 0);
    if (main->code)
        to[n++] = (field){"ref", false, false, LUA_TFUNCTION, "a function", read_ref, 0};
    for (size_t i = 1; i < fam->nfunctions; i++) to[n++] = function_field(fam, i);
    to[n++] =
        (field){"tiles", false, false, LUA_TTABLE, "a table of sweeps by target", kg_spec_tiles, 0};
    to[n++] =
        (field){"targets", false, false, LUA_TTABLE, "a list of target names", kg_spec_targets, 0};
    to[n++] = (field){"check",        false, false, LUA_TTABLE, "a table { rtol =, shapes = }",
                      kg_spec_checks, 0};
    return n;
}

/* ---- all fields ---- */

typedef struct known {
    field field[MAX_FIELDS];
    const char *name[MAX_FIELDS];
    const char *meant[MAX_FIELDS]; /* what unknown fields probably were: not missing, too */
    size_t n, nmeant;
} known;

static void check_known(kg_spec *sp, const kg_value *v, const char *key, void *arg)
{
    known *k = arg;
    const kg_function *main = &sp->op->family->function[0];
    for (size_t i = 0; i < k->n; i++)
        if (strcmp(k->name[i], key) == 0) return;
    kg_pos pos = kg_key_pos(sp, v->place, v->pos);
    const char *near = kg_closest(key, k->name, k->n);
    if (near && k->nmeant < MAX_FIELDS) k->meant[k->nmeant++] = near;
    if (!near && strcmp(key, "code") == 0 && main->code)
        kg_wrong(sp, pos, "unknown field 'code': write %s = code [[...]]", main->name);
    else
        kg_wrong_field(sp, pos, "", key, k->name, k->n);
}

static void read_field(kg_spec *sp, const field *f, const known *k)
{
    lua_State *L = sp->L;
    lua_pushstring(L, f->name);
    lua_rawget(L, sp->table);
    size_t before = sp->cx->errors;
    const kg_place *p = kg_place_field(sp->place, f->name);
    kg_value v = {p, kg_place_pos(sp, p, sp->op->pos), f->name};
    if (lua_isnil(L, -1)) {
        bool meant = false;
        for (size_t i = 0; i < k->nmeant; i++) meant |= strcmp(k->meant[i], f->name) == 0;
        if (f->required && !meant)
            kg_wrong(sp, sp->op->pos, "missing field '%s': %s", f->name, f->want);
        sp->wrong |= f->required;
    } else if (f->type != LUA_TNONE && lua_type(L, -1) != f->type) {
        kg_wrong(sp, v.pos, "%s: expected %s, got %s", f->name, f->want, kg_kind_of(L, -1));
    } else if (f->function) {
        kg_spec_function(sp, &v, f->function - 1);
    } else {
        f->read(sp, &v);
    }
    lua_pop(L, 1);
    if (f->declares && sp->cx->errors > before) sp->names_wrong = true;
}

/* A type of the op's own that no tensor has was forgotten, or another is meant. */
static void check_types_used(kg_spec *sp)
{
    const kg_op *op = sp->op;
    const kg_place *row = kg_place_item(kg_place_field(sp->place, "types"), 1);
    for (size_t i = 0; i < op->nsig_types && !op->family->ntypes; i++) {
        bool used = false;
        for (size_t k = 0; k < op->ntensors; k++) used |= op->tensor[k].type == (0x80 | i);
        if (used) continue;
        kg_pos otherwise = kg_place_pos(sp, row, op->pos);
        kg_wrong(sp, kg_key_pos(sp, kg_place_field(row, op->type_name[i]), otherwise),
                 "type '%s': no input and no output has it", op->type_name[i]);
    }
}

void kg_spec_check(kg_spec *sp)
{
    kg_op *op = sp->op;
    const kg_family *fam = op->family;
    known k = {.nmeant = 0};
    k.n = list_fields(sp->cx, fam, k.field);
    for (size_t i = 0; i < k.n; i++) k.name[i] = k.field[i].name;
    op->products = fam->nown > 0;
    for (size_t i = 0; i < fam->nown; i++)
        if (fam->own[i].count > 1) op->b_name[0] = fam->own[i].name;
    if (!fam->nlayouts && !fam->fixed_field) {
        op->layouts = kg_alloc(sp->cx->arena, sizeof *op->layouts);
        op->layouts->pos = op->pos;
        op->nlayouts = 1;
    }
    kg_value whole = {sp->place, op->pos, ""};
    lua_pushvalue(sp->L, sp->table);
    kg_spec_fields(sp, &whole, check_known, &k);
    lua_pop(sp->L, 1);
    bool placed = false;
    for (size_t i = 0; i < k.n; i++) {
        /* The family's own stand before those of the fields behind types and the names of products.
         */
        bool own = k.field[i].read == kg_spec_types || k.field[i].read == kg_spec_layouts ||
                   k.field[i].read == kg_spec_b || k.field[i].read == kg_spec_fixed ||
                   k.field[i].read == kg_spec_option;
        if (!own && !placed) kg_spec_own(sp);
        placed |= !own;
        read_field(sp, &k.field[i], &k);
    }
    kg_spec_indices(sp);
    if (!sp->wrong) check_types_used(sp);
    if (!sp->wrong) kg_spec_uses(sp);
    if (!sp->wrong) kg_spec_options_used(sp);
}

void kg_spec_describe(const kg_family *fam, FILE *to)
{
    kg_ctx cx = {.arena = kg_arena_new()};
    field all[MAX_FIELDS];
    size_t n = list_fields(&cx, fam, all);
    fprintf(to, "family %s\n", fam->name);
    for (size_t i = 0; i < n; i++)
        fprintf(to, "field %s\n%s-field %s\n", all[i].name, fam->name, all[i].name);
    for (size_t i = 0; i < fam->ntypes; i++)
        fprintf(to, "%s-type %s\n", fam->name, fam->type[i].name);
    kg_arena_free(cx.arena);
}
