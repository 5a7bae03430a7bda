// SPDX-License-Identifier: MIT
// Functions of vectors of f32, of one instruction set: kiln_math.h's, under the same names, and what a row is reduced
// by.  Included once per instruction set behind host_width.h.  With AVX-512 what costs most is written anew around its
// 2^x (vscalefps), rounding and clamping instructions, within the bounds of kiln_math.h; everything else is kiln_math.h
// lane by lane, which compilers make vectors of.
//   A condition is a vector of 0 and -1.  Functions of many steps take four vectors, in place, a step of all four after
// the other: a machine looks ahead some hundred instructions, and the steps of one vector wait for each other.
#include "host_vec.h"

typedef HOST_(vi) HOST_(mask);

/* ---- any instruction set ---- */
static HOST_INLINE HOST_TARGET HOST_(vf) HOST_(select)(HOST_(mask) c, HOST_(vf) x, HOST_(vf) y)
{
    return (HOST_(vf))((c & (HOST_(vi))x) | (~c & (HOST_(vi))y));
}

static HOST_INLINE HOST_TARGET HOST_(vf) HOST_(abs)(HOST_(vf) x)
{
    return (HOST_(vf))((HOST_(vu))x & 0x7fffffffu);
}

static HOST_INLINE HOST_TARGET HOST_(vf) HOST_(relu)(HOST_(vf) x)
{
    return (HOST_(vf))((HOST_(vi))x & ~(x < 0.0f));
}

static HOST_INLINE HOST_TARGET HOST_(vf) HOST_(leaky_relu)(HOST_(vf) x, HOST_(vf) slope)
{
    return HOST_(select)(x > 0.0f, x, slope * x);
}

/* 0, 1, 2 ... */
static HOST_INLINE HOST_TARGET HOST_(vi) HOST_(count)(void)
{
    HOST_(vi) v;
    for (int i = 0; i < HOST_VW; i++) v[i] = i;
    return v;
}

/* at .. as f32 */
static HOST_INLINE HOST_TARGET HOST_(vf) HOST_(columns)(long long at)
{
    return __builtin_convertvector(HOST_(count)() + (int)at, HOST_(vf));
}

/* Each of four vectors v, which stand for columns j on. */
#define HOST_EACH HOST_UNROLL for (int v = 0, j = first; v < 4; v++, j += HOST_VW)
#define HOST_ALL HOST_UNROLL for (int v = 0; v < 4; v++)

/* Lane by lane. */
#define HOST_LANES_4(name)                                                                         \
    static HOST_INLINE HOST_TARGET void HOST_(name)(HOST_(vf) x[4])                                \
    {                                                                                              \
        float w[4 * HOST_VW];                                                                      \
        __builtin_memcpy(w, x, sizeof w);                                                          \
        _Pragma("omp simd") for (int i = 0; i < 4 * HOST_VW; i++) w[i] = kiln_##name(w[i]);        \
        __builtin_memcpy(x, w, sizeof w);                                                          \
    }
#define HOST_LANES_1(name, of)                                                                     \
    static HOST_INLINE HOST_TARGET HOST_(vf) HOST_(name)(HOST_(vf) x)                              \
    {                                                                                              \
        float v[HOST_VW];                                                                          \
        __builtin_memcpy(v, &x, sizeof x);                                                         \
        _Pragma("omp simd") for (int i = 0; i < HOST_VW; i++) v[i] = of(v[i]);                     \
        __builtin_memcpy(&x, v, sizeof x);                                                         \
        return x;                                                                                  \
    }
#define HOST_LANES_2(name)                                                                         \
    static HOST_INLINE HOST_TARGET HOST_(vf) HOST_(name)(HOST_(vf) x, HOST_(vf) y)                 \
    {                                                                                              \
        float v[HOST_VW], w[HOST_VW];                                                              \
        __builtin_memcpy(v, &x, sizeof x);                                                         \
        __builtin_memcpy(w, &y, sizeof y);                                                         \
        _Pragma("omp simd") for (int i = 0; i < HOST_VW; i++) v[i] = kiln_##name(v[i], w[i]);      \
        __builtin_memcpy(&x, v, sizeof x);                                                         \
        return x;                                                                                  \
    }
/* x as element type T holds it. */
#define HOST_CAST(T)                                                                               \
    static HOST_INLINE float HOST_(as_##T)(float x)                                                \
    {                                                                                              \
        return kiln_##T##_to_f32(kiln_f32_to_##T(x));                                              \
    }                                                                                              \
    HOST_LANES_1(cast_##T, HOST_(as_##T))

HOST_LANES_4(gelu_tanh)
HOST_LANES_4(tanh)
HOST_LANES_4(log)
HOST_LANES_4(sqrt)
HOST_LANES_4(rsqrt)
HOST_LANES_1(round, kiln_round)
HOST_LANES_1(floor, kiln_floor)
HOST_LANES_2(pow)
HOST_CAST(i8)
HOST_CAST(u8)
HOST_CAST(i32)
HOST_CAST(f8e4m3)
HOST_CAST(f8e5m2)
HOST_CAST(f8e4m3fnuz)
HOST_CAST(f8e5m2fnuz)

/* The sum and the like of all lanes, in each of them: halves, quarters ... */
#if HOST_VW == 16
#define HOST_FOLD(v, two)                                                                          \
    v = two(v, __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7)); \
    v = two(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11)); \
    v = two(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13)); \
    v = two(v, __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14))
#elif HOST_VW == 8
#define HOST_FOLD(v, two)                                                                          \
    v = two(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3));                             \
    v = two(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5));                             \
    v = two(v, __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6))
#else
#define HOST_FOLD(v, two)                                                                          \
    v = two(v, __builtin_shufflevector(v, v, 2, 3, 0, 1));                                         \
    v = two(v, __builtin_shufflevector(v, v, 1, 0, 3, 2))
#endif

static HOST_INLINE HOST_TARGET HOST_(vf) HOST_(add)(HOST_(vf) x, HOST_(vf) y)
{
    return x + y;
}

static HOST_INLINE HOST_TARGET float HOST_(total)(HOST_(vf) v)
{
    HOST_FOLD(v, HOST_(add));
    return v[0];
}

/* Compensated sums: each lane's, and what it lost (host_sum_one). */
static HOST_INLINE HOST_TARGET void HOST_(sum_one)(HOST_(vf) *sum, HOST_(vf) *lost, HOST_(vf) x)
{
    HOST_ALONE(x);
    const HOST_(vf) s = *sum + x, of_x = s - *sum;
    *lost += (*sum - (s - of_x)) + (x - of_x);
    *sum = s;
}

static HOST_INLINE HOST_TARGET float HOST_(sum_value)(HOST_(vf) sum, HOST_(vf) lost)
{
    float all = sum[0], all_lost = lost[0];
    for (int i = 1; i < HOST_VW; i++) {
        all = host_sum_one(all, sum[i], &all_lost);
        all_lost += lost[i];
    }
    return host_sum_value(all, all_lost);
}

/* ---- AVX-512 ---- */
#if HOST_ISA == 512
/* The lesser or greater of x and y; y where either is NaN. */
static HOST_INLINE HOST_TARGET HOST_(vf) HOST_(least)(HOST_(vf) x, HOST_(vf) y)
{
    HOST_(vf) r;
    __asm__("vminps %2, %1, %0" : "=v"(r) : "v"(x), "v"(y));
    return r;
}

static HOST_INLINE HOST_TARGET HOST_(vf) HOST_(most)(HOST_(vf) x, HOST_(vf) y)
{
    HOST_(vf) r;
    __asm__("vmaxps %2, %1, %0" : "=v"(r) : "v"(x), "v"(y));
    return r;
}

/* x where it is NaN, else y. */
static HOST_INLINE HOST_TARGET HOST_(vf) HOST_(if_nan)(HOST_(vf) x, HOST_(vf) y)
{
    unsigned short k;
    __asm__("vcmpunordps %1, %1, %0" : "=Yk"(k) : "v"(x));
    __asm__("vmovaps %1, %0%{%2%}" : "+v"(y) : "v"(x), "Yk"(k));
    return y;
}

static HOST_INLINE HOST_TARGET HOST_(vf) HOST_(min)(HOST_(vf) x, HOST_(vf) y)
{
    return HOST_(if_nan)(x, HOST_(least)(x, y));
}

static HOST_INLINE HOST_TARGET HOST_(vf) HOST_(max)(HOST_(vf) x, HOST_(vf) y)
{
    return HOST_(if_nan)(x, HOST_(most)(x, y));
}

/* x with its magnitude at most b's, NaN as if it were b; sign: with x's, else without. */
static HOST_INLINE HOST_TARGET HOST_(vf) HOST_(within)(HOST_(vf) x, HOST_(vf) b, const int sign)
{
    HOST_(vf) r;
    if (sign)
        __asm__("vrangeps $2, %2, %1, %0" : "=v"(r) : "v"(x), "v"(b));
    else
        __asm__("vrangeps $10, %2, %1, %0" : "=v"(r) : "v"(x), "v"(b));
    return r;
}

/* x 2^floor(n), rounded once, for any x and n. */
static HOST_INLINE HOST_TARGET HOST_(vf) HOST_(scale)(HOST_(vf) x, HOST_(vf) n)
{
    HOST_(vf) r;
    __asm__("vscalefps %2, %1, %0" : "=v"(r) : "v"(x), "v"(n));
    return r;
}

static HOST_INLINE HOST_TARGET HOST_(vf) HOST_(fma)(HOST_(vf) x, HOST_(vf) y, HOST_(vf) z)
{
    __asm__("vfmadd213ps %2, %1, %0" : "+v"(x) : "v"(y), "v"(z));
    return x;
}

/* z - x y, rounded once whatever the compiler is told of contraction. */
static HOST_INLINE HOST_TARGET HOST_(vf) HOST_(fnma)(HOST_(vf) x, HOST_(vf) y, HOST_(vf) z)
{
    __asm__("vfnmadd213ps %2, %1, %0" : "+v"(x) : "v"(y), "v"(z));
    return x;
}

/* The integer nearest to f x. */
static HOST_INLINE HOST_TARGET HOST_(vf) HOST_(whole)(HOST_(vf) x, const float f)
{
    HOST_(vf) t = x * f + 12582912.0f; /* 1.5 * 2^23 */
    __asm__("" : "+v"(t));
    return t - 12582912.0f;
}

/* d = 1/d, within 1 ulp where both are normal. */
static HOST_INLINE HOST_TARGET void HOST_(recip)(HOST_(vf) d[4])
{
    HOST_(vf) r[4];
    HOST_ALL __asm__("vrcp14ps %1, %0" : "=v"(r[v]) : "v"(d[v]));
    HOST_ALL d[v] = HOST_(fnma)(d[v], r[v], HOST_(splat)(1.0f));
    HOST_ALL d[v] = r[v] + r[v] * d[v];
}

/* q: e^r = 1 + q r, r in the polynomial's range [-ln2/2, ln2/2] or clamped to it: where x was too large for r to mean
 * anything the power of two alone decides.  The polynomial of kiln_exp_split. */
static HOST_INLINE HOST_TARGET void HOST_(exp_near)(HOST_(vf) r[4], HOST_(vf) q[4])
{
    HOST_ALL r[v] = HOST_(within)(r[v], HOST_(splat)(0.35f), 1);
    HOST_ALL q[v] = 0.00138134090f * r[v] + 0.00836942345f;
    HOST_ALL q[v] = q[v] * r[v] + 0.0416684523f;
    HOST_ALL q[v] = q[v] * r[v] + 0.166665152f;
    HOST_ALL q[v] = q[v] * r[v] + 0.499999940f;
    HOST_ALL q[v] = q[v] * r[v] + 1.0f;
}

static HOST_INLINE HOST_TARGET void HOST_(exp)(HOST_(vf) x[4])
{
    HOST_(vf) k[4], q[4];
    HOST_ALL k[v] = HOST_(whole)(x[v], 1.44269502f);
    HOST_ALL x[v] = x[v] - k[v] * 0.693145752f;
    HOST_ALL x[v] = x[v] - k[v] * 1.42860677e-6f;
    HOST_(exp_near)(x, q);
    HOST_ALL x[v] = q[v] * x[v] + 1.0f;
    HOST_ALL x[v] = HOST_(scale)(x[v], k[v]);
}

/* n = n / (1 + e^-x) = n / (p + 2^k) 2^k, where e^-x = p 2^-k: the scale comes last, for the result may be subnormal.
 * From k = 60 on 2^k is all that counts. */
static HOST_INLINE HOST_TARGET void HOST_(gate)(HOST_(vf) n[4], const HOST_(vf) x[4])
{
    HOST_(vf) k[4], r[4], q[4];
    HOST_ALL k[v] = HOST_(whole)(x[v], 1.44269502f);
    HOST_ALL r[v] = k[v] * 0.693145752f - x[v];
    HOST_ALL r[v] = r[v] + k[v] * 1.42860677e-6f;
    HOST_(exp_near)(r, q);
    HOST_ALL r[v] = q[v] * r[v] + 1.0f;
    HOST_ALL k[v] = HOST_(least)(HOST_(splat)(60.0f), k[v]);
    HOST_ALL r[v] = r[v] + HOST_(scale)(HOST_(splat)(1.0f), k[v]);
    HOST_(recip)(r);
    HOST_ALL n[v] = n[v] * r[v];
    HOST_ALL n[v] = HOST_(scale)(n[v], k[v]);
}

static HOST_INLINE HOST_TARGET void HOST_(sigmoid)(HOST_(vf) x[4])
{
    HOST_(vf) one[4];
    HOST_ALL one[v] = HOST_(splat)(1.0f);
    HOST_(gate)(one, x);
    HOST_ALL x[v] = one[v];
}

/* 0 at -infinity: n / p must not overflow. */
static HOST_INLINE HOST_TARGET void HOST_(silu)(HOST_(vf) x[4])
{
    HOST_(vf) n[4];
    HOST_ALL n[v] = HOST_(most)(HOST_(splat)(-1024.0f), x[v]);
    HOST_(gate)(n, x);
    HOST_ALL x[v] = n[v];
}

/* x Phi(x) = max(x, 0) - t Phi(-t), t = |x|; Phi(-t) as kiln_gelu has it, e^(-t^2/2) Q(t), but in single floats where
 * that costs less than an ulp.  0 at -infinity. */
static HOST_INLINE HOST_TARGET void HOST_(gelu)(HOST_(vf) x[4])
{
    HOST_(vf) t[4], u[4], e[4], w[4], q[4], s[4], k[4];
    HOST_ALL t[v] = HOST_(within)(x[v], HOST_(splat)(16.0f), 0);
    /* v = 1 / d, d = 1 + t/4: the machine's u, and v = u (1 + e) with d's rounding made good; w = v - 1/2. */
    HOST_ALL s[v] = t[v] * 0.25f + 1.0f;
    HOST_ALL k[v] = s[v] - 1.0f;
    HOST_ALL k[v] = t[v] * 0.25f - k[v];
    HOST_ALL __asm__("vrcp14ps %1, %0" : "=v"(u[v]) : "v"(s[v]));
    HOST_ALL e[v] = HOST_(fnma)(s[v], u[v], HOST_(splat)(1.0f));
    HOST_ALL e[v] = e[v] - k[v] * u[v];
    HOST_ALL w[v] = u[v] - 0.5f;
    HOST_ALL w[v] = w[v] + u[v] * e[v];
    HOST_ALL q[v] = 0.017177036f * w[v] + 0.0111782672f;
    HOST_ALL q[v] = q[v] * w[v] - 0.0501890518f;
    HOST_ALL q[v] = q[v] * w[v] - 0.056163393f;
    HOST_ALL q[v] = q[v] * w[v] + 0.0601920336f;
    HOST_ALL q[v] = q[v] * w[v] + 0.241613954f;
    HOST_ALL q[v] = q[v] * w[v] + 0.373047322f;
    HOST_ALL q[v] = q[v] * w[v] + 0.387136906f;
    HOST_ALL q[v] = q[v] * w[v] + 0.303948283f;
    HOST_ALL q[v] = q[v] * w[v] + 0.188821286f;
    HOST_ALL t[v] = t[v] * u[v];
    HOST_ALL q[v] = q[v] * t[v];
    HOST_ALL s[v] = x[v] * x[v];
    HOST_ALL u[v] = HOST_(fma)(x[v], x[v], -s[v]);
    HOST_ALL k[v] = HOST_(whole)(s[v], -0.72134751f);
    HOST_ALL s[v] = s[v] * -0.5f - k[v] * 0.693145752f;
    HOST_ALL u[v] = u[v] + k[v] * 2.85721354e-6f;
    HOST_ALL u[v] = u[v] - e[v] * 2.0f; /* 1 + e is e^e within 2^-29 */
    HOST_ALL s[v] = s[v] - u[v] * 0.5f;
    HOST_(exp_near)(s, u);
    HOST_ALL s[v] = q[v] * s[v];
    HOST_ALL q[v] = q[v] + s[v] * u[v];
    HOST_ALL q[v] = HOST_(scale)(q[v], k[v]);
    HOST_ALL x[v] = HOST_(most)(HOST_(splat)(0.0f), x[v]) - q[v];
}

static HOST_INLINE HOST_TARGET HOST_(vu) HOST_(larger)(HOST_(vu) x, HOST_(vu) y)
{
    HOST_(vu) r;
    __asm__("vpmaxud %2, %1, %0" : "=v"(r) : "v"(x), "v"(y));
    return r;
}

/* The bits of x rounded to bf16, in the upper half; the lower one is not zero. */
static HOST_INLINE HOST_TARGET HOST_(vu) HOST_(bf16_bits)(HOST_(vf) x)
{
    const HOST_(vu) u = (HOST_(vu))x;
    HOST_(vu) r = u + 0x7fffu;
    unsigned short odd, nan;
    __asm__("vptestmd %2, %1, %0" : "=Yk"(odd) : "v"(u), "v"((HOST_(vu)){0} + 0x10000u));
    __asm__("vcmpunordps %1, %1, %0" : "=Yk"(nan) : "v"(x));
    __asm__("vpaddd %2, %1, %0%{%3%}" : "+v"(r) : "v"(u), "v"((HOST_(vu)){0} + 0x8000u), "Yk"(odd));
    __asm__("vpord %2, %1, %0%{%3%}" : "+v"(r) : "v"(u), "v"((HOST_(vu)){0} + 0x400000u), "Yk"(nan));
    return r;
}
#else
HOST_LANES_2(min)
HOST_LANES_2(max)
HOST_LANES_4(exp)
HOST_LANES_4(sigmoid)
HOST_LANES_4(silu)
HOST_LANES_4(gelu)

static HOST_INLINE HOST_TARGET HOST_(vu) HOST_(larger)(HOST_(vu) x, HOST_(vu) y)
{
#if HOST_ISA == 256
    HOST_(vu) r;
    __asm__("vpmaxud %2, %1, %0" : "=x"(r) : "x"(x), "x"(y));
    return r;
#else
    const HOST_(vu) c = (HOST_(vu))(x > y);
    return (c & x) | (~c & y);
#endif
}

static HOST_INLINE HOST_TARGET HOST_(vu) HOST_(bf16_bits)(HOST_(vf) x)
{
    const HOST_(vu) u = (HOST_(vu))x, nan = (HOST_(vu))(x != x);
    return (nan & (u | 0x400000u)) | (~nan & (u + 0x7fffu + ((u >> 16) & 1)));
}
#endif

static HOST_INLINE HOST_TARGET HOST_(vf) HOST_(clamp)(HOST_(vf) x, HOST_(vf) lo, HOST_(vf) hi)
{
    return HOST_(min)(HOST_(max)(x, lo), hi);
}

static HOST_INLINE HOST_TARGET HOST_(vf) HOST_(cast_f32)(HOST_(vf) x)
{
    return x;
}

static HOST_INLINE HOST_TARGET HOST_(vf) HOST_(cast_bf16)(HOST_(vf) x)
{
    return (HOST_(vf))(HOST_(bf16_bits)(x) & 0xffff0000u);
}

#if HOST_ISA >= 256
static HOST_INLINE HOST_TARGET HOST_(vf) HOST_(cast_f16)(HOST_(vf) x)
{
    HOST_(vu16) h;
    HOST_(vf) r;
    __asm__("vcvtps2ph $0, %1, %0" : "=v"(h) : "v"(x));
    __asm__("vcvtph2ps %1, %0" : "=v"(r) : "v"(h));
    return r;
}
#else
HOST_CAST(f16)
#endif

/* ---- picking a number, of a row or a block ---- */
/* The greatest or least so far of each lane, and whether a NaN was among them: with AVX-512 a mask of lanes without
 * one, else the greatest magnitude's bits. */
typedef struct HOST_(pick) {
    HOST_(vf) r;
#if HOST_ISA == 512
    unsigned short ordered;
#else
    HOST_(vu) o;
#endif
} HOST_(pick);

static HOST_INLINE HOST_TARGET HOST_(pick) HOST_(pick_none)(const int max)
{
    HOST_(pick) p;
    p.r = HOST_(splat)(max ? -KILN_INF : KILN_INF);
#if HOST_ISA == 512
    p.ordered = 0xffff;
#else
    p.o = (HOST_(vu)){0};
#endif
    return p;
}

static HOST_INLINE HOST_TARGET HOST_(vf) HOST_(picked)(HOST_(vf) x, HOST_(vf) y, const int max)
{
#if HOST_ISA == 512
    return max ? HOST_(most)(x, y) : HOST_(least)(x, y);
#elif HOST_ISA == 256
    HOST_(vf) r;
    if (max)
        __asm__("vmaxps %2, %1, %0" : "=x"(r) : "x"(x), "x"(y));
    else
        __asm__("vminps %2, %1, %0" : "=x"(r) : "x"(x), "x"(y));
    return r;
#else
    return HOST_(select)(max ? x > y : x < y, x, y);
#endif
}

static HOST_INLINE HOST_TARGET void HOST_(pick_one)(HOST_(pick) *p, HOST_(vf) x, const int max)
{
#if HOST_ISA == 512
    __asm__("vcmpordps %1, %1, %0%{%0%}" : "+Yk"(p->ordered) : "v"(x));
#else
    p->o = HOST_(larger)(p->o, (HOST_(vu))x & 0x7fffffffu);
#endif
    p->r = HOST_(picked)(x, p->r, max);
}

static HOST_INLINE HOST_TARGET void HOST_(pick_both)(HOST_(pick) *p, const HOST_(pick) *q, const int max)
{
#if HOST_ISA == 512
    p->ordered &= q->ordered;
#else
    p->o = HOST_(larger)(p->o, q->o);
#endif
    p->r = HOST_(picked)(p->r, q->r, max);
}

static HOST_INLINE HOST_TARGET HOST_(vf) HOST_(picked_max)(HOST_(vf) x, HOST_(vf) y)
{
    return HOST_(picked)(x, y, 1);
}

static HOST_INLINE HOST_TARGET HOST_(vf) HOST_(picked_min)(HOST_(vf) x, HOST_(vf) y)
{
    return HOST_(picked)(x, y, 0);
}

static HOST_INLINE HOST_TARGET unsigned HOST_(largest)(HOST_(vu) o)
{
    HOST_FOLD(o, HOST_(larger));
    return o[0];
}

static HOST_INLINE HOST_TARGET float HOST_(pick_value)(const HOST_(pick) *p, const int max)
{
    HOST_(vf) r = p->r;
    if (max) {
        HOST_FOLD(r, HOST_(picked_max));
    } else {
        HOST_FOLD(r, HOST_(picked_min));
    }
#if HOST_ISA == 512
    return p->ordered == 0xffff ? r[0] : KILN_NAN;
#else
    return HOST_(largest)(p->o) > 0x7f800000u ? KILN_NAN : r[0];
#endif
}
#undef HOST_FOLD

#include "host_narrow.h"
#undef HOST_ALL
#undef HOST_LANES_4
#undef HOST_LANES_1
#undef HOST_LANES_2
#undef HOST_CAST
