# SPDX-License-Identifier: MIT
"""ops.pyi: what editors and type checkers know of kiln.ops, written from the registry."""
import keyword
import os

from . import _kiln, describe

_HEAD = '''# Written from the registry by `python -m kiln stubs`.
from typing import Any, Mapping, NamedTuple, Optional, Sequence, Union
from . import Op
Tensor = Any
Outputs = Union[Tensor, Sequence[Tensor], Mapping[str, Tensor], None]
'''


def _shape(t):
    def side(size, block):
        return size if block == 1 else f"{size}/{block}"
    rows = str(t.page) if t.page else t.rows and side(t.rows, t.block[0]) + (f" + {t.beyond}" if t.beyond else "")
    parts = [t.batches if t.batches != "batch" else None, t.planes, rows, t.cols and side(t.cols, t.block[1])]
    return f"{t.name} [{', '.join(p for p in parts if p)}]"


def _names(names):
    return [n for n in names if not keyword.iskeyword(n)]


def _op(name):
    info = describe(name, "host")
    inputs, outputs = [t.name for t in info.inputs], [t.name for t in info.outputs]
    result = "Tensor"
    lines = []
    if len(outputs) > 1:
        result = f"{name}_result"
        lines += [f"class {result}(NamedTuple):", *(f"    {n}: Tensor" for n in _names(outputs)), ""]
    arguments = ["self", *(f"{n}: Tensor" for n in _names(inputs)), *(f"{n}: float" for n in _names(info.scalars)), "*",
                 *(f"{n}: int" for n in _names(info.sizes)),
                 *(f"{n}: Optional[Tensor] = None" for n in _names(outputs)), "out: Outputs = None", "stream: Any = None",
                 "dtype: Any = None"]
    text = f"{info.family}: {', '.join(map(_shape, info.inputs))} -> {', '.join(map(_shape, info.outputs))}"
    kinds = sorted({",".join(s.types) + (" " + s.layouts if s.layouts else "") for s in info.signatures})
    if kinds:
        text += f"\n\n        {', '.join(info.types)}: {'; '.join(kinds)}"
    call = ", ".join(arguments)
    lines += [f"class _{name}(Op):", f"    def __call__({call}) -> {result}:  # type: ignore[override]",
              f'        """{text}"""', f"    def problem({call}) -> str: ...  # type: ignore[override]", f"{name}: _{name}", ""]
    return "\n".join(lines)


def text():
    return _HEAD + "\n" + "\n".join(_op(name) for name in _kiln.ops("host"))


def write(path=None):
    """Writes the stubs beside this file, or to path, if they are others than those there; where."""
    path = path or os.path.join(os.path.dirname(os.path.abspath(__file__)), "ops.pyi")
    new = text()
    try:
        with open(path, encoding="utf-8") as file:
            if file.read() == new:
                return path
    except FileNotFoundError:
        pass
    temporary = f"{path}.{os.getpid()}"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(new)
    os.replace(temporary, path)
    return path
