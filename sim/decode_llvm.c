// SPDX-License-Identifier: MIT
// LLVM's disassembler, found at run time: it names an instruction and says how long it is.
// Everything else about the instruction comes from its bits.  One mutex guards it, as it is asked
// only when an object is loaded or reported on.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "object.h"

typedef void *create_fn(const char *triple, const char *cpu, const char *features, void *info,
                        int tag, void *op_info, void *symbols);
typedef size_t disasm_fn(void *, const uint8_t *, uint64_t size, uint64_t pc, char *, size_t);
typedef void init_fn(void);
typedef void version_fn(unsigned *, unsigned *, unsigned *);

enum { KS_LLVM_FIRST = 15, KS_LLVM_LAST = 23, KS_LLVM_KNOWN = 19, KS_GFX942_SINCE = 17 };
static struct {
    create_fn *create;
    disasm_fn *disasm;
    void *context[KS_ARCH_COUNT]; /* made when first asked for, kept for the process's life */
    unsigned major;
    char tried[KS_TEXT / 2];
} llvm;
static pthread_once_t llvm_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t llvm_lock = PTHREAD_MUTEX_INITIALIZER;

/* A function pointer out of a data pointer, which ISO C has no cast for. */
static bool symbol_of(void *library, const char *name, void *out)
{
    void *at = dlsym(library, name);
    memcpy(out, &at, sizeof at);
    return at != NULL;
}
static void note(const char *what)
{
    size_t used = strlen(llvm.tried);
    snprintf(llvm.tried + used, sizeof llvm.tried - used, "%s%s", used ? ", " : "", what);
}
static bool try_library(const char *path)
{
    static const char *const inits[] = {"LLVMInitializeAMDGPUTargetInfo",
                                        "LLVMInitializeAMDGPUTargetMC",
                                        "LLVMInitializeAMDGPUDisassembler"};
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
    init_fn *init[3];
    version_fn *version;
    void *since_15; /* older ones end the process when asked for gfx942 */
    bool ok = symbol_of(library, "LLVMCreateDisasmCPUFeatures", &llvm.create) &&
              symbol_of(library, "LLVMDisasmInstruction", &llvm.disasm) &&
              symbol_of(library, "LLVMPointerTypeInContext", &since_15);
    for (int i = 0; i < 3; i++) ok = ok && symbol_of(library, inits[i], &init[i]);
    if (!ok) {
        llvm.create = NULL;
        dlclose(library);
        return false;
    }
    for (int i = 0; i < 3; i++) init[i]();
    unsigned minor, patch;
    llvm.major = KS_LLVM_FIRST; /* the last one that could not say */
    if (symbol_of(library, "LLVMGetVersion", &version)) version(&llvm.major, &minor, &patch);
    return true;
}
static bool try_version(int version)
{
    char path[64];
    static const char *const names[] = {"libLLVM.so.%d.1", "libLLVM-%d.so.1", "libLLVM-%d.so",
                                        "/usr/lib/llvm-%d/lib/libLLVM.so",
                                        "/usr/lib/llvm%d/lib64/libLLVM.so"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(path, sizeof path, names[i], version);
#pragma GCC diagnostic pop
        if (try_library(path)) return true;
    }
    return false;
}
static void find_llvm(void)
{
    static const char *const others[] = {"/opt/rocm/llvm/lib/libLLVM.so",
                                         "/opt/rocm/lib/llvm/lib/libLLVM.so", "libLLVM.so"};
    const char *chosen = ks_options_get()->llvm;
    if (chosen) {
        note(chosen);
        try_library(chosen);
        return;
    }
    note("libLLVM.so.19.1 and the other names of LLVM 15 to 23");
    if (try_version(KS_LLVM_KNOWN)) return;
    for (int v = KS_LLVM_LAST; v >= KS_LLVM_FIRST; v--)
        if (v != KS_LLVM_KNOWN && try_version(v)) return;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        note(others[i]);
        if (try_library(others[i])) return;
    }
}

unsigned ks_disasm_version(void)
{
    pthread_once(&llvm_once, find_llvm);
    return llvm.create ? llvm.major : 0;
}
bool ks_disasm_open(ks_arch arch, ks_error *error)
{
    pthread_once(&llvm_once, find_llvm);
    if (!llvm.create) {
        ks_fail(
            error, KS_NOT_INITIALIZED,
            "decoding needs the shared library of LLVM 15 or later with AMDGPU in it, and none was "
            "found (tried %s): install libllvm19 or name one with KILN_SIM=llvm=PATH",
            llvm.tried);
        return false;
    }
    /* An unknown CPU ends the process inside LLVM: older ones know gfx942's encodings as gfx940. */
    const char *cpu = ks_arch_names[arch];
    if (arch == KS_GFX942 && llvm.major < KS_GFX942_SINCE) cpu = "gfx940";
    pthread_mutex_lock(&llvm_lock);
    if (!llvm.context[arch])
        llvm.context[arch] = llvm.create("amdgcn-amd-amdhsa", cpu, "", NULL, 0, NULL, NULL);
    bool ok = llvm.context[arch] != NULL;
    pthread_mutex_unlock(&llvm_lock);
    if (!ok)
        ks_fail(error, KS_NOT_INITIALIZED,
                "LLVM %u has no disassembler for %s: install libllvm19 or name one with "
                "KILN_SIM=llvm=PATH",
                llvm.major, cpu);
    return ok;
}

/* Whether words may be an instruction at all.  LLVM ends the process for some operand fields that
   no GFX9 encoding has: SDWA selections of 7, and (from version 20 on) literals and scalars where
   there can be none. */
enum {
    SRC_INT = 128,
    SRC_INT_END = 209,
    SRC_BASES = 235,
    SRC_BASES_END = 239,
    SRC_FLOAT = 240,
    SRC_FLOAT_END = 249,
    SRC_SDWA = 249,
    SRC_SPECIAL = 251,
    SRC_DIRECT = 254,
    SRC_VGPR = 256,
    FIRST_VOP2 = 0x100,
    FIRST_MATRIX = 0x40,
    ACC_READ = 0x58,
    ACC_WRITE = 0x59,
    NO_SELECTION = 7,
    NO_UNUSED = 3
};
static bool is_constant(unsigned code)
{
    return (code >= SRC_INT && code < SRC_INT_END) || (code >= SRC_FLOAT && code < SRC_FLOAT_END);
}
static bool is_source(unsigned code)
{
    return code < SRC_INT || code >= SRC_VGPR || is_constant(code) ||
           (code >= SRC_BASES && code < SRC_BASES_END) ||
           (code >= SRC_SPECIAL && code < SRC_DIRECT);
}
static bool vop3_exists(ks_encoding encoding, const uint32_t w[2])
{
    unsigned op = ks_bits(w[0], 16, 7);
    bool matrix = encoding == KS_VOP3P && op >= FIRST_MATRIX && op != ACC_READ && op != ACC_WRITE;
    for (unsigned i = 0; i < 3; i++) {
        unsigned code = ks_bits(w[1], 9 * i, 9);
        if (matrix ? code < SRC_VGPR && (i < 2 || !is_constant(code)) : !is_source(code))
            return false;
    }
    bool compare = encoding == KS_VOP3 && ks_bits(w[0], 16, 10) < FIRST_VOP2;
    return !compare || ks_bits(w[0], 0, 8) < KS_SREGS;
}
static bool sdwa_exists(ks_encoding encoding, uint32_t w)
{
    if (encoding != KS_VOPC && (ks_bits(w, 8, 3) == NO_SELECTION || ks_bits(w, 11, 2) == NO_UNUSED))
        return false;
    return ks_bits(w, 16, 3) != NO_SELECTION && ks_bits(w, 24, 3) != NO_SELECTION;
}
static bool may_ask(const uint8_t *at, size_t left)
{
    uint32_t w[2] = {0};
    memcpy(w, at, left < sizeof w ? left & ~(size_t)3 : sizeof w);
    ks_encoding encoding = ks_encoding_of(w[0]);
    switch (encoding) {
    case KS_VOP3:
    case KS_VOP3P:
        return vop3_exists(encoding, w);
    case KS_VOP1:
    case KS_VOP2:
    case KS_VOPC:
        return ks_bits(w[0], 0, 9) != SRC_SDWA || sdwa_exists(encoding, w[1]);
    case KS_MUBUF:
        return is_source(w[1] >> 24);
    case KS_SOP1:
    case KS_SOP2:
    case KS_SOPK:
    case KS_SOPC:
    case KS_SOPP:
    case KS_SMEM_ENC:
    case KS_DS:
    case KS_FLAT_ENC:
        return true;
    case KS_ENCODING_COUNT:
        break;
    }
    return false;
}
size_t ks_disasm_text(ks_arch arch, const uint8_t *at, size_t left, uint64_t pc, char *out,
                      size_t size)
{
    uint8_t copy[16];
    left = left < sizeof copy ? left : sizeof copy;
    memcpy(copy, at, left);
    if (size) *out = 0;
    if (!may_ask(copy, left)) return 0;
    pthread_mutex_lock(&llvm_lock);
    size_t bytes =
        llvm.context[arch] ? llvm.disasm(llvm.context[arch], copy, left, pc, out, size) : 0;
    pthread_mutex_unlock(&llvm_lock);
    if (!bytes && size) *out = 0;
    return bytes <= left ? bytes : 0;
}
