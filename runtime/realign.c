// SPDX-License-Identifier: MIT
// Tensors that a kernel's maps name and cannot take, because address, pitch or batch stride is no
// multiple of 16 bytes, or of an output a line's length, go by way of the workspace: inputs are
// copied there before the kernel runs, outputs from there afterwards (abi/kiln_realign.h).  What is
// left for the kernel is a problem whose tensors all are aligned, but for those of optional maps.
// Inputs whose rows the op gathers go the same way, row by row, where a map wants them so.
#include <string.h>
#include "../abi/kiln_problem_math.h"
#include "internal.h"

_Static_assert((int)KILN_REALIGN_MOST == (int)KILN_MAX_TENSORS, "one launch copies all inputs");

enum {
    LINE = 128,  /* of memory: what long lines begin at, */
    LONG = 1024, /* of so many bytes and more */
    PLACE = 256, /* where copies begin in the workspace, */
    SLACK = 256, /* with so much around them, which may be read */
    CUTS = 8     /* of a line that are tried */
};

static int64_t rounded(int64_t bytes, int64_t to)
{
    return kiln_i_mul(kiln_i_ceil_div(bytes, to), to);
}

/* What all batches share is there once. */
static int64_t batches_of(const kr_operand *o)
{
    return o->stride ? o->batches : 1;
}

bool kr_map_takes(const kiln_tensor_row *t, const kr_operand *o)
{
    return kr_common_alignment(o) >= KR_MAP_PIECE &&
           !(t->out && kr_span(o, o->inner) % KR_MAP_PIECE);
}

static int64_t pitch_of(const kr_operand *o)
{
    const int64_t line = kr_span(o, o->inner);
    return rounded(line, line < LONG ? KR_MAP_PIECE : LINE);
}

static bool listed(const kr_realigned *r, uint8_t tensor)
{
    for (int i = 0; i < r->n; i++)
        if (r->tensor[i] == tensor) return true;
    return false;
}

/* The index array that says which rows of a tensor are meant. */
static const kiln_tensor_row *rows_by(const kiln_op_row *op, const kiln_tensor_row *t)
{
    for (int i = 0; i < op->ntensors; i++)
        if (op->tensor[i].index == KILN_INDEX_ROW && op->tensor[i].within == t->rows)
            return &op->tensor[i];
    return NULL;
}

/* A tensor as the kernel has it: with a row for each number, of those that are gathered. */
static kr_operand as_gathered(const kr_view *v, const kiln_op_row *op, int tensor)
{
    kr_operand o = v->t[tensor];
    o.rows = v->shape.size[rows_by(op, &op->tensor[tensor])->rows];
    *(o.layout == KILN_ROW ? &o.outer : &o.inner) = o.rows;
    return o;
}

uint64_t kr_workspace(const kiln_kernel *k, const kr_view *v, kr_realigned *r)
{
    const uint64_t own = k->schedule->workspace(&v->shape, k->row->t);
    int64_t bytes = own > INT64_MAX ? KILN_TOO_LARGE : (int64_t)own;
    r->n = 0;
    if (!k->row->realigns) return own;
    const kiln_map *const map = k->module->table->map + k->row->first_map;
    for (int i = 0; i < k->row->maps; i++) {
        kr_operand room;
        const kr_operand *o = &v->t[map[i].operand];
        const kiln_tensor_row *t = &k->op->tensor[map[i].operand];
        if (map[i].gathered) room = as_gathered(v, k->op, map[i].operand), o = &room;
        const bool nothing = map[i].gathered ? !o->inner || !o->outer : o->bytes == 0;
        if (nothing || (!map[i].gathered && kr_map_takes(t, o)) || map[i].optional ||
            listed(r, map[i].operand))
            continue;
        r->gathered[r->n] = map[i].gathered;
        const int64_t size = kiln_i_mul(kiln_i_mul(pitch_of(o), o->outer), batches_of(o));
        const int64_t at = kiln_i_add(rounded(bytes, PLACE), SLACK);
        r->tensor[r->n] = map[i].operand;
        r->at[r->n++] = (uint64_t)at;
        bytes = kiln_i_add(kiln_i_add(at, size), SLACK);
    }
    return kiln_i_bytes(bytes);
}

/* The part's columns, such that the fewest threads have nothing to copy (of as good ones the most,
 * for lines are read quicker than columns), and its items, where a thread copies one chunk. */
static void cut(kiln_realign_part *p, long long batches)
{
    const unsigned from = (unsigned)kiln_i_ceil_div(p->chunks, KILN_REALIGN_THREADS);
    for (unsigned runs = from; runs < from + CUTS && runs <= p->chunks; runs++) {
        const unsigned columns = (unsigned)kiln_i_ceil_div(p->chunks, runs),
                       rows = KILN_REALIGN_THREADS / columns;
        const unsigned groups = (unsigned)kiln_i_ceil_div(p->lines, rows);
        const long long items = batches * runs * groups;
        if (p->items && items >= p->items) continue;
        p->columns = columns, p->rows = rows;
        p->runs = runs, p->groups = groups, p->items = items;
    }
}

/* How many blocks: as many as run at once, if there is work for them, first one chunk for each
 * thread. They take items in turns, of all parts, whatever sizes these have. */
static uint32_t spread(kiln_realign_args *args, int units)
{
    const long long room = (long long)(units > 0 ? units : 1) * KILN_REALIGN_BLOCKS;
    long long all = 0, blocks = 0;
    for (unsigned i = 0; i < args->parts; i++) all += args->part[i].items;
    const long long each = all / room;
    args->chunks = each < 1 ? 1 : each < KILN_REALIGN_CHUNKS ? (unsigned)each : KILN_REALIGN_CHUNKS;
    for (unsigned i = 0; i < args->parts; i++) {
        kiln_realign_part *p = &args->part[i];
        p->items /= p->groups;
        p->groups = (unsigned)kiln_i_ceil_div(p->lines, (int64_t)p->rows * args->chunks);
        p->items *= p->groups;
        blocks += p->items;
    }
    if (blocks > room) blocks = room;
    all = 0;
    for (unsigned i = 0; i < args->parts; i++) {
        args->part[i].first = (unsigned)(all % blocks);
        all += args->part[i].items;
    }
    return (uint32_t)blocks;
}

/* Copies between a tensor and its place in the workspace; the view and the arguments get the
 * latter. */
void kr_realign(const kiln_kernel *k, kr_realigned *r, kr_view *v, kiln_args *args, int units)
{
    r->in.parts = r->out.parts = 0;
    for (int i = 0; i < r->n; i++) {
        const kiln_tensor_row *t = &k->op->tensor[r->tensor[i]];
        kr_operand *o = &v->t[r->tensor[i]];
        char *const theirs = args->tensor[t->arg], *const ours = (char *)args->workspace + r->at[i];
        const int64_t bytes_given = o->bytes;
        if (r->gathered[i]) *o = as_gathered(v, k->op, r->tensor[i]);
        const int64_t pitch = pitch_of(o), stride = pitch * o->outer, line = kr_span(o, o->inner);
        const int64_t their_pitch = kr_span(o, o->ld), their_stride = kr_span(o, o->stride);
        const kiln_realign_part both = {.bytes = line,
                                        .lines = (unsigned)o->outer,
                                        .room = t->out ? line : rounded(line, KR_MAP_PIECE),
                                        .chunks = (unsigned)((line + 15) / 16 + t->out)};
        kiln_realign_part *p;
        if (t->out) {
            p = &r->out.part[r->out.parts++];
            *p = both;
            p->from = ours, p->begin = ours - SLACK, p->end = ours + stride * batches_of(o) + SLACK;
            p->from_pitch = pitch, p->from_stride = stride;
            p->to = theirs, p->to_pitch = their_pitch, p->to_stride = their_stride;
        } else {
            p = &r->in.part[r->in.parts++];
            *p = both;
            p->from = p->begin = theirs, p->end = theirs + bytes_given;
            p->from_pitch = their_pitch, p->from_stride = their_stride;
            p->to = ours, p->to_pitch = pitch, p->to_stride = stride;
        }
        if (r->gathered[i]) {
            const kiln_tensor_row *by = rows_by(k->op, t);
            p->index = args->tensor[by->arg], p->rows_of = v->shape.size[by->within];
            o->bytes = stride;
        }
        cut(p, batches_of(o));
        const int64_t per_byte = kiln_per_byte(o->type), bytes = per_byte > 1 ? 1 : o->bits / 8;
        args->tensor[t->arg] = ours;
        o->ld = pitch / bytes * per_byte;
        if (o->stride) o->stride = o->ld * o->outer;
        o->align = KR_MAP_PIECE;
    }
    if (r->in.parts) r->in_blocks = spread(&r->in, units);
    if (r->out.parts) r->out_blocks = spread(&r->out, units);
}
