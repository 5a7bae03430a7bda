// SPDX-License-Identifier: MIT
// Graphs made by hand: nodes with their parameters and dependencies.
#include <stdlib.h>
#include <string.h>
#include "hip.h"

/* ---- adding ---- */

static bool all_of(const khip_graph *g, khip_node *const *node, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!khip_handle_is(node[i], KHIP_NODE) || node[i]->graph != g) return false;
    return true;
}

static int add(void **out, void *graph, khip_node *const *after, size_t count, const khip_op *op)
{
    if (!out || !khip_handle_is(graph, KHIP_GRAPH) || (count && !after)) return E_InvalidValue;
    if (!all_of(graph, after, count)) return E_InvalidValue;
    khip_lock();
    *out = khip_graph_add(graph, op, after, count);
    khip_unlock();
    return *out ? 0 : E_OutOfMemory;
}

/* Of every function that adds a node. */
#define NODE    void **out, void *graph, khip_node *const *after, size_t count
#define NODE_IN out, graph, after, count

typedef struct kernel_params { /* hipKernelNodeParams */
    khip_dim block;
    void **extra;
    void *function;
    khip_dim grid;
    void **params;
    unsigned lds;
} kernel_params;

/* op->run.kernarg is freed by the caller. */
static int kernel_op(const kernel_params *p, khip_op *op)
{
    khip_function *f;
    if (!p) return E_InvalidValue;
    int code = khip_function_of(p->function, &f);
    if (code) return code;
    *op = (khip_op){.kind = KHIP_OP_RUN,
                    .run = {.function = f,
                            .grid = {p->grid.x, p->grid.y, p->grid.z},
                            .block = {p->block.x, p->block.y, p->block.z},
                            .lds = p->lds}};
    code = khip_check_sizes(f->kernel, op->run.grid, op->run.block, p->lds);
    return code ? code : khip_pack(&op->run, p->params, p->extra);
}

HIP(hipGraphAddKernelNode, (NODE, const kernel_params *p), (NODE_IN, p))
{
    khip_op op;
    int code = kernel_op(p, &op);
    if (code) return code;
    code = add(NODE_IN, &op);
    free(op.run.kernarg);
    return code;
}

static int add_copy(NODE, const khip_copy *c)
{
    const int code = khip_check_copy(c);
    return code ? code : add(NODE_IN, &(khip_op){.kind = KHIP_OP_COPY, .copy = *c});
}

HIP(hipGraphAddMemcpyNode, (NODE, const void *box), (NODE_IN, box))
{
    khip_copy c;
    const int code = khip_copy_box(box, &c);
    return code ? code : add_copy(NODE_IN, &c);
}

HIP(hipGraphAddMemcpyNode1D, (NODE, void *to, const void *from, size_t size, int kind),
    (NODE_IN, to, from, size, kind))
{
    const khip_copy c = {to, from, size, 1, 1, size, size, 0, 0, kind};
    return add_copy(NODE_IN, &c);
}

typedef struct set_params { /* hipMemsetParams */
    void *to;
    unsigned element;
    size_t height, pitch;
    unsigned value;
    size_t width;
} set_params;

HIP(hipGraphAddMemsetNode, (NODE, const set_params *p), (NODE_IN, p))
{
    if (!p || (p->element != 1 && p->element != 2 && p->element != 4)) return E_InvalidValue;
    const khip_set s = {p->to, p->value, p->element, p->width, p->height, 1, p->pitch, 0};
    const int code = khip_check_set(&s);
    return code ? code : add(NODE_IN, &(khip_op){.kind = KHIP_OP_SET, .set = s});
}

HIP(hipGraphAddHostNode, (NODE, const khip_call *call), (NODE_IN, call))
{
    if (!call || !call->call) return E_InvalidValue;
    return add(NODE_IN, &(khip_op){.kind = KHIP_OP_CALL, .call = *call});
}

HIP(hipGraphAddEmptyNode, (NODE), (NODE_IN))
{
    return add(NODE_IN, &(khip_op){.kind = KHIP_OP_EMPTY});
}

HIP(hipGraphAddEventRecordNode, (NODE, void *event), (NODE_IN, event))
{
    if (!khip_handle_is(event, KHIP_EVENT)) return E_InvalidHandle;
    return add(NODE_IN, &(khip_op){.kind = KHIP_OP_RECORD, .event = event});
}

/* ---- dependencies ---- */

static int depend(khip_node *on, khip_node *n)
{
    khip_node **more = realloc(n->after, (n->after_count + 1) * sizeof *more);
    if (!more) return E_OutOfMemory;
    n->after = more;
    n->after[n->after_count++] = on;
    return 0;
}

HIP(hipGraphAddDependencies,
    (void *graph, khip_node *const *from, khip_node *const *to, size_t count),
    (graph, from, to, count))
{
    int code = 0;
    if (!khip_handle_is(graph, KHIP_GRAPH) || (count && (!from || !to))) return E_InvalidValue;
    if (!all_of(graph, from, count) || !all_of(graph, to, count)) return E_InvalidValue;
    for (size_t i = 0; i < count; i++)
        if (from[i] == to[i]) return E_InvalidValue;
    khip_lock();
    for (size_t i = 0; code == 0 && i < count; i++) code = depend(from[i], to[i]);
    khip_unlock();
    return code;
}

/* ---- questions ---- */

/* Without a list the number; with one as many as fit, the rest of it NULL. */
static int list_nodes(void *graph, khip_node **out, size_t *count, bool roots)
{
    const khip_graph *g = graph;
    size_t n = 0;
    if (!khip_handle_is(graph, KHIP_GRAPH) || !count) return E_InvalidValue;
    const size_t room = out ? *count : 0;
    khip_lock();
    for (size_t i = 0; i < g->count; i++) {
        if (roots && g->node[i]->after_count) continue;
        if (n < room) out[n] = g->node[i];
        n++;
    }
    for (size_t i = n; i < room; i++) out[i] = NULL;
    *count = out && n > room ? room : n;
    khip_unlock();
    return 0;
}

HIP(hipGraphGetNodes, (void *graph, khip_node **out, size_t *count), (graph, out, count))
{
    return list_nodes(graph, out, count, false);
}

HIP(hipGraphGetRootNodes, (void *graph, khip_node **out, size_t *count), (graph, out, count))
{
    return list_nodes(graph, out, count, true);
}

HIP(hipGraphNodeGetType, (khip_node * n, int *type), (n, type))
{
    static const int types[] = {/* hipGraphNodeType */
                                [KHIP_OP_RUN] = 0,  [KHIP_OP_COPY] = 1,  [KHIP_OP_SET] = 2,
                                [KHIP_OP_CALL] = 3, [KHIP_OP_EMPTY] = 5, [KHIP_OP_RECORD] = 7};
    if (!type || !khip_handle_is(n, KHIP_NODE)) return E_InvalidValue;
    *type = types[n->op.kind];
    return 0;
}

/* ---- other parameters for a graph that is instantiated already ---- */

HIP(hipGraphExecKernelNodeSetParams, (void *x, khip_node *n, const kernel_params *p), (x, n, p))
{
    khip_op op;
    if (!khip_handle_is(n, KHIP_NODE) || n->op.kind != KHIP_OP_RUN) return E_InvalidValue;
    int code = kernel_op(p, &op);
    if (code) return code;
    code = khip_exec_replace(x, n, &op);
    free(op.run.kernarg);
    return code;
}

HIP(hipGraphKernelNodeSetParams, (khip_node * n, const kernel_params *p), (n, p))
{
    khip_op op, copy;
    if (!khip_handle_is(n, KHIP_NODE) || n->op.kind != KHIP_OP_RUN) return E_InvalidValue;
    int code = kernel_op(p, &op);
    if (code) return code;
    if (khip_op_copy(&copy, &op)) {
        khip_op_free(&n->op);
        n->op = copy;
    } else {
        code = E_OutOfMemory;
    }
    free(op.run.kernarg);
    return code;
}
