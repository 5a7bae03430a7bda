// SPDX-License-Identifier: MIT
// KILN_SIM: each option, each value that is none, and what a bad one does to the entry points.  The
// variable is read once, so that every case is a process of its own.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "hip.h"
#include "hip_calls.h"

/* Runs a check in a child with KILN_SIM set (NULL: not set); its exit status. */
static int in_child(const char *text, bool (*check)(void))
{
    fflush(NULL);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (text)
            setenv("KILN_SIM", text, 1);
        else
            unsetenv("KILN_SIM");
        _exit(check() ? 0 : 1);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    return status;
}

#define O (*ks_options_get())

static int checks_on(void)
{
    int n = 0;
    for (int i = 0; i < KILNSIM_KIND_COUNT; i++) n += O.check[i];
    return n;
}

static bool all_on(void)
{
    return checks_on() == KILNSIM_KIND_COUNT;
}

/* text of KILN_SIM, what then holds */
#define GOOD(X)                                                                                    \
    X("", all_on() && O.errors && !O.cost && !O.log && !O.llvm && !O.variant && O.arch == -1)      \
    X("", O.limit == 1000000000 && O.threads == 0 && !O.strict_alignment && O.quarantine > 0)      \
    X("checks=off", checks_on() == 0)                                                              \
    X("checks=off,bounds=on", checks_on() == 1 && O.check[KILNSIM_BOUNDS])                         \
    X("bounds=on,checks=off", checks_on() == 0)                                                    \
    X("races=off", checks_on() == KILNSIM_KIND_COUNT - 1 && !O.check[KILNSIM_RACE])                \
    X("races=off,races=on", all_on())                                                              \
    X("limit=5000", O.limit == 5000)                                                               \
    X("limit=1e6", O.limit == 1000000)                                                             \
    X("limit=2K", O.limit == 2048)                                                                 \
    X("limit=3G", O.limit == 3ull << 30)                                                           \
    X("quarantine=0", O.quarantine == 0)                                                           \
    X("quarantine=1.5M", O.quarantine == 3 << 19)                                                  \
    X("threads=1,", O.threads == 1)                                                                \
    X("units=3", O.units == 3 && khip_units(khip_chip_of(KS_GFX942)) == 3)                             \
    X("units=3,units=0", khip_units(khip_chip_of(KS_GFX90A)) == 104)                                   \
    X("errors=off", !O.errors)                                                                     \
    X("cost=on", O.cost)                                                                           \
    X("latency=1260", O.latency == 1260)                                                           \
    X("log=off", strcmp(O.log, "off") == 0)                                                        \
    X("log=a,log=/tmp/x y", strcmp(O.log, "/tmp/x y") == 0)                                        \
    X("llvm=/usr/lib/libLLVM.so", strcmp(O.llvm, "/usr/lib/libLLVM.so") == 0)                      \
    X("variant=v3", strcmp(O.variant, "v3") == 0)                                                  \
    X("alignment=strict", O.strict_alignment)                                                      \
    X("alignment=strict,alignment=hardware", !O.strict_alignment)                                  \
    X("arch=gfx90a", O.arch == KS_GFX90A && khip_device_count() == 1)                                \
    X("arch=gfx942",                                                                               \
      O.arch == KS_GFX942 && khip_device_of(0)->arch == KS_GFX942 && !khip_device_of(1))               \
    X("devices=2", khip_device_count() == 2 && khip_device_of(1)->arch == KS_GFX942)                   \
    X("devices=8,arch=gfx90a", khip_device_of(7)->arch == KS_GFX90A && !khip_device_of(8))             \
    X("heap=64M", O.heap == 64 << 20 && ks_heap_limit(0) == 64 << 20)

static size_t now;

static bool holds(void)
{
    size_t i = 0;
    if (ks_options_error()) return false;
#define X(text, condition)                                                                         \
    if (i++ == now) return condition;
    GOOD(X)
#undef X
    return false;
}

static void options_are_read(void **state)
{
    static const char *const text[] = {
#define X(text, condition) text,
        GOOD(X)
#undef X
    };
    (void)state;
    for (now = 0; now < sizeof text / sizeof *text; now++)
        if (in_child(text[now], holds) != 0) fail_msg("KILN_SIM=%s (case %zu)", text[now], now);
    now = 0;
    assert_int_equal(in_child(NULL, holds), 0); /* not set is as empty */
}

/* text of KILN_SIM, words of the message */
static const struct bad {
    const char *text, *words;
} bad[] = {
    {"raecs=off", "no option is called 'raecs'; there are checks, limit,"},
    {"raecs=off", " bounds, freed,"},
    {"races", "races=: it takes on or off"},
    {"races=", "races=: it takes on or off"},
    {"races=maybe", "races=maybe: it takes on or off"},
    {"checks=1", "it takes on or off"},
    {"limit=many", "limit=many: it takes a whole number"},
    {"limit=-1", "a whole number"},
    {"limit=1.5", "a whole number"},
    {"limit=1e99", "a whole number"},
    {"limit=nan", "a whole number"},
    {"limit=5T", "a whole number"},
    {"limit=5KK", "a whole number"},
    {"limit= 5", "a whole number"},
    {"threads=1025", "from 0 to 1024"},
    {"units=1025", "from 0 to 1024"},
    {"arch=gfx1100", "gfx942 or gfx90a"},
    {"devices=0", "from 1 to 8"},
    {"devices=9", "from 1 to 8"},
    {"variant=v5", "base, v3 or v4"},
    {"alignment=on", "strict or hardware"},
    {"log=", "a text that is not empty"},
    {"errors=off,=on", "no option is called ''"},
};

static bool is_told(void)
{
    const char *text = ks_options_error();
    return text && strncmp(text, "KILN_SIM: ", 10) == 0 && strstr(text, bad[now].words);
}

static void bad_values_are_told(void **state)
{
    (void)state;
    for (now = 0; now < sizeof bad / sizeof *bad; now++) {
        if (in_child(bad[now].text, is_told) != 0) fail_msg("KILN_SIM=%s", bad[now].text);
    }
}

/* Every entry fails, the text is printed once. */
static bool nothing_works(void)
{
    int pipe_of[2], count;
    ptr p;
    char text[4096];
    if (pipe(pipe_of) || dup2(pipe_of[1], STDERR_FILENO) < 0) return false;
    bool ok = hipInit(0) == E_InvalidValue && hipGetDeviceCount(&count) == E_InvalidValue &&
              hipMalloc(&p, 16) == E_InvalidValue && hipGetLastError() == E_InvalidValue;
    fflush(stderr);
    const ssize_t n = read(pipe_of[0], text, sizeof text - 1);
    if (n <= 0) return false;
    text[n] = 0;
    ok = ok && strncmp(text, "kilnsim: KILN_SIM: no option is called 'x'", 42) == 0;
    return ok && strchr(text, '\n') == text + n - 1;
}

static void a_bad_option_stops_every_entry(void **state)
{
    (void)state;
    assert_int_equal(in_child("x=1", nothing_works), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_read),
        cmocka_unit_test(bad_values_are_told),
        cmocka_unit_test(a_bad_option_stops_every_entry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
