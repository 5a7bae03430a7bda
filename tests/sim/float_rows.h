// SPDX-License-Identifier: MIT
// Rows of a vector instruction's function, filled and read lane by lane: for tests of what it
// computes.
#ifndef FLOAT_ROWS_H
#define FLOAT_ROWS_H
#include "lanes_wave.h"
#include "vec_numeric.h"

static uint32_t source[4][2 * KS_LANES] __attribute__((aligned(64)));
static uint32_t result[2][2 * KS_LANES] __attribute__((aligned(64)));
static ks_inst instruction; /* its op_sel is looked at by some */

/* Source s of lane l; a 64-bit one has its upper half in the second row. */
static inline void put64(unsigned s, unsigned l, uint64_t v)
{
    source[s][l] = (uint32_t)v;
    source[s][KS_LANES + l] = (uint32_t)(v >> 32);
}
static inline void putf(unsigned s, unsigned l, float v)
{
    put64(s, l, ks_bits32(v));
}
static inline void putd(unsigned s, unsigned l, double v)
{
    put64(s, l, ks_bits64(v));
}
static inline uint64_t in64(unsigned s, unsigned l)
{
    return (uint64_t)source[s][KS_LANES + l] << 32 | source[s][l];
}
static inline uint32_t out32(unsigned l)
{
    return result[0][l];
}
static inline uint64_t out64(unsigned l)
{
    return (uint64_t)result[0][KS_LANES + l] << 32 | result[0][l];
}
static inline float outf(unsigned l)
{
    return ks_f32(out32(l));
}
static inline double outd(unsigned l)
{
    return ks_f64(out64(l));
}
static inline void call(const char *name, uint32_t mode)
{
    static const ks_op *op;
    static const variant *of;
    if (of != now || strcmp(op->name, name) != 0) op = find(name);
    of = now;
    instruction.op = op;
    ks_lanes k = {.d = {result[0], result[1]},
                  .s = {source[0], source[1], source[2], source[3]},
                  .mode = mode,
                  .arch = KS_GFX942,
                  .inst = &instruction};
    op->lanes(&k);
}
/* want == got, else the instruction, its sources and both are shown. */
static inline void same(const char *name, unsigned l, uint64_t want, uint64_t got)
{
    if (want != got)
        fail_msg("%s (%s) of 0x%llx 0x%llx 0x%llx: 0x%llx, want 0x%llx", name, now->name,
                 (unsigned long long)in64(0, l), (unsigned long long)in64(1, l),
                 (unsigned long long)in64(2, l), (unsigned long long)got, (unsigned long long)want);
}
#define EACH_LANE for (unsigned l = 0; l < KS_LANES; l++)
#define LANES(...)                                                                                 \
    EACH_LANE                                                                                      \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
    }
#endif
