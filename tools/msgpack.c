// SPDX-License-Identifier: MIT
// MessagePack, as far as code object metadata uses it; whatever else is valid is skipped.
#include "resources.h"

static uint64_t big_endian(const uint8_t *p, size_t n)
{
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++) v = v << 8 | p[i];
    return v;
}

/* Formats 0xc0 .. 0xdf: bytes of a number or length that follow, what it is, and extra bytes after
 * a length. */
static const struct form {
    uint8_t bytes, kind, extra;
} forms[32] = {
    [0x00] = {0, KT_PACK_OTHER, 0}, [0x02] = {0, KT_PACK_OTHER, 0},
    [0x03] = {0, KT_PACK_OTHER, 0}, /* nil, bool */
    [0x04] = {1, KT_PACK_TEXT, 0},  [0x05] = {2, KT_PACK_TEXT, 0},
    [0x06] = {4, KT_PACK_TEXT, 0}, /* bin */
    [0x07] = {1, KT_PACK_TEXT, 1},  [0x08] = {2, KT_PACK_TEXT, 1},
    [0x09] = {4, KT_PACK_TEXT, 1},                                  /* ext */
    [0x0a] = {4, KT_PACK_OTHER, 0}, [0x0b] = {8, KT_PACK_OTHER, 0}, /* float */
    [0x0c] = {1, KT_PACK_INT, 0},   [0x0d] = {2, KT_PACK_INT, 0},
    [0x0e] = {4, KT_PACK_INT, 0},   [0x0f] = {8, KT_PACK_INT, 0},
    [0x10] = {1, KT_PACK_INT, 1},   [0x11] = {2, KT_PACK_INT, 1}, /* extra: signed */
    [0x12] = {4, KT_PACK_INT, 1},   [0x13] = {8, KT_PACK_INT, 1},
    [0x14] = {0, KT_PACK_TEXT, 2},  [0x15] = {0, KT_PACK_TEXT, 3},
    [0x16] = {0, KT_PACK_TEXT, 5}, /* fixext */
    [0x17] = {0, KT_PACK_TEXT, 9},  [0x18] = {0, KT_PACK_TEXT, 17},
    [0x19] = {1, KT_PACK_TEXT, 0},  [0x1a] = {2, KT_PACK_TEXT, 0},
    [0x1b] = {4, KT_PACK_TEXT, 0}, /* str */
    [0x1c] = {2, KT_PACK_ARRAY, 0}, [0x1d] = {4, KT_PACK_ARRAY, 0},
    [0x1e] = {2, KT_PACK_MAP, 0},   [0x1f] = {4, KT_PACK_MAP, 0},
};

static kt_pack_kind take_text(kt_pack *p, kt_pack_value *v, uint64_t length)
{
    if (length > (uint64_t)(p->end - p->at)) return KT_PACK_BAD;
    v->text = (const char *)p->at;
    v->length = (size_t)length;
    p->at += length;
    return KT_PACK_TEXT;
}

static long long sign_extend(uint64_t v, size_t bytes)
{
    const unsigned shift = (unsigned)(64 - 8 * bytes);
    return (long long)(v << shift) >> shift;
}

static kt_pack_kind next(kt_pack *p, kt_pack_value *v)
{
    if (p->at >= p->end) return KT_PACK_BAD;
    const uint8_t b = *p->at++;
    if (b < 0x80 || b >= 0xe0) return v->number = (int8_t)b, KT_PACK_INT;
    if (b < 0x90) return v->number = b & 0x0f, KT_PACK_MAP;
    if (b < 0xa0) return v->number = b & 0x0f, KT_PACK_ARRAY;
    if (b < 0xc0) return take_text(p, v, b & 0x1f);
    const struct form f = forms[b & 0x1f];
    if (f.bytes > p->end - p->at) return KT_PACK_BAD;
    const uint64_t n = big_endian(p->at, f.bytes);
    p->at += f.bytes;
    switch ((kt_pack_kind)f.kind) {
    case KT_PACK_TEXT:
        return take_text(p, v, n + f.extra);
    case KT_PACK_INT:
        v->number = f.extra ? sign_extend(n, f.bytes) : (long long)n;
        break;
    case KT_PACK_ARRAY:
    case KT_PACK_MAP:
        v->number = (long long)n;
        break;
    case KT_PACK_OTHER:
    case KT_PACK_BAD:
        break;
    }
    return (kt_pack_kind)f.kind;
}

kt_pack_kind kt_pack_next(kt_pack *p, kt_pack_value *v)
{
    *v = (kt_pack_value){0};
    return v->kind = next(p, v);
}

int kt_pack_skip(kt_pack *p)
{
    /* Each value takes a byte at least, so that a lying count ends at the end of the data. */
    kt_pack_value v;
    for (uint64_t left = 1; left; left--) {
        switch (kt_pack_next(p, &v)) {
        case KT_PACK_BAD:
            return 0;
        case KT_PACK_ARRAY:
            left += (uint64_t)v.number;
            break;
        case KT_PACK_MAP:
            left += 2 * (uint64_t)v.number;
            break;
        case KT_PACK_OTHER:
        case KT_PACK_INT:
        case KT_PACK_TEXT:
            break;
        }
    }
    return 1;
}
