// SPDX-License-Identifier: MIT
// The extension module kiln._kiln: exceptions by kiln_status, and what the other files bring.
#include "binding.h"
#include <string.h>

kp_state kp;

/* status, exception, its other base */
static const struct {
    kiln_status status;
    const char *name, *base;
} errors[] = {
    {KILN_INVALID, "InvalidError", "ValueError"},
    {KILN_NOT_FOUND, "NotFoundError", "LookupError"},
    {KILN_NOT_SUPPORTED, "NotSupportedError", NULL},
    {KILN_NO_DEVICE, "NoDeviceError", NULL},
    {KILN_NO_MEMORY, "NoMemoryError", "MemoryError"},
    {KILN_BAD_MODULE, "BadModuleError", "ImportError"},
    {KILN_WORKSPACE, "WorkspaceError", "ValueError"},
    {KILN_DRIVER, "DriverError", NULL},
    {KILN_TRUNCATED, "TruncatedError", NULL},
    {KILN_IO, "FileError", "OSError"},
};

PyObject *kp_raise(kiln_status status)
{
    PyObject *text =
        PyUnicode_DecodeUTF8(kiln_error(), (Py_ssize_t)strlen(kiln_error()), "replace");
    if (text) PyErr_SetObject(kp.error[status], text);
    Py_XDECREF(text);
    return NULL;
}

static bool add(PyObject *m, const char *name, PyObject *value)
{
    if (!value) return false;
    if (PyModule_AddObject(m, name, value) == 0) return true;
    Py_DECREF(value);
    return false;
}

/* kiln.Error, and one below it for each status. */
static bool add_errors(PyObject *m)
{
    PyObject *base = PyErr_NewExceptionWithDoc(
        "kiln.Error", "What Kiln says; each status has a class below this one.", PyExc_RuntimeError,
        NULL);
    if (!base) return false;
    Py_INCREF(base);
    for (size_t i = 0; i < sizeof kp.error / sizeof *kp.error; i++) kp.error[i] = base;
    if (!add(m, "Error", base)) return false;
    PyObject *builtins = PyImport_ImportModule("builtins");
    for (size_t i = 0; builtins && i < sizeof errors / sizeof *errors; i++) {
        char name[64];
        PyOS_snprintf(name, sizeof name, "kiln.%s", errors[i].name);
        PyObject *other = errors[i].base ? PyObject_GetAttrString(builtins, errors[i].base) : NULL;
        PyObject *bases = other ? PyTuple_Pack(2, base, other) : PyTuple_Pack(1, base);
        PyObject *error = bases ? PyErr_NewException(name, bases, NULL) : NULL;
        Py_XDECREF(bases);
        Py_XDECREF(other);
        if (!error) break;
        Py_INCREF(error);
        kp.error[errors[i].status] = error;
        if (!add(m, errors[i].name, error)) break;
    }
    Py_XDECREF(builtins);
    return !PyErr_Occurred();
}

/* What of this module is written in Python: called once by kiln/__init__.py. */
static PyObject *install(PyObject *module, PyObject *args)
{
    PyObject *framework_of, *result_type;
    (void)module;
    if (!PyArg_ParseTuple(args, "OO", &framework_of, &result_type)) return NULL;
    Py_INCREF(framework_of), Py_INCREF(result_type);
    Py_XDECREF(kp.framework_of), Py_XDECREF(kp.result_type);
    kp.framework_of = framework_of, kp.result_type = result_type;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"install", install, METH_VARARGS, "install(framework_of, result_type)"}, {0}};
static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "kiln._kiln", "Kiln's C API for Python", -1, methods, 0, 0, 0, 0};

PyMODINIT_FUNC PyInit__kiln(void);
PyMODINIT_FUNC PyInit__kiln(void)
{
    PyObject *m = PyModule_Create(&definition);
    if (!m) return NULL;
    if (PyModule_AddFunctions(m, kp_registry_methods) || !add_errors(m) ||
        !add(m, "Op", kp_op_type()) || !add(m, "version", PyUnicode_FromString(kiln_version()))) {
        Py_DECREF(m);
        return NULL;
    }
    return m;
}
