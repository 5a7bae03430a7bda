# SPDX-License-Identifier: MIT
"""What kiln.find, list, describe and device give."""
from typing import Dict, List, NamedTuple, Optional, Tuple


class Kernel(NamedTuple):
    """A compiled kernel."""
    name: str
    op: str
    family: str
    target: str
    schedule: str
    types: Tuple[str, ...]
    layouts: str
    values: Dict[str, int]
    file: str
    line: int
    runnable: bool
    workspace: Optional[int] = None

    @classmethod
    def of(cls, values):
        return cls(**values)


class TensorInfo(NamedTuple):
    """An input or output: a matrix of rows by columns, in blocks, for each of its planes, and that for each of its batches
    (None: once); page: rows of a matrix, whatever the size says; beyond: rows beside those of the size."""
    name: str
    own: bool
    planes: Optional[str]
    rows: Optional[str]
    cols: Optional[str]
    block: Tuple[int, int]
    type: int
    dtype: Optional[str]
    letter: int
    layout: Optional[str]
    batches: Optional[str]
    page: int
    beyond: int


class Signature(NamedTuple):
    """Types, by OpInfo.types; layouts; sizes that are fixed."""
    types: Tuple[str, ...]
    layouts: str
    fixed: Dict[str, int]


class OpInfo(NamedTuple):
    """An op."""
    name: str
    family: str
    file: str
    line: int
    inputs: List[TensorInfo]
    outputs: List[TensorInfo]
    scalars: List[str]
    sizes: List[str]
    types: List[str]
    signatures: List[Signature]
    rows_fold: bool

    @classmethod
    def of(cls, values):
        lists = {"inputs": TensorInfo, "outputs": TensorInfo}
        return cls(**{k: [lists[k](**t) for t in v] if k in lists else
                      [Signature(*s) for s in v] if k == "signatures" else v for k, v in values.items()})


class Device(NamedTuple):
    """A device."""
    name: str
    vendor: str
    target: str
    units: int
    memory: int
    l2: int
    gbps: int
