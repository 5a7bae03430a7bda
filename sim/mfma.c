// SPDX-License-Identifier: MIT
// The matrix instructions' forms as data, and which modifiers each has (MI200 and CDNA3 ISA documents).
#include "mfma.h"

const ks_mfma_form ks_mfma_forms[KS_MFMA_COUNT] = {
#define X(name, m, k, blocks, a, b, kind, c90a, c942) \
    { m, k, blocks, KS_MFMA_##a, KS_MFMA_##b, KS_MFMA_##kind == KS_MFMA_SPARSE, { c90a, c942 } },
    KS_MFMA_FORMS(X)
#undef X
};

/* cbsz and abid broadcast one of several blocks of A, or choose a set of SMFMAC's indices.  blgp moves B's lanes in
   everything that gfx90a has but f64; gfx942 kept it in what it shares with gfx908, and negates with it in f64. */
const char *ks_mfma_bad_modifier(const ks_inst *inst, ks_arch arch)
{
    const ks_mfma_form *f = ks_mfma_form_of(inst->op);
    const bool f64 = f->a == KS_MFMA_F64;
    const bool cbsz = f->sparse || (f->blocks > 1 && !f64);
    const bool blgp = arch == KS_GFX90A ? !f64 : f64 || f->a == KS_MFMA_F32 || (f->blocks > 1 && !f->sparse);
    if (!cbsz && inst->cbsz) return "cbsz";
    if (!cbsz && inst->abid) return "abid";
    if (!f->sparse && cbsz && (1u << inst->cbsz) > f->blocks) return "cbsz";
    if (!f->sparse && cbsz && inst->abid >> inst->cbsz) return "abid";
    if (!blgp && inst->blgp) return "blgp";
    return NULL;
}
