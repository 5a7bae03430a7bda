// SPDX-License-Identifier: MIT
// Plans: what calls whose tensors look alike have in common.  Types, sizes, strides and alignments
// make the key; a table of fixed size for each op and device keeps the plans met last.
#include "binding.h"
#include <stdlib.h>
#include <string.h>

enum { KEY_MAX = KILN_MAX_TENSORS * (1 + 2 * KP_DIMS) + KP_SIZES + 2 };

static size_t make_key(const kp_bound *b, const kp_call *c, int64_t *key)
{
    size_t n = 0;
    key[n++] = c->dtype;
    for (int i = 0; i < b->ntensors; i++) {
        const kp_view *v = c->view[i];
        if (!v) {
            key[n++] = -1;
            continue;
        }
        const uintptr_t align = (uintptr_t)v->data | 256;
        key[n++] = (int64_t)(v->dtype | v->ndim << 8 | (int)(align & -align) << 16);
        for (int d = 0; d < v->ndim; d++) key[n++] = v->shape[d];
        for (int d = 0; d < v->ndim; d++) key[n++] = v->stride[d];
    }
    for (int i = 0; i < KP_SIZES; i++)
        if (c->size[i] >= 0) key[n++] = c->size[i];
    return n;
}

static uint64_t hash_of(const int64_t *key, size_t n)
{
    uint64_t h = n;
    for (size_t i = 0; i < n; i++) {
        h = (h ^ (uint64_t)key[i]) * 0x9e3779b97f4a7c15ull;
        h ^= h >> 32;
    }
    return h;
}

/* What a call needs beside its pointers; of one whose outputs are still to be made, what they are
 * to be. */
static bool fill(const kp_bound *b, const kp_call *c, kp_plan *p)
{
    if (!kp_problem(b, c, &p->problem, p->made, &p->nothing)) return false;
    if (p->nothing) return true;
    const kiln_status status = kiln_find(b->ctx->ctx, &p->problem, &p->kernel);
    if (status) return kp_raise(status) != NULL;
    for (int i = 0; i < b->ntensors; i++)
        if (!c->view[i]) return true;
    p->workspace = kiln_workspace_size(p->kernel, &p->problem);
    return p->workspace != SIZE_MAX || kp_raise(KILN_INVALID) != NULL;
}

kp_plan *kp_plan_find(kp_bound *b, const kp_call *c)
{
    int64_t key[KEY_MAX];
    const size_t n = make_key(b, c, key);
    const uint64_t hash = hash_of(key, n);
    kp_plan **slot = &b->plan[hash % KP_PLANS], *p = *slot;
    if (p && p->hash == hash && p->nkey == n && !memcmp(p->key, key, n * sizeof *key)) {
        p->uses++;
        return p;
    }
    p = calloc(1, sizeof *p);
    int64_t *copy = malloc(n * sizeof *copy);
    if (!p || !copy) {
        free(p), free(copy);
        PyErr_NoMemory();
        return NULL;
    }
    memcpy(copy, key, n * sizeof *copy);
    *p = (kp_plan){.uses = 1, .hash = hash, .nkey = n, .key = copy};
    if (!fill(b, c, p)) {
        kp_plan_drop(p);
        return NULL;
    }
    if (*slot) kp_plan_drop(*slot);
    p->uses++;
    return *slot = p;
}

void kp_plan_drop(kp_plan *p)
{
    if (--p->uses) return;
    free(p->key);
    free(p);
}
