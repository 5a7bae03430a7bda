// SPDX-License-Identifier: MIT
// A hash table from names to positions, filled once: open addressing, at most half full.
#include <stdlib.h>
#include <string.h>
#include "internal.h"

static kr_name *place_of(const kr_names *names, const char *name, uint64_t hash)
{
    uint32_t at = (uint32_t)(hash ^ hash >> 32) & names->mask;
    for (;; at = (at + 1) & names->mask) {
        kr_name *slot = &names->slot[at];
        if (!slot->name || (slot->hash == hash && strcmp(slot->name, name) == 0)) return slot;
    }
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
    const uint64_t hash = kiln_name_hash(name);
    kr_name *slot = place_of(names, name, hash);
    if (!slot->name) *slot = (kr_name){name, hash, position};
}

bool kr_names_find(const kr_names *names, const char *name, uint64_t hash, uint32_t *position)
{
    const kr_name *slot = place_of(names, name, hash);
    if (slot->name) *position = slot->position;
    return slot->name != NULL;
}
