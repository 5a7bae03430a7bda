// SPDX-License-Identifier: MIT
// EXEC as a row, and vector registers as memory instructions read and write them.
#include <string.h>
#include "sim.h"

void ks_exec_set(ks_wave *w, uint64_t exec)
{
    static const uint32_t nibble[16][4] = {
#define ROW(n) {(n)&1 ? ~0u : 0, (n)&2 ? ~0u : 0, (n)&4 ? ~0u : 0, (n)&8 ? ~0u : 0}
        ROW(0), ROW(1), ROW(2),  ROW(3),  ROW(4),  ROW(5),  ROW(6),  ROW(7),
        ROW(8), ROW(9), ROW(10), ROW(11), ROW(12), ROW(13), ROW(14), ROW(15),
#undef ROW
    };
    w->s[KS_EXEC] = (uint32_t)exec;
    w->s[KS_EXEC + 1] = (uint32_t)(exec >> 32);
    w->su[KS_EXEC] = w->su[KS_EXEC + 1] = 0;
    for (unsigned i = 0; i < KS_LANES; i += 4)
        memcpy(w->exec_row + i, nibble[exec >> i & 15u], sizeof(nibble[0]));
}

static void splat(uint32_t *row, uint32_t value)
{
    for (unsigned i = 0; i < KS_LANES; i++) row[i] = value;
}

const uint32_t *ks_rows_read(ks_wave *w, const ks_operand *o, unsigned slot,
                             const uint32_t **undefined)
{
    enum { HALF = 16 }; /* rows of a slot: the value's, then those of its undefined bits */
    unsigned count = o->count ? o->count : ks_types[o->type].regs;
    uint32_t(*temp)[KS_LANES] = w->temp[slot];
    *undefined = NULL;
    if (o->where == KS_VGPR) {
        bool clean = true;
        for (unsigned r = 0; w->undefined_checked && r < count; r++)
            clean = clean && w->v_clean[o->reg + r];
        if (clean) return w->v[o->reg];
        for (unsigned r = 0; r < count; r++) /* rows of clean registers are not kept up to date */
            if (w->v_clean[o->reg + r])
                memset(temp[HALF + r], 0, sizeof(temp[0]));
            else
                memcpy(temp[HALF + r], w->vu[o->reg + r], sizeof(temp[0]));
        *undefined = temp[HALF];
        return w->v[o->reg];
    }
    uint64_t u = 0, value = ks_scalar_read(w, o, &u);
    for (unsigned r = 0; r < 2; r++) {
        splat(temp[r], (uint32_t)(value >> r * 32));
        splat(temp[HALF + r], (uint32_t)(u >> r * 32));
    }
    if (w->undefined_checked && u) *undefined = temp[HALF];
    return temp[0];
}

void ks_rows_written(ks_wave *w, unsigned reg, unsigned count, const uint32_t *undefined,
                     uint64_t lanes)
{
    if (!w->undefined_checked) return;
    for (unsigned r = 0; r < count; r++) {
        const uint32_t *from = undefined ? undefined + r * KS_LANES : NULL;
        uint32_t *u = w->vu[reg + r], any = 0, fresh = 0;
        bool was_clean = w->v_clean[reg + r];
        if (!from && (was_clean || lanes == ~0ull)) {
            w->v_clean[reg + r] = 1;
            continue;
        }
        for (unsigned i = 0; i < KS_LANES; i++) {
            bool on = lanes >> i & 1u;
            uint32_t old = was_clean ? 0 : u[i];
            u[i] = on ? (from ? from[i] : 0) : old;
            fresh |= on ? u[i] : 0;
            any |= u[i];
        }
        w->v_clean[reg + r] = any == 0;
        if (fresh && w->inst) w->v_origin[reg + r] = w->inst->pc;
    }
}
