// SPDX-License-Identifier: MIT
// NVIDIA cubins: .nv.info (a list of attributes) has registers and stack frames by symbol,
// .nv.info.KERNEL the largest block, .nv.shared.KERNEL is as large as the static shared memory.
#include "resources.h"
#include <stdio.h>
#include <string.h>

enum {
    SIZED = 4,
    REGISTERS = 0x2f,
    FRAME = 0x11,
    MAX_THREADS = 0x05
}; /* an attribute's format, and three of them */
enum {
    RESERVED = 1024
}; /* shared memory that the driver's part takes, counted in .nv.shared where it is declared */

/* Data of the attribute whose first word is `symbol` (any, if negative), at least `size` bytes;
 * NULL: not there. */
static const uint8_t *attribute(const kt_section *s, int which, long symbol, size_t size)
{
    const uint8_t *p = s->data, *const end = p + s->header.sh_size;
    while (end - p >= 4) {
        uint16_t length;
        uint32_t first;
        memcpy(&length, p + 2, 2);
        if (p[0] != SIZED) {
            p += 4;
            continue;
        }
        if (length > end - p - 4) return NULL;
        if (p[1] == which && length >= size && length >= 4) {
            memcpy(&first, p + 4, 4);
            if (symbol < 0 || first == (uint32_t)symbol) return p + 4;
        }
        p += 4 + length;
    }
    return NULL;
}

static long long word(const uint8_t *p, int i)
{
    uint32_t v;
    memcpy(&v, p + 4 * i, 4);
    return (long long)v;
}

int kt_resources_nvidia(const void *code, size_t size, const char *symbol, kt_resources *r)
{
    kt_elf e;
    kt_section s;
    char name[600];
    size_t index;
    const uint8_t *at;
    if (!kt_elf_open(code, size, &e) || !kt_elf_symbol(&e, symbol, 1, &index)) return 0;
    if (!kt_elf_find(&e, ".nv.info", &s) || !s.data) return 0;
    if (!(at = attribute(&s, REGISTERS, (long)index, 8))) return 0;
    r->vgprs = word(at, 1);
    r->allocated = (r->vgprs + 7) / 8 * 8;
    r->wave = 32;
    r->lds = 0;
    if ((at = attribute(&s, FRAME, (long)index, 8))) r->scratch = word(at, 1);
    snprintf(name, sizeof name, ".nv.info.%s", symbol);
    if (kt_elf_find(&e, name, &s) && s.data && (at = attribute(&s, MAX_THREADS, -1, 12)))
        r->threads = word(at, 0) * word(at, 1) * word(at, 2);
    snprintf(name, sizeof name, ".nv.shared.%s", symbol);
    if (kt_elf_find(&e, name, &s)) {
        r->lds = (long long)s.header.sh_size;
        if (r->lds >= RESERVED && kt_elf_find(&e, ".nv.shared.reserved.0", &s)) r->lds -= RESERVED;
    }
    return 1;
}
