// SPDX-License-Identifier: MIT
// A call's arguments: which is which, by place and by name; its tensors read; outputs that were not
// given, made.
#include "call.h"
#include <string.h>

static PyObject *word_out, *word_stream, *word_dtype;

bool kp_words(void)
{
    word_out = PyUnicode_InternFromString("out");
    word_stream = PyUnicode_InternFromString("stream");
    word_dtype = PyUnicode_InternFromString("dtype");
    return word_out && word_stream && word_dtype;
}

/* ---- arguments ---- */

static bool no_number(const running *r, int word, PyObject *value, const char *wanted)
{
    if (PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_Format(PyExc_TypeError, "%s: '%U' is %R, and is to be %s", r->face->name,
                     r->face->word[word], (PyObject *)Py_TYPE(value), wanted);
    return false;
}

static bool put_scalar(running *r, int i, PyObject *value)
{
    const double x = PyFloat_AsDouble(value);
    if (x == -1 && PyErr_Occurred()) return no_number(r, SCALAR_WORDS + i, value, "a number");
    r->scalar[i] = (float)x;
    r->scalars_seen |= 1u << i;
    return true;
}

static bool put_size(running *r, int i, PyObject *value)
{
    const int64_t x = PyLong_AsLongLong(value);
    if (x == -1 && PyErr_Occurred()) return no_number(r, SIZE_WORDS + i, value, "a whole number");
    if (x < 0) {
        PyErr_Format(PyExc_ValueError, "%s: '%U' is negative (%lld)", r->face->name,
                     r->face->word[SIZE_WORDS + i], (long long)x);
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

bool kp_read_arguments(running *r, PyObject *args, PyObject *kw)
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

/* What was said of a tensor, with the op's name, and its type where it can have but one. */
static bool not_read(const running *r, int i)
{
    PyObject *type, *value, *trace;
    if (!PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_ValueError))
        return false;
    PyErr_Fetch(&type, &value, &trace);
    const int only = r->face->bound[0]->tensor[i].dtype;
    PyErr_Format(type, "%s: %S%s%s", r->face->name, value ? value : type,
                 only ? "; it is to be " : "", only ? kp_dtype_text(only) : "");
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return false;
}

static bool read_tensor(running *r, int i)
{
    kp_view *v = &r->view[i];
    const char *name = r->face->bound[0]->tensor[i].name;
    if (!kp_read(r->object[i], name, r->stream, v)) return not_read(r, i);
    r->call.view[i] = v;
    if (!r->kind) {
        r->kind = v->kind;
        if (!r->stream_object && !kp_stream_of(v, &r->stream)) return false;
        if (!(r->b = kp_bound_for(r->face, v->device, v->id))) return false;
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

bool kp_read_tensors(running *r)
{
    if (r->stream_object && !read_stream(r)) return false;
    for (int i = 0; i < r->face->ntensors; i++)
        if (r->object[i] && !read_tensor(r, i)) return false;
    if (r->b) return true;
    PyErr_Format(PyExc_TypeError,
                 "%s: no tensor is given, and it has no inputs: give outputs, out=", r->face->name);
    return false;
}

/* The first tensor whose framework makes some, inputs before outputs; where there is none, the
 * first. */
static int maker(const running *r)
{
    const face *o = r->face;
    int first = -1;
    for (int i = 0; i < o->ninputs + o->noutputs; i++) {
        const int at = i < o->ninputs ? o->input[i] : o->output[i - o->ninputs];
        if (!r->object[at]) continue;
        if (r->view[at].kind->makes) return at;
        if (first < 0) first = at;
    }
    return first;
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

bool kp_make_outputs(running *r)
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
