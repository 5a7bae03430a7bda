# SPDX-License-Identifier: MIT
"""Kiln's ops as torch's own: torch.ops.kiln.NAME(inputs..., scalars..., *, sizes, dtype=None) gives what the op computes,
torch.ops.kiln.NAME.into(..., outputs) writes it where it is told.  Both have shapes for fake tensors, so that torch.compile
takes them, and launch on torch's current stream, so that CUDA graphs do.  No gradients.

Below: drop-ins of SmoothQuant's int8 layers, by the names of its Composable Kernel extension and of torch-int, and of
attention, by those of xFormers and FlashAttention-2.
"""
import math

import torch
from torch import library

from . import _kiln, describe, ops

_library = library.Library("kiln", "DEF")
_registered = set()
_infos = {}  # of the modules that are open now


# ---- registration ----

def _tags():
    """Strides are part of what an op was compiled for: they reach it as they were traced."""
    found = [getattr(torch.Tag, n, None) for n in ("pt2_compliant_tag", "needs_exact_strides")]
    if found[1] is None:
        found[1] = getattr(torch.Tag, "needs_fixed_stride_order", None)
    return tuple(t for t in found if t is not None)


def _schema(info, into):
    given = [f"Tensor {t.name}" for t in info.inputs] + [f"float {s}" for s in info.scalars]
    named = [f"SymInt {s}" for s in info.sizes]
    if into:
        named += [f"Tensor({chr(97 + i)}!) {t.name}" for i, t in enumerate(info.outputs)]
        result = "()"
    else:
        named.append("ScalarType? dtype=None")
        result = "Tensor" if len(info.outputs) == 1 else f"({', '.join(['Tensor'] * len(info.outputs))})"
    return f"{info.name}{'.into' if into else ''}({', '.join(given + ['*'] + named if named else given)}) -> {result}"


def _functions(info):
    name, several, op = info.name, len(info.outputs) > 1, getattr(ops, info.name)

    def into(*given, **named):
        op(*given, **named)

    def shapes(*given, dtype=None, **sizes):
        made = _Shapes(_info(name), given, sizes, dtype).outputs()
        return tuple(made) if several else made[0]

    def nothing(*given, **named):  # pylint: disable=unused-argument
        return None

    return op, into, shapes, nothing


def _info(name):
    if name not in _infos:
        _infos[name] = describe(name, "host")
    return _infos[name]


def register():
    """Registers ops that are not yet: kiln.load and kiln.build call it.  An op whose arguments change needs a new process."""
    _infos.clear()
    for name in _kiln.ops("host"):
        if name in _registered:
            continue
        info = _info(name)
        compute, into, shapes, nothing = _functions(info)
        for function, fake, is_into in ((compute, shapes, False), (into, nothing, True)):
            _library.define(_schema(info, is_into), tags=_tags())
            full = name + (".into" if is_into else "")
            for key in ("CPU", "CUDA"):
                _library.impl(full, function, key)
            library.register_fake("kiln::" + full, fake, lib=_library)
        _registered.add(name)


# ---- what an op gives, of tensors that have no memory ----

def _torch_type(name):
    return getattr(torch, _kiln.dtype_name(name))


class _Shapes:
    """The rules of src/shapes.c for tensors whose sizes may be symbols: what is right is not checked here."""

    def __init__(self, info, given, sizes, dtype):
        self.info, self.dtype = info, dtype
        self.tensors = list(zip(info.inputs, given))
        self.sizes = dict(sizes)
        self.batch = ()
        self.packs = False  # bytes stand for elements of 4 bits: no signature has the types given as they are
        self.first = self._first()
        if self.first is None:
            self.packs = True
            self.first = self._first()
        self._read()
        self.signature = self._choose()

    @staticmethod
    def _core(t):
        return [d for d in (t.planes, t.rows, t.cols) if d]

    def _read(self):
        whole = [(t, x) for t, x in self.tensors if t.rows and t.cols and t.batches == "batch"]
        most = max((x.dim() - len(self._core(t)) for t, x in whole), default=0)
        for t, x in sorted(self.tensors, key=lambda p: p[0].block != (1, 1)):
            core, shape = self._core(t), list(x.shape)
            if t.batches == "batch" and len(shape) - len(core) > most:  # dimensions that it has not are there as 1
                shape = [n for i, n in enumerate(shape) if len(shape) - i > 2 or (t.rows, t.cols)[i - len(shape)]]
            own = shape[len(shape) - len(core):]
            packed = (t.cols if "r" in self._layouts(x) else t.rows) if self._packed(t) else None
            for size, n in zip(core, own) if t.block == (1, 1) else ():
                if size != packed and not (t.page and size == t.rows):
                    self.sizes.setdefault(size, n - t.beyond if size == t.rows else n)
            if t.batches == "batch":
                self._add_batch(shape[:len(shape) - len(core)])
        if "batch" in self.sizes and not self.batch:  # told by an array with an element for each
            self.batch = (self.sizes["batch"],)

    def _add_batch(self, batch):
        if len(batch) > len(self.batch):
            batch, self.batch = list(self.batch), tuple(batch)
        start = len(self.batch) - len(batch)
        merged = list(self.batch)
        for i, n in enumerate(batch):
            if isinstance(merged[start + i], int) and merged[start + i] == 1:
                merged[start + i] = n
        self.batch = tuple(merged)

    def _packed(self, t):
        return (t.dtype if t.type < 0 else self.first and self.first.types[t.type]) in ("i4", "u4")

    def _serves(self, t, x, signature):
        if t.type < 0:
            return True
        wanted = signature.types[t.type]
        if wanted in ("i4", "u4"):
            return self.packs and x.dtype in (torch.uint8, torch.int8)
        return x.dtype is _torch_type(wanted)

    def _first(self):
        return next((s for s in self.info.signatures if all(self._serves(t, x, s) for t, x in self.tensors)), None)

    @staticmethod
    def _layouts(x):
        if x.dim() < 2:
            return "rc"
        return ("r" if x.stride(-1) == 1 or x.shape[-1] == 1 else "") + ("c" if x.stride(-2) == 1 or x.shape[-2] == 1 else "")

    def _fits(self, signature):
        fits = all(self._serves(t, x, signature) and (t.letter < 0 or signature.layouts[t.letter] in self._layouts(x))
                   for t, x in self.tensors)
        return fits and all(self.sizes[k] == n for k, n in signature.fixed.items()) and all(
            self.dtype is None or t.type < 0 or _torch_type(signature.types[t.type]) is self.dtype
            for t in self.info.outputs)

    def _choose(self):
        first = self.tensors[0][1].dtype

        def better(signature):
            alike = sum(t.type >= 0 and _torch_type(signature.types[t.type]) is first for t in self.info.outputs)
            columns = sum(t.letter >= 0 and signature.layouts[t.letter] == "c" for t in self.info.outputs)
            return -alike, columns

        return min(filter(self._fits, self.info.signatures), key=better, default=None)

    def outputs(self):
        if self.signature is None:
            kinds = ", ".join(f"{t.name} {x.dtype}" for t, x in self.tensors)
            raise _kiln.NotFoundError(f"'{self.info.name}' is not described for these types and layouts: {kinds}")
        made = []
        for t in self.info.outputs:
            block = dict(zip((t.rows, t.cols), t.block)) if t.rows != t.cols else {}
            shape = [*self.batch] if t.batches == "batch" else []
            for size in self._core(t):
                n, by = self.sizes[size], block.get(size, 1)
                shape.append(n if by == 1 else (n + by - 1) // by)
            kind = _torch_type(self.signature.types[t.type] if t.type >= 0 else t.dtype)
            like = self.tensors[0][1]
            if t.letter >= 0 and self.signature.layouts[t.letter] == "c":
                shape[-1], shape[-2] = shape[-2], shape[-1]
                made.append(like.new_empty(shape, dtype=kind).transpose(-1, -2))
            else:
                made.append(like.new_empty(shape, dtype=kind))
        return made


register()


# ---- SmoothQuant's int8 layers: x [..., K], w [N, K], bias [N]; a [B, M, K], b [B, N, K] ----

def linear_ab_i8_de_f32(x, w, bias, alpha, beta):
    """alpha * x·w' + beta * bias in f32; x and w int8, bias f32."""
    return torch.ops.kiln.linear_ab_i8_de_f32(x, w.t(), bias.reshape(-1), alpha, beta)


def linear_abde_i8(x, w, bias, alpha, beta):
    """alpha * x·w' + beta * bias, all int8, to nearest even, saturated."""
    return torch.ops.kiln.linear_abde_i8(x, w.t(), bias.reshape(-1), alpha, beta)


def linear_relu_abde_i8(x, w, bias, alpha, beta):
    """relu(alpha * x·w' + beta * bias), all int8."""
    return torch.ops.kiln.linear_relu_abde_i8(x, w.t(), bias.reshape(-1), alpha, beta)


def bmm_abe_i8(a, b, alpha):
    """alpha * a·b' of each batch, all int8."""
    return torch.ops.kiln.bmm_abe_i8(a, b.transpose(-1, -2), alpha)


def bmm_ab_i8_e_f32(a, b, alpha):
    """alpha * a·b' of each batch in f32; a and b int8."""
    return torch.ops.kiln.bmm_ab_i8_e_f32(a, b.transpose(-1, -2), alpha)


# By torch-int's names.
linear_a8_w8_bfp32_ofp32 = linear_ab_i8_de_f32
linear_a8_w8_b8_o8 = linear_abde_i8
linear_relu_a8_w8_b8_o8 = linear_relu_abde_i8
bmm_s8t_s8n_s8t = bmm_abe_i8
bmm_s8t_s8n_f32t = bmm_ab_i8_e_f32


# ---- attention: [batch, position, head, element] ----

def _refuse(function, what):
    raise NotImplementedError(f"{function}: {what}")


def _attend(op, q, k, v, *extra, lse=False, **sizes):
    """An op on heads that are interleaved, as its result is."""
    batch, positions, heads = q.shape[0], q.shape[1], q.shape[2]
    o = q.new_empty((batch, positions, heads, v.shape[3]))
    more = {"lse": q.new_empty((batch, heads, positions), dtype=torch.float32)} if lse else {}
    op.into(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), *extra, **sizes, o=o.transpose(1, 2), **more)
    return o


def _is_default(scale, q):
    return scale is None or math.isclose(scale, q.shape[-1] ** -0.5, rel_tol=1e-6)


def _full(function, q, k, v, scale):
    if _is_default(scale, q):
        return _attend(torch.ops.kiln.attention, q, k, v, lse=True)
    return _refuse(function, f"scale={scale} without a mask: op 'attention' divides by the root of a head's size")


def memory_efficient_attention(query, key, value, attn_bias=None, p=0.0, scale=None, *, op=None, output_dtype=None):
    """xFormers' function: [B, M, H, K], or [B, M, K] of one head; attn_bias None, a tensor [B, H, M, Mk], LowerTriangularMask
    of as many keys as queries, LowerTriangularFromBottomRightMask, LocalAttentionFromBottomRightMask that looks back."""
    name = "memory_efficient_attention"
    if query.dim() == 3:
        given = attn_bias.unsqueeze(1) if isinstance(attn_bias, torch.Tensor) and attn_bias.dim() == 3 else attn_bias
        return memory_efficient_attention(query.unsqueeze(2), key.unsqueeze(2), value.unsqueeze(2), given, p, scale, op=op,
                                          output_dtype=output_dtype).squeeze(2)
    if query.dim() != 4:
        _refuse(name, f"a query of {query.dim()} dimensions: [B, M, H, K] is taken")
    if p:
        _refuse(name, f"p={p}: there is no dropout")
    if op is not None:
        _refuse(name, "op=: Kiln chooses the kernel")
    if output_dtype not in (None, query.dtype):
        _refuse(name, f"output_dtype={output_dtype}: the result is of the query's type")
    factor = query.shape[-1] ** -0.5 if scale is None else scale
    if attn_bias is None:
        return _full(name, query, key, value, scale)
    if isinstance(attn_bias, torch.Tensor):
        shape = (query.shape[0], query.shape[2], query.shape[1], key.shape[1])
        return _attend(torch.ops.kiln.bias_attention, query, key, value, attn_bias.expand(shape), factor)
    kind = type(attn_bias).__name__
    if kind == "LowerTriangularMask" and query.shape[1] != key.shape[1]:
        _refuse(name, "LowerTriangularMask of other numbers of queries than keys: Kiln's mask ends at the last key, as "
                      "LowerTriangularFromBottomRightMask does")
    if kind in ("LowerTriangularMask", "LowerTriangularFromBottomRightMask"):
        return _attend(torch.ops.kiln.causal_attention, query, key, value, factor, lse=True)
    if kind == "LocalAttentionFromBottomRightMask" and attn_bias.window_right == 0:
        return _attend(torch.ops.kiln.window_attention, query, key, value, factor, window=attn_bias.window_left + 1)
    return _refuse(name, f"attn_bias of type {kind}")


def flash_attn_func(q, k, v, dropout_p=0.0, softmax_scale=None, causal=False, window_size=(-1, -1), softcap=0.0,
                    alibi_slopes=None, deterministic=False, return_attn_probs=False):
    """FlashAttention-2's function: [B, S, H, D]; with causal one of a window that looks back, softcap, slopes of heads [H]."""
    name = "flash_attn_func"
    del deterministic  # every kernel is
    if dropout_p:
        _refuse(name, f"dropout_p={dropout_p}: there is no dropout")
    if return_attn_probs:
        _refuse(name, "return_attn_probs: probabilities are never in memory")
    left, right = window_size
    if left >= 0 and right != 0 and not causal or left < 0 <= right and not causal:
        _refuse(name, f"window_size={tuple(window_size)}: a window looks back from the query")
    windowed, masked = left >= 0, causal or right == 0
    asked = [n for n, on in (("window_size", windowed), ("softcap", softcap), ("alibi_slopes", alibi_slopes is not None)) if on]
    if len(asked) > 1:
        _refuse(name, f"{' with '.join(asked)}: no op has both; describe one (docs/attention.md)")
    if asked and not masked:
        _refuse(name, f"{asked[0]} without causal=True: no op has it; describe one (docs/attention.md)")
    scale = q.shape[-1] ** -0.5 if softmax_scale is None else softmax_scale
    if windowed:
        return _attend(torch.ops.kiln.window_attention, q, k, v, scale, window=left + 1)
    if softcap:
        return _attend(torch.ops.kiln.capped_attention, q, k, v, scale, softcap)
    if alibi_slopes is not None:
        return _attend(torch.ops.kiln.alibi_attention, q, k, v, alibi_slopes, scale)
    if masked:
        return _attend(torch.ops.kiln.causal_attention, q, k, v, scale, lse=True)
    return _full(name, q, k, v, softmax_scale)
