// SPDX-License-Identifier: MIT
// Chunks: a few consecutive elements moved at once, as 1, 2 or 4 words.  kiln_load_b16x4 takes four
// 16-bit elements, kiln_store_b8x4 gives four bytes, and so on.  Both take how many of the elements
// exist (`valid`, may be below 0 or beyond the chunk; the rest load as zero bits and are not
// stored), and whether the address is a multiple of the chunk's bytes.  C++ only.
#ifndef KILN_CHUNK_H
#define KILN_CHUNK_H
#include "kiln_device.h"

// may_alias: the same memory is read as words here and as elements elsewhere.
typedef struct __attribute__((may_alias, aligned(4))) kiln_words1 {
    unsigned v[1];
} kiln_words1;
typedef struct __attribute__((may_alias, aligned(8))) kiln_words2 {
    unsigned v[2];
} kiln_words2;
typedef struct __attribute__((may_alias, aligned(16))) kiln_words4 {
    unsigned v[4];
} kiln_words4;

// Is base, and every row and batch that starts `pitch` and `stride` elements further, a multiple of
// `count` elements?
static KILN_DEVICE bool kiln_aligned(const void *base, long long pitch, long long stride, int bytes,
                                     int count)
{
    unsigned long long all = (unsigned long long)base | (unsigned long long)(pitch * bytes) |
                             (unsigned long long)(stride * bytes);
    return (all & (unsigned long long)(bytes * count - 1)) == 0;
}

#define KILN_CHUNK_LOAD(bits, count, words)                                                        \
    static KILN_DEVICE kiln_words##words kiln_load_b##bits##x##count(const void *from, int valid,  \
                                                                     bool aligned)                 \
    {                                                                                              \
        typedef kiln_uint##bits element;                                                           \
        kiln_words##words w;                                                                       \
        if (aligned && valid >= count) {                                                           \
            w = *(const kiln_words##words *)from;                                                  \
        } else {                                                                                   \
            for (int i = 0; i < words; i++) w.v[i] = 0;                                            \
            for (int i = 0; i < count; i++)                                                        \
                if (i < valid)                                                                     \
                    w.v[i * bits / 32] |= (unsigned)((const element *)from)[i] << i * bits % 32;   \
        }                                                                                          \
        return w;                                                                                  \
    }
#define KILN_CHUNK_STORE(bits, count, words)                                                       \
    static KILN_DEVICE void kiln_store_b##bits##x##count(void *to, kiln_words##words w, int valid, \
                                                         bool aligned)                             \
    {                                                                                              \
        typedef kiln_uint##bits element;                                                           \
        if (aligned && valid >= count) {                                                           \
            *(kiln_words##words *)to = w;                                                          \
        } else {                                                                                   \
            for (int i = 0; i < count; i++)                                                        \
                if (i < valid)                                                                     \
                    ((element *)to)[i] = (element)(w.v[i * bits / 32] >> i * bits % 32);           \
        }                                                                                          \
    }
typedef unsigned char __attribute__((may_alias)) kiln_uint8;
typedef unsigned short __attribute__((may_alias)) kiln_uint16;
typedef unsigned __attribute__((may_alias)) kiln_uint32;

KILN_CHUNK_LOAD(8, 4, 1)
KILN_CHUNK_LOAD(8, 8, 2)
KILN_CHUNK_LOAD(8, 16, 4)
KILN_CHUNK_LOAD(16, 2, 1)
KILN_CHUNK_LOAD(16, 4, 2)
KILN_CHUNK_LOAD(16, 8, 4)
KILN_CHUNK_LOAD(32, 1, 1)
KILN_CHUNK_LOAD(32, 2, 2)
KILN_CHUNK_LOAD(32, 4, 4)
KILN_CHUNK_STORE(8, 4, 1)
KILN_CHUNK_STORE(8, 8, 2)
KILN_CHUNK_STORE(8, 16, 4)
KILN_CHUNK_STORE(16, 4, 2)
KILN_CHUNK_STORE(16, 8, 4)
KILN_CHUNK_STORE(32, 4, 4)
#undef KILN_CHUNK_LOAD

// Elements of 4 bits come in bytes; the half of the last byte that is none of them loads as zero
// bits.
#define KILN_CHUNK_LOAD4(count, bytes, words)                                                      \
    static KILN_DEVICE kiln_words##words kiln_load_b4x##count(const void *from, int valid,         \
                                                              bool aligned)                        \
    {                                                                                              \
        kiln_words##words w = kiln_load_b8x##bytes(from, valid / 2 + valid % 2, aligned);          \
        if (valid < count && valid > 0 && valid % 2)                                               \
            for (int i = 0; i < words; i++)                                                        \
                if (valid / 8 == i) w.v[i] &= ~(15u << valid % 8 * 4);                             \
        return w;                                                                                  \
    }
KILN_CHUNK_LOAD4(8, 4, 1)
KILN_CHUNK_LOAD4(16, 8, 2)
KILN_CHUNK_LOAD4(32, 16, 4)
#undef KILN_CHUNK_LOAD4
#undef KILN_CHUNK_STORE

// The bits of element i of a chunk.
#define KILN_ELEMENT4(w, i)  ((unsigned char)((w).v[(i) / 8] >> (i) % 8 * 4 & 15u))
#define KILN_ELEMENT8(w, i)  ((unsigned char)((w).v[(i) / 4] >> (i) % 4 * 8))
#define KILN_ELEMENT16(w, i) ((unsigned short)((w).v[(i) / 2] >> (i) % 2 * 16))
#define KILN_ELEMENT32(w, i) ((w).v[i])
#endif
