// SPDX-License-Identifier: MIT
// waits_walk CODE_OBJECT: issues every instruction of an object to the checks of waits and wait
// states in the order in which it stands, as conditional branches that are never taken would;
// prints what is found.  Linked with the simulator's archive and --wrap=ks_report.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sim.h"

static unsigned long found;
void __wrap_ks_report(ks_wave *, const ks_inst *, kilnsim_kind, int lane, uint64_t address,
                      const char *format, ...);
void __wrap_ks_report(ks_wave *w, const ks_inst *inst, kilnsim_kind kind, int lane,
                      uint64_t address, const char *format, ...)
{
    char text[KS_TEXT], instruction[160];
    va_list list;
    (void)kind, (void)lane, (void)address;
    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    ks_object_text(w->launch->object, inst->pc, instruction, sizeof(instruction));
    if (found++ < 8) printf("0x%x: %s: %s\n", inst->pc, instruction, text);
}
static void *read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    char *bytes = malloc(1 << 24);
    *size = f && bytes ? fread(bytes, 1, 1 << 24, f) : 0;
    if (f) fclose(f);
    return bytes;
}
/* What follows is reached from elsewhere. */
static bool leaves(const char *name)
{
    return !strcmp(name, "s_branch") || !strcmp(name, "s_endpgm") || !strncmp(name, "s_setpc", 7) ||
           !strncmp(name, "s_swappc", 8);
}
int main(int argc, char **argv)
{
    size_t size;
    ks_error e = {.text = "usage: waits_walk CODE_OBJECT"};
    void *bytes = argc == 2 ? read_file(argv[1], &size) : NULL;
    ks_object *o = NULL;
    for (ks_arch arch = 0; bytes && !o && arch < KS_ARCH_COUNT; arch++)
        o = ks_object_load(bytes, size, arch, &e);
    ks_wave *w = calloc(1, sizeof(*w));
    if (!o || !w) {
        printf("%s\n", e.text);
        return 2;
    }
    ks_launch launch = {.object = o};
    w->launch = &launch;
    bool fresh = true;
    for (uint32_t i = 0; i < o->inst_count; i++) {
        if (fresh && !ks_waits_create(w)) return 2;
        ks_check_issue(w, &o->inst[i]);
        fresh = leaves(o->inst[i].op->name);
    }
    printf("%u instructions, %lu findings\n", o->inst_count, found);
    ks_waits_free(w);
    free(w);
    ks_object_free(o);
    free(bytes);
    return found != 0;
}
