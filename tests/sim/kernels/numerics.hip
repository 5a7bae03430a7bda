// SPDX-License-Identifier: MIT
// One kernel for each line of numerics_cases.h: case_LINE.
#include "../numerics_values.h"

#define PASTE2(a, b) a##b
#define PASTE(a, b)  PASTE2(a, b)
#define SIZE         __attribute__((amdgpu_flat_work_group_size(GROUP, GROUP)))
#define KERNEL(R, values, ...)                                                                     \
    extern "C" SIZE __attribute__((global)) void PASTE(case_, __LINE__)(const pools *p, u64 *out)  \
    {                                                                                              \
        const u32 block = __builtin_amdgcn_workgroup_id_x();                                       \
        const u32 t = block * GROUP + __builtin_amdgcn_workitem_id_x();                            \
        values;                                                                                    \
        const R r = __VA_ARGS__;                                                                   \
        u64 bits = 0;                                                                              \
        __builtin_memcpy(&bits, &r, sizeof r);                                                     \
        out[t] = bits;                                                                             \
    }
#define LOAD_A(A)           const A a = p->v_##A[0][t]
#define LOAD_B(B)           const B b = p->v_##B[1][t]
#define LOAD_C(C)           const C c = p->v_##C[2][t]
#define C1(R, A, ...)       KERNEL(R, LOAD_A(A), __VA_ARGS__)
#define C2(R, A, B, ...)    KERNEL(R, LOAD_A(A); LOAD_B(B), __VA_ARGS__)
#define C3(R, A, B, C, ...) KERNEL(R, LOAD_A(A); LOAD_B(B); LOAD_C(C), __VA_ARGS__)
#ifdef __gfx942__
#define G1 C1
#define G2 C2
#else
#define G1(...)
#define G2(...)
#endif
#include "../numerics_cases.h"
