// SPDX-License-Identifier: MIT
// Every instruction by name: the vector tables of the best variant for this CPU, the scalar and the
// memory tables, in one index that is built at first use.
#include <pthread.h>
#include <string.h>
#include "vec.h"

const ks_type_info ks_types[KS_TYPE_COUNT] = {
#define X(name, regs, bits, class) {#name, regs, bits, class},
    KS_TYPES(X)
#undef X
};
const char *const ks_class_names[KS_CLASS_COUNT] = {
#define X(name, text) text,
    KS_CLASSES(X)
#undef X
};

#define X(v) KS_VEC_TABLES(KS_VEC_TABLE_FN, v)
KS_VARIANTS
#undef X

typedef ks_op_table table_fn(void);
#define TABLE(table, v) KS_CAT(ks_##table##_ops, v),
#define X(v)                                                                                       \
    static table_fn *const tables_##v[] = {KS_VEC_TABLES(TABLE, v) ks_scalar_ops, ks_flow_ops,     \
                                           ks_smem_ops, ks_memory_ops, NULL};
KS_VARIANTS
#undef X

static bool runs_base(void)
{
    return true;
}
#ifdef __x86_64__
static bool runs_v3(void)
{
    return __builtin_cpu_supports("x86-64-v3");
}
static bool runs_v4(void)
{
    return __builtin_cpu_supports("x86-64-v4");
}
#endif

/* The best last. */
static const struct {
    const char *name;
    bool (*runs)(void);
    table_fn *const *tables;
} variants[] = {
#define X(v) {#v, runs_##v, tables_##v},
    KS_VARIANTS
#undef X
};

enum { SLOTS = 1 << 13 };
static const ks_op *slot[SLOTS], *all[SLOTS];
static size_t all_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static size_t hash(const char *name, size_t length)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < length; i++) h = (h ^ (unsigned char)name[i]) * 16777619u;
    return (h ^ h >> 15) & (SLOTS - 1);
}

/* The slot of a name, or the free one where it belongs. */
static size_t place(const char *name, size_t length)
{
    size_t i = hash(name, length);
    while (slot[i] && (strncmp(slot[i]->name, name, length) != 0 || slot[i]->name[length]))
        i = (i + 1) & (SLOTS - 1);
    return i;
}

static void add(const ks_op_table table)
{
    for (size_t i = 0; i < table.count && all_count < SLOTS / 2; i++) {
        size_t at = place(table.op[i].name, strlen(table.op[i].name));
        all[all_count++] = &table.op[i];
        if (!slot[at]) slot[at] = &table.op[i];
    }
}

static void build(void)
{
    const char *wanted = ks_options_get()->variant;
    size_t best = 0;
    for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++)
        if (variants[i].runs()) {
            best = i;
            if (wanted && !strcmp(wanted, variants[i].name)) break;
        }
    for (table_fn *const *t = variants[best].tables; *t; t++) add((*t)());
}

const ks_op *ks_find_op(const char *name, size_t length)
{
    pthread_once(&once, build);
    return slot[place(name, length)];
}

const ks_op *ks_op_at(size_t index)
{
    pthread_once(&once, build);
    return index < all_count ? all[index] : NULL;
}
