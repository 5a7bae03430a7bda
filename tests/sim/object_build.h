// SPDX-License-Identifier: MIT
// A small code object made by hand: two kernels, a variable, a pointer to it, metadata.  Tests load
// it as it is, then with a field changed, cut off, or with bytes of it damaged.
#ifndef OBJECT_BUILD_H
#define OBJECT_BUILD_H
#include <elf.h>
#include <msgpack.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    BUILD_ROOM = 8192,
    BUILD_CODE_VADDR = 0x1000,
    BUILD_DATA_VADDR = 0x2000,
    BUILD_MACH_GFX942 = 0x54c
};
enum { PH_READ, PH_CODE, PH_DATA, PH_NOTE, PH_COUNT };
enum {
    SH_NULL,
    SH_NOTE,
    SH_DYNSYM,
    SH_DYNSTR,
    SH_RELA,
    SH_RODATA,
    SH_TEXT,
    SH_DATA,
    SH_STRTAB,
    SH_COUNT
};
enum {
    SYM_NULL,
    SYM_FIRST,
    SYM_FIRST_KD,
    SYM_SECOND,
    SYM_SECOND_KD,
    SYM_VALUE,
    SYM_TABLE,
    SYM_OUTSIDE,
    SYM_COUNT
};

typedef struct built_descriptor {
    uint32_t lds, scratch, kernarg, reserved0;
    int64_t entry;
    uint32_t reserved1[5], rsrc3, rsrc1, rsrc2;
    uint16_t properties, preload;
    uint32_t reserved2;
} built_descriptor;
typedef struct built { /* pointers into bytes */
    uint8_t bytes[BUILD_ROOM] __attribute__((aligned(64)));
    size_t size;
    Elf64_Ehdr *ehdr;
    Elf64_Phdr *phdr;
    Elf64_Shdr *shdr;
    Elf64_Sym *sym;
    Elf64_Rela *rela;
    built_descriptor *descriptor;
    uint32_t *code;
    uint64_t *data; /* [0] the variable, [1..2] pointers */
    uint8_t *metadata;
    uint32_t metadata_size;
} built;
typedef struct metadata_change { /* what the metadata says otherwise */
    const char *key;
    uint64_t value;
    bool leave_out;
} metadata_change;

static const uint32_t build_code[] = {
    /* first: loads its argument, stores it to where the second one points */
    0xc0060001, 0x00000000, /* s_load_dwordx2 s[0:1], s[2:3], 0x0 */
    0xbf8cc07f,             /* s_waitcnt lgkmcnt(0) */
    0x7e000281,             /* v_mov_b32_e32 v0, 1 */
    0x7e020280,             /* v_mov_b32_e32 v1, 0 */
    0xdc708000, 0x00000001, /* global_store_dword v1, v0, s[0:1] */
    0xbf810000,             /* s_endpgm */
    /* second: a loop, a returning atomic */
    0x7e020280,             /* v_mov_b32_e32 v1, 0 */
    0xdd098000, 0x00000001, /* global_atomic_add v0, v1, v0, s[0:1] sc0 */
    0xbf85fffc,             /* s_cbranch_scc1 -4 */
    0xbf810000,             /* s_endpgm */
};
enum { BUILD_SECOND = 8 }; /* word at which the second kernel starts */

static void *build_reserve(built *b, size_t size, size_t align)
{
    b->size = (b->size + align - 1) / align * align;
    void *at = b->bytes + b->size;
    b->size += size;
    return at;
}
static uint64_t build_offset(const built *b, const void *at)
{
    return (uint64_t)((const uint8_t *)at - b->bytes);
}

/* ---- Metadata ---- */
static void pack_text(msgpack_packer *p, const char *s)
{
    msgpack_pack_str(p, strlen(s));
    msgpack_pack_str_body(p, s, strlen(s));
}
static void pack_arg(msgpack_packer *p, uint64_t offset, uint64_t size, const char *kind)
{
    msgpack_pack_map(p, 3);
    pack_text(p, ".offset");
    msgpack_pack_uint64(p, offset);
    pack_text(p, ".size");
    msgpack_pack_uint64(p, size);
    pack_text(p, ".value_kind");
    pack_text(p, kind);
}
static void pack_kernel(msgpack_packer *p, const char *name, const char *symbol,
                        const metadata_change *change)
{
    static const struct {
        const char *key;
        uint32_t value;
    } numbers[] = {
        {".kernarg_segment_size", 32},
        {".kernarg_segment_align", 8},
        {".group_segment_fixed_size", 256},
        {".private_segment_fixed_size", 16},
        {".wavefront_size", 64},
        {".vgpr_count", 8},
        {".agpr_count", 4},
        {".sgpr_count", 16},
        {".max_flat_workgroup_size", 256},
        {".vgpr_spill_count", 3},
        {".sgpr_spill_count", 5},
    };
    size_t count = sizeof numbers / sizeof *numbers;
    msgpack_pack_map(p, count + 3 - (change && change->leave_out));
    pack_text(p, ".name");
    pack_text(p, name);
    pack_text(p, change && !strcmp(change->key, ".symbol") ? "first" : ".symbol");
    pack_text(p, symbol);
    for (size_t i = 0; i < count; i++) {
        bool changed = change && !strcmp(change->key, numbers[i].key);
        if (changed && change->leave_out) continue;
        pack_text(p, numbers[i].key);
        msgpack_pack_uint64(p, changed ? change->value : numbers[i].value);
    }
    pack_text(p, ".args");
    msgpack_pack_array(p, 4);
    bool far_arg = change && !strcmp(change->key, ".args");
    pack_arg(p, 0, 8, "global_buffer");
    pack_arg(p, far_arg ? change->value : 8, 4, "by_value");
    pack_arg(p, 16, 4, "hidden_block_count_y");
    pack_arg(p, 24, 8, "hidden_hostcall_buffer");
}
static void build_note(built *b, const metadata_change *change)
{
    msgpack_sbuffer out;
    msgpack_packer p;
    msgpack_sbuffer_init(&out);
    msgpack_packer_init(&p, &out, msgpack_sbuffer_write);
    msgpack_pack_map(&p, 1);
    pack_text(&p, "amdhsa.kernels");
    msgpack_pack_array(&p, 2);
    pack_kernel(&p, "first", "first.kd", change);
    bool twice = change && !strcmp(change->key, "second");
    pack_kernel(&p, "second", twice ? "first.kd" : "second.kd", NULL);
    Elf64_Nhdr *note = build_reserve(b, sizeof *note + 8, 8);
    *note = (Elf64_Nhdr){.n_namesz = 7, .n_descsz = (uint32_t)out.size, .n_type = 32};
    memcpy(note + 1, "AMDGPU", 7);
    b->metadata = build_reserve(b, (out.size + 3) & ~(size_t)3, 4);
    memcpy(b->metadata, out.data, out.size);
    b->metadata_size = (uint32_t)out.size;
    msgpack_sbuffer_destroy(&out);
    uint64_t at = build_offset(b, note);
    b->phdr[PH_NOTE] = (Elf64_Phdr){PT_NOTE, PF_R, at, at, at, b->size - at, b->size - at, 4};
    b->shdr[SH_NOTE] = (Elf64_Shdr){.sh_type = SHT_NOTE,
                                    .sh_flags = SHF_ALLOC,
                                    .sh_addr = at,
                                    .sh_offset = at,
                                    .sh_size = b->size - at,
                                    .sh_addralign = 4};
}

/* ---- The rest ---- */
static void build_symbols(built *b)
{
    static const struct {
        const char *name;
        uint8_t type;
        uint16_t section;
        uint64_t value, size;
    } symbols[SYM_COUNT] = {
        [SYM_FIRST] = {"first", STT_FUNC, SH_TEXT, BUILD_CODE_VADDR, BUILD_SECOND * 4},
        [SYM_FIRST_KD] = {"first.kd", STT_OBJECT, SH_RODATA, 0, 64},
        [SYM_SECOND] = {"second", STT_FUNC, SH_TEXT, BUILD_CODE_VADDR + BUILD_SECOND * 4,
                        sizeof build_code - BUILD_SECOND * 4},
        [SYM_SECOND_KD] = {"second.kd", STT_OBJECT, SH_RODATA, 64, 64},
        [SYM_VALUE] = {"value", STT_OBJECT, SH_DATA, BUILD_DATA_VADDR, 8},
        [SYM_TABLE] = {"table", STT_OBJECT, SH_DATA, BUILD_DATA_VADDR + 8, 4096},
        [SYM_OUTSIDE] = {"outside", STT_OBJECT, SHN_UNDEF, 0, 0},
    };
    char *names = build_reserve(b, 128, 1);
    uint32_t used = 1;
    uint64_t descriptors = build_offset(b, b->descriptor);
    for (int i = 1; i < SYM_COUNT; i++) {
        strcpy(names + used, symbols[i].name);
        b->sym[i] =
            (Elf64_Sym){used,
                        ELF64_ST_INFO(STB_GLOBAL, symbols[i].type),
                        0,
                        symbols[i].section,
                        symbols[i].value + (symbols[i].section == SH_RODATA ? descriptors : 0),
                        symbols[i].size};
        used += (uint32_t)strlen(symbols[i].name) + 1;
    }
    uint64_t at = build_offset(b, names), sym = build_offset(b, b->sym);
    b->shdr[SH_DYNSTR] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
                                      .sh_flags = SHF_ALLOC,
                                      .sh_addr = at,
                                      .sh_offset = at,
                                      .sh_size = used,
                                      .sh_addralign = 1};
    b->shdr[SH_DYNSYM] = (Elf64_Shdr){.sh_type = SHT_DYNSYM,
                                      .sh_flags = SHF_ALLOC,
                                      .sh_addr = sym,
                                      .sh_offset = sym,
                                      .sh_size = SYM_COUNT * sizeof *b->sym,
                                      .sh_link = SH_DYNSTR,
                                      .sh_info = 1,
                                      .sh_addralign = 8,
                                      .sh_entsize = sizeof *b->sym};
}
static void build_descriptors(built *b)
{
    for (int i = 0; i < 2; i++) {
        uint64_t entry = BUILD_CODE_VADDR + (i ? BUILD_SECOND * 4 : 0);
        b->descriptor[i] = (built_descriptor){.lds = 256,
                                              .scratch = 16,
                                              .kernarg = 32,
                                              .rsrc1 = 0x11,
                                              .rsrc2 = 0x22,
                                              .rsrc3 = 0x33,
                                              .properties = 8,
                                              .entry = (int64_t)entry -
                                                       (int64_t)build_offset(b, &b->descriptor[i])};
    }
}
static void build_object(built *b, const metadata_change *change)
{
    memset(b, 0, sizeof *b);
    b->ehdr = build_reserve(b, sizeof *b->ehdr, 1);
    b->phdr = build_reserve(b, PH_COUNT * sizeof *b->phdr, 8);
    b->shdr = build_reserve(b, SH_COUNT * sizeof *b->shdr, 8);
    b->sym = build_reserve(b, SYM_COUNT * sizeof *b->sym, 8);
    b->rela = build_reserve(b, 2 * sizeof *b->rela, 8);
    b->descriptor = build_reserve(b, 2 * sizeof *b->descriptor, 64);
    build_note(b, change);
    build_symbols(b);
    build_descriptors(b);
    uint64_t head = b->size, rela = build_offset(b, b->rela),
             rodata = build_offset(b, b->descriptor);
    b->code = build_reserve(b, sizeof build_code, 256);
    memcpy(b->code, build_code, sizeof build_code);
    b->data = build_reserve(b, 24, 8);
    b->data[0] = 0x1122334455667788;
    /* R_AMDGPU_RELATIVE64 to the variable, R_AMDGPU_ABS64 of its symbol plus 4 */
    b->rela[0] = (Elf64_Rela){BUILD_DATA_VADDR + 8, ELF64_R_INFO(0, 13), BUILD_DATA_VADDR};
    b->rela[1] = (Elf64_Rela){BUILD_DATA_VADDR + 16, ELF64_R_INFO((uint64_t)SYM_VALUE, 3), 4};
    uint64_t code = build_offset(b, b->code), data = build_offset(b, b->data);
    b->phdr[PH_READ] = (Elf64_Phdr){PT_LOAD, PF_R, 0, 0, 0, head, head, 0x1000};
    b->phdr[PH_CODE] = (Elf64_Phdr){
        PT_LOAD,           PF_R | PF_X,       code,  BUILD_CODE_VADDR, BUILD_CODE_VADDR,
        sizeof build_code, sizeof build_code, 0x1000};
    b->phdr[PH_DATA] = (Elf64_Phdr){PT_LOAD,          PF_R | PF_W, data, BUILD_DATA_VADDR,
                                    BUILD_DATA_VADDR, 24,          8192, 0x1000};
    b->shdr[SH_RELA] = (Elf64_Shdr){.sh_type = SHT_RELA,
                                    .sh_flags = SHF_ALLOC,
                                    .sh_addr = rela,
                                    .sh_offset = rela,
                                    .sh_size = 2 * sizeof *b->rela,
                                    .sh_link = SH_DYNSYM,
                                    .sh_addralign = 8,
                                    .sh_entsize = sizeof *b->rela};
    b->shdr[SH_RODATA] = (Elf64_Shdr){.sh_type = SHT_PROGBITS,
                                      .sh_flags = SHF_ALLOC,
                                      .sh_addr = rodata,
                                      .sh_offset = rodata,
                                      .sh_size = 128,
                                      .sh_addralign = 64};
    b->shdr[SH_TEXT] = (Elf64_Shdr){.sh_type = SHT_PROGBITS,
                                    .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                                    .sh_addr = BUILD_CODE_VADDR,
                                    .sh_offset = code,
                                    .sh_size = sizeof build_code,
                                    .sh_addralign = 256};
    b->shdr[SH_DATA] = (Elf64_Shdr){.sh_type = SHT_PROGBITS,
                                    .sh_flags = SHF_ALLOC | SHF_WRITE,
                                    .sh_addr = BUILD_DATA_VADDR,
                                    .sh_offset = data,
                                    .sh_size = 24,
                                    .sh_addralign = 8};
    uint64_t strings = build_offset(b, build_reserve(b, 1, 1));
    b->shdr[SH_STRTAB] =
        (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = strings, .sh_size = 1, .sh_addralign = 1};
    *b->ehdr =
        (Elf64_Ehdr){.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT, 64, 3},
                     .e_type = ET_DYN,
                     .e_machine = 224,
                     .e_version = EV_CURRENT,
                     .e_phoff = build_offset(b, b->phdr),
                     .e_shoff = build_offset(b, b->shdr),
                     .e_flags = BUILD_MACH_GFX942,
                     .e_ehsize = sizeof *b->ehdr,
                     .e_phentsize = sizeof *b->phdr,
                     .e_phnum = PH_COUNT,
                     .e_shentsize = sizeof *b->shdr,
                     .e_shnum = SH_COUNT,
                     .e_shstrndx = SH_STRTAB};
}
#endif
