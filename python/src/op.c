// SPDX-License-Identifier: MIT
// kiln.Op: a call reads its arguments, finds its plan and launches.  Arguments are the op's inputs
// and then its scalars, by place or by name; sizes that no tensor tells, outputs, out=, stream= and
// dtype= by name.
#include "call.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct op {
    PyObject_HEAD char *name;
    face *face;
} op;

/* ---- the op itself ---- */

static void drop(face *f)
{
    if (!f || --f->uses) return;
    for (int i = 0; i < BOUND; i++) kp_unbind(f->bound[i]);
    for (int i = 0; i < KP_ARGUMENTS; i++) Py_XDECREF(f->word[i]);
    Py_XDECREF(f->result);
    free(f->name);
    free(f);
}

static bool is_extra_size(const kp_bound *b, int i)
{
    return i != KILN_BATCH && b->size[i] && !(b->told >> i & 1);
}

static bool name_arguments(face *f)
{
    const kp_bound *b = f->bound[0];
    bool ok = true;
    for (int i = 0; i < b->ntensors && ok; i++) {
        ok = (f->word[i] = PyUnicode_InternFromString(b->tensor[i].name)) != NULL;
        if (b->tensor[i].out)
            f->output[f->noutputs++] = i;
        else
            f->input[f->ninputs++] = i;
    }
    for (int i = 0; i < f->nscalars && ok; i++)
        ok = (f->word[SCALAR_WORDS + i] = PyUnicode_InternFromString(b->info.scalar_name[i])) !=
             NULL;
    for (int i = 0; i < KILN_MAX_SIZES && ok; i++) {
        const int at = KILN_POSITION(i);
        if (is_extra_size(b, at))
            ok = (f->word[SIZE_WORDS + i] = PyUnicode_InternFromString(b->size[at])) != NULL;
    }
    return ok;
}

static bool name_results(face *f)
{
    PyObject *names = PyTuple_New(f->noutputs);
    for (int i = 0; names && i < f->noutputs; i++) {
        Py_INCREF(f->word[f->output[i]]);
        PyTuple_SetItem(names, i, f->word[f->output[i]]);
    }
    f->result = names ? PyObject_CallFunction(kp.result_type, "sO", f->name, names) : NULL;
    Py_XDECREF(names);
    return f->result != NULL;
}

/* Names of arguments are the same on all devices. */
static face *learn(const char *name)
{
    face *f = calloc(1, sizeof *f);
    if (!f || !(f->name = strdup(name))) {
        free(f);
        PyErr_NoMemory();
        return NULL;
    }
    f->uses = 1;
    f->generation = kp.generation;
    kp_ctx *c = kp_context_of(KP_HOST, 0);
    f->bound[0] = c ? kp_bind(name, c) : NULL;
    if (f->bound[0]) {
        f->ntensors = f->bound[0]->ntensors;
        f->nscalars = (int)f->bound[0]->info.nscalars;
        if (name_arguments(f) && (f->noutputs < 2 || name_results(f))) return f;
    }
    drop(f);
    return NULL;
}

static bool same_arguments(const kp_bound *x, const kp_bound *y)
{
    if (x->ntensors != y->ntensors || x->info.nscalars != y->info.nscalars) return false;
    for (int i = 0; i < x->ntensors; i++)
        if (strcmp(x->tensor[i].name, y->tensor[i].name) != 0 ||
            x->tensor[i].out != y->tensor[i].out)
            return false;
    for (size_t i = 0; i < x->info.nscalars; i++)
        if (strcmp(x->info.scalar_name[i], y->info.scalar_name[i]) != 0) return false;
    return true;
}

kp_bound *kp_bound_for(face *o, int device, int id)
{
    const int slot = device == KP_HOST ? 0 : 1 + (id & 15) + (device == KP_ROCM ? 16 : 0);
    if (o->bound[slot] && id < 16) return o->bound[slot];
    kp_ctx *c = kp_context_of(device, id);
    kp_bound *b = c ? kp_bind(o->name, c) : NULL;
    if (!b) return NULL;
    if (!same_arguments(b, o->bound[0])) {
        kp_unbind(b);
        PyErr_Format(kp.error[KILN_BAD_MODULE],
                     "'%s' has other arguments in this device's module than in the host's: build "
                     "both again",
                     o->name);
        return NULL;
    }
    return o->bound[slot] = b;
}

static void op_dealloc(PyObject *self)
{
    op *o = (op *)self;
    PyTypeObject *type = Py_TYPE(self);
    drop(o->face);
    free(o->name);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyObject *op_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    const char *name;
    if (kw && PyDict_Size(kw)) {
        PyErr_SetString(PyExc_TypeError, "Op takes a name");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "s", &name)) return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    op *o = (op *)allocate(type, 0);
    if (!o) return NULL;
    o->name = strdup(name);
    if (!o->name) PyErr_NoMemory();
    if (!o->name || !(o->face = learn(name))) {
        Py_DECREF(o);
        return NULL;
    }
    return (PyObject *)o;
}

/* ---- launching ---- */

static bool find_workspace(running *r, kiln_args *args)
{
    const size_t size = r->plan->workspace;
    args->workspace_size = size;
    if (!size) return true;
    if (r->b->ctx->host || !r->kind->ordered) {
        if (!(r->scratch = kp_scratch_take(r->b->ctx, size, r->stream))) return false;
        args->workspace = r->scratch->memory;
        return true;
    }
    const int like = r->face->ninputs ? r->face->input[0] : r->face->output[0];
    PyObject *pair =
        PyObject_CallMethod(r->kind->framework, "scratch", "On", r->object[like], (Py_ssize_t)size);
    if (!pair) return false;
    r->workspace = PyTuple_GetItem(pair, 0);
    Py_XINCREF(r->workspace);
    PyObject *at = PyTuple_GetItem(pair, 1);
    args->workspace = at ? PyLong_AsVoidPtr(at) : NULL;
    Py_DECREF(pair);
    return !PyErr_Occurred();
}

/* Memory that was queued for another stream than its framework believes must not be reused before
 * that stream is past it. */
static bool keep(running *r)
{
    const face *o = r->face;
    if (r->b->ctx->host || r->plan->nothing) return true;
    bool wait = false;
    for (int i = 0; i < o->ntensors; i++) {
        const kp_kind *k = r->view[i].kind;
        if (!k->ordered)
            wait = true;
        else if (r->streamed) {
            PyObject *kept = PyObject_CallMethod(k->framework, "keep", "OOi", r->object[i],
                                                 r->stream_object, r->view[i].id);
            if (!kept) return false;
            wait |= kept != Py_True;
            Py_DECREF(kept);
        }
    }
    if (r->streamed && r->workspace) {
        PyObject *kept = PyObject_CallMethod(r->kind->framework, "keep", "OOi", r->workspace,
                                             r->stream_object, r->view[0].id);
        if (!kept) return false;
        wait |= kept != Py_True;
        Py_DECREF(kept);
    }
    if (!wait) return true;
    kiln_status status;
    Py_BEGIN_ALLOW_THREADS status = kiln_synchronize(r->b->ctx->ctx, r->stream);
    Py_END_ALLOW_THREADS return status == KILN_OK || kp_raise(status) != NULL;
}

static bool launch(running *r)
{
    const face *o = r->face;
    if (r->plan->nothing) return true;
    kiln_args args = {.struct_size = sizeof args};
    for (int i = 0; i < o->ntensors; i++) args.tensor[r->b->tensor[i].arg] = r->view[i].data;
    for (int i = 0; i < o->nscalars; i++) args.scalars[i] = r->scalar[i];
    if (!find_workspace(r, &args)) return false;
    kiln_status status;
    Py_BEGIN_ALLOW_THREADS status =
        kiln_launch(r->b->ctx->ctx, r->plan->kernel, &r->plan->problem, &args, r->stream);
    Py_END_ALLOW_THREADS if (status) kp_raise(status);
    if (r->scratch) r->scratch->busy = false;
    return status == KILN_OK;
}

/* Output k, as its framework wants it. */
static PyObject *one_result(const running *r, int k)
{
    const int i = r->face->output[k];
    if (r->made[i] && r->maker->finishes)
        return PyObject_CallMethod(r->maker->framework, "finish", "O", r->made[i]);
    Py_INCREF(r->object[i]);
    return r->object[i];
}

static PyObject *results(const running *r)
{
    const face *o = r->face;
    if (o->noutputs == 1) return one_result(r, 0);
    PyObject *all = PyTuple_New(o->noutputs);
    for (int k = 0; all && k < o->noutputs; k++) {
        PyObject *one = one_result(r, k);
        if (!one || PyTuple_SetItem(all, k, one)) Py_CLEAR(all);
    }
    PyObject *named = all ? PyObject_Call(o->result, all, NULL) : NULL;
    Py_XDECREF(all);
    return named;
}

static void finish(running *r)
{
    if (!r->face) return;
    for (int i = 0; i < r->face->ntensors; i++)
        if (r->call.view[i]) kp_done(r->call.view[i]);
    for (int i = 0; i < r->face->ntensors; i++) Py_XDECREF(r->made[i]);
    if (r->plan) kp_plan_drop(r->plan);
    Py_XDECREF(r->workspace);
    drop(r->face);
}

static bool begin(running *r, PyObject *self, PyObject *args, PyObject *kw)
{
    op *o = (op *)self;
    for (int i = 0; i < KP_SIZES; i++) r->call.size[i] = -1;
    if (o->face->generation != kp.generation) {
        face *now = learn(o->name);
        if (!now) return false;
        drop(o->face);
        o->face = now;
    }
    r->face = o->face;
    r->face->uses++;
    return kp_read_arguments(r, args, kw) && kp_read_tensors(r) &&
           (r->plan = kp_plan_find(r->b, &r->call));
}

/* Outputs that were not given are made, and the plan is that with them. */
static bool complete(running *r)
{
    bool all = true;
    for (int i = 0; i < r->face->ntensors; i++) all = all && r->object[i];
    if (all) return true;
    if (!kp_make_outputs(r)) return false;
    kp_plan_drop(r->plan);
    return (r->plan = kp_plan_find(r->b, &r->call)) != NULL;
}

static PyObject *op_call(PyObject *self, PyObject *args, PyObject *kw)
{
    running r;
    memset(&r, 0, offsetof(running, view));
    memset(&r.call, 0, sizeof r - offsetof(running, call));
    PyObject *result = NULL;
    if (begin(&r, self, args, kw) && complete(&r) && launch(&r) && keep(&r)) result = results(&r);
    finish(&r);
    return result;
}

/* ---- what a call would be ---- */

static PyObject *op_problem(PyObject *self, PyObject *args, PyObject *kw)
{
    running r;
    memset(&r, 0, sizeof r);
    PyObject *text = NULL;
    if (begin(&r, self, args, kw)) text = kp_problem_text(&r.plan->problem);
    finish(&r);
    return text;
}

/* Seconds of a launch through the C API alone: what a call of the op adds is the rest. */
static PyObject *op_launch_time(PyObject *self, PyObject *args, PyObject *kw)
{
    running r;
    memset(&r, 0, sizeof r);
    PyObject *count = PyTuple_Size(args) ? PyTuple_GetItem(args, 0) : NULL,
             *rest = PyTuple_GetSlice(args, 1, PyTuple_Size(args)), *result = NULL;
    const long n = count ? PyLong_AsLong(count) : -1;
    if (n > 0 && rest && begin(&r, self, rest, kw) && complete(&r)) {
        kiln_args a = {.struct_size = sizeof a};
        for (int i = 0; i < r.face->ntensors; i++) a.tensor[r.b->tensor[i].arg] = r.view[i].data;
        for (int i = 0; i < r.face->nscalars; i++) a.scalars[i] = r.scalar[i];
        if (find_workspace(&r, &a)) {
            struct timespec t0, t1;
            kiln_status status = KILN_OK;
            clock_gettime(CLOCK_MONOTONIC, &t0);
            for (long i = 0; i < n && status == KILN_OK && !r.plan->nothing; i++)
                status = kiln_launch(r.b->ctx->ctx, r.plan->kernel, &r.plan->problem, &a, r.stream);
            clock_gettime(CLOCK_MONOTONIC, &t1);
            if (r.scratch) r.scratch->busy = false;
            const double seconds =
                (double)(t1.tv_sec - t0.tv_sec) + 1e-9 * (double)(t1.tv_nsec - t0.tv_nsec);
            result = status ? kp_raise(status) : PyFloat_FromDouble(seconds / (double)n);
        }
    } else if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_TypeError, "launch_time takes a count, then what a call takes");
    }
    finish(&r);
    Py_XDECREF(rest);
    return result;
}

static PyObject *op_repr(PyObject *self)
{
    return PyUnicode_FromFormat("<kiln.Op '%s'>", ((op *)self)->name);
}

static PyObject *op_name(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(((op *)self)->name);
}

static PyGetSetDef getters[] = {{"__name__", op_name, NULL, "the op's name", NULL}, {0}};
static PyMethodDef methods[] = {
    {"problem", (PyCFunction)(void (*)(void))op_problem, METH_VARARGS | METH_KEYWORDS,
     "problem(...): the text of the problem that a call with these arguments would be"},
    {"launch_time", (PyCFunction)(void (*)(void))op_launch_time, METH_VARARGS | METH_KEYWORDS,
     "launch_time(n, ...): seconds of one of n launches by the C API, arguments as for a call"},
    {0}};
static PyType_Slot slots[] = {{Py_tp_new, op_new},
                              {Py_tp_dealloc, op_dealloc},
                              {Py_tp_call, op_call},
                              {Py_tp_repr, op_repr},
                              {Py_tp_getset, getters},
                              {Py_tp_methods, methods},
                              {Py_tp_doc, "An op, called with tensors: Op(name)(inputs..., "
                                          "scalars..., out=None, stream=None, dtype=None)."},
                              {0}};
static PyType_Spec spec = {"kiln.Op", sizeof(op), 0, Py_TPFLAGS_DEFAULT, slots};

PyObject *kp_op_type(void)
{
    return kp_words() ? PyType_FromSpec(&spec) : NULL;
}
