// SPDX-License-Identifier: MIT
// A hash table from names to positions, filled once: open addressing, at most half full.
#define XXH_INLINE_ALL
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "internal.h"

static kr_name *place_of(const kr_names *names, const char *name)
{
    uint32_t at = (uint32_t)XXH3_64bits(name, strlen(name)) & names->mask;
    while (names->slot[at].name && strcmp(names->slot[at].name, name) != 0)
        at = (at + 1) & names->mask;
    return &names->slot[at];
}

bool kr_names_make(kr_names *names, size_t most)
{
    size_t size = 4;
    while (size < 2 * most) size *= 2;
    names->slot = calloc(size, sizeof *names->slot);
    names->mask = (uint32_t)(size - 1);
    return names->slot != NULL;
}

void kr_names_add(kr_names *names, const char *name, uint32_t position)
{
    kr_name *slot = place_of(names, name);
    if (!slot->name) *slot = (kr_name){name, position};
}

bool kr_names_find(const kr_names *names, const char *name, uint32_t *position)
{
    const kr_name *slot = place_of(names, name);
    if (slot->name) *position = slot->position;
    return slot->name != NULL;
}
