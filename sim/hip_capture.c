// SPDX-License-Identifier: MIT
// Stream capture: operations of a capturing stream become nodes of a graph, and events carry the
// capture from stream to stream.  Which calls are forbidden meanwhile follows the rules of
// cudaThreadExchangeStreamCaptureMode, which are HIP's.
#include <stdlib.h>
#include <string.h>
#include "hip.h"

enum { GLOBAL, THREAD_LOCAL, RELAXED };
enum { STATUS_NONE, STATUS_ACTIVE, STATUS_INVALID };

static _Thread_local int thread_mode = GLOBAL;
static khip_capture *captures; /* under khip_lock, as all that is here */
static atomic_int capture_count;
static uint64_t last_id;
static khip_stream *capturing; /* every stream that takes part in a capture */

bool khip_capturing(khip_stream *s)
{
    if (!atomic_load(&capture_count)) return false;
    khip_lock();
    const bool is = s->capture != NULL;
    khip_unlock();
    return is;
}

/* ---- tails ---- */

void khip_tail_clear(khip_tail *t)
{
    free(t->node);
    *t = (khip_tail){0};
}

static bool tail_add(khip_tail *t, khip_node *n)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->node[i] == n) return true;
    khip_node **more = realloc(t->node, (t->count + 1) * sizeof *more);
    if (!more) return false;
    t->node = more;
    t->node[t->count++] = n;
    return true;
}

static bool tail_join(khip_tail *t, const khip_tail *with)
{
    for (size_t i = 0; i < with->count; i++)
        if (!tail_add(t, with->node[i])) return false;
    return true;
}

/* ---- which calls are allowed ---- */

static bool forbids(const khip_capture *c)
{
    const bool mine = pthread_equal(c->thread, pthread_self());
    if (thread_mode == RELAXED) return false;
    if (mine) return c->mode != RELAXED;
    return thread_mode == GLOBAL && c->mode == GLOBAL;
}

int khip_unsafe(void)
{
    int code = 0;
    if (!atomic_load(&capture_count)) return 0;
    khip_lock();
    for (khip_capture *c = captures; c; c = c->next) {
        if (!forbids(c)) continue;
        c->invalid = true;
        code = E_StreamCaptureUnsupported;
    }
    khip_unlock();
    return code;
}

void khip_capture_break(khip_stream *s)
{
    khip_lock();
    if (s->capture) s->capture->invalid = true;
    khip_unlock();
}

HIP(hipThreadExchangeStreamCaptureMode, (int *mode), (mode))
{
    if (!mode || *mode < GLOBAL || *mode > RELAXED) return E_InvalidValue;
    const int old = thread_mode;
    thread_mode = *mode;
    *mode = old;
    return 0;
}

/* ---- what is captured ---- */

int khip_capture_add(khip_stream *s, const khip_op *op)
{
    int code = 0;
    khip_lock();
    khip_capture *c = s->capture;
    if (!c || c->invalid) {
        code = E_StreamCaptureInvalidated;
    } else {
        khip_node *n = khip_graph_add(c->graph, op, s->tail.node, s->tail.count);
        khip_tail next = {0};
        if (n && tail_add(&next, n)) {
            khip_tail_clear(&s->tail);
            s->tail = next;
        } else {
            c->invalid = true;
            code = E_OutOfMemory;
        }
    }
    khip_unlock();
    return code;
}

/* The event stands for what the stream has captured so far; it is recorded at no time. */
int khip_capture_record(khip_stream *s, khip_event *e)
{
    int code = 0;
    khip_lock();
    khip_capture *c = s->capture;
    khip_tail_clear(&e->tail);
    if (!c || c->invalid) {
        code = E_StreamCaptureInvalidated;
    } else if (!tail_join(&e->tail, &s->tail)) {
        code = E_OutOfMemory;
    } else {
        e->capture = c->id;
        e->recorded = false;
    }
    khip_unlock();
    return code;
}

static khip_capture *by_id(uint64_t id)
{
    khip_capture *c = captures;
    while (c && c->id != id) c = c->next;
    return c;
}

static void join(khip_stream *s, khip_capture *c)
{
    s->capture = c;
    s->next = capturing;
    capturing = s;
}

static int wait_locked(khip_stream *s, const khip_event *e)
{
    khip_capture *c = by_id(e->capture);
    if (!e->capture) {
        s->capture->invalid = true;
        return E_StreamCaptureIsolation;
    }
    if (!c) return s->capture ? E_StreamCaptureIsolation : E_CapturedEvent;
    if (s->capture && s->capture != c) {
        s->capture->invalid = c->invalid = true;
        return E_StreamCaptureMerge;
    }
    if (khip_is_legacy(s)) return E_StreamCaptureImplicit;
    if (c->invalid) return E_StreamCaptureInvalidated;
    if (!s->capture) join(s, c);
    if (tail_join(&s->tail, &e->tail)) return 0;
    c->invalid = true;
    return E_OutOfMemory;
}

int khip_capture_wait(khip_stream *s, khip_event *e)
{
    khip_lock();
    const int code = wait_locked(s, e);
    khip_unlock();
    return code;
}

/* ---- begin and end ---- */

HIP(hipStreamBeginCapture, (void *stream, int mode), (stream, mode))
{
    khip_stream *s;
    int code = khip_stream_of(stream, &s);
    if (code) return code;
    if (mode < GLOBAL || mode > RELAXED) return E_InvalidValue;
    if (khip_is_legacy(s)) return E_StreamCaptureUnsupported;
    khip_capture *c = calloc(1, sizeof *c);
    khip_graph *g = c ? khip_graph_new() : NULL;
    if (!g) {
        free(c);
        return E_OutOfMemory;
    }
    khip_lock();
    if (s->capture) {
        code = E_IllegalState;
    } else {
        *c = (khip_capture){g, s, mode, pthread_self(), false, ++last_id, captures};
        captures = c;
        atomic_fetch_add(&capture_count, 1);
        join(s, c);
    }
    khip_unlock();
    if (code) {
        khip_graph_free(g);
        free(c);
    }
    return code;
}
HIP_TOO(hipStreamBeginCapture_spt, hipStreamBeginCapture, (void *stream, int mode))

/* Whether every node of the graph comes before the origin's last ones: nothing was forked and left.
 */
static bool joined(const khip_capture *c)
{
    const khip_graph *g = c->graph;
    size_t reached = 0;
    for (size_t i = 0; i < g->count; i++) g->node[i]->mark = 0;
    for (size_t i = 0; i < c->origin->tail.count; i++) c->origin->tail.node[i]->mark = 1;
    for (size_t i = g->count; i-- > 0;) { /* a node comes after those that it depends on */
        khip_node *n = g->node[i];
        if (!n->mark) continue;
        reached++;
        for (size_t k = 0; k < n->after_count; k++) n->after[k]->mark = 1;
    }
    return reached == g->count;
}

static void leave(khip_capture *c)
{
    for (khip_stream **s = &capturing; *s;) {
        khip_stream *one = *s;
        if (one->capture != c) {
            s = &one->next;
            continue;
        }
        *s = one->next;
        one->next = NULL;
        one->capture = NULL;
        khip_tail_clear(&one->tail);
    }
    khip_capture **at = &captures;
    while (*at != c) at = &(*at)->next;
    *at = c->next;
    atomic_fetch_sub(&capture_count, 1);
}

/* Ends it; the graph where it may be used. */
static int end_locked(khip_stream *s, khip_graph **graph)
{
    khip_capture *c = s->capture;
    if (!c) return E_IllegalState;
    if (c->origin != s) return E_StreamCaptureUnmatched;
    if (c->mode != RELAXED && !pthread_equal(c->thread, pthread_self()))
        return E_StreamCaptureWrongThread;
    const int code = c->invalid   ? E_StreamCaptureInvalidated
                     : !joined(c) ? E_StreamCaptureUnjoined
                                  : 0;
    leave(c);
    if (code)
        khip_graph_free(c->graph);
    else
        *graph = c->graph;
    free(c);
    return code;
}

HIP(hipStreamEndCapture, (void *stream, void **out), (stream, out))
{
    khip_stream *s;
    khip_graph *graph = NULL;
    if (!out) return E_InvalidValue;
    int code = khip_stream_of(stream, &s);
    if (code) return code;
    khip_lock();
    code = end_locked(s, &graph);
    khip_unlock();
    *out = NULL;
    if (code) return code;
    if (!khip_handle_add(graph, KHIP_GRAPH)) {
        khip_graph_free(graph);
        return E_OutOfMemory;
    }
    *out = graph;
    return 0;
}
HIP_TOO(hipStreamEndCapture_spt, hipStreamEndCapture, (void *stream, void **out))

static int status(void *stream, int *out, unsigned long long *id)
{
    khip_stream *s;
    const int code = khip_stream_of(stream, &s);
    if (code || !out) return code ? code : E_InvalidValue;
    khip_lock();
    *out = !s->capture ? STATUS_NONE : s->capture->invalid ? STATUS_INVALID : STATUS_ACTIVE;
    if (id) *id = s->capture ? s->capture->id : 0;
    khip_unlock();
    return 0;
}

HIP(hipStreamIsCapturing, (void *stream, int *out), (stream, out))
{
    return status(stream, out, NULL);
}
HIP_TOO(hipStreamIsCapturing_spt, hipStreamIsCapturing, (void *stream, int *out))

HIP(hipStreamGetCaptureInfo, (void *stream, int *out, unsigned long long *id), (stream, out, id))
{
    return status(stream, out, id);
}
HIP_TOO(hipStreamGetCaptureInfo_spt, hipStreamGetCaptureInfo,
        (void *stream, int *out, unsigned long long *id))
