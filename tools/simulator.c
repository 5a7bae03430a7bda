// SPDX-License-Identifier: MIT
// The simulator that the device has loaded is asked through entry points of its own.
#include "simulator.h"
#include <dlfcn.h>
#include <math.h>
#include <string.h>

static struct {
    void (*enable)(int);
    size_t (*costs)(void (*)(const kilnsim_cost *, void *), void *);
    void (*keep)(int);
    size_t (*timeline)(size_t, void (*)(const kilnsim_event *, void *), void *);
} sim;

int kt_simulated(kiln_ctx *ctx)
{
    kiln_device_info d = {.struct_size = sizeof d};
    if (kiln_device_describe(ctx, &d) || strcmp(d.vendor, "amd")) return 0;
    void *dl = dlopen("libkilnsim.so", RTLD_LAZY | RTLD_NOLOAD);
    void *enable = dl ? dlsym(dl, "kilnsim_cost_enable") : NULL;
    void *costs = dl ? dlsym(dl, "kilnsim_costs") : NULL;
    void *keep = dl ? dlsym(dl, "kilnsim_timeline_enable") : NULL;
    void *timeline = dl ? dlsym(dl, "kilnsim_timeline") : NULL;
    memcpy(&sim.enable, &enable, sizeof enable);
    memcpy(&sim.costs, &costs, sizeof costs);
    memcpy(&sim.keep, &keep, sizeof keep);
    memcpy(&sim.timeline, &timeline, sizeof timeline);
    return enable && costs && keep && timeline;
}

void kt_price_begin(void)
{
    sim.enable(1); /* forgets what came before */
}

void kt_price_end(void)
{
    sim.enable(0);
}

size_t kt_price_costs(void (*visit)(const kilnsim_cost *, void *), void *user)
{
    return sim.costs(visit, user);
}

void kt_timelines(int on)
{
    sim.keep(on);
}

size_t kt_timeline(size_t launch, void (*visit)(const kilnsim_event *, void *), void *user)
{
    return sim.timeline(launch, visit, user);
}

static void add_seconds(const kilnsim_cost *c, void *user)
{
    double *seconds = user;
    const double at_once = (double)c->groups_per_cu * (double)c->compute_units;
    const double fillings = at_once > 0 ? ceil((double)c->groups / at_once) : 1;
    if (c->clock_mhz) *seconds += fillings * c->modelled_cycles / (1e6 * (double)c->clock_mhz);
}

kiln_status kt_price(kh_runner *r, double *seconds)
{
    kt_price_begin();
    kiln_status status = r->launch(r, 0, NULL);
    if (!status) status = kiln_synchronize(kh_sets_ctx(r->sets), NULL);
    kt_price_end();
    *seconds = 0;
    if (!status) kt_price_costs(add_seconds, seconds);
    return status;
}
