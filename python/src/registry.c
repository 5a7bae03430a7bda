// SPDX-License-Identifier: MIT
// What there is: kernels found, explained and listed, ops described, as plain Python values.
// kiln/__init__.py gives them their shape.
#include "binding.h"
#include <stdlib.h>
#include <string.h>

/* Puts a new value, NULL where that failed. */
static bool put(PyObject *dict, const char *key, PyObject *value)
{
    const bool ok = value && PyDict_SetItemString(dict, key, value) == 0;
    Py_XDECREF(value);
    return ok;
}

static PyObject *text_or_none(const char *s)
{
    if (s) return PyUnicode_FromString(s);
    Py_INCREF(Py_None);
    return Py_None;
}

typedef kiln_status get_text(kiln_ctx *, const kiln_problem *, char *, size_t *);

static kiln_status format(kiln_ctx *unused, const kiln_problem *p, char *text, size_t *len)
{
    (void)unused;
    return kiln_problem_format(p, text, len);
}

static PyObject *get(get_text *from, kiln_ctx *ctx, const kiln_problem *p)
{
    size_t len = 0;
    kiln_status status = from(ctx, p, NULL, &len);
    if (status && status != KILN_TRUNCATED) return kp_raise(status);
    char *text = malloc(len + 1);
    if (!text) return PyErr_NoMemory();
    status = from(ctx, p, text, &len);
    PyObject *result =
        status ? kp_raise(status) : PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    free(text);
    return result;
}

PyObject *kp_problem_text(const kiln_problem *p)
{
    return get(format, NULL, p);
}

/* The problem in args[0] on the device in args[1], a spec or None. */
static kp_ctx *parse_problem(const char *text, const char *device, kiln_problem *p)
{
    kp_ctx *c = kp_context(device ? device : "");
    if (!c) return NULL;
    const kiln_status status = kiln_problem_parse(text, p);
    return status ? (kp_raise(status), NULL) : c;
}

/* ---- kernels ---- */

static PyObject *values(const kiln_kernel_info *k)
{
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict && i < k->nvalues; i++)
        if (!put(dict, k->value_name[i], PyLong_FromLong(k->value[i]))) Py_CLEAR(dict);
    return dict;
}

static PyObject *types(const kiln_kernel_info *k)
{
    PyObject *list = PyTuple_New((Py_ssize_t)k->ntypes);
    for (size_t i = 0; list && i < k->ntypes; i++)
        PyTuple_SetItem(list, (Py_ssize_t)i, PyUnicode_FromString(kiln_dtype_name(k->type[i])));
    return list;
}

static PyObject *kernel_dict(const kiln_kernel *kernel)
{
    kiln_kernel_info k = {.struct_size = sizeof k};
    const kiln_status status = kiln_kernel_describe(kernel, &k);
    if (status) return kp_raise(status);
    char layouts[KILN_MAX_LAYOUTS + 1] = "";
    for (size_t i = 0; i < k.nlayouts; i++) layouts[i] = k.layout[i] == KILN_COL ? 'c' : 'r';
    PyObject *d = PyDict_New();
    if (d && put(d, "name", text_or_none(k.name)) && put(d, "op", text_or_none(k.op)) &&
        put(d, "family", text_or_none(k.family)) && put(d, "target", text_or_none(k.target)) &&
        put(d, "schedule", text_or_none(k.schedule)) && put(d, "types", types(&k)) &&
        put(d, "layouts", text_or_none(layouts)) && put(d, "values", values(&k)) &&
        put(d, "file", text_or_none(k.file)) && put(d, "line", PyLong_FromLong(k.line)) &&
        put(d, "runnable", PyBool_FromLong(k.runnable)))
        return d;
    Py_XDECREF(d);
    return NULL;
}

static PyObject *find(PyObject *module, PyObject *args)
{
    const char *text, *device;
    kiln_problem p;
    const kiln_kernel *kernel;
    (void)module;
    if (!PyArg_ParseTuple(args, "sz", &text, &device)) return NULL;
    kp_ctx *c = parse_problem(text, device, &p);
    if (!c) return NULL;
    const kiln_status status = kiln_find(c->ctx, &p, &kernel);
    if (status) return kp_raise(status);
    PyObject *d = kernel_dict(kernel);
    if (d && put(d, "workspace", PyLong_FromSize_t(kiln_workspace_size(kernel, &p)))) return d;
    Py_XDECREF(d);
    return NULL;
}

static PyObject *explain(PyObject *module, PyObject *args)
{
    const char *text, *device;
    int json;
    kiln_problem p;
    (void)module;
    if (!PyArg_ParseTuple(args, "szp", &text, &device, &json)) return NULL;
    kp_ctx *c = parse_problem(text, device, &p);
    return c ? get(json ? kiln_explain_json : kiln_explain, c->ctx, &p) : NULL;
}

/* Kernels of an op, or of all: those that run here, or all there are. */
static PyObject *kernels(PyObject *module, PyObject *args)
{
    const char *op, *device;
    int all;
    const kiln_kernel *kernel;
    (void)module;
    if (!PyArg_ParseTuple(args, "zzp", &op, &device, &all)) return NULL;
    kp_ctx *c = kp_context(device ? device : "");
    PyObject *list = c ? PyList_New(0) : NULL;
    for (size_t i = 0; list && kiln_kernel_at(c->ctx, i, &kernel) == KILN_OK; i++) {
        kiln_kernel_info k = {.struct_size = sizeof k};
        if (kiln_kernel_describe(kernel, &k) || (op && strcmp(op, k.op) != 0) ||
            (!all && !k.runnable))
            continue;
        PyObject *d = kernel_dict(kernel);
        if (!d || PyList_Append(list, d)) Py_CLEAR(list);
        Py_XDECREF(d);
    }
    return list;
}

/* ---- ops ---- */

static PyObject *ops(PyObject *module, PyObject *args)
{
    const char *device;
    const kiln_kernel *kernel;
    const char *last = "";
    (void)module;
    if (!PyArg_ParseTuple(args, "z", &device)) return NULL;
    kp_ctx *c = kp_context(device ? device : "");
    PyObject *set = c ? PySet_New(NULL) : NULL;
    for (size_t i = 0; set && kiln_kernel_at(c->ctx, i, &kernel) == KILN_OK; i++) {
        kiln_kernel_info k = {.struct_size = sizeof k};
        if (kiln_kernel_describe(kernel, &k) || !strcmp(k.op, last)) continue;
        last = k.op;
        PyObject *name = PyUnicode_FromString(k.op);
        if (!name || PySet_Add(set, name)) Py_CLEAR(set);
        Py_XDECREF(name);
    }
    PyObject *list = set ? PySequence_List(set) : NULL;
    Py_XDECREF(set);
    if (list && PyList_Sort(list)) Py_CLEAR(list);
    return list;
}

/* Batches are `batch` here whatever problems of the op call them. */
static PyObject *size_name(const kp_bound *b, int at)
{
    return text_or_none(at == KILN_BATCH ? "batch" : at >= 0 ? b->size[at] : NULL);
}

static PyObject *tensor_dict(const kp_bound *b, const kp_tensor *t)
{
    PyObject *d = PyDict_New(),
             *block = Py_BuildValue("LL", (long long)t->row_block, (long long)t->col_block);
    static const char *const layout[] = {NULL, "r", "c"};
    if (d && put(d, "block", block) && put(d, "name", PyUnicode_FromString(t->name)) &&
        put(d, "own", PyBool_FromLong(t->own)) && put(d, "planes", size_name(b, t->planes)) &&
        put(d, "batches", size_name(b, t->batches)) && put(d, "page", PyLong_FromLong(t->page)) &&
        put(d, "beyond", PyLong_FromLong(t->beyond)) && put(d, "rows", size_name(b, t->rows)) &&
        put(d, "cols", size_name(b, t->cols)) && put(d, "type", PyLong_FromLong(t->type)) &&
        put(d, "dtype", text_or_none(t->dtype ? kiln_dtype_name((kiln_dtype)t->dtype) : NULL)) &&
        put(d, "letter", PyLong_FromLong(t->letter)) &&
        put(d, "layout", text_or_none(layout[t->layout])))
        return d;
    Py_XDECREF(d);
    return NULL;
}

static PyObject *tensor_list(const kp_bound *b, bool out)
{
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < b->ntensors; i++) {
        if (b->tensor[i].out != out) continue;
        PyObject *d = tensor_dict(b, &b->tensor[i]);
        if (!d || PyList_Append(list, d)) Py_CLEAR(list);
        Py_XDECREF(d);
    }
    return list;
}

static PyObject *signature_list(const kp_bound *b)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < b->nsignatures; i++) {
        const kp_signature *s = &b->signature[i];
        char layouts[KILN_MAX_LAYOUTS + 1] = "";
        PyObject *all = PyTuple_New((Py_ssize_t)b->info.ntypes);
        for (size_t t = 0; all && t < b->info.ntypes; t++)
            PyTuple_SetItem(all, (Py_ssize_t)t,
                            PyUnicode_FromString(kiln_dtype_name((kiln_dtype)s->type[t])));
        for (size_t l = 0; l < b->info.nlayouts; l++)
            layouts[l] = s->layout[l] == KILN_COL ? 'c' : 'r';
        PyObject *fixed = PyDict_New();
        for (size_t f = 0; fixed && f < b->info.nfixed; f++)
            put(fixed, b->size[b->info.fixed[f]], PyLong_FromLongLong(s->fixed[f]));
        PyObject *one = all && fixed ? Py_BuildValue("OsO", all, layouts, fixed) : NULL;
        if (!one || PyList_Append(list, one)) Py_CLEAR(list);
        Py_XDECREF(one);
        Py_XDECREF(fixed);
        Py_XDECREF(all);
    }
    return list;
}

static PyObject *name_list(const char *const *name, size_t n)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < n; i++) {
        if (!name[i]) continue;
        PyObject *s = PyUnicode_FromString(name[i]);
        if (!s || PyList_Append(list, s)) Py_CLEAR(list);
        Py_XDECREF(s);
    }
    return list;
}

static PyObject *extra_sizes(const kp_bound *b)
{
    const char *name[KP_SIZES] = {0};
    for (int i = 0; i < KP_SIZES; i++)
        if (i != KILN_BATCH && !(b->told >> i & 1)) name[i] = b->size[i];
    return name_list(name, KP_SIZES);
}

static PyObject *describe(PyObject *module, PyObject *args)
{
    const char *op, *device;
    (void)module;
    if (!PyArg_ParseTuple(args, "sz", &op, &device)) return NULL;
    kp_ctx *c = kp_context(device ? device : "");
    kp_bound *b = c ? kp_bind(op, c) : NULL;
    if (!b) return NULL;
    PyObject *d = PyDict_New();
    if (d && put(d, "name", text_or_none(b->info.name)) &&
        put(d, "family", text_or_none(b->info.family)) &&
        put(d, "file", text_or_none(b->info.file)) &&
        put(d, "line", PyLong_FromLong(b->info.line)) && put(d, "inputs", tensor_list(b, false)) &&
        put(d, "outputs", tensor_list(b, true)) &&
        put(d, "scalars", name_list(b->info.scalar_name, b->info.nscalars)) &&
        put(d, "sizes", extra_sizes(b)) &&
        put(d, "types", name_list(b->info.type_name, b->info.ntypes)) &&
        put(d, "signatures", signature_list(b)) &&
        put(d, "rows_fold", PyBool_FromLong(kp_folds(b)))) {
        kp_unbind(b);
        return d;
    }
    Py_XDECREF(d);
    kp_unbind(b);
    return NULL;
}

/* ---- devices and modules ---- */

static PyObject *device_info(PyObject *module, PyObject *args)
{
    const char *device;
    (void)module;
    if (!PyArg_ParseTuple(args, "z", &device)) return NULL;
    kp_ctx *c = kp_context(device ? device : "");
    if (!c) return NULL;
    return Py_BuildValue("{s:s,s:s,s:s,s:i,s:n,s:n,s:i}", "name", c->info.name, "vendor",
                         c->info.vendor, "target", c->info.target, "units", c->info.units, "memory",
                         (Py_ssize_t)c->info.memory, "l2", (Py_ssize_t)c->info.l2, "gbps", c->info.gbps);
}

static PyObject *refused(PyObject *module, PyObject *args)
{
    const char *device, *text;
    (void)module;
    if (!PyArg_ParseTuple(args, "z", &device)) return NULL;
    kp_ctx *c = kp_context(device ? device : "");
    PyObject *list = c ? PyList_New(0) : NULL;
    for (size_t i = 0; list && (text = kiln_refused_at(c->ctx, i)); i++) {
        PyObject *s = PyUnicode_DecodeFSDefault(text);
        if (!s || PyList_Append(list, s)) Py_CLEAR(list);
        Py_XDECREF(s);
    }
    return list;
}

static PyObject *configure(PyObject *module, PyObject *args)
{
    const char *modules, *tuning;
    int threads;
    (void)module;
    if (!PyArg_ParseTuple(args, "zzi", &modules, &tuning, &threads) ||
        !kp_configure(modules, tuning, threads))
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *synchronize(PyObject *module, PyObject *args)
{
    const char *device;
    unsigned long long stream;
    kiln_status status;
    (void)module;
    if (!PyArg_ParseTuple(args, "zK", &device, &stream)) return NULL;
    kp_ctx *c = kp_context(device ? device : "");
    if (!c) return NULL;
    kp_hold(c);
    Py_BEGIN_ALLOW_THREADS status = kiln_synchronize(c->ctx, (void *)(uintptr_t)stream);
    Py_END_ALLOW_THREADS if (status) kp_raise(status);
    kp_release(c);
    if (status) return NULL;
    Py_RETURN_NONE;
}

static PyObject *after_fork(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    kp.forked = true;
    Py_RETURN_NONE;
}

static PyObject *dtype_name(PyObject *module, PyObject *args)
{
    const char *name;
    (void)module;
    if (!PyArg_ParseTuple(args, "s", &name)) return NULL;
    const int t = kp_dtype_named(name);
    if (t) return PyUnicode_FromString(kp_dtype_text(t));
    return PyErr_Format(PyExc_TypeError, "'%s' is no type of Kiln's", name);
}

PyMethodDef kp_registry_methods[] = {
    {"find", find, METH_VARARGS, "find(problem, device): the kernel that is taken"},
    {"explain", explain, METH_VARARGS, "explain(problem, device, json): every candidate, and why"},
    {"kernels", kernels, METH_VARARGS, "kernels(op, device, all)"},
    {"ops", ops, METH_VARARGS, "ops(device): names"},
    {"describe", describe, METH_VARARGS, "describe(op, device)"},
    {"device", device_info, METH_VARARGS, "device(spec)"},
    {"refused", refused, METH_VARARGS,
     "refused(device): modules and ops that are not used, and why"},
    {"configure", configure, METH_VARARGS,
     "configure(module_path, tuning, threads): opens all anew"},
    {"synchronize", synchronize, METH_VARARGS, "synchronize(device, stream)"},
    {"dtype_name", dtype_name, METH_VARARGS, "dtype_name(name): as frameworks call it"},
    {"after_fork", after_fork, METH_NOARGS, "called in a child that was forked"},
    {0}};
