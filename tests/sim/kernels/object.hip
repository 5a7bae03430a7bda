// SPDX-License-Identifier: MIT
// Kernels for the loader's test: which of them make the order of workgroups visible, a variable that needs a
// relocation, a store whose line is known.
#define DEVICE __attribute__((device))
#define GLOBAL extern "C" __attribute__((global))
extern "C" DEVICE int target[4] = {1, 2, 3, 4};
extern "C" DEVICE int *pointer = target + 2;

GLOBAL void plain(float *out)
{
    out[__builtin_amdgcn_workitem_id_x()] = 1.0f;
}
GLOBAL void counts(int *out)
{
    __hip_atomic_fetch_add(out, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
GLOBAL void takes_numbers(int *next, int *out)
{
    out[__builtin_amdgcn_workgroup_id_x()] = __hip_atomic_fetch_add(next, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
GLOBAL void adds_floats(float *sum, float x)
{
    __hip_atomic_compare_exchange_strong(sum, &x, x + 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
GLOBAL void waits_for_flag(int *flag, int *out)
{
    while (!__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT)) {
    }
    *out = 1;
}
/* Calls through a pointer: what is called may be anything in the object. */
extern "C" DEVICE int (*chosen)(int) = nullptr;
GLOBAL void calls(int *out)
{
    *out = chosen(*out);
}
GLOBAL void marks(int *out, int x)
{
    if (x > 3)
        out[7] = x; /* marked */
}
