// SPDX-License-Identifier: MIT
// Global wave sync: barriers and semaphores of a whole launch, which cooperative groups'
// grid.sync() is made of (DS_GWS_* of AMD's MI200 and CDNA3 ISA documents).  The runtime sets
// resource 0 up for a barrier of all workgroups.  A launch that uses it runs on one thread: nothing
// is locked here.
#include <string.h>
#include "memory.h"

enum { HIP_FAILURE = 719 };

/* Resource: M0[21:16] + offset0. */
static ks_gws *resource_of(ks_wave *w, const ks_inst *in, uint8_t *index)
{
    ks_access a = {.w = w, .in = in};
    if (!ks_mem_defined_scalar(&a, w->su[KS_M0] & 0x3f0000, "M0", w->s_origin[KS_M0])) return NULL;
    *index = (uint8_t)((w->s[KS_M0] >> 16) + ((uint32_t)in->offset & 0xff)) % KS_GWS_RESOURCES;
    return &w->launch->gws[*index];
}
/* The first active lane's value; false: it is undefined, which is reported. */
static bool value_of(ks_wave *w, const ks_inst *in, uint32_t *value)
{
    const uint32_t *u, *row = ks_rows_read(w, &in->s[0], 0, &u);
    const unsigned lane = ks_exec_of(w) ? ks_first_lane(ks_exec_of(w)) : 0;
    *value = row[lane];
    ks_access a = {.w = w, .in = in};
    return !u ||
           ks_mem_defined_scalar(&a, u[lane], "the count of waves", w->v_origin[in->s[0].reg]);
}
static void wait_at(ks_wave *w, uint8_t resource, bool semaphore, bool flag)
{
    w->state = KS_AT_GWS;
    w->gws.resource = resource;
    w->gws.semaphore = semaphore;
    w->gws.flag = flag;
}
bool ks_gws_ready(ks_wave *w)
{
    ks_gws *g = &w->launch->gws[w->gws.resource];
    if (!w->gws.semaphore) return g->flag != w->gws.flag;
    if (!g->counter) return false;
    g->counter--;
    g->waiting--;
    return true;
}

static void barrier(ks_wave *w, ks_gws *g, uint8_t resource, uint32_t value)
{
    if (g->counter) {
        g->counter--;
        wait_at(w, resource, false, g->flag);
        return;
    }
    g->counter = value;
    g->flag = !g->flag;
}
static void take(ks_wave *w, ks_gws *g, uint8_t resource)
{
    g->waiting++;
    wait_at(w, resource, true, false);
    if (ks_gws_ready(w)) w->state = KS_RUNNING;
}

void ks_run_ds_gws(ks_wave *w, const ks_inst *in)
{
    const ks_gws_op op = (ks_gws_op)((const ks_mem *)in->op->data)->fn;
    uint8_t resource;
    uint32_t value = 0;
    w->aux = 0;
    if (!w->launch->cooperative) {
        ks_report(w, in, KILNSIM_BARRIER, -1, 0,
                  "waits for other workgroups (grid.sync()), but the launch is not cooperative: "
                  "launch it with hipLaunchCooperativeKernel");
        ks_stop(w, HIP_FAILURE);
        return;
    }
    ks_gws *g = resource_of(w, in, &resource);
    if (!g || (in->ns && !value_of(w, in, &value))) {
        ks_stop(w, HIP_FAILURE);
        return;
    }
    switch (op) {
    case KS_GWS_INIT:
        g->counter = value;
        g->flag = false;
        break;
    case KS_GWS_BARRIER:
        barrier(w, g, resource, value);
        break;
    case KS_GWS_SEMA_V:
        g->counter++;
        break;
    case KS_GWS_SEMA_BR:
        g->counter += value;
        break;
    case KS_GWS_SEMA_P:
        take(w, g, resource);
        break;
    case KS_GWS_SEMA_RELEASE_ALL:
        g->counter = g->waiting;
        break;
    }
}
