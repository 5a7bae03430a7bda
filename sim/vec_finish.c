// SPDX-License-Identifier: MIT
// Results of a vector instruction: omod, clamp and denormals of floats; and where a result that is
// only a part of its register goes (SDWA's dst_sel, 16-bit results).  On bits, so that MODE's
// rounding and the host's flags do not matter.
#include "vec_lanes.h"

/* Each format's fields, of the value as a 64-bit word. */
typedef struct format {
    uint64_t sign, infinity, one, fraction;
    unsigned mantissa; /* its bits */
} format;
static const format half_format = {0x8000, 0x7c00, 0x3c00, 0x3ff, 10};
static const format single_format = {0x80000000, 0x7f800000, 0x3f800000, 0x7fffff, 23};
static const format double_format = {1ull << 63, 0x7ffull << 52, 0x3ffull << 52, (1ull << 52) - 1,
                                     52};

/* Times 2, 4 or a half; what is or becomes denormal is 0, and so is -0. */
static uint64_t scaled(const format *f, uint64_t v, unsigned omod)
{
    uint64_t mag = v & ~f->sign, sign = v & f->sign, step = 1ull << f->mantissa;
    if (mag >= f->infinity) return v;
    if (mag < step) return 0;
    mag = omod == 3 ? mag - step : mag + omod * step;
    return mag >= f->infinity ? sign | f->infinity : mag < step ? 0 : sign | mag;
}
static uint64_t clamped(const format *f, uint64_t v, bool nan_is_zero)
{
    uint64_t mag = v & ~f->sign;
    if (mag > f->infinity) return nan_is_zero ? 0 : v;
    return (v & f->sign) ? 0 : mag > f->one ? f->one : mag;
}
static uint64_t finished(const format *f, uint64_t v, const ks_job *j, bool flush, unsigned omod)
{
    if (omod) v = scaled(f, v, omod);
    if (flush && !(v & f->infinity)) v &= f->sign;
    return j->in->clamp ? clamped(f, v, (j->w->mode & KS_MODE_DX10_CLAMP) != 0) : v;
}

void KS_V(ks_finish)(ks_job *j, unsigned n)
{
    const ks_inst *in = j->in;
    unsigned type = in->d[n].type;
    const ks_type_info *t = &ks_types[type];
    bool pair = type == KS_V2F16 || type == KS_V2F32, single = type == KS_F32 || type == KS_V2F32;
    if (!(t->class == 'f' || pair)) return;
    bool keeps = (ks_mode_denorm(j->w->mode, single) & KS_DENORM_OUT) != 0;
    bool flush = !keeps && !(j->flags & KS_F_RAW);
    /* The output modifier is there for modes without denormals and IEEE's rules only: it is ignored
     * in others. */
    unsigned omod = keeps || (j->w->mode & KS_MODE_IEEE) ? 0 : in->omod;
    if (!flush && !omod && !in->clamp) return;
    uint32_t *rows = j->k.d[n];
    if (t->bits == 64) {
        for (int i = 0; i < KS_LANES; i++) {
            uint64_t v = (uint64_t)rows[KS_LANES + i] << 32 | rows[i];
            v = finished(&double_format, v, j, flush, omod);
            rows[i] = (uint32_t)v;
            rows[KS_LANES + i] = (uint32_t)(v >> 32);
        }
        return;
    }
    const format *f = t->bits == 16 ? &half_format : &single_format;
    uint32_t low = t->bits == 16 ? 0xffffu : ~0u;
    for (int i = 0; i < KS_LANES * t->regs; i++) {
        uint32_t v = (uint32_t)finished(f, rows[i] & low, j, flush, omod);
        if (type == KS_V2F16) v |= (uint32_t)finished(f, rows[i] >> 16, j, flush, omod) << 16;
        rows[i] = v;
    }
}

void KS_V(ks_place)(const ks_job *j, uint32_t *row, const uint32_t *old)
{
    static const uint8_t shifts[6] = {0, 8, 16, 24, 0, 16};
    enum { PAD, SEXT, PRESERVE };
    const ks_inst *in = j->in;
    bool sdwa = in->sdwa && in->dst_sel < 6;
    unsigned shift = sdwa ? shifts[in->dst_sel] : ks_half_of(in, j->flags) == 1 ? 16 : 0;
    unsigned width = sdwa && in->dst_sel < 4 ? 8 : 16, unused = sdwa ? in->dst_unused : PRESERVE;
    uint32_t field = width == 8 ? 0xffu : 0xffffu;
    for (int i = 0; i < KS_LANES; i++) {
        uint32_t v = row[i] & field;
        uint32_t ext = (uint32_t)((int32_t)(v << (32u - width)) >> (32u - width));
        row[i] = unused == PRESERVE ? (old[i] & ~(field << shift)) | v << shift
                                    : (unused == SEXT ? ext : v) << shift;
    }
}
