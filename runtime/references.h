// SPDX-License-Identifier: MIT
// The families whose meaning this library knows, in double precision: ref_FAMILY.c defines
// kr_ref_FAMILY.  Texts of ops that nobody knows are read as the first one that can.
#ifndef KILN_REFERENCES_H
#define KILN_REFERENCES_H
#include "internal.h"

#define KR_REFERENCES(X)                                                                           \
    X(gemm)                                                                                        \
    X(rowwise)                                                                                     \
    X(attention)

#define X(name) extern const kr_reference kr_ref_##name;
KR_REFERENCES(X)
#undef X

static const kr_reference *const kr_references[] = {
#define X(name) &kr_ref_##name,
    KR_REFERENCES(X)
#undef X
};
enum { KR_NREFERENCES = sizeof kr_references / sizeof *kr_references };
#endif
