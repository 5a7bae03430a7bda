// SPDX-License-Identifier: MIT
// Kernels of a code object: descriptors (symbols NAME.kd) and the metadata note, a msgpack map;
// each says what the other says, and they are compared.  Names and layouts: LLVM's "User Guide for
// AMDGPU Backend".
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>
#include "object.h"

enum {
    NT_METADATA = 32,
    MAX_DEPTH = 8,
    MAX_KERNARG = 1 << 20,
    MAX_THREADS = 1024,
    ENTRY_ALIGN = 4,
    KD_LENGTH = 3
};

/* Hidden arguments by name, without "hidden_".  ORDER HIDDEN */
static const char *const hidden_names[] = {
    [KS_ARG_BLOCK_COUNT_X] = "block_count_x",
    [KS_ARG_BLOCK_COUNT_Y] = "block_count_y",
    [KS_ARG_BLOCK_COUNT_Z] = "block_count_z",
    [KS_ARG_GROUP_SIZE_X] = "group_size_x",
    [KS_ARG_GROUP_SIZE_Y] = "group_size_y",
    [KS_ARG_GROUP_SIZE_Z] = "group_size_z",
    [KS_ARG_REMAINDER_X] = "remainder_x",
    [KS_ARG_REMAINDER_Y] = "remainder_y",
    [KS_ARG_REMAINDER_Z] = "remainder_z",
    [KS_ARG_GLOBAL_OFFSET_X] = "global_offset_x",
    [KS_ARG_GLOBAL_OFFSET_Y] = "global_offset_y",
    [KS_ARG_GLOBAL_OFFSET_Z] = "global_offset_z",
    [KS_ARG_GRID_DIMS] = "grid_dims",
    [KS_ARG_PRIVATE_BASE] = "private_base",
    [KS_ARG_SHARED_BASE] = "shared_base",
    [KS_ARG_DYNAMIC_LDS_SIZE] = "dynamic_lds_size",
    [KS_ARG_HOSTCALL] = "hostcall_buffer",
    [KS_ARG_HEAP] = "heap_v1",
    [KS_ARG_MULTIGRID_SYNC_ARG] = "multigrid_sync_arg",
    [KS_ARG_PRINTF] = "printf_buffer",
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
    uint32_t lds, scratch; /* what the metadata says, for comparison */
    bool ok;
} reader;
typedef struct readers { /* sorted by the kernels' names */
    reader *at;
    uint32_t count;
} readers;
static bool damaged(ks_file *f, const char *kernel, const char *what)
{
    ks_fail(f->error, KS_INVALID_IMAGE, "code object: metadata%s%s: %s: the file is damaged",
            *kernel ? " of " : "", kernel, what);
    return false;
}
static bool no_memory(ks_file *f)
{
    ks_fail(f->error, KS_NO_MEMORY, "no memory for the kernels of a code object");
    return false;
}

/* ---- msgpack ---- */
/* Whether a value is complete within the bytes, whose containers claim no more than they hold:
   libmsgpack reserves memory for what they claim.  Moves *at past it. */
static bool sound(const uint8_t **at, const uint8_t *end, unsigned depth)
{
    if (*at >= end || depth > MAX_DEPTH) return false;
    static const uint8_t fixed[32] = {
        /* 0xc0 to 0xdf: bytes of the length field | bytes of the value << 4 */
        0,    0xff, 0,    0,    1,    2,    4,    0xff, 0xff, 0xff, 0x40,
        0x80, 0x10, 0x20, 0x40, 0x80, 0x10, 0x20, 0x40, 0x80, 0xff, 0xff,
        0xff, 0xff, 0xff, 1,    2,    4,    2,    4,    2,    4,
    };
    uint8_t tag = *(*at)++;
    uint64_t length = 0, values = 0;
    if (tag < 0x80 || tag >= 0xe0) return true;
    if (tag < 0x90)
        values = 2 * (tag & 15u);
    else if (tag < 0xa0)
        values = tag & 15u;
    else if (tag < 0xc0)
        length = tag & 31u;
    else {
        uint8_t how = fixed[tag - 0xc0];
        unsigned count = how & 15u;
        if (how == 0xff || end - *at < (ptrdiff_t)count) return false;
        for (unsigned i = 0; i < count; i++) length = length << 8 | *(*at)++;
        if (tag >= 0xdc) {
            values = tag >= 0xde ? 2 * length : length;
            length = 0;
        }
        length += how >> 4;
    }
    if (length > (uint64_t)(end - *at) || values > (uint64_t)(end - *at) - length) return false;
    *at += length;
    for (; values; values--)
        if (!sound(at, end, depth + 1)) return false;
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
            if (is_text(&map->via.map.ptr[i].key, key)) return &map->via.map.ptr[i].val;
    return NULL;
}
/* A number of at most max; one that is absent is 0 unless it must be there. */
static uint32_t number(reader *r, const msgpack_object *map, const char *key, bool required,
                       uint32_t max)
{
    const msgpack_object *o = member(map, key);
    if (!o && !required) return 0;
    if (o && o->type == MSGPACK_OBJECT_POSITIVE_INTEGER && o->via.u64 <= max)
        return (uint32_t)o->via.u64;
    if (r->ok)
        ks_fail(r->file->error, KS_INVALID_IMAGE,
                "code object: metadata of %s: %s is %s: the file is damaged", r->kernel->name, key,
                o ? "absurd" : "missing");
    r->ok = false;
    return 0;
}
static bool is_descriptor(const char *name, size_t length)
{
    return length > KD_LENGTH && !strcmp(name + length - KD_LENGTH, ".kd");
}
static char *text_of(const msgpack_object *map, const char *key)
{
    const msgpack_object *o = member(map, key);
    if (!o || o->type != MSGPACK_OBJECT_STR || !o->via.str.size ||
        memchr(o->via.str.ptr, 0, o->via.str.size))
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
    if (!list) return true;
    if (list->type != MSGPACK_OBJECT_ARRAY) return damaged(r->file, k->name, ".args is not a list");
    k->args = calloc((size_t)list->via.array.size + 1, sizeof *k->args);
    if (!k->args) return no_memory(r->file);
    for (uint32_t i = 0; i < list->via.array.size && r->ok; i++) {
        const msgpack_object *a = &list->via.array.ptr[i];
        ks_arg arg = {number(r, a, ".offset", true, MAX_KERNARG),
                      number(r, a, ".size", true, MAX_KERNARG), hidden_kind(a)};
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
    uint32_t wave = number(r, map, ".wavefront_size", true, KS_LANES);
    k->vgprs = number(r, map, ".vgpr_count", true, KS_VREGS);
    k->agprs = number(r, map, ".agpr_count", false, KS_ACC);
    k->sgprs = number(r, map, ".sgpr_count", true, KS_SREGS);
    k->max_threads = number(r, map, ".max_flat_workgroup_size", true, MAX_THREADS);
    k->vgpr_spills = number(r, map, ".vgpr_spill_count", false, UINT32_MAX);
    k->sgpr_spills = number(r, map, ".sgpr_spill_count", false, UINT32_MAX);
    if (!r->ok) return false;
    if (wave != KS_LANES) return damaged(r->file, k->name, ".wavefront_size is not 64");
    if (!k->max_threads || (k->kernarg_align & (k->kernarg_align - 1)))
        return damaged(r->file, k->name,
                       ".max_flat_workgroup_size or .kernarg_segment_align is absurd");
    return read_args(r, member(map, ".args"));
}

/* ---- Descriptors ---- */
static bool read_descriptor(ks_file *f, const GElf_Sym *sym, reader *r)
{
    ks_kernel *k = r->kernel;
    ks_object *o = f->object;
    descriptor d;
    uint8_t *at = ks_elf_at(f, sym->st_value, sizeof d);
    if (!at) return damaged(f, k->name, "its descriptor lies outside the segments");
    memcpy(&d, at, sizeof d);
    uint64_t entry = sym->st_value + (uint64_t)d.entry - o->code_vaddr;
    if (entry >= o->code_size || entry % ENTRY_ALIGN)
        return damaged(f, k->name, "its descriptor's entry point is not in the code");
    if (d.lds != r->lds || d.scratch != r->scratch ||
        (d.kernarg_size && d.kernarg_size != k->kernarg_size))
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
    return true;
}
static reader *find_reader(const readers *all, const char *name, size_t length)
{
    uint32_t low = 0, high = all->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        const char *at = all->at[middle].kernel->name;
        int order = strncmp(at, name, length);
        if (!order && at[length]) order = 1;
        if (!order) return &all->at[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
static bool use_symbol(ks_file *f, const GElf_Sym *sym, const char *name, void *user)
{
    size_t length = strlen(name);
    unsigned type = GELF_ST_TYPE(sym->st_info);
    if (type == STT_OBJECT && sym->st_size == sizeof(descriptor) && is_descriptor(name, length)) {
        reader *r = find_reader(user, name, length - KD_LENGTH);
        return !r || read_descriptor(f, sym, r);
    }
    reader *r = type == STT_FUNC ? find_reader(user, name, length) : NULL;
    if (r) r->kernel->code_size = sym->st_size;
    return true;
}
static int by_name(const void *a, const void *b)
{
    return strcmp(((const reader *)a)->kernel->name, ((const reader *)b)->kernel->name);
}
static bool add_kernel(reader *r, const msgpack_object *map)
{
    ks_kernel *k = r->kernel;
    k->name = text_of(map, ".symbol");
    size_t length = k->name ? strlen(k->name) : 0;
    if (!is_descriptor(k->name, length))
        return damaged(r->file, "", "a kernel has no .symbol that ends with .kd");
    k->name[length - KD_LENGTH] = 0;
    return read_metadata(r, map);
}
static bool read_list(ks_file *f, const msgpack_object *list)
{
    ks_object *o = f->object;
    readers all = {calloc(list->via.array.size, sizeof *all.at), list->via.array.size};
    o->kernel = calloc(all.count, sizeof *o->kernel);
    bool ok = (all.at && o->kernel) || no_memory(f);
    for (uint32_t i = 0; ok && i < all.count; i++) {
        all.at[i] = (reader){.file = f, .kernel = &o->kernel[o->kernel_count++], .ok = true};
        ok = add_kernel(&all.at[i], &list->via.array.ptr[i]);
    }
    if (ok) qsort(all.at, all.count, sizeof *all.at, by_name);
    for (uint32_t i = 1; ok && i < all.count; i++)
        if (!by_name(&all.at[i - 1], &all.at[i]))
            ok = damaged(f, all.at[i].kernel->name, "it is there twice");
    ok = ok && ks_elf_symbols(f, use_symbol, &all);
    for (uint32_t i = 0; ok && i < all.count; i++)
        if (!all.at[i].kernel->object)
            ok = damaged(f, all.at[i].kernel->name,
                         "there is no descriptor of 64 bytes under that symbol");
    free(all.at);
    return ok;
}
static bool read_kernels(ks_file *f, const char *bytes, size_t size)
{
    const uint8_t *at = (const uint8_t *)bytes;
    msgpack_unpacked unpacked;
    if (!sound(&at, at + size, 0)) return damaged(f, "", "not a complete msgpack map");
    msgpack_unpacked_init(&unpacked);
    msgpack_unpack_return got = msgpack_unpack_next(&unpacked, bytes, size, NULL);
    bool ok = got == MSGPACK_UNPACK_SUCCESS || got == MSGPACK_UNPACK_EXTRA_BYTES;
    if (!ok) got == MSGPACK_UNPACK_NOMEM_ERROR ? no_memory(f) : damaged(f, "", "not a msgpack map");
    const msgpack_object *list = ok ? member(&unpacked.data, "amdhsa.kernels") : NULL;
    if (list && list->type == MSGPACK_OBJECT_ARRAY && list->via.array.size) ok = read_list(f, list);
    msgpack_unpacked_destroy(&unpacked);
    return ok;
}
bool ks_kernels_read(ks_file *f)
{
    for (Elf_Scn *s = elf_nextscn(f->elf, NULL); s; s = elf_nextscn(f->elf, s)) {
        GElf_Shdr header;
        GElf_Nhdr note;
        size_t name, desc;
        if (!gelf_getshdr(s, &header) || header.sh_type != SHT_NOTE) continue;
        Elf_Data *data = elf_getdata(s, NULL);
        for (size_t at = 0; data && (at = gelf_getnote(data, at, &note, &name, &desc)) > 0;)
            if (note.n_type == NT_METADATA && note.n_namesz == sizeof "AMDGPU" &&
                !memcmp((const char *)data->d_buf + name, "AMDGPU", sizeof "AMDGPU"))
                return read_kernels(f, (const char *)data->d_buf + desc, note.n_descsz);
    }
    return damaged(f, "", "there is no AMDGPU note");
}
