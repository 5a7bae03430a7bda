// SPDX-License-Identifier: MIT
// Device code of test_sim_hip.c: written without HIP's headers.
#define KERNEL extern "C" __attribute__((global))
#define DEVICE __attribute__((device))

DEVICE int number = 5;
DEVICE int *managed;

KERNEL void fill(int *p, int n, int value)
{
    const int i = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() +
                  __builtin_amdgcn_workitem_id_x();
    if (i < n) p[i] = value;
}

KERNEL void add_number(int *p)
{
    p[__builtin_amdgcn_workitem_id_x()] += number;
}

KERNEL void bump_managed()
{
    if (__builtin_amdgcn_workitem_id_x() == 0) *managed += 1;
}
