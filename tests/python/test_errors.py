# SPDX-License-Identifier: MIT
"""Calls that are wrong, and what is said."""
import kiln
import numpy as np
from common import BF16, numbers, raises


def good():
    return numbers(5, 64, dtype=BF16), numbers(32, 64, dtype=BF16).T, numbers(32, dtype=BF16)


def test_types():
    x, w, b = good()
    op = kiln.ops.bias_relu
    raises(TypeError, "bias_relu: a has elements of type float64; Kiln's are float32, ", op, x.astype("f8"), w, b)
    raises(TypeError, "a has elements of type object", op, x.astype(object), w, b)
    raises(TypeError, "'e' is bfloat16 and 'bias' is float32; they are of one type", op, x, w, b.astype("f4"), out=np.empty((5, 32), BF16))
    raises(kiln.NotFoundError, "'bias_relu' is not described for u8,bf16,", op, x.astype("u1"), w, b)
    raises(kiln.NotFoundError, "'bias_relu' is not described for i8,bf16,", op, x.astype("i1"), w, b)
    raises(TypeError, "a has elements of type >f4", op, x.astype(">f4"), w, b)
    raises(TypeError, "dtype='f64' is no type of Kiln's", op, x, w, b, dtype="f64")
    raises(kiln.NotFoundError, "is not described for", op, x, w, b, dtype="i8")


def test_shapes():
    x, w, b = good()
    op = kiln.ops.bias_relu
    raises(ValueError, "'b' has shape (32, 64), and is to be [batch..., k=64, n]", op, x, w.T, b)
    raises(ValueError, "'bias' has shape (31,), and is to be [batch..., n=32]", op, x, w, b[:31])
    raises(ValueError, "'a' has shape (64,)", op, x[0], w, b)
    raises(ValueError, "'e' has shape (5, 33)", op, x, w, b, out=np.empty((5, 33), BF16))
    raises(ValueError, "a has 9 dimensions, at most 8", op, x.reshape((1,) * 7 + (5, 64)), w, b)
    a = numbers(3, 5, 16)
    raises(ValueError, "'b' has shape (2, 16, 8)", kiln.ops.gemm, a, numbers(2, 16, 8))
    raises(ValueError, "'a' has 2 batches where the others have 6: all of them or one", kiln.ops.gemm, a[:2][:, None][:, :1],
           numbers(2, 3, 16, 8))
    heads = numbers(3, 5, 64)
    raises(kiln.InvalidError, "heads is 3 and kv_heads 2: the first must be a multiple of the second", kiln.ops.attention,
           heads, heads[:2], heads[:2])


def test_strides():
    x, w, b = good()
    wide = numbers(5, 128, dtype=BF16)
    op = kiln.ops.bias_relu
    raises(ValueError, "'a' has strides (128, 2) (elements): neither its rows nor its columns are contiguous", op, wide[:, ::2],
           w, b)
    raises(ValueError, "'a' has strides (-64, 1)", op, x[::-1], w, b)
    raises(ValueError, "'a' has strides (-320, 64, 1) (elements): one of them leads backwards", kiln.ops.gemm,
           numbers(2, 5, 64)[::-1], numbers(2, 64, 8))
    raises(ValueError, "'bias' has strides (2,) (elements): its elements do not lie side by side", op, x, w,
           numbers(64, dtype=BF16)[::2])
    raises(ValueError, "'a' has strides (0, 1)", op, np.broadcast_to(x[0], (5, 64)), w, b)
    raises(kiln.NotFoundError, "with rcr", op, x, w, b, out=np.empty((32, 5), BF16).T)
    raises(ValueError, "the batch dimensions of 'a' lie at no one stride", kiln.ops.gemm, numbers(4, 3, 5, 16)[::2, ::2],
           numbers(2, 2, 16, 8))
    packed = np.zeros((3, 5), dtype=[("x", "f4"), ("y", "i1")])["x"]
    raises(ValueError, "a has a stride of 25 bytes, no multiple of its elements' 4", kiln.ops.gemm, packed, numbers(5, 8))
    gate = numbers(8, 64, dtype=BF16)
    raises(ValueError, "'gate' and 'up' must be of one type and lie alike", kiln.ops.swiglu, x, gate.T,
           numbers(8, 128, dtype=BF16)[:, :64].T)


def test_arguments():
    x, w, b = good()
    op = kiln.ops.bias_relu
    raises(TypeError, "input 'bias' is missing", op, x, w)
    raises(TypeError, "input 'bias' is missing", op, x, w, None)
    raises(TypeError, "'bias' is given twice", op, x, w, b, bias=b)
    raises(TypeError, "has no argument 'biass'; it has ['a', 'b', 'e', 'bias'], and out, stream, dtype", op, x, w, biass=b)
    raises(TypeError, "takes 3 inputs and 0 numbers by place, and gets 4", op, x, w, b, b)
    raises(TypeError, "a is <class 'list'>: no tensor", op, [1, 2], w, b)
    raises(TypeError, "stream='x' is no stream", op, x, w, b, stream="x")
    i = numbers(4, 16, dtype=np.int8)
    scaled = kiln.ops.linear_abde_i8
    raises(TypeError, "'beta' is missing, a number", scaled, i, i.T, i[0, :4], 1.0)
    raises(TypeError, "'alpha' is given twice", scaled, i, i.T, i[0, :4], 1.0, 1.0, alpha=2.0)
    raises(TypeError, "linear_abde_i8: 'alpha' is <class 'str'>, and is to be a number", scaled, i, i.T, i[0, :4], "1", 1.0)
    q = numbers(2, 5, 64, dtype=BF16)
    raises(TypeError, "'window' is missing, a size that no tensor tells", kiln.ops.window_attention, q, q, q, 0.1)
    raises(ValueError, "window_attention: 'window' is negative (-1)", kiln.ops.window_attention, q, q, q, 0.1, window=-1)
    raises(TypeError, "'window' is <class 'float'>, and is to be a whole number", kiln.ops.window_attention, q, q, q, 0.1,
           window=1.5)
    begin = np.array([0, 5])
    raises(TypeError, "has elements of type int64; Kiln's are ", kiln.ops.ragged_attention, q, q, q, begin, begin, 0.1)
    raises(TypeError, "int8, uint8 and int32; it is to be int32", kiln.ops.ragged_attention, q, q, q, begin, begin, 0.1)
    raises(TypeError, "Op takes a name", kiln.Op, "gemm", x=1)


def test_outputs():
    x, w, b = good()
    op = kiln.ops.bias_relu
    frozen = np.empty((5, 32), BF16)
    frozen.flags.writeable = False
    raises(ValueError, "output 'e' is read-only", op, x, w, b, out=frozen)
    raises(TypeError, "has 1 output, and out= 2", op, x, w, b, out=(x, x))
    raises(TypeError, "it has no output 'y'", op, x, w, b, out={"y": x})
    r = numbers(4, 64, dtype=BF16)
    one = np.ones(64, BF16)
    norm = kiln.ops.add_rmsnorm
    raises(TypeError, "has 2 outputs: out= takes so many, in their order, or a dict", norm, r, one, r, eps=1e-6, out=r)
    raises(TypeError, "'y' is given twice", norm, r, one, r, eps=1e-6, y=r, out={"y": r})
    square = numbers(8, 8)
    raises(kiln.InvalidError, "overlaps A (", kiln.ops.gemm, square, numbers(8, 8, seed=1), out=square)


def test_names():
    caught = raises(AttributeError, "no open module describes an op 'nobody'", getattr, kiln.ops, "nobody")
    assert isinstance(caught.__cause__, kiln.NotFoundError) and isinstance(caught.__cause__, LookupError)
    raises(AttributeError, "no open module", kiln.op, "nobody")
    raises(AttributeError, "describes an op 'bias_rellu'; did you mean bias_relu or ", kiln.op, "bias_rellu")
    assert kiln.ops._near("causal_softmax") == ": kiln.build('softmax') compiles it"
    raises(kiln.InvalidError, "problem text: ", kiln.find, "gemm f32 rrr m=1")
    raises(kiln.NotFoundError, "no op 'nobody' was described", kiln.find, "nobody f32,f32,f32 rrr m=1 n=1 k=1")
    raises(kiln.Error, "no_such_device", kiln.find, "gemm f32,f32,f32 rrr m=1 n=1 k=1", device="no_such_device")
    assert issubclass(kiln.InvalidError, ValueError) and issubclass(kiln.NoMemoryError, MemoryError)


class OnGpu:
    """A tensor on a GPU that is not here."""

    def __init__(self, device, number=0):
        self.at = device, number

    def __dlpack_device__(self):
        return self.at

    def __dlpack__(self, stream=None):
        raise BufferError("never asked")


def test_devices():
    x, w, b = good()
    raises(BufferError, "never asked", kiln.ops.bias_relu, x, w, OnGpu(2))
    raises(ValueError, "a lies on a device that Kiln has no driver for (DLPack's number 8)", kiln.ops.bias_relu, OnGpu(8), w, b)


class CudaArray:
    """Memory of the host, called a GPU's."""

    def __init__(self, array):
        self.array = array

    @property
    def __cuda_array_interface__(self):
        made = dict(self.array.__array_interface__)
        made["version"] = 3
        return made


def test_tensors_of_several_devices():
    x, w = numbers(4, 16), numbers(16, 8)
    raises(ValueError, "'b' is on CUDA device 0, other tensors on the host 0: all must be on one device", kiln.ops.gemm, x,
           CudaArray(w))
    raises(kiln.NoDeviceError, "", kiln.ops.gemm, CudaArray(x), CudaArray(w))
    raises(TypeError, "has elements of type", kiln.ops.gemm, CudaArray(x.astype("f8")), CudaArray(w))
