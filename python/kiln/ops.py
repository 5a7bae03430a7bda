# SPDX-License-Identifier: MIT
"""Every op by its name: kiln.ops.bias_relu.  Completed by editors from ops.pyi, which `python -m kiln stubs` writes."""
from . import _kiln

_known = {}


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    found = _known.get(name)
    if found is None:
        try:
            found = _known[name] = _kiln.Op(name)
        except _kiln.NotFoundError as error:
            raise AttributeError(str(error)) from error
        globals()[name] = found
    return found


def __dir__():
    return _kiln.ops("host")


def _forget():
    for name in _known:
        globals().pop(name, None)
    _known.clear()
