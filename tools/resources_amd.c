// SPDX-License-Identifier: MIT
// AMD code objects: the metadata note (a MessagePack map) says what the compiler counted, the
// kernel descriptor what the hardware will allocate.
#include "resources.h"
#include <string.h>

enum { NT_METADATA = 32, DESCRIPTOR_SIZE = 64, RSRC3 = 44, RSRC1 = 48 }; /* of LLVM's AMDGPUUsage */

static int is_text(const kt_pack_value *v, const char *text)
{
    return v->kind == KT_PACK_TEXT && v->length == strlen(text) &&
           !memcmp(v->text, text, v->length);
}

/* Positions p at the value of a key of the map that p is at. */
static int enter(kt_pack *p, const char *key)
{
    kt_pack_value v;
    if (kt_pack_next(p, &v) != KT_PACK_MAP) return 0;
    for (long long i = v.number; i > 0; i--) {
        kt_pack_value name;
        if (kt_pack_next(p, &name) == KT_PACK_BAD) return 0;
        if (is_text(&name, key)) return 1;
        if (!kt_pack_skip(p)) return 0;
    }
    return 0;
}

static const struct field {
    const char *key;
    size_t offset;
} fields[] = {
    {".vgpr_count", offsetof(kt_resources, vgprs)},
    {".agpr_count", offsetof(kt_resources, agprs)},
    {".sgpr_count", offsetof(kt_resources, sgprs)},
    {".vgpr_spill_count", offsetof(kt_resources, vgpr_spills)},
    {".sgpr_spill_count", offsetof(kt_resources, sgpr_spills)},
    {".group_segment_fixed_size", offsetof(kt_resources, lds)},
    {".private_segment_fixed_size", offsetof(kt_resources, scratch)},
    {".max_flat_workgroup_size", offsetof(kt_resources, threads)},
    {".wavefront_size", offsetof(kt_resources, wave)},
};

static void read_fields(kt_pack kernel, kt_resources *r)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        kt_pack p = kernel;
        kt_pack_value v;
        if (!enter(&p, fields[i].key) || kt_pack_next(&p, &v) != KT_PACK_INT) continue;
        memcpy((char *)r + fields[i].offset, &v.number, sizeof v.number);
    }
}

static int read_metadata(kt_pack note, const char *symbol, kt_resources *r)
{
    kt_pack_value list, name;
    if (!enter(&note, "amdhsa.kernels") || kt_pack_next(&note, &list) != KT_PACK_ARRAY) return 0;
    for (long long i = 0; i < list.number; i++) {
        kt_pack p = note;
        if (enter(&p, ".name") && kt_pack_next(&p, &name) == KT_PACK_TEXT &&
            is_text(&name, symbol)) {
            read_fields(note, r);
            return 1;
        }
        if (!kt_pack_skip(&note)) return 0;
    }
    return 0;
}

/* A note segment is a list of: name size, data size, type, name, data, both padded to 4 bytes. */
static int read_notes(const uint8_t *p, uint64_t size, const char *symbol, kt_resources *r)
{
    while (size >= 12) {
        uint32_t head[3];
        memcpy(head, p, sizeof head);
        const uint64_t name = ((uint64_t)head[0] + 3) / 4 * 4,
                       data = ((uint64_t)head[1] + 3) / 4 * 4;
        if (name > size - 12 || head[1] > size - 12 - name) return 0;
        const uint8_t *at = p + 12 + name;
        if (head[2] == NT_METADATA && head[0] == 7 && !memcmp(p + 12, "AMDGPU", 7))
            return read_metadata((kt_pack){at, at + head[1]}, symbol, r);
        if (data > size - 12 - name) return 0;
        p += 12 + name + data;
        size -= 12 + name + data;
    }
    return 0;
}

/* The descriptor counts blocks of registers; their size differs: gfx90a and gfx94x or gfx950,
 * others by wave size. */
static void read_descriptor(const kt_elf *e, const char *symbol, kt_resources *r)
{
    char name[512];
    uint32_t rsrc1, rsrc3;
    const size_t length = strlen(symbol);
    if (length + 4 > sizeof name) return;
    memcpy(name, symbol, length);
    memcpy(name + length, ".kd", 4);
    const uint8_t *d = kt_elf_symbol(e, name, DESCRIPTOR_SIZE, NULL);
    if (!d) return;
    memcpy(&rsrc1, d + RSRC1, 4);
    memcpy(&rsrc3, d + RSRC3, 4);
    const unsigned machine = e->header.e_flags & 0xff;
    const int unified = machine == 0x3f || machine == 0x40 ||
                        (machine >= 0x4b && machine <= 0x4c) || machine == 0x4f;
    r->allocated = (long long)((rsrc1 & 0x3f) + 1) * (unified || r->wave == 32 ? 8 : 4);
    if (r->agprs != KT_UNKNOWN &&
        r->agprs > 0) /* vgpr_count includes them: the rest begins at accum_offset */
        r->vgprs =
            r->vgprs < ((rsrc3 & 0x3f) + 1) * 4 ? r->vgprs : (long long)((rsrc3 & 0x3f) + 1) * 4;
}

int kt_resources_amd(const void *code, size_t size, const char *symbol, kt_resources *r)
{
    kt_elf e;
    Elf64_Phdr segment;
    const uint8_t *data;
    int found = 0;
    if (!kt_elf_open(code, size, &e)) return 0;
    for (size_t i = 0; i < e.header.e_phnum && !found; i++)
        if (kt_elf_segment(&e, i, &segment, &data) && segment.p_type == PT_NOTE)
            found = read_notes(data, segment.p_filesz, symbol, r);
    if (found) read_descriptor(&e, symbol, r);
    return found;
}
