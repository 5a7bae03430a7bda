// SPDX-License-Identifier: MIT
// What a wave finds when it starts: the dispatch packet, the queue's apertures, and registers as the kernel descriptor
// asks for them (LLVM's AMDGPUUsage, "Kernel Descriptor" and "Initial Kernel Execution State").
#include <string.h>
#include "group.h"
#include "replay.h"

enum { /* kernel_code_properties */
    PRIVATE_SEGMENT_BUFFER = 1 << 0, DISPATCH_PTR = 1 << 1, QUEUE_PTR = 1 << 2, KERNARG_PTR = 1 << 3,
    DISPATCH_ID = 1 << 4, FLAT_SCRATCH_INIT = 1 << 5, PRIVATE_SEGMENT_SIZE = 1 << 6
};
enum { /* compute_pgm_rsrc2 */
    ENABLE_PRIVATE_SEGMENT = 1 << 0, USER_SGPRS = 1, WORKGROUP_ID = 7, WORKGROUP_INFO = 1 << 10, WORKITEM_ID = 11
};
enum { /* compute_pgm_rsrc1 and the MODE register */
    FLOAT_MODE = 12, DX10_CLAMP = 21, IEEE_MODE = 23, FP16_OVFL = 26,
    MODE_DX10_CLAMP = 8, MODE_IEEE = 9, MODE_FP16_OVFL = 23
};
/* V# of private memory on gfx90a: swizzled by lane (memory_buffer.c knows it by these two bits). */
enum { SWIZZLE_ENABLE = 31, SCRATCH_WORD3 = 0x00ea4fac };

/* hsa_kernel_dispatch_packet_t */
void ks_packet_fill(ks_launch *l)
{
    enum { KERNEL_DISPATCH = 2, BARRIER_BIT = 1 << 8, SYSTEM_FENCES = 2 << 9 | 2 << 11, DIMENSIONS = 3 };
    struct {
        uint16_t header, setup, block[3], reserved;
        uint32_t grid[3], private_size, group_size;
        uint64_t kernel_object, kernarg, reserved2, signal;
    } p = {.header = KERNEL_DISPATCH | BARRIER_BIT | SYSTEM_FENCES, .setup = DIMENSIONS};
    _Static_assert(sizeof p == sizeof l->packet, "the packet's size");
    for (int i = 0; i < 3; i++) {
        p.block[i] = (uint16_t)l->block[i];
        p.grid[i] = l->grid[i] * l->block[i];
    }
    p.private_size = l->scratch;
    p.group_size = l->lds;
    p.kernel_object = (uint64_t)(uintptr_t)(l->object->code + l->object->inst[l->kernel->entry].pc);
    p.kernarg = (uint64_t)(uintptr_t)l->kernarg;
    memcpy(l->packet, &p, sizeof p);
}
/* amd_queue_t: only the apertures, which code that has no other way to them reads. */
void ks_queue_fill(ks_launch *l)
{
    enum { APERTURES = 0x40 / 8 };
    memset(l->queue, 0, sizeof l->queue);
    l->queue[APERTURES] = KS_PRIVATE_BASE | KS_SHARED_BASE >> 32;
}

static void put(ks_wave *w, unsigned *n, uint32_t value)
{
    if (*n >= KS_VCC)
        return;
    w->s[*n] = value;
    w->su[(*n)++] = 0;
}
static void put64(ks_wave *w, unsigned *n, uint64_t value)
{
    put(w, n, (uint32_t)value);
    put(w, n, (uint32_t)(value >> 32));
}
static void preload(ks_wave *w, unsigned *n)
{
    const ks_kernel *k = w->launch->kernel;
    uint32_t count = k->preload & 127, first = k->preload >> 7;
    for (uint32_t i = first; i < first + count && 4 * (i + 1) <= k->kernarg_size; i++) {
        uint32_t value;
        memcpy(&value, w->launch->kernarg + 4 * i, 4);
        put(w, n, value);
    }
}
/* In this order, each where the descriptor asks for it. */
static void user_sgprs(ks_wave *w, unsigned *n)
{
    const ks_launch *l = w->launch;
    uint32_t ask = l->kernel->properties;
    if (ask & PRIVATE_SEGMENT_BUFFER) {
        put64(w, n, 1ull << (32 + SWIZZLE_ENABLE));
        put(w, n, l->scratch * KS_LANES);
        put(w, n, SCRATCH_WORD3);
    }
    if (ask & DISPATCH_PTR)
        put64(w, n, (uint64_t)(uintptr_t)l->packet);
    if (ask & QUEUE_PTR)
        put64(w, n, (uint64_t)(uintptr_t)l->queue);
    if (ask & KERNARG_PTR)
        put64(w, n, (uint64_t)(uintptr_t)l->kernarg);
    if (ask & DISPATCH_ID)
        put64(w, n, 0);
    if (ask & FLAT_SCRATCH_INIT)
        put64(w, n, 0);
    if (ask & PRIVATE_SEGMENT_SIZE)
        put(w, n, l->scratch);
    preload(w, n);
}
static void system_sgprs(ks_wave *w, unsigned n)
{
    const ks_group *g = w->group;
    uint32_t rsrc2 = w->launch->kernel->rsrc2;
    for (unsigned i = 0; i < 3; i++)
        if (rsrc2 >> (WORKGROUP_ID + i) & 1)
            put(w, &n, g->id[i]);
    if (rsrc2 & WORKGROUP_INFO)
        put(w, &n, (uint32_t)(w->index == 0) << 31 | g->wave_count);
    if (rsrc2 & ENABLE_PRIVATE_SEGMENT)
        put(w, &n, 0); /* the wave's offset in private memory */
}
static void scalar_registers(ks_wave *w)
{
    uint32_t rsrc1 = w->launch->kernel->rsrc1, rsrc2 = w->launch->kernel->rsrc2;
    unsigned n = 0;
    for (unsigned i = 0; i < KS_SREGS; i++) {
        w->s[i] = KS_POISON;
        w->su[i] = w->undefined_checked ? UINT32_MAX : 0;
        w->s_origin[i] = KS_NO_ORIGIN;
    }
    user_sgprs(w, &n);
    system_sgprs(w, rsrc2 >> USER_SGPRS & 31);
    n = KS_FLAT_SCRATCH;
    put64(w, &n, 0);
    w->su[KS_EXEC] = w->su[KS_EXEC + 1] = 0;
    w->scc = false;
    w->scc_u = w->undefined_checked;
    w->scc_origin = KS_NO_ORIGIN;
    w->mode = (rsrc1 >> FLOAT_MODE & 255) | (rsrc1 >> DX10_CLAMP & 1) << MODE_DX10_CLAMP |
              (rsrc1 >> IEEE_MODE & 1) << MODE_IEEE | (rsrc1 >> FP16_OVFL & 1) << MODE_FP16_OVFL;
    w->gpr_index_on = false;
}
/* Rows [first, first + count): only those that the kernel has are ever looked at. */
static void poison_rows(ks_wave *w, unsigned first, unsigned count)
{
    for (unsigned r = first; r < first + count; r++)
        for (unsigned i = 0; i < KS_LANES; i++)
            w->v[r][i] = KS_POISON;
    memset(w->v_clean + first, !w->undefined_checked, count);
    if (w->undefined_checked)
        memset(w->vu[first], 0xff, count * sizeof *w->vu);
    for (unsigned r = first; r < first + count; r++)
        w->v_origin[r] = KS_NO_ORIGIN;
}
static void vector_registers(ks_wave *w)
{
    poison_rows(w, 0, ks_vgprs_of(w->launch->kernel));
    poison_rows(w, KS_ACC, ks_agprs_of(w->launch->kernel));
}
/* v0 = x | y << 10 | z << 20, of those that the descriptor asks for. */
static void work_items(ks_wave *w)
{
    const ks_launch *l = w->launch;
    const uint32_t *block = l->block;
    uint32_t ids = l->kernel->rsrc2 >> WORKITEM_ID & 3, count = block[0] * block[1] * block[2];
    uint64_t live = 0;
    for (uint32_t i = 0; i < KS_LANES; i++) {
        uint32_t n = w->index * KS_LANES + i;
        if (n >= count)
            break;
        live |= 1ull << i;
        uint32_t x = n % block[0], y = n / block[0] % block[1], z = n / (block[0] * block[1]);
        w->v[0][i] = x | (ids > 0 ? y << 10 : 0) | (ids > 1 ? z << 20 : 0);
        w->vu[0][i] = 0;
    }
    w->v_clean[0] |= live == UINT64_MAX;
    w->live = live;
    ks_exec_set(w, live);
}
static uint32_t first_instruction(const ks_kernel *k)
{
    const ks_object *o = k->object;
    uint64_t pc = (uint64_t)o->inst[k->entry].pc + KS_CODE_PRELOAD_SKIP;
    if (!(k->preload & 127) || pc >= o->code_size || o->index_of[pc / 4] == KS_NO_TARGET)
        return k->entry;
    return o->index_of[pc / 4];
}
void ks_wave_start(ks_wave *w)
{
    w->undefined_checked = ks_options_get()->check[KILNSIM_UNDEFINED] || ks_replay_on(w->group);
    scalar_registers(w);
    vector_registers(w);
    work_items(w);
    w->ip = first_instruction(w->launch->kernel);
    w->inst = NULL;
    w->state = KS_RUNNING;
    w->executed = 0;
    w->missed_lanes = 0;
    memset(w->poll, 0xff, sizeof w->poll);
    w->aux = 0;
    if (w->launch->scratch) {
        size_t size = (size_t)w->launch->scratch * KS_LANES;
        const uint32_t poison = KS_POISON;
        for (size_t i = 0; i < size; i += sizeof poison)
            memcpy(w->scratch + i, &poison, sizeof poison);
        memset(w->scratch_undefined, w->undefined_checked ? 0xff : 0, size);
    }
}
