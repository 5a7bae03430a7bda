// SPDX-License-Identifier: MIT
// The primitives of one instruction set, HOST_ISA = 512, 256 or 128 (plain C).  host_gemm.h
// includes this once for each.
#include "host_width.h"
#if HOST_ISA == 512
#define HOST_MR 12
#elif HOST_ISA == 256
#define HOST_MR 6
#else
#define HOST_MR 4
#endif
#define HOST_NV 2
#define HOST_NR (HOST_NV * HOST_VW)
#if HOST_KIND != HOST_KIND_I8
#define HOST_GROUP 1
#elif HOST_ISA == 512
#define HOST_GROUP 4
#else
#define HOST_GROUP 2
#endif

#include "host_vec.h"
#include "host_pack.h"
#include "host_tile.h"
#if HOST_ISA >= 256 && !HOST_PLACED && !HOST_DEEP && !HOST_OUTPUTS
#include "host_run.h"
#include "host_few.h"
#endif

static const host_isa HOST_(isa) = {
    .mr = HOST_MR,
    .nr = HOST_NR,
    .group = HOST_GROUP,
    .pack_y = HOST_(pack_y),
    .task = HOST_(task),
#if HOST_ISA >= 256 && !HOST_PLACED && !HOST_DEEP && !HOST_OUTPUTS
    .few_units = HOST_(few_units),
    .few = HOST_(few),
#endif
};

#undef HOST_MR
#undef HOST_NV
#undef HOST_NR
#undef HOST_GROUP
#include "host_width_end.h"
