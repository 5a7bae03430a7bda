// SPDX-License-Identifier: MIT
// ELF64, little-endian, from memory.  Everything is copied out: code objects need not be aligned.
#include "elf_reader.h"
#include <string.h>

static int inside(const kt_elf *e, uint64_t offset, uint64_t size)
{
    return offset <= e->size && size <= e->size - offset;
}

int kt_elf_open(const void *data, size_t size, kt_elf *e)
{
    *e = (kt_elf){.data = data, .size = size};
    if (!data || size < sizeof e->header) return 0;
    memcpy(&e->header, data, sizeof e->header);
    return !memcmp(e->header.e_ident, ELFMAG, SELFMAG) &&
           e->header.e_ident[EI_CLASS] == ELFCLASS64 && e->header.e_ident[EI_DATA] == ELFDATA2LSB;
}

static int header_of(const kt_elf *e, size_t i, Elf64_Shdr *h)
{
    const uint64_t at = e->header.e_shoff;
    if (i >= e->header.e_shnum || e->header.e_shentsize != sizeof *h || !at) return 0;
    if (at > e->size || !inside(e, at + i * sizeof *h, sizeof *h)) return 0;
    memcpy(h, e->data + at + i * sizeof *h, sizeof *h);
    return 1;
}

/* Text at an offset of a string section; "" where it is not ended inside. */
static const char *text_at(const kt_elf *e, const Elf64_Shdr *strings, uint32_t offset)
{
    if (strings->sh_type == SHT_NOBITS || !inside(e, strings->sh_offset, strings->sh_size) ||
        offset >= strings->sh_size)
        return "";
    const char *text = (const char *)e->data + strings->sh_offset + offset;
    return memchr(text, 0, strings->sh_size - offset) ? text : "";
}

int kt_elf_section(const kt_elf *e, size_t i, kt_section *s)
{
    Elf64_Shdr names;
    *s = (kt_section){.name = ""};
    if (!header_of(e, i, &s->header)) return 0;
    if (s->header.sh_type != SHT_NOBITS) {
        if (!inside(e, s->header.sh_offset, s->header.sh_size)) return 0;
        s->data = e->data + s->header.sh_offset;
    }
    if (header_of(e, e->header.e_shstrndx, &names)) s->name = text_at(e, &names, s->header.sh_name);
    return 1;
}

int kt_elf_find(const kt_elf *e, const char *name, kt_section *s)
{
    for (size_t i = 0; i < e->header.e_shnum; i++)
        if (kt_elf_section(e, i, s) && !strcmp(s->name, name)) return 1;
    return 0;
}

int kt_elf_segment(const kt_elf *e, size_t i, Elf64_Phdr *h, const uint8_t **data)
{
    const uint64_t at = e->header.e_phoff;
    if (i >= e->header.e_phnum || e->header.e_phentsize != sizeof *h || at > e->size) return 0;
    if (!inside(e, at + i * sizeof *h, sizeof *h)) return 0;
    memcpy(h, e->data + at + i * sizeof *h, sizeof *h);
    if (!inside(e, h->p_offset, h->p_filesz)) return 0;
    *data = e->data + h->p_offset;
    return 1;
}

/* Its bytes in the file (size bytes of them, at least), and itself; NULL: not there. */
static const uint8_t *find_symbol(const kt_elf *e, const char *name, size_t size, size_t *index,
                                  Elf64_Sym *symbol)
{
    kt_section table, home;
    Elf64_Shdr strings;
    for (size_t i = 0; i < e->header.e_shnum; i++) {
        if (!kt_elf_section(e, i, &table) || !table.data) continue;
        if (table.header.sh_type != SHT_SYMTAB && table.header.sh_type != SHT_DYNSYM) continue;
        if (!header_of(e, table.header.sh_link, &strings)) continue;
        for (size_t n = 0; n < table.header.sh_size / sizeof(Elf64_Sym); n++) {
            memcpy(symbol, table.data + n * sizeof *symbol, sizeof *symbol);
            if (strcmp(text_at(e, &strings, symbol->st_name), name)) continue;
            if (!kt_elf_section(e, symbol->st_shndx, &home) || !home.data) continue;
            const uint64_t base = e->header.e_type == ET_REL ? 0 : home.header.sh_addr;
            const uint64_t at = symbol->st_value - base;
            if (symbol->st_value < base || at > home.header.sh_size ||
                size > home.header.sh_size - at)
                continue;
            if (index) *index = n;
            return home.data + at;
        }
    }
    return NULL;
}

const uint8_t *kt_elf_symbol(const kt_elf *e, const char *name, size_t size, size_t *index)
{
    Elf64_Sym symbol;
    return find_symbol(e, name, size, index, &symbol);
}

long long kt_elf_symbol_size(const kt_elf *e, const char *name)
{
    Elf64_Sym symbol;
    if (!find_symbol(e, name, 0, NULL, &symbol)) return KT_UNKNOWN;
    return symbol.st_size <= e->size ? (long long)symbol.st_size : KT_UNKNOWN;
}
