// SPDX-License-Identifier: MIT
// One launch on the simulator, priced, for report --cost and report --trace.
#ifndef KILN_REPORT_COST_H
#define KILN_REPORT_COST_H
#include "command.h"
#include "harness.h"

/* Runs a kernel once on a problem, which is resolved, with inputs from the seed; kt_price_costs
 * then has its launches.  flops: of the problem. */
kiln_status kt_cost_run(kiln_ctx *, const kiln_kernel *, kiln_problem *, uint64_t seed,
                        double *flops);
/* The same on whole tiles of its own; KILN_NOT_SUPPORTED: not legal for those. */
kiln_status kt_cost_run_tiles(kiln_ctx *, const kt_instance *, uint64_t seed, kiln_problem *,
                              double *flops);
#endif
