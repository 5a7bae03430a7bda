// SPDX-License-Identifier: MIT
// The matrix unit's f32 sums.  A line is one row of D: M consecutive lanes; its four neighbours are in the next
// registers.  So the loops below read A a value, B and D a line at a time, where the instruction's registers have them.
// D = C + a0*b0 + a1*b1 + ...: k ascending, each product exact, one rounding (to nearest even) for each addition.  AMD
// does not document the order; measurements of others say that the hardware adds in groups.  A NaN is 0x7fc00000.
#include <math.h>
#include <string.h>
#include "vec_mfma.h"

#if defined __AVX512F__
#include <immintrin.h>
typedef __m512 vec;
#define FMA(a, b, c, exact) ((void)(exact), _mm512_fmadd_ps(a, b, c))
#define SPLAT(x)            _mm512_set1_ps(x)
#elif defined __AVX2__ && defined __FMA__
#include <immintrin.h>
typedef __m256 vec;
#define FMA(a, b, c, exact) ((void)(exact), _mm256_fmadd_ps(a, b, c))
#define SPLAT(x)            _mm256_set1_ps(x)
#else
typedef float vec __attribute__((vector_size(16)));
#define SPLAT(x) ((vec){ x, x, x, x })
static inline vec fma_each(vec a, vec b, vec c, bool exact)
{
    if (exact) return a * b + c;
    for (unsigned i = 0; i < 4; i++) c[i] = fmaf(a[i], b[i], c[i]);
    return c;
}
#define FMA(a, b, c, exact) fma_each(a, b, c, exact)
#endif
enum { WIDTH = sizeof(vec) / sizeof(float), STEP = 2 }; /* vectors of a line worked on together */
typedef int32_t ivec __attribute__((vector_size(sizeof(vec))));

static inline vec load(const float *p)
{
    vec v;
    memcpy(&v, p, sizeof(v));
    return v;
}
static inline void store(float *p, vec v)
{
    const ivec nan = v != v;
    const ivec bits = ((ivec)v & ~nan) | (nan & 0x7fc00000);
    memcpy(p, &bits, sizeof(bits));
}
/* Four rows from row 4 * quad on of block's product; of their columns those from col on, n vectors.  m: M. */
static inline __attribute__((always_inline)) void four_rows(const ks_mfma_work *w, unsigned m, unsigned n,
                                                            unsigned block, unsigned quad, unsigned col)
{
    const unsigned quads = KS_LANES / m; /* of one register */
    const size_t at = (size_t)(block * m * m / KS_LANES + quad / quads * 4) * KS_LANES + quad % quads * m + col;
    const unsigned stride = m * w->form->blocks, groups = w->form->k / w->per;
    vec sum[4][STEP];
    for (unsigned r = 0; r < 4; r++)
        for (unsigned v = 0; v < n; v++) sum[r][v] = load(w->c + at + r * KS_LANES + v * WIDTH);
    for (unsigned g = 0; g < groups; g++)
        for (unsigned e = 0; e < w->per; e++) {
            const float *a = w->a[e] + g * stride + block * m + 4 * quad;
            const float *b = w->b[e] + g * stride + block * m + col;
            for (unsigned v = 0; v < n; v++) {
                const vec line = load(b + v * WIDTH);
                for (unsigned r = 0; r < 4; r++) sum[r][v] = FMA(SPLAT(a[r]), line, sum[r][v], w->exact);
            }
        }
    for (unsigned r = 0; r < 4; r++)
        for (unsigned v = 0; v < n; v++) store(w->d + at + r * KS_LANES + v * WIDTH, sum[r][v]);
}
static inline __attribute__((always_inline)) void lines(const ks_mfma_work *w, unsigned m)
{
    const unsigned n = m / WIDTH < STEP ? m / WIDTH : STEP;
    for (unsigned block = 0; block < w->form->blocks; block++)
        for (unsigned quad = 0; quad < m / 4; quad++)
            for (unsigned col = 0; col < m; col += n * WIDTH) four_rows(w, m, n, block, quad, col);
}

/* 4x4: register r is row r of all sixteen blocks; every value of K is in one lane. */
static void small(const ks_mfma_work *w)
{
    for (unsigned r = 0; r < 4; r++) {
        float sum[KS_LANES];
        memcpy(sum, w->c + r * KS_LANES, sizeof(sum));
        for (unsigned e = 0; e < w->per; e++) {
            float a[KS_LANES];
            for (unsigned l = 0; l < KS_LANES; l++) a[l] = w->a[e][(l & ~3u) + r];
            for (unsigned l = 0; l < KS_LANES; l += WIDTH) {
                const vec v = FMA(load(a + l), load(w->b[e] + l), load(sum + l), w->exact);
                memcpy(sum + l, &v, sizeof(v));
            }
        }
        for (unsigned l = 0; l < KS_LANES; l += WIDTH) store(w->d + r * KS_LANES + l, load(sum + l));
    }
}

void KS_V(ks_mfma_dot)(const ks_mfma_work *w)
{
    switch (w->form->m) {
    case 32: lines(w, 32); break;
    case 16: lines(w, 16); break;
    default: small(w); break;
    }
}

/* SMFMAC: of each four values of K, A has two; where in the four each stands is in two bits of its lane's index: the
   line of B that a value meets differs from row to row. */
void KS_V(ks_mfma_dot_sparse)(const ks_mfma_work *w)
{
    const unsigned m = w->form->m, quads = KS_LANES / m, groups = w->form->k / w->per;
    for (unsigned i = 0; i < m; i++) {
        const size_t at = (size_t)(i / (4 * quads) * 4 + i % 4) * KS_LANES + i / 4 % quads * m;
        for (unsigned col = 0; col < m; col += WIDTH) {
            vec sum = load(w->c + at + col);
            for (unsigned g = 0; g < groups; g++)
                for (unsigned e = 0; e < w->per / 2; e++) {
                    const unsigned lane = g * m + i;
                    const unsigned k = e / 2 * 4 + (w->index[lane] >> (w->set + 2 * e) & 3);
                    sum = FMA(SPLAT(w->a[e][lane]), load(w->b[k] + g * m + col), sum, w->exact);
                }
            store(w->d + at + col, sum);
        }
    }
}
