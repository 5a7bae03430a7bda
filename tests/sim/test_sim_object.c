// SPDX-License-Identifier: MIT
// Loading code objects: what a sound one holds; what is said of each wrong field; that no
// truncation and no damaged byte does more than be refused; and of compiled kernels their lines and
// whether their workgroups run in turn.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "object_build.h"
#include "object.h"

static built b; /* the object under test */
static ks_error error;

static ks_object *load(size_t size)
{
    memset(&error, 0, sizeof error);
    return ks_object_load(b.bytes, size, KS_GFX942, &error);
}
static void check_error(int hip, const char *text)
{
    if (error.hip != hip || !strstr(error.text, text))
        print_message("# expected %d and \"%s\", got %d \"%s\"\n", hip, text, error.hip,
                      error.text);
    assert_int_equal(error.hip, hip);
    assert_non_null(strstr(error.text, text));
    assert_null(strchr(error.text, '\n'));
}

/* Runs first, in a child: LLVM is looked for once in a process. */
static void test_no_llvm(void **s)
{
    (void)s;
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        setenv("KILN_SIM", "log=off,llvm=/nowhere/libLLVM.so", 1);
        build_object(&b, NULL);
        bool refused = !load(b.size) && strstr(error.text, "tried /nowhere/libLLVM.so)") &&
                       strstr(error.text, "KILN_SIM=llvm=PATH");
        _exit(refused ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* ---- A sound object ---- */
static void test_kernels(void **s)
{
    (void)s;
    build_object(&b, NULL);
    ks_object *o = load(b.size);
    assert_non_null(o);
    assert_int_equal(o->kernel_count, 2);
    assert_null(ks_object_kernel(o, "third"));
    const ks_kernel *k = ks_object_kernel(o, "first"), *second = ks_object_kernel(o, "second");
    assert_non_null(k);
    assert_non_null(second);
    assert_ptr_equal(k->object, o);
    assert_int_equal(k->lds, 256);
    assert_int_equal(k->scratch, 16);
    assert_int_equal(k->kernarg_size, 32);
    assert_int_equal(k->kernarg_align, 8);
    assert_int_equal(k->rsrc1, 0x11);
    assert_int_equal(k->rsrc2, 0x22);
    assert_int_equal(k->rsrc3, 0x33);
    assert_int_equal(k->properties, 8);
    assert_int_equal(k->vgprs, 8);
    assert_int_equal(k->agprs, 4);
    assert_int_equal(k->sgprs, 16);
    assert_int_equal(k->max_threads, 256);
    assert_int_equal(k->vgpr_spills, 3);
    assert_int_equal(k->sgpr_spills, 5);
    assert_int_equal(k->arg_count, 4);
    assert_int_equal(k->args[1].offset, 8);
    assert_int_equal(k->args[1].size, 4);
    assert_int_equal(k->args[0].hidden, KS_ARG_EXPLICIT);
    assert_int_equal(k->args[1].hidden, KS_ARG_EXPLICIT);
    assert_int_equal(k->args[2].hidden, KS_ARG_BLOCK_COUNT_Y);
    assert_int_equal(k->args[3].hidden, KS_ARG_HOSTCALL);
    assert_false(k->serial);
    assert_true(second->serial);
    ks_object_free(o);
}
static void test_code(void **s)
{
    (void)s;
    static const char *const names[] = {
        "s_load_dwordx2", "s_waitcnt", "v_mov_b32",         "v_mov_b32",      "global_store_dword",
        "s_endpgm",       "v_mov_b32", "global_atomic_add", "s_cbranch_scc1", "s_endpgm"};
    build_object(&b, NULL);
    ks_object *o = load(b.size);
    assert_non_null(o);
    assert_int_equal(o->inst_count, sizeof names / sizeof *names);
    for (uint32_t i = 0; i < o->inst_count; i++) {
        assert_string_equal(o->inst[i].op->name, names[i]);
        assert_int_equal(o->index_of[o->inst[i].pc / 4], i);
    }
    assert_int_equal(o->index_of[1], KS_NO_TARGET);
    assert_int_equal(ks_object_kernel(o, "second")->entry, 6);
    assert_int_equal(o->inst[8].target, 6);
    char text[64];
    ks_object_text(o, o->inst[4].pc, text, sizeof text);
    assert_string_equal(text, "global_store_dword v1, v0, s[0:1]");
    ks_object_text(o, 1 << 20, text, sizeof text);
    assert_string_equal(text, "");
    ks_object_line(o, 0, text, sizeof text);
    assert_string_equal(text, "");
    ks_object_free(o);
}
static void test_variables(void **s)
{
    (void)s;
    build_object(&b, NULL);
    ks_object *o = load(b.size);
    assert_non_null(o);
    const ks_symbol *value = ks_object_symbol(o, "value"), *table = ks_object_symbol(o, "table");
    assert_non_null(value);
    assert_non_null(table);
    assert_null(ks_object_symbol(o, "outside"));
    assert_null(ks_object_symbol(o, "first.kd"));
    assert_int_equal(o->symbol_count, 2);
    assert_int_equal(value->size, 8);
    assert_int_equal(table->size, 4096);
    const uint64_t *at = (const uint64_t *)(uintptr_t)value->address;
    assert_true(at[0] == 0x1122334455667788);
    assert_true(at[1] == value->address);
    assert_true(at[2] == value->address + 4);
    assert_int_equal(((const uint8_t *)(uintptr_t)table->address)[4095], 0);
    assert_int_equal((uintptr_t)o->code % 0x1000, BUILD_CODE_VADDR % 0x1000);
    uint64_t address = value->address;
    ks_range range;
    assert_true(ks_find_range(address, &range));
    assert_int_equal(range.kind, KS_CODE);
    ks_object_free(o);
    assert_false(ks_find_range(address, &range) && !range.freed);
}
/* The size is not known to hipModuleLoadData; and versions 4, 5 and 6 are the same to a loader. */
static void test_sizes_and_versions(void **s)
{
    (void)s;
    for (uint8_t version = 2; version <= 4; version++) {
        build_object(&b, NULL);
        b.ehdr->e_ident[EI_ABIVERSION] = version;
        ks_object *o = load(SIZE_MAX);
        assert_non_null(o);
        assert_true(o->elf_size <= b.size);
        ks_object_free(o);
    }
    build_object(&b, NULL);
    b.phdr[PH_CODE].p_filesz -= 2; /* half a word is no instruction */
    ks_object *o = load(b.size);
    assert_non_null(o);
    assert_int_equal(o->inst_count, 9);
    ks_object_free(o);
    build_object(&b, NULL);
    b.ehdr->e_flags = 0x53f; /* gfx90a */
    b.code[9] = 0xdd098000;
    o = ks_object_load(b.bytes, b.size, KS_GFX90A, &error);
    assert_non_null(o);
    assert_int_equal(o->arch, KS_GFX90A);
    ks_object_free(o);
}
/* Words that are no instruction do not keep an object from loading. */
static void test_unknown_instruction(void **s)
{
    (void)s;
    build_object(&b, NULL);
    b.code[3] = 0xffffffff;
    ks_object *o = load(b.size);
    assert_non_null(o);
    assert_string_equal(o->inst[2].op->name, "unknown");
    assert_string_equal(o->inst[3].op->name, "v_mov_b32");
    ks_object_free(o);
}

/* ---- Refusals: field, value, hipError_t, words of the text ---- */
typedef struct refusal {
    const char *what;
    void (*change)(void);
    int hip;
    const char *text;
} refusal;
#define REFUSALS(X)                                                                                \
    X(magic, b.bytes[1] = 'F', 200, "not an ELF file")                                             \
    X(class, b.ehdr->e_ident[EI_CLASS] = ELFCLASS32, 200, "ELF64")                                 \
    X(endian, b.ehdr->e_ident[EI_DATA] = ELFDATA2MSB, 200, "ELF64")                                \
    X(machine, b.ehdr->e_machine = EM_X86_64, 200, "machine 62")                                   \
    X(osabi, b.ehdr->e_ident[EI_OSABI] = 0, 200, "ABI 0")                                          \
    X(version_3, b.ehdr->e_ident[EI_ABIVERSION] = 1, 200, "version 3, where 4 to 6 are known")     \
    X(version_7, b.ehdr->e_ident[EI_ABIVERSION] = 5, 200, "version 7")                             \
    X(foreign, b.ehdr->e_flags = 0x53f, 209,                                                       \
      "made for gfx90a (EF_AMDGPU_MACH 0x3f), the device is gfx942")                               \
    X(unheard, b.ehdr->e_flags = 0x5ee, 209, "an unknown GPU")                                     \
    X(no_ecc, b.ehdr->e_flags = 0x94c, 209, "sramecc-")                                            \
    X(xnack, b.ehdr->e_flags = 0x74c, 209, "xnack+")                                               \
    X(relocatable, b.ehdr->e_type = ET_REL, 200, "not a linked object")                            \
    X(no_segments, b.ehdr->e_phnum = 0, 200, "table of segments")                                  \
    X(many_segments, b.ehdr->e_phnum = 65, 200, "file is damaged")                                 \
    X(no_load, b.phdr[PH_READ].p_type = b.phdr[PH_CODE].p_type = b.phdr[PH_DATA].p_type = 0, 200,  \
      "nothing to load")                                                                           \
    X(cut, b.phdr[PH_DATA].p_filesz = 7000, 200, "after the file's")                               \
    X(far, b.phdr[PH_DATA].p_offset = UINT64_MAX - 8, 200, "after the file's")                     \
    X(small, b.phdr[PH_DATA].p_memsz = 8, 200, "a segment of 8 bytes")                             \
    X(huge, b.phdr[PH_DATA].p_memsz = UINT64_MAX, 200, "a segment of 18446744073709551615 bytes")  \
    X(high, b.phdr[PH_DATA].p_vaddr = UINT64_MAX - 64, 200, "a segment of")                        \
    X(align, b.phdr[PH_DATA].p_align = 24, 200, "alignment is 24")                                 \
    X(align_huge, b.phdr[PH_DATA].p_align = 1ull << 40, 200, "alignment is")                       \
    X(overlap, b.phdr[PH_DATA].p_vaddr = BUILD_CODE_VADDR + 4, 200, "overlap at 0x1004")           \
    X(two_codes, b.phdr[PH_DATA].p_flags |= PF_X, 200, "more than one executable segment")         \
    X(no_symbols, b.shdr[SH_RELA].sh_type = b.shdr[SH_DYNSYM].sh_type = SHT_NULL, 200,             \
      "no table of dynamic symbols")                                                               \
    X(symbol_size, b.shdr[SH_DYNSYM].sh_entsize = 16, 200, "damaged")                              \
    X(variable, b.sym[SYM_TABLE].st_size = 1 << 20, 200, "variable table lies outside")            \
    X(relocation, b.rela[0].r_info = ELF64_R_INFO(0, 7), 200, "relocation of type 7")              \
    X(relocation_at, b.rela[0].r_offset = 1 << 20, 200, "relocation at 0x100000")                  \
    X(relocation_of, b.rela[1].r_info = ELF64_R_INFO(99ull, 3), 200, "symbol 99")                  \
    X(undefined, b.rela[1].r_info = ELF64_R_INFO((uint64_t)SYM_OUTSIDE, 3), 200,                   \
      "outside is not defined")                                                                    \
    X(no_note, b.shdr[SH_NOTE].sh_type = SHT_PROGBITS, 200, "no AMDGPU note")                      \
    X(note_cut, b.metadata[0] = 0x82, 200, "not a complete msgpack map")                           \
    X(note_greedy, memcpy(b.metadata, "\x81\xa1x\xdd\xff\xff\xff\xff", 8), 200,                    \
      "not a complete msgpack map")                                                                \
    X(no_descriptor, b.sym[SYM_FIRST_KD].st_size = 63, 200, "no descriptor of 64 bytes")           \
    X(descriptor_far, b.sym[SYM_FIRST_KD].st_value = 1 << 20, 200, "descriptor lies outside")      \
    X(descriptor_lds, b.descriptor[0].lds = 128, 200, "metadata of first: segment sizes differ")   \
    X(descriptor_entry, b.descriptor[0].entry += 4096, 200, "entry point is not in the code")      \
    X(entry_odd, b.descriptor[0].entry += 2, 200, "entry point is not in the code")                \
    X(entry_inside, b.descriptor[0].entry += 4, 200, "starts inside another instruction")
#define X(name, change, hip, text)                                                                 \
    static void change_##name(void)                                                                \
    {                                                                                              \
        change;                                                                                    \
    }
REFUSALS(X)
#undef X
static void test_refusals(void **s)
{
    (void)s;
    static const refusal all[] = {
#define X(name, change, hip, text) {#name, change_##name, hip, text},
        REFUSALS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        build_object(&b, NULL);
        all[i].change();
        ks_object *o = load(b.size);
        if (o) print_message("# %s was not refused\n", all[i].what);
        assert_null(o);
        check_error(all[i].hip, all[i].text);
    }
}
static void test_metadata_refusals(void **s)
{
    (void)s;
    static const struct {
        metadata_change change;
        const char *text;
    } all[] = {
        {{".kernarg_segment_size", 1 << 30, false}, ".kernarg_segment_size is absurd"},
        {{".kernarg_segment_size", 0, true}, ".kernarg_segment_size is missing"},
        {{".kernarg_segment_align", 24, false}, ".kernarg_segment_align is absurd"},
        {{".group_segment_fixed_size", 65537, false}, ".group_segment_fixed_size is absurd"},
        {{".group_segment_fixed_size", 0, true},
         "metadata of first: .group_segment_fixed_size is missing"},
        {{".private_segment_fixed_size", 1ull << 40, false},
         ".private_segment_fixed_size is absurd"},
        {{".private_segment_fixed_size", 32, false}, "segment sizes differ"},
        {{".wavefront_size", 32, false}, "not 64"},
        {{".vgpr_count", 513, false}, ".vgpr_count is absurd"},
        {{".max_flat_workgroup_size", 0, false}, ".max_flat_workgroup_size"},
        {{".max_flat_workgroup_size", 2048, false}, ".max_flat_workgroup_size is absurd"},
        {{".symbol", 0, false}, "no .symbol"},
        {{"second", 0, false}, "metadata of first: it is there twice"},
        {{".args", 30, false}, "an argument lies outside"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        build_object(&b, &all[i].change);
        assert_null(load(b.size));
        check_error(200, all[i].text);
    }
}

/* ---- Damage ---- */
static void load_damaged(size_t size)
{
    ks_object *o = load(size);
    if (!o) {
        assert_true(error.hip);
        assert_true(*error.text);
        return;
    }
    char text[256]; /* what loads must answer, too */
    ks_object_line(o, 8, text, sizeof text);
    ks_object_text(o, 0, text, sizeof text);
    for (uint32_t i = 0; i < o->kernel_count; i++) assert_true(o->kernel[i].entry < o->inst_count);
    ks_object_free(o);
}
static void test_truncated(void **s)
{
    (void)s;
    static uint8_t whole[BUILD_ROOM];
    build_object(&b, NULL);
    memcpy(whole, b.bytes, b.size);
    for (size_t size = 0; size < b.size; size++) {
        uint8_t *exact = malloc(size ? size : 1); /* so that a sanitizer sees a read past it */
        assert_non_null(exact);
        memcpy(exact, whole, size);
        ks_object *o = ks_object_load(exact, size, KS_GFX942, &error);
        if (size < b.size - 1) /* the last byte is an empty table of names */
            assert_null(o);
        ks_object_free(o);
        free(exact);
    }
}
static void test_flipped(void **s)
{
    (void)s;
    static const uint8_t flips[] = {0x01, 0x80, 0xff};
    build_object(&b, NULL);
    for (size_t at = 0; at < b.size; at++)
        for (size_t i = 0; i < sizeof flips; i++) {
            b.bytes[at] ^= flips[i];
            load_damaged(b.size);
            b.bytes[at] ^= flips[i];
        }
}
static void test_random_damage(void **s)
{
    (void)s;
    uint32_t state = 0x1234567;
    for (int round = 0; round < 4000; round++) {
        build_object(&b, NULL);
        for (int n = 1 + round % 6; n; n--) {
            state = state * 1664525 + 1013904223;
            size_t at = (state >> 8) % b.size;
            state = state * 1664525 + 1013904223;
            static const uint8_t extremes[] = {0, 1, 0x7f, 0x80, 0xfe, 0xff};
            b.bytes[at] = state >> 31 ? extremes[(state >> 8) % 6] : (uint8_t)(state >> 16);
        }
        load_damaged(b.size);
    }
}

/* ---- Compiled kernels ---- */
static uint8_t *compiled;
static size_t compiled_size;
static bool compile(const char *target)
{
    char command[1024], path[512];
    snprintf(path, sizeof path, "%s/tests/object_%s.co", KILN_TEST_BUILD, target);
    snprintf(command, sizeof command,
             "cd '%s' && export BUILD='%s' && . tests/lib/amd.sh && amd_available %s && "
             "amd_compile %s '%s' tests/sim/kernels/object.hip -g -O2 -fno-inline-functions "
             ">/dev/null 2>&1",
             KILN_TEST_ROOT, KILN_TEST_BUILD, target, target, path);
    if (system(command) != 0) return false;
    FILE *f = fopen(path, "rb");
    if (!f) return false;
    free(compiled);
    compiled = malloc(1 << 20);
    compiled_size = compiled ? fread(compiled, 1, 1 << 20, f) : 0;
    fclose(f);
    return compiled_size > 0;
}
/* The line of the source that ends with a mark. */
static int marked_line(const char *mark)
{
    char line[512];
    int number = 0;
    FILE *f = fopen(KILN_TEST_ROOT "/tests/sim/kernels/object.hip", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        number++;
        if (strstr(line, mark)) break;
    }
    fclose(f);
    return number;
}
static void check_compiled(ks_arch arch)
{
    static const struct {
        const char *kernel;
        bool serial;
    } kernels[] = {{"plain", false},      {"counts", false},        {"takes_numbers", true},
                   {"adds_floats", true}, {"waits_for_flag", true}, {"calls", true},
                   {"marks", false}};
    ks_object *o = ks_object_load(compiled, compiled_size, arch, &error);
    if (!o) print_message("# %s\n", error.text);
    assert_non_null(o);
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        const ks_kernel *k = ks_object_kernel(o, kernels[i].kernel);
        assert_non_null(k);
        if (k->serial != kernels[i].serial) print_message("# %s: serial %d\n", k->name, k->serial);
        assert_int_equal(k->serial, kernels[i].serial);
        assert_true(k->vgprs_used && k->vgprs_used <= ks_vgprs_of(k) && k->vgprs_used <= k->vgprs);
    }
    const ks_symbol *pointer = ks_object_symbol(o, "pointer"),
                    *target = ks_object_symbol(o, "target");
    assert_non_null(pointer);
    assert_non_null(target);
    assert_true(*(const uint64_t *)(uintptr_t)pointer->address == target->address + 8);
    char text[512], expected[64];
    snprintf(expected, sizeof expected, "kernels/object.hip:%d", marked_line("/* marked */"));
    bool found = false;
    for (uint32_t i = 0; i < o->inst_count; i++) {
        assert_string_not_equal(o->inst[i].op->name, "unknown");
        ks_object_line(o, o->inst[i].pc, text, sizeof text);
        if (!strcmp(o->inst[i].op->name, "global_store_dword") && strstr(text, expected))
            found = true;
    }
    assert_true(found);
    ks_object_free(o);
}
static void test_compiled(void **s)
{
    (void)s;
    static const char *const targets[] = {"gfx90a", "gfx942"};
    int done = 0;
    for (int i = 0; i < 2; i++)
        if (compile(targets[i])) {
            check_compiled(i ? KS_GFX942 : KS_GFX90A);
            done++;
        }
    if (!done) skip();
}
/* Debug information is read by libdw: damaged, it may say less, nothing else. */
static void test_damaged_lines(void **s)
{
    (void)s;
    if (!compiled) skip();
    char text[256];
    uint32_t state = 99;
    for (int round = 0; round < 400; round++) {
        uint8_t old[16];
        size_t at[16];
        for (int i = 0; i < 16; i++) {
            state = state * 1664525 + 1013904223;
            at[i] = (size_t)((uint64_t)state * compiled_size >> 32);
            old[i] = compiled[at[i]];
            compiled[at[i]] = (uint8_t)(state >> 3);
        }
        ks_object *o = ks_object_load(compiled, compiled_size, KS_GFX942, &error);
        for (uint32_t pc = 0; o && pc < o->code_size; pc += 64)
            ks_object_line(o, pc, text, sizeof text);
        ks_object_free(o);
        for (int i = 15; i >= 0; i--) compiled[at[i]] = old[i];
    }
}
static int free_compiled(void **s)
{
    (void)s;
    free(compiled);
    return 0;
}
int main(void)
{
    unsetenv("HSA_XNACK");
    setenv("KILN_SIM", "log=off", 0); /* refusals by the thousand */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_llvm),
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_code),
        cmocka_unit_test(test_variables),
        cmocka_unit_test(test_sizes_and_versions),
        cmocka_unit_test(test_unknown_instruction),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_metadata_refusals),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_flipped),
        cmocka_unit_test(test_random_damage),
        cmocka_unit_test(test_compiled),
        cmocka_unit_test(test_damaged_lines),
    };
    return cmocka_run_group_tests(tests, NULL, free_compiled);
}
