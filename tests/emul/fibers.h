// SPDX-License-Identifier: MIT
// Runs a kernel's blocks one after the other, each block's threads as fibers that change at
// barriers.
#ifndef KILN_FIBERS_H
#define KILN_FIBERS_H
#include <stdbool.h>
#include "kiln_args.h"
#include "kiln_emulate.h"

typedef void kiln_kernel_fn(kiln_gemm_args);

/* backwards: threads run in descending order, which shows what only worked by the order.  False:
 * not every thread of a block came to the same barriers. */
bool fibers_run(kiln_kernel_fn *, const kiln_gemm_args *, const unsigned blocks[3],
                unsigned threads, bool backwards);
void fibers_free(void);
#endif
