// SPDX-License-Identifier: MIT
// Runs every kernel of kernels/mfma.hip through HIP's entry points and compares it with mfma_reference.h: usage
// mfma_device OBJECT TARGET.  Inputs are whole numbers and floats near 1.  Prints one TAP line a form.
#include <stddef.h>
#include "mfma_reference.h"

typedef void *handle;
int hipInit(unsigned), hipSetDevice(int), hipMalloc(void **, size_t), hipFree(void *), hipDeviceSynchronize(void);
int hipMemcpy(void *, const void *, size_t, int), hipModuleLoad(handle *, const char *), hipModuleUnload(handle);
int hipModuleGetFunction(handle *, handle, const char *);
int hipModuleLaunchKernel(handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, handle, void **,
                          void **);
enum { TO_DEVICE = 1, TO_HOST = 2 };

static handle module;
static char *device; /* a struct rows */
static rows x;
static uint32_t want[32][64];
static uint64_t seed = 7;
static int line, failed, kernels;

static int launch(handle kernel)
{
    void *arg[5];
    const size_t at[5] = { offsetof(rows, a), offsetof(rows, b), offsetof(rows, c), offsetof(rows, index),
                           offsetof(rows, d) };
    void *pointer[5];
    for (int i = 0; i < 5; i++) arg[i] = device + at[i], pointer[i] = &arg[i];
    memset(x.d, 0x55, sizeof(x.d));
    int error = hipMemcpy(device, &x, sizeof(x), TO_DEVICE);
    if (!error) error = hipModuleLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, NULL, pointer, NULL);
    if (!error) error = hipDeviceSynchronize();
    if (!error) error = hipMemcpy(&x, device, sizeof(x), TO_HOST);
    kernels++;
    return error;
}
static void fill(const form *f)
{
    fill_small(f->a, x.a, f->a_regs, 8, &seed);
    fill_small(f->b, x.b, f->b_regs, 8, &seed);
    fill_small(f->i32 ? "i32" : f->f64 ? "f64" : "f32", x.c, f->d_regs, 100, &seed);
    for (int l = 0; l < 64; l++) x.index[l] = random_word(&seed);
}
static void result(bool ok, const char *name, const char *text)
{
    printf("%sok %d - %s\n", ok ? "" : "not ", ++line, name);
    if (!ok) printf("# %s\n", text), failed++;
}

static void visit(form *f, void *target)
{
    char text[512] = "no kernel";
    bool ok = false;
    if (strcmp(f->target, target)) return;
    for (int cbsz = 0; cbsz <= 4; cbsz++)
        for (int abid = 0; abid < 16; abid++)
            for (int blgp = 0; blgp < 8; blgp++) {
                char name[64];
                handle kernel;
                const modifiers mod = { cbsz, abid, blgp };
                const bool plain = !cbsz && !abid && !blgp;
                snprintf(name, sizeof(name), "%s", f->name);
                if (!plain) snprintf(name, sizeof(name), "%s__%d_%d_%d", f->name, cbsz, abid, blgp);
                if (hipModuleGetFunction(&kernel, module, name)) continue;
                fill(f);
                reference(f, &x, mod, want);
                const int error = launch(kernel);
                ok = !error && !compare(f, (const uint32_t(*)[64])x.d, (const uint32_t(*)[64])want, text, sizeof(text));
                if (error) snprintf(text, sizeof(text), "hipError_t %d", error);
                if (!ok) {
                    result(false, name, text);
                    return;
                }
            }
    result(ok, f->name, text);
}

/* The kernels at the end of mfma.hip: form, the constant that C is (none: 0), how many times D is the next one's C. */
static void visit_special(form *f, void *target)
{
    static const struct {
        const char *kernel, *form[2];
        double constant;
        int times;
    } special[] = {
        { "constant_c", { "v_mfma_f32_32x32x8f16", "v_mfma_f32_32x32x8_f16" }, 1, 1 },
        { "constant_i", { "v_mfma_i32_4x4x4i8", "v_mfma_i32_4x4x4_16b_i8" }, -7, 1 },
        { "constant_d", { "v_mfma_f64_16x16x4f64", "v_mfma_f64_16x16x4_f64" }, 0.5, 1 },
        { "chained", { "v_mfma_f32_32x32x8f16", "v_mfma_f32_32x32x8_f16" }, 0, 3 },
        { "accumulators", { "v_mfma_f32_32x32x8f16", "v_mfma_f32_32x32x8_f16" }, 0, 3 },
    };
    for (size_t s = 0; s < sizeof(special) / sizeof(special[0]); s++) {
        char text[512] = "no kernel";
        handle kernel;
        if (strcmp(f->target, target) || strcmp(f->name, special[s].form[!strcmp(target, "gfx942")])) continue;
        fill(f);
        for (int r = 0; r < f->d_regs && special[s].constant != 0; r++)
            for (int l = 0; l < 64; l++) {
                const float v = (float)special[s].constant;
                const double d = special[s].constant;
                if (f->f64) memcpy(&x.c[r][l], (const char *)&d + r % 2 * 4, 4);
                else if (f->i32) x.c[r][l] = (uint32_t)(int)special[s].constant;
                else memcpy(&x.c[r][l], &v, 4);
            }
        rows kept = x;
        for (int i = 0; i < special[s].times; i++) {
            reference(f, &x, (modifiers){ 0, 0, 0 }, want);
            memcpy(x.c, want, sizeof(want));
        }
        x = kept;
        const int error = hipModuleGetFunction(&kernel, module, special[s].kernel) || launch(kernel);
        result(!error && !compare(f, (const uint32_t(*)[64])x.d, (const uint32_t(*)[64])want, text, sizeof(text)),
               special[s].kernel, text);
    }
}

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    if (hipInit(0) || hipModuleLoad(&module, argv[1]) || hipMalloc((void **)&device, sizeof(rows))) {
        printf("1..0\nBail out! no device, or the object could not be loaded\n");
        return 1;
    }
    each_form(visit, argv[2]);
    each_form(visit_special, argv[2]);
    result(kernels >= 200, "at least 200 kernels ran", "");
    hipFree(device);
    hipModuleUnload(module);
    printf("1..%d\n", line);
    return failed != 0;
}
