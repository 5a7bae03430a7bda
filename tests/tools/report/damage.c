// SPDX-License-Identifier: MIT
// Prints what a code object says of a kernel; then reads it damaged in COUNT ways, which sanitizers
// watch.
#include "resources.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned random_below(unsigned *state, size_t n)
{
    *state = *state * 1664525u + 1013904223u;
    return (unsigned)((*state >> 4) % n);
}

int main(int argc, char **argv)
{
    if (argc != 4) return 2;
    FILE *f = fopen(argv[1], "rb");
    static unsigned char data[4 << 20];
    char why[600];
    kt_resources r;
    kt_occupancy o;
    if (!f) return 2;
    const size_t size = fread(data, 1, sizeof data, f);
    fclose(f);
    if (!kt_resources_read(data, size, argv[2], &r, why, sizeof why))
        return fprintf(stderr, "%s\n", why), 1;
    printf("vgpr_count %lld\nsgpr_count %lld\ngroup_segment_fixed_size "
           "%lld\nprivate_segment_fixed_size %lld\n"
           "max_flat_workgroup_size %lld\n",
           r.vgprs, r.sgprs, r.lds, r.scratch, r.threads);
    unsigned state = 1;
    for (int i = 0; i < atoi(argv[3]); i++) {
        const size_t keep = i % 5 ? size : random_below(&state, size);
        unsigned char *copy = malloc(keep + 1);
        memcpy(copy, data, keep);
        for (int n = 0; n < 1 + i % 9 && keep;
             n++) /* every other time near the start, where the structure is */
            copy[random_below(&state, i % 2 || keep < 2048 ? keep : 2048)] =
                (unsigned char)random_below(&state, 256);
        unsigned char *exact = malloc(keep);
        memcpy(exact, copy, keep);
        if (kt_resources_read(exact, keep, argv[2], &r, why, sizeof why))
            kt_occupancy_of("gfx942", &r, r.lds, r.threads, &o);
        free(copy);
        free(exact);
    }
    return 0;
}
