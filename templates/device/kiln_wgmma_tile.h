// SPDX-License-Identifier: MIT
// Matrix descriptors of wgmma's operands in shared memory (PTX ISA, "Asynchronous warpgroup level matrix shared memory
// layout"); tests/emul takes them from here, too.
#ifndef KILN_WGMMA_TILE_H
#define KILN_WGMMA_TILE_H
#include "kiln_types.h"

// A place in shared memory in units of 16 bytes, as descriptors count.  An address has the block's rank in its cluster
// above its 18 bits, which would be added to the descriptor's next field.
static KILN_DEVICE unsigned kiln_wgmma_place(unsigned tile)
{
    return (tile & 0x3ffff) >> 4;
}

// A tile with rows of 128 bytes, swizzled, from a multiple of 1024 bytes on; eight rows are 1024 bytes.  `panel`: bytes
// from 64 elements to the next 64 where M or N is contiguous; unused where K is.  `eight`: from eight rows to the next
// eight.
static KILN_DEVICE unsigned long long kiln_wgmma_tile(unsigned tile, unsigned panel, unsigned eight = 1024)
{
    return (unsigned long long)kiln_wgmma_place(tile) | (unsigned long long)((panel >> 4) & 0x3fff) << 16 |
           (unsigned long long)((eight >> 4) & 0x3fff) << 32 | 1ull << 62;
}

// The same of a place, in words of their own: only the lower one is worked out again where the place changes.
static KILN_DEVICE unsigned long long kiln_wgmma_tile_at(unsigned place, unsigned panel)
{
    const unsigned low = place + ((panel >> 4) << 16), high = 1024 >> 4 | 1u << 30;
#if defined(KILN_EMULATED) // tests/emul
    return (unsigned long long)high << 32 | low;
#else
    unsigned long long tile;
    asm("mov.b64 %0, {%1, %2};" : "=l"(tile) : "r"(low), "r"(high));
    return tile;
#endif
}
#endif
