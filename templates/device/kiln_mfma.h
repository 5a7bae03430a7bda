// SPDX-License-Identifier: MIT
// What kernels for AMD's matrix cores need beyond kiln_device.h: buffer loads, which give zeros outside a matrix, the
// order of instructions, and the words that matrix instructions take.  C++, gfx90a and gfx942.
#ifndef KILN_MFMA_H
#define KILN_MFMA_H
#include "kiln_chunk.h"

typedef _Float16 __attribute__((ext_vector_type(4))) kiln_half4;
typedef short __attribute__((ext_vector_type(4))) kiln_short4;
typedef float __attribute__((ext_vector_type(2))) kiln_float2;
typedef _Float16 __attribute__((ext_vector_type(2))) kiln_half2;
// 16 bytes along K: what a lane reads from LDS at once.
typedef unsigned __attribute__((ext_vector_type(4), may_alias)) kiln_piece;
template <typename T, int n> struct kiln_vector {
    typedef T __attribute__((ext_vector_type(n))) type;
};

// `waves`: that the registers of a SIMD should hold.
#define KILN_MFMA_KERNEL(threads, waves)                                                            \
    extern "C" __attribute__((global)) void                                                        \
        __attribute__((amdgpu_flat_work_group_size(threads, threads), amdgpu_waves_per_eu(waves, waves)))

#define KILN_GLOBAL __attribute__((address_space(1))) // what a number that is an address points to

// A matrix as a buffer resource (ISA document, "Buffer resource descriptor"): loads from `bytes` on give zero.
typedef int __attribute__((ext_vector_type(4))) kiln_buffer;
static KILN_DEVICE kiln_buffer kiln_make_buffer(const void *base, long long bytes)
{
    const unsigned long long at = (unsigned long long)base;
    const int size = bytes < 0 ? 0 : (int)bytes;
    // Uniform, though the compiler may not see it.
    return kiln_buffer{__builtin_amdgcn_readfirstlane((int)at),
                       __builtin_amdgcn_readfirstlane((int)(at >> 32) & 0xffff),
                       __builtin_amdgcn_readfirstlane(size), 0x00020000};
}
enum : int { KILN_NOWHERE = (int)0x80000000 }; // an offset that no buffer has

// The intrinsics by name: clang has builtins for them only since version 19.
typedef int __attribute__((ext_vector_type(2))) kiln_int2;
typedef int __attribute__((ext_vector_type(4))) kiln_int4;
__attribute__((device)) unsigned char kiln_buffer_load_i8(kiln_buffer, int, int, int)
    __asm("llvm.amdgcn.raw.buffer.load.i8");
__attribute__((device)) unsigned short kiln_buffer_load_i16(kiln_buffer, int, int, int)
    __asm("llvm.amdgcn.raw.buffer.load.i16");
__attribute__((device)) int kiln_buffer_load_i32(kiln_buffer, int, int, int) __asm("llvm.amdgcn.raw.buffer.load.i32");
__attribute__((device)) kiln_int2 kiln_buffer_load_v2i32(kiln_buffer, int, int, int)
    __asm("llvm.amdgcn.raw.buffer.load.v2i32");
__attribute__((device)) kiln_int4 kiln_buffer_load_v4i32(kiln_buffer, int, int, int)
    __asm("llvm.amdgcn.raw.buffer.load.v4i32");

static KILN_DEVICE void kiln_fetch(kiln_words1 &to, kiln_buffer from, int offset)
{
    to.v[0] = (unsigned)kiln_buffer_load_i32(from, offset, 0, 0);
}
static KILN_DEVICE void kiln_fetch(kiln_words2 &to, kiln_buffer from, int offset)
{
    const kiln_int2 x = kiln_buffer_load_v2i32(from, offset, 0, 0);
    to.v[0] = (unsigned)x.x, to.v[1] = (unsigned)x.y;
}
static KILN_DEVICE void kiln_fetch(kiln_words4 &to, kiln_buffer from, int offset)
{
    const kiln_int4 x = kiln_buffer_load_v4i32(from, offset, 0, 0);
    to.v[0] = (unsigned)x.x, to.v[1] = (unsigned)x.y, to.v[2] = (unsigned)x.z, to.v[3] = (unsigned)x.w;
}
__attribute__((device)) void kiln_buffer_store_i32(int, kiln_buffer, int, int, int)
    __asm("llvm.amdgcn.raw.buffer.store.i32");
__attribute__((device)) void kiln_buffer_store_v2i32(kiln_int2, kiln_buffer, int, int, int)
    __asm("llvm.amdgcn.raw.buffer.store.v2i32");
__attribute__((device)) void kiln_buffer_store_v4i32(kiln_int4, kiln_buffer, int, int, int)
    __asm("llvm.amdgcn.raw.buffer.store.v4i32");
static KILN_DEVICE void kiln_put(const kiln_words1 &x, kiln_buffer to, int offset)
{
    kiln_buffer_store_i32((int)x.v[0], to, offset, 0, 0);
}
static KILN_DEVICE void kiln_put(const kiln_words2 &x, kiln_buffer to, int offset)
{
    kiln_buffer_store_v2i32(kiln_int2{(int)x.v[0], (int)x.v[1]}, to, offset, 0, 0);
}
static KILN_DEVICE void kiln_put(const kiln_words4 &x, kiln_buffer to, int offset)
{
    kiln_buffer_store_v4i32(kiln_int4{(int)x.v[0], (int)x.v[1], (int)x.v[2], (int)x.v[3]}, to, offset, 0, 0);
}
__attribute__((device)) void kiln_buffer_store_i8(unsigned char, kiln_buffer, int, int, int)
    __asm("llvm.amdgcn.raw.buffer.store.i8");
__attribute__((device)) void kiln_buffer_store_i16(unsigned short, kiln_buffer, int, int, int)
    __asm("llvm.amdgcn.raw.buffer.store.i16");
// One element of 1, 2 or 4 bytes.
static KILN_DEVICE void kiln_put1(unsigned x, kiln_buffer to, int offset, int bytes)
{
    if (bytes == 1)
        kiln_buffer_store_i8((unsigned char)x, to, offset, 0, 0);
    else if (bytes == 2)
        kiln_buffer_store_i16((unsigned short)x, to, offset, 0, 0);
    else
        kiln_buffer_store_i32((int)x, to, offset, 0, 0);
}
static KILN_DEVICE unsigned kiln_fetch1(kiln_buffer from, int offset, int bytes)
{
    return bytes == 1   ? kiln_buffer_load_i8(from, offset, 0, 0)
           : bytes == 2 ? kiln_buffer_load_i16(from, offset, 0, 0)
                        : (unsigned)kiln_buffer_load_i32(from, offset, 0, 0);
}

// Halves or bytes at one place of several words, the first word's lowest: columns of a small matrix become rows.
static KILN_DEVICE unsigned kiln_turn16(unsigned w0, unsigned w1, int half)
{
    return __builtin_amdgcn_perm(w1, w0, half ? 0x07060302u : 0x05040100u);
}
static KILN_DEVICE unsigned kiln_turn8(unsigned w0, unsigned w1, int byte)
{
    return __builtin_amdgcn_perm(w1, w0, 0x0c0c0000u | (4u + (unsigned)byte) << 8 | (unsigned)byte);
}
// Of four words, by way of pairs that two neighbouring bytes share: two instructions a word where all four are wanted.
static KILN_DEVICE unsigned kiln_turn8(unsigned w0, unsigned w1, unsigned w2, unsigned w3, int byte)
{
    const unsigned pairs = byte < 2 ? 0x05010400u : 0x07030602u;
    return kiln_turn16(__builtin_amdgcn_perm(w1, w0, pairs), __builtin_amdgcn_perm(w3, w2, pairs), byte % 2);
}

// Words without their first `bytes`, 0 to all of them: the rest moves down, zeros follow.
template <int words> static KILN_DEVICE void kiln_shift_down(unsigned (&x)[words], int bytes)
{
#pragma unroll
    for (int by = words; by > 0; by /= 2)
        if (bytes & 4 * by)
#pragma unroll
            for (int w = 0; w < words; w++) x[w] = w + by < words ? x[w + by] : 0;
    const int bits = bytes % 4 * 8;
#pragma unroll
    for (int w = 0; w < words; w++) {
        const unsigned high = w + 1 < words ? x[w + 1] : 0;
        x[w] = (unsigned)(((unsigned long long)high << 32 | x[w]) >> bits);
    }
}
// A piece; and two that follow one another.
static KILN_DEVICE kiln_piece kiln_shift_down(kiln_piece x, int bytes)
{
    unsigned w[4] = {x[0], x[1], x[2], x[3]};
    kiln_shift_down(w, bytes);
    return kiln_piece{w[0], w[1], w[2], w[3]};
}
static KILN_DEVICE void kiln_shift_down(kiln_piece &x, kiln_piece &next, int bytes)
{
    unsigned w[8] = {x[0], x[1], x[2], x[3], next[0], next[1], next[2], next[3]};
    kiln_shift_down(w, bytes);
    x = kiln_piece{w[0], w[1], w[2], w[3]}, next = kiln_piece{w[4], w[5], w[6], w[7]};
}

// f32 to a word of narrower elements, the first in its lowest bits: to the nearest, ties to even, as kiln_types.h has
// each.  Two f16 by multiply-adds, which round to f16 in a quarter of a conversion's time.
static KILN_DEVICE unsigned kiln_pack_f16(const float *x)
{
    unsigned y; // x * 1 + -0 is x
    asm("v_fma_mixlo_f16 %0, %1, 1.0, %2" : "=v"(y) : "v"(x[0]), "v"(-0.0f));
    asm("v_fma_mixhi_f16 %0, %1, 1.0, %2" : "+v"(y) : "v"(x[1]), "v"(-0.0f));
    return y;
}
static KILN_DEVICE unsigned kiln_pack_bf16(const float *x)
{
    unsigned r[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const unsigned u = kiln_bits(x[i]);
        r[i] = x[i] != x[i] ? 0x7fc00000u : u + (u >> 16 & 1) + 0x7fffu;
    }
    return __builtin_amdgcn_perm(r[1], r[0], 0x07060302u);
}

// x & mask | bits: one instruction, though it has room for but one constant that is in no vector register.
static KILN_DEVICE unsigned kiln_and_or(unsigned x, unsigned mask, unsigned bits)
{
    unsigned y;
    asm("v_and_or_b32 %0, %1, %2, %3" : "=v"(y) : "v"(x), "s"(mask), "v"(bits));
    return y;
}

// Instructions before it stay before it, those after it stay after it: the order of the source is the order of issue.
static KILN_DEVICE void kiln_keep_order(void)
{
#if __has_builtin(__builtin_amdgcn_sched_barrier)
    __builtin_amdgcn_sched_barrier(0);
#endif
}

// Loads ahead of it stay ahead: what a loop's first round is given LLVM would read in the loop, behind all that is
// computed once for its rounds.
static KILN_DEVICE void kiln_loads_stay(void)
{
    asm volatile("" ::: "memory");
}

// 0 to 3: of the waves of a SIMD that could issue, the one with the largest does.
#define KILN_PRIORITY(n)                                                                           \
    do {                                                                                           \
        kiln_keep_order();                                                                         \
        __builtin_amdgcn_s_setprio(n);                                                             \
        kiln_keep_order();                                                                         \
    } while (0)

// A value that is computed before what follows: instructions without other effects keep no order.
template <typename T> static KILN_DEVICE void kiln_by_now(T &x)
{
    asm volatile("" : "+v"(x));
}

template <typename T> static KILN_DEVICE void kiln_by_now(T &x, T &y)
{
    asm volatile("" : "+v"(x), "+v"(y));
}

// Whole numbers from -2^22 to below 2^22 as f32: in the last places of 1.5 times 2^23, in less time than conversions
// take.
static KILN_DEVICE kiln_float2 kiln_small_floats(int x, int y)
{
    const kiln_float2 large = {kiln_from_bits((unsigned)x + 0x4b400000u), kiln_from_bits((unsigned)y + 0x4b400000u)};
    return large - 12582912.0f;
}

// Half byte `at` of those that a byte has in turn.
static KILN_DEVICE unsigned kiln_half_of(unsigned byte, unsigned at)
{
    asm("" : "+v"(at)); // LLVM 19 forgets to shift a sum that it knows
    return __builtin_amdgcn_ubfe(byte, at << 2 & 4, 4);
}

// What every wave of the block has written to LDS is there for all of them.  Loads from global memory stay in flight.
static KILN_DEVICE void kiln_publish(void)
{
    kiln_keep_order();
    asm volatile("s_waitcnt lgkmcnt(0)\n\ts_barrier" ::: "memory");
    kiln_keep_order();
}

// What this wave has written to LDS is there for its other lanes: LDS works in order, so only the compiler must know.
static KILN_DEVICE void kiln_wave_order(void)
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

// f of 0 to n - 1, as types: LLVM sees nothing but what is chosen by them, and no loops, over which it would carry what
// should stay ahead of them.
template <int n> struct kiln_number {
    constexpr operator int() const { return n; }
};
template <typename T, T... numbers> struct kiln_numbers {
    template <typename F> static KILN_DEVICE void each(const F &f) { (f(kiln_number<numbers>{}), ...); }
};
template <int n, typename F> static KILN_DEVICE void kiln_times(const F &f)
{
    __make_integer_seq<kiln_numbers, int, n>::each(f);
}

// Two types for true and false, to choose code at compile time with.
struct kiln_yes {
    static constexpr bool value = true;
};
struct kiln_no {
    static constexpr bool value = false;
};

// An offset up to `last`; `beyond` it another.
static KILN_DEVICE int kiln_capped(int offset, int last, int beyond)
{
    return offset > last ? beyond : offset;
}
// A value that all lanes share, as it is: in a scalar register, and not for LLVM to take apart.  Of an offset that
// grows with every tile it would otherwise keep a sum for each load, and add to all of them.
static KILN_DEVICE int kiln_uniform(int x)
{
    return __builtin_amdgcn_readfirstlane(x);
}
// A value as it is, though the compiler can't know: what follows from it is computed where it is wanted, not ahead of
// the main loop, which has no registers to keep it in.
static KILN_DEVICE int kiln_again(int x)
{
    asm volatile("" : "+v"(x));
    return x;
}
// The thread of a wave, likewise: no register keeps it until the next time.
static KILN_DEVICE int kiln_thread_again(int wave)
{
    unsigned all = ~0u;
    asm volatile("" : "+s"(all));
    const int thread = wave * 64 + (int)__builtin_amdgcn_mbcnt_hi(all, __builtin_amdgcn_mbcnt_lo(all, 0));
    __builtin_assume(thread >= 0 && thread < 1024);
    return thread;
}
static KILN_DEVICE int kiln_wave(void)
{
    const int wave = kiln_uniform((int)(kiln_thread() / 64));
    __builtin_assume(wave >= 0 && wave < 16);
    return wave;
}

// This thread's lane of its wave, what a lane has of x, and the sum of what all lanes up to this one have, of a whole
// wave.
static KILN_DEVICE int kiln_lane(void)
{
    return (int)__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
}
static KILN_DEVICE int kiln_of_lane(int x, int lane)
{
    return __builtin_amdgcn_readlane(x, lane);
}
static KILN_DEVICE unsigned kiln_sum_upto(unsigned x)
{
    int y = (int)x; // from 1, 2, 4 and 8 lanes below within 16, then from the last of 16 and of 32
    y += __builtin_amdgcn_update_dpp(0, y, 0x111, 0xf, 0xf, false);
    y += __builtin_amdgcn_update_dpp(0, y, 0x112, 0xf, 0xf, false);
    y += __builtin_amdgcn_update_dpp(0, y, 0x114, 0xf, 0xf, false);
    y += __builtin_amdgcn_update_dpp(0, y, 0x118, 0xf, 0xf, false);
    y += __builtin_amdgcn_update_dpp(0, y, 0x142, 0xa, 0xf, false);
    y += __builtin_amdgcn_update_dpp(0, y, 0x143, 0xc, 0xf, false);
    return (unsigned)y;
}

// Over LANES neighbouring lanes, as kiln_over_lanes (kiln_reduce.h) has it, of several values in step.  Behind a step
// all lanes of a group have one value, so of the other group any lane will do, the one at the mirrored place, too: no
// trip through LDS within 16 lanes.
template <int MASK> static KILN_DEVICE float kiln_lane_across(float x)
{
    const int y = (int)kiln_bits(x);
    if constexpr (MASK == 1) return kiln_from_bits((unsigned)__builtin_amdgcn_update_dpp(0, y, 0xb1, 0xf, 0xf, true));
    if constexpr (MASK == 2) return kiln_from_bits((unsigned)__builtin_amdgcn_update_dpp(0, y, 0x4e, 0xf, 0xf, true));
    if constexpr (MASK == 4) return kiln_from_bits((unsigned)__builtin_amdgcn_update_dpp(0, y, 0x141, 0xf, 0xf, true));
    if constexpr (MASK == 8) return kiln_from_bits((unsigned)__builtin_amdgcn_update_dpp(0, y, 0x140, 0xf, 0xf, true));
    return kiln_other_lane(x, MASK);
}
template <class OF, int LANES, int MASK = 1, int COUNT> static KILN_DEVICE void kiln_reduce_lanes(float (&x)[COUNT])
{
    if constexpr (MASK < LANES) {
#pragma unroll
        for (int i = 0; i < COUNT; i++) x[i] = OF::two(x[i], kiln_lane_across<MASK>(x[i]));
        kiln_reduce_lanes<OF, LANES, MASK * 2>(x);
    }
}

// Asks for values that all lanes share, "s"(x), "s"(y): their trips to memory are one, and nothing comes before.
#define KILN_ASK(...)                                                                              \
    do {                                                                                           \
        asm volatile("" ::__VA_ARGS__);                                                            \
        kiln_keep_order();                                                                         \
    } while (0)
// A value that all lanes share, likewise: what follows from it is computed here alone, by those who come here.
static KILN_DEVICE int kiln_here(int x)
{
    asm volatile("" : "+s"(x));
    return x;
}
// A value that is computed here, for later.
static KILN_DEVICE void kiln_ahead(int x)
{
    asm volatile("" ::"v"(x));
}
// x < y, by two comparisons of words: of long ones only vector instructions know which is less.
static KILN_DEVICE bool kiln_is_below(long long x, unsigned y)
{
    return (unsigned)((unsigned long long)x >> 32) == 0 && (unsigned)x < y;
}
// The product of two numbers that are not below zero.
static KILN_DEVICE long long kiln_wide(int x, int y)
{
    return (long long)((unsigned long long)(unsigned)x * (unsigned)y);
}
// x / y of values that all lanes share; x below 2^22.  Half the instructions of any x's: the estimate is off by less
// than one.  Fewer where y is a power of two.
static KILN_DEVICE unsigned kiln_quotient(unsigned x, unsigned y)
{
    if ((y & (y - 1)) == 0) return x >> __builtin_ctz(y);
    const float estimate = (float)x * __builtin_amdgcn_rcpf((float)y);
    unsigned q = (unsigned)kiln_uniform((int)estimate);
    const int left = (int)(x - q * y);
    q += left >= (int)y ? 1 : left < 0 ? -1 : 0;
    return q;
}

// Blocks go to the dies (XCDs) in turn; this numbering gives each die a run of consecutive tiles, which share its L2.
static KILN_DEVICE unsigned kiln_tile_of_block(unsigned block, unsigned blocks, unsigned dies)
{
    const unsigned each = blocks / dies, more = blocks % dies, die = block % dies;
    return die * each + (die < more ? die : more) + block / dies;
}
#endif
