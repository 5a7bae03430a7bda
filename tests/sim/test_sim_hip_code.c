// SPDX-License-Identifier: MIT
// Modules, bundles, launches and what a <<<>>> program registers, with device code compiled here.
// Skipped where there is no compiler for AMD.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "hip.h"
#include "hip_calls.h"

#define OK(call) assert_int_equal(call, 0)
#define FAILS(code, call)                                                                          \
    do {                                                                                           \
        hipGetLastError();                                                                         \
        assert_int_equal(call, code);                                                              \
        assert_int_equal(hipGetLastError(), code);                                                 \
    } while (0)

typedef struct bytes {
    unsigned char *at;
    size_t size;
} bytes;
static bytes code[KS_ARCH_COUNT]; /* by ordinal: gfx942, gfx90a */
static char path[KS_ARCH_COUNT][4096];

/* ---- device code ---- */

static bytes slurp(const char *file)
{
    bytes b = {0};
    FILE *f = fopen(file, "rb");
    long end = f && fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    if (end > 0) b.at = malloc((size_t)end);
    rewind(f ? f : stdin);
    if (b.at) b.size = fread(b.at, 1, (size_t)end, f);
    if (f) fclose(f);
    return b;
}

/* Compiled anew only where the source is newer. */
static const char compiler[] = "cd \"$ROOT\" && . tests/lib/amd.sh && BUILD=$OUT && { [ -e "
                               "\"$BUILD/toolchain.mk\" ] || BUILD=build; } &&"
                               "{ [ \"$CODE\" -nt \"$SOURCE\" ] || { amd_available \"$TARGET\" && "
                               "amd_compile \"$TARGET\" \"$CODE\" \"$SOURCE\"; }; }";

static int compile(void **state)
{
    static const char *const target[KS_ARCH_COUNT] = {"gfx942", "gfx90a"};
    char command[2 * sizeof compiler];
    (void)state;
    setenv("ROOT", KILN_TEST_ROOT, 1);
    setenv("OUT", KILN_TEST_BUILD, 1);
    setenv("SOURCE", "tests/sim/kernels/hip_api.hip", 1);
    snprintf(command, sizeof command, "bash -c '%s' >&2", compiler);
    for (int i = 0; i < KS_ARCH_COUNT; i++) {
        snprintf(path[i], sizeof path[i], "%s/tests/hip_api.%s.co", KILN_TEST_BUILD, target[i]);
        setenv("CODE", path[i], 1);
        setenv("TARGET", target[i], 1);
        if (system(command) != 0) return 0;
        code[i] = slurp(path[i]);
    }
    return 0;
}

static int forget(void **state)
{
    (void)state;
    for (int i = 0; i < KS_ARCH_COUNT; i++) free(code[i].at);
    return 0;
}

#define NEEDS_CODE()                                                                               \
    do {                                                                                           \
        (void)state;                                                                               \
        if (!code[0].size || !code[1].size) skip();                                                \
    } while (0)

/* A bundle of both, as clang makes them; the caller frees it. */
static bytes bundle(const char *first, const char *second)
{
    const char *const name[KS_ARCH_COUNT] = {first, second};
    enum { HEAD = 4096 };
    bytes b = {calloc(1, HEAD + code[0].size + code[1].size), HEAD + code[0].size + code[1].size};
    assert_non_null(b.at);
    unsigned char *at = b.at;
    const uint64_t count = KS_ARCH_COUNT;
    memcpy(at, "__CLANG_OFFLOAD_BUNDLE__", 24);
    memcpy(at + 24, &count, 8);
    at += 32;
    uint64_t offset = HEAD;
    for (int i = 0; i < KS_ARCH_COUNT; i++) {
        const uint64_t head[3] = {offset, code[i].size, strlen(name[i])};
        memcpy(at, head, sizeof head);
        memcpy(at + sizeof head, name[i], strlen(name[i]));
        at += sizeof head + strlen(name[i]);
        memcpy(b.at + offset, code[i].at, code[i].size);
        offset += code[i].size;
    }
    return b;
}
static const char name_942[] = "hipv4-amdgcn-amd-amdhsa--gfx942";
static const char name_90a[] = "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-";

/* ---- modules ---- */

static void modules_by_name(void **state)
{
    NEEDS_CODE();
    ptr m, f, address;
    size_t size;
    int threads = 0, groups = 0, number = 0;
    OK(hipModuleLoadData(&m, code[0].at));
    OK(hipModuleGetFunction(&f, m, "fill"));
    FAILS(E_NotFound, hipModuleGetFunction(&f, m, "nothing"));
    FAILS(E_InvalidValue, hipModuleGetFunction(&f, m, NULL));
    FAILS(E_InvalidHandle, hipModuleGetFunction(&f, &m, "fill"));
    OK(hipModuleGetGlobal(&address, &size, m, "number"));
    assert_int_equal(size, 4);
    OK(hipMemcpyDtoH(&number, address, size));
    assert_int_equal(number, 5);
    FAILS(E_NotFound, hipModuleGetGlobal(&address, &size, m, "fill "));
    OK(hipModuleGetFunction(&f, m, "fill"));
    OK(hipFuncGetAttribute(&threads, 0, f));
    assert_int_equal(threads, 1024);
    FAILS(E_InvalidDeviceFunction, hipFuncGetAttribute(&threads, 0, m));
    OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&groups, f, 256, 0));
    assert_int_equal(groups, 8); /* 32 waves of a compute unit, 4 of a workgroup */
    OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&groups, f, 256, 32768));
    assert_int_equal(groups, 2);
    OK(hipModuleUnload(m));
    FAILS(E_InvalidHandle, hipModuleUnload(m));
    FAILS(E_InvalidDeviceFunction, hipFuncGetAttribute(&threads, 0, f));
    OK(hipModuleLoad(&m, path[0]));
    OK(hipModuleUnload(m));
    FAILS(E_FileNotFound, hipModuleLoad(&m, "/nowhere/at/all"));
}

static void bad_images_are_refused(void **state)
{
    NEEDS_CODE();
    ptr m;
    unsigned char text[64] = "not a code object at all, only some text in memory";
    FAILS(E_InvalidValue, hipModuleLoadData(&m, NULL));
    assert_int_not_equal(hipModuleLoadData(&m, text), 0);
    assert_int_not_equal(hipModuleLoadData(&m, code[1].at), 0); /* for the other device */
    OK(hipSetDevice(1));
    OK(hipModuleLoadData(&m, code[1].at));
    OK(hipModuleUnload(m));
    OK(hipSetDevice(0));
    strcpy((char *)text, "CCOB");
    FAILS(E_InvalidImage, hipModuleLoadData(&m, text));
    hipGetLastError();
}

static void bundles_are_opened(void **state)
{
    NEEDS_CODE();
    ptr m, f;
    bytes b = bundle(name_942, name_90a);
    OK(hipModuleLoadData(&m, b.at));
    OK(hipModuleGetFunction(&f, m, "fill"));
    OK(hipModuleUnload(m));
    OK(hipSetDevice(1));
    OK(hipModuleLoadData(&m, b.at));
    OK(hipModuleUnload(m));
    OK(hipSetDevice(0));
    free(b.at);
    b = bundle("host-x86_64-unknown-linux", name_90a);
    FAILS(E_NoBinaryForGpu, hipModuleLoadData(&m, b.at));
    free(b.at);
    b = bundle("hipv4-amdgcn-amd-amdhsa--gfx942:xnack+", name_90a); /* a feature the device lacks */
    FAILS(E_NoBinaryForGpu, hipModuleLoadData(&m, b.at));
    free(b.at);
}

/* Every word of the header in turn made absurd: refused or loaded, never a crash. */
static void damaged_bundles_are_refused(void **state)
{
    NEEDS_CODE();
    enum { HEADER = 32 + 2 * 24 + sizeof name_942 + sizeof name_90a - 2 };
    static const uint64_t bad[] = {0, 7, UINT32_MAX, UINT64_MAX, UINT64_MAX - 4095};
    bytes b = bundle(name_942, name_90a);
    for (size_t at = 24; at + 8 <= HEADER; at += 8)
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            uint64_t old;
            ptr m = NULL;
            memcpy(&old, b.at + at, 8);
            memcpy(b.at + at, &bad[i], 8);
            if (hipModuleLoadData(&m, b.at) == 0) OK(hipModuleUnload(m));
            memcpy(b.at + at, &old, 8);
        }
    hipGetLastError();
    free(b.at);
}

/* ---- launches ---- */

static ptr load(const char *name, ptr *module)
{
    ptr f;
    OK(hipModuleLoadData(module, code[0].at));
    OK(hipModuleGetFunction(&f, *module, name));
    return f;
}

static int launch(ptr f, unsigned grid, unsigned block, ptr stream, ptr p, int n, int value)
{
    ptr params[] = {&p, &n, &value};
    return hipModuleLaunchKernel(f, grid, 1, 1, block, 1, 1, 0, stream, params, NULL);
}

static bool all_are(ptr p, int n, int value)
{
    int have[1024];
    assert_true(n <= 1024);
    OK(hipMemcpyDtoH(have, p, (size_t)n * sizeof *have));
    for (int i = 0; i < n; i++)
        if (have[i] != value) return false;
    return true;
}

static void launches_run_at_the_call(void **state)
{
    NEEDS_CODE();
    ptr m, f = load("fill", &m), p;
    OK(hipMalloc(&p, 300 * sizeof(int)));
    OK(launch(f, 5, 64, NULL, p, 300, 77));
    assert_true(all_are(p, 300, 77));
    struct {
        ptr p;
        int n, value;
    } packed = {p, 300, 78};
    size_t size = sizeof packed;
    ptr extra[] = {(ptr)1, &packed, (ptr)2, &size, (ptr)3};
    OK(hipModuleLaunchKernel(f, 5, 1, 1, 64, 1, 1, 0, NULL, NULL, extra));
    assert_true(all_are(p, 300, 78));
    int n = 300, value = 79;
    ptr params[] = {&p, &n, &value};
    OK(hipModuleLaunchCooperativeKernel(f, 5, 1, 1, 64, 1, 1, 0, NULL, params));
    assert_true(all_are(p, 300, 79));
    OK(hipModuleLaunchCooperativeKernel(f, 304 * 2, 1, 1, 1024, 1, 1, 0, NULL, params));
    FAILS(E_CooperativeLaunchTooLarge,
          hipModuleLaunchCooperativeKernel(f, 304 * 2 + 1, 1, 1, 1024, 1, 1, 0, NULL, params));
    OK(hipFree(p));
    OK(hipModuleUnload(m));
}

static void bad_launches_are_refused(void **state)
{
    NEEDS_CODE();
    ptr m, f = load("fill", &m), p, unknown[] = {(ptr)9, &m, (ptr)3};
    ptr params[] = {&p, NULL, NULL};
    OK(hipMalloc(&p, 64));
    FAILS(E_InvalidConfiguration, launch(f, 0, 64, NULL, p, 1, 1));
    FAILS(E_InvalidConfiguration, launch(f, 1, 0, NULL, p, 1, 1));
    FAILS(E_InvalidConfiguration, launch(f, 1, 1025, NULL, p, 1, 1));
    FAILS(E_InvalidConfiguration, launch(f, UINT32_MAX, 2, NULL, p, 1, 1));
    FAILS(E_InvalidConfiguration,
          hipModuleLaunchKernel(f, 1, 1, 1, 64, 64, 1, 0, NULL, params, NULL));
    FAILS(E_InvalidValue, hipModuleLaunchKernel(f, 1, 1, 1, 1, 1, 1, 65537, NULL, params, NULL));
    FAILS(E_InvalidValue, hipModuleLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    FAILS(E_InvalidValue, hipModuleLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    FAILS(E_InvalidValue, hipModuleLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, unknown));
    FAILS(E_InvalidHandle, launch(NULL, 1, 1, NULL, p, 1, 1));
    FAILS(E_InvalidHandle, launch(p, 1, 1, NULL, p, 1, 1));
    FAILS(E_InvalidValue, launch(f, 1, 1, p, p, 1, 1));
    OK(hipSetDevice(1));
    FAILS(E_InvalidHandle, launch(f, 1, 1, NULL, p, 1, 1)); /* the other device's stream */
    OK(hipSetDevice(0));
    OK(hipModuleUnload(m));
    FAILS(E_InvalidHandle, launch(f, 1, 1, NULL, p, 1, 1));
    OK(hipFree(p));
    OK(hipDeviceSynchronize());
}

/* Told by the launch, kept as last error, told once by the next wait for that stream or device. */
static void findings_are_errors(void **state)
{
    NEEDS_CODE();
    ptr m, f = load("fill", &m), p, s, t;
    OK(hipMalloc(&p, 64 * sizeof(int)));
    OK(hipStreamCreate(&s));
    OK(hipStreamCreate(&t));
    FAILS(E_IllegalAddress, launch(f, 1, 128, s, p, 65, 1));
    assert_int_equal(kilnsim_findings(NULL, NULL), 1);
    OK(hipStreamSynchronize(t));
    FAILS(E_IllegalAddress, hipStreamSynchronize(s));
    OK(hipStreamSynchronize(s));
    OK(hipDeviceSynchronize());
    FAILS(E_IllegalAddress, launch(f, 1, 128, s, p, 65, 1));
    assert_int_equal(kilnsim_findings(NULL, NULL), 1); /* the same, counted */
    FAILS(E_IllegalAddress, hipDeviceSynchronize());
    OK(hipStreamSynchronize(s));
    OK(launch(f, 1, 128, s, p, 64, 1));
    OK(hipStreamSynchronize(s));
    kilnsim_findings_clear();
    OK(hipStreamDestroy(s));
    OK(hipStreamDestroy(t));
    OK(hipFree(p));
    OK(hipModuleUnload(m));
}

/* ---- graphs with kernels ---- */

static void graphs_keep_arguments_and_code(void **state)
{
    NEEDS_CODE();
    ptr m, f = load("fill", &m), p, s, graph, exec;
    OK(hipMalloc(&p, 64 * sizeof(int)));
    OK(hipStreamCreate(&s));
    OK(hipMemset(p, 0, 256));
    OK(hipStreamBeginCapture(s, 1));
    OK(launch(f, 1, 64, s, p, 64, 1));
    OK(launch(f, 1, 64, s, p, 32, 2));
    OK(hipStreamEndCapture(s, &graph));
    assert_true(all_are(p, 64, 0));
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    OK(hipGraphDestroy(graph));
    OK(hipModuleUnload(m)); /* the graph still holds it */
    OK(hipGraphLaunch(exec, s));
    assert_true(all_are(p, 32, 2));
    assert_true(all_are((char *)p + 128, 32, 1));
    OK(hipFree(p));
    assert_int_not_equal(hipGraphLaunch(exec, s), 0); /* writes to freed memory */
    kilnsim_findings_clear();
    hipGetLastError();
    OK(hipGraphExecDestroy(exec));
    OK(hipStreamDestroy(s));
}

static void kernel_nodes_by_hand(void **state)
{
    NEEDS_CODE();
    ptr m, f = load("fill", &m), p, graph, exec, node;
    int n = 64, value = 3;
    ptr params[] = {&p, &n, &value};
    struct {
        dim block;
        ptr *extra;
        ptr function;
        dim grid;
        ptr *params;
        unsigned lds;
    } k = {{64, 1, 1}, NULL, f, {1, 1, 1}, params, 0};
    OK(hipMalloc(&p, 64 * sizeof(int)));
    OK(hipGraphCreate(&graph, 0));
    OK(hipGraphAddKernelNode(&node, graph, NULL, 0, &k));
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    OK(hipGraphLaunch(exec, NULL));
    assert_true(all_are(p, 64, 3));
    value = 4;
    OK(hipGraphExecKernelNodeSetParams(exec, node, &k));
    OK(hipGraphLaunch(exec, NULL));
    assert_true(all_are(p, 64, 4));
    k.block.x = 2000;
    FAILS(E_InvalidConfiguration, hipGraphAddKernelNode(&node, graph, NULL, 0, &k));
    k.function = p;
    FAILS(E_InvalidDeviceFunction, hipGraphAddKernelNode(&node, graph, NULL, 0, &k));
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));
    OK(hipFree(p));
    OK(hipModuleUnload(m));
}

/* ---- registration, as compiled programs do it ---- */

static const char stub_fill, stub_add, stub_bump, stub_missing;
static int shadow_number;
static ptr shadow_managed;
typedef struct wrapper {
    uint32_t magic, version;
    const void *binary, *unused;
} wrapper;

static ptr *register_all(const wrapper *w)
{
    static char no[] = "";
    static char number[] = "number";
    int initial = 41;
    ptr *fat = __hipRegisterFatBinary(w);
    __hipRegisterFunction(fat, &stub_fill, no, "fill", 0, NULL, NULL, NULL, NULL, NULL);
    __hipRegisterFunction(fat, &stub_add, no, "add_number", 0, NULL, NULL, NULL, NULL, NULL);
    __hipRegisterFunction(fat, &stub_bump, no, "bump_managed", 0, NULL, NULL, NULL, NULL, NULL);
    __hipRegisterFunction(fat, &stub_missing, no, "absent", 0, NULL, NULL, NULL, NULL, NULL);
    __hipRegisterVar(fat, &shadow_number, number, number, 0, 4, 0, 0);
    __hipRegisterManagedVar(fat, &shadow_managed, &initial, "managed", 4, 4);
    return fat;
}

static void registered_code_runs(void **state)
{
    NEEDS_CODE();
    bytes b = bundle(name_942, name_90a);
    const wrapper w = {0x48495046, 1, b.at, NULL}, wrong = {1, 1, b.at, NULL};
    const dim one = {1, 1, 1}, wave = {64, 1, 1};
    ptr p, f;
    int n = 64, value = 10, have = 0;
    size_t size;
    assert_null(__hipRegisterFatBinary(&wrong));
    ptr *fat = register_all(&w);
    assert_non_null(fat);
    assert_int_equal(*(int *)shadow_managed, 41);
    for (int device = 0; device < KS_ARCH_COUNT; device++) {
        OK(hipSetDevice(device));
        OK(hipMalloc(&p, 64 * sizeof(int)));
        ptr params[] = {&p, &n, &value}, add[] = {&p};
        OK(hipLaunchKernel(&stub_fill, one, wave, params, 0, NULL));
        OK(hipLaunchKernel(&stub_add, one, wave, add, 0, NULL));
        assert_true(all_are(p, 64, 15));
        have = 100;
        OK(hipMemcpyToSymbol(&shadow_number, &have, 4, 0, H2D)); /* of this device only */
        OK(hipLaunchKernel(&stub_add, one, wave, add, 0, NULL));
        assert_true(all_are(p, 64, 115));
        OK(hipMemcpyFromSymbol(&have, &shadow_number, 2, 0, D2H));
        FAILS(E_InvalidValue, hipMemcpyFromSymbol(&have, &shadow_number, 4, 1, D2H));
        FAILS(E_InvalidMemcpyDirection, hipMemcpyFromSymbol(&have, &shadow_number, 4, 0, H2D));
        OK(hipGetSymbolSize(&size, &shadow_number));
        assert_int_equal(size, 4);
        OK(hipLaunchKernel(&stub_bump, one, wave, NULL, 0, NULL));
        assert_int_equal(*(int *)shadow_managed, 42 + device);
        OK(hipConfigureCall(one, wave, 0, NULL)); /* the older way */
        OK(hipSetupArgument(&p, sizeof p, 0));
        OK(hipSetupArgument(&n, sizeof n, 8));
        OK(hipSetupArgument(&value, sizeof value, 12));
        OK(hipLaunchByPtr(&stub_fill));
        assert_true(all_are(p, 64, 10));
        OK(hipFree(p));
    }
    OK(hipSetDevice(0));
    OK(hipGetFuncBySymbol(&f, &stub_fill));
    FAILS(E_InvalidDeviceFunction, hipLaunchKernel(&stub_missing, one, wave, NULL, 0, NULL));
    FAILS(E_InvalidDeviceFunction, hipLaunchKernel(&n, one, wave, NULL, 0, NULL));
    FAILS(E_InvalidDeviceFunction, hipLaunchKernel(NULL, one, wave, NULL, 0, NULL));
    FAILS(E_InvalidSymbol, hipGetSymbolSize(&size, &n));
    FAILS(E_InvalidSymbol, hipGetSymbolSize(&size, &stub_fill));
    FAILS(E_MissingConfiguration, hipLaunchByPtr(&stub_fill));
    kilnsim_findings_clear();
    __hipUnregisterFatBinary(fat);
    __hipUnregisterFatBinary(fat);
    FAILS(E_InvalidDeviceFunction, hipLaunchKernel(&stub_fill, one, wave, NULL, 0, NULL));
    free(b.at);
}

static void call_configurations_are_a_stack(void **state)
{
    (void)state;
    const dim a = {1, 2, 3}, b = {4, 5, 6};
    dim grid, block;
    size_t lds;
    ptr stream;
    OK(__hipPushCallConfiguration(a, b, 7, (ptr)8));
    OK(__hipPushCallConfiguration(b, a, 9, NULL));
    OK(__hipPopCallConfiguration(&grid, &block, &lds, &stream));
    assert_int_equal(grid.z * 100 + block.y, 602);
    assert_int_equal(lds, 9);
    OK(__hipPopCallConfiguration(&grid, &block, &lds, &stream));
    assert_int_equal(grid.z * 100 + block.y, 305);
    assert_ptr_equal(stream, (ptr)8);
    FAILS(E_MissingConfiguration, __hipPopCallConfiguration(&grid, &block, &lds, &stream));
}

/* ---- threads ---- */

enum { THREADS = 4, TURNS = 25 };
static ptr shared_function;

static void *work(void *user)
{
    const int me = *(int *)user;
    ptr p, s;
    bool ok = hipStreamCreate(&s) == 0 && hipMalloc(&p, 256 * sizeof(int)) == 0;
    for (int turn = 0; ok && turn < TURNS; turn++) {
        int have[256];
        ok = launch(shared_function, 4, 64, s, p, 256, 1000 * me + turn) == 0 &&
             hipMemcpyDtoHAsync(have, p, sizeof have, s) == 0 && hipStreamSynchronize(s) == 0;
        for (int i = 0; ok && i < 256; i++) ok = have[i] == 1000 * me + turn;
    }
    ok = ok && hipFree(p) == 0 && hipStreamDestroy(s) == 0;
    return ok ? user : NULL;
}

static void threads_use_their_own_streams(void **state)
{
    NEEDS_CODE();
    ptr m;
    pthread_t thread[THREADS];
    int number[THREADS];
    shared_function = load("fill", &m);
    for (int i = 0; i < THREADS; i++) {
        number[i] = i;
        assert_int_equal(pthread_create(&thread[i], NULL, work, &number[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(thread[i], &result);
        assert_non_null(result);
    }
    OK(hipModuleUnload(m));
}

int main(void)
{
    setenv("KILN_SIM", "log=off", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modules_by_name),
        cmocka_unit_test(bad_images_are_refused),
        cmocka_unit_test(bundles_are_opened),
        cmocka_unit_test(damaged_bundles_are_refused),
        cmocka_unit_test(launches_run_at_the_call),
        cmocka_unit_test(bad_launches_are_refused),
        cmocka_unit_test(findings_are_errors),
        cmocka_unit_test(graphs_keep_arguments_and_code),
        cmocka_unit_test(kernel_nodes_by_hand),
        cmocka_unit_test(registered_code_runs),
        cmocka_unit_test(call_configurations_are_a_stack),
        cmocka_unit_test(threads_use_their_own_streams),
    };
    return cmocka_run_group_tests(tests, compile, forget);
}
