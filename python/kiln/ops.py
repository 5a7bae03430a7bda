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
            raise AttributeError(f"{error}{_near(name)}") from error
        globals()[name] = found
    return found


def _near(name):
    """What may have been meant."""
    import difflib
    from . import _build
    file = _build.file_with(name)
    if file:
        return f": kiln.build({file!r}) compiles it"
    near = difflib.get_close_matches(name, _kiln.ops("host"))
    return f"; did you mean {' or '.join(near)}?" if near else ""


def __dir__():
    return _kiln.ops("host")


def _forget():
    for name in _known:
        globals().pop(name, None)
    _known.clear()
