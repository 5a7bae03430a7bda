// SPDX-License-Identifier: MIT
// Between vec_lanes.c (runs an instruction), vec_fetch.c (its sources) and vec_finish.c (its
// results): one variant's.
#ifndef KS_VEC_LANES_H
#define KS_VEC_LANES_H
#include "vec_table.h"

/* Slots of ks_wave.temp. */
enum { KS_T_SOURCE = 0, KS_T_RESULT = 4, KS_T_AGAIN = 6, KS_T_UNDEFINED = 8, KS_T_WORK = 10 };
/* What stands in for undefined bits while an instruction is evaluated: their accidental values,
 * then others. */
enum {
    KS_FILL_ACTUAL,
    KS_FILL_ZEROS,
    KS_FILL_ONES,
    KS_FILL_PATTERN,
    KS_FILL_INVERSE,
    KS_FILL_OTHER,
    KS_FILLS
};
/* MODE: rounding and denormals, a field for f32 and one for f16 and f64; clamp and IEEE behaviour.
 */
enum { KS_MODE_DX10_CLAMP = 1 << 8, KS_MODE_IEEE = 1 << 9, KS_DENORM_IN = 1, KS_DENORM_OUT = 2 };
static inline unsigned ks_mode_round(uint32_t mode, bool single)
{
    return mode >> (single ? 0 : 2) & 3u;
}
static inline unsigned ks_mode_denorm(uint32_t mode, bool single)
{
    return mode >> (single ? 4 : 6) & 3u;
}

/* An instruction at work. */
typedef struct ks_job {
    ks_wave *w;
    const ks_inst *in;
    uint32_t flags;
    unsigned fill;
    uint64_t lanes;       /* written; DPP may take some away */
    const uint32_t *mask; /* the same as a row of ~0 and 0 */
    bool part;            /* the first result goes to a part of its register */
    uint16_t s[4], d[2];  /* vector registers after s_set_gpr_idx */
    ks_lanes k;
} ks_job;

/* Rows of source n with everything applied. */
const uint32_t *KS_V(ks_fetch)(ks_job *, unsigned n);
/* The same without DPP, SDWA, modifiers or undefined bits. */
const uint32_t *KS_V(ks_fetch_plain)(ks_job *, unsigned n);
/* Lanes that DPP leaves to be written. */
void KS_V(ks_dpp_lanes)(ks_job *);
/* omod, clamp and denormals of result n, whose rows are at k.d[n]. */
void KS_V(ks_finish)(ks_job *, unsigned n);
/* Where a first result that is only part of a register goes: row becomes the register's new value,
   given its old one.  Of undefined bits likewise: copies of an undefined sign are undefined,
   padding is not. */
void KS_V(ks_place)(const ks_job *, uint32_t *row, const uint32_t *old);

/* A 16-bit result by op_sel or the instruction's own nature: 1 the upper half, 0 the lower, -1 the
 * whole register. */
static inline int ks_half_of(const ks_inst *in, uint32_t flags)
{
    const ks_type_info *t = &ks_types[in->d[0].type];
    if (t->bits != 16 || t->class == 'p') return -1;
    if ((flags & KS_F_D16_HI) || (in->encoding == KS_VOP3 && (in->op_sel & 8u))) return 1;
    return (flags & KS_F_D16) ? 0 : -1;
}
static inline bool ks_is_part(const ks_inst *in, uint32_t flags)
{
    return in->d[0].where == KS_VGPR &&
           ((in->sdwa && in->dst_sel < 6) || ks_half_of(in, flags) >= 0);
}

static inline void ks_spread_mask(uint32_t *row, uint64_t bits, uint32_t one)
{
#ifdef __AVX512F__
    for (int i = 0; i < KS_LANES; i += 16)
        _mm512_storeu_si512(row + i, _mm512_maskz_set1_epi32((__mmask16)(bits >> i), (int)one));
#else
    for (int i = 0; i < KS_LANES; i++) row[i] = (bits >> i & 1u) ? one : 0;
#endif
}
/* Bit i: bit 0 of lane i. */
static inline uint64_t ks_gather_mask(const uint32_t *row)
{
    uint64_t bits = 0;
#if defined(__AVX512F__)
    for (int i = 0; i < KS_LANES; i += 16)
        bits |= (uint64_t)_mm512_test_epi32_mask(_mm512_loadu_si512(row + i), _mm512_set1_epi32(1))
                << i;
#elif defined(__AVX2__)
    for (int i = 0; i < KS_LANES; i += 8) {
        __m256i v = _mm256_slli_epi32(_mm256_loadu_si256((const __m256i *)(row + i)), 31);
        bits |= (uint64_t)(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(v)) << i;
    }
#else
    for (int i = 0; i < KS_LANES; i++) bits |= (uint64_t)(row[i] & 1u) << i;
#endif
    return bits;
}
static inline void ks_splat(uint32_t *row, uint32_t value)
{
    for (int i = 0; i < KS_LANES; i++) row[i] = value;
}
static inline uint32_t ks_any(const uint32_t *row, const uint32_t *mask)
{
    uint32_t any = 0;
    for (int i = 0; i < KS_LANES; i++) any |= row[i] & mask[i];
    return any;
}
#endif
