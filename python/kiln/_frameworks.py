# SPDX-License-Identifier: MIT
"""What the extension asks of a tensor's framework: how its tensors are read, new ones made, its current stream.

No framework is imported here that the caller has not imported.
"""
import collections
import sys

from . import _kiln


class Framework:
    """reader: how the extension reads tensors (tensor.c); ordered: memory that is freed is reused only behind what its stream
    has queued; immutable: its tensors are never outputs of the caller's; makes: it has `make`; finishes: what was made becomes its own when it has
    been computed; exchange: DLPack's table of C functions."""
    reader = "buffer"
    makes = False
    finishes = False
    ordered = False
    immutable = False
    exchange = None
    name = "buffer"

    def make(self, like, dtype, shape, columns):
        raise TypeError(f"{type(like).__module__}.{type(like).__qualname__} has no way to make a tensor: give out=")

    def stream(self, device):  # pylint: disable=unused-argument
        return 0

    def keep(self, tensor, stream, device):  # pylint: disable=unused-argument
        """Whether the tensor's memory is safe until the stream is past what was queued."""
        return False


def _swapped(shape):
    return (*shape[:-2], shape[-1], shape[-2])


class Numpy(Framework):
    """numpy, with ml_dtypes' types where they are installed."""
    name, reader, makes = "numpy", "struct", True

    def make(self, like, dtype, shape, columns):
        import numpy
        if like.dtype.name != dtype:
            dtype = self._dtype(dtype)
        else:
            dtype = like.dtype
        if columns:
            return numpy.empty(_swapped(shape), dtype).swapaxes(-1, -2)
        return numpy.empty(shape, dtype)

    @staticmethod
    def _dtype(name):
        import numpy
        if name.startswith(("float8", "bfloat")):
            try:
                import ml_dtypes
            except ImportError:
                raise TypeError(f"numpy has {name} by the package ml_dtypes alone: install it, or give out=") from None
            return numpy.dtype(getattr(ml_dtypes, name))
        return numpy.dtype(name)


class Torch(Framework):
    """torch, from 1.12 on; its caching allocator reuses memory in the order of streams."""
    name, reader, ordered, makes = "torch", "describe", True, True

    def __init__(self, kind):
        table = getattr(kind, "__dlpack_c_exchange_api__", None)
        self.exchange = None if isinstance(table, int) else table
        self.torch = sys.modules["torch"]
        self.hip = getattr(self.torch.version, "hip", None) is not None

    def describe(self, t):
        where = {"cpu": 1, "cuda": 10 if self.hip else 2}.get(t.device.type)
        if where is None or t.layout is not self.torch.strided:
            raise TypeError(f"a torch tensor on {t.device} of layout {t.layout} has no memory that Kiln can read")
        return t.data_ptr(), where, t.device.index or 0, str(t.dtype)[6:], tuple(t.shape), t.stride(), False

    def make(self, like, dtype, shape, columns):
        kind = getattr(self.torch, dtype)
        if columns:
            return self.torch.empty(_swapped(shape), dtype=kind, device=like.device).transpose(-1, -2)
        return self.torch.empty(shape, dtype=kind, device=like.device)

    def scratch(self, like, size):
        memory = self.torch.empty(size, dtype=self.torch.uint8, device=like.device)
        return memory, memory.data_ptr()

    def stream(self, device):
        return self.torch.cuda.current_stream(device).cuda_stream

    def keep(self, tensor, stream, device):
        if not isinstance(stream, self.torch.cuda.Stream):
            number = stream if isinstance(stream, int) else getattr(stream, "ptr", None) or stream.__cuda_stream__()[1]
            if number == self.stream(device):
                return True
            if number == 0:  # the default stream, which is no external one
                stream = self.torch.cuda.default_stream(device)
            else:
                stream = self.torch.cuda.ExternalStream(number, device=device)
        tensor.record_stream(stream)
        return True


class Cupy(Framework):
    """cupy; its memory pool keeps what a stream freed to that stream."""
    name, reader, ordered, makes = "cupy", "describe", True, True

    def __init__(self):
        self.cupy = sys.modules["cupy"]
        self.device = 10 if getattr(self.cupy.cuda.runtime, "is_hip", False) else 2

    def describe(self, a):
        size = a.dtype.itemsize
        if any(s % size for s in a.strides):
            raise ValueError("a cupy array whose strides are no whole elements")
        return a.data.ptr, self.device, a.device.id, a.dtype.name, a.shape, tuple(s // size for s in a.strides), False

    def make(self, like, dtype, shape, columns):
        dtype = like.dtype if like.dtype.name == dtype else Numpy._dtype(dtype)
        with like.device:
            if columns:
                return self.cupy.empty(_swapped(shape), dtype).swapaxes(-1, -2)
            return self.cupy.empty(shape, dtype)

    def scratch(self, like, size):
        with like.device:
            memory = self.cupy.empty(size, self.cupy.uint8)
        return memory, memory.data.ptr

    def stream(self, device):
        with self.cupy.cuda.Device(device):
            return self.cupy.cuda.get_current_stream().ptr

    def keep(self, tensor, stream, device):
        number = stream if isinstance(stream, int) else getattr(stream, "ptr", None)
        return number == self.stream(device)


class Jax(Framework):
    """jax, whose arrays are immutable: outputs are numpy's on the host, cupy's on a GPU, and jax takes them over."""
    name, reader, immutable, makes, finishes = "jax", "dlpack", True, True, True

    def make(self, like, dtype, shape, columns):
        platform = next(iter(like.devices())).platform
        if platform == "cpu":
            import numpy
            return Numpy().make(numpy.empty(0, numpy.float32), dtype, shape, columns)
        if "cupy" not in sys.modules:
            raise TypeError("outputs for jax on a GPU are made by cupy: import it first")
        cupy = sys.modules["cupy"]
        with cupy.cuda.Device(next(iter(like.devices())).local_hardware_id):
            return Cupy().make(cupy.empty(0, cupy.float32), dtype, shape, columns)

    def finish(self, made):
        import jax
        if type(made).__module__ == "numpy":
            return jax.numpy.asarray(made)
        return jax.dlpack.from_dlpack(made)


class Dlpack(Framework):
    """Anything with __dlpack__."""
    name, reader = "dlpack", "dlpack"


class CudaArray(Framework):
    """Anything with __cuda_array_interface__ and no DLPack."""
    name, reader = "cuda", "describe"

    def describe(self, o):
        i = o.__cuda_array_interface__
        kind, size = i["typestr"][1], int(i["typestr"][2:])
        name = {"f": "float", "i": "int", "u": "uint"}.get(kind, "?") + str(8 * size)
        if name not in ("float32", "float16", "int8", "int32", "uint8"):
            name = str(getattr(getattr(o, "dtype", None), "name", name))
        if i.get("stream"):  # the producer's work is waited for
            _kiln.synchronize("nvidia:0", i["stream"])
        strides = i.get("strides")
        return (i["data"][0], 2, _ordinal(o), name, tuple(i["shape"]),
                None if strides is None else tuple(s // size for s in strides), bool(i["data"][1]))


def _ordinal(o):
    device = getattr(o, "device", None)
    return int(getattr(device, "id", getattr(device, "index", 0)) or 0)


def of(kind):
    """The framework that a type of tensors is of."""
    roots = {c.__module__.split(".")[0] for c in kind.__mro__}
    if "torch" in roots and hasattr(kind, "data_ptr"):
        return Torch(kind)
    if "numpy" in roots and hasattr(kind, "__array_struct__"):
        return Numpy()
    if "cupy" in roots and hasattr(kind, "__cuda_array_interface__"):
        return Cupy()
    if roots & {"jax", "jaxlib"}:
        return Jax()
    if hasattr(kind, "__dlpack__"):
        return Dlpack()
    if hasattr(kind, "__cuda_array_interface__"):
        return CudaArray()
    if hasattr(kind, "__array_struct__"):
        return Numpy()
    return Framework()


def result_type(op, names):
    """What an op of several outputs returns."""
    return collections.namedtuple(op, names, rename=True)
