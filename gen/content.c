// SPDX-License-Identifier: MIT
// What makes a kernel the one that was tuned is its own machine code, not that of the kernels that
// happen to be compiled with it: it is looked for in the code object by its symbol.
#include "../tools/elf_reader.h"
#include "back.h"
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* The bytes of a symbol; NULL: there is none. */
static const uint8_t *bytes_of(const kt_elf *e, const char *name, size_t *size)
{
    const long long n = kt_elf_symbol_size(e, name);
    if (n <= 0) return NULL;
    *size = (size_t)n;
    return kt_elf_symbol(e, name, *size, NULL);
}

/* Of AMD's: registers and shared memory.  Where its code is from there says nothing of it. */
static void feed_descriptor(const kt_elf *e, const char *id, XXH3_state_t *h)
{
    enum { SIZE = 64, ENTRY = 16 };
    size_t size = 0;
    uint8_t copy[SIZE];
    kg_buf name = {0};
    kg_putf(&name, "%s.kd", id);
    const uint8_t *descriptor = bytes_of(e, name.p, &size);
    kg_buf_free(&name);
    if (!descriptor || size != SIZE) return;
    memcpy(copy, descriptor, SIZE);
    memset(copy + ENTRY, 0, sizeof(uint64_t));
    XXH3_64bits_update(h, copy, SIZE);
}

uint64_t kg_content(const char *name, const void *object, size_t size)
{
    kt_elf e;
    XXH3_state_t h;
    kg_buf id = {0};
    size_t found = 0;
    const char *slash = strchr(name, '/'); /* the target's name ends there */
    kg_putf(&id, "kiln_%s", slash ? slash + 1 : name);
    for (char *p = id.p; *p; p++)
        if (*p == '/') *p = '_';
    XXH3_64bits_reset(&h);
    const size_t len = id.len;
    for (size_t stage = 1; stage <= KILN_MAX_STAGES && kt_elf_open(object, size, &e); stage++) {
        id.len = len;
        id.p[len] = 0;
        if (stage > 1) kg_putf(&id, "_%zu", stage);
        size_t n;
        const uint8_t *code = bytes_of(&e, id.p, &n);
        if (!code) break;
        found++;
        XXH3_64bits_update(&h, &n, sizeof n);
        XXH3_64bits_update(&h, code, n);
        feed_descriptor(&e, id.p, &h);
    }
    kg_buf_free(&id);
    return found ? XXH3_64bits_digest(&h) : XXH3_64bits(object, size);
}
