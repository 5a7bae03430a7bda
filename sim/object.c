// SPDX-License-Identifier: MIT
// Code objects: a file's bytes into an image with kernels, variables and decoded instructions, or a
// sentence that says what is wrong with it.  The parts are object_elf.c's, object_kernel.c's,
// object_line.c's and decode.c's.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "object.h"

const char *const ks_arch_names[KS_ARCH_COUNT] = {[KS_GFX90A] = "gfx90a", [KS_GFX942] = "gfx942"};

static char *copy_name(const char *name)
{
    size_t size = strlen(name) + 1;
    char *copy = malloc(size);
    return copy ? memcpy(copy, name, size) : NULL;
}
/* Device variables: objects that are not kernel descriptors. */
static bool add_variable(ks_file *f, const GElf_Sym *sym, const char *name, void *room)
{
    ks_object *o = f->object;
    size_t length = strlen(name), *capacity = room;
    if (GELF_ST_TYPE(sym->st_info) != STT_OBJECT ||
        (length > 3 && !strcmp(name + length - 3, ".kd")))
        return true;
    uint8_t *at = ks_elf_at(f, sym->st_value, sym->st_size);
    if (!at) {
        ks_fail(f->error, KS_INVALID_IMAGE,
                "code object: variable %s lies outside the segments: the file is damaged", name);
        return false;
    }
    if (o->symbol_count == *capacity) {
        *capacity = *capacity ? 2 * *capacity : 16;
        ks_symbol *more = realloc(o->symbol, *capacity * sizeof *more);
        if (!more) goto no_memory;
        o->symbol = more;
    }
    ks_symbol *s = &o->symbol[o->symbol_count];
    *s = (ks_symbol){copy_name(name), (uint64_t)(uintptr_t)at, sym->st_size};
    if (!s->name) goto no_memory;
    o->symbol_count++;
    return true;
no_memory:
    ks_fail(f->error, KS_NO_MEMORY, "no memory for the symbols of a code object");
    return false;
}
/* May the order of workgroups be seen by memory that they share?  Integer atomics that return
 * nothing commute. */
static bool order_is_seen(const ks_object *o, const ks_inst *in)
{
    static const char *const commute[] = {"_add",  "_sub",  "_and",  "_or",  "_xor",
                                          "_smin", "_smax", "_umin", "_umax"};
    const ks_op *op = in->op;
    if (op->class != KS_GLOBAL_OP && op->class != KS_FLAT_OP && op->class != KS_BUFFER_OP)
        return false;
    if (!(op->flags & KS_F_ATOMIC)) { /* gfx90a: glc with slc is a streaming load */
        bool coherent = in->sc1 || (in->sc0 && !(o->arch == KS_GFX90A && in->nt));
        return op->flags & (KS_F_LOAD | KS_F_LDS_DIRECT) && coherent;
    }
    const char *what = strstr(op->name, "_atomic");
    if (in->sc0 || !what) return true;
    what += strlen("_atomic");
    for (size_t i = 0; i < sizeof commute / sizeof *commute; i++) {
        size_t n = strlen(commute[i]);
        if (!strncmp(what, commute[i], n) && (!what[n] || !strcmp(what + n, "_x2"))) return false;
    }
    return true;
}
static void find_serial(ks_object *o)
{
    bool object_serial = false;
    for (uint32_t i = 0; i < o->inst_count && !object_serial; i++)
        object_serial = order_is_seen(o, &o->inst[i]);
    for (uint32_t k = 0; k < o->kernel_count && object_serial; k++) {
        ks_kernel *kernel = &o->kernel[k];
        uint64_t pc = o->inst[kernel->entry].pc,
                 end = kernel->code_size ? pc + kernel->code_size : o->code_size;
        for (uint32_t i = kernel->entry;
             i < o->inst_count && o->inst[i].pc < end && !kernel->serial; i++) {
            const ks_op *op = o->inst[i].op;
            bool leaves =
                op->flags & KS_F_JUMP && (op->s[0].type == KS_B64 || op->d[0].type != KS_NONE);
            kernel->serial = leaves || order_is_seen(o, &o->inst[i]);
        }
    }
}
/* Registers past those that a wave has been given hold what another wave left there. */
static void count_registers(ks_kernel *k, const ks_operand *o, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        unsigned end = (unsigned)o[i].reg + o[i].count;
        if (o[i].where != KS_VGPR) continue;
        if (o[i].reg >= KS_ACC && end - KS_ACC > k->agprs_used)
            k->agprs_used = (uint16_t)(end - KS_ACC);
        else if (o[i].reg < KS_ACC && end > k->vgprs_used)
            k->vgprs_used = (uint16_t)end;
    }
}
static void find_registers(ks_object *o)
{
    for (uint32_t n = 0; n < o->kernel_count; n++) {
        ks_kernel *k = &o->kernel[n];
        uint64_t end = o->inst[k->entry].pc + k->code_size;
        for (uint32_t i = k->entry; i < o->inst_count && o->inst[i].pc < end; i++) {
            count_registers(k, o->inst[i].d, o->inst[i].nd);
            count_registers(k, o->inst[i].s, o->inst[i].ns);
        }
    }
}
static bool load(ks_file *f, ks_arch device)
{
    ks_object *o = f->object;
    size_t room = 0;
    f->elf = elf_memory((char *)o->elf, o->elf_size);
    if (!f->elf) {
        ks_fail(f->error, KS_INVALID_IMAGE, "code object: %s: the file is damaged", elf_errmsg(-1));
        return false;
    }
    if (!ks_elf_header(f, device) || !ks_elf_image(f) || !ks_elf_relocate(f) ||
        !ks_kernels_read(f) || !ks_elf_symbols(f, add_variable, &room) || !ks_decode(o, f->error))
        return false;
    for (uint32_t i = 0; i < o->kernel_count; i++) {
        ks_kernel *k = &o->kernel[i];
        k->entry = o->index_of[k->entry / 4];
        if (k->entry == KS_NO_TARGET) {
            ks_fail(f->error, KS_INVALID_IMAGE,
                    "code object: kernel %s starts inside another instruction: the file is "
                    "damaged",
                    k->name);
            return false;
        }
    }
    find_serial(o);
    find_registers(o);
    if (!ks_register(o->image, o->image_size, KS_CODE)) {
        ks_fail(f->error, KS_NO_MEMORY, "no memory to register a code object");
        return false;
    }
    o->registered = true;
    return true;
}
static pthread_once_t elf_once = PTHREAD_ONCE_INIT;
static void elf_start(void)
{
    elf_version(EV_CURRENT);
}
ks_object *ks_object_load(const void *elf, size_t size, ks_arch device, ks_error *error)
{
    pthread_once(&elf_once, elf_start);
    if (!ks_elf_size(elf, &size, error)) return NULL;
    ks_file f = {.error = error, .object = calloc(1, sizeof *f.object)};
    if (f.object) f.object->elf = malloc(size);
    if (!f.object || !f.object->elf) {
        free(f.object);
        ks_fail(error, KS_NO_MEMORY, "no memory for a code object of %zu bytes", size);
        return NULL;
    }
    f.object->elf_size = size;
    memcpy(f.object->elf, elf, size);
    bool ok = load(&f, device);
    elf_end(f.elf);
    if (ok) return f.object;
    ks_object_free(f.object);
    return NULL;
}
void ks_object_free(ks_object *o)
{
    if (!o) return;
    if (o->registered) ks_unregister(o->image);
    if (o->image) munmap(o->image, o->image_size);
    ks_lines_free(o->lines);
    for (uint32_t i = 0; i < o->kernel_count; i++) {
        free(o->kernel[i].name);
        free(o->kernel[i].args);
    }
    for (uint32_t i = 0; i < o->symbol_count; i++) free(o->symbol[i].name);
    free(o->kernel);
    free(o->symbol);
    free(o->inst);
    free(o->index_of);
    free(o->elf);
    free(o);
}
const ks_kernel *ks_object_kernel(const ks_object *o, const char *name)
{
    for (uint32_t i = 0; i < o->kernel_count; i++)
        if (!strcmp(o->kernel[i].name, name)) return &o->kernel[i];
    return NULL;
}
const ks_symbol *ks_object_symbol(const ks_object *o, const char *name)
{
    for (uint32_t i = 0; i < o->symbol_count; i++)
        if (!strcmp(o->symbol[i].name, name)) return &o->symbol[i];
    return NULL;
}
void ks_object_text(ks_object *o, uint32_t pc, char *out, size_t size)
{
    if (!size) return;
    *out = 0;
    if (pc < o->code_size) ks_disasm_text(o->arch, o->code + pc, o->code_size - pc, pc, out, size);
    size_t blank = strspn(out, " \t");
    memmove(out, out + blank, strlen(out + blank) + 1);
    for (char *c = out; *c; c++) *c = *c == '\t' ? ' ' : *c;
}
