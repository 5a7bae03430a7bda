// SPDX-License-Identifier: MIT
// cost_driver OBJECT KERNEL BLOCKS_X BLOCKS_Y THREADS BYTES NUMBER...: launches a kernel of (in,
// in, out, numbers...) with three buffers of so many bytes, priced; prints what kilnsim_cost_last
// says, a name and a value a line.
#include <stdio.h>
#include <stdlib.h>
#include "kilnsim.h"

typedef void *handle;
int hipInit(unsigned), hipMalloc(void **, size_t), hipFree(void *), hipDeviceSynchronize(void);
int hipMemset(void *, int, size_t), hipModuleLoad(handle *, const char *),
    hipModuleGetFunction(handle *, handle, const char *);
int hipModuleLaunchKernel(handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          unsigned, handle, void **, void **);
enum { NUMBERS = 4, FIRST_NUMBER = 7 };

static void print(const kilnsim_cost *c)
{
    printf("kernel %s\ntarget %s\ngroups %llu\nwaves %llu\n", c->kernel, c->target,
           (unsigned long long)c->groups, (unsigned long long)c->waves);
    for (unsigned i = 0; i < c->class_count; i++)
        printf("count_%s %llu\n", c->class_name[i], (unsigned long long)c->count[i]);
#define NUMBER(member) printf(#member " %llu\n", (unsigned long long)c->member)
    NUMBER(mfma_cycles);
    NUMBER(lds_cycles);
    NUMBER(lds_ideal_cycles);
    NUMBER(segments);
    NUMBER(segments_needed);
    NUMBER(global_bytes);
    NUMBER(groups_per_cu);
    NUMBER(waves_per_simd);
    NUMBER(clock_mhz);
    NUMBER(compute_units);
    printf("modelled_cycles %.0f\nmodelled_matrix_share %.4f\n", c->modelled_cycles,
           c->modelled_matrix_share);
}
int main(int argc, char **argv)
{
    if (argc < FIRST_NUMBER || argc > FIRST_NUMBER + NUMBERS) return 2;
    const unsigned x = (unsigned)atoi(argv[3]), y = (unsigned)atoi(argv[4]),
                   threads = (unsigned)atoi(argv[5]);
    const size_t bytes = (size_t)atoll(argv[6]);
    handle module, function;
    void *buffer[3], *arg[3 + NUMBERS];
    unsigned number[NUMBERS] = {0};
    kilnsim_cost cost = {.struct_size = sizeof(cost)};
    if (kilnsim_cost_last(NULL) || kilnsim_cost_last(&cost)) return 1; /* none yet */
    if (hipInit(0) || hipModuleLoad(&module, argv[1]) ||
        hipModuleGetFunction(&function, module, argv[2]))
        return 1;
    for (int i = 0; i < 3; i++) {
        if (hipMalloc(&buffer[i], bytes) || hipMemset(buffer[i], 0, bytes)) return 1;
        arg[i] = &buffer[i];
    }
    for (int i = 0; i < NUMBERS; i++) {
        if (FIRST_NUMBER + i < argc) number[i] = (unsigned)atoi(argv[FIRST_NUMBER + i]);
        arg[3 + i] = &number[i];
    }
    kilnsim_cost_enable(1);
    if (hipModuleLaunchKernel(function, x, y, 1, threads, 1, 1, 0, NULL, arg, NULL) ||
        hipDeviceSynchronize())
        return 1;
    kilnsim_cost_enable(0);
    if (!kilnsim_cost_last(&cost)) return 1;
    print(&cost);
    for (int i = 0; i < 3; i++)
        if (hipFree(buffer[i])) return 1;
    return 0;
}
