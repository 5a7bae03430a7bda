// SPDX-License-Identifier: MIT
// The words of one instruction set, HOST_ISA = 512, 256 or 128 (plain C): HOST_(name), a function's attributes, 32-bit
// lanes of a vector.  Whoever includes it undoes them by host_width_end.h.  What is written as one-line asm statements
// (VNNI, conversions) is not among the attributes.
#if HOST_ISA == 512
#define HOST_(name) name##_avx512
#define HOST_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")))
#define HOST_VW     16
#elif HOST_ISA == 256
#define HOST_(name) name##_avx2
#define HOST_TARGET __attribute__((target("avx2,fma,f16c")))
#define HOST_VW     8
#else
#define HOST_(name) name##_plain
#define HOST_TARGET
#define HOST_VW 4
#endif
