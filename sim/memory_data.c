// SPDX-License-Identifier: MIT
// Bytes between memory and vector registers: a lane's bytes stand in as many rows as they have
// words. LDS and private memory have a byte of undefined bits for each byte, and so has device
// memory where options.unwritten asks for it, so undefined bits move by the same code.
#include <string.h>
#include "memory.h"
#include "replay.h"

enum { DATA_SLOT = 4 }; /* of ks_rows_read: addresses come before */

static inline uint32_t get32(uint64_t at)
{
    uint32_t v;
    memcpy(&v, (const void *)(uintptr_t)at, 4);
    return v;
}
static inline uint64_t get64(uint64_t at)
{
    uint64_t v;
    memcpy(&v, (const void *)(uintptr_t)at, 8);
    return v;
}
static inline void put32(uint64_t at, uint32_t v)
{
    memcpy((void *)(uintptr_t)at, &v, 4);
}

bool ks_access_begin(ks_access *a, ks_wave *w, const ks_inst *in)
{
    a->w = w;
    a->in = in;
    a->mem = in->op->data;
    a->flags = in->op->flags;
    a->bytes = a->mem->bytes;
    a->lanes = ks_exec_of(w);
    a->space = KS_SPACE_GLOBAL;
    a->rows = a->undefined = NULL;
    a->reg = 0;
    a->shadow = 0;
    a->by_vm = a->many = false;
    w->aux = 0;
    if (w->missed_lanes) ks_barrier_missed(w, a->lanes);
    return a->lanes != 0;
}

static const uint32_t *narrowed(const ks_access *a, const uint32_t *row, uint32_t *out)
{
    uint32_t mask = a->bytes == 1 ? 0xff : 0xffff;
    unsigned shift = a->flags & KS_F_D16_HI ? 16 : 0;
    for (unsigned l = 0; l < KS_LANES; l++) out[l] = row[l] >> shift & mask;
    return out;
}

void ks_access_data(ks_access *a, const ks_operand *o, unsigned slot)
{
    a->rows = ks_rows_read(a->w, o, DATA_SLOT + slot, &a->undefined);
    a->reg = o->reg;
    if (a->bytes >= 4) return;
    a->rows = narrowed(a, a->rows, a->temp[0][0]);
    if (a->undefined) a->undefined = narrowed(a, a->undefined, a->temp[1][0]);
}

void ks_access_settle(ks_access *a)
{
    if (a->lanes == ~0ull || a->lanes == 0) return;
    unsigned first = ks_first_lane(a->lanes);
    uint64_t at = a->at[first];
    uint32_t offset = a->offset[first];
    bool near = a->space != KS_SPACE_GLOBAL;
    KS_EACH_LANE (l, ~a->lanes) {
        if (near)
            a->offset[l] = offset;
        else
            a->at[l] = at;
    }
}

#define LANES(...)                                                                                 \
    do {                                                                                           \
        if (lanes == ~0ull)                                                                        \
            for (unsigned l = 0; l < KS_LANES; l++) {                                              \
                __VA_ARGS__;                                                                       \
            }                                                                                      \
        else                                                                                       \
            KS_EACH_LANE (l, lanes) {                                                              \
                __VA_ARGS__;                                                                       \
            }                                                                                      \
    } while (0)

/* Four by four words: y[i] is made of the words i of all x. */
typedef uint32_t four __attribute__((vector_size(16)));
#define MIX(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
static inline void transpose(const four x[4], four y[4])
{
    four lo01 = MIX(x[0], x[1], 0, 4, 1, 5), hi01 = MIX(x[0], x[1], 2, 6, 3, 7);
    four lo23 = MIX(x[2], x[3], 0, 4, 1, 5), hi23 = MIX(x[2], x[3], 2, 6, 3, 7);
    y[0] = MIX(lo01, lo23, 0, 1, 4, 5);
    y[1] = MIX(lo01, lo23, 2, 3, 6, 7);
    y[2] = MIX(hi01, hi23, 0, 1, 4, 5);
    y[3] = MIX(hi01, hi23, 2, 3, 6, 7);
}
static void gather_quads(uint32_t *rows, const uint64_t *at)
{
    for (unsigned l = 0; l < KS_LANES; l += 4) {
        four x[4], y[4];
        for (unsigned i = 0; i < 4; i++) memcpy(&x[i], (const void *)(uintptr_t)at[l + i], 16);
        transpose(x, y);
        for (unsigned i = 0; i < 4; i++) memcpy(rows + i * KS_LANES + l, &y[i], 16);
    }
}
static void scatter_quads(const uint32_t *rows, const uint64_t *at)
{
    for (unsigned l = 0; l < KS_LANES; l += 4) {
        four x[4], y[4];
        for (unsigned i = 0; i < 4; i++) memcpy(&x[i], rows + i * KS_LANES + l, 16);
        transpose(x, y);
        for (unsigned i = 0; i < 4; i++) memcpy((void *)(uintptr_t)at[l + i], &y[i], 16);
    }
}

void ks_gather(uint32_t *rows, const uint64_t *at, uint64_t lanes, unsigned bytes)
{
    uint32_t *r1 = rows + KS_LANES, *r2 = r1 + KS_LANES, *r3 = r2 + KS_LANES;
    switch (bytes) {
    case 1:
        LANES(rows[l] = *(const uint8_t *)(uintptr_t)at[l]);
        break;
    case 2:
        LANES(uint16_t v; memcpy(&v, (const void *)(uintptr_t)at[l], 2); rows[l] = v);
        break;
    case 4:
        LANES(rows[l] = get32(at[l]));
        break;
    case 8:
        LANES(uint64_t v = get64(at[l]); rows[l] = (uint32_t)v; r1[l] = (uint32_t)(v >> 32));
        break;
    case 12:
        LANES(rows[l] = get32(at[l]); r1[l] = get32(at[l] + 4); r2[l] = get32(at[l] + 8));
        break;
    default:
        if (lanes == ~0ull)
            gather_quads(rows, at);
        else
            KS_EACH_LANE (l, lanes) {
                rows[l] = get32(at[l]);
                r1[l] = get32(at[l] + 4);
                r2[l] = get32(at[l] + 8);
                r3[l] = get32(at[l] + 12);
            }
    }
}

void ks_scatter(const uint32_t *rows, const uint64_t *at, uint64_t lanes, unsigned bytes)
{
    const uint32_t *r1 = rows + KS_LANES, *r2 = r1 + KS_LANES, *r3 = r2 + KS_LANES;
    switch (bytes) {
    case 1:
        LANES(*(uint8_t *)(uintptr_t)at[l] = (uint8_t)rows[l]);
        break;
    case 2:
        LANES(uint16_t v = (uint16_t)rows[l]; memcpy((void *)(uintptr_t)at[l], &v, 2));
        break;
    case 4:
        LANES(put32(at[l], rows[l]));
        break;
    case 8:
        LANES(put32(at[l], rows[l]); put32(at[l] + 4, r1[l]));
        break;
    case 12:
        LANES(put32(at[l], rows[l]); put32(at[l] + 4, r1[l]); put32(at[l] + 8, r2[l]));
        break;
    default:
        if (lanes == ~0ull)
            scatter_quads(rows, at);
        else
            KS_EACH_LANE (l, lanes) {
                put32(at[l], rows[l]);
                put32(at[l] + 4, r1[l]);
                put32(at[l] + 8, r2[l]);
                put32(at[l] + 12, r3[l]);
            }
    }
}

void ks_mem_fill(ks_wave *w, unsigned reg, unsigned count, uint64_t lanes, uint32_t value)
{
    if (!lanes) return;
    for (unsigned r = 0; r < count; r++)
        KS_EACH_LANE (l, lanes) {
            w->v[reg + r][l] = value;
        }
    ks_rows_written(w, reg, count, NULL, lanes);
}

void ks_mem_lost(ks_access *a, unsigned reg, bool returns)
{
    uint64_t lost = ks_exec_of(a->w) & ~a->lanes;
    if (lost && returns) ks_mem_fill(a->w, reg, a->bytes < 4 ? 1 : a->bytes / 4, lost, KS_POISON);
}

/* A 16-bit load into half a register: chips with ECC, as those with gfx90a and gfx942 are, do not
   keep the other half (LLVM counts on neither for them), so it becomes undefined. */
void ks_mem_extend(const ks_access *a, uint32_t *row)
{
    unsigned shift = 32 - a->bytes * 8;
    bool sign = a->mem->sign, low = a->flags & KS_F_D16, high = a->flags & KS_F_D16_HI;
    for (unsigned l = 0; l < KS_LANES; l++) {
        uint32_t v = sign ? (uint32_t)((int32_t)(row[l] << shift) >> shift) : row[l];
        row[l] = high ? v << 16 : low ? v & 0xffff : v;
    }
}

/* The undefined bits of what the lanes are about to load; false: none. Lanes that are not done have
   the address of one that is. */
bool ks_mem_undefined(ks_access *a, uint32_t *rows)
{
    uint64_t any = 0;
    const uint64_t *at = a->at;
    intptr_t shadow = a->shadow;
    if (!shadow) return false;
    switch (a->bytes) {
    case 16:
        for (unsigned l = 0; l < KS_LANES; l++)
            any |= get64(at[l] + (uint64_t)shadow) | get64(at[l] + (uint64_t)shadow + 8);
        break;
    case 8:
        for (unsigned l = 0; l < KS_LANES; l++) any |= get64(at[l] + (uint64_t)shadow);
        break;
    case 4:
        for (unsigned l = 0; l < KS_LANES; l++) any |= get32(at[l] + (uint64_t)shadow);
        break;
    default:
        for (unsigned l = 0; l < KS_LANES; l++)
            for (unsigned i = 0; i < a->bytes; i++)
                any |= *(const uint8_t *)(uintptr_t)(at[l] + (uint64_t)shadow + i);
    }
    if (!any) return false;
    uint64_t beside[KS_LANES];
    for (unsigned l = 0; l < KS_LANES; l++) beside[l] = at[l] + (uint64_t)shadow;
    ks_gather(rows, beside, a->lanes, a->bytes);
    return true;
}

/* Whether others may be about to change what is read: global memory of a launch whose workgroups
   may wait for each other, by a load that sees it at once; one place in LDS. */
static bool may_be_polled(const ks_access *a)
{
    const ks_launch *l = a->w->launch;
    if (a->space == KS_SPACE_GLOBAL)
        return (a->in->sc0 || a->in->sc1) && (l->kernel->serial || l->cooperative);
    return a->space == KS_SPACE_LDS && a->offset[0] == a->offset[KS_LANES - 1] && a->bytes <= 8;
}

void ks_mem_load(ks_access *a, unsigned reg)
{
    ks_wave *w = a->w;
    unsigned count = a->bytes < 4 ? 1 : a->bytes / 4;
    uint32_t(*undefined)[KS_LANES] = a->temp[1];
    bool some = w->undefined_checked && ks_mem_undefined(a, undefined[0]),
         half = a->flags & (KS_F_D16 | KS_F_D16_HI);
    if (a->bytes >= 4) {
        ks_gather(w->v[reg], a->at, a->lanes, a->bytes);
    } else {
        uint32_t *row = a->temp[0][0];
        ks_gather(row, a->at, a->lanes, a->bytes);
        ks_mem_extend(a, row);
        KS_EACH_LANE (l, a->lanes) {
            w->v[reg][l] = row[l];
        }
        if (half && w->undefined_checked) {
            uint32_t other = a->flags & KS_F_D16_HI ? 0xffff : 0xffff0000;
            if (some) ks_mem_extend(a, undefined[0]);
            for (unsigned l = 0; l < KS_LANES; l++)
                undefined[0][l] = (some ? undefined[0][l] : 0) | other;
            some = true;
        } else if (some) {
            ks_mem_extend(a, undefined[0]);
        }
    }
    ks_rows_written(w, reg, count, some ? undefined[0] : NULL, a->lanes);
    if (a->space == KS_SPACE_LDS && ks_replay_on(w->group)) ks_replay_taint(a, reg, ks_lds_part(w));
    if (may_be_polled(a)) ks_polled(w, a->in, w->v[reg], count, a->lanes);
}

static void store_undefined(const ks_access *a, const uint32_t *undefined)
{
    static const uint32_t none[4 * KS_LANES];
    uint64_t beside[KS_LANES];
    for (unsigned l = 0; l < KS_LANES; l++) beside[l] = a->at[l] + (uint64_t)a->shadow;
    ks_scatter(undefined ? undefined : none, beside, a->lanes, a->bytes);
}

/* Data that is stored where other workgroups and the host see it must be defined. */
void ks_mem_store(ks_access *a)
{
    bool far = a->space == KS_SPACE_GLOBAL;
    if (far) ks_replay_store(a);
    ks_scatter(a->rows, a->at, a->lanes, a->bytes);
    if (a->undefined && (far || !a->shadow)) ks_mem_defined_data(a);
    if (a->shadow && a->w->undefined_checked) store_undefined(a, far ? NULL : a->undefined);
}

static void move(ks_access *a, void *reg)
{
    if (a->flags & KS_F_STORE)
        ks_mem_store(a);
    else
        ks_mem_load(a, *(unsigned *)reg);
}

void ks_mem_perform(ks_access *a, unsigned reg)
{
    uint64_t wanted = a->lanes;
    ks_mem_place(a);
    if (a->lanes && a->w->launch->cost) ks_mem_cost(a);
    if (a->lanes) ks_mem_parts(a, move, &reg);
    if (!(a->flags & KS_F_STORE))
        ks_mem_fill(a->w, reg, a->bytes < 4 ? 1 : a->bytes / 4, wanted & ~a->lanes, KS_POISON);
}
