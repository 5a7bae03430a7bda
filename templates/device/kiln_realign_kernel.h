// SPDX-License-Identifier: MIT
// Copies tensors line by line to another address and pitch (abi/kiln_realign.h): what tensor maps cannot take, to lines
// that they can, and back.  A thread writes 16 bytes at once, at a multiple of 16, from the two such pieces that they
// are in.  C++ only.
#ifndef KILN_REALIGN_KERNEL_H
#define KILN_REALIGN_KERNEL_H
#include "kiln_chunk.h"
#include "kiln_realign.h"

// A thread's place: a line, where it begins, and which of its pieces of 16 bytes, as they are written.
struct kiln_realign_place {
    const char *from;
    char *to;
    unsigned line, chunk;
};

// How far it is to the next: lines, and fewer chunks than a line has.
struct kiln_realign_step {
    unsigned lines, chunks;
    long long from, to; // bytes of the lines
};

static KILN_DEVICE kiln_realign_step kiln_realign_steps(const kiln_realign_part &p, unsigned chunks)
{
    const unsigned lines = chunks / p.chunks;
    return kiln_realign_step{lines, chunks % p.chunks, lines * p.from_pitch, lines * p.to_pitch};
}

static KILN_DEVICE kiln_realign_place kiln_realign_begin(const kiln_realign_part &p, long long batch, unsigned line,
                                                         unsigned chunk)
{
    return kiln_realign_place{p.from + batch * p.from_stride + line * p.from_pitch,
                              p.to + batch * p.to_stride + line * p.to_pitch, line, chunk};
}

// Behind a line's last chunk comes the next line's first, or nothing.
static KILN_DEVICE void kiln_realign_on(const kiln_realign_part &p, kiln_realign_place *x, const kiln_realign_step &by,
                                        bool next_line)
{
    x->line += by.lines, x->chunk += by.chunks, x->from += by.from, x->to += by.to;
    if (x->chunk < p.chunks) return;
    x->line = next_line ? x->line + 1 : p.lines;
    x->chunk -= p.chunks, x->from += p.from_pitch, x->to += p.to_pitch;
}

// Bytes of the line ahead of the place's chunk; below 0 where it begins within one.
static KILN_DEVICE long long kiln_realign_ahead(const kiln_realign_place &x)
{
    return 16ll * x.chunk - (long long)((unsigned long long)x.to & 15);
}

// 16 bytes that begin `at` bytes into the first of two pieces.
static KILN_DEVICE kiln_words4 kiln_realign_shift(const kiln_words4 &low, const kiln_words4 &high, unsigned at)
{
    unsigned w[5];
    if (at < 4) // mostly the same for all lanes
        w[0] = low.v[0], w[1] = low.v[1], w[2] = low.v[2], w[3] = low.v[3], w[4] = high.v[0];
    else if (at < 8)
        w[0] = low.v[1], w[1] = low.v[2], w[2] = low.v[3], w[3] = high.v[0], w[4] = high.v[1];
    else if (at < 12)
        w[0] = low.v[2], w[1] = low.v[3], w[2] = high.v[0], w[3] = high.v[1], w[4] = high.v[2];
    else
        w[0] = low.v[3], w[1] = high.v[0], w[2] = high.v[1], w[3] = high.v[2], w[4] = high.v[3];
    kiln_words4 r;
    for (int i = 0; i < 4; i++) r.v[i] = (unsigned)(((unsigned long long)w[i + 1] << 32 | w[i]) >> 8 * (at & 3));
    return r;
}

// What is not 16 bytes of a line of which the pieces around may be read: byte by byte, all asked for at once.
__attribute__((noinline)) static KILN_DEVICE void kiln_realign_some(const char *from, char *to, int lo, int hi)
{
    char byte[16];
    for (int i = 0; i < 16; i++) byte[i] = i >= lo && i < hi ? from[i] : 0;
    for (int i = 0; i < 16; i++)
        if (i >= lo && i < hi) to[i] = byte[i];
}

// Up to four chunks from a place on, asked for together.
static KILN_DEVICE void kiln_realign_four(const kiln_realign_part &p, const kiln_realign_place &base,
                                          const kiln_realign_step &by, unsigned count, bool next_line)
{
    kiln_words4 low[4], high[4];
    char *to[4];
    unsigned at[4], rest = 0;
    kiln_realign_place x = base;
    for (unsigned u = 0; u < 4; u++) {
        to[u] = 0;
        if (u < count && x.line < p.lines) {
            const long long ahead = kiln_realign_ahead(x);
            const char *const from = x.from + ahead;
            at[u] = (unsigned)(unsigned long long)from & 15;
            const kiln_words4 *const piece = (const kiln_words4 *)(from - at[u]);
            const bool inside = ahead >= 0 && (p.padded ? ahead < p.bytes : ahead + 16 <= p.bytes);
            if (inside && (const char *)piece >= p.begin && (const char *)(piece + (at[u] ? 2 : 1)) <= p.end) {
                to[u] = x.to + ahead;
                low[u] = piece[0];
                if (at[u]) high[u] = piece[1];
            } else {
                rest |= 1u << u;
            }
        }
        kiln_realign_on(p, &x, by, next_line);
    }
    for (unsigned u = 0; u < 4; u++)
        if (to[u]) *(kiln_words4 *)to[u] = kiln_realign_shift(low[u], high[u], at[u]);
    x = base;
    for (; rest; rest >>= 1) {
        const long long ahead = kiln_realign_ahead(x), left = p.bytes - ahead;
        if (rest & 1)
            kiln_realign_some(x.from + ahead, x.to + ahead, ahead < 0 ? (int)-ahead : 0, left < 16 ? (int)left : 16);
        kiln_realign_on(p, &x, by, next_line);
    }
}

// Long lines: a warp takes 2 KiB of one at once, of which mostly all may be read and written.
static KILN_DEVICE void kiln_realign_long(const kiln_realign_part &p, long long batch, unsigned warp, unsigned warps,
                                          unsigned lane)
{
    const unsigned runs = (p.chunks + 127) / 128; // of a line
    const kiln_realign_step by = {0, 32, 0, 0};
    const long long all = (long long)p.lines * runs;
    for (long long i = warp; i < all; i += warps) {
        const unsigned line = (unsigned)(i >> 32 ? i / runs : (unsigned)i / runs);
        const unsigned run = (unsigned)(i - (long long)line * runs);
        const kiln_realign_place x = kiln_realign_begin(p, batch, line, 128 * run + lane);
        const long long ahead = kiln_realign_ahead(x) - 16 * lane; // of the run's first
        const char *const from = x.from + ahead;
        const unsigned at = (unsigned)(unsigned long long)from & 15;
        const bool inside = ahead >= 0 && ahead + 2048 <= (p.padded ? (p.bytes + 15) / 16 * 16 : p.bytes);
        if (inside && from - at >= p.begin && from - at + 2064 <= p.end) {
            const kiln_words4 *const piece = (const kiln_words4 *)(from - at) + lane;
            kiln_words4 *const to = (kiln_words4 *)(x.to + ahead) + lane;
            kiln_words4 low[4], high[4];
            for (int u = 0; u < 4; u++) low[u] = piece[32 * u];
            for (int u = 0; u < 4; u++) high[u] = piece[32 * u + 1];
            for (int u = 0; u < 4; u++) to[32 * u] = kiln_realign_shift(low[u], high[u], at);
        } else if (x.chunk < p.chunks) {
            kiln_realign_four(p, x, by, 4, false);
        }
    }
}

KILN_KERNEL(KILN_REALIGN_THREADS, 2)
kiln_realign(KILN_PARAMETER(kiln_realign_args) args)
{
    kiln_begin_early();
    const kiln_realign_part &p = args.part[kiln_block_z()];
    const unsigned threads = KILN_REALIGN_THREADS, part = threads * args.chunks, thread = kiln_thread();
    const unsigned block = kiln_block_x(), blocks = kiln_blocks_x(threads), first = block * part + thread;
    const kiln_realign_step by = kiln_realign_steps(p, threads), on = kiln_realign_steps(p, blocks * part);
    for (long long batch = kiln_block_y(); batch < p.batches; batch += kiln_blocks_y()) {
        if (args.chunks == 4 && p.chunks >= 256) {
            kiln_realign_long(p, batch, block * (threads / 32) + thread / 32, blocks * (threads / 32), thread % 32);
            continue;
        }
        kiln_realign_place x = kiln_realign_begin(p, batch, first / p.chunks, first % p.chunks);
        while (x.line < p.lines) {
            kiln_realign_four(p, x, by, args.chunks, true);
            kiln_realign_on(p, &x, on, true);
        }
    }
}
#endif
