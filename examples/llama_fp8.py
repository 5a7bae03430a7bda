#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Layers of Llama 3 in fp8 with Kiln's ops, random weights of the true sizes: 8B's and 70B's, prefill of a prompt and decoding
of a batch behind keys in pages, each op beside torch in double precision, and the time of all, one CUDA graph, beside
torch's in bf16.  docs/python.md has how to build what it needs, and what it printed.

    PYTHONPATH=build/python python3 examples/llama_fp8.py                       # a GPU
    PYTHONPATH=build/python torchrun --nproc-per-node 2 examples/llama_fp8.py   # and two GPUs that share each layer
    PYTHONPATH=build/python python3 examples/llama_fp8.py --device host         # tiny sizes on the CPU
"""
import argparse
import contextlib
import sys

import torch
import torch.nn.functional as F

from whole import Kiln, Place, Table, Torch, attended, graphs, in_turn, parser, relative, run

SIZES = {  # hidden, heads, heads of keys and values, feed-forward
    "8b": (4096, 32, 8, 14336), "70b": (8192, 64, 8, 28672), "tiny": (512, 4, 2, 512)}
HEAD, PAGE, BLOCK, EPS, THETA = 128, 16, 128, 1e-5, 500000.0
F8, BF16 = torch.float8_e4m3fn, torch.bfloat16
DEFAULT = ["add_rmsnorm_quant_block", "gemm_a8w8_blockscale", "rope", "rope_cache", "causal_attention", "paged_attention",
           "quantise_block", "silu_mul_quant_block", "rope_cache_fp8"]
OWN = ["paged_attention_fp8"]


# ---- weights ----

class Weights:
    """Of a layer, or of one rank's part of it: heads, and columns of the feed-forward."""

    def __init__(self, size, qkv, o, gate, up, down, n1, n2):
        self.hidden, self.heads, self.kv_heads, self.wide = size
        self.qkv, self.o, self.gate, self.up, self.down, self.n1, self.n2 = qkv, o, gate, up, down, n1, n2

    @classmethod
    def random(cls, place, size):
        hidden, heads, kv_heads, wide = size

        def made(*shape):
            return place.random(*shape, dtype=BF16, scale=shape[1] ** -0.5)
        return cls(size, made((heads + 2 * kv_heads) * HEAD, hidden), made(hidden, heads * HEAD), made(wide, hidden),
                   made(wide, hidden), made(hidden, wide), *((1 + place.random(hidden, scale=0.1)).to(BF16) for _ in "12"))

    def part(self, rank, ranks):
        q, k, v = self.qkv.split([self.heads * HEAD, self.kv_heads * HEAD, self.kv_heads * HEAD])
        qkv = torch.cat([t.chunk(ranks)[rank] for t in (q, k, v)])
        size = self.hidden, self.heads // ranks, self.kv_heads // ranks, self.wide // ranks
        return Weights(size, qkv, self.o.chunk(ranks, 1)[rank], self.gate.chunk(ranks)[rank], self.up.chunk(ranks)[rank],
                       self.down.chunk(ranks, 1)[rank], self.n1, self.n2)


def in_blocks(w):
    """A weight [n, k] in fp8, and a scale for each 128 x 128."""
    blocks = w.float().unflatten(0, (-1, BLOCK)).unflatten(-1, (-1, BLOCK))
    scale = blocks.abs().amax((1, 3)).clamp(min=1e-12) / 448
    return (blocks / scale[:, None, :, None]).to(F8).flatten(2).flatten(0, 1).contiguous(), scale


def spread(x, scale, rows=1):
    """In double precision."""
    return x.double() * scale.double().repeat_interleave(rows, 0).repeat_interleave(BLOCK, 1)


def angles(place, positions):
    turn = positions[:, None].double() / THETA ** (torch.arange(0, HEAD, 2, device=place.device) / HEAD).double()
    return turn.cos().float(), turn.sin().float()


def turned(x, cos, sin):
    """x [..., position, element]"""
    x1, x2 = x.chunk(2, -1)
    return torch.cat([x1 * cos - x2 * sin, x2 * cos + x1 * sin], -1)


# ---- what a step works on ----

class Problem:
    """rows: positions of a prompt, or sequences that decode one each behind `keys` - 1 cached ones."""

    def __init__(self, place, size, rows, keys, decode):
        self.place, self.rows, self.keys, self.decode = place, rows, keys, decode
        self.x, self.h = (place.random(rows, size[0], dtype=BF16) for _ in range(2))
        positions = torch.full((rows,), keys - 1) if decode else torch.arange(rows)
        self.cos, self.sin = angles(place, positions.to(place.device))
        self.sequences = rows if decode else 1
        self.pages = -(-keys // PAGE)
        # As a server finds them free: in any order.  A prompt has neighbouring ones.
        order = torch.randperm if decode else torch.arange
        self.table = order(self.sequences * self.pages).view(self.sequences, -1).to(place.device, torch.int32)
        self.cache = place.random(self.sequences * self.pages, PAGE, 2, size[2], HEAD, dtype=BF16) if decode else \
            torch.zeros(self.pages, PAGE, 2, size[2], HEAD, dtype=BF16, device=place.device)

    def in_one_piece(self):
        """Keys and values [2][sequence, head, position, element]."""
        rows = self.cache[self.table.long()].flatten(1, 2)[:, :self.keys]
        return rows.permute(2, 0, 3, 1, 4).contiguous()


# ---- torch's ----

def torch_layer(x, h, qkv, o, gate_up, down, n1, n2, cos, sin, keys, values, last, heads, decode):
    """Residual and norm first; x and h go in and come out.  keys, values [sequence, head, position, element]: decoding puts
    its own at position `last`, a prompt fills them."""
    h = h + x
    y = F.rms_norm(h, h.shape[-1:], n1, EPS)
    kv_heads = keys.shape[1]
    q, k, v = F.linear(y, qkv).unflatten(-1, (-1, HEAD)).split([heads, kv_heads, kv_heads], 1)
    q, k = (turned(t.transpose(0, 1).float(), cos, sin).to(t.dtype) for t in (q, k))  # [head, row, element]
    v = v.transpose(0, 1)
    if decode:
        keys[:, :, last], values[:, :, last] = (t.transpose(0, 1).unsqueeze(2) for t in (k, v))
        a = F.scaled_dot_product_attention(q.transpose(0, 1).unsqueeze(2), keys, values, enable_gqa=True).squeeze(2)
    else:
        keys.copy_(k.unsqueeze(0)), values.copy_(v.unsqueeze(0))
        a = F.scaled_dot_product_attention(q.unsqueeze(0), k.unsqueeze(0), v.unsqueeze(0), is_causal=True,
                                           enable_gqa=True)[0].transpose(0, 1)
    h = h + F.linear(a.flatten(1), o)
    y = F.rms_norm(h, h.shape[-1:], n2, EPS)
    gate, up = F.linear(y, gate_up).chunk(2, -1)
    return F.linear(F.silu(gate) * up, down), h


def attention_of(place, heads, kv_heads, decode):
    """cuDNN's attention, if it takes these; else what torch chooses."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    if place.host:
        return contextlib.nullcontext, "its CPU attention"
    q, k = (place.random(2, n, 1 if decode else 256, HEAD, dtype=BF16) for n in (heads, kv_heads))
    k = k.expand(-1, -1, 256, -1).contiguous() if decode else k
    try:
        with sdpa_kernel([SDPBackend.CUDNN_ATTENTION]):
            F.scaled_dot_product_attention(q, k, k, is_causal=not decode, enable_gqa=True)
        return lambda: sdpa_kernel([SDPBackend.CUDNN_ATTENTION]), "cuDNN's attention"
    except RuntimeError:
        return contextlib.nullcontext, "its own attention, for cuDNN's refuses"


# ---- Kiln's ----

class Shared:
    """A tensor of each rank's, of[rank], that all ranks of a machine can read: torch's symmetric memory."""

    def __init__(self, place, *shape, dtype):
        from torch.distributed import _symmetric_memory as symmetric
        own = symmetric.empty(*shape, dtype=dtype, device=place.device)
        handle = symmetric.rendezvous(own, torch.distributed.group.WORLD)
        self.of = [own if r == place.rank else handle.get_buffer(r, shape, dtype) for r in range(place.ranks)]
        self.barrier = handle.barrier  # of the ranks' current streams

    @classmethod
    def works(cls, place):
        """Not in every torch, nor between machines or GPUs that have no way to each other."""
        try:
            cls(place, 1, dtype=BF16)
        except (AttributeError, ImportError, RuntimeError):
            return False
        return True


class Layer:
    """A layer's steps, or those of one rank's part of it, whose products over shared dimensions are added up: of a prompt
    each rank adds up, normalises and quantises its own rows, and all gather what products then take, in fp8 ("sequence
    parallel": arXiv 2205.05198); of the few rows of decoding each has all.
    peers: ranks copy rows from each other's memory, beside the product of their own ones; else NCCL moves them.
    fp8: of decoding, keys and values are in fp8, too, with a scale for each head."""

    def __init__(self, problem, weights, shared=False, peers=False, fp8=False):
        p, w, rows, ranks = problem, weights, problem.rows, problem.place.ranks
        self.p, self.w, self.shared, self.fp8 = p, w, shared, fp8
        self.split = shared and not p.decode and rows % ranks == 0
        self.peers = peers and self.split

        def made(*shape, dtype=BF16):
            return torch.zeros(shape, dtype=dtype, device=p.place.device)
        self.x, self.h = made(rows, w.hidden), made(rows, w.hidden)
        self.packed = made(rows, w.hidden + 4 * (w.hidden // BLOCK), dtype=torch.uint8)  # a row and its scales
        if self.peers:
            self.all_x, self.all_packed = (Shared(p.place, *t.shape, dtype=t.dtype) for t in (self.x, self.packed))
            self.x, self.packed = self.all_x.of[p.place.rank], self.all_packed.of[p.place.rank]
            self.parts = made(ranks - 1, rows // ranks, w.hidden)  # others', of sums
            self.order = [(p.place.rank + i) % ranks for i in range(ranks)]
            self.side = torch.cuda.Stream()
        self.y, self.y_scale = self.packed[:, :w.hidden].view(F8), self.packed[:, w.hidden:].view(torch.float32)
        self.qkv = made(rows, (w.heads + 2 * w.kv_heads) * HEAD)
        self.a, self.lse = made(rows, w.heads, HEAD), made(w.heads, rows, dtype=torch.float32)
        self.q, self.q_scale = made(rows, w.heads * HEAD, dtype=F8), made(rows, w.heads, dtype=torch.float32)
        self.gu = made(rows, 2 * w.wide)
        self.f, self.f_scale = made(rows, w.wide, dtype=F8), made(rows, w.wide // BLOCK, dtype=torch.float32)
        self.qkv8, self.o8, self.down8 = in_blocks(w.qkv), in_blocks(w.o), in_blocks(w.down)
        self.gu8 = in_blocks(torch.cat([w.gate, w.up]))
        self.cache = p.cache.chunk(p.place.ranks, 3)[p.place.rank].contiguous() if shared else p.cache
        if fp8:  # some room for what comes
            self.kv_scale = (1.25 * self.cache.abs().amax((0, 1, 4)).float() / 448).contiguous()  # [2, head]
            self.cache = (self.cache / self.kv_scale[:, :, None]).to(F8)
        self.steps = [
            *self.normed_steps(w.n1, p.x, p.h, self.qkv8, self.qkv),
            *(self.decode_steps() if p.decode else self.prefill_steps()), self.quantise_step(),
            *self.added_steps(self.q, self.q_scale, self.o8),
            *self.normed_steps(w.n2, self.x, self.h, self.gu8, self.gu), self.gated_step(),
            *self.added_steps(self.f, self.f_scale, self.down8)]

    def run(self):
        run(self.steps)

    def rows(self, rank, x):
        """Those that a rank adds up."""
        return x.chunk(self.p.place.ranks)[rank] if self.split else x

    def own(self, x):
        return self.rows(self.p.place.rank, x)

    def result(self):
        """All rows of what comes out."""
        whole = self.x + self.h
        if self.split:
            torch.distributed.all_gather_into_tensor(whole, self.own(whole).clone())
        return whole

    def normed_steps(self, weight, x, residual, b, e):
        """h = x + residual, of own rows; e = norm(h) times b, of all."""
        norm = self.norm_step(weight, *map(self.own, (x, residual, self.h, self.y, self.y_scale)))
        if self.peers:
            own, *others = self.product_steps(self.y, self.y_scale, b, e)
            copies = [(self.rows(r, self.packed), self.rows(r, self.all_packed.of[r])) for r in self.order[1:]]
            return [norm, *self.copy_steps(copies, own), *others]
        product = self.product_step(self.y, self.y_scale, b, e)
        gather = Torch("all_gather", lambda: torch.distributed.all_gather_into_tensor(self.packed, self.own(self.packed)))
        return [norm, *([gather] if self.split else []), product]

    def added_steps(self, a, a_scale, b):
        """x = a times b, added up over ranks: own rows, or of decoding all."""
        def add():
            for part in self.parts:
                self.own(self.x).add_(part)
        if self.peers:
            own, *others = self.product_steps(a, a_scale, b, self.x)
            copies = [(part, self.own(self.all_x.of[r])) for part, r in zip(self.parts, self.order[1:])]
            return [*others, *self.copy_steps(copies, own), Torch("add", add)]
        product = self.product_step(a, a_scale, b, self.x)
        if self.split:
            return [product, Torch("reduce_scatter", lambda: torch.distributed.reduce_scatter_tensor(self.own(self.x), self.x))]
        return [product, *([Torch("all_reduce", lambda: torch.distributed.all_reduce(self.x))] if self.shared else [])]

    def product_steps(self, a, a_scale, b, e):
        """Of each rank's rows by themselves, own ones first."""
        return [self.product_step(self.rows(r, a), self.rows(r, a_scale), b, self.rows(r, e)) for r in self.order]

    def copy_steps(self, copies, beside):
        """Copies of what other ranks have when all are here, beside a step; to be through before ranks meet again, which they
        do before any writes anew what others copy."""
        def start():
            self.all_x.barrier()
            self.side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(self.side):
                for to, rows in copies:
                    to.copy_(rows)
        return [Torch("copies", start), beside, Torch("copied", lambda: torch.cuda.current_stream().wait_stream(self.side))]

    @staticmethod
    def norm_step(weight, x, residual, total_of, y_of, scale_of):
        def want():
            total = (x.double() + residual.double()).to(BF16).double()
            y = total * (total.square().mean(-1, keepdim=True) + EPS).rsqrt() * weight.double()
            return {"sum": total, "y": y, "scale": y.unflatten(-1, (-1, BLOCK)).abs().amax(-1) / 448}
        return Kiln("add_rmsnorm_quant_block", {"x": x, "residual": residual, "weight": weight, "eps": EPS},
                    {"sum": total_of, "y": y_of, "scale": scale_of}, want,
                    {"sum": 4e-3, "y": 0.04, "scale": 1e-5}, {"y": "scale"})

    @staticmethod
    def product_step(a, a_scale, b, e):
        weight, scale = b
        return Kiln("gemm_a8w8_blockscale", {"a": a, "b": weight.t(), "a_scale": a_scale, "b_scale": scale.t()}, {"e": e},
                    lambda: {"e": spread(a, a_scale) @ spread(weight, scale, BLOCK).t()}, 8e-3)

    @staticmethod
    def halves(x):
        """Both [head, row, half of the elements]; x: [row, head, element], or a row's heads as one dimension."""
        whole = x.unflatten(-1, (-1, HEAD)).transpose(0, 1) if x.dim() == 2 else x.transpose(0, 1)
        return whole[..., :HEAD // 2], whole[..., HEAD // 2:]

    def turn_step(self, x):
        """In place."""
        x1, x2 = self.halves(x)

        def want():
            y1, y2 = turned(torch.cat([x1, x2], -1).double(), self.p.cos.double(), self.p.sin.double()).chunk(2, -1)
            return {"y1": y1, "y2": y2}
        return Kiln("rope", {"x1": x1, "x2": x2, "cos": self.p.cos, "sin": self.p.sin}, {"y1": x1, "y2": x2}, want, 4e-3)

    def cache_step(self, k, v, to):
        """Keys turn on their way; to [position, 2, head, element]."""
        (k1, k2), (v1, v2) = self.halves(k), self.halves(v)
        (to_k1, to_k2), (to_v1, to_v2) = self.halves(to[:, 0]), self.halves(to[:, 1])
        given = {"k1": k1, "k2": k2, "v1": v1, "v2": v2, "cos": self.p.cos, "sin": self.p.sin}
        k_scale = v_scale = 1.0
        if self.fp8:
            given.update(k_scale=self.kv_scale[0], v_scale=self.kv_scale[1])
            k_scale, v_scale = self.kv_scale.double()[:, :, None, None]

        def want():
            keys = turned(torch.cat([k1, k2], -1).double(), self.p.cos.double(), self.p.sin.double()) / k_scale
            values = torch.cat([v1, v2], -1).double() / v_scale
            if self.fp8:
                keys, values = keys.clamp(-448, 448), values.clamp(-448, 448)
            return dict(zip(("to_k1", "to_k2", "to_v1", "to_v2"), (*keys.chunk(2, -1), *values.chunk(2, -1))))
        return Kiln("rope_cache_fp8" if self.fp8 else "rope_cache", given,
                    {"to_k1": to_k1, "to_k2": to_k2, "to_v1": to_v1, "to_v2": to_v2}, want, 0.063 if self.fp8 else 4e-3)

    def prefill_steps(self):
        """Queries turn where they lie, keys on their way into the cache, whose pages a prompt finds side by side."""
        p, w = self.p, self.w
        q, k, v = self.qkv.split([w.heads * HEAD, w.kv_heads * HEAD, w.kv_heads * HEAD], 1)
        place = self.cache.flatten(0, 1)[:p.rows]
        heads = q.unflatten(-1, (-1, HEAD)).transpose(0, 1)
        keys, values = place[:, 0].transpose(0, 1), place[:, 1].transpose(0, 1)
        return [self.turn_step(q), self.cache_step(k, v, place),
                Kiln("causal_attention", {"q": heads, "k": keys, "v": values, "scale": HEAD ** -0.5},
                     {"o": self.a.transpose(0, 1), "lse": self.lse},
                     lambda: attended(heads, keys, values, HEAD ** -0.5), 8e-3)]

    def decode_steps(self):
        """Queries and keys turn where they lie, or keys on their way into fp8; torch puts the new keys and values into their
        pages."""
        p, w = self.p, self.w
        flat, k, v = self.qkv.split([w.heads * HEAD, w.kv_heads * HEAD, w.kv_heads * HEAD], 1)
        q = flat.unflatten(-1, (-1, HEAD)).transpose(0, 1)
        pages, new, scales = self.cache, self.qkv[:, w.heads * HEAD:], {}
        turning = [self.turn_step(self.qkv[:, :(w.heads + w.kv_heads) * HEAD])]
        if self.fp8:
            new = torch.zeros(p.rows, 2, w.kv_heads, HEAD, dtype=F8, device=p.place.device)
            turning = [self.turn_step(flat), self.cache_step(k, v, new)]
            scales = {"k_scale": self.kv_scale[0], "v_scale": self.kv_scale[1]}
            new = new.flatten(1).view(torch.uint8)
        rows = pages.view(-1, 2 * w.kv_heads * HEAD).view(new.dtype)
        last = p.keys - 1
        slots = p.table[:, last // PAGE].long() * PAGE + last % PAGE
        length = torch.full((p.rows,), p.keys, dtype=torch.int32, device=p.place.device)
        begin = torch.arange(p.rows + 1, dtype=torch.int32, device=p.place.device)

        def want():
            o, lse = torch.empty(w.heads, p.rows, HEAD, dtype=torch.float64, device=q.device), self.lse.double()
            for i in range(p.rows):
                k, v = pages[p.table[i].long()].flatten(0, 1)[:p.keys].permute(1, 2, 0, 3).double()
                if self.fp8:
                    k, v = k * self.kv_scale[0, :, None, None], v * self.kv_scale[1, :, None, None]
                one = attended(q[:, i:i + 1], k, v, HEAD ** -0.5)
                o[:, i:i + 1], lse[:, i:i + 1] = one["o"], one["lse"]
            return {"o": o, "lse": lse}
        return [*turning, Torch("index_copy_", lambda: rows.index_copy_(0, slots, new)),
                Kiln("paged_attention_fp8" if self.fp8 else "paged_attention",
                     {"q": q, "k": pages[:, :, 0].transpose(1, 2), "v": pages[:, :, 1].transpose(1, 2), "kv_length": length,
                      "kv_pages": p.table, "q_begin": begin, "scale": HEAD ** -0.5, **scales},
                     {"o": self.a.transpose(0, 1), "lse": self.lse}, want, 8e-3)]

    def quantise_step(self):
        flat = self.a.flatten(1)

        def want():
            return {"y": flat, "scale": flat.double().unflatten(-1, (-1, BLOCK)).abs().amax(-1) / 448}
        return Kiln("quantise_block", {"x": flat}, {"y": self.q, "scale": self.q_scale}, want, {"y": 0.04, "scale": 1e-5},
                    {"y": "scale"})

    def gated_step(self):
        gate, up = self.gu.chunk(2, 1)

        def want():
            y = F.silu(gate.double()) * up.double()
            return {"y": y, "scale": y.unflatten(-1, (-1, BLOCK)).abs().amax(-1) / 448}
        return Kiln("silu_mul_quant_block", {"gate": gate, "up": up}, {"y": self.f, "scale": self.f_scale}, want,
                    {"y": 0.04, "scale": 1e-5}, {"y": "scale"})


# ---- what is shown ----

def one_problem(place, table, model, phase, weights, options):
    """A layer of a model in one phase: ops beside torch, then the time of all."""
    size, decode = SIZES[model], phase == "decode"
    rows = options.batch if decode else options.tokens
    p = Problem(place, size, rows, options.keys if decode else rows, decode)
    what = f"Llama-3-{model.upper()}, a layer, " + (f"decode, {rows} x {p.keys} keys" if decode else f"prefill, {rows} tokens")
    keys, values = p.in_one_piece()
    given = [p.x, p.h, weights.qkv, weights.o, torch.cat([weights.gate, weights.up]), weights.down, weights.n1, weights.n2,
             p.cos, p.sin, keys, values, torch.tensor([p.keys - 1], device=place.device), size[1], decode]
    attention, whose = attention_of(place, size[1], size[2], decode)
    baseline = f"torch, bf16, {'torch.compile, ' if options.compile else ''}{whose}"
    function = torch.compile(torch_layer, dynamic=False) if options.compile else torch_layer
    layers, beside = {"Kiln, fp8": Layer(p, weights)}, {}
    table.check(what, layers["Kiln, fp8"].steps, options.ops)
    if decode:
        layers["Kiln, fp8, keys and values, too"] = layer = Layer(p, weights, fp8=True)
        table.check(what, layer.steps, options.ops, {"rope_cache_fp8", "paged_attention_fp8"})
    if place.ranks > 1:
        part = weights.part(place.rank, place.ranks)
        for name, one in list(layers.items()):
            several = f"{name}, {place.ranks} {'processes' if place.host else 'GPUs'}"
            layers[several], beside[several] = Layer(p, part, shared=True, peers=options.peers, fp8=one.fp8), name
    with attention():
        times = in_turn(place, graphs(place, {baseline: lambda: function(*given),
                                              **{n: one.run for n, one in layers.items()}}))
        want = sum(function(*given))
    errors = {n: relative(one.result(), want if n not in beside else layers[beside[n]].result())  # of the last replay
              for n, one in layers.items()}
    for n, ms in times.items():
        table.add(f"{what}: {n}", ms, times[baseline] / ms, errors.get(n), 0.1 if n in errors else None)
    for several, name in beside.items():
        table.add(f"{what}: {several}, beside one", None, times[name] / times[several])


def some_of(*names):
    """The type of an option: names with ',' between."""
    def split(text):
        if set(text.split(",")) - set(names):
            raise argparse.ArgumentTypeError(f"'{text}' is not of {', '.join(names)}")
        return text.split(",")
    return split


def main():
    options = parser(__doc__)
    options.add_argument("--model", type=some_of(*SIZES),
                         help="8b, 70b, tiny, or several with ',' between (default: 8b,70b; tiny on the host)")
    options.add_argument("--phase", type=some_of("prefill", "decode"), default=["prefill", "decode"],
                         help="prefill or decode (default: both)")
    options.add_argument("--tokens", type=int, help="of the prompt (default: 4096, 48 on the host)")
    options.add_argument("--batch", type=int, help="sequences that decode (default: 64, 3 on the host)")
    options.add_argument("--keys", type=int, help="of each sequence, its new one among them (default: 4096, 40 on the host)")
    options.add_argument("--no-peers", dest="peers", action="store_false",
                         help="several GPUs leave a prompt's rows to NCCL, where they would copy them from each other's memory")
    options = options.parse_args()
    place = Place(options.device, options.modules)
    for name, there, here in (("tokens", 4096, 48), ("batch", 64, 3), ("keys", 4096, 40)):
        setattr(options, name, getattr(options, name) or (here if place.host else there))
    options.compile = options.compile and not place.host
    place.require(DEFAULT, OWN)
    options.peers = options.peers and place.ranks > 1 and Shared.works(place)
    table = Table(place)
    moves = "copies of each other's memory" if options.peers else "reduce_scatter and all_gather"
    place.say("random weights and activations; weights in fp8 with a scale for each 128 x 128, activations with one for each "
              "128 of a row\n"
              "steps: residual, RMSNorm and quantisation; q, k and v; RoPE and cache; attention; quantisation; output "
              "projection; residual, RMSNorm and quantisation; gate and up; SwiGLU and quantisation; down\n"
              "left to torch: of decoding, writing keys and values into their pages (index_copy_: rows of an op's output lie "
              f"at one stride){f'; between GPUs sums (all_reduce), of prompts {moves}' if place.ranks > 1 else ''}\n"
              "torch has keys and values in one piece, Kiln in pages of 16, of decoding in any order"
              f"{'' if place.host else '; each step is one CUDA graph'}\n"
              "errors: of ops the largest difference over the largest magnitude, of fp8 with its scale; of layers "
              "|x - torch's bf16| / |torch's bf16|; of several GPUs beside one")
    with torch.no_grad():
        for model in options.model or (["tiny"] if place.host else ["8b", "70b"]):
            weights = Weights.random(place, SIZES[model])
            for phase in options.phase:
                one_problem(place, table, model, phase, weights, options)
    failed = table.print()
    place.finish()
    return failed


if __name__ == "__main__":
    sys.exit(main())
