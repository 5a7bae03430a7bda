// SPDX-License-Identifier: MIT
// memory_driver CODE_OBJECT COMMAND...: calls HIP as a program would and prints what the simulator
// has found.
//   KERNEL            one workgroup of 256 with (out, in, 3): buffers of 4096 bytes, in = 0,
//   1, 2... as bytes free_first KERNEL the same, `in` freed before double_free | interior | foreign
//   | leak | none    memory only
// A line a finding: kind lane address line text, the address counted from `in` or `out` where it is
// near one.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kilnsim.h"

int hipMalloc(void **, size_t);
int hipFree(void *);
int hipMemcpy(void *, const void *, size_t, int);
int hipModuleLoad(void **, const char *);
int hipModuleGetFunction(void **, void *, const char *);
int hipModuleLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          unsigned, void *, void **, void **);
int hipDeviceSynchronize(void);

enum { SIZE = 4096, THREADS = 256, TO_DEVICE = 1, TO_HOST = 2 };
static unsigned char *in, *out;

static void print_address(unsigned long long address)
{
    long long from_in = (long long)(address - (unsigned long long)in);
    long long from_out = (long long)(address - (unsigned long long)out);
    if (in && from_in > -SIZE && from_in < 2 * SIZE)
        printf("in%+lld", from_in);
    else if (out && from_out > -SIZE && from_out < 2 * SIZE)
        printf("out%+lld", from_out);
    else
        printf("%llu", address);
}

static void print_finding(const kilnsim_finding *f, void *user)
{
    static const char *const kinds[] = {
#define X(name, option, error, text) option,
        KILNSIM_KINDS(X)
#undef X
    };
    const char *slash = strrchr(f->line, '/');
    (void)user;
    printf("%s lane=%d wave=%u at=", kinds[f->kind], f->lane, f->wave);
    print_address(f->address);
    printf(" line=%s text=%s\n", slash ? slash + 1 : f->line, f->text);
}

static int run(const char *object, const char *name, int free_first)
{
    void *module, *function;
    unsigned n = 3;
    unsigned char bytes[SIZE];
    for (int i = 0; i < SIZE; i++) bytes[i] = (unsigned char)i;
    if (hipModuleLoad(&module, object) || hipModuleGetFunction(&function, module, name)) {
        printf("no kernel %s\n", name);
        return 2;
    }
    if (hipMalloc((void **)&in, SIZE) || hipMalloc((void **)&out, SIZE) ||
        hipMemcpy(in, bytes, SIZE, TO_DEVICE))
        return 2;
    if (free_first && hipFree(in)) return 2;
    void *args[] = {&out, &in, &n};
    int error = hipModuleLaunchKernel(function, 1, 1, 1, THREADS, 1, 1, 0, NULL, args, NULL);
    int later = hipDeviceSynchronize();
    printf("error=%d\n", error ? error : later);
    return 0;
}

static int host(const char *what)
{
    char local[16];
    if (hipMalloc((void **)&in, SIZE)) return 2;
    int error = 0;
    if (!strcmp(what, "double_free"))
        error = hipFree(in) ? 2 : hipFree(in);
    else if (!strcmp(what, "interior"))
        error = hipFree(in + 16);
    else if (!strcmp(what, "foreign"))
        error = hipFree(local);
    else if (!strcmp(what, "none"))
        error = hipFree(in);
    printf("error=%d\n", error);
    return 0;
}

int main(int argc, char **argv)
{
    int first = argc > 3 && !strcmp(argv[2], "free_first");
    if (argc < 3) return 2;
    int status = !strcmp(argv[1], "-") ? host(argv[2]) : run(argv[1], argv[2 + first], first);
    kilnsim_findings(print_finding, NULL);
    fflush(stdout);
    return status;
}
