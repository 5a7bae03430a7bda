# SPDX-License-Identifier: MIT
"""Kiln's fused operations on tensors of any framework.

    import kiln
    y = kiln.ops.bias_relu(x, w.T, bias=b)      # numpy, torch, cupy, jax; on the host or a GPU
    kiln.ops.bias_relu(x, w.T, bias=b, out=y)   # into memory of one's own
    print(kiln.explain(kiln.ops.bias_relu.problem(x, w.T, b)))
"""
import os as _os
import sys as _sys

from . import _frameworks, _kiln
from ._kiln import (  # noqa: F401
    BadModuleError, DriverError, Error, FileError, InvalidError, NoDeviceError, NoMemoryError, NotFoundError,
    NotSupportedError, Op, TruncatedError, WorkspaceError)
from ._types import Device, Kernel, OpInfo, Signature, TensorInfo

__version__ = _kiln.version
__all__ = ["op", "ops", "find", "explain", "list", "describe", "device", "refused", "configure", "load", "build", "Op",
           "Kernel", "OpInfo", "TensorInfo", "Signature", "Device", "Error"]

_kiln.install(_frameworks.of, _frameworks.result_type)
_os.register_at_fork(after_in_child=_kiln.after_fork)

_settings = {"tuning": None, "threads": 0}
_folders: "dict[str, str]" = {}  # what was loaded, by where it came from


def op(name):
    """The op of this name, to be called with tensors; also kiln.ops.NAME."""
    return getattr(ops, name)


def find(problem, device=None):
    """The kernel that a problem's text gets on a device ("host", "nvidia:0", ...; None: the best there is)."""
    return Kernel.of(_kiln.find(problem, device))


def explain(problem, device=None, json=False):
    """Every candidate for a problem: chosen, legal with its modelled time, or the rule that cut it."""
    return _kiln.explain(problem, device, json)


def list(op=None, device=None, all=False):  # pylint: disable=redefined-builtin
    """Kernels: of an op, or of all ops; those that run on the device, or all that were built."""
    return [Kernel.of(k) for k in _kiln.kernels(op, device, all)]


def describe(op, device=None):
    """An op's inputs, outputs, scalars, sizes, and the types and layouts that it was compiled for."""
    return OpInfo.of(_kiln.describe(op, device))


def device(spec=None):
    """What a device is: its name, target, units, memory."""
    return Device(**_kiln.device(spec))


def refused(device=None):
    """Modules, ops of modules and tuning files that are not used, and why."""
    return _kiln.refused(device)


def configure(tuning=None, threads=0):
    """Opens modules and devices anew, with this tuning file and number of host threads (defaults: the environment's)."""
    _settings.update(tuning=tuning, threads=threads)
    _open_anew()


def load(folder):
    """Opens the modules in a folder, too, and those that are open anew."""
    folder = _os.path.abspath(folder)
    if not _os.path.isdir(folder):
        raise FileNotFoundError(f"{folder}: no such folder")
    _folders[folder] = folder
    _open_anew()


def build(source, targets=None, verbose=False):
    """Compiles an instance file, or a folder of them, and opens its modules; the names of its ops."""
    from . import _build
    folder, names = _build.build(source, targets, verbose)
    _folders[_os.path.abspath(source)] = folder
    _open_anew()
    return names


def _open_anew():
    path = [p for p in [_os.environ.get("KILN_MODULE_PATH"), *_folders.values()] if p]
    _kiln.configure(":".join(path) if _folders else None, _settings["tuning"], _settings["threads"])
    ops._forget()
    ours = _sys.modules.get(__name__ + ".torch")
    if ours is not None:
        ours.register()


from . import ops  # noqa: E402  (it needs the names above)
