// SPDX-License-Identifier: MIT
// Copies tensors line by line to another address and pitch (abi/kiln_realign.h): what tensor maps cannot take, to lines
// that they can, and back.  A thread writes 16 bytes at once, at a multiple of 16, from the two such pieces that they
// are in; its column is the same for all lines of a part.  C++ only.
#ifndef KILN_REALIGN_KERNEL_H
#define KILN_REALIGN_KERNEL_H
#include "kiln_chunk.h"
#include "kiln_realign.h"

// 16 bytes that begin `at` bytes into the first of two pieces.  Lanes have lines of their own, and so another `at`.
static KILN_DEVICE kiln_words4 kiln_realign_shift(const kiln_words4 &low, const kiln_words4 &high, unsigned at)
{
    unsigned w[7] = {low.v[0], low.v[1], low.v[2], low.v[3], high.v[0], high.v[1], high.v[2]};
    const unsigned last = high.v[3];
    unsigned x[6], y[5];
    for (int i = 0; i < 5; i++) x[i] = at & 8 ? w[i + 2] : w[i];
    x[5] = at & 8 ? last : w[5];
    for (int i = 0; i < 5; i++) y[i] = at & 4 ? x[i + 1] : x[i];
    kiln_words4 r;
    for (int i = 0; i < 4; i++) r.v[i] = (unsigned)(((unsigned long long)y[i + 1] << 32 | y[i]) >> 8 * (at & 3));
    return r;
}

// Of 16 bytes those from lo to hi, where not all around them may be read.
__attribute__((noinline)) static KILN_DEVICE kiln_words4 kiln_realign_load(const char *from, int lo, int hi)
{
    unsigned byte[16];
    for (int i = 0; i < 16; i++) byte[i] = i >= lo && i < hi ? (unsigned char)from[i] : 0u;
    kiln_words4 r;
    for (int i = 0; i < 4; i++)
        r.v[i] = byte[4 * i] | byte[4 * i + 1] << 8 | byte[4 * i + 2] << 16 | byte[4 * i + 3] << 24;
    return r;
}

// The same where not all around them may be written; `to` is a multiple of 16.  At most seven stores: of more and more
// bytes up to where more would be too many, and of fewer and fewer.
__attribute__((noinline)) static KILN_DEVICE void kiln_realign_store(char *to, kiln_words4 x, int lo, int hi)
{
    int at = lo;
    for (int i = 0; i < 7; i++) {
        const int bytes = i < 4 ? 1 << i : 64 >> i; // 1, 2, 4, 8, 4, 2, 1
        if (at + bytes > hi || (i < 3 && !(at & bytes))) continue;
        const unsigned even = at & 8 ? x.v[2] : x.v[0], odd = at & 8 ? x.v[3] : x.v[1];
        const unsigned word = (at & 4 ? odd : even) >> 8 * (at & 3);
        if (bytes == 8)
            *(kiln_words2 *)(to + at) = kiln_words2{{even, odd}};
        else if (bytes == 4)
            *(kiln_words1 *)(to + at) = kiln_words1{{word}};
        else if (bytes == 2)
            *(kiln_uint16 *)(to + at) = (kiln_uint16)word;
        else
            to[at] = (char)word;
        at += bytes;
    }
}

// Where a chunk begins in a line, in bytes: below 0 where the line begins within it.
static KILN_DEVICE long long kiln_realign_ahead(const char *line, unsigned chunk)
{
    return 16ll * chunk - (long long)((unsigned long long)line & 15);
}

// A chunk's bytes that are the line's, or the line's room's.
static KILN_DEVICE int kiln_realign_lo(long long ahead)
{
    return ahead < 0 ? (int)-ahead : 0;
}
static KILN_DEVICE int kiln_realign_hi(long long ahead, long long bytes)
{
    return bytes - ahead < 16 ? (int)(bytes - ahead) : 16;
}

static KILN_DEVICE void kiln_realign_put(const kiln_realign_part &p, char *line, long long ahead, const kiln_words4 &x)
{
    if (ahead >= 0 && ahead + 16 <= p.room)
        *(kiln_words4 *)(line + ahead) = x;
    else
        kiln_realign_store(line + ahead, x, kiln_realign_lo(ahead), kiln_realign_hi(ahead, p.room));
}

// Where `line` of a batch that begins at `from` is read; null: it is zeros.
static KILN_DEVICE const char *kiln_realign_gathered(const kiln_realign_part &p, const char *from, long long line)
{
    const int row = p.index[line];
    return row >= 0 && row < p.rows_of ? from + row * p.from_pitch : nullptr;
}

// A column's chunk of `count` lines, four at most, from `line` on, p.rows apart: all is asked for before anything is
// written.  `from` is where the batch begins, `to` where the first of the lines goes.  Lines that come one after the
// other are code of their own: questions that only gathered ones ask would let loads wait for one another.
template <bool GATHERED>
static KILN_DEVICE void kiln_realign_column(const kiln_realign_part &p, const char *from, long long line, char *to,
                                            unsigned chunk, unsigned count)
{
    const long long from_step = p.from_pitch * p.rows, to_step = p.to_pitch * p.rows;
    const char *const first = from + line * p.from_pitch;
    const char *source[4];
    for (unsigned u = 0; u < 4; u++) {
        source[u] = first + u * from_step;
        if (GATHERED) source[u] = u < count ? kiln_realign_gathered(p, from, line + u * p.rows) : nullptr;
    }
    kiln_words4 low[4], high[4];
    unsigned at[4], rest = 0; // what has pieces that are not the tensor's
    for (unsigned u = 0; u < 4; u++) {
        const char *const x = source[u] + kiln_realign_ahead(to + u * to_step, chunk);
        at[u] = (unsigned)(unsigned long long)x & 15;
        const kiln_words4 *const piece = (const kiln_words4 *)(x - at[u]);
        const bool asked = u < count && (!GATHERED || source[u]);
        if (GATHERED) low[u] = high[u] = kiln_words4{};
        if (asked && ((const char *)piece < p.begin || (const char *)(piece + 2) > p.end)) rest |= 1u << u;
        if (asked && !(rest >> u & 1)) low[u] = piece[0], high[u] = piece[1]; // both, lest one waits for the other
    }
    for (unsigned u = 0; u < 4; u++)
        if (u < count && !(rest >> u & 1))
            kiln_realign_put(p, to + u * to_step, kiln_realign_ahead(to + u * to_step, chunk),
                             kiln_realign_shift(low[u], high[u], at[u]));
    for (unsigned u = 0; rest >> u; u++) {
        char *const line_to = to + u * to_step;
        const long long ahead = kiln_realign_ahead(line_to, chunk);
        const char *const x = GATHERED ? kiln_realign_gathered(p, from, line + u * p.rows) : first + u * from_step;
        if (rest >> u & 1)
            kiln_realign_put(p, line_to, ahead,
                             kiln_realign_load(x + ahead, kiln_realign_lo(ahead), kiln_realign_hi(ahead, p.bytes)));
    }
}

static KILN_DEVICE long long kiln_realign_divide(long long x, unsigned by)
{
    return x >> 32 ? x / by : (unsigned)x / by;
}

KILN_KERNEL(KILN_REALIGN_THREADS, KILN_REALIGN_BLOCKS)
kiln_realign(KILN_PARAMETER(kiln_realign_args) args)
{
    kiln_begin_early();
    const unsigned thread = kiln_thread(), block = kiln_block_x(), blocks = kiln_blocks_x(KILN_REALIGN_THREADS);
    for (unsigned n = 0; n < args.parts; n++) {
        const kiln_realign_part &p = args.part[n];
        const unsigned row = thread / p.columns, column = thread % p.columns;
        for (long long i = block < p.first ? block + blocks - p.first : block - p.first; i < p.items; i += blocks) {
            const long long j = kiln_realign_divide(i, p.groups), batch = kiln_realign_divide(j, p.runs);
            const unsigned group = (unsigned)(i - j * p.groups), run = (unsigned)(j - batch * p.runs);
            const unsigned chunk = run * p.columns + column;
            const long long line = (long long)group * (p.rows * args.chunks) + row, left = p.lines - line;
            if (row >= p.rows || chunk >= p.chunks || left <= 0) continue;
            const char *const from = p.from + batch * p.from_stride;
            char *const to = p.to + batch * p.to_stride + line * p.to_pitch;
            const unsigned count = left > (long long)p.rows * (args.chunks - 1) ? args.chunks
                                                                                : ((unsigned)left - 1) / p.rows + 1;
            if (p.index)
                kiln_realign_column<true>(p, from, line, to, chunk, count);
            else
                kiln_realign_column<false>(p, from, line, to, chunk, count);
        }
    }
}
#endif
