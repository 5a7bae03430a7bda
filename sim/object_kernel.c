// SPDX-License-Identifier: MIT
// Kernels of a code object: descriptors (symbols NAME.kd) and the metadata note, a msgpack map; each says what the
// other says, and they are compared.  Names and layouts: LLVM's "User Guide for AMDGPU Backend".
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>
#include "object.h"

enum { NT_METADATA = 32, MAX_DEPTH = 8, MAX_KERNARG = 1 << 20, MAX_THREADS = 1024, ENTRY_ALIGN = 4 };

/* Hidden arguments by name, without "hidden_".  ORDER HIDDEN */
static const char *const hidden_names[] = {
    [KS_ARG_BLOCK_COUNT_X] = "block_count_x", [KS_ARG_BLOCK_COUNT_Y] = "block_count_y",
    [KS_ARG_BLOCK_COUNT_Z] = "block_count_z", [KS_ARG_GROUP_SIZE_X] = "group_size_x",
    [KS_ARG_GROUP_SIZE_Y] = "group_size_y", [KS_ARG_GROUP_SIZE_Z] = "group_size_z",
    [KS_ARG_REMAINDER_X] = "remainder_x", [KS_ARG_REMAINDER_Y] = "remainder_y",
    [KS_ARG_REMAINDER_Z] = "remainder_z", [KS_ARG_GLOBAL_OFFSET_X] = "global_offset_x",
    [KS_ARG_GLOBAL_OFFSET_Y] = "global_offset_y", [KS_ARG_GLOBAL_OFFSET_Z] = "global_offset_z",
    [KS_ARG_GRID_DIMS] = "grid_dims", [KS_ARG_PRIVATE_BASE] = "private_base",
    [KS_ARG_SHARED_BASE] = "shared_base", [KS_ARG_DYNAMIC_LDS_SIZE] = "dynamic_lds_size",
};
typedef struct descriptor { /* llvm::amdhsa::kernel_descriptor_t */
    uint32_t lds, scratch, kernarg_size, reserved0;
    int64_t entry; /* bytes from the descriptor */
    uint8_t reserved1[20];
    uint32_t rsrc3, rsrc1, rsrc2;
    uint16_t properties, preload;
    uint8_t reserved2[4];
} descriptor;
_Static_assert(sizeof(descriptor) == 64, "layout of the kernel descriptor");

typedef struct reader { /* of one kernel's metadata */
    ks_file *file;
    ks_kernel *kernel;
    char *symbol; /* NAME.kd */
    uint32_t lds, scratch, wave;
    bool ok;
} reader;
static bool damaged(ks_file *f, const char *kernel, const char *what)
{
    ks_fail(f->error, KS_INVALID_IMAGE, "code object: metadata%s%s: %s: the file is damaged", *kernel ? " of " : "",
            kernel, what);
    return false;
}
static bool no_memory(ks_file *f)
{
    ks_fail(f->error, KS_NO_MEMORY, "no memory for the kernels of a code object");
    return false;
}

/* ---- msgpack ---- */
/* Whether a value is complete within the bytes, whose containers claim no more than they hold: libmsgpack reserves
   memory for what they claim.  Moves *at past it. */
static bool sound(const uint8_t **at, const uint8_t *end, unsigned depth)
{
    if (*at >= end || depth > MAX_DEPTH)
        return false;
    static const uint8_t fixed[32] = { /* 0xc0 to 0xdf: bytes of the length field | bytes of the value << 4 */
        0, 0xff, 0, 0, 1, 2, 4, 0xff, 0xff, 0xff, 0x40, 0x80, 0x10, 0x20, 0x40, 0x80,
        0x10, 0x20, 0x40, 0x80, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 4, 2, 4, 2, 4,
    };
    uint8_t tag = *(*at)++;
    uint64_t length = 0, values = 0;
    if (tag < 0x80 || tag >= 0xe0)
        return true;
    if (tag < 0x90)
        values = 2 * (tag & 15u);
    else if (tag < 0xa0)
        values = tag & 15u;
    else if (tag < 0xc0)
        length = tag & 31u;
    else {
        uint8_t how = fixed[tag - 0xc0];
        unsigned count = how & 15u;
        if (how == 0xff || end - *at < (ptrdiff_t)count)
            return false;
        for (unsigned i = 0; i < count; i++)
            length = length << 8 | *(*at)++;
        if (tag >= 0xdc) {
            values = tag >= 0xde ? 2 * length : length;
            length = 0;
        }
        length += how >> 4;
    }
    if (length > (uint64_t)(end - *at) || values > (uint64_t)(end - *at) - length)
        return false;
    *at += length;
    for (; values; values--)
        if (!sound(at, end, depth + 1))
            return false;
    return true;
}
static bool is_text(const msgpack_object *o, const char *text)
{
    return o->type == MSGPACK_OBJECT_STR && o->via.str.size == strlen(text) &&
           !memcmp(o->via.str.ptr, text, o->via.str.size);
}
static const msgpack_object *member(const msgpack_object *map, const char *key)
{
    if (map->type == MSGPACK_OBJECT_MAP)
        for (uint32_t i = 0; i < map->via.map.size; i++)
            if (is_text(&map->via.map.ptr[i].key, key))
                return &map->via.map.ptr[i].val;
    return NULL;
}
/* A number of at most max; one that is absent is 0 unless it must be there. */
static uint32_t number(reader *r, const msgpack_object *map, const char *key, bool required, uint32_t max)
{
    const msgpack_object *o = member(map, key);
    if (!o && !required)
        return 0;
    if (o && o->type == MSGPACK_OBJECT_POSITIVE_INTEGER && o->via.u64 <= max)
        return (uint32_t)o->via.u64;
    if (r->ok)
        ks_fail(r->file->error, KS_INVALID_IMAGE, "code object: metadata of %s: %s is %s: the file is damaged",
                r->kernel->name, key, o ? "absurd" : "missing");
    r->ok = false;
    return 0;
}
static char *text_of(const msgpack_object *map, const char *key)
{
    const msgpack_object *o = member(map, key);
    if (!o || o->type != MSGPACK_OBJECT_STR || !o->via.str.size || memchr(o->via.str.ptr, 0, o->via.str.size))
        return NULL;
    char *copy = malloc((size_t)o->via.str.size + 1);
    if (copy) {
        memcpy(copy, o->via.str.ptr, o->via.str.size);
        copy[o->via.str.size] = 0;
    }
    return copy;
}
static uint8_t hidden_kind(const msgpack_object *arg)
{
    static const char prefix[] = "hidden_";
    const msgpack_object *kind = member(arg, ".value_kind");
    size_t skip = sizeof prefix - 1;
    if (!kind || kind->type != MSGPACK_OBJECT_STR || kind->via.str.size < skip ||
        memcmp(kind->via.str.ptr, prefix, skip) != 0)
        return KS_ARG_EXPLICIT;
    for (uint8_t i = 1; i < sizeof hidden_names / sizeof *hidden_names; i++)
        if (strlen(hidden_names[i]) == kind->via.str.size - skip &&
            !memcmp(hidden_names[i], kind->via.str.ptr + skip, kind->via.str.size - skip))
            return i;
    return KS_ARG_OTHER;
}
static bool read_args(reader *r, const msgpack_object *list)
{
    ks_kernel *k = r->kernel;
    if (!list)
        return true;
    if (list->type != MSGPACK_OBJECT_ARRAY)
        return damaged(r->file, k->name, ".args is not a list");
    k->args = calloc((size_t)list->via.array.size + 1, sizeof *k->args);
    if (!k->args)
        return no_memory(r->file);
    for (uint32_t i = 0; i < list->via.array.size && r->ok; i++) {
        const msgpack_object *a = &list->via.array.ptr[i];
        ks_arg arg = {number(r, a, ".offset", true, MAX_KERNARG), number(r, a, ".size", true, MAX_KERNARG),
                      hidden_kind(a)};
        if (r->ok && (arg.offset > k->kernarg_size || arg.size > k->kernarg_size - arg.offset))
            return damaged(r->file, k->name, "an argument lies outside .kernarg_segment_size");
        k->args[k->arg_count++] = arg;
    }
    return r->ok;
}
static bool read_metadata(reader *r, const msgpack_object *map)
{
    ks_kernel *k = r->kernel;
    k->kernarg_size = number(r, map, ".kernarg_segment_size", true, MAX_KERNARG);
    k->kernarg_align = number(r, map, ".kernarg_segment_align", true, 4096);
    r->lds = number(r, map, ".group_segment_fixed_size", true, KS_MAX_LDS);
    r->scratch = number(r, map, ".private_segment_fixed_size", true, 1u << 24);
    r->wave = number(r, map, ".wavefront_size", true, KS_LANES);
    k->vgprs = number(r, map, ".vgpr_count", true, KS_VREGS);
    k->agprs = number(r, map, ".agpr_count", false, KS_ACC);
    k->sgprs = number(r, map, ".sgpr_count", true, KS_SREGS);
    k->max_threads = number(r, map, ".max_flat_workgroup_size", true, MAX_THREADS);
    k->vgpr_spills = number(r, map, ".vgpr_spill_count", false, UINT32_MAX);
    k->sgpr_spills = number(r, map, ".sgpr_spill_count", false, UINT32_MAX);
    if (!r->ok)
        return false;
    if (r->wave != KS_LANES)
        return damaged(r->file, k->name, ".wavefront_size is not 64");
    if (!k->max_threads || (k->kernarg_align & (k->kernarg_align - 1)))
        return damaged(r->file, k->name, ".max_flat_workgroup_size or .kernarg_segment_align is absurd");
    return read_args(r, member(map, ".args"));
}

/* ---- Descriptors ---- */
static bool find_descriptor(ks_file *f, const GElf_Sym *sym, const char *name, void *user)
{
    reader *r = user;
    ks_kernel *k = r->kernel;
    ks_object *o = f->object;
    if (!strcmp(name, r->symbol) && GELF_ST_TYPE(sym->st_info) == STT_OBJECT && sym->st_size == sizeof(descriptor)) {
        descriptor d;
        uint8_t *at = ks_elf_at(f, sym->st_value, sizeof d);
        if (!at)
            return damaged(f, k->name, "its descriptor lies outside the segments");
        memcpy(&d, at, sizeof d);
        uint64_t entry = sym->st_value + (uint64_t)d.entry - o->code_vaddr;
        if (entry >= o->code_size || entry % ENTRY_ALIGN)
            return damaged(f, k->name, "its descriptor's entry point is not in the code");
        if (d.lds != r->lds || d.scratch != r->scratch || (d.kernarg_size && d.kernarg_size != k->kernarg_size))
            return damaged(f, k->name, "segment sizes differ from its descriptor's");
        k->lds = d.lds;
        k->scratch = d.scratch;
        k->entry = (uint32_t)entry;
        k->rsrc1 = d.rsrc1;
        k->rsrc2 = d.rsrc2;
        k->rsrc3 = d.rsrc3;
        k->properties = d.properties;
        k->preload = d.preload;
        k->object = o;
    } else if (!strcmp(name, k->name) && GELF_ST_TYPE(sym->st_info) == STT_FUNC) {
        k->code_size = sym->st_size;
    }
    return true;
}
static bool add_kernel(ks_file *f, const msgpack_object *map)
{
    ks_kernel *k = &f->object->kernel[f->object->kernel_count];
    reader r = {.file = f, .kernel = k, .ok = true};
    r.symbol = text_of(map, ".symbol");
    size_t length = r.symbol ? strlen(r.symbol) : 0;
    bool ok = length > 3 && !strcmp(r.symbol + length - 3, ".kd");
    if (!ok) {
        damaged(f, "", "a kernel has no .symbol that ends with .kd");
    } else {
        k->name = malloc(length - 2);
        if (!k->name) {
            free(r.symbol);
            return no_memory(f);
        }
        memcpy(k->name, r.symbol, length - 3);
        k->name[length - 3] = 0;
        f->object->kernel_count++;
        ok = read_metadata(&r, map) && ks_elf_symbols(f, find_descriptor, &r);
        if (ok && !k->object)
            ok = damaged(f, k->name, "there is no descriptor of 64 bytes under that symbol");
    }
    free(r.symbol);
    return ok;
}
static bool read_kernels(ks_file *f, const char *bytes, size_t size)
{
    const uint8_t *at = (const uint8_t *)bytes;
    msgpack_unpacked unpacked;
    if (!sound(&at, at + size, 0))
        return damaged(f, "", "not a complete msgpack map");
    msgpack_unpacked_init(&unpacked);
    msgpack_unpack_return got = msgpack_unpack_next(&unpacked, bytes, size, NULL);
    bool ok = got == MSGPACK_UNPACK_SUCCESS || got == MSGPACK_UNPACK_EXTRA_BYTES;
    if (!ok)
        got == MSGPACK_UNPACK_NOMEM_ERROR ? no_memory(f) : damaged(f, "", "not a msgpack map");
    const msgpack_object *list = ok ? member(&unpacked.data, "amdhsa.kernels") : NULL;
    if (list && list->type == MSGPACK_OBJECT_ARRAY && list->via.array.size) {
        f->object->kernel = calloc(list->via.array.size, sizeof *f->object->kernel);
        ok = f->object->kernel || no_memory(f);
        for (uint32_t i = 0; ok && i < list->via.array.size; i++)
            ok = add_kernel(f, &list->via.array.ptr[i]);
    }
    msgpack_unpacked_destroy(&unpacked);
    return ok;
}
bool ks_kernels_read(ks_file *f)
{
    for (Elf_Scn *s = elf_nextscn(f->elf, NULL); s; s = elf_nextscn(f->elf, s)) {
        GElf_Shdr header;
        GElf_Nhdr note;
        size_t name, desc;
        if (!gelf_getshdr(s, &header) || header.sh_type != SHT_NOTE)
            continue;
        Elf_Data *data = elf_getdata(s, NULL);
        for (size_t at = 0; data && (at = gelf_getnote(data, at, &note, &name, &desc)) > 0;)
            if (note.n_type == NT_METADATA && note.n_namesz == sizeof "AMDGPU" &&
                !memcmp((const char *)data->d_buf + name, "AMDGPU", sizeof "AMDGPU"))
                return read_kernels(f, (const char *)data->d_buf + desc, note.n_descsz);
    }
    return damaged(f, "", "there is no AMDGPU note");
}
