// SPDX-License-Identifier: MIT
// What a compiled kernel needs, read from its code object without a GPU.  Objects may be damaged:
// every offset is checked.
#ifndef KILN_RESOURCES_H
#define KILN_RESOURCES_H
#include "elf_reader.h"

typedef struct kt_resources {
    long long vgprs, agprs, sgprs; /* per thread; NVIDIA's registers are vgprs */
    long long allocated;    /* vector registers the hardware reserves per thread, accumulation
                               registers included */
    long long lds, scratch; /* bytes: of a workgroup, static; of a thread */
    long long vgpr_spills, sgpr_spills;
    long long threads, wave; /* largest workgroup, wave size */
    long long code;          /* bytes of its instructions */
} kt_resources;

/* 1, or 0 and a sentence. */
int kt_resources_read(const void *code, size_t size, const char *symbol, kt_resources *, char *why,
                      size_t why_size);
int kt_resources_amd(const void *code, size_t size, const char *symbol, kt_resources *);
int kt_resources_nvidia(const void *code, size_t size, const char *symbol, kt_resources *);

/* Waves (warps) of workgroups with `threads` threads and `lds` bytes that one SIMD (SM) of the
 * target holds. */
typedef struct kt_occupancy {
    int waves, most;
    const char *limit; /* "registers", "LDS", "waves": what keeps it from being more */
    int wave;          /* threads of one */
} kt_occupancy;
int kt_occupancy_of(const char *target, const kt_resources *, long long lds, long long threads,
                    kt_occupancy *);

/* ---- bounded MessagePack ---- */
typedef enum kt_pack_kind {
    KT_PACK_BAD,
    KT_PACK_OTHER,
    KT_PACK_INT,
    KT_PACK_TEXT,
    KT_PACK_ARRAY,
    KT_PACK_MAP
} kt_pack_kind;
typedef struct kt_pack {
    const uint8_t *at, *end;
} kt_pack;
typedef struct kt_pack_value {
    kt_pack_kind kind;
    long long number; /* of KT_PACK_INT; items of an array, pairs of a map */
    const char *text; /* of KT_PACK_TEXT, `length` bytes */
    size_t length;
} kt_pack_value;
kt_pack_kind kt_pack_next(kt_pack *,
                          kt_pack_value *); /* one value, or the head of an array or a map */
int kt_pack_skip(kt_pack *);                /* one whole value */
#endif
