// SPDX-License-Identifier: MIT
// The ELF side of a code object: what it is for, its segments as one image, relocations, symbols.
// libelf checks that tables lie inside the file; what they say is checked here.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "object.h"

enum {
    HSA_OSABI = 64,
    AMDGPU_MACHINE = 224,
    ABI_V4 = 2,
    ABI_V6 = 4,
    MACH_MASK = 0xff,
    SRAMECC_MASK = 0xc00,
    XNACK_MASK = 0x300,
    XNACK_ON = 0x300,
    SRAMECC_OFF = 0x800,
    MAX_SEGMENTS = 64,
    MAX_ALIGN = 1 << 21,
    R_ABS64 = 3,
    R_RELATIVE64 = 13
};
static const uint64_t max_bytes = 1ull << 30, max_code = 1ull << 26;

/* EF_AMDGPU_MACH values with a name to say. */
static const struct {
    uint8_t mach;
    const char *name;
} machs[] = {
    {0x2c, "gfx900"},       {0x2f, "gfx906"},         {0x30, "gfx908"},  {0x33, "gfx1010"},
    {0x36, "gfx1030"},      {0x3f, "gfx90a"},         {0x40, "gfx940"},  {0x41, "gfx1100"},
    {0x44, "gfx1103"},      {0x46, "gfx1101"},        {0x47, "gfx1102"}, {0x48, "gfx1200"},
    {0x4b, "gfx941"},       {0x4c, "gfx942"},         {0x4e, "gfx1201"}, {0x4f, "gfx950"},
    {0x51, "gfx9-generic"}, {0x5f, "gfx9-4-generic"},
};
static const uint8_t mach_of[KS_ARCH_COUNT] = {[KS_GFX90A] = 0x3f, [KS_GFX942] = 0x4c};

#define DAMAGED(f, ...) (ks_fail((f)->error, KS_INVALID_IMAGE, "code object: " __VA_ARGS__), false)

static const char *mach_name(unsigned mach)
{
    for (size_t i = 0; i < sizeof machs / sizeof *machs; i++)
        if (machs[i].mach == mach) return machs[i].name;
    return "an unknown GPU";
}
static bool grow(uint64_t *end, uint64_t offset, uint64_t size)
{
    if (offset > max_bytes || size > max_bytes - offset) return false;
    if (offset + size > *end) *end = offset + size;
    return true;
}
/* The bytes that an ELF says it has: tables, sections and segments. */
static bool own_size(const uint8_t *elf, const Elf64_Ehdr *h, uint64_t *end)
{
    *end = sizeof *h;
    if (!grow(end, h->e_phoff, (uint64_t)h->e_phnum * sizeof(Elf64_Phdr)) ||
        !grow(end, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr)))
        return false;
    for (unsigned i = 0; i < h->e_phnum; i++) {
        Elf64_Phdr p;
        memcpy(&p, elf + h->e_phoff + i * sizeof p, sizeof p);
        if (!grow(end, p.p_offset, p.p_filesz)) return false;
    }
    for (unsigned i = 0; i < h->e_shnum; i++) {
        Elf64_Shdr s;
        memcpy(&s, elf + h->e_shoff + i * sizeof s, sizeof s);
        if (s.sh_type != SHT_NOBITS && !grow(end, s.sh_offset, s.sh_size)) return false;
    }
    return true;
}
bool ks_elf_size(const uint8_t *elf, size_t *size, ks_error *error)
{
    Elf64_Ehdr h;
    uint64_t end;
    if (*size < sizeof h || memcmp(elf, ELFMAG, SELFMAG)) {
        ks_fail(error, KS_INVALID_IMAGE,
                "code object: not an ELF file: compile with --no-gpu-bundle-output, or load a "
                "bundle as one");
        return false;
    }
    memcpy(&h, elf, sizeof h);
    if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB ||
        h.e_ident[EI_VERSION] != EV_CURRENT) {
        ks_fail(error, KS_INVALID_IMAGE,
                "code object: not a little-endian ELF64 file: it is not for an AMD GPU");
        return false;
    }
    /* SIZE_MAX, or what is left of it behind the start of a bundle. */
    bool known = *size <= SIZE_MAX / 2;
    if (known && *size <= max_bytes) return true;
    if (known || !own_size(elf, &h, &end)) {
        ks_fail(error, KS_INVALID_IMAGE,
                "code object: its headers say that it is larger than 1 GiB: the file is "
                "damaged");
        return false;
    }
    *size = end;
    return true;
}
bool ks_elf_header(ks_file *f, ks_arch device)
{
    GElf_Ehdr h;
    if (!gelf_getehdr(f->elf, &h)) return DAMAGED(f, "%s: the file is damaged", elf_errmsg(-1));
    if (h.e_machine != AMDGPU_MACHINE || h.e_ident[EI_OSABI] != HSA_OSABI)
        return DAMAGED(
            f,
            "made for machine %u, ABI %u, not for an AMD GPU under HSA: compile with hipcc "
            "--offload-arch=%s",
            h.e_machine, h.e_ident[EI_OSABI], ks_arch_names[device]);
    unsigned abi = h.e_ident[EI_ABIVERSION], mach = h.e_flags & MACH_MASK;
    if (abi < ABI_V4 || abi > ABI_V6)
        return DAMAGED(
            f, "of version %u, where 4 to 6 are known: compile with -mcode-object-version=5",
            abi + 2);
    if (mach != mach_of[device]) {
        ks_fail(f->error, KS_NO_BINARY,
                "code object: made for %s (EF_AMDGPU_MACH 0x%x), the device is %s: compile "
                "with --offload-arch=%s",
                mach_name(mach), mach, ks_arch_names[device], ks_arch_names[device]);
        return false;
    }
    if ((h.e_flags & SRAMECC_MASK) == SRAMECC_OFF) {
        ks_fail(f->error, KS_NO_BINARY,
                "code object: made for %s:sramecc-, the device has SRAM ECC: compile with "
                "--offload-arch=%s",
                ks_arch_names[device], ks_arch_names[device]);
        return false;
    }
    const char *xnack = getenv("HSA_XNACK"); /* ROCm's own switch */
    if ((h.e_flags & XNACK_MASK) == XNACK_ON && !(xnack && !strcmp(xnack, "1"))) {
        ks_fail(f->error, KS_NO_BINARY,
                "code object: made for %s:xnack+, the device runs without XNACK: set "
                "HSA_XNACK=1, or compile with --offload-arch=%s",
                ks_arch_names[device], ks_arch_names[device]);
        return false;
    }
    if (h.e_type != ET_DYN)
        return DAMAGED(f, "ELF type %u, not a linked object: link it with ld.lld -shared",
                       h.e_type);
    f->object->arch = device;
    return true;
}

/* ---- The image ---- */
static bool check_segment(ks_file *f, const GElf_Phdr *p, uint64_t end)
{
    uint64_t align = p->p_align ? p->p_align : 1;
    if (p->p_offset > f->object->elf_size || p->p_filesz > f->object->elf_size - p->p_offset)
        return DAMAGED(f, "a segment ends after the file's %zu bytes: the file is cut off",
                       f->object->elf_size);
    if (p->p_filesz > p->p_memsz || p->p_memsz > max_bytes || p->p_vaddr > max_bytes)
        return DAMAGED(f, "a segment of %llu bytes at 0x%llx: the file is damaged",
                       (unsigned long long)p->p_memsz, (unsigned long long)p->p_vaddr);
    if (align & (align - 1) || align > MAX_ALIGN)
        return DAMAGED(f, "a segment's alignment is %llu: the file is damaged",
                       (unsigned long long)align);
    if (p->p_vaddr < end)
        return DAMAGED(f, "two segments overlap at 0x%llx: the file is damaged",
                       (unsigned long long)p->p_vaddr);
    if (p->p_flags & PF_X && (f->object->code_size || p->p_filesz > max_code || p->p_vaddr % 4))
        return DAMAGED(
            f, "more than one executable segment, or one of %llu bytes: the file is damaged",
            (unsigned long long)p->p_filesz);
    return true;
}
/* Anonymous memory of a size that starts at a multiple of align; a power of two. */
static uint8_t *map_aligned(size_t size, size_t align)
{
    uint8_t *all =
        mmap(NULL, size + align, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) return NULL;
    size_t skip = (align - (uintptr_t)all % align) % align;
    if (skip) munmap(all, skip);
    if (align - skip) munmap(all + skip + size, align - skip);
    return all + skip;
}
bool ks_elf_image(ks_file *f)
{
    ks_object *o = f->object;
    GElf_Phdr load[MAX_SEGMENTS], p;
    size_t count, loads = 0;
    uint64_t end = 0, align = (uint64_t)sysconf(_SC_PAGESIZE), page = align;
    if (elf_getphdrnum(f->elf, &count) || !count || count > MAX_SEGMENTS)
        return DAMAGED(f, "no table of segments, or an absurd one: the file is damaged");
    for (size_t i = 0; i < count; i++) {
        if (!gelf_getphdr(f->elf, (int)i, &p))
            return DAMAGED(f, "%s: the file is damaged", elf_errmsg(-1));
        if (p.p_type != PT_LOAD) continue;
        if (!check_segment(f, &p, end)) return false;
        if (p.p_flags & PF_X) {
            o->code_vaddr = p.p_vaddr;
            o->code_size = p.p_filesz & ~(uint64_t)3; /* whole words */
        }
        align = p.p_align > align ? p.p_align : align;
        end = p.p_vaddr + p.p_memsz;
        load[loads++] = p;
    }
    if (!loads || !end) return DAMAGED(f, "nothing to load: the file is damaged");
    f->base = load[0].p_vaddr & ~(align - 1);
    o->image_size = (size_t)((end - f->base + page - 1) & ~(page - 1));
    o->image = map_aligned(o->image_size, (size_t)align);
    if (!o->image) {
        ks_fail(f->error, KS_NO_MEMORY, "no memory for a code object's %zu bytes", o->image_size);
        return false;
    }
    for (size_t i = 0; i < loads; i++)
        memcpy(o->image + (load[i].p_vaddr - f->base), o->elf + load[i].p_offset, load[i].p_filesz);
    o->code = o->image + (o->code_size ? o->code_vaddr - f->base : 0);
    return true;
}
uint8_t *ks_elf_at(const ks_file *f, uint64_t vaddr, uint64_t size)
{
    const ks_object *o = f->object;
    if (vaddr < f->base || vaddr - f->base > o->image_size ||
        size > o->image_size - (vaddr - f->base))
        return NULL;
    return o->image + (vaddr - f->base);
}

/* ---- Sections ---- */
static Elf_Scn *next_section(ks_file *f, Elf_Scn *from, uint32_t type, GElf_Shdr *header)
{
    for (Elf_Scn *s = elf_nextscn(f->elf, from); s; s = elf_nextscn(f->elf, s))
        if (gelf_getshdr(s, header) && header->sh_type == type) return s;
    return NULL;
}
static const char *symbol_name(ks_file *f, const GElf_Shdr *table, const GElf_Sym *sym)
{
    const char *name = elf_strptr(f->elf, table->sh_link, sym->st_name);
    return name ? name : "";
}
bool ks_elf_symbols(ks_file *f, bool (*visit)(ks_file *, const GElf_Sym *, const char *, void *),
                    void *user)
{
    GElf_Shdr header;
    Elf_Scn *section = next_section(f, NULL, SHT_DYNSYM, &header);
    Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
    if (!data || header.sh_entsize != sizeof(Elf64_Sym))
        return DAMAGED(
            f, "no table of dynamic symbols: the file is damaged, or stripped of its sections");
    size_t count = data->d_size / sizeof(Elf64_Sym);
    for (size_t i = 1; i < count; i++) {
        GElf_Sym sym;
        if (!gelf_getsym(data, (int)i, &sym))
            return DAMAGED(f, "%s: the file is damaged", elf_errmsg(-1));
        const char *name = symbol_name(f, &header, &sym);
        if (sym.st_shndx != SHN_UNDEF && *name && !visit(f, &sym, name, user)) return false;
    }
    return true;
}
static bool relocate_one(ks_file *f, const GElf_Rela *r, Elf_Data *symbols, const GElf_Shdr *symtab)
{
    unsigned type = (unsigned)GELF_R_TYPE(r->r_info);
    uint64_t value = (uint64_t)(uintptr_t)f->object->image - f->base + (uint64_t)r->r_addend;
    GElf_Sym sym;
    uint8_t *at = ks_elf_at(f, r->r_offset, sizeof value);
    if (!at)
        return DAMAGED(f, "a relocation at 0x%llx, outside the segments: the file is damaged",
                       (unsigned long long)r->r_offset);
    if (type != R_ABS64 && type != R_RELATIVE64)
        return DAMAGED(f, "a relocation of type %u, which is not known: link with -Wl,-Bsymbolic",
                       type);
    if (type == R_ABS64) {
        if (!symbols || !gelf_getsym(symbols, (int)GELF_R_SYM(r->r_info), &sym))
            return DAMAGED(
                f, "a relocation names symbol %u, which does not exist: the file is damaged",
                (unsigned)GELF_R_SYM(r->r_info));
        if (sym.st_shndx == SHN_UNDEF && GELF_ST_BIND(sym.st_info) == STB_WEAK)
            value = 0;
        else if (sym.st_shndx == SHN_UNDEF)
            return DAMAGED(f, "%s is not defined in it: link the file that defines it",
                           symbol_name(f, symtab, &sym));
        else
            value += sym.st_value;
    }
    memcpy(at, &value, sizeof value);
    return true;
}
bool ks_elf_relocate(ks_file *f)
{
    GElf_Shdr header, symtab = {0};
    for (Elf_Scn *s = next_section(f, NULL, SHT_RELA, &header); s;
         s = next_section(f, s, SHT_RELA, &header)) {
        if (!(header.sh_flags & SHF_ALLOC)) continue; /* of debug information */
        Elf_Data *data = elf_getdata(s, NULL);
        Elf_Scn *link = elf_getscn(f->elf, header.sh_link);
        Elf_Data *symbols = link && gelf_getshdr(link, &symtab) ? elf_getdata(link, NULL) : NULL;
        if (symtab.sh_type != SHT_DYNSYM) symbols = NULL;
        size_t count = data ? data->d_size / sizeof(Elf64_Rela) : 0;
        for (size_t i = 0; i < count; i++) {
            GElf_Rela r;
            if (!gelf_getrela(data, (int)i, &r))
                return DAMAGED(f, "%s: the file is damaged", elf_errmsg(-1));
            if (!relocate_one(f, &r, symbols, &symtab)) return false;
        }
    }
    return true;
}
