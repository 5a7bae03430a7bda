// SPDX-License-Identifier: MIT
// What an access costs the LDS unit or the memory path, where a launch is priced: cycles with bank
// conflicts and without, 64-byte segments touched and needed.  w->aux has it for the trace.
//
// LDS of gfx90a and gfx942: 32 banks of 4 bytes, one word each a cycle; lanes that want the same
// word share it.  A wave goes in phases, of as many lanes as fill the banks: 32 lanes for up to 4
// bytes, 16 for 8, 8 for 12 and 16.  Which lanes make a phase is documented by AMD for 16 bytes
// (ROCm's Composable Kernel documentation, "Understanding AMD GPU LDS and bank conflicts":
// neighbours for ds_write_b128, the groups below for ds_read_b128); for the others neighbours are
// assumed.  A phase takes as many cycles as its busiest bank has words; one without active lanes is
// skipped.
#include <string.h>
#include "memory.h"

enum { BANKS = 32, PHASES = 8, SEGMENT = 64 };

typedef struct phases {
    unsigned count;
    uint64_t lanes[PHASES];
} phases;
#define TWICE(a, b, c, d)                                                                          \
    {                                                                                              \
        a, b, c, d, (uint64_t)(a) << 32, (uint64_t)(b) << 32, (uint64_t)(c) << 32,                 \
            (uint64_t)(d) << 32                                                                    \
    }
static const phases narrow_phases = {2, {0xffffffffull, 0xffffffffull << 32}};
static const phases b64_phases = {4,
                                  {0xffffull, 0xffffull << 16, 0xffffull << 32, 0xffffull << 48}};
static const phases wide_store_phases = {8, TWICE(0x000000ff, 0x0000ff00, 0x00ff0000, 0xff000000)};
/* 0-3 and 20-23, 4-7 and 16-19, 8-11 and 28-31, 12-15 and 24-27; the same above 32 */
static const phases wide_load_phases = {8, TWICE(0x00f0000f, 0x000f00f0, 0xf0000f00, 0x0f00f000)};

static const phases *phases_of(const ks_access *a)
{
    if (a->bytes <= 4) return &narrow_phases;
    if (a->bytes == 8) return &b64_phases;
    return a->flags & KS_F_LOAD ? &wide_load_phases : &wide_store_phases;
}

/* Words of the busiest bank. An atomic has the word to itself. */
static unsigned busiest(const ks_access *a, uint64_t lanes)
{
    uint32_t word[BANKS][KS_LANES];
    uint8_t count[BANKS] = {0};
    unsigned most = 0;
    KS_EACH_LANE (l, lanes) {
        uint32_t last = (a->offset[l] + a->bytes - 1) / 4;
        for (uint32_t x = a->offset[l] / 4; x <= last; x++) {
            unsigned bank = x % BANKS, i = 0;
            while (i < count[bank] && (word[bank][i] != x || a->flags & KS_F_ATOMIC)) i++;
            if (i == count[bank] && i < KS_LANES) {
                word[bank][i] = x;
                count[bank]++;
            }
            most = count[bank] > most ? count[bank] : most;
        }
    }
    return most;
}

static void lds_cost(const ks_access *a)
{
    const phases *p = phases_of(a);
    unsigned cycles = 0, ideal = 0;
    for (unsigned i = 0; i < p->count; i++) {
        unsigned n = a->lanes & p->lanes[i] ? busiest(a, a->lanes & p->lanes[i]) : 0;
        cycles += n;
        ideal += n != 0;
    }
    a->w->group->counters.lds_cycles += cycles;
    a->w->group->counters.lds_ideal_cycles += ideal;
    a->w->aux += cycles;
}

/* Addresses of the active lanes in rising order; their number. */
static unsigned sorted(const ks_access *a, uint64_t out[KS_LANES])
{
    unsigned n = 0;
    KS_EACH_LANE (l, a->lanes) {
        unsigned i = n++;
        for (; i && out[i - 1] > a->at[l]; i--) out[i] = out[i - 1];
        out[i] = a->at[l];
    }
    return n;
}

static void global_cost(const ks_access *a)
{
    ks_counters *c = &a->w->group->counters;
    uint64_t at[KS_LANES], bytes = 0, touched = 0, byte_end = 0, segment_end = 0;
    unsigned n = sorted(a, at);
    for (unsigned i = 0; i < n; i++) {
        uint64_t end = at[i] + a->bytes, first = at[i] > byte_end ? at[i] : byte_end;
        uint64_t s = at[i] / SEGMENT, s_end = (end - 1) / SEGMENT + 1;
        bytes += end > first ? end - first : 0;
        s = s > segment_end ? s : segment_end;
        touched += s_end > s ? s_end - s : 0;
        byte_end = end > byte_end ? end : byte_end;
        segment_end = s_end > segment_end ? s_end : segment_end;
    }
    c->segments += touched;
    c->segments_needed += (bytes + SEGMENT - 1) / SEGMENT;
    c->global_bytes += (uint64_t)n * a->bytes;
    a->w->aux += (uint32_t)touched;
}

/* Words of private memory are interleaved by lane: whatever the lanes' offsets, neighbours where
 * they are equal. */
static void scratch_cost(const ks_access *a)
{
    unsigned bytes = (unsigned)__builtin_popcountll(a->lanes) * (a->bytes < 4 ? 4 : a->bytes);
    unsigned segments = (bytes + SEGMENT - 1) / SEGMENT;
    a->w->group->counters.segments += segments;
    a->w->group->counters.segments_needed += segments;
    a->w->group->counters.global_bytes += bytes;
    a->w->aux += segments;
}

void ks_mem_cost(const ks_access *a)
{
    switch (a->space) {
    case KS_SPACE_GLOBAL:
        global_cost(a);
        break;
    case KS_SPACE_LDS:
        lds_cost(a);
        break;
    case KS_SPACE_SCRATCH:
        scratch_cost(a);
        break;
    }
}
