// SPDX-License-Identifier: MIT
// The primitives of one instruction set, HOST_ISA = 512, 256 or 128 (plain C).  host_gemm.h
// includes this once for each.
#if HOST_ISA == 512
#define HOST_(name) name##_avx512
#define HOST_TARGET                                                                                \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma,f16c")))
#define HOST_VW 16
#define HOST_MR 12
#define HOST_NV 2
#elif HOST_ISA == 256
#define HOST_(name) name##_avx2
#define HOST_TARGET __attribute__((target("avx2,fma,f16c")))
#define HOST_VW     8
#define HOST_MR     6
#define HOST_NV     2
#else
#define HOST_(name) name##_plain
#define HOST_TARGET
#define HOST_VW 4
#define HOST_MR 4
#define HOST_NV 2
#endif
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
#if HOST_ISA >= 256
#include "host_run.h"
#include "host_few.h"
#endif

static const host_isa HOST_(isa) = {
    .mr = HOST_MR,
    .nr = HOST_NR,
    .group = HOST_GROUP,
    .pack_y = HOST_(pack_y),
    .task = HOST_(task),
#if HOST_ISA >= 256
    .few_units = HOST_(few_units),
    .few = HOST_(few),
#endif
};

#undef HOST_
#undef HOST_TARGET
#undef HOST_VW
#undef HOST_MR
#undef HOST_NV
#undef HOST_NR
#undef HOST_GROUP
#undef HOST_ISA
