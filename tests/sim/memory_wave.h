// SPDX-License-Identifier: MIT
// A workgroup and memory instructions made by hand, for tests of memory*.c and check_lds.c.
#ifndef MEMORY_WAVE_H
#define MEMORY_WAVE_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "sim.h"

enum {
    ABSENT = -1,
    S = 1000,
    LDS_BYTES = 16384,
    SCRATCH_BYTES = 256,
    WAVES = 4
}; /* S + n: a scalar register */

static ks_kernel kernel = {.name = (char *)(uintptr_t) "test"};
static ks_object object = {.arch = KS_GFX942};
static ks_launch launch = {
    .kernel = &kernel, .object = &object, .grid = {1, 1, 1}, .block = {256, 1, 1}};
static ks_wave *waves[WAVES];
static ks_group group = {.launch = &launch, .wave_count = WAVES, .wave = waves};
static ks_wave *w; /* the one that runs */
static uint32_t seed = 1;

static inline uint32_t noise(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8 ^ seed << 20;
}

static inline void *zeroed(size_t size)
{
    void *p = aligned_alloc(64, (size + 63) & ~(size_t)63);
    assert_non_null(p);
    return memset(p, 0, size);
}

static inline int setup(void **state)
{
    (void)state;
    launch.lds = LDS_BYTES;
    launch.scratch = SCRATCH_BYTES;
    group.lds = zeroed(KS_MAX_LDS);
    for (unsigned i = 0; i < WAVES; i++) {
        ks_wave *x = waves[i] = zeroed(sizeof(ks_wave));
        x->group = &group;
        x->launch = &launch;
        x->index = i;
        x->live = ~0ull;
        x->mode = 0x3f0;
        x->vu = zeroed(sizeof(uint32_t) * KS_VREGS * KS_LANES);
        x->scratch = zeroed(SCRATCH_BYTES * KS_LANES);
        x->scratch_undefined = zeroed(SCRATCH_BYTES * KS_LANES);
        memset(x->v_clean, 1, sizeof(x->v_clean));
        for (unsigned r = 0; r < KS_VREGS; r++) x->v_origin[r] = KS_NO_ORIGIN;
        for (unsigned r = 0; r < KS_SREGS; r++) x->s_origin[r] = KS_NO_ORIGIN;
    }
    w = waves[0];
    return 0;
}
static inline int teardown(void **state)
{
    (void)state;
    ks_lds_shadow_free(&group);
    for (unsigned i = 0; i < WAVES; i++) {
        free(waves[i]->vu);
        free(waves[i]->scratch);
        free(waves[i]->scratch_undefined);
        free(waves[i]);
    }
    free(group.lds);
    return 0;
}

/* Registers and LDS are noise and defined, every lane is on, nothing has been found or accessed. */
static inline void reset(void)
{
    for (unsigned i = 0; i < WAVES; i++) {
        ks_wave *x = waves[i];
        for (unsigned r = 0; r < 64; r++)
            for (unsigned l = 0; l < KS_LANES; l++) x->v[r][l] = noise();
        memset(x->v_clean, 1, sizeof(x->v_clean));
        memset(x->scratch_undefined, 0, SCRATCH_BYTES * KS_LANES);
        memset(x->su, 0, sizeof(x->su));
        x->undefined_checked = true;
        x->aux = 0;
        ks_exec_set(x, ~0ull);
    }
    w = waves[0];
    for (unsigned i = 0; i < LDS_BYTES; i++) group.lds[i] = (uint8_t)noise();
    assert_true(ks_lds_shadow_create(&group));
    memset(ks_lds_undefined(&group), 0, LDS_BYTES);
    memset(&group.counters, 0, sizeof(group.counters));
    launch.cost = NULL;
    object.arch = KS_GFX942;
    kilnsim_findings_clear();
}

static inline void operand(ks_operand *o, int reg, ks_spec spec)
{
    *o = (ks_operand){.type = KS_B32, .count = spec.count};
    if (reg >= S) {
        o->where = KS_SGPR;
        o->reg = (uint16_t)(reg - S);
    } else if (reg >= 0) {
        o->where = KS_VGPR;
        o->reg = (uint16_t)reg;
    }
}
/* name, destination, sources: vector registers, S + scalar ones, or ABSENT */
static inline ks_inst make(const char *name, int d, int s0, int s1, int s2, int s3)
{
    ks_inst in = {.op = ks_find_op(name, strlen(name))};
    int s[4] = {s0, s1, s2, s3};
    if (!in.op) fail_msg("no row %s", name);
    in.run = in.op->exec;
    operand(&in.d[0], d, in.op->d[0]);
    for (int i = 0; i < 4; i++) operand(&in.s[i], s[i], in.op->s[i]);
    in.nd = d != ABSENT;
    in.ns = 4;
    in.has_vaddr = s0 != ABSENT;
    in.has_saddr = s1 >= S && in.op->class != KS_BUFFER_OP;
    return in;
}
static inline void run(const ks_inst *in)
{
    w->inst = in;
    in->run(w, in);
}

/* Findings since the last call; the last one. */
static kilnsim_finding last;
static char last_text[512];
static inline void keep(const kilnsim_finding *f, void *user)
{
    ++*(size_t *)user;
    last = *f;
    snprintf(last_text, sizeof(last_text), "%s", f->text);
}
static inline size_t findings(void)
{
    size_t n = 0;
    ks_report_end(&launch);
    kilnsim_findings(keep, &n);
    kilnsim_findings_clear();
    return n;
}
static inline void expect(kilnsim_kind kind, int lane, const char *text)
{
    size_t n = findings();
    if (n != 1 || last.kind != kind || last.lane != lane || !strstr(last_text, text))
        fail_msg("%zu findings, kind %d lane %d \"%s\"; expected kind %d lane %d \"%s\"", n,
                 n ? (int)last.kind : -1, n ? last.lane : -1, n ? last_text : "", (int)kind, lane,
                 text);
}
static inline uint64_t address(const void *p)
{
    return (uint64_t)(uintptr_t)p;
}
static inline void set64(unsigned reg, unsigned lane, uint64_t value)
{
    w->v[reg][lane] = (uint32_t)value;
    w->v[reg + 1][lane] = (uint32_t)(value >> 32);
}
static inline uint64_t get64(unsigned reg, unsigned lane)
{
    return (uint64_t)w->v[reg + 1][lane] << 32 | w->v[reg][lane];
}
#endif
