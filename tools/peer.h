// SPDX-License-Identifier: MIT
// Peers: other libraries' implementations of a problem, bound at run time where they are there,
// timed beside Kiln's.
#ifndef KILN_PEER_H
#define KILN_PEER_H
#include "harness.h"

typedef struct kt_entry { /* one row of a comparison */
    kh_runner runner;
    char name[64];  /* "kiln", "openblas", ... */
    char note[128]; /* what it does where that is not the whole op */
    int same;       /* computes all of the op into the sets' E, so that results can be compared */
    void (*close)(struct kt_entry *);
} kt_entry;

typedef struct kt_peer {
    const char *name, *vendor; /* of the devices it runs on */
    /* 0, or why not in `why`.  threads 0: as many as the device has. */
    int (*open)(kh_sets *, int threads, kt_entry *, char *why, size_t size);
} kt_peer;

/* Name, vendor, function. */
#define KT_PEERS(X)                                                                                \
    X("openblas", "host", kt_openblas)                                                             \
    X("memory", "host", kt_memory)                                                                 \
    X("cublaslt", "nvidia", kt_cublaslt)                                                           \
    X("hipblaslt", "amd", kt_hipblaslt)
#define X(name, vendor, open) int open(kh_sets *, int, kt_entry *, char *, size_t);
KT_PEERS(X)
#undef X

/* First of the libraries that can be loaded; NULL at the list's end. */
void *kt_load(const char *const *names, char *why, size_t size);
#endif
