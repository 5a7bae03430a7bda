// SPDX-License-Identifier: MIT
// Graphs: operations with what they come after.  A graph that can be launched is a list of copies
// of its operations in an order that keeps to that, the same in every run.
#include <stdlib.h>
#include <string.h>
#include "hip.h"

typedef struct exec {
    khip_op *op;
    const khip_node **of; /* the node that each came from: compared, not looked into */
    size_t count;
} exec;

/* ---- operations that outlive their call ---- */

bool khip_op_copy(khip_op *to, const khip_op *from)
{
    *to = *from;
    if (from->kind != KHIP_OP_RUN) return true;
    const size_t size = from->run.function->kernel->kernarg_size;
    to->run.kernarg = malloc(size ? size : 1);
    if (!to->run.kernarg) return false;
    if (size) memcpy(to->run.kernarg, from->run.kernarg, size);
    khip_module_retain(from->run.function->module);
    return true;
}

void khip_op_free(khip_op *op)
{
    if (op->kind != KHIP_OP_RUN) return;
    free(op->run.kernarg);
    khip_module_release(op->run.function->module);
}

/* ---- graphs ---- */

khip_graph *khip_graph_new(void)
{
    return calloc(1, sizeof(khip_graph));
}

static void free_node(khip_node *n)
{
    khip_op_free(&n->op);
    free(n->after);
    free(n);
}

void khip_graph_free(khip_graph *g)
{
    if (!g) return;
    for (size_t i = 0; i < g->count; i++) {
        khip_handle_remove(g->node[i], KHIP_NODE);
        free_node(g->node[i]);
    }
    free(g->node);
    free(g);
}

khip_node *khip_graph_add(khip_graph *g, const khip_op *op, khip_node *const *after, size_t count)
{
    khip_node **more = realloc(g->node, (g->count + 1) * sizeof *more);
    if (!more) return NULL;
    g->node = more;
    khip_node *n = calloc(1, sizeof *n);
    if (!n) return NULL;
    n->graph = g;
    n->after = malloc((count ? count : 1) * sizeof *n->after);
    if (!n->after || !khip_op_copy(&n->op, op)) {
        free(n->after);
        free(n);
        return NULL;
    }
    if (count) memcpy(n->after, after, count * sizeof *after);
    n->after_count = count;
    if (!khip_handle_add(n, KHIP_NODE)) {
        free_node(n);
        return NULL;
    }
    return g->node[g->count++] = n;
}

/* ---- in order ---- */

static bool ready(const khip_node *n)
{
    for (size_t i = 0; i < n->after_count; i++)
        if (!n->after[i]->mark) return false;
    return true;
}

static void exec_free(exec *x)
{
    for (size_t i = 0; i < x->count; i++) khip_op_free(&x->op[i]);
    free(x->op);
    free(x->of);
    free(x);
}

/* Copies what is ready, in order of creation, until nothing is left; hipErrorInvalidValue: a
 * circle. */
static int arrange(const khip_graph *g, exec *x)
{
    bool moved = true;
    for (size_t i = 0; i < g->count; i++) g->node[i]->mark = 0;
    while (moved && x->count < g->count) {
        moved = false;
        for (size_t i = 0; i < g->count; i++) {
            khip_node *n = g->node[i];
            if (n->mark || !ready(n)) continue;
            if (!khip_op_copy(&x->op[x->count], &n->op)) return E_OutOfMemory;
            x->of[x->count++] = n;
            n->mark = 1;
            moved = true;
        }
    }
    return x->count == g->count ? 0 : E_InvalidValue;
}

static int instantiate(void **out, void *graph)
{
    const khip_graph *g = graph;
    if (!out || !khip_handle_is(graph, KHIP_GRAPH)) return E_InvalidValue;
    exec *x = calloc(1, sizeof *x);
    if (!x) return E_OutOfMemory;
    x->op = calloc(g->count + 1, sizeof *x->op);
    x->of = calloc(g->count + 1, sizeof *x->of);
    khip_lock();
    int code = x->op && x->of ? arrange(g, x) : E_OutOfMemory;
    khip_unlock();
    if (code == 0 && !khip_handle_add(x, KHIP_EXEC)) code = E_OutOfMemory;
    if (code)
        exec_free(x);
    else
        *out = x;
    return code;
}

int khip_exec_replace(void *handle, const khip_node *node, const khip_op *op)
{
    exec *x = handle;
    khip_op copy;
    if (!khip_handle_is(x, KHIP_EXEC)) return E_InvalidValue;
    size_t i = 0;
    while (i < x->count && x->of[i] != node) i++;
    if (i == x->count) return E_InvalidValue;
    if (!khip_op_copy(&copy, op)) return E_OutOfMemory;
    khip_op_free(&x->op[i]);
    x->op[i] = copy;
    return 0;
}

HIP(hipGraphInstantiate, (void **out, void *graph, void **node, char *log, size_t size),
    (out, graph, node, log, size))
{
    if (node) *node = NULL;
    if (log && size) *log = 0;
    return instantiate(out, graph);
}

HIP(hipGraphInstantiateWithFlags, (void **out, void *graph, unsigned long long flags),
    (out, graph, flags))
{
    enum { KNOWN = 0xf };
    return flags & ~(unsigned long long)KNOWN ? E_InvalidValue : instantiate(out, graph);
}

HIP(hipGraphUpload, (void *x, void *stream), (x, stream))
{
    khip_stream *s;
    const int code = khip_stream_of(stream, &s);
    return code ? code : khip_handle_is(x, KHIP_EXEC) ? 0 : E_InvalidValue;
}

/* In a capturing stream the graph's operations become nodes of the other graph. */
HIP(hipGraphLaunch, (void *handle, void *stream), (handle, stream))
{
    khip_stream *s;
    const exec *x = handle;
    int code = khip_stream_of(stream, &s);
    if (code) return code;
    if (!khip_handle_is(handle, KHIP_EXEC)) return E_InvalidValue;
    for (size_t i = 0; code == 0 && i < x->count; i++) code = khip_submit(s, &x->op[i]);
    return code;
}
HIP_TOO(hipGraphLaunch_spt, hipGraphLaunch, (void *handle, void *stream))

HIP(hipGraphExecDestroy, (void *x), (x))
{
    if (!khip_handle_remove(x, KHIP_EXEC)) return E_InvalidValue;
    exec_free(x);
    return 0;
}

HIP(hipGraphDestroy, (void *graph), (graph))
{
    if (!khip_handle_remove(graph, KHIP_GRAPH)) return E_InvalidValue;
    khip_graph_free(graph);
    return 0;
}

HIP(hipGraphCreate, (void **out, unsigned flags), (out, flags))
{
    if (!out || flags) return E_InvalidValue;
    khip_graph *g = khip_graph_new();
    if (!g || !khip_handle_add(g, KHIP_GRAPH)) {
        khip_graph_free(g);
        return E_OutOfMemory;
    }
    *out = g;
    return 0;
}
