// SPDX-License-Identifier: MIT
// The structs of three C protocols, as their specifications give them: DLPack
// (https://dmlc.github.io/dlpack), the array interface
// (https://numpy.org/doc/stable/reference/arrays.interface.html), and the buffer protocol, which
// Python's limited API has from 3.11 on alone, with the struct as it was ever since 3.3.
#ifndef KILN_DLPACK_H
#define KILN_DLPACK_H
#include "binding.h"

typedef struct dl_tensor {
    void *data;
    int32_t device, id;
    int32_t ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides; /* strides in elements; NULL: packed, row by row */
    uint64_t byte_offset;
} dl_tensor;

typedef struct dl_managed {
    dl_tensor tensor;
    void *manager;
    void (*deleter)(struct dl_managed *);
} dl_managed;

typedef struct dl_versioned {
    uint32_t major, minor;
    void *manager;
    void (*deleter)(struct dl_versioned *);
    uint64_t flags; /* bit 0: read-only */
    dl_tensor tensor;
} dl_versioned;

/* What a type's __dlpack_c_exchange_api__ holds. */
typedef struct dl_exchange {
    uint32_t major, minor;
    struct dl_exchange *previous;
    int (*allocate)(dl_tensor *, dl_versioned **, void *,
                    void (*)(void *, const char *, const char *));
    int (*managed_from)(void *, dl_versioned **);
    int (*managed_to)(dl_versioned *, void **);
    int (*tensor_from)(void *, dl_tensor *); /* the object keeps what it points to */
    int (*current_stream)(int32_t device, int32_t id, void **);
} dl_exchange;

enum {
    DL_INT,
    DL_UINT,
    DL_FLOAT,
    DL_BFLOAT = 4,
    DL_F8E4M3FN = 10,
    DL_F8E4M3FNUZ,
    DL_F8E5M2,
    DL_F8E5M2FNUZ
};
enum { DL_CPU = 1, DL_CUDA, DL_CUDA_HOST, DL_ROCM = 10, DL_ROCM_HOST, DL_CUDA_MANAGED = 13 };

/* What __array_struct__ points to. */
typedef struct array_struct {
    int two, nd;
    char kind; /* f, i, u, V */
    int itemsize, flags;
    intptr_t *shape, *strides; /* strides in bytes */
    void *data;
} array_struct;
enum { ARRAY_ALIGNED = 0x100, ARRAY_NATIVE = 0x200, ARRAY_WRITEABLE = 0x400 };

#if !defined(Py_LIMITED_API) || Py_LIMITED_API >= 0x030b0000
typedef Py_buffer kp_buffer;
#else
typedef struct kp_buffer {
    void *buf;
    PyObject *obj;
    Py_ssize_t len, itemsize;
    int readonly, ndim;
    char *format;
    Py_ssize_t *shape, *strides, *suboffsets;
    void *internal;
} kp_buffer;
int PyObject_GetBuffer(PyObject *, kp_buffer *, int);
void PyBuffer_Release(kp_buffer *);
enum { PyBUF_STRIDED_RO = 0x18, PyBUF_FORMAT = 4 };
#endif
#endif
