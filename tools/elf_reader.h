// SPDX-License-Identifier: MIT
// ELF64 objects, little-endian, in memory; they may be damaged: every offset is checked.
#ifndef KILN_ELF_READER_H
#define KILN_ELF_READER_H
#include <elf.h>
#include <stddef.h>
#include <stdint.h>

enum { KT_UNKNOWN = -1 };

typedef struct kt_elf {
    const uint8_t *data;
    size_t size;
    Elf64_Ehdr header;
} kt_elf;

typedef struct kt_section {
    Elf64_Shdr header;
    const char *name;
    const uint8_t *data; /* NULL for SHT_NOBITS; else header.sh_size bytes */
} kt_section;

int kt_elf_open(const void *, size_t, kt_elf *);
int kt_elf_section(const kt_elf *, size_t i, kt_section *); /* 0: there is none, or it is damaged */
int kt_elf_find(const kt_elf *, const char *name, kt_section *);
int kt_elf_segment(const kt_elf *, size_t i, Elf64_Phdr *, const uint8_t **data);
/* The symbol's bytes in the file (size bytes of them, at least); NULL: not there. */
const uint8_t *kt_elf_symbol(const kt_elf *, const char *name, size_t size, size_t *index);
/* As the symbol has it; KT_UNKNOWN: not there. */
long long kt_elf_symbol_size(const kt_elf *, const char *name);
#endif
