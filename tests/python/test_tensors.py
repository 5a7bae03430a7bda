# SPDX-License-Identifier: MIT
"""Where tensors come from: the buffer protocol, DLPack of both versions, types of ml_dtypes."""
import array
import ctypes

import kiln
import numpy as np
from common import BF16, F8, numbers, raises, same


def test_the_buffer_protocol():
    x, w = numbers(4, 16), numbers(16, 8)
    raises(TypeError, "memoryview has no way to make a tensor: give out=", kiln.ops.gemm, memoryview(x), memoryview(w))
    e = np.zeros((4, 8), np.float32)
    kiln.ops.gemm(memoryview(x), memoryview(w), out=memoryview(e))
    same(e, x @ w)
    flat = array.array("f", [1.0] * 8)
    got = kiln.ops.layernorm_i8(bias=flat, weight=flat, x=np.zeros((2, 8), BF16), eps=1.0)
    same(got, np.ones((2, 8)))
    out = array.array("f", bytes(4 * 32))
    kiln.ops.gemm(x, memoryview(w), out=memoryview(out).cast("B").cast("f", (4, 8)))
    same(np.array(out).reshape(4, 8), x @ w)
    raises(TypeError, "elements of format 'd'", kiln.ops.gemm, memoryview(x.astype("f8")), w, out=e)
    raises(ValueError, "output 'e' is read-only", kiln.ops.gemm, x, w, out=memoryview(bytes(128)).cast("f", (4, 8)))


def test_unsigned_bytes():
    x, w = numbers(4, 16), numbers(8, 16, dtype=np.int8)
    want = np.clip(np.rint(x / np.float32(0.25)) + 100, 0, 255).astype(np.uint8)
    made = kiln.ops.quantise_u8(x, 0.25, 100)
    assert made.dtype == np.uint8
    same(made, want)
    out = bytearray(64)
    kiln.ops.quantise_u8(memoryview(x), 0.25, 100, out=memoryview(out).cast("B", (4, 16)))
    same(np.frombuffer(out, np.uint8).reshape(4, 16), want)
    given = {"b": w.T, "bias": np.zeros(8, np.int32), "b_zero": np.zeros(8, np.int32), "col_offset": w.sum(1, dtype=np.int32),
             "multiplier": np.full(8, 0.01, np.float32), "row_offset": want.sum(1, dtype=np.int32), "a_zero": 100, "c_zero": 7}
    y = np.clip(np.rint((want.astype("i4") - 100) @ w.T.astype("i4") * np.float32(0.01)) + 7, 0, 255)
    for a in want, memoryview(out).cast("B", (4, 16)), Legacy(want):
        e = np.empty((4, 8), np.uint8)
        kiln.ops.requantise(a, **given, out=e)
        same(e, y)


class Legacy:
    """A producer from before DLPack 1.0; counts the memory that it has lent."""
    lent = 0

    def __init__(self, a):
        self.a = a

    def __dlpack_device__(self):
        return self.a.__dlpack_device__()

    def __dlpack__(self, stream=None):
        assert stream is None
        return self.a.__dlpack__()


class Versioned(Legacy):
    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        assert stream is None and max_version == (1, 1)
        try:
            return self.a.__dlpack__(max_version=max_version)
        except TypeError:  # of numpy 1
            return self.a.__dlpack__()


def test_dlpack():
    x, w = numbers(4, 16), numbers(8, 16)
    for kind in Legacy, Versioned:
        e = np.zeros((4, 8), np.float32)
        given = kind(e)
        assert kiln.ops.gemm(kind(x), kind(w.T), out=given) is given
        same(e, x @ w.T)
        raises(TypeError, "has no way to make a tensor: give out=", kiln.ops.gemm, kind(x), kind(w.T))


def test_dlpack_that_is_read_only():
    x, w, e = numbers(4, 16), numbers(16, 8), np.zeros((4, 8), np.float32)
    e.flags.writeable = False
    try:
        e.__dlpack__(max_version=(1, 1))
    except (TypeError, BufferError):
        return  # of numpy 1
    raises(ValueError, "output 'e' is read-only", kiln.ops.gemm, x, w, out=Versioned(e))
    assert not e.any()


def test_dlpack_gives_back_what_was_lent():
    x, w, e = numbers(4, 16), numbers(16, 8), np.zeros((4, 8), np.float32)
    references = ctypes.c_ssize_t.from_address(id(x)).value
    for _ in range(10):
        kiln.ops.gemm(Legacy(x), w, out=e)
        raises(ValueError, "'b' has shape", kiln.ops.gemm, Legacy(x), w[:3], out=e)
    assert ctypes.c_ssize_t.from_address(id(x)).value == references


def test_bad_producers():
    class Nothing(Legacy):
        def __dlpack__(self, stream=None):
            return 1

    class Raises(Legacy):
        def __dlpack__(self, stream=None):
            raise KeyError("why")

    x, w, e = numbers(4, 16), numbers(16, 8), np.zeros((4, 8), np.float32)
    raises(TypeError, "a gives a DLPack of a version that Kiln does not know", kiln.ops.gemm, Nothing(x), w, out=e)
    raises(KeyError, "why", kiln.ops.gemm, Raises(x), w, out=e)


def test_types_of_ml_dtypes():
    names = {"float8_e4m3fn": "f8e4m3", "float8_e5m2": "f8e5m2", "float8_e4m3fnuz": "f8e4m3fnuz", "bfloat16": "bf16"}
    for kind in {s.types[0] for s in kiln.describe("gemm").signatures} & set(names.values()):
        name = [n for n, k in names.items() if k == kind][0]
        import ml_dtypes
        x = numbers(4, 16).astype(getattr(ml_dtypes, name))
        assert kiln.ops.gemm.problem(x, x.T).startswith(f"gemm {kind},{kind},")


def test_fp8_comes_out():
    x = numbers(4, 64, dtype=BF16)
    got = kiln.ops.quantise_row(x)
    assert got.y.dtype == F8
    same(got.y.astype("f4").max(1) <= 448, np.ones(4))


def test_numpy_subclasses_and_memory_maps():
    x, w = numbers(4, 16), numbers(16, 8)
    same(kiln.ops.gemm(x.view(np.recarray), w), x @ w)
