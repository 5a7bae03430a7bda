# SPDX-License-Identifier: MIT
"""Tensors in the memory of a GPU: the simulator's, by DLPack as ROCm's."""
import ctypes
import os
import weakref

import kiln
import numpy as np
from common import Skip, numbers, raises, same

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY = os.path.join(HERE, "..", "..", os.environ.get("KILN_BUILD", "build"), "lib")


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32), ("id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class OnGpu:
    """A copy of an array in the simulator's memory; counts what it has lent, and notes streams."""

    def __init__(self, hip, array):
        self.hip, self.array, self.at, self.lent, self.streams = hip, np.ascontiguousarray(array), ctypes.c_void_p(), 0, []
        assert hip.hipMalloc(ctypes.byref(self.at), ctypes.c_size_t(max(self.array.nbytes, 1))) == 0
        assert hip.hipMemcpy(self.at, self.array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(self.array.nbytes), 1) == 0
        me = weakref.ref(self)
        self.deleter = DELETER(lambda unused: me().give_back())
        self.sizes = (ctypes.c_int64 * self.array.ndim)(*self.array.shape)
        code = {"f": 2, "i": 0}[self.array.dtype.kind]
        self.managed = Managed(Tensor(self.at, 10, 0, self.array.ndim, code, 8 * self.array.itemsize, 1, self.sizes, None, 0),
                               None, ctypes.cast(self.deleter, ctypes.c_void_p))

    def __del__(self):
        self.hip.hipFree(self.at)

    def give_back(self):
        self.lent -= 1

    def back(self):
        out = np.empty_like(self.array)
        assert self.hip.hipMemcpy(out.ctypes.data_as(ctypes.c_void_p), self.at, ctypes.c_size_t(out.nbytes), 2) == 0
        return out

    def __dlpack_device__(self):
        return 10, 0

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        self.lent += 1
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return make(ctypes.addressof(self.managed), b"dltensor", None)


def simulator():
    if not os.path.exists(os.path.join(LIBRARY, "kiln", "libkiln-gfx942.so")):
        raise Skip("no module for gfx942")
    os.environ["KILN_DEVICE"] = "sim:gfx942"
    kiln.configure()
    kiln.device("sim:gfx942")  # loads it
    return ctypes.CDLL(os.path.join(LIBRARY, "libkilnsim.so"))


def test_a_product_on_a_gpu():
    hip = simulator()
    a, b = numbers(5, 64), numbers(64, 24, seed=1)
    x, w, e = (OnGpu(hip, t) for t in (a, b, np.zeros((5, 24), np.float32)))
    for _ in range(2):
        assert kiln.ops.gemm(x, w, out=e) is e
        same(e.back(), a @ b)
    assert x.lent == w.lent == e.lent == 0 and x.streams[-1] == 0
    raises(TypeError, "has no way to make a tensor: give out=", kiln.ops.gemm, x, w)
    raises(ValueError, "'b' is on the host 0, other tensors on ROCm device 0", kiln.ops.gemm, x, b)
    assert x.lent == w.lent == 0


def test_sums_of_integers_are_kept():
    """127 * 127 * 1041 has 25 bits, one more than f32."""
    hip = simulator()
    a, b = np.full((5, 1041), 127, np.int8), np.full((1041, 24), 127, np.int8)
    b[0] = range(24)
    x, w, e = (OnGpu(hip, t) for t in (a, b, np.zeros((5, 24), np.int32)))
    kiln.ops.gemm(x, w, out=e)
    same(e.back(), a.astype("i4") @ b.astype("i4"))


def test_a_workspace():
    """A row of so many columns is shared by blocks, which leave their sums in a workspace of Kiln's own."""
    hip = simulator()
    row = np.where(numbers(1, 65536) > 0, 1, -1).astype(np.float16)
    x, w, y = (OnGpu(hip, t) for t in (row, np.full(65536, 2, np.float16), np.zeros_like(row)))
    op = kiln.ops.rmsnorm
    assert kiln.find(op.problem(w, x, 0.0, y=y), "sim:gfx942").workspace > 0
    for _ in range(2):
        op(w, x, 0.0, out=y)
        same(y.back(), 2 * row)


def test_streams_of_ones_own():
    hip = simulator()
    stream = ctypes.c_void_p()
    assert hip.hipStreamCreate(ctypes.byref(stream)) == 0
    a, b = numbers(5, 64), numbers(64, 24, seed=1)
    x, w, e = (OnGpu(hip, t) for t in (a, b, np.zeros((5, 24), np.float32)))

    class Stream:
        ptr = stream.value

    for given in stream.value, Stream():
        kiln.ops.gemm(x, w, out=e, stream=given)
        assert x.streams[-1] == stream.value
        same(e.back(), a @ b)


def test_back_on_the_host():
    os.environ["KILN_DEVICE"] = "host"
    kiln.configure()
    same(kiln.ops.gemm(numbers(2, 8), numbers(8, 4)), numbers(2, 8) @ numbers(8, 4))
