// SPDX-License-Identifier: MIT
// LLVM's disassembler, found at run time: it names an instruction and says how long it is.  Everything else about the
// instruction comes from its bits.  One mutex guards it, as it is asked only when an object is loaded or reported on.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "object.h"

typedef void *create_fn(const char *triple, const char *cpu, const char *features, void *info, int tag, void *op_info,
                        void *symbols);
typedef size_t disasm_fn(void *, const uint8_t *, uint64_t size, uint64_t pc, char *, size_t);
typedef void dispose_fn(void *);
typedef void init_fn(void);
typedef void version_fn(unsigned *, unsigned *, unsigned *);

enum { KS_LLVM_FIRST = 15, KS_LLVM_LAST = 22, KS_LLVM_KNOWN = 19, KS_GFX942_SINCE = 17 };
struct ks_disasm {
    void *context;
};
static struct {
    create_fn *create;
    disasm_fn *disasm;
    dispose_fn *dispose;
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
    static const char *const inits[] = {"LLVMInitializeAMDGPUTargetInfo", "LLVMInitializeAMDGPUTargetMC",
                                        "LLVMInitializeAMDGPUDisassembler"};
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return false;
    init_fn *init[3];
    version_fn *version;
    bool ok = symbol_of(library, "LLVMCreateDisasmCPUFeatures", &llvm.create) &&
              symbol_of(library, "LLVMDisasmInstruction", &llvm.disasm) &&
              symbol_of(library, "LLVMDisasmDispose", &llvm.dispose);
    for (int i = 0; i < 3; i++)
        ok = ok && symbol_of(library, inits[i], &init[i]);
    if (!ok) {
        llvm.create = NULL;
        dlclose(library);
        return false;
    }
    for (int i = 0; i < 3; i++)
        init[i]();
    unsigned minor, patch;
    llvm.major = KS_LLVM_FIRST; /* the last one that could not say */
    if (symbol_of(library, "LLVMGetVersion", &version))
        version(&llvm.major, &minor, &patch);
    return true;
}
static bool try_version(int version)
{
    char path[64];
    static const char *const names[] = {"libLLVM.so.%d.1", "libLLVM-%d.so.1", "libLLVM-%d.so",
                                        "/usr/lib/llvm-%d/lib/libLLVM.so", "/usr/lib/llvm%d/lib64/libLLVM.so"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(path, sizeof path, names[i], version);
#pragma GCC diagnostic pop
        if (try_library(path))
            return true;
    }
    return false;
}
static void find_llvm(void)
{
    static const char *const others[] = {"/opt/rocm/llvm/lib/libLLVM.so", "/opt/rocm/lib/llvm/lib/libLLVM.so",
                                         "libLLVM.so"};
    const char *chosen = ks_options_get()->llvm;
    if (chosen) {
        note(chosen);
        try_library(chosen);
        return;
    }
    note("libLLVM.so.19.1 and the other names of LLVM 15 to 22");
    if (try_version(KS_LLVM_KNOWN))
        return;
    for (int v = KS_LLVM_LAST; v >= KS_LLVM_FIRST; v--)
        if (v != KS_LLVM_KNOWN && try_version(v))
            return;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        note(others[i]);
        if (try_library(others[i]))
            return;
    }
}

ks_disasm *ks_disasm_open(ks_arch arch, ks_error *error)
{
    pthread_once(&llvm_once, find_llvm);
    if (!llvm.create) {
        ks_fail(error, KS_NOT_INITIALIZED,
                "decoding needs LLVM's shared library with AMDGPU in it, and none was found (tried %s): install "
                "libllvm19 or name one with KILN_SIM=llvm=PATH", llvm.tried);
        return NULL;
    }
    ks_disasm *d = malloc(sizeof *d);
    if (!d) {
        ks_fail(error, KS_NO_MEMORY, "no memory for the disassembler");
        return NULL;
    }
    /* An unknown CPU ends the process inside LLVM: older ones know gfx942's encodings as gfx940's. */
    const char *cpu = arch == KS_GFX90A ? "gfx90a" : llvm.major < KS_GFX942_SINCE ? "gfx940" : "gfx942";
    pthread_mutex_lock(&llvm_lock);
    d->context = llvm.create("amdgcn-amd-amdhsa", cpu, "", NULL, 0, NULL, NULL);
    pthread_mutex_unlock(&llvm_lock);
    if (!d->context) {
        ks_fail(error, KS_NOT_INITIALIZED, "LLVM %u has no disassembler for %s: install libllvm19 or name one with "
                "KILN_SIM=llvm=PATH", llvm.major, cpu);
        free(d);
        return NULL;
    }
    return d;
}
void ks_disasm_close(ks_disasm *d)
{
    if (!d)
        return;
    pthread_mutex_lock(&llvm_lock);
    llvm.dispose(d->context);
    pthread_mutex_unlock(&llvm_lock);
    free(d);
}
size_t ks_disasm_text(ks_disasm *d, const uint8_t *at, size_t left, uint64_t pc, char *out, size_t size)
{
    pthread_mutex_lock(&llvm_lock);
    size_t bytes = llvm.disasm(d->context, at, left < 16 ? left : 16, pc, out, size);
    pthread_mutex_unlock(&llvm_lock);
    if (!bytes && size)
        *out = 0;
    return bytes <= left ? bytes : 0;
}
