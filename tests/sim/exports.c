// SPDX-License-Identifier: MIT
// Opens a HIP library by its name, as Python does, and asks it.  For tests/sim/exports.sh:
//     exports load FILE            opened at once, every name of it resolved
//     exports refused FILE NAME…   each call returns "not supported"; hiprtc's an internal error
//     exports error FILE           what hipGetLastError says after an error and a success
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { NOT_SUPPORTED = 801, RTC_INTERNAL_ERROR = 11 };
typedef int call(void *);

static call *find(void *library, const char *name)
{
    void *p = dlsym(library, name);
    call *f;
    memcpy(&f, &p, sizeof f);
    if (!p) printf("%s: it is not there\n", name);
    return f;
}

static int refused(void *library, char **name)
{
    int bad = 0;
    for (; *name; name++) {
        call *f = find(library, *name);
        const int code = f ? f(NULL) : -1;
        if (code == (strncmp(*name, "hiprtc", 6) ? NOT_SUPPORTED : RTC_INTERNAL_ERROR)) continue;
        printf("%s: %d\n", *name, code);
        bad = 1;
    }
    return bad;
}

static int error(void *library)
{
    int count, last, status;
    call *fails = find(library, "hipGetDeviceCount"), *get = find(library, "hipGetLastError");
    call *ext = find(library, "hipExtGetLastError");
    if (!fails || !get || !ext) return 1;
    fails(NULL);
    fails(&count);
    status = ext(NULL);
    last = get(NULL);
    printf("%d %d", last, status);
    fails(NULL);
    status = ext(NULL);
    last = get(NULL);
    printf(" %d %d\n", status, last);
    return 0;
}

int main(int argc, char **argv)
{
    void *library = argc > 2 ? dlopen(argv[2], RTLD_NOW) : NULL;
    if (!library) {
        printf("%s\n", argc > 2 ? dlerror() : "usage: exports load|refused|error FILE [NAME...]");
        return 1;
    }
    if (!strcmp(argv[1], "refused")) return refused(library, argv + 3);
    return strcmp(argv[1], "error") ? 0 : error(library);
}
