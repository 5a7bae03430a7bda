// SPDX-License-Identifier: MIT
// What row-wise GPU kernels share: values of neighbouring columns in words, from and to memory at any alignment;
// reductions over the waves of a row.  Reductions over lanes, and division, are kiln_reduce.h's.  C++ only.
//   Words: element j of a piece lies in word j * bits / 32, the first in the low bits (KILN_ELEMENT8, ...).
#ifndef KILN_ROWS_H
#define KILN_ROWS_H
#include "kiln_chunk.h"
#include "kiln_math.h"
#include "kiln_reduce.h"
#include "kiln_types.h"

// A row's number, or a matrix's in a batch.  AMD's scalar unit multiplies 32 bits, and has too few registers for twice
// as many; ptxas needs more of them, and spills some, where it must widen.
#if defined(KILN_GPU_AMD)
typedef unsigned kiln_row;
#else
typedef long long kiln_row;
#endif

// One that all lanes share and of which the compiler is told nothing: nearly every block has one row, but compilers for
// AMD prepare for the next ones, tensor by tensor, in more scalar registers than there are.
static KILN_DEVICE kiln_row kiln_unforeseen(kiln_row x)
{
#if defined(KILN_GPU_AMD)
    asm volatile("" : "+s"(x));
#endif
    return x;
}

// A sum by additions in f32, and beside it the sum of what each of them lost by rounding, which is a float exactly: of
// two D. Knuth's, TAOCP 2, 4.2.2; of n Sum2 of T. Ogita, S. Rump, S. Oishi, "Accurate sum and dot product", SIAM J.
// Sci. Comput. 26 (2005).  Both together are the exact sum within n^2 2^-48 of the sum of magnitudes.
struct kiln_compensated {
    float sum, lost;
};

// x + y, rounded by itself: a product that an operand is has been rounded before, and nothing is regrouped.
static KILN_DEVICE float kiln_add_alone(float x, float y)
{
#if defined(KILN_GPU_NVIDIA)
    float r;
    asm("add.rn.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y)); // ptxas fuses what does not say how it is rounded
    return r;
#else
#if defined(__clang__)
#pragma clang fp contract(off) reassociate(off)
#endif
    return x + y;
#endif
}

struct kiln_compensated_of {
    static KILN_DEVICE kiln_compensated none() { return kiln_compensated{0.0f, 0.0f}; }
    static KILN_DEVICE kiln_compensated two(kiln_compensated x, float y)
    {
        const float sum = kiln_add_alone(x.sum, y), of_y = kiln_add_alone(sum, -x.sum);
        const float lost_x = kiln_add_alone(x.sum, -kiln_add_alone(sum, -of_y)), lost_y = kiln_add_alone(y, -of_y);
        return kiln_compensated{sum, kiln_add_alone(x.lost, kiln_add_alone(lost_x, lost_y))};
    }
    // The same whichever is first, so that all lanes have the same.
    static KILN_DEVICE kiln_compensated two(kiln_compensated x, kiln_compensated y)
    {
        return two(kiln_compensated{x.sum, kiln_add_alone(x.lost, y.lost)}, y.sum);
    }
};

// The exact sum, rounded.  Where the sum is infinite or NaN, what was lost is NaN.
static KILN_DEVICE float kiln_total(kiln_compensated x)
{
    const float both = kiln_add_alone(x.sum, x.lost);
    return both == both ? both : x.sum;
}

static KILN_DEVICE kiln_compensated kiln_other_lane(kiln_compensated x, int mask)
{
    return kiln_compensated{kiln_other_lane(x.sum, mask), kiln_other_lane(x.lost, mask)};
}

// The second step of a reduction over WAVES waves, whose results lie side by side in LDS.  (Each lane reading all of
// them is quicker for a single row, but takes registers from rows that are kept.)
template <class OF, int WAVES, int WAVE> static KILN_DEVICE float kiln_over_waves(const float *lds)
{
    return kiln_over_lanes<OF, WAVES>(lds[kiln_thread() % WAVE % WAVES]);
}

// Of sums, and of what they lost `apart` behind them.
template <class OF, int WAVES, int WAVE>
static KILN_DEVICE kiln_compensated kiln_over_waves(const float *lds, int apart)
{
    const float *const own = lds + kiln_thread() % WAVE % WAVES;
    return kiln_over_lanes<OF, WAVES>(kiln_compensated{own[0], own[apart]});
}

// Sums of exponentials of x less the largest x: with m the largest so far and s the sum of exp(x - m).  Nothing has
// been seen where m is -infinity: what is taken from it then is 0, so that s stays what it is.
static KILN_DEVICE float kiln_shift(float m)
{
    return m == -KILN_INF ? 0.0f : m;
}

// Over WAVES waves, whose results lie side by side in LDS.
template <int WAVES, int WAVE> static KILN_DEVICE float kiln_softmax_over_waves(const float *m, const float *s)
{
    const float shift = kiln_shift(kiln_over_waves<kiln_max_of, WAVES, WAVE>(m));
    const unsigned i = kiln_thread() % WAVE % WAVES;
    return kiln_over_lanes<kiln_sum_of, WAVES>(s[i] * kiln_exp(m[i] - shift));
}

// What it is at the end: of a row of -infinity, as exp(x - m) there, NaN.
static KILN_DEVICE float kiln_softmax_sum(float m, float s)
{
    return m == -KILN_INF ? KILN_NAN : s;
}

/* ---- pieces of a row ---- */

template <int WORDS> struct kiln_piece {
    unsigned v[WORDS];
};

// COUNT elements of BITS bits; `from` is a multiple of them, or of 16 bytes where they are more.
template <int BITS, int COUNT> static KILN_DEVICE kiln_piece<(BITS * COUNT + 31) / 32> kiln_load_piece(const void *from)
{
    enum { WORDS = (BITS * COUNT + 31) / 32, EACH = WORDS >= 4 ? 4 : WORDS };
    kiln_piece<WORDS> to;
    if constexpr (BITS * COUNT == 8) {
        to.v[0] = *(const kiln_uint8 *)from;
    } else if constexpr (BITS * COUNT == 16) {
        to.v[0] = *(const kiln_uint16 *)from;
    } else {
#pragma unroll
        for (int i = 0; i < WORDS; i += EACH) {
            if (EACH == 4) {
                const kiln_words4 w = ((const kiln_words4 *)from)[i / EACH];
                to.v[i] = w.v[0], to.v[(i + 1) % WORDS] = w.v[1 % EACH];
                to.v[(i + 2) % WORDS] = w.v[2 % EACH], to.v[(i + 3) % WORDS] = w.v[3 % EACH];
            } else if (EACH == 2) {
                const kiln_words2 w = *(const kiln_words2 *)from;
                to.v[i] = w.v[0], to.v[(i + 1) % WORDS] = w.v[1 % EACH];
            } else {
                to.v[i] = *(const kiln_uint32 *)from;
            }
        }
    }
    return to;
}

template <int BITS, int COUNT>
static KILN_DEVICE void kiln_store_piece(void *at, const kiln_piece<(BITS * COUNT + 31) / 32> &w)
{
    enum { WORDS = (BITS * COUNT + 31) / 32, EACH = WORDS >= 4 ? 4 : WORDS };
    if constexpr (BITS * COUNT == 8) {
        *(kiln_uint8 *)at = (unsigned char)w.v[0];
    } else if constexpr (BITS * COUNT == 16) {
        *(kiln_uint16 *)at = (unsigned short)w.v[0];
    } else {
#pragma unroll
        for (int i = 0; i < WORDS; i += EACH) {
            if (EACH == 4) {
                kiln_words4 to;
                to.v[0] = w.v[i], to.v[1] = w.v[(i + 1) % WORDS];
                to.v[2] = w.v[(i + 2) % WORDS], to.v[3] = w.v[(i + 3) % WORDS];
                ((kiln_words4 *)at)[i / EACH] = to;
            } else if (EACH == 2) {
                kiln_words2 to;
                to.v[0] = w.v[i], to.v[1] = w.v[(i + 1) % WORDS];
                *(kiln_words2 *)at = to;
            } else {
                *(kiln_uint32 *)at = w.v[i];
            }
        }
    }
}

// Has L2 fetch what will be read.
static KILN_DEVICE void kiln_fetch(const void *from)
{
#if defined(KILN_GPU_NVIDIA)
    asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
#else
    (void)from;
#endif
}

// The same at the address of any element, each APART elements behind the one before; only those less than `valid`
// behind the first exist, the rest are zero bits and not stored.
template <int BITS> struct kiln_bits_of;
template <> struct kiln_bits_of<8> {
    typedef kiln_uint8 type;
};
template <> struct kiln_bits_of<16> {
    typedef kiln_uint16 type;
};
template <> struct kiln_bits_of<32> {
    typedef kiln_uint32 type;
};

template <int BITS, int COUNT, int APART>
static KILN_DEVICE kiln_piece<(BITS * COUNT + 31) / 32> kiln_load_some(const void *from, int valid)
{
    typedef typename kiln_bits_of<BITS>::type element;
    kiln_piece<(BITS * COUNT + 31) / 32> to;
#pragma unroll
    for (int i = 0; i < (BITS * COUNT + 31) / 32; i++) to.v[i] = 0;
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        if (i * APART < valid)
            to.v[i * BITS / 32] |= (unsigned)((const element *)from)[i * APART] << i * BITS % 32;
    return to;
}

template <int BITS, int COUNT, int APART>
static KILN_DEVICE void kiln_store_some(void *at, const kiln_piece<(BITS * COUNT + 31) / 32> &w, int valid)
{
    typedef typename kiln_bits_of<BITS>::type element;
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        if (i * APART < valid) ((element *)at)[i * APART] = (element)(w.v[i * BITS / 32] >> i * BITS % 32);
}

// Tells the compiler nothing of where the words come from, so that it converts them anew in each phase of a row instead
// of keeping what they were converted to, which takes twice to four times the registers.  (On AMD's, where registers
// are enough, that costs more than the waves that it makes room for give.)
template <int WORDS> static KILN_DEVICE void kiln_anew(kiln_piece<WORDS> &w)
{
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
#if defined(KILN_GPU_NVIDIA)
        asm volatile("" : "+r"(w.v[i]));
#elif defined(KILN_GPU_AMD)
        asm volatile("" : "+v"(w.v[i]));
#else
        (void)w;
#endif
    }
}

/* ---- two f32 converted to bits side by side, as kiln_f32_to_T converts each ---- */

#define KILN_PAIR(T, bits)                                                          \
    static KILN_DEVICE unsigned kiln_pair_##T(float lo, float hi)                   \
    {                                                                               \
        const unsigned first = (unsigned)(kiln_uint##bits)kiln_f32_to_##T(lo);      \
        return first | (unsigned)(kiln_uint##bits)kiln_f32_to_##T(hi) << bits;      \
    }
#if defined(KILN_GPU_NVIDIA)
#define KILN_PAIR_PTX(T, ptx, size, c)                                       \
    static KILN_DEVICE unsigned kiln_pair_##T(float lo, float hi)            \
    {                                                                        \
        size w;                                                              \
        asm("cvt.rn." ptx ".f32 %0, %1, %2;" : c(w) : "f"(hi), "f"(lo));     \
        return (unsigned)w;                                                  \
    }
KILN_PAIR_PTX(f16, "f16x2", unsigned, "=r")
KILN_PAIR_PTX(bf16, "bf16x2", unsigned, "=r")
KILN_PAIR_PTX(f8e4m3, "satfinite.e4m3x2", unsigned short, "=h")
KILN_PAIR_PTX(f8e5m2, "satfinite.e5m2x2", unsigned short, "=h")
#undef KILN_PAIR_PTX
#else
KILN_PAIR(f16, 16)
KILN_PAIR(bf16, 16)
KILN_PAIR(f8e4m3, 8)
KILN_PAIR(f8e5m2, 8)
#endif
#if defined(__gfx942__)
// The hardware's conversion, of what saturates by then; NaN goes through.
static KILN_DEVICE float kiln_within(float x, float most)
{
    return x != x ? x : __builtin_amdgcn_fmed3f(x, -most, most);
}
static KILN_DEVICE unsigned kiln_pair_f8e4m3fnuz(float lo, float hi)
{
    lo = kiln_within(lo, 240.0f), hi = kiln_within(hi, 240.0f);
    return (unsigned)__builtin_amdgcn_cvt_pk_fp8_f32(lo, hi, 0, false) & 0xffffu;
}
static KILN_DEVICE unsigned kiln_pair_f8e5m2fnuz(float lo, float hi)
{
    lo = kiln_within(lo, 57344.0f), hi = kiln_within(hi, 57344.0f);
    return (unsigned)__builtin_amdgcn_cvt_pk_bf8_f32(lo, hi, 0, false) & 0xffffu;
}
#else
KILN_PAIR(f8e4m3fnuz, 8)
KILN_PAIR(f8e5m2fnuz, 8)
#endif
KILN_PAIR(i8, 8)
KILN_PAIR(u8, 8)
#undef KILN_PAIR

// COUNT values, converted side by side.
#define KILN_PACK(T, bits)                                                                                           \
    template <int COUNT>                                                                                             \
    static KILN_DEVICE kiln_piece<(bits * COUNT + 31) / 32> kiln_pack_##T(const float(&x)[COUNT])                    \
    {                                                                                                                \
        kiln_piece<(bits * COUNT + 31) / 32> w;                                                                      \
        _Pragma("unroll") for (int i = 0; i < (bits * COUNT + 31) / 32; i++) w.v[i] = 0;                             \
        if (COUNT == 1) w.v[0] = (unsigned)(kiln_uint##bits)kiln_f32_to_##T(x[0]);                                   \
        _Pragma("unroll") for (int i = 0; i + 1 < COUNT; i += 2)                                                     \
            w.v[i * bits / 32] |= kiln_pair_##T(x[i], x[(i + 1) % COUNT]) << i * bits % 32;                          \
        return w;                                                                                                    \
    }
#define KILN_PACK32(T, to)                                                                              \
    template <int COUNT> static KILN_DEVICE kiln_piece<COUNT> kiln_pack_##T(const float (&x)[COUNT])     \
    {                                                                                                   \
        kiln_piece<COUNT> w;                                                                            \
        _Pragma("unroll") for (int i = 0; i < COUNT; i++) w.v[i] = to;                                  \
        return w;                                                                                       \
    }
KILN_PACK(f16, 16)
KILN_PACK(bf16, 16)
KILN_PACK(i8, 8)
KILN_PACK(u8, 8)
KILN_PACK(f8e4m3, 8)
KILN_PACK(f8e5m2, 8)
KILN_PACK(f8e4m3fnuz, 8)
KILN_PACK(f8e5m2fnuz, 8)
KILN_PACK32(f32, kiln_bits(x[i]))
KILN_PACK32(i32, (unsigned)kiln_f32_to_i32(x[i]))
#undef KILN_PACK
#undef KILN_PACK32
#endif
