// SPDX-License-Identifier: MIT
// MUBUF: accesses through a buffer resource of four SGPRs.
//   word 0, 1[15:0] base; 1[29:16] stride; 1[31] swizzle; word 2 records; word 3[23] the lane is
//   added to the index
//   address = base + soffset + stride * index + offset, offset = vaddr's (offen) + the instruction's
// Ranges ("Range Checking" of AMD's MI200 and CDNA3 ISA documents): with an index and a stride, an
// index from `records` on is out of range; else each word is by itself, at offsets from records -
// soffset on.  Loads give 0 there, stores are dropped.  Swizzle with added lanes is the resource of
// private memory on gfx90a: bytes of the lane's own, where soffset counts for 64 lanes; other
// swizzled resources are unknown here.
#include <string.h>
#include "memory.h"

enum { SWIZZLE = 1u << 31, ADD_TID = 1 << 23, HIP_UNKNOWN = 719 };

typedef struct resource {
    uint64_t base;
    uint32_t stride, records, soffset;
    bool indexed;                   /* the range is one of indices */
    const uint32_t *index, *offset; /* rows, NULL: 0 */
    bool add_tid;
} resource;

static bool defined_resource(ks_access *a, const ks_operand *s)
{
    const ks_wave *w = a->w;
    for (unsigned i = 0; i < 4; i++)
        if (!ks_mem_defined_scalar(a, w->su[s->reg + i], "the buffer resource",
                                   w->s_origin[s->reg + i]))
            return false;
    return true;
}

/* Index, then offset, as the instruction has them. */
static void vector_part(ks_access *a, resource *b)
{
    const ks_inst *in = a->in;
    const uint32_t *u = NULL, *rows = NULL;
    unsigned count = (unsigned)in->idxen + (unsigned)in->offen;
    if (!count) return;
    rows = ks_rows_read(a->w, &in->s[0], 0, &u);
    b->index = in->idxen ? rows : NULL;
    b->offset = in->offen ? rows + (in->idxen ? KS_LANES : 0) : NULL;
    memset(a->at, 0, sizeof(a->at));
    ks_mem_defined_address(a, &in->s[0], u, count);
}

/* Addresses of the word `component`; lanes of which that word is out of range. */
static uint64_t addresses(ks_access *a, const resource *b, unsigned component)
{
    uint64_t limit = b->records > b->soffset ? b->records - b->soffset : 0, out = 0;
    uint64_t fixed = (uint32_t)a->in->offset + component * 4ull;
    for (unsigned l = 0; l < KS_LANES; l++) {
        uint64_t offset = fixed + (b->offset ? b->offset[l] : 0);
        uint64_t index = (uint64_t)(b->index ? b->index[l] : 0) + (b->add_tid ? l : 0);
        out |= (uint64_t)(b->indexed ? index >= b->records : offset + a->bytes > limit) << l;
        a->at[l] = b->base + b->soffset + b->stride * index + offset;
    }
    return out;
}

static void atomic(ks_access *a, const resource *b)
{
    const ks_inst *in = a->in;
    uint64_t out = addresses(a, b, 0) & a->lanes, wanted = a->lanes & ~out;
    a->lanes = wanted;
    ks_access_settle(a);
    if (wanted) ks_mem_atomic(a, &in->s[3]);
    if (!in->sc0) return;
    ks_mem_returned(a, in->s[3].reg, wanted);
    ks_mem_fill(a->w, in->s[3].reg, a->bytes / 4u, out, 0);
}

static void to_lds(ks_access *a, const resource *b)
{
    uint64_t out = addresses(a, b, 0) & a->lanes;
    a->lanes &= ~out;
    ks_access_settle(a);
    ks_mem_to_lds(a, out);
}

/* All of it where no lane is out of range, else word by word. */
static void plain(ks_access *a, const resource *b)
{
    const ks_operand *data = a->flags & KS_F_STORE ? &a->in->s[3] : &a->in->d[0];
    uint64_t wanted = a->lanes;
    if (a->flags & KS_F_STORE) ks_access_data(a, data, 0);
    if (!(addresses(a, b, 0) & wanted)) {
        ks_access_settle(a);
        ks_mem_perform(a, data->reg);
        return;
    }
    /* The first words may land on the registers that hold the addresses. */
    uint32_t offset[KS_LANES], index[KS_LANES];
    resource kept = *b;
    if (b->offset) kept.offset = memcpy(offset, b->offset, sizeof offset);
    if (b->index) kept.index = memcpy(index, b->index, sizeof index);
    const uint32_t *rows = a->rows, *undefined = a->undefined;
    unsigned words = a->bytes < 4 ? 1 : a->bytes / 4;
    a->bytes = a->bytes < 4 ? a->bytes : 4;
    for (unsigned i = 0; i < words; i++) {
        uint64_t out = addresses(a, &kept, i) & wanted;
        a->lanes = wanted & ~out;
        a->rows = rows ? rows + i * KS_LANES : NULL;
        a->undefined = undefined ? undefined + i * KS_LANES : NULL;
        a->reg = data->reg + i;
        ks_access_settle(a);
        if (a->lanes) ks_mem_perform(a, data->reg + i);
        if (a->flags & KS_F_LOAD) ks_mem_fill(a->w, data->reg + i, 1, out, 0);
    }
}

static void private_memory(ks_access *a, const resource *b)
{
    const ks_inst *in = a->in;
    uint32_t fixed = (uint32_t)in->offset + b->soffset / KS_LANES;
    const ks_operand *data = a->flags & KS_F_STORE ? &in->s[3] : &in->d[0];
    a->space = KS_SPACE_SCRATCH;
    for (unsigned l = 0; l < KS_LANES; l++) a->offset[l] = fixed + (b->offset ? b->offset[l] : 0);
    ks_access_settle(a);
    if (a->flags & KS_F_STORE) ks_access_data(a, data, 0);
    ks_mem_perform(a, data->reg);
}

void ks_run_buffer(ks_wave *w, const ks_inst *in)
{
    ks_access a;
    uint64_t su = 0;
    if (!ks_access_begin(&a, w, in)) return;
    const uint32_t *word = &w->s[in->s[1].reg];
    resource b = {.base = (uint64_t)(word[1] & 0xffff) << 32 | word[0],
                  .stride = word[1] >> 16 & 0x3fff,
                  .records = word[2],
                  .add_tid = word[3] & ADD_TID};
    b.soffset = (uint32_t)ks_scalar_read(w, &in->s[2], &su);
    b.indexed = (in->idxen || b.add_tid) && b.stride;
    bool is_private = word[1] & SWIZZLE && b.add_tid;
    if (word[1] & SWIZZLE && !(is_private && !(a.flags & KS_F_ATOMIC) && !in->lds && !in->idxen)) {
        ks_report(w, in, KILNSIM_UNKNOWN, -1, b.base,
                  "a buffer resource with swizzle: use one without");
        ks_stop(w, HIP_UNKNOWN);
        return;
    }
    if (!defined_resource(&a, &in->s[1]) ||
        !ks_mem_defined_scalar(&a, (uint32_t)su, "soffset", KS_NO_ORIGIN))
        a.lanes = 0;
    vector_part(&a, &b);
    bool loads = !in->lds && a.flags & KS_F_LOAD && (in->sc0 || !(a.flags & KS_F_ATOMIC));
    ks_mem_lost(&a, a.flags & KS_F_ATOMIC ? in->s[3].reg : in->d[0].reg, loads);
    if (!a.lanes) return;
    if (is_private)
        private_memory(&a, &b);
    else if (a.flags & KS_F_ATOMIC)
        atomic(&a, &b);
    else if (in->lds)
        to_lds(&a, &b);
    else
        plain(&a, &b);
}

/* buffer_wbl2, buffer_inv, buffer_wbinvl1: the host's caches are coherent. */
void ks_run_cache(ks_wave *w, const ks_inst *in)
{
    (void)in;
    w->aux = 0;
}
