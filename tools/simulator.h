// SPDX-License-Identifier: MIT
// The simulator that a device may be, and what it says that its launches cost (sim/kilnsim.h).
#ifndef KILN_SIMULATOR_H
#define KILN_SIMULATOR_H
#include "../sim/kilnsim.h"
#include "harness.h"

/* Whether the context's device is libkilnsim, by whatever name it was opened. */
int kt_simulated(kiln_ctx *);
/* Prices what is launched from begin to end; costs calls visit for each launch in order. */
void kt_price_begin(void);
void kt_price_end(void);
size_t kt_price_costs(void (*visit)(const kilnsim_cost *, void *), void *);
/* Timelines of what is priced while they are on, by the place of the launch among the costs; visit
 * may not call back.  The number of events. */
void kt_timelines(int on);
size_t kt_timeline(size_t launch, void (*visit)(const kilnsim_event *, void *), void *user);
/* kh_protocol.price: seconds of one launch of the runner, as modelled: how often its workgroups
 * fill the device, times what a compute unit full of them takes at the peak clock. */
kiln_status kt_price(kh_runner *, double *seconds);
#endif
