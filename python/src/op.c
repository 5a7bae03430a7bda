// SPDX-License-Identifier: MIT
// kiln.Op: a call reads its arguments, finds its plan and launches.  Arguments are the op's inputs
// and then its scalars, by place or by name; sizes that no tensor tells, outputs, out=, stream= and
// dtype= by name.
#include "binding.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BOUND = 33 }; /* the host, 16 GPUs of each vendor */

/* What an op is in one generation of modules; calls under way keep theirs. */
typedef struct face {
    unsigned uses, generation;
    char *name;
    PyObject *word[KP_ARGUMENTS]; /* interned names: tensors, scalars, sizes */
    int ntensors, nscalars, ninputs;
    int input[KILN_MAX_TENSORS]; /* inputs in order, by position in kp_bound.tensor */
    int output[KILN_MAX_TENSORS], noutputs;
    PyObject *result;       /* a named tuple's type; NULL: one output */
    kp_bound *bound[BOUND]; /* [0]: the host's, which names are of */
} face;

typedef struct op {
    PyObject_HEAD char *name;
    face *face;
} op;

static PyObject *word_out, *word_stream, *word_dtype;

/* A call under way. */
typedef struct running {
    face *face;
    kp_bound *b;
    PyObject *object[KILN_MAX_TENSORS]; /* borrowed from the arguments, or `made` */
    PyObject *made[KILN_MAX_TENSORS];
    kp_view view[KILN_MAX_TENSORS];
    kp_call call;
    float scalar[KILN_MAX_SCALARS];
    unsigned scalars_seen;
    PyObject *stream_object;
    bool streamed;
    void *stream;
    const kp_kind *kind;  /* of the first tensor */
    const kp_kind *maker; /* of outputs that are made */
    kp_plan *plan;
    PyObject *workspace;
    kp_scratch *scratch;
} running;

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

enum { SCALAR_WORDS = KILN_MAX_TENSORS, SIZE_WORDS = SCALAR_WORDS + KILN_MAX_SCALARS };

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

static kp_bound *bound_for(face *o, int device, int id)
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

/* ---- arguments ---- */

static bool put_scalar(running *r, int i, PyObject *value)
{
    const double x = PyFloat_AsDouble(value);
    if (x == -1 && PyErr_Occurred()) return false;
    r->scalar[i] = (float)x;
    r->scalars_seen |= 1u << i;
    return true;
}

static bool put_size(running *r, int i, PyObject *value)
{
    const int64_t x = PyLong_AsLongLong(value);
    if (x == -1 && PyErr_Occurred()) return false;
    if (x < 0) {
        PyErr_Format(PyExc_ValueError, "%s: a size is negative (%lld)", r->face->name,
                     (long long)x);
        return false;
    }
    r->call.size[KILN_POSITION(i)] = x;
    return true;
}

static bool put_dtype(running *r, PyObject *value)
{
    PyObject *named = PyObject_GetAttrString(value, "name"); /* of a numpy.dtype; of its classes: */
    char text[64];
    if (!named && PyType_Check(value)) named = PyObject_GetAttrString(value, "__name__");
    PyErr_Clear();
    PyObject *plain = named ? named : PyObject_Str(value);
    if (!plain) return false;
    const char *dot =
        kp_ascii(plain, text, sizeof text) ? strrchr(text, '.') : NULL; /* torch.bfloat16 */
    r->call.dtype = kp_dtype_named(dot ? dot + 1 : text);
    if (!r->call.dtype)
        PyErr_Format(PyExc_TypeError, "%s: dtype=%R is no type of Kiln's", r->face->name, value);
    Py_DECREF(plain);
    return r->call.dtype != 0;
}

static bool put_tensor(running *r, int i, PyObject *value)
{
    if (r->object[i]) {
        PyErr_Format(PyExc_TypeError, "%s: '%U' is given twice", r->face->name, r->face->word[i]);
        return false;
    }
    if (value != Py_None) r->object[i] = value;
    return true;
}

/* One output: a tensor; several: a sequence in their order, or a mapping by name. */
static bool put_out(running *r, PyObject *value)
{
    face *o = r->face;
    if (value == Py_None) return true;
    if (PyDict_Check(value)) {
        PyObject *key, *item;
        Py_ssize_t at = 0;
        while (PyDict_Next(value, &at, &key, &item)) {
            int found = -1;
            for (int i = 0; i < o->noutputs; i++)
                if (PyObject_RichCompareBool(key, o->word[o->output[i]], Py_EQ) == 1)
                    found = o->output[i];
            if (found < 0) {
                PyErr_Format(PyExc_TypeError, "%s: it has no output %R", o->name, key);
                return false;
            }
            if (!put_tensor(r, found, item)) return false;
        }
        return true;
    }
    if (!PyTuple_Check(value) && !PyList_Check(value)) {
        if (o->noutputs == 1) return put_tensor(r, o->output[0], value);
        PyErr_Format(PyExc_TypeError,
                     "%s has %d outputs: out= takes so many, in their order, or a dict", o->name,
                     o->noutputs);
        return false;
    }
    if (PySequence_Size(value) != o->noutputs) {
        PyErr_Format(PyExc_TypeError, "%s has %d output%s, and out= %zd", o->name, o->noutputs,
                     o->noutputs == 1 ? "" : "s", PySequence_Size(value));
        return false;
    }
    for (int i = 0; i < o->noutputs; i++) {
        PyObject *item =
            PyTuple_Check(value) ? PyTuple_GetItem(value, i) : PyList_GetItem(value, i);
        if (!item || !put_tensor(r, o->output[i], item)) return false;
    }
    return true;
}

/* Names are interned, and so nearly always one object. */
static int find_word(const face *o, PyObject *key)
{
    for (int i = 0; i < KP_ARGUMENTS; i++)
        if (o->word[i] == key) return i;
    for (int i = 0; i < KP_ARGUMENTS; i++)
        if (o->word[i] && PyObject_RichCompareBool(key, o->word[i], Py_EQ) == 1) return i;
    return -1;
}

static bool unknown_word(const face *o, PyObject *key)
{
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < KP_ARGUMENTS; i++)
        if (o->word[i]) PyList_Append(list, o->word[i]);
    if (list)
        PyErr_Format(PyExc_TypeError, "%s has no argument %R; it has %S, and out, stream, dtype",
                     o->name, key, list);
    Py_XDECREF(list);
    return false;
}

static bool put_word(running *r, PyObject *key, PyObject *value)
{
    face *o = r->face;
    const int at = find_word(o, key);
    if (at >= SIZE_WORDS) return put_size(r, at - SIZE_WORDS, value);
    if (at >= SCALAR_WORDS) {
        if (!(r->scalars_seen >> (at - SCALAR_WORDS) & 1))
            return put_scalar(r, at - SCALAR_WORDS, value);
        PyErr_Format(PyExc_TypeError, "%s: '%U' is given twice", o->name, key);
        return false;
    }
    if (at >= 0) return put_tensor(r, at, value);
    if (key == word_out || PyObject_RichCompareBool(key, word_out, Py_EQ) == 1)
        return put_out(r, value);
    if (key == word_stream || PyObject_RichCompareBool(key, word_stream, Py_EQ) == 1) {
        r->stream_object = value == Py_None ? NULL : value;
        return true;
    }
    if (PyObject_RichCompareBool(key, word_dtype, Py_EQ) == 1)
        return value == Py_None || put_dtype(r, value);
    return unknown_word(o, key);
}

static bool missing(const running *r)
{
    const face *o = r->face;
    for (int i = 0; i < o->ninputs; i++)
        if (!r->object[o->input[i]]) {
            PyErr_Format(PyExc_TypeError, "%s: input '%U' is missing", o->name,
                         o->word[o->input[i]]);
            return true;
        }
    for (int i = 0; i < o->nscalars; i++)
        if (!(r->scalars_seen >> i & 1)) {
            PyErr_Format(PyExc_TypeError, "%s: '%U' is missing, a number", o->name,
                         o->word[SCALAR_WORDS + i]);
            return true;
        }
    for (int i = 0; i < KILN_MAX_SIZES; i++)
        if (o->word[SIZE_WORDS + i] && r->call.size[KILN_POSITION(i)] < 0) {
            PyErr_Format(PyExc_TypeError, "%s: '%U' is missing, a size that no tensor tells",
                         o->name, o->word[SIZE_WORDS + i]);
            return true;
        }
    return false;
}

static bool read_arguments(running *r, PyObject *args, PyObject *kw)
{
    face *o = r->face;
    const Py_ssize_t n = PyTuple_Size(args);
    if (n > o->ninputs + o->nscalars) {
        PyErr_Format(PyExc_TypeError, "%s takes %d inputs and %d numbers by place, and gets %zd",
                     o->name, o->ninputs, o->nscalars, n);
        return false;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *value = PyTuple_GetItem(args, i);
        if (i < o->ninputs ? !put_tensor(r, o->input[i], value)
                           : !put_scalar(r, (int)i - o->ninputs, value))
            return false;
    }
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (kw && PyDict_Next(kw, &at, &key, &value))
        if (!put_word(r, key, value)) return false;
    return !missing(r);
}

/* ---- tensors ---- */

/* A number, or an object that has one: torch's, cupy's, CUDA's protocol. */
static bool read_stream(running *r)
{
    PyObject *o = r->stream_object, *s = NULL;
    if (PyLong_Check(o)) {
        Py_INCREF(o);
        s = o;
    } else if (PyObject_HasAttrString(o, "cuda_stream")) {
        s = PyObject_GetAttrString(o, "cuda_stream");
    } else if (PyObject_HasAttrString(o, "__cuda_stream__")) {
        PyObject *pair = PyObject_CallMethod(o, "__cuda_stream__", NULL);
        s = pair ? PySequence_GetItem(pair, 1) : NULL;
        Py_XDECREF(pair);
    } else if (PyObject_HasAttrString(o, "ptr")) {
        s = PyObject_GetAttrString(o, "ptr");
    } else {
        PyErr_Format(
            PyExc_TypeError,
            "%s: stream=%R is no stream: a number, or what has cuda_stream, __cuda_stream__ or ptr",
            r->face->name, o);
    }
    r->stream = s ? PyLong_AsVoidPtr(s) : NULL;
    Py_XDECREF(s);
    r->streamed = true;
    return !PyErr_Occurred();
}

static bool read_tensor(running *r, int i)
{
    kp_view *v = &r->view[i];
    const char *name = r->face->bound[0]->tensor[i].name;
    if (!kp_read(r->object[i], name, r->stream, v)) return false;
    r->call.view[i] = v;
    if (!r->kind) {
        r->kind = v->kind;
        if (!r->stream_object && !kp_stream_of(v, &r->stream)) return false;
        if (!(r->b = bound_for(r->face, v->device, v->id))) return false;
    } else {
        const kp_view *first = NULL;
        for (int k = 0; !first; k++) first = r->call.view[k] && k != i ? r->call.view[k] : NULL;
        if (first->device != v->device || first->id != v->id) {
            static const char *const names[] = {"the host", "CUDA device", "ROCm device"};
            const int x = first->device == KP_HOST ? 0 : first->device == KP_CUDA ? 1 : 2;
            const int y = v->device == KP_HOST ? 0 : v->device == KP_CUDA ? 1 : 2;
            PyErr_Format(PyExc_ValueError,
                         "%s: '%s' is on %s %d, other tensors on %s %d: all must be on one device",
                         r->face->name, name, names[y], v->id, names[x], first->id);
            return false;
        }
    }
    if (r->face->bound[0]->tensor[i].out && (v->readonly || v->kind->immutable)) {
        PyErr_Format(PyExc_ValueError, "%s: output '%s' is read-only", r->face->name, name);
        return false;
    }
    return true;
}

static bool read_tensors(running *r)
{
    if (r->stream_object && !read_stream(r)) return false;
    for (int i = 0; i < r->face->ntensors; i++)
        if (r->object[i] && !read_tensor(r, i)) return false;
    return true;
}

/* The first input whose framework makes tensors; where there is none, the first. */
static int maker(const running *r)
{
    const face *o = r->face;
    for (int i = 0; i < o->ninputs; i++)
        if (r->view[o->input[i]].kind->makes) return o->input[i];
    return o->input[0];
}

/* A new tensor like input i, by its framework's function. */
static PyObject *make_by_call(const running *r, int i, const kp_made *m)
{
    PyObject *shape = PyTuple_New(m->ndim);
    for (int d = 0; shape && d < m->ndim; d++)
        PyTuple_SetItem(shape, d, PyLong_FromLongLong(m->shape[d]));
    if (!shape) return NULL;
    PyObject *made = PyObject_CallMethod(r->view[i].kind->framework, "make", "OsOi", r->object[i],
                                         kp_dtype_text(m->dtype), shape, (int)m->columns);
    Py_DECREF(shape);
    return made;
}

static bool make_outputs(running *r)
{
    const face *o = r->face;
    const int like = maker(r);
    const kp_view *v = &r->view[like];
    r->maker = v->kind;
    for (int k = 0; k < o->noutputs; k++) {
        const int i = o->output[k];
        if (r->object[i]) continue;
        const kp_made *m = &r->plan->made[i];
        if (!m->columns && v->kind->exchange) r->made[i] = kp_allocate(v, m);
        if (!r->made[i] && !PyErr_Occurred()) r->made[i] = make_by_call(r, like, m);
        r->object[i] = r->made[i];
        if (!r->made[i] ||
            !kp_read(r->made[i], o->bound[0]->tensor[i].name, r->stream, &r->view[i]))
            return false;
        r->call.view[i] = &r->view[i];
    }
    return true;
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
    PyObject *pair = PyObject_CallMethod(r->kind->framework, "scratch", "On",
                                         r->object[r->face->input[0]], (Py_ssize_t)size);
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
    return read_arguments(r, args, kw) && read_tensors(r) &&
           (r->plan = kp_plan_find(r->b, &r->call));
}

/* Outputs that were not given are made, and the plan is that with them. */
static bool complete(running *r)
{
    bool all = true;
    for (int i = 0; i < r->face->ntensors; i++) all = all && r->object[i];
    if (all) return true;
    if (!make_outputs(r)) return false;
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
    word_out = PyUnicode_InternFromString("out");
    word_stream = PyUnicode_InternFromString("stream");
    word_dtype = PyUnicode_InternFromString("dtype");
    return word_out && word_stream && word_dtype ? PyType_FromSpec(&spec) : NULL;
}
