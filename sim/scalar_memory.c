// SPDX-License-Identifier: MIT
// Scalar memory instructions: loads through an address or a buffer's resource, clocks, and what concerns caches alone.
// Scalar stores and atomics, which no compiler makes for these targets, are left out: they are reported as unknown.
#include <string.h>
#include "scalar.h"

enum { MOST_DWORDS = 16 };

static bool offset_of(ks_wave *w, const ks_inst *inst, uint64_t *offset)
{
    uint64_t soffset = 0;
    if (inst->ns > 1 && !ks_scalar_need(w, inst, &inst->s[1], "a scalar load's offset", &soffset))
        return false;
    *offset = (uint64_t)(int64_t)inst->offset + (uint32_t)soffset;
    return true;
}
static void report_range(ks_wave *w, const ks_inst *inst, uint64_t address, unsigned bytes, const ks_range *r)
{
    unsigned long long begin = r->begin, size = r->end - r->begin;
    if (r->freed && address >= r->begin && address < r->end)
        ks_report(w, inst, KILNSIM_FREED, -1, address, "load of %u bytes from allocation %u of %llu bytes at 0x%llx, "
                  "which was freed: free it after the launch has ended", bytes, r->id, size, begin);
    else
        ks_report(w, inst, KILNSIM_BOUNDS, -1, address, "load of %u bytes; the nearest allocation is %u with %llu bytes "
                  "at 0x%llx: %s", bytes, r->id, size, begin,
                  ks_remedy(w->launch, address, "look at the pointer and the index"));
}
/* Registers without a value, where the address was no good. */
static void write_none(ks_wave *w, const ks_inst *inst)
{
    for (unsigned i = 0; i < inst->d[0].count; i++)
        ks_scalar_write(w, inst->d[0].reg + i, 1, KS_POISON, w->undefined_checked ? UINT32_MAX : 0, KS_NO_ORIGIN);
}
static void write_row(ks_wave *w, const ks_inst *inst, const uint32_t *value, const uint32_t *undefined)
{
    for (unsigned i = 0; i < inst->d[0].count; i++)
        ks_scalar_write(w, inst->d[0].reg + i, 1, value[i], undefined ? undefined[i] : 0, KS_NO_ORIGIN);
}
static void load(ks_wave *w, const ks_inst *inst, uint64_t address, unsigned count)
{
    uint32_t value[MOST_DWORDS] = {0}, undefined[MOST_DWORDS] = {0};
    ks_range r = {0};
    bool found = ks_find_range(address, &r);
    if (!found || r.freed || r.end - address < 4 * count) {
        report_range(w, inst, address, 4 * count, &r);
        write_none(w, inst);
        return;
    }
    memcpy(value, (const void *)(uintptr_t)address, 4 * count);
    if (r.shadow && w->undefined_checked)
        memcpy(undefined, (const void *)(uintptr_t)(address + (uint64_t)r.shadow), 4 * count);
    write_row(w, inst, value, undefined);
}
/* The two lowest bits of base and offset are not looked at. */
static void run_load(ks_wave *w, const ks_inst *inst)
{
    uint64_t base, offset;
    if (ks_scalar_need(w, inst, &inst->s[0], "a scalar load's address", &base) && offset_of(w, inst, &offset))
        load(w, inst, (base & ~3ull) + (offset & ~3ull), inst->d[0].count);
    else
        write_none(w, inst);
}
/* Words past the resource's end are zero: stride 0: num_records bytes, else so many times the stride. */
static void run_buffer_load(ks_wave *w, const ks_inst *inst)
{
    ks_operand pair[2] = {inst->s[0], inst->s[0]};
    uint64_t base, records, offset;
    uint32_t zero[MOST_DWORDS] = {0};
    pair[0].count = 2;
    pair[1].count = 1;
    pair[1].reg = (uint16_t)(pair[1].reg + 2);
    if (!ks_scalar_need(w, inst, &pair[0], "a scalar load's buffer resource", &base) ||
        !ks_scalar_need(w, inst, &pair[1], "a scalar load's buffer size", &records) || !offset_of(w, inst, &offset)) {
        write_none(w, inst);
        return;
    }
    uint64_t stride = base >> 48 & 0x3fff, size = stride ? stride * (uint32_t)records : (uint32_t)records;
    unsigned count = inst->d[0].count, inside = 0;
    offset = (uint32_t)offset & ~3u;
    while (inside < count && offset + 4 * (inside + 1) <= size)
        inside++;
    write_row(w, inst, zero, NULL);
    if (!inside)
        return;
    ks_inst part = *inst;
    part.d[0].count = (uint8_t)inside;
    load(w, &part, (base & 0xfffffffffffcull) + offset, inside);
}
/* Deterministic clocks: four cycles an instruction and those of s_sleep; s_memrealtime as if 100 MHz were a sixteenth
   of them, and long after it was started: programs take the times since 0 for long ago. */
static uint64_t cycles_of(const ks_wave *w)
{
    return w->executed * 4 + w->slept;
}
static void write_clock(ks_wave *w, const ks_inst *inst, uint64_t value)
{
    ks_scalar_write(w, inst->d[0].reg, 2, value, 0, KS_NO_ORIGIN);
}
static void run_memtime(ks_wave *w, const ks_inst *inst)
{
    write_clock(w, inst, cycles_of(w));
}
static void run_memrealtime(ks_wave *w, const ks_inst *inst)
{
    enum { START = 1 << 30 };
    write_clock(w, inst, START + cycles_of(w) / 16);
}
static void run_cache(ks_wave *w, const ks_inst *inst)
{
    (void)w, (void)inst; /* memory is always coherent here */
}

/* name, run, class, flags, destination and its registers, base and its registers, offset; sorted by name */
#define SMEM_OPS(X)                                                                                           \
    X(s_atc_probe, cache, CACHE, 0, NONE, 0, B64, 2, U32)                                                     \
    X(s_atc_probe_buffer, cache, CACHE, 0, NONE, 0, B32, 4, U32)                                              \
    X(s_buffer_load_dword, buffer_load, SMEM, KS_F_LOAD, B32, 1, B32, 4, U32)                                 \
    X(s_buffer_load_dwordx16, buffer_load, SMEM, KS_F_LOAD, B32, 16, B32, 4, U32)                             \
    X(s_buffer_load_dwordx2, buffer_load, SMEM, KS_F_LOAD, B32, 2, B32, 4, U32)                               \
    X(s_buffer_load_dwordx4, buffer_load, SMEM, KS_F_LOAD, B32, 4, B32, 4, U32)                               \
    X(s_buffer_load_dwordx8, buffer_load, SMEM, KS_F_LOAD, B32, 8, B32, 4, U32)                               \
    X(s_dcache_discard, cache, CACHE, 0, NONE, 0, B64, 2, U32)                                                \
    X(s_dcache_discard_x2, cache, CACHE, 0, NONE, 0, B64, 2, U32)                                             \
    X(s_dcache_inv, cache, CACHE, 0, NONE, 0, NONE, 0, NONE)                                                  \
    X(s_dcache_inv_vol, cache, CACHE, 0, NONE, 0, NONE, 0, NONE)                                              \
    X(s_dcache_wb, cache, CACHE, 0, NONE, 0, NONE, 0, NONE)                                                   \
    X(s_dcache_wb_vol, cache, CACHE, 0, NONE, 0, NONE, 0, NONE)                                               \
    X(s_load_dword, load, SMEM, KS_F_LOAD, B32, 1, B64, 2, U32)                                               \
    X(s_load_dwordx16, load, SMEM, KS_F_LOAD, B32, 16, B64, 2, U32)                                           \
    X(s_load_dwordx2, load, SMEM, KS_F_LOAD, B32, 2, B64, 2, U32)                                             \
    X(s_load_dwordx4, load, SMEM, KS_F_LOAD, B32, 4, B64, 2, U32)                                             \
    X(s_load_dwordx8, load, SMEM, KS_F_LOAD, B32, 8, B64, 2, U32)                                             \
    X(s_memrealtime, memrealtime, SMEM, KS_F_LOAD, B64, 2, NONE, 0, NONE)                                     \
    X(s_memtime, memtime, SMEM, KS_F_LOAD, B64, 2, NONE, 0, NONE)
static const ks_op ops[] = {
#define X(name_, run, class_, flags_, D, dn, A, an, O)                                                        \
    { .name = #name_, .exec = run_##run, .flags = (flags_), .class = KS_##class_##_OP,                        \
      .d = { { KS_##D, dn } }, .s = { { KS_##A, an }, { KS_##O, 0 } } },
    SMEM_OPS(X)
#undef X
};
ks_op_table ks_smem_ops(void)
{
    return (ks_op_table){ops, sizeof ops / sizeof *ops};
}
