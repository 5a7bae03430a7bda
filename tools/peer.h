// SPDX-License-Identifier: MIT
// Peers: other libraries' implementations of a problem, bound at run time where they are there,
// timed beside Kiln's.
#ifndef KILN_PEER_H
#define KILN_PEER_H
#include "harness.h"

typedef struct kt_entry { /* one row of a comparison */
    kh_runner runner;
    char name[64];  /* "kiln", "openblas", ... */
    char note[400]; /* how it does it, or what it leaves out */
    int whole;      /* does all of the op's work: its time can be compared */
    int same;       /* writes all of it to the sets' outputs: its results can be, too */
    void (*close)(struct kt_entry *);
} kt_entry;

typedef struct kt_peer_options {
    int threads;          /* of host peers; 0: as many as the device has */
    kh_protocol protocol; /* by which the peer chooses among its own ways */
} kt_peer_options;

typedef struct kt_peer {
    const char *name, *vendor; /* of the devices it runs on */
    /* 0, or why not in `why`. */
    int (*open)(kh_sets *, const kt_peer_options *, kt_entry *, char *why, size_t size);
} kt_peer;

/* Name, vendor, function. */
#define KT_PEERS(X)                                                                                \
    X("openblas", "host", kt_openblas)                                                             \
    X("memory", "host", kt_memory)                                                                 \
    X("cublaslt", "nvidia", kt_cublaslt)                                                           \
    X("hipblaslt", "amd", kt_hipblaslt)
#define X(name, vendor, open)                                                                      \
    int open(kh_sets *, const kt_peer_options *, kt_entry *, char *, size_t);
KT_PEERS(X)
#undef X

/* Whether the op is one of matrix products, which these libraries have; else says so. */
int kt_has_products(const kh_sets *, char *why, size_t size);
/* First of the libraries that can be loaded; NULL at the list's end. */
void *kt_load(const char *const *names, char *why, size_t size);
#endif
