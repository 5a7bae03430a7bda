// SPDX-License-Identifier: MIT
// Between family.c (files of families, their plain fields) and family_parts.c (types, tensors,
// inputs, functions, shapes).
#ifndef KILN_FAMILY_H
#define KILN_FAMILY_H
#include "spec.h"

/* A family that is being read. */
typedef struct kg_reader {
    kg_spec sp; /* first: what spec_read.c's functions get */
    kg_family *fam;
    uint16_t sizes_used; /* bits of positions */
    void *into;          /* the type, tensor or function that is being read */
    kg_pos size_pos[KILN_MAX_SIZES];
} kg_reader;

typedef struct kg_field {
    const char *name;
    bool required;
    int type;         /* Lua's */
    const char *want; /* expected ... */
    void (*read)(kg_reader *, const kg_value *);
} kg_field;

/* The table on top, field by field in the order of the list; v->what: "" or what it is.  Of a whole
 * file's, what follows from a fault is not looked at. */
void kg_read_fields(kg_reader *, const kg_value *, const kg_field *, size_t n);
/* The text on top, kept. */
const char *kg_read_text(kg_reader *);
/* Position of a name in a list; KILN_NOWHERE: reported as an unknown `kind`. */
uint8_t kg_read_position(kg_reader *, const kg_value *, const char *kind, const char *key,
                         const char *const *name, size_t n);
/* The list of names on top as bits of positions in `name`. */
uint32_t kg_read_set(kg_reader *, const kg_value *, const char *kind, const char *const *name,
                     size_t n);
/* The list of sizes on top as bits of their positions. */
uint16_t kg_read_sizes(kg_reader *, const kg_value *);
/* The size on top, which is used by that. */
uint8_t kg_read_size(kg_reader *, const kg_value *);

/* An item { "name", field = ... } on top: its name, which is taken out of the table; NULL:
 * reported. */
const char *kg_read_first(kg_reader *, const kg_value *, const char *kind);

/* family_choices.c: options, ragged, paged, only, fixed, at; family_parts.c: the rest */
void kg_read_types(kg_reader *, const kg_value *);
void kg_read_tensors(kg_reader *, const kg_value *);
void kg_read_layouts(kg_reader *, const kg_value *);
void kg_read_inputs(kg_reader *, const kg_value *);
void kg_read_outputs(kg_reader *, const kg_value *);
void kg_read_functions(kg_reader *, const kg_value *);
void kg_read_options(kg_reader *, const kg_value *);
void kg_read_ragged(kg_reader *, const kg_value *);
void kg_read_gathered(kg_reader *, const kg_value *);
void kg_read_paged(kg_reader *, const kg_value *);
void kg_read_only(kg_reader *, const kg_value *);
void kg_read_fixed(kg_reader *, const kg_value *);
void kg_read_places(kg_reader *, const kg_value *);
void kg_read_shapes(kg_reader *, const kg_value *);
#endif
