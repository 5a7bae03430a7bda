// SPDX-License-Identifier: MIT
// The two f64 forms.  Lane l has row (column) l % M of block l / M % blocks of A (B), at k = l / 16; row i of D is in
// register pair i / 4, from lane 16 * (i % 4) on.  A chain of fused multiply-adds, k ascending; denormals are kept.
#include <math.h>
#include <string.h>
#include "vec_mfma.h"

static void join(const uint32_t *rows, unsigned pairs, bool negate, double (*out)[KS_LANES])
{
    for (unsigned p = 0; p < pairs; p++, rows += 2 * KS_LANES)
        for (unsigned l = 0; l < KS_LANES; l++) {
            const uint64_t bits = ((uint64_t)rows[KS_LANES + l] << 32 | rows[l]) ^ (uint64_t)negate << 63;
            memcpy(&out[p][l], &bits, sizeof(bits));
        }
}
static void split(uint32_t *rows, unsigned pairs, double (*in)[KS_LANES])
{
    for (unsigned p = 0; p < pairs; p++, rows += 2 * KS_LANES)
        for (unsigned l = 0; l < KS_LANES; l++) {
            uint64_t bits;
            memcpy(&bits, &in[p][l], sizeof(bits));
            if (in[p][l] != in[p][l]) bits = 0x7ff8000000000000;
            rows[l] = (uint32_t)bits;
            rows[KS_LANES + l] = (uint32_t)(bits >> 32);
        }
}

/* On gfx942 blgp's bits negate A, B and C. */
void KS_V(ks_mfma_f64)(ks_lanes *l, const ks_mfma_form *f)
{
    const unsigned neg = l->arch == KS_GFX90A ? 0 : l->inst->blgp;
    const unsigned m = f->m, pairs = m * m * f->blocks / KS_LANES;
    double a[1][KS_LANES], b[1][KS_LANES], d[4][KS_LANES];
    join(l->s[0], 1, neg & 1, a);
    join(l->s[1], 1, neg & 2, b);
    join(l->s[2], pairs, neg & 4, d);
    for (unsigned i = 0; i < m * f->blocks; i++) { /* rows of all blocks */
        const unsigned block = i / m, row = i % m;
        double *sum = d[row / 4] + 16 * (row % 4) + block * m;
        for (unsigned k = 0; k < f->k; k++) {
            const double x = a[0][16 * k + i], *y = b[0] + 16 * k + block * m;
            for (unsigned j = 0; j < m; j++) sum[j] = fma(x, y[j], sum[j]);
        }
    }
    split(l->d[0], pairs, d);
}
