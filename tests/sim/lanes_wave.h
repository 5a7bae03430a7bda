// SPDX-License-Identifier: MIT
// A wave and instructions made by hand, for tests of vector instructions in every variant that this
// CPU runs.
#ifndef LANES_WAVE_H
#define LANES_WAVE_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "vec.h"

#ifdef __x86_64__
#define VARIANTS(X) X(base) X(v3) X(v4)
#else
#define VARIANTS(X) X(base)
#endif
#define X(v) KS_VEC_TABLES(KS_VEC_TABLE_FN, v) void ks_run_lanes_##v(ks_wave *, const ks_inst *);
VARIANTS(X)
#undef X
typedef struct variant {
    const char *name;
    ks_op_table table[16];
    ks_exec *run;
} variant;
static variant variants[3];
static unsigned variant_count;
static const variant *now; /* the one under test */

static ks_wave *w;
static ks_launch launch;
static ks_object object;
static ks_kernel kernel = {.rsrc1 = 63, .rsrc3 = 63}; /* v0 to v255, a0 to a255 */
static ks_group group;

enum {
    MODE_IEEE = 0x3f0
}; /* nearest, all denormals, DX10_CLAMP and IEEE: what HIP kernels start with */

static inline bool runs_here(const char *name)
{
#ifdef __x86_64__
    if (!strcmp(name, "v3")) return __builtin_cpu_supports("x86-64-v3");
    if (!strcmp(name, "v4")) return __builtin_cpu_supports("x86-64-v4");
#endif
    return !strcmp(name, "base");
}
static inline uint32_t noise(uint32_t n)
{
    n = (n ^ 61u) ^ (n >> 16);
    n *= 9u;
    n ^= n >> 4;
    n *= 0x27d4eb2du;
    return n ^ n >> 15;
}
/* Registers hold noise and are all defined; every lane is on. */
static inline void reset(void)
{
    for (unsigned r = 0; r < KS_VREGS; r++) {
        for (unsigned l = 0; l < KS_LANES; l++) w->v[r][l] = noise(r * 64 + l + 1);
        w->v_clean[r] = 1;
        w->v_origin[r] = KS_NO_ORIGIN;
    }
    for (unsigned r = 0; r < KS_SREGS; r++) {
        w->s[r] = noise(0x10000 + r);
        w->su[r] = 0;
        w->s_origin[r] = KS_NO_ORIGIN;
    }
    w->mode = MODE_IEEE;
    w->live = ~0ull;
    w->gpr_index_on = false;
    w->undefined_checked = true;
    ks_exec_set(w, ~0ull);
}
static inline int begin_tests(void **state)
{
    (void)state;
    static char name[] = "by_hand";
    setenv("KILN_SIM", "log=off", 1);
    w = aligned_alloc(64, (sizeof(*w) + 63) / 64 * 64);
    uint32_t(*vu)[KS_LANES] = aligned_alloc(64, sizeof(uint32_t[KS_VREGS][KS_LANES]));
    if (!w || !vu) return -1;
    memset(w, 0, sizeof(*w));
    memset(vu, 0x5a, sizeof(uint32_t[KS_VREGS][KS_LANES]));
    kernel.name = name;
    kernel.object = &object;
    object.arch = KS_GFX942;
    launch.object = &object;
    launch.kernel = &kernel;
    launch.stop = 0;
    group.launch = &launch;
    w->launch = &launch;
    w->group = &group;
    w->vu = vu;
#define TABLE(table, v) KS_CAT(ks_##table##_ops, v)(),
#define X(v)                                                                                       \
    if (runs_here(#v))                                                                             \
        variants[variant_count++] = (variant){#v, {KS_VEC_TABLES(TABLE, v)}, ks_run_lanes_##v};
    VARIANTS(X)
#undef X
#undef TABLE
    now = &variants[0];
    return 0;
}
static inline int end_tests(void **state)
{
    (void)state;
    free(w->vu);
    free(w);
    return 0;
}
#define EACH_VARIANT for (now = variants; now < variants + variant_count; now++)

static inline const ks_op *find(const char *name)
{
    for (unsigned t = 0; t < 16; t++)
        for (size_t i = 0; i < now->table[t].count; i++)
            if (!strcmp(now->table[t].op[i].name, name)) return &now->table[t].op[i];
    fail_msg("no instruction %s", name);
    return NULL;
}
static inline ks_operand vgpr(unsigned reg)
{
    return (ks_operand){.where = KS_VGPR, .reg = (uint16_t)reg};
}
static inline ks_operand sgpr(unsigned reg)
{
    return (ks_operand){.where = KS_SGPR, .reg = (uint16_t)reg};
}
static inline ks_operand constant(uint64_t value)
{
    return (ks_operand){.where = KS_CONST, .value = value};
}
/* An instruction of an op with its operands, d first; types and counts are the op's. */
static inline ks_inst make(const ks_op *op, unsigned nd, unsigned ns, const ks_operand *o)
{
    ks_inst in = {.run = op->exec,
                  .op = op,
                  .pc = 0x40,
                  .bytes = 8,
                  .encoding = KS_VOP3,
                  .op_sel_hi = 7,
                  .row_mask = 15,
                  .bank_mask = 15,
                  .nd = (uint8_t)nd,
                  .ns = (uint8_t)ns,
                  .dst_sel = 6,
                  .src_sel = {6, 6}};
    for (unsigned i = 0; i < nd + ns; i++) {
        const ks_spec *spec = i < nd ? &op->d[i] : &op->s[i - nd];
        ks_operand *to = i < nd ? &in.d[i] : &in.s[i - nd];
        *to = o[i];
        to->type = spec->type;
        to->count = spec->count ? spec->count : ks_types[spec->type].regs;
    }
    return in;
}
#define OPERANDS(...) ((const ks_operand[]){__VA_ARGS__})
static inline void run(const ks_inst *in)
{
    w->inst = in;
    in->run(w, in);
}
static inline uint64_t pair(unsigned reg)
{
    return (uint64_t)w->s[reg + 1] << 32 | w->s[reg];
}
static inline uint64_t v64(unsigned reg, unsigned lane)
{
    return (uint64_t)w->v[reg + 1][lane] << 32 | w->v[reg][lane];
}
/* Marks bits of a register undefined, in the lanes of a mask. */
static inline void undefine(unsigned reg, uint32_t bits, uint64_t lanes, uint32_t origin)
{
    for (unsigned l = 0; l < KS_LANES; l++) w->vu[reg][l] = (lanes >> l & 1u) ? bits : 0;
    w->v_clean[reg] = 0;
    w->v_origin[reg] = origin;
}
static inline uint32_t undefined_bits(unsigned reg, unsigned lane)
{
    return w->v_clean[reg] ? 0 : w->vu[reg][lane];
}

/* ---- Ops of the tests' own ---- */
static inline float f32(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, 4);
    return f;
}
static inline uint32_t bits32(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return bits;
}
static inline double f64(uint64_t bits)
{
    double f;
    memcpy(&f, &bits, 8);
    return f;
}
static inline uint64_t bits64(double f)
{
    uint64_t bits;
    memcpy(&bits, &f, 8);
    return bits;
}
/* The first source as it arrives, which shows what was done to it; of two registers. */
static inline void first(ks_lanes *k)
{
    memmove(k->d[0], k->s[0], KS_LANES * 4u * ks_types[k->inst->s[0].type].regs);
}
static inline void second(ks_lanes *k)
{
    memmove(k->d[0], k->s[1], KS_LANES * 4u * ks_types[k->inst->s[1].type].regs);
}
static inline void third(ks_lanes *k)
{
    memmove(k->d[0], k->s[2], KS_LANES * 4u);
}
static inline ks_op by_hand(ks_lanes_fn *f, unsigned d, unsigned s, uint32_t flags)
{
    ks_spec t = {(uint8_t)s, 0};
    return (ks_op){.name = "by_hand",
                   .exec = now->run,
                   .lanes = f,
                   .class = KS_VALU_OP,
                   .flags = flags,
                   .d = {{(uint8_t)d, 0}},
                   .s = {t, t, t}};
}
static uint32_t before[KS_VREGS][KS_LANES];
static inline void remember(void)
{
    memcpy(before, w->v, sizeof(before));
}
static inline bool on(uint64_t mask, unsigned lane)
{
    return mask >> lane & 1u;
}
static inline void run_named(const char *name, unsigned nd, unsigned ns, const ks_operand *o)
{
    ks_inst in = make(find(name), nd, ns, o);
    run(&in);
}
#define RUN(name, nd, ns, ...) run_named(name, nd, ns, OPERANDS(__VA_ARGS__))
#endif
