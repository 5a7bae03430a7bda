// SPDX-License-Identifier: MIT
// What object*.c and decode*.c share: the file being loaded, the disassembler, the decoding of one
// instruction.
#ifndef KS_OBJECT_H
#define KS_OBJECT_H
#include <gelf.h>
#include "sim.h"

enum {
    KS_INVALID_IMAGE = 200, /* hipErrorInvalidImage */
    KS_NO_BINARY = 209,     /* hipErrorNoBinaryForGpu */
    KS_NO_MEMORY = 2,       /* hipErrorOutOfMemory */
    KS_NOT_INITIALIZED = 3, /* hipErrorNotInitialized: no disassembler */
};

/* ---- Loading ---- */
typedef struct ks_file { /* lives while an object is being loaded */
    Elf *elf;
    ks_object *object;
    ks_error *error;
    uint64_t base; /* virtual address of object->image[0] */
} ks_file;
extern const char *const ks_arch_names[KS_ARCH_COUNT];

/* object_elf.c */
bool ks_elf_size(const uint8_t *elf, size_t *size, ks_error *);
bool ks_elf_header(ks_file *, ks_arch device);
bool ks_elf_image(ks_file *);
bool ks_elf_relocate(ks_file *);
/* The image's bytes at a virtual address; NULL where the segments have not that many. */
uint8_t *ks_elf_at(const ks_file *, uint64_t vaddr, uint64_t size);
/* Calls visit for each defined symbol with a name; false as soon as visit says so or the table is
 * damaged. */
bool ks_elf_symbols(ks_file *, bool (*visit)(ks_file *, const GElf_Sym *, const char *name, void *),
                    void *);
/* object_kernel.c: kernel descriptors and metadata. */
bool ks_kernels_read(ks_file *);
/* object_line.c */
void ks_lines_free(void *lines);

/* ---- Decoding ---- */
/* decode_llvm.c: whether there is a disassembler for an architecture; else an error that says what
 * was tried. */
bool ks_disasm_open(ks_arch, ks_error *);
unsigned ks_disasm_version(void); /* of LLVM; 0: none was found */
/* Bytes of the instruction at `at`; 0: not one.  Thread-safe; after ks_disasm_open. */
size_t ks_disasm_text(ks_arch, const uint8_t *at, size_t left, uint64_t pc, char *out, size_t size);

typedef struct ks_decoder {
    ks_arch arch;
    const ks_op *op;
    ks_inst *inst;
    const uint32_t *w; /* four words, zero past the end of the code */
    unsigned words;    /* words used so far */
    bool literal;      /* a literal has been taken */
    bool bad;          /* registers out of range, or an encoding that does not exist */
} ks_decoder;
/* decode_field.c: operands. */
ks_spec ks_spec_of(ks_spec, unsigned count);
void ks_dec_source(ks_decoder *, ks_operand *, unsigned code, ks_spec);
void ks_dec_sgpr(ks_decoder *, ks_operand *, unsigned reg, ks_spec);
void ks_dec_vgpr(ks_decoder *, ks_operand *, unsigned reg, bool acc, ks_spec);
void ks_dec_const(ks_operand *, uint64_t value, ks_spec);
uint32_t ks_dec_literal(ks_decoder *);
bool ks_dec_is(const ks_decoder *, const char *name);
/* Fields [low, low + count) of a word. */
static inline uint32_t ks_bits(uint32_t word, unsigned low, unsigned count)
{
    return word >> low & ((1u << count) - 1);
}
/* decode_scalar.c, decode_vector.c, decode_memory.c: by encoding. */
void ks_dec_sop(ks_decoder *);
void ks_dec_smem(ks_decoder *);
void ks_dec_vop(ks_decoder *);
void ks_dec_ds(ks_decoder *);
void ks_dec_flat(ks_decoder *);
void ks_dec_mubuf(ks_decoder *);
/* What the words are, KS_ENCODING_COUNT for other encodings. */
ks_encoding ks_encoding_of(uint32_t word);
#endif
