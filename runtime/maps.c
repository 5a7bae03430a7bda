// SPDX-License-Identifier: MIT
// Tensor maps of a launch.  An encoding depends on type, box, sizes and strides, which one problem
// after the other repeats, and on the address: encodings are kept in a table of fixed size by all
// but the address, which the driver replaces in a copy where it is another one.
//
// The table takes no lock and no memory on the launch path.  A slot's words are atomic and framed
// by a count that is odd while they are written: a reader that sees it change, and a writer that
// finds it odd, do without the slot.
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "driver.h"

enum { WAYS = 2, KEY_WORDS = 7, NO_INTERLEAVE = 0, FILL_ZERO = 0, INVALID_VALUE = 1 };

/* All that an encoding depends on. */
typedef struct map_key {
    uint64_t word[KEY_WORDS]; /* form, sizes, batches, strides; of planes and panels more */
    uint64_t base;
} map_key;

typedef struct slot {
    _Alignas(64) _Atomic uint64_t count; /* 0: never written */
    _Atomic uint64_t key[KEY_WORDS], base, map[KR_MAP_WORDS];
} slot;

struct kr_maps {
    size_t sets; /* of WAYS slots each */
    slot slot[];
};

kr_maps *kr_maps_new(size_t sets)
{
    const size_t size = sizeof(kr_maps) + sets * WAYS * sizeof(slot);
    kr_maps *m = aligned_alloc(_Alignof(kr_maps), size);
    if (!m) return NULL;
    memset(m, 0, size);
    m->sets = sets;
    return m;
}

void kr_maps_free(kr_maps *m)
{
    free(m);
}

/* ---- what is encoded ---- */

static unsigned map_type(kiln_dtype t) /* CUtensorMapDataType */
{
    switch (t) {
    case KILN_F32:
        return 7;
    case KILN_F16:
        return 6;
    case KILN_BF16:
        return 9;
    case KILN_I32:
        return 3;
    case KILN_I8: /* by bytes */
    case KILN_U8:
    case KILN_F8E4M3:
    case KILN_F8E5M2:
    case KILN_F8E4M3FNUZ:
    case KILN_F8E5M2FNUZ:
    case KILN_I4:
    case KILN_U4:
    case KILN_DTYPE_NONE:
    case KILN_DTYPE_COUNT:
        break;
    }
    return 0;
}

/* Elements of a panel, where a box has more to a line than is swizzled; 0: the box is one. */
static uint64_t panel_of(const kiln_map *m, const kr_operand *o)
{
    const uint64_t elements = m->swizzle * 8u / (kiln_per_byte(o->type) > 1 ? 8 : o->bits);
    return m->swizzle && m->box_inner / (uint64_t)kiln_per_byte(o->type) > elements ? elements : 0;
}

/* 256 bytes where lines begin at multiples of 128; elsewhere what is asked for already lies in two
 * pieces of memory, and what is fetched around them is in the way: up to 15 % of a product's time.
 */
static uint64_t promotion(const kiln_map *m, uint64_t pitch, const void *at)
{
    enum { BY_128 = 2, LINE = 128 };
    return m->promote > BY_128 && (pitch | (uintptr_t)at) % LINE ? BY_128 : m->promote;
}

/* ORDER MAP KEY: encode() takes these apart again.  Rows and columns are below 2^31. */
static map_key make_key(const kiln_map *m, const kr_operand *o, const void *at)
{
    const uint64_t lines = (uint64_t)o->outer, rest = lines % m->box_outer;
    const bool less = m->clip == KILN_CLIP_REST ? rest > 0 : m->clip && lines < m->box_outer;
    const uint64_t outer = less ? rest : m->box_outer;
    const uint64_t swizzle = m->swizzle == 128 ? 3 : m->swizzle / 32;
    const uint64_t pitch = (uint64_t)kr_span(o, o->ld);
    const uint64_t per_byte = (uint64_t)kiln_per_byte(o->type);
    const uint64_t inner = ((uint64_t)o->inner + per_byte - 1) / per_byte;
    /* An operand that all batches share has one: the kernel reads coordinate 0. */
    const uint64_t batches = o->stride ? (uint64_t)o->batches : 1;
    map_key k = {{map_type(o->type) | swizzle << 8 | promotion(m, pitch, at) << 16 |
                      m->box_inner / per_byte << 32 | outer << 48,
                  inner | (uint64_t)o->outer << 32, batches, pitch,
                  batches > 1 ? (uint64_t)kr_span(o, o->stride) : pitch * (uint64_t)o->outer, 0,
                  panel_of(m, o) << 48},
                 (uintptr_t)at};
    if (m->box_planes == 0) return k;
    const uint64_t planes = o->plane ? (uint64_t)o->planes : 1;
    k.word[5] = planes > 1 ? (uint64_t)kr_span(o, o->plane) : k.word[4];
    k.word[6] |= planes | (uint64_t)m->box_planes << 32;
    return k;
}

typedef struct dimensions {
    uint64_t size[5], stride[5]; /* bytes; of the first it is an element's */
    u32 box[5], rank;
} dimensions;

static void add_dimension(dimensions *d, uint64_t size, uint64_t stride, uint64_t box)
{
    d->size[d->rank] = size;
    d->stride[d->rank] = stride;
    d->box[d->rank++] = (u32)box;
}

static int encode(const kr_driver *d, const map_key *k, uint64_t *out)
{
    static const u32 step[5] = {1, 1, 1, 1, 1};
    const uint64_t form = k->word[0], inner = k->word[1] & UINT32_MAX, panel = k->word[6] >> 48,
                   box = form >> 32 & UINT16_MAX, planes = k->word[6] >> 32 & UINT16_MAX;
    const int swizzle = (int)(form >> 8 & 0xff);
    dimensions all = {.rank = 0};
    if (panel && inner % panel) return INVALID_VALUE; /* the last one would not be the operand's */
    add_dimension(&all, panel ? panel : inner, 0, panel ? panel : box);
    add_dimension(&all, k->word[1] >> 32, k->word[3], form >> 48);
    if (panel) add_dimension(&all, inner / panel, 16u << swizzle, box / panel);
    if (planes) add_dimension(&all, k->word[6] & UINT32_MAX, k->word[5], planes);
    add_dimension(&all, k->word[2], k->word[4], 1);
    return d->encode_map(out, (int)(form & 0xff), all.rank, (void *)(uintptr_t)k->base, all.size,
                         all.stride + 1, all.box, step, NO_INTERLEAVE, swizzle,
                         (int)(form >> 16 & 0xff), FILL_ZERO);
}

/* ---- the table; loops are unrolled where a launch comes by with each of its maps ---- */

static slot *first_way(kr_maps *maps, const map_key *k)
{
    static const uint64_t odd[KEY_WORDS] = {
        0x9e3779b97f4a7c15u, 0xc2b2ae3d27d4eb4fu, 0x165667b19e3779f9u, 0xd6e8feb86659fd93u,
        0xff51afd7ed558ccdu, 0xc4ceb9fe1a85ec53u, 0x94d049bb133111ebu};
    uint64_t h = 0;
#pragma GCC unroll 16
    for (int i = 0; i < KEY_WORDS; i++) h += (k->word[i] ^ k->word[i] >> 29) * odd[i];
    return &maps->slot[((h >> 32) * maps->sets >> 32) * WAYS];
}

/* A whole copy of the slot's map, where it is the key's and nobody writes it meanwhile.  Loads that
 * acquire stay in order: the count is read again last. */
static bool read_slot(slot *s, const map_key *k, uint64_t *base, uint64_t *out)
{
    const uint64_t count = atomic_load_explicit(&s->count, memory_order_acquire);
    if (count == 0 || count & 1) return false;
#pragma GCC unroll 16
    for (int i = 0; i < KEY_WORDS; i++)
        if (atomic_load_explicit(&s->key[i], memory_order_acquire) != k->word[i]) return false;
    *base = atomic_load_explicit(&s->base, memory_order_acquire);
#pragma GCC unroll 16
    for (int i = 0; i < KR_MAP_WORDS; i++)
        out[i] = atomic_load_explicit(&s->map[i], memory_order_acquire);
    return atomic_load_explicit(&s->count, memory_order_relaxed) == count;
}

/* Stores that release stay behind the count made odd. */
static void write_slot(slot *s, const map_key *k, const uint64_t *map)
{
    uint64_t count = atomic_load_explicit(&s->count, memory_order_relaxed);
    if (count & 1 || !atomic_compare_exchange_strong_explicit(
                         &s->count, &count, count + 1, memory_order_acquire, memory_order_relaxed))
        return;
    for (int i = 0; i < KEY_WORDS; i++)
        atomic_store_explicit(&s->key[i], k->word[i], memory_order_release);
    atomic_store_explicit(&s->base, k->base, memory_order_release);
    for (int i = 0; i < KR_MAP_WORDS; i++)
        atomic_store_explicit(&s->map[i], map[i], memory_order_release);
    atomic_store_explicit(&s->count, count + 2, memory_order_release);
}

/* The way that has the key (*found), else the one that was written less often. */
static slot *look_up(kr_maps *maps, const map_key *k, bool *found, uint64_t *base, uint64_t *out)
{
    slot *const way = first_way(maps, k);
    for (int i = 0; i < WAYS; i++)
        if ((*found = read_slot(&way[i], k, base, out))) return &way[i];
    return atomic_load_explicit(&way[0].count, memory_order_relaxed) <=
                   atomic_load_explicit(&way[1].count, memory_order_relaxed)
               ? &way[0]
               : &way[1];
}

int kr_map_make(const kr_driver *d, kr_maps *maps, const kr_launch *l, const kiln_map *m,
                uint64_t out[KR_MAP_WORDS])
{
    const kr_operand *o = &l->view->t[m->operand];
    const void *at = l->given->tensor[l->kernel->op->tensor[m->operand].arg];
    /* K = 0: the kernel reads nothing of it; or it goes without a map. */
    if (!at || o->bytes == 0 ||
        (m->optional && !kr_map_takes(&l->kernel->op->tensor[m->operand], o))) {
        memset(out, 0, KR_MAP_WORDS * sizeof *out);
        return 0;
    }
    const map_key k = make_key(m, o, at);
    bool found;
    uint64_t base;
    slot *const s = look_up(maps, &k, &found, &base, out);
    if (found && base == k.base) return 0;
    if (found && d->replace_address) return d->replace_address(out, (void *)(uintptr_t)k.base);
    const int code = encode(d, &k, out);
    if (code == 0) write_slot(s, &k, out);
    return code;
}
