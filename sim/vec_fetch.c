// SPDX-License-Identifier: MIT
// Sources of a vector instruction as rows: registers in place; scalars and constants spread; then,
// where an instruction asks for it, other fills of undefined bits, DPP, SDWA's selection, op_sel,
// f16 to f32 (fma_mix), denormals, abs, neg.
#include "vec_lanes.h"

#define KS_HASH(x) (((x) ^ (x) >> 15) * 0x2c1b3c6du)

/* The same register has the same fill wherever it is read, so that v_xor v0, v0, v0 is defined. */
static uint64_t fill_bits(unsigned fill, uint64_t value, uint64_t undefined, unsigned reg)
{
    uint64_t p = KS_HASH(reg * 0x9e3779b9u + 0x85ebca6bu);
    p = (p << 32 | KS_HASH((uint32_t)p)) ^ 0x5bd1e99512d687ull;
    switch (fill) {
    case KS_FILL_ZEROS:
        return value & ~undefined;
    case KS_FILL_ONES:
        return value | undefined;
    case KS_FILL_PATTERN:
        return (value & ~undefined) | (p & undefined);
    case KS_FILL_INVERSE:
        return (value & ~undefined) | (~p & undefined);
    default:
        return value;
    }
}

static void fill_row(unsigned fill, uint32_t *out, const uint32_t *row, const uint32_t *undefined,
                     unsigned reg)
{
    uint32_t pattern = KS_HASH(reg * 0x9e3779b9u + 0x5bd1e995u),
             flip = fill == KS_FILL_INVERSE ? ~0u : 0;
    if (fill == KS_FILL_ACTUAL)
        memcpy(out, row, KS_LANES * 4);
    else if (fill == KS_FILL_ZEROS || fill == KS_FILL_ONES)
        for (uint32_t i = 0; i < KS_LANES; i++)
            out[i] = (row[i] & ~undefined[i]) | (fill == KS_FILL_ONES ? undefined[i] : 0);
    else
        for (uint32_t i = 0; i < KS_LANES; i++)
            out[i] = (row[i] & ~undefined[i]) |
                     ((KS_HASH(pattern + i * 0x9e3779b9u) ^ flip) & undefined[i]);
}

/* Value of a scalar source; its undefined bits filled. */
static uint64_t scalar(const ks_job *j, const ks_operand *o)
{
    const ks_wave *w = j->w;
    if (o->where == KS_CONST) return o->value;
    if (o->where == KS_SGPR) {
        bool pair = o->count > 1;
        uint64_t v = pair ? ks_s64(w, o->reg) : w->s[o->reg];
        if (j->fill == KS_FILL_ACTUAL) return v;
        uint64_t u = w->su[o->reg] | (pair ? (uint64_t)w->su[o->reg + 1] << 32 : 0);
        return fill_bits(j->fill, v, u, 1024u + o->reg);
    }
    uint64_t undefined = 0, v = ks_scalar_read(j->w, o, &undefined);
    return fill_bits(j->fill, v, undefined, 1024u + o->reg);
}

static const uint32_t *spread(const ks_job *j, const ks_operand *o, uint32_t (*temp)[KS_LANES])
{
    uint64_t v = scalar(j, o);
    if (o->type == KS_MASK) {
        ks_spread_mask(temp[0], v, 1);
        return temp[0];
    }
    unsigned regs = ks_types[o->type].regs, count = o->count > regs ? o->count : regs;
    for (unsigned r = 0; r < count; r++) { /* a constant is every element of a vector */
        bool high = (r & 1u) && (o->where != KS_CONST || regs == 2);
        ks_splat(temp[r], (uint32_t)(high ? v >> 32 : v));
    }
    return temp[0];
}

const uint32_t *KS_V(ks_fetch_plain)(ks_job *j, unsigned n)
{
    const ks_operand *o = &j->in->s[n];
    if (o->where == KS_VGPR) return j->w->v[j->s[n]];
    return spread(j, o, j->w->temp[KS_T_SOURCE + n]);
}

/* ---- DPP ---- */
/* Lane that lane i reads, -1: none. */
static int dpp_lane(unsigned ctrl, int i)
{
    int row = i & ~15, in_row = i & 15, by = (int)(ctrl & 15u), from;
    if (ctrl < 0x100) return (i & ~3) | (int)(ctrl >> (i & 3) * 2 & 3u); /* quad_perm */
    switch (ctrl >> 4) {
    case 0x10: /* row_shl */
        return in_row + by < 16 ? i + by : -1;
    case 0x11: /* row_shr */
        return in_row >= by ? i - by : -1;
    case 0x12: /* row_ror */
        return row | ((in_row - by) & 15);
    case 0x13: /* wave_shl, wave_rol, wave_shr, wave_ror */
        from = by < 8 ? i + 1 : i - 1;
        return (by & 4) ? from & 63 : from < KS_LANES ? from : -1;
    case 0x14:
        return by == 0   ? row | (15 - in_row)      /* row_mirror */
               : by == 1 ? (i & ~7) | (7 - (i & 7)) /* row_half_mirror */
               : by == 2 ? row - 1                  /* row_bcast:15 */
               : i >= 32 ? 31                       /* row_bcast:31 */
                         : -1;
    default: /* row_newbcast */
        return row | by;
    }
}
static bool dpp_known(unsigned ctrl)
{
    return ctrl < 0x100 || (ctrl > 0x100 && ctrl < 0x130 && (ctrl & 15u)) ||
           (ctrl >> 4 == 0x13 && !(ctrl & 3u)) || (ctrl >= 0x140 && ctrl <= 0x143) ||
           ctrl >> 4 == 0x15;
}
/* Lanes with a source: one that exists and that EXEC has on. */
static uint64_t dpp_sources(const ks_job *j, int8_t from[KS_LANES])
{
    uint64_t exec = ks_exec_of(j->w), valid = 0;
    for (int i = 0; i < KS_LANES; i++) {
        int lane = dpp_lane(j->in->dpp_ctrl, i);
        bool ok = lane >= 0 && (exec >> lane & 1u);
        from[i] = (int8_t)(ok ? lane : -1);
        valid |= (uint64_t)ok << i;
    }
    return valid;
}
void KS_V(ks_dpp_lanes)(ks_job *j)
{
    const ks_inst *in = j->in;
    int8_t from[KS_LANES];
    if (!dpp_known(in->dpp_ctrl)) {
        enum { LAUNCH_FAILURE = 719 };
        ks_report(j->w, in, KILNSIM_UNKNOWN, -1, 0,
                  "DPP control 0x%x, which this target does not have: the launch stops here; "
                  "compile without it",
                  in->dpp_ctrl);
        ks_stop(j->w, LAUNCH_FAILURE);
    }
    if (!in->bound_ctrl) j->lanes &= dpp_sources(j, from);
    uint64_t banks = 0x000f000f000f000full, masks = 0;
    for (unsigned b = 0; b < 4; b++) masks |= (in->bank_mask >> b & 1u) ? banks << b * 4 : 0;
    for (unsigned r = 0; r < 4; r++)
        masks &= (in->row_mask >> r & 1u) ? ~0ull : ~(0xffffull << r * 16);
    j->lanes &= masks;
}
static void dpp_move(ks_job *j, uint32_t (*out)[KS_LANES], const uint32_t *in, unsigned rows)
{
    int8_t from[KS_LANES];
    dpp_sources(j, from);
    for (unsigned r = 0; r < rows; r++) {
        uint32_t row[KS_LANES];
        for (int i = 0; i < KS_LANES; i++)
            row[i] = from[i] < 0 ? 0 : in[r * KS_LANES + (unsigned)from[i]];
        memcpy(out[r], row, sizeof(row));
    }
}

/* ---- Bits of one row ---- */
static void sdwa_select(uint32_t *row, unsigned sel, bool sext)
{
    static const uint8_t shift[8] = {0, 8, 16, 24, 0, 16, 0, 0},
                         width[8] = {8, 8, 8, 8, 16, 16, 32, 32};
    unsigned up = 32u - width[sel] - shift[sel], down = 32u - width[sel];
    for (int i = 0; i < KS_LANES; i++)
        row[i] = sext ? (uint32_t)((int32_t)(row[i] << up) >> down) : row[i] << up >> down;
}
static void sign(uint32_t *row, uint32_t bit, bool abs, bool neg)
{
    uint32_t keep = abs ? ~bit : ~0u, flip = neg ? bit : 0;
    for (int i = 0; i < KS_LANES; i++) row[i] = (row[i] & keep) ^ flip;
}
static void flush16(uint32_t *row, unsigned shift)
{
    for (int i = 0; i < KS_LANES; i++)
        row[i] &= (row[i] >> shift & 0x7c00u) ? ~0u : ~(0x3ffu << shift);
}
static void flush32(uint32_t *row)
{
    for (int i = 0; i < KS_LANES; i++) row[i] &= (row[i] & 0x7f800000u) ? ~0u : 0x80000000u;
}
static void flush64(uint32_t (*rows)[KS_LANES])
{
    for (int i = 0; i < KS_LANES; i++) {
        uint32_t keep = (rows[1][i] & 0x7ff00000u) ? ~0u : 0;
        rows[0][i] &= keep;
        rows[1][i] &= keep | 0x80000000u;
    }
}
static void flush(uint32_t (*rows)[KS_LANES], unsigned type)
{
    switch (type) {
    case KS_F16:
        flush16(rows[0], 0);
        break;
    case KS_V2F16:
        flush16(rows[0], 0);
        flush16(rows[0], 16);
        break;
    case KS_F32:
        flush32(rows[0]);
        break;
    case KS_V2F32:
        flush32(rows[0]);
        flush32(rows[1]);
        break;
    case KS_F64:
        flush64(rows);
        break;
    default:
        break;
    }
}

/* VOP3P: the low half of a fetched row is what the low result uses. */
static void packed_halves(const ks_inst *in, unsigned n, uint32_t (*rows)[KS_LANES])
{
    bool low_high = in->op_sel >> n & 1u, high_high = in->op_sel_hi >> n & 1u;
    if (ks_types[in->s[n].type].regs == 2) {
        uint32_t low[KS_LANES];
        memcpy(low, rows[low_high], sizeof(low));
        if (!high_high) memcpy(rows[1], rows[0], sizeof(low));
        if (low_high) memcpy(rows[0], low, sizeof(low));
        return;
    }
    unsigned low = low_high ? 16 : 0, high = high_high ? 16 : 0;
    for (int i = 0; i < KS_LANES; i++)
        rows[0][i] = (rows[0][i] >> low & 0xffffu) | rows[0][i] >> high << 16;
}

/* fma_mix: an f16 source becomes f32. */
static void mix_source(const ks_job *j, unsigned n, uint32_t *row)
{
    const ks_inst *in = j->in;
    bool half = in->op_sel_hi >> n & 1u, high = in->op_sel >> n & 1u;
    if (half) {
        float f[KS_LANES];
        if (high)
            for (int i = 0; i < KS_LANES; i++) row[i] >>= 16;
        if (!(ks_mode_denorm(j->w->mode, false) & KS_DENORM_IN)) flush16(row, 0);
        ks_row_from_f16(f, row, 0);
        memcpy(row, f, sizeof(f));
    } else if (!(ks_mode_denorm(j->w->mode, true) & KS_DENORM_IN)) {
        flush32(row);
    }
    sign(row, 0x80000000u, in->neg_hi >> n & 1u, in->neg >> n & 1u);
}

static bool flushes(const ks_job *j, unsigned type)
{
    char class = ks_types[type].class;
    if ((j->flags & KS_F_RAW) || !(class == 'f' || type == KS_V2F16 || type == KS_V2F32))
        return false;
    return !(ks_mode_denorm(j->w->mode, type == KS_F32 || type == KS_V2F32) & KS_DENORM_IN);
}

static void signs(const ks_inst *in, unsigned n, uint32_t (*rows)[KS_LANES])
{
    const ks_type_info *t = &ks_types[in->s[n].type];
    bool abs = in->abs >> n & 1u, neg = in->neg >> n & 1u, neg_hi = in->neg_hi >> n & 1u;
    if (t->class == 'p') {
        if (neg) sign(rows[0], t->regs == 2 ? 0x80000000u : 0x8000u, false, true);
        if (neg_hi) sign(rows[t->regs - 1], 0x80000000u, false, true);
    } else if (abs || neg) {
        sign(rows[t->regs - 1], t->bits == 16 ? 0x8000u : 0x80000000u, abs, neg);
    }
}

static void raw_rows(const ks_job *j, unsigned n, uint32_t (*rows)[KS_LANES], unsigned count)
{
    const ks_wave *w = j->w;
    if (j->in->s[n].where != KS_VGPR) {
        spread(j, &j->in->s[n], rows);
        return;
    }
    for (unsigned r = 0; r < count; r++) {
        unsigned reg = j->s[n] + r;
        if (j->fill == KS_FILL_ACTUAL || w->v_clean[reg])
            memcpy(rows[r], w->v[reg], sizeof(rows[r]));
        else
            fill_row(j->fill, rows[r], w->v[reg], w->vu[reg], reg);
    }
}
static unsigned row_count(const ks_operand *o)
{
    return o->count ? o->count : ks_types[o->type].regs;
}
/* Undefined bits of row r of source n. */
static void undefined_row(const ks_job *j, unsigned n, unsigned r, uint32_t *row)
{
    const ks_wave *w = j->w;
    const ks_operand *o = &j->in->s[n];
    if (o->where == KS_VGPR && !w->v_clean[j->s[n] + r])
        memcpy(row, w->vu[j->s[n] + r], KS_LANES * 4);
    else
        ks_splat(row, o->where == KS_SGPR ? w->su[o->reg + r] : 0);
}
/* Undefined bits become those of the other source (of the first two; where both are undefined, the
   second's): then what a comparison for equality depends on is found. */
static void fill_as_other(ks_job *j, unsigned n, uint32_t (*rows)[KS_LANES], unsigned count)
{
    unsigned m = n ^ 1u, other_count = j->in->ns > 1 && n < 2 ? row_count(&j->in->s[m]) : 0;
    uint32_t(*other)[KS_LANES] = j->w->temp[KS_T_WORK], take[KS_LANES], too[KS_LANES];
    if (!other_count || j->in->s[m].type == KS_MASK) return;
    raw_rows(j, m, other, other_count);
    for (unsigned r = 0; r < count && r < other_count; r++) {
        undefined_row(j, n, r, take);
        undefined_row(j, m, r, too);
        for (int i = 0; i < KS_LANES; i++) {
            uint32_t bits = n == 1 ? take[i] & ~too[i] : take[i];
            rows[r][i] = (rows[r][i] & ~bits) | (other[r][i] & bits);
        }
    }
}

/* What an instruction has done to a source, in this order. */
enum { DPP = 1, SELECT = 2, MIX = 4, HALF = 8, PACKED = 16, FLUSH = 32, SIGN = 64 };
static unsigned changes_of(const ks_job *j, unsigned n)
{
    const ks_inst *in = j->in;
    unsigned type = in->s[n].type, change = 0;
    const ks_type_info *t = &ks_types[type];
    bool sel = in->op_sel >> n & 1u, sel_hi = in->op_sel_hi >> n & 1u;
    if (type == KS_MASK || in->op->class == KS_MFMA_OP) return 0;
    if (in->dpp && n == 0) change |= DPP;
    if (in->sdwa && n < 2 && in->src_sel[n] < 6) change |= SELECT;
    if (j->flags & KS_F_MIX) return change | MIX;
    if (in->encoding == KS_VOP3 && t->bits == 16 && t->class != 'p' && sel) change |= HALF;
    if (in->encoding == KS_VOP3P && t->class == 'p' && (sel || !sel_hi)) change |= PACKED;
    if (flushes(j, type)) change |= FLUSH;
    if ((in->abs | in->neg | in->neg_hi) >> n & 1u) change |= SIGN;
    return change;
}

const uint32_t *KS_V(ks_fetch)(ks_job *j, unsigned n)
{
    const ks_inst *in = j->in;
    const ks_operand *o = &in->s[n];
    uint32_t(*temp)[KS_LANES] = j->w->temp[KS_T_SOURCE + n];
    unsigned count = row_count(o), change = changes_of(j, n);
    if (j->fill == KS_FILL_ACTUAL && !change) return KS_V(ks_fetch_plain)(j, n);
    if (j->fill == KS_FILL_OTHER) {
        j->fill = KS_FILL_ACTUAL;
        raw_rows(j, n, temp, count);
        fill_as_other(j, n, temp, count);
        j->fill = KS_FILL_OTHER;
    } else {
        raw_rows(j, n, temp, count);
    }
    if (change & DPP) dpp_move(j, temp, temp[0], count);
    if (change & SELECT) sdwa_select(temp[0], in->src_sel[n], in->sext >> n & 1u);
    if (change & MIX) mix_source(j, n, temp[0]);
    if (change & HALF)
        for (int i = 0; i < KS_LANES; i++) temp[0][i] >>= 16;
    if (change & PACKED) packed_halves(in, n, temp);
    if (change & FLUSH) flush(temp, o->type);
    if (change & SIGN) signs(in, n, temp);
    return temp[0];
}
