// SPDX-License-Identifier: MIT
// hipError_t's names and texts, the thread's last error, and refusals that a number alone would not
// explain.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include "hip.h"

static const struct row {
    int number;
    const char *name, *text;
} row[] = {
#define X(number, name, text) {number, number ? "hipError" #name : "hip" #name, text},
    KHIP_ERRORS(X)
#undef X
};
enum { ROWS = sizeof row / sizeof *row };

static const struct row *find(int number)
{
    for (size_t i = 0; i < ROWS; i++)
        if (row[i].number == number) return &row[i];
    return NULL;
}

/* hipGetLastError's and hipExtGetLastError's: until ROCm 6 a call that succeeds overwrites an error
 * of before; since 7 it stays until it is asked for, and hipExtGetLastError has the old meaning. */
enum { KEEPS_ERRORS = 7 };
static _Thread_local int last, status;

int khip_last(int code)
{
    if (code || khip_abi() < KEEPS_ERRORS) last = code;
    status = code;
    return code;
}

int khip_usable(void)
{
    const char *text = ks_options_error();
    ks_report_start();
    if (!text) return 0;
    ks_report_refusal(text);
    return E_InvalidValue;
}

int khip_refuse(int code, const char *format, ...)
{
    char text[KS_TEXT];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    ks_report_refusal(text);
    return code;
}

void ks_fail(ks_error *error, int hip, const char *format, ...)
{
    if (!error) return;
    va_list list;
    va_start(list, format);
    error->hip = hip;
    vsnprintf(error->text, sizeof error->text, format, list);
    va_end(list);
}

/* The major number at the end of the name that this library was opened by: libamdhip64.so.6,
 * libhiprtc.so.6. */
static int find_abi(void)
{
    enum { OLDEST = 5, NEWEST = 7, DEFAULT = 6 };
    static const char end[] = ".so.";
    Dl_info info;
    if (!dladdr((void *)(uintptr_t)khip_abi, &info) || !info.dli_fname) return DEFAULT;
    const char *file = strrchr(info.dli_fname, '/');
    const char *so = strstr(file ? file : info.dli_fname, end);
    if (!so) return DEFAULT;
    const int major = so[sizeof end - 1] - '0';
    return major >= OLDEST && major <= NEWEST ? major : DEFAULT;
}

/* ROCm's versions number some enumerations differently under one symbol name; the file name in the
 * program's list of libraries says which it was built for. */
int khip_abi(void)
{
    static atomic_int known;
    int abi = atomic_load_explicit(&known, memory_order_relaxed);
    if (!abi) atomic_store_explicit(&known, abi = find_abi(), memory_order_relaxed);
    return abi;
}

/* ---- entry points; these four neither fail nor touch the last error but as they say ---- */

KHIP_API int hipGetLastError(void);
KHIP_API int hipPeekAtLastError(void);
KHIP_API int hipExtGetLastError(void);
KHIP_API const char *hipGetErrorName(int code);
KHIP_API const char *hipGetErrorString(int code);

int hipGetLastError(void)
{
    const int code = last;
    last = status = 0;
    return code;
}

int hipExtGetLastError(void)
{
    const int code = status;
    status = 0;
    if (khip_abi() < KEEPS_ERRORS) last = 0;
    return code;
}

int hipPeekAtLastError(void)
{
    return last;
}

const char *hipGetErrorName(int code)
{
    const struct row *r = find(code);
    return r ? r->name : "hipErrorUnknown";
}

const char *hipGetErrorString(int code)
{
    const struct row *r = find(code);
    return r ? r->text : "unknown error";
}

HIP(hipDrvGetErrorName, (int code, const char **out), (code, out))
{
    const struct row *r = find(code);
    if (!r || !out) return E_InvalidValue;
    *out = r->name;
    return 0;
}

HIP(hipDrvGetErrorString, (int code, const char **out), (code, out))
{
    const struct row *r = find(code);
    if (!r || !out) return E_InvalidValue;
    *out = r->text;
    return 0;
}
