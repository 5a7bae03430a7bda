// SPDX-License-Identifier: MIT
// A GPU driver that executes nothing: NVIDIA's and HIP's entry points record what they are called
// with.  The test finds the record by the symbol `fake_record` of the library that libkiln bound.
#ifndef KILN_FAKE_DRIVER_H
#define KILN_FAKE_DRIVER_H
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { FAKE_LAUNCHES = 64, FAKE_ARGS = 512, FAKE_MAPS = 4 };

typedef struct fake_launch {
    unsigned grid[3], block[3], cluster[3], lds, early;
    void *stream;
    const char *function;
    unsigned char args[FAKE_ARGS]; /* the first parameter: kiln_gemm_args */
    uint64_t map[FAKE_MAPS][16];   /* the second, where maps were encoded */
} fake_launch;

typedef struct fake_map {
    int type, interleave, swizzle, promotion, fill;
    unsigned rank, box[5], step[5];
    void *base;
    uint64_t dim[5], stride[4];
} fake_map;

typedef struct fake_state {
    /* what the test sets */
    int devices, major, minor, units, shared_optin, memory_khz, memory_bits;
    const char *arch[4];       /* AMD: per device */
    const char *fail;          /* entry point (either vendor's name) that fails ... */
    int fail_code, fail_after; /* ... with this code, after so many good calls */
    int old_properties;        /* 1: only hipGetDeviceProperties works */
    int other_capture;         /* 1: a stream of somebody's that waits for the default one is captured */
    int check_maps;            /* 1: launches are not recorded; those whose maps of A and B are not
                                  what their arguments call for are counted */
    /* what it reads */
    atomic_int launches, maps, replaced, wrong_maps, loads, unloads, retained, released, calls;
    fake_launch launch[FAKE_LAUNCHES];
    fake_map map[FAKE_LAUNCHES];
    int capture_mode, worst_mode_at_load; /* mode of the thread when code was loaded */
    int capturing, graph_launches;
    int function_attribute[32];
    void *freed;
    void *current; /* NVIDIA: context; AMD: ordinal */
    int pushes, pops, set_device;
} fake_state;
#endif
