// SPDX-License-Identifier: MIT
// Tensors of any framework: by DLPack's exchange table (torch, from 2.10 on), which costs no call
// of Python; by __array_struct__ (numpy, ml_dtypes' types, too); by __dlpack__ (jax and others); by
// what kiln._frameworks describes (cupy, older torch, __cuda_array_interface__); by the buffer
// protocol.
#include "dlpack.h"
#include <stdlib.h>
#include <string.h>

enum { HOLD_NOTHING, HOLD_MANAGED, HOLD_VERSIONED, HOLD_BUFFER, HOLD_OBJECT };

/* ---- element types ---- */

/* Kiln's, bits, DLPack's code, the letter of __array_struct__ (0: by name alone), name */
static const struct element {
    int dtype, bits, code;
    char letter;
    const char *name;
} elements[] = {
    {KILN_F32, 32, DL_FLOAT, 'f', "float32"},
    {KILN_F16, 16, DL_FLOAT, 'f', "float16"},
    {KILN_BF16, 16, DL_BFLOAT, 0, "bfloat16"},
    {KILN_I8, 8, DL_INT, 'i', "int8"},
    {KILN_I32, 32, DL_INT, 'i', "int32"},
    {KILN_F8E4M3, 8, DL_F8E4M3FN, 0, "float8_e4m3fn"},
    {KILN_F8E5M2, 8, DL_F8E5M2, 0, "float8_e5m2"},
    {KILN_F8E4M3FNUZ, 8, DL_F8E4M3FNUZ, 0, "float8_e4m3fnuz"},
    {KILN_F8E5M2FNUZ, 8, DL_F8E5M2FNUZ, 0, "float8_e5m2fnuz"},
    {KILN_U8, 8, DL_UINT, 'u', "uint8"},
};
enum { ELEMENTS = sizeof elements / sizeof *elements };

const char *kp_dtype_text(int dtype)
{
    for (int i = 0; i < ELEMENTS; i++)
        if (elements[i].dtype == dtype) return elements[i].name;
    return kiln_dtype_name((kiln_dtype)dtype);
}

int kp_dtype_named(const char *name)
{
    for (int i = 0; i < ELEMENTS; i++)
        if (!strcmp(elements[i].name, name)) return elements[i].dtype;
    for (int t = 1; t < KILN_DTYPE_COUNT; t++)
        if (!strcmp(kiln_dtype_name((kiln_dtype)t), name)) return t;
    return 0;
}

/* A copy of a text as ASCII; false, and "": it is none, or longer. */
bool kp_ascii(PyObject *o, char *room, size_t size)
{
    *room = 0;
    PyObject *bytes = PyUnicode_Check(o) ? PyUnicode_AsASCIIString(o) : NULL;
    const char *s = bytes ? PyBytes_AsString(bytes) : NULL;
    const bool fits = s && strlen(s) < size;
    if (fits) memcpy(room, s, strlen(s) + 1);
    PyErr_Clear();
    Py_XDECREF(bytes);
    return fits;
}

static int dtype_of_code(int code, int bits)
{
    for (int i = 0; i < ELEMENTS; i++)
        if (elements[i].code == code && elements[i].bits == bits) return elements[i].dtype;
    return 0;
}

static int dtype_of_letter(char letter, int bytes)
{
    for (int i = 0; i < ELEMENTS; i++)
        if (elements[i].letter == letter && elements[i].bits == 8 * bytes) return elements[i].dtype;
    return 0;
}

static bool no_dtype(const char *name, PyObject *o)
{
    PyErr_Clear();
    PyObject *dtype = PyObject_GetAttrString(o, "dtype");
    if (!dtype) PyErr_Clear();
    PyErr_Format(
        PyExc_TypeError,
        "%s has elements of type %S; Kiln's are float32, float16, bfloat16, float8_e4m3fn, "
        "float8_e5m2, both fnuz, int8, uint8 and int32",
        name, dtype ? dtype : Py_None);
    Py_XDECREF(dtype);
    return false;
}

/* ---- kinds of objects ---- */

static kp_kind **kinds; /* each for ever: types of tensors are few */
static int nkinds;

static bool attribute_is(PyObject *o, const char *name, const char *value)
{
    PyObject *a = PyObject_GetAttrString(o, name);
    const bool is = a && PyUnicode_Check(a) && PyUnicode_CompareWithASCIIString(a, value) == 0;
    if (!a) PyErr_Clear();
    Py_XDECREF(a);
    return is;
}

static bool attribute_true(PyObject *o, const char *name)
{
    PyObject *a = PyObject_GetAttrString(o, name);
    const bool is = a && PyObject_IsTrue(a) == 1;
    if (!a) PyErr_Clear();
    Py_XDECREF(a);
    return is;
}

static const void *exchange_table(PyObject *framework)
{
    PyObject *capsule = PyObject_GetAttrString(framework, "exchange");
    const dl_exchange *table = NULL;
    if (capsule && PyCapsule_CheckExact(capsule))
        table = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
    PyErr_Clear();
    Py_XDECREF(capsule);
    while (table && table->major != 1) table = table->previous;
    return table && table->tensor_from && table->current_stream ? table : NULL;
}

const kp_kind *kp_kind_of(PyObject *o)
{
    static const struct {
        const char *name;
        kp_reader reader;
    } readers[] = {{"struct", KP_STRUCT},
                   {"dlpack", KP_DLPACK},
                   {"describe", KP_DESCRIBE},
                   {"buffer", KP_BUFFER}};
    PyTypeObject *const type = Py_TYPE(o);
    for (int i = 0; i < nkinds; i++)
        if (kinds[i]->type == type) return kinds[i];
    PyObject *f = PyObject_CallFunctionObjArgs(kp.framework_of, (PyObject *)type, NULL);
    if (!f) return NULL;
    kp_kind *k = malloc(sizeof *k), **more = realloc(kinds, (size_t)(nkinds + 1) * sizeof *kinds);
    if (more) kinds = more;
    if (!k || !more) {
        free(k);
        Py_DECREF(f);
        PyErr_NoMemory();
        return NULL;
    }
    kinds[nkinds++] = k;
    Py_INCREF(type);
    *k = (kp_kind){.type = type, .framework = f, .reader = KP_BUFFER};
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (attribute_is(f, "reader", readers[i].name)) k->reader = readers[i].reader;
    k->exchange = exchange_table(f);
    if (k->exchange) k->reader = KP_EXCHANGE;
    k->ordered = attribute_true(f, "ordered");
    k->makes = attribute_true(f, "makes");
    k->finishes = attribute_true(f, "finishes");
    k->immutable = attribute_true(f, "immutable");
    return k;
}

/* ---- readers ---- */

static bool set_device(kp_view *v, const char *name, int device, int id)
{
    v->id = 0;
    switch (device) {
    case DL_CPU:
    case DL_CUDA_HOST:
    case DL_ROCM_HOST:
        v->device = KP_HOST;
        return true;
    case DL_CUDA:
    case DL_CUDA_MANAGED:
        v->device = KP_CUDA, v->id = id;
        return true;
    case DL_ROCM:
        v->device = KP_ROCM, v->id = id;
        return true;
    }
    PyErr_Format(PyExc_ValueError,
                 "%s lies on a device that Kiln has no driver for (DLPack's number %d)", name,
                 device);
    return false;
}

static bool set_ndim(kp_view *v, const char *name, long ndim)
{
    if (ndim > KP_DIMS) {
        PyErr_Format(PyExc_ValueError, "%s has %ld dimensions, at most %d", name, ndim, KP_DIMS);
        return false;
    }
    v->ndim = (int)ndim;
    return true;
}

static void packed_strides(kp_view *v)
{
    int64_t step = 1;
    for (int i = v->ndim; i-- > 0; step *= v->shape[i] > 1 ? v->shape[i] : 1) v->stride[i] = step;
}

static bool from_dl(PyObject *o, const char *name, const dl_tensor *t, kp_view *v)
{
    v->dtype = t->lanes == 1 ? dtype_of_code(t->code, t->bits) : 0;
    if (!v->dtype) return no_dtype(name, o);
    if (!set_device(v, name, t->device, t->id) || !set_ndim(v, name, t->ndim)) return false;
    v->data = t->data ? (char *)t->data + t->byte_offset : NULL;
    for (int i = 0; i < v->ndim; i++) v->shape[i] = t->shape[i];
    if (t->strides)
        for (int i = 0; i < v->ndim; i++) v->stride[i] = t->strides[i];
    else
        packed_strides(v);
    return true;
}

static bool by_exchange(PyObject *o, const char *name, kp_view *v)
{
    dl_tensor t;
    const dl_exchange *api = v->kind->exchange;
    if (api->tensor_from(o, &t) == 0) return from_dl(o, name, &t, v);
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError, "%s is a tensor without memory that can be read: sparse, or fake",
                 name);
    return false;
}

/* Types that go by their name are few objects, each for as long as its framework is there. */
static int dtype_by_name(PyObject *o)
{
    enum { KNOWN = 16 };
    static struct {
        PyObject *object;
        int dtype;
    } known[KNOWN];
    static int count;
    static PyObject *attribute;
    if (!attribute && !(attribute = PyUnicode_InternFromString("dtype"))) return 0;
    PyObject *dtype = PyObject_GetAttr(o, attribute);
    int found = 0;
    for (int i = 0; i < count && dtype && !found; i++)
        if (known[i].object == dtype) found = known[i].dtype;
    if (dtype && !found) {
        char s[64];
        PyObject *text = PyObject_GetAttrString(dtype, "name");
        found = text && kp_ascii(text, s, sizeof s) ? kp_dtype_named(s) : 0;
        Py_XDECREF(text);
        if (found && count < KNOWN) {
            Py_INCREF(dtype);
            known[count].object = dtype;
            known[count++].dtype = found;
        }
    }
    PyErr_Clear();
    Py_XDECREF(dtype);
    return found;
}

/* Strides in bytes, which may be no whole elements. */
static bool element_strides(kp_view *v, const char *name, int itemsize)
{
    for (int i = 0; i < v->ndim; i++) {
        if (v->stride[i] % itemsize) {
            PyErr_Format(PyExc_ValueError,
                         "%s has a stride of %lld bytes, no multiple of its elements' %d", name,
                         (long long)v->stride[i], itemsize);
            return false;
        }
        v->stride[i] /= itemsize;
    }
    return true;
}

static bool by_struct(PyObject *o, const char *name, kp_view *v)
{
    static PyObject *attribute;
    if (!attribute && !(attribute = PyUnicode_InternFromString("__array_struct__"))) return false;
    PyObject *capsule = PyObject_GetAttr(o, attribute);
    if (!capsule) return false;
    const array_struct *a = PyCapsule_GetPointer(capsule, NULL);
    bool ok = a && set_ndim(v, name, a->nd);
    if (ok) {
        const bool native = a->flags & ARRAY_NATIVE || a->itemsize == 1;
        v->dtype = native ? dtype_of_letter(a->kind, a->itemsize) : 0;
        if (!v->dtype && native) v->dtype = dtype_by_name(o);
        v->readonly = !(a->flags & ARRAY_WRITEABLE);
        v->device = KP_HOST, v->id = 0;
        v->data = a->data;
        for (int i = 0; i < v->ndim; i++) v->shape[i] = a->shape[i];
        for (int i = 0; i < v->ndim; i++) v->stride[i] = a->strides[i];
        ok = v->dtype ? element_strides(v, name, a->itemsize) : no_dtype(name, o);
    }
    Py_DECREF(capsule);
    return ok;
}

/* __dlpack__(stream=, max_version=(1, 1)), and without the second for producers that do not know
 * it. */
static PyObject *call_dlpack(PyObject *o, int device, void *stream)
{
    PyObject *export = PyObject_GetAttrString(o, "__dlpack__"), *none = PyTuple_New(0),
             *capsule = NULL;
    PyObject *s = device == KP_HOST ? (Py_INCREF(Py_None), Py_None)
                  : device == KP_CUDA && !stream
                      ? PyLong_FromLong(1) /* the legacy default stream */
                      : PyLong_FromVoidPtr(stream);
    PyObject *kw = export && none && s
                       ? Py_BuildValue("{s:O,s:(ii)}", "stream", s, "max_version", 1, 1)
                       : NULL;
    if (kw) {
        capsule = PyObject_Call(export, none, kw);
        if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
            if (PyDict_DelItemString(kw, "max_version") == 0)
                capsule = PyObject_Call(export, none, kw);
        }
    }
    Py_XDECREF(kw);
    Py_XDECREF(s);
    Py_XDECREF(none);
    Py_XDECREF(export);
    return capsule;
}

static bool by_dlpack(PyObject *o, const char *name, void *stream, kp_view *v)
{
    PyObject *where = PyObject_CallMethod(o, "__dlpack_device__", NULL);
    if (!where) return false;
    /* Members of an enumeration are ints. */
    PyObject *first = PySequence_GetItem(where, 0),
             *second = first ? PySequence_GetItem(where, 1) : NULL;
    const long device = first ? PyLong_AsLong(first) : -1, id = second ? PyLong_AsLong(second) : -1;
    Py_XDECREF(second);
    Py_XDECREF(first);
    Py_DECREF(where);
    if (PyErr_Occurred() || !set_device(v, name, (int)device, (int)id)) return false;
    PyObject *capsule = call_dlpack(o, v->device, stream);
    if (!capsule) return false;
    const dl_tensor *t = NULL;
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        dl_versioned *m = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        if (m->major == 1 && PyCapsule_SetName(capsule, "used_dltensor_versioned") == 0) {
            v->hold = HOLD_VERSIONED, v->held = m;
            v->readonly = m->flags & 1;
            t = &m->tensor;
        }
    } else if (PyCapsule_IsValid(capsule, "dltensor")) {
        dl_managed *m = PyCapsule_GetPointer(capsule, "dltensor");
        if (PyCapsule_SetName(capsule, "used_dltensor") == 0) {
            v->hold = HOLD_MANAGED, v->held = m;
            t = &m->tensor;
        }
    }
    Py_DECREF(capsule);
    if (t) return from_dl(o, name, t, v);
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "%s gives a DLPack of a version that Kiln does not know",
                     name);
    return false;
}

/* A tuple: pointer, DLPack's device and number of it, type's name, sizes, strides in elements or
 * None, read-only. */
static bool by_description(PyObject *o, const char *name, kp_view *v)
{
    PyObject *d = PyObject_CallMethod(v->kind->framework, "describe", "O", o), *shape, *strides,
             *pointer;
    const char *dtype;
    int device, id, readonly;
    if (!d) return false;
    v->hold = HOLD_OBJECT, v->held = d;
    if (!PyArg_ParseTuple(d, "OiisOOp", &pointer, &device, &id, &dtype, &shape, &strides,
                          &readonly) ||
        !set_device(v, name, device, id) || !set_ndim(v, name, (long)PyTuple_Size(shape)))
        return false;
    v->data = PyLong_AsVoidPtr(pointer);
    v->readonly = readonly;
    v->dtype = kp_dtype_named(dtype);
    if (!v->dtype) return no_dtype(name, o);
    for (int i = 0; i < v->ndim; i++) v->shape[i] = PyLong_AsLongLong(PyTuple_GetItem(shape, i));
    if (strides == Py_None)
        packed_strides(v);
    else
        for (int i = 0; i < v->ndim; i++)
            v->stride[i] = PyLong_AsLongLong(PyTuple_GetItem(strides, i));
    return !PyErr_Occurred();
}

static bool by_buffer(PyObject *o, const char *name, kp_view *v)
{
    kp_buffer *b = calloc(1, sizeof *b);
    if (!b) return PyErr_NoMemory() != NULL;
    if (PyObject_GetBuffer(o, b, PyBUF_STRIDED_RO | PyBUF_FORMAT)) {
        free(b);
        PyErr_Format(PyExc_TypeError,
                     "%s is %R: no tensor, for it has neither DLPack nor __cuda_array_interface__ "
                     "nor the buffer protocol",
                     name, (PyObject *)Py_TYPE(o));
        return false;
    }
    v->hold = HOLD_BUFFER, v->held = b;
    const char *f = b->format ? b->format : "B";
    if (*f == '@' || *f == '=' || *f == '<') f++;
    const char letter = strlen(f) != 1       ? 0
                        : strchr("ef", *f)   ? 'f'
                        : strchr("bilq", *f) ? 'i'
                        : strchr("BIL", *f)  ? 'u'
                                             : 0;
    v->dtype = letter ? dtype_of_letter(letter, (int)b->itemsize) : 0;
    if (!v->dtype) {
        PyErr_Format(PyExc_TypeError, "%s has elements of format '%s', which is no type of Kiln's",
                     name, f);
        return false;
    }
    if (!set_ndim(v, name, b->ndim)) return false;
    v->device = KP_HOST, v->id = 0;
    v->data = b->buf;
    v->readonly = b->readonly;
    for (int i = 0; i < v->ndim; i++) v->shape[i] = b->shape[i];
    for (int i = 0; i < v->ndim; i++) v->stride[i] = b->strides[i];
    return element_strides(v, name, (int)b->itemsize);
}

bool kp_read(PyObject *o, const char *name, void *stream, kp_view *v)
{
    v->hold = HOLD_NOTHING;
    v->readonly = false;
    v->kind = kp_kind_of(o);
    if (!v->kind) return false;
    bool ok = false;
    switch (v->kind->reader) {
    case KP_EXCHANGE:
        ok = by_exchange(o, name, v);
        break;
    case KP_STRUCT:
        ok = by_struct(o, name, v);
        break;
    case KP_DLPACK:
        ok = by_dlpack(o, name, stream, v);
        break;
    case KP_DESCRIBE:
        ok = by_description(o, name, v);
        break;
    case KP_BUFFER:
        ok = by_buffer(o, name, v);
        break;
    }
    if (!ok) kp_done(v);
    return ok;
}

void kp_done(kp_view *v)
{
    if (v->hold == HOLD_NOTHING) return;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace); /* producers run code of their own */
    switch (v->hold) {
    case HOLD_MANAGED: {
        dl_managed *m = v->held;
        if (m->deleter) m->deleter(m);
        break;
    }
    case HOLD_VERSIONED: {
        dl_versioned *m = v->held;
        if (m->deleter) m->deleter(m);
        break;
    }
    case HOLD_BUFFER:
        PyBuffer_Release(v->held);
        free(v->held);
        break;
    case HOLD_OBJECT:
        Py_DECREF((PyObject *)v->held);
        break;
    }
    v->hold = HOLD_NOTHING;
    PyErr_Restore(type, value, trace);
}

bool kp_stream_of(const kp_view *v, void **stream)
{
    *stream = NULL;
    if (v->device == KP_HOST) return true;
    if (v->kind->exchange) {
        const dl_exchange *api = v->kind->exchange;
        if (api->current_stream(v->device, v->id, stream) == 0) return true;
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_RuntimeError, "the framework does not tell its current stream");
        return false;
    }
    PyObject *s = PyObject_CallMethod(v->kind->framework, "stream", "i", v->id);
    if (!s) return false;
    *stream = PyLong_AsVoidPtr(s);
    Py_DECREF(s);
    return !PyErr_Occurred();
}

/* ---- new tensors ---- */

static void refused(void *unused, const char *kind, const char *text)
{
    (void)unused;
    PyErr_Format(strstr(kind, "Memory") ? PyExc_MemoryError : PyExc_RuntimeError, "%s", text);
}

PyObject *kp_allocate(const kp_view *like, const kp_made *m)
{
    const dl_exchange *api = like->kind->exchange;
    int64_t sizes[KP_DIMS], strides[KP_DIMS], step = 1;
    if (!api->allocate || !api->managed_to) return NULL;
    dl_tensor t = {.device = like->device,
                   .id = like->id,
                   .ndim = m->ndim,
                   .lanes = 1,
                   .shape = sizes,
                   .strides = strides};
    for (int i = 0; i < ELEMENTS; i++) {
        if (elements[i].dtype != m->dtype) continue;
        t.code = (uint8_t)elements[i].code;
        t.bits = (uint8_t)elements[i].bits;
    }
    for (int i = m->ndim; i-- > 0; step *= sizes[i] > 1 ? sizes[i] : 1) {
        sizes[i] = m->shape[i];
        strides[i] = step;
    }
    dl_versioned *made;
    void *object;
    if (api->allocate(&t, &made, NULL, refused) || api->managed_to(made, &object)) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, "the framework made no tensor");
        return NULL;
    }
    return object;
}
