// SPDX-License-Identifier: MIT
// What an access may touch: bounds of allocations, of the workgroup's LDS and of a lane's private
// memory; freed memory; alignment; defined addresses and data.  A lane that fails is reported and
// left out.
//
// Alignment.  The HSA runtime sets the unaligned access mode, and LLVM uses it: of aligned C++
// (four neighbouring bytes or halves whose alignment is only their own) clang makes
// global_load_dword, ds_read_b64, ds_read_b128 and, on gfx942, scratch_store_dwordx2 at any
// address.  So plain accesses may stand anywhere.  What needs its alignment: atomics (all of the
// word; there the hardware faults), and gfx90a's private memory, where words of 4 bytes are
// interleaved by lane and LLVM never makes an access that could cross one.
// KILN_SIM=alignment=strict asks for what hand-written vector accesses are meant to have: 2 bytes
// for 2, 4 for wider ones, and in LDS all of 8 or 16 (LLVM splits known smaller alignments there
// itself).
#include <stdio.h>
#include <string.h>
#include "memory.h"
#include "replay.h"

typedef struct failure { /* of one kind in one instruction: the first lane and how many there are */
    unsigned count, lane;
} failure;

static void failed(failure *f, unsigned lane)
{
    if (!f->count++) f->lane = lane;
}

/* ", and N more lanes" */
static const char *others(const failure *f, char *out, size_t size)
{
    out[0] = 0;
    if (f->count > 1)
        snprintf(out, size, ", and %u more lane%s", f->count - 1, f->count > 2 ? "s" : "");
    return out;
}

static const char *verb(const ks_access *a)
{
    return a->flags & KS_F_ATOMIC ? "atomic" : a->flags & KS_F_STORE ? "store" : "load";
}

/* Arguments for "%llu byte%s". */
#define BYTES(n) (unsigned long long)(n), (n) == 1 ? "" : "s"

static unsigned alignment(const ks_access *a)
{
    unsigned word = a->bytes < 4 ? a->bytes : 4;
    if (a->flags & KS_F_ATOMIC) return a->bytes;
    if (a->space == KS_SPACE_SCRATCH && a->in->op->class == KS_BUFFER_OP) return word;
    if (!ks_options_get()->strict_alignment) return 1;
    return a->space != KS_SPACE_LDS ? word : a->bytes == 12 ? 16 : a->bytes;
}

static void report_alignment(ks_access *a, const failure *f, uint64_t address, unsigned needed)
{
    static const char *const where[] = {"", " in LDS", " in private memory"};
    char more[40];
    ks_report(a->w, a->in, KILNSIM_MISALIGNED, (int)f->lane, address,
              "%s of %llu byte%s at 0x%llx%s is not aligned to %u%s: align the address", verb(a),
              BYTES(a->bytes), (unsigned long long)address, where[a->space], needed,
              others(f, more, sizeof(more)));
}

/* ---- Global memory ---- */
/* Where the bytes lie in words: "12 bytes past the end of allocation 3 (4096 bytes)". */
static void describe(uint64_t address, unsigned bytes, const ks_range *r, char *out, size_t size)
{
    static const char *const kinds[] = {"allocation", "host allocation",  "managed allocation",
                                        "code image", "kernel arguments", "kernels' heap"};
    char name[64];
    snprintf(name, sizeof(name), "%s %u (%llu byte%s)", kinds[r->kind], r->id,
             BYTES(r->end - r->begin));
    if (r->begin == r->end)
        snprintf(out, size, "there is no allocation");
    else if (address + bytes <= r->begin)
        snprintf(out, size, "%llu byte%s before %s", BYTES(r->begin - address), name);
    else if (address < r->begin)
        snprintf(out, size, "its first %llu byte%s before %s", BYTES(r->begin - address), name);
    else if (address == r->end)
        snprintf(out, size, "just past the end of %s", name);
    else if (address > r->end)
        snprintf(out, size, "%llu byte%s past the end of %s", BYTES(address - r->end), name);
    else
        snprintf(out, size, "its last %llu byte%s past the end of %s",
                 BYTES(address + bytes - r->end), name);
}

static void report_bounds(ks_access *a, const failure *f)
{
    uint64_t address = a->at[f->lane];
    char where[160], more[40];
    ks_range r = {0};
    ks_find_range(address, &r);
    describe(address, a->bytes, &r, where, sizeof(where));
    ks_report(a->w, a->in, KILNSIM_BOUNDS, (int)f->lane, address,
              "%s of %llu byte%s at 0x%llx: %s%s: %s", verb(a), BYTES(a->bytes),
              (unsigned long long)address, where, others(f, more, sizeof(more)),
              ks_remedy(a->w->launch, address, "check the index"));
}

static void report_freed(ks_access *a, const failure *f)
{
    uint64_t address = a->at[f->lane];
    char more[40];
    ks_range r = {0};
    ks_find_range(address, &r);
    ks_report(a->w, a->in, KILNSIM_FREED, (int)f->lane, address,
              "%s of %llu byte%s at 0x%llx: byte %llu of allocation %u (%llu byte%s), which was "
              "freed%s: free it later",
              verb(a), BYTES(a->bytes), (unsigned long long)address,
              (unsigned long long)(address - r.begin), r.id, BYTES(r.end - r.begin),
              others(f, more, sizeof(more)));
}

static void global_lanes(ks_access *a, unsigned align)
{
    failure bounds = {0}, freed = {0}, crooked = {0};
    KS_EACH_LANE (l, a->lanes) {
        ks_range r;
        uint64_t at = a->at[l];
        if (!ks_find_range(at, &r) || r.end - at < a->bytes)
            failed(&bounds, l);
        else if (r.freed)
            failed(&freed, l);
        else if (at & (align - 1))
            failed(&crooked, l);
        else
            continue;
        a->lanes &= ~(1ull << l);
    }
    if (bounds.count) report_bounds(a, &bounds);
    if (freed.count) report_freed(a, &freed);
    if (crooked.count) report_alignment(a, &crooked, a->at[crooked.lane], align);
}

static void place_global(ks_access *a)
{
    unsigned align = alignment(a);
    ks_range r;
    a->shadow = 0;
    a->many = false;
    if (ks_find_range(a->at[0], &r) && !r.freed && r.end - r.begin >= a->bytes) {
        uint64_t last = r.end - r.begin - a->bytes, bits = 0;
        bool out = false;
        for (unsigned l = 0; l < KS_LANES; l++) {
            out |= a->at[l] - r.begin > last;
            bits |= a->at[l];
        }
        a->shadow = r.shadow;
        if (!out && !(bits & (align - 1))) return;
    }
    global_lanes(a, align);
    ks_access_settle(a);
    a->many = ks_options_get()->unwritten;
}

void ks_mem_parts(ks_access *a, ks_move *move, void *user)
{
    if (!a->many) {
        move(a, user);
        return;
    }
    const uint64_t lanes = a->lanes;
    uint64_t at[KS_LANES], left = lanes;
    memcpy(at, a->at, sizeof(at));
    while (left) {
        ks_range r;
        ks_find_range(at[ks_first_lane(left)], &r);
        memcpy(a->at, at, sizeof(at));
        a->lanes = 0;
        KS_EACH_LANE(l, left)
        {
            if (at[l] - r.begin < r.end - r.begin) a->lanes |= 1ull << l;
        }
        a->shadow = r.shadow;
        left &= ~a->lanes;
        ks_access_settle(a);
        move(a, user);
    }
    a->lanes = lanes;
}

/* ---- LDS and private memory ---- */
static void report_near(ks_access *a, const failure *f, uint32_t limit)
{
    char more[40];
    uint32_t offset = a->offset[f->lane];
    others(f, more, sizeof(more));
    if (a->space == KS_SPACE_LDS)
        ks_report(a->w, a->in, KILNSIM_LDS_BOUNDS, (int)f->lane, offset,
                  "%s of %llu byte%s at LDS byte %u (0x%x): the workgroup has %llu byte%s%s: check "
                  "the index or the launch's dynamic LDS",
                  verb(a), BYTES(a->bytes), offset, offset, BYTES(limit), more);
    else
        ks_report(a->w, a->in, KILNSIM_SCRATCH_BOUNDS, (int)f->lane, offset,
                  "%s of %llu byte%s at byte %u (0x%x) of private memory: a lane has %llu "
                  "byte%s%s: check the index of a local array",
                  verb(a), BYTES(a->bytes), offset, offset, BYTES(limit), more);
}

static void near_lanes(ks_access *a, uint32_t limit, unsigned align)
{
    failure bounds = {0}, crooked = {0};
    KS_EACH_LANE (l, a->lanes) {
        if ((uint64_t)a->offset[l] + a->bytes > limit)
            failed(&bounds, l);
        else if (a->offset[l] & (align - 1))
            failed(&crooked, l);
        else
            continue;
        a->lanes &= ~(1ull << l);
    }
    if (bounds.count) report_near(a, &bounds, limit);
    if (crooked.count) report_alignment(a, &crooked, a->offset[crooked.lane], align);
}

static void check_near(ks_access *a, uint32_t limit)
{
    unsigned align = alignment(a);
    uint32_t out = limit < a->bytes, bits = 0, last = limit - a->bytes;
    for (unsigned l = 0; l < KS_LANES; l++) {
        out |= a->offset[l] > last;
        bits |= a->offset[l];
    }
    if (!out && !(bits & (align - 1))) return;
    near_lanes(a, limit, align);
    ks_access_settle(a);
}

static void place_lds(ks_access *a)
{
    ks_group *g = a->w->group;
    check_near(a, a->w->launch->lds);
    if (!a->lanes) return;
    ks_lds_access lds = {.address = a->offset,
                         .bytes = a->bytes,
                         .lanes = a->lanes,
                         .write = a->flags & KS_F_STORE,
                         .atomic = a->flags & KS_F_ATOMIC,
                         .by_vm = a->by_vm,
                         .data = a->rows};
    ks_lds_check(a->w, a->in, &lds);
    uint64_t base = (uint64_t)(uintptr_t)g->lds;
    for (unsigned l = 0; l < KS_LANES; l++) a->at[l] = base + a->offset[l];
    uint8_t *undefined = ks_lds_undefined(g);
    a->shadow = undefined ? (intptr_t)undefined - (intptr_t)g->lds : 0;
}

static void place_scratch(ks_access *a)
{
    ks_wave *w = a->w;
    uint32_t each = w->launch->scratch;
    check_near(a, w->scratch ? each : 0);
    for (unsigned l = 0; l < KS_LANES; l++)
        a->at[l] = (uint64_t)(uintptr_t)w->scratch + (uint64_t)l * each + a->offset[l];
    /* a lane that is not done has a done one's offset, but its own memory: reading there is
     * harmless */
    a->shadow = w->scratch_undefined ? (intptr_t)w->scratch_undefined - (intptr_t)w->scratch : 0;
}

void ks_mem_place(ks_access *a)
{
    switch (a->space) {
    case KS_SPACE_GLOBAL:
        place_global(a);
        break;
    case KS_SPACE_LDS:
        place_lds(a);
        break;
    case KS_SPACE_SCRATCH:
        place_scratch(a);
        break;
    }
}

/* ---- Undefined bits ---- */
void ks_mem_origin(const ks_wave *w, uint32_t origin, char *out, size_t size)
{
    char line[256] = "";
    if (origin == KS_NO_ORIGIN) {
        snprintf(out, size, "nothing has written it");
        return;
    }
    ks_object_line(w->launch->object, origin, line, sizeof(line));
    snprintf(out, size, "from the instruction at pc 0x%x%s%s", origin, line[0] ? ", " : "", line);
}

static void register_text(const ks_operand *o, unsigned row, char *out, size_t size)
{
    unsigned reg = o->reg + row;
    if (o->where == KS_VGPR)
        snprintf(out, size, "%c%u", reg < KS_ACC ? 'v' : 'a', reg % KS_ACC);
    else
        snprintf(out, size, "s%u", reg);
}

void ks_mem_defined_address(ks_access *a, const ks_operand *o, const uint32_t *undefined,
                            unsigned count)
{
    if (!undefined) return;
    failure f = {0};
    unsigned row = 0;
    uint32_t bits = 0;
    KS_EACH_LANE (l, a->lanes) {
        for (unsigned r = 0; r < count; r++)
            if (undefined[r * KS_LANES + l]) {
                if (!f.count) {
                    row = r;
                    bits = undefined[r * KS_LANES + l];
                }
                failed(&f, l);
                a->lanes &= ~(1ull << l);
                break;
            }
    }
    if (!f.count) return;
    const uint32_t from = o->where == KS_VGPR ? a->w->v_origin[o->reg + row] : KS_NO_ORIGIN;
    if (ks_replay_used(a->w, from)) {
        ks_access_settle(a);
        return;
    }
    char name[16], origin[320], more[40];
    register_text(o, row, name, sizeof(name));
    ks_mem_origin(a->w, from, origin, sizeof(origin));
    ks_report(a->w, a->in, KILNSIM_UNDEFINED, (int)f.lane, 0,
              "address in %s has undefined bits (0x%x), %s%s: write it before use", name, bits,
              origin, others(&f, more, sizeof(more)));
    ks_access_settle(a);
}

bool ks_mem_defined_scalar(ks_access *a, uint64_t undefined, const char *what, uint32_t origin)
{
    if (!undefined || !a->w->undefined_checked) return true;
    if (ks_replay_used(a->w, origin)) return false;
    char text[320];
    ks_mem_origin(a->w, origin, text, sizeof(text));
    ks_report(a->w, a->in, KILNSIM_UNDEFINED, -1, 0,
              "%s has undefined bits (0x%llx), %s: write it before use", what,
              (unsigned long long)undefined, text);
    return false;
}

void ks_mem_defined_data(const ks_access *a)
{
    unsigned words = a->bytes < 4 ? 1 : a->bytes / 4;
    failure f = {0};
    unsigned row = 0;
    uint32_t bits = 0;
    KS_EACH_LANE (l, a->lanes) {
        for (unsigned r = 0; r < words; r++)
            if (a->undefined[r * KS_LANES + l]) {
                if (!f.count) {
                    row = r;
                    bits = a->undefined[r * KS_LANES + l];
                }
                failed(&f, l);
                break;
            }
    }
    if (!f.count) return;
    char origin[320], more[40];
    unsigned reg = a->reg + row;
    if (ks_replay_used(a->w, a->w->v_origin[reg])) return;
    ks_mem_origin(a->w, a->w->v_origin[reg], origin, sizeof(origin));
    ks_report(a->w, a->in, KILNSIM_UNDEFINED, (int)f.lane, a->at[f.lane] + row * 4ull,
              "stores undefined bits (0x%x) of %c%u, %s%s: write it before use", bits,
              reg < KS_ACC ? 'v' : 'a', reg % KS_ACC, origin, others(&f, more, sizeof(more)));
}
