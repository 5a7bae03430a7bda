// SPDX-License-Identifier: MIT
// KILN_SIM="name=value,name=value": read once.  Checks are options by their own names (kilnsim.h);
// the others stand in one table.  What is wrong is kept as a text: hipInit and every other entry
// point then fail with it.
#define _GNU_SOURCE
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sim.h"

/* name, member, type.  Options are applied from left to right, so that "checks=off,bounds=on"
 * leaves one check. */
#define OPTIONS(X)                                                                                 \
    X(checks, check, ALL)            /* every check */                                             \
    X(limit, limit, COUNT)           /* instructions of one wave; more is an endless kernel */     \
    X(threads, threads, FEW)         /* host threads, 0 for one per core */                        \
    X(units, units, FEW)             /* compute units of a device, 0 for the chip's own */         \
    X(errors, errors, SWITCH)        /* findings make the launch fail */                           \
    X(cost, cost, SWITCH)            /* every launch is priced and printed */                      \
    X(latency, latency, COUNT)       /* cycles of memory in the cost model, 0: its own */          \
    X(log, log, TEXT)                /* a file that findings are added to, or off */               \
    X(llvm, llvm, TEXT)              /* the path of libLLVM */                                     \
    X(variant, variant, VARIANT)     /* code for the host's vector unit */                         \
    X(unwritten, unwritten, SWITCH)  /* device memory is undefined until it is written */          \
    X(quarantine, quarantine, COUNT) /* bytes of freed memory kept back to find its use */         \
    X(alignment, strict_alignment, ALIGNMENT) /* of plain accesses: what C++ needs, or hardware */ \
    X(arch, arch, ARCH)                       /* the only device */                                \
    X(devices, devices, DEVICES)              /* how many of it */                                 \
    X(heap, heap, COUNT)                      /* bytes for malloc in kernels */

/* type, what its values are */
#define TYPES(X)                                                                                   \
    X(ALL, "on or off")                                                                            \
    X(SWITCH, "on or off")                                                                         \
    X(COUNT, "a whole number such as 1000000, 1e6 or 64M")                                         \
    X(FEW, "a whole number from 0 to 1024")                                                        \
    X(TEXT, "a text that is not empty")                                                            \
    X(VARIANT, "base, v3 or v4")                                                                   \
    X(ALIGNMENT, "strict or hardware")                                                             \
    X(ARCH, "gfx942 or gfx90a")                                                                    \
    X(DEVICES, "a whole number from 1 to 8")

typedef enum value_type {
#define X(name, text) name,
    TYPES(X)
#undef X
} value_type;
static const char *const values[] = {
#define X(name, text) text,
    TYPES(X)
#undef X
};
static const struct option {
    const char *name;
    value_type type;
    size_t offset;
} option[] = {
#define X(name, member, type) {#name, type, offsetof(ks_options, member)},
    OPTIONS(X)
#undef X
#define X(name, text, error, meaning) {text, SWITCH, offsetof(ks_options, check[KILNSIM_##name])},
        KILNSIM_KINDS(X)
#undef X
};
enum { COUNT_OF_OPTIONS = sizeof option / sizeof *option };

static ks_options options = {.limit = 1000000000,
                             .errors = true,
                             .quarantine = (size_t)256 << 20,
                             .arch = -1,
                             .heap = (size_t)1 << 30};
static char problem[KS_TEXT];

/* ---- values; false: not one ---- */

static bool get_switch(const char *value, bool *out)
{
    *out = strcmp(value, "on") == 0;
    return *out || strcmp(value, "off") == 0;
}

/* 1000, 1e9, 64M */
static bool get_count(const char *value, uint64_t *out)
{
    static const char units[] = "KMG";
    const double most = 9007199254740992.0; /* 2^53: exact */
    char *end;
    if (*value < '0' || *value > '9') return false;
    const locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0); /* a point, wherever this is */
    if (!c) return false;
    double n = strtod_l(value, &end, c);
    freelocale(c);
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (unit) {
        n *= (double)(1ull << (10 * (unit - units + 1)));
        end++;
    }
    if (*end || !(n >= 0 && n <= most) || n != floor(n)) return false;
    *out = (uint64_t)n;
    return true;
}

static bool one_of(const char *value, const char *const *name, size_t count, size_t *out)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(value, name[i]) != 0) continue;
        *out = i;
        return true;
    }
    return false;
}

static bool get_text(const char *value, const char **out)
{
    free((char *)(uintptr_t)*out);
    *out = *value ? strdup(value) : NULL;
    return *out != NULL;
}

static bool apply(const struct option *o, const char *value)
{
    static const char *const arch[KS_ARCH_COUNT] = {[KS_GFX90A] = "gfx90a", [KS_GFX942] = "gfx942"};
    static const char *const variant[] = {"base", "v3", "v4"};
    static const char *const alignment[] = {"hardware", "strict"};
    enum { MOST_OF_FEW = 1024 };
    void *to = (char *)&options + o->offset;
    uint64_t n;
    size_t index;
    bool on;
    switch (o->type) {
    case ALL:
        if (!get_switch(value, &on)) return false;
        for (size_t i = 0; i < KILNSIM_KIND_COUNT; i++) options.check[i] = on;
        return true;
    case SWITCH:
        return get_switch(value, to);
    case COUNT:
        if (!get_count(value, &n)) return false;
        memcpy(to, &n, sizeof n);
        return true;
    case FEW:
        if (!get_count(value, &n) || n > MOST_OF_FEW) return false;
        memcpy(to, &(unsigned){(unsigned)n}, sizeof(unsigned));
        return true;
    case DEVICES:
        if (!get_count(value, &n) || !n || n > KS_MOST_DEVICES) return false;
        options.devices = (unsigned)n;
        return true;
    case TEXT:
        return get_text(value, to);
    case VARIANT:
        if (!one_of(value, variant, sizeof variant / sizeof *variant, &index)) return false;
        options.variant = variant[index];
        return true;
    case ALIGNMENT:
        if (!one_of(value, alignment, 2, &index)) return false;
        options.strict_alignment = index == 1;
        return true;
    case ARCH:
        if (!one_of(value, arch, KS_ARCH_COUNT, &index)) return false;
        options.arch = (int)index;
        return true;
    }
    return false;
}
_Static_assert(sizeof(size_t) == sizeof(uint64_t), "COUNT members are 64 bits");

/* ---- the variable ---- */

static void unknown(const char *name)
{
    int n =
        snprintf(problem, sizeof problem, "KILN_SIM: no option is called '%.40s'; there are", name);
    for (size_t i = 0; i < COUNT_OF_OPTIONS && n < (int)sizeof problem; i++)
        n += snprintf(problem + n, sizeof problem - (size_t)n, "%s %s", i ? "," : "",
                      option[i].name);
}

static bool parse_one(char *text)
{
    char *value = strchr(text, '=');
    if (value) *value++ = 0;
    for (size_t i = 0; i < COUNT_OF_OPTIONS; i++) {
        if (strcmp(option[i].name, text) != 0) continue;
        if (value && apply(&option[i], value)) return true;
        snprintf(problem, sizeof problem, "KILN_SIM: %s=%.80s: it takes %s", text,
                 value ? value : "", values[option[i].type]);
        return false;
    }
    unknown(text);
    return false;
}

static void read_environment(void)
{
    for (size_t i = 0; i < KILNSIM_KIND_COUNT; i++) options.check[i] = true;
    const char *text = getenv("KILN_SIM");
    char *copy = text ? strdup(text) : NULL, *rest = NULL;
    if (!copy) return;
    for (char *one = strtok_r(copy, ",", &rest); one; one = strtok_r(NULL, ",", &rest))
        if (!parse_one(one)) break;
    free(copy);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

const ks_options *ks_options_get(void)
{
    pthread_once(&once, read_environment);
    return &options;
}

const char *ks_options_error(void)
{
    pthread_once(&once, read_environment);
    return *problem ? problem : NULL;
}
