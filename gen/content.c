// SPDX-License-Identifier: MIT
// What makes a kernel the one that was tuned is its own machine code, not that of the kernels that
// happen to be compiled with it: it is looked for in the code object by its symbol.
#include "back.h"
#include <elf.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

typedef struct elf {
    const uint8_t *data;
    size_t size;
    Elf64_Ehdr header;
} elf;

static bool inside(const elf *e, uint64_t offset, uint64_t size)
{
    return offset <= e->size && size <= e->size - offset;
}

static bool open_elf(const void *data, size_t size, elf *e)
{
    *e = (elf){.data = data, .size = size};
    if (size < sizeof e->header) return false;
    memcpy(&e->header, data, sizeof e->header);
    return memcmp(e->header.e_ident, ELFMAG, SELFMAG) == 0 &&
           e->header.e_ident[EI_CLASS] == ELFCLASS64 && e->header.e_ident[EI_DATA] == ELFDATA2LSB &&
           e->header.e_shentsize == sizeof(Elf64_Shdr);
}

/* A section that has bytes in the file. */
static bool section(const elf *e, size_t i, Elf64_Shdr *s)
{
    const uint64_t at = e->header.e_shoff;
    if (i >= e->header.e_shnum || at > e->size || !inside(e, at + i * sizeof *s, sizeof *s))
        return false;
    memcpy(s, e->data + at + i * sizeof *s, sizeof *s);
    return s->sh_type != SHT_NOBITS && inside(e, s->sh_offset, s->sh_size);
}

static bool is_called(const elf *e, const Elf64_Shdr *strings, const Elf64_Sym *s, const char *name)
{
    const size_t len = strlen(name) + 1;
    return s->st_name <= strings->sh_size && len <= strings->sh_size - s->st_name &&
           memcmp(e->data + strings->sh_offset + s->st_name, name, len) == 0;
}

/* The bytes of a symbol; NULL: there is none. */
static const uint8_t *bytes_of(const elf *e, const char *name, size_t *size)
{
    Elf64_Shdr table, strings, home;
    for (size_t i = 0; i < e->header.e_shnum; i++) {
        if (!section(e, i, &table) || table.sh_type != SHT_SYMTAB ||
            !section(e, table.sh_link, &strings))
            continue;
        for (size_t n = 0; n < table.sh_size / sizeof(Elf64_Sym); n++) {
            Elf64_Sym s;
            memcpy(&s, e->data + table.sh_offset + n * sizeof s, sizeof s);
            if (!s.st_size || !is_called(e, &strings, &s, name) || !section(e, s.st_shndx, &home))
                continue;
            const uint64_t at = s.st_value - home.sh_addr;
            if (s.st_value < home.sh_addr || at > home.sh_size || s.st_size > home.sh_size - at)
                continue;
            *size = s.st_size;
            return e->data + home.sh_offset + at;
        }
    }
    return NULL;
}

/* Of AMD's: registers and shared memory.  Where its code is from there says nothing of it. */
static void feed_descriptor(const elf *e, const char *id, XXH3_state_t *h)
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
    elf e;
    XXH3_state_t h;
    kg_buf id = {0};
    size_t found = 0;
    const char *slash = strchr(name, '/'); /* the target's name ends there */
    kg_putf(&id, "kiln_%s", slash ? slash + 1 : name);
    for (char *p = id.p; *p; p++)
        if (*p == '/') *p = '_';
    XXH3_64bits_reset(&h);
    const size_t len = id.len;
    for (size_t stage = 1; stage <= KILN_MAX_STAGES && open_elf(object, size, &e); stage++) {
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
