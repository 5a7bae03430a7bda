#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Causal attention over sequences of different lengths, one behind the other, beside what torch has for that.

  tests/bench/ragged_peers.py                 32 sequences of 100 to 8000 positions, drawn with seeds 1, 2 and 3
  tests/bench/ragged_peers.py --alike 4096    and with all of one length

Kiln is the op ragged_attention by its Python package (`make python`, PYTHONPATH=build/python); the modules are
KILN_MODULE_PATH's.  The protocol is peers.py's, Kiln one of those that are replayed in turn.  Peers: FlashAttention and
cuDNN by torch's own functions that take where sequences begin, and by nested tensors; where one does not take fewer
heads of K and V than of Q, these are repeated ahead of time.  torch's call of cuDNN plans anew each time and can be
captured in no graph: its time is that of its kernels alone.  What is not there is named.  Results are checked in double
precision: the last 64 queries of two heads of the first, the longest and the last sequence.  Exit codes: 0 done; 1 a
result is wrong; 77 no GPU."""
import argparse
import csv
import math
import random
import sys

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

import kiln
import peers


class Problem:
    """lengths: of sequences; what they begin at is on the device."""

    def __init__(self, name, lengths, heads, kv_heads, size):
        self.lengths, self.heads, self.kv_heads, self.size = lengths, heads, kv_heads, size
        self.rows, self.longest = sum(lengths), max(lengths)
        self.text = "%s: %d sequences, %d rows, %d/%d heads of %d" % (name, len(lengths), self.rows, heads, kv_heads,
                                                                      size)
        self.begin = [sum(lengths[:i]) for i in range(len(lengths) + 1)]
        self.begins = torch.tensor(self.begin, dtype=torch.int32, device="cuda")

    def bytes(self):
        return 4 * self.rows * self.size * (self.heads + self.kv_heads)

    def operations(self):
        return sum(2 * n * (n + 1) * self.heads * self.size for n in self.lengths)

    def inputs(self, generator):
        """[row, head, element] in memory."""
        def made(heads):
            x = torch.randn((self.rows, heads, self.size), device="cuda", generator=generator, dtype=torch.float32)
            return x.to(torch.bfloat16)
        return [made(self.heads), made(self.kv_heads), made(self.kv_heads)]


def repeated(p, f):
    """f of K and V that have as many heads as Q; copies are made once for each."""
    copies = {}

    def copy(x):
        if x.data_ptr() not in copies:
            copies[x.data_ptr()] = x.repeat_interleave(p.heads // p.kv_heads, dim=1)
        return copies[x.data_ptr()]
    def attend(q, k, v):
        return f(q, copy(k), copy(v))
    attend.eager = getattr(f, "eager", False)
    return attend


def by_kiln(p):
    op, scale = kiln.ops.ragged_attention, 1 / math.sqrt(p.size)
    begins = p.begins

    def attend(q, k, v):
        o = torch.empty_like(q)
        op(*(x.transpose(0, 1) for x in (q, k, v)), q_begin=begins, kv_begin=begins, scale=scale,
           out={"o": o.transpose(0, 1)})
        return o
    return attend


def by_flash(p):
    def attend(q, k, v):
        return torch.ops.aten._flash_attention_forward(q, k, v, p.begins, p.begins, p.longest, p.longest, 0.0, True,
                                                       False)[0]
    return attend


def by_cudnn(p):
    def attend(q, k, v):
        return torch.ops.aten._cudnn_attention_forward(q, k, v, None, p.begins, p.begins, p.longest, p.longest, True,
                                                       0.0, True, False)[0]
    attend.eager = True
    return attend


def by_nested(p, backend):
    begins = p.begins.to(torch.int64)

    def nested(x):
        return torch.nested.nested_tensor_from_jagged(x, begins, min_seqlen=min(p.lengths),
                                                      max_seqlen=p.longest).transpose(1, 2)

    def attend(q, k, v):
        with sdpa_kernel(backend):
            y = F.scaled_dot_product_attention(nested(q), nested(k), nested(v), is_causal=True,
                                               enable_gqa=q.shape[1] != k.shape[1])
        return y.transpose(1, 2).values()
    attend.eager = backend == SDPBackend.CUDNN_ATTENTION
    return attend


WAYS = {
    "flash": by_flash, "cudnn": by_cudnn,
    "nested flash": lambda p: by_nested(p, SDPBackend.FLASH_ATTENTION),
    "nested cudnn": lambda p: by_nested(p, SDPBackend.CUDNN_ATTENTION),
}


def check(p, got, inputs, queries=64):
    """The largest share of what is allowed that an element is off by."""
    worst = 0.0
    for i in {0, p.lengths.index(p.longest), len(p.lengths) - 1}:
        rows = slice(p.begin[i], p.begin[i + 1])
        for head in (0, p.heads - 1):
            shared = head * p.kv_heads // p.heads
            q, k, v = (x[rows, h].double() for x, h in zip(inputs, (head, shared, shared)))
            q, place = q[-queries:], torch.arange(p.lengths[i], device=q.device)
            scores = q @ k.T / math.sqrt(p.size)
            weights = torch.softmax(scores.masked_fill(place[None, :] > place[-queries:, None], -math.inf), -1)
            allowed = 2.0**-6 * (weights @ v.abs()) + 1e-6
            off = ((got[rows, head][-queries:].double() - weights @ v).abs() / allowed).max().item()
            worst = max(worst, math.inf if math.isnan(off) else off)
    return worst


def ways_of(p, generator, notes):
    """What runs at all, with K and V repeated where it must be."""
    tried = p.inputs(generator)
    found = {"kiln": lambda: by_kiln(p)}
    for name, way in WAYS.items():
        for repeats in (False, True):
            try:
                f = repeated(p, way(p)) if repeats else way(p)
                f(*tried)
                torch.cuda.synchronize()
                found[name + (", repeated" if repeats else "")] = lambda f=f: f
                break
            except Exception as e:  # pylint: disable=broad-except
                why = (str(e).splitlines() or [type(e).__name__])[0][:160]
                notes.append("%s%s: %s" % (name, ", repeated" if repeats else "", why))
    return found


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--sequences", type=int, default=32)
    a.add_argument("--from", type=int, default=100, dest="least")
    a.add_argument("--to", type=int, default=8000)
    a.add_argument("--seeds", type=int, nargs="*", default=[1, 2, 3], help="of lengths")
    a.add_argument("--alike", type=int, nargs="*", default=[], help="lengths that all sequences have")
    a.add_argument("--heads", type=int, nargs=2, default=[32, 8], help="of Q, of K and V")
    a.add_argument("--seconds", type=float, default=0.25, help="for each peer of a problem; default %(default)s")
    a.add_argument("--csv", help="where the table goes; default standard output")
    args = a.parse_args()
    if not torch.cuda.is_available():
        print("ragged_peers: torch finds no GPU", file=sys.stderr)
        return 77
    lengths = {}
    for seed in args.seeds:
        draw = random.Random(seed)
        lengths["seed %d" % seed] = [draw.randint(args.least, args.to) for _ in range(args.sequences)]
    for n in args.alike:
        lengths["all of %d" % n] = [n] * args.sequences
    rows, notes, right = [], [], True
    for name, drawn in lengths.items():
        p = Problem(name, drawn, *args.heads, 128)
        generator = torch.Generator("cuda").manual_seed(1)
        sets = [p.inputs(generator) for _ in range(peers.sets_of(p))]
        times, wrong = peers.time_peers(p, ways_of(p, generator, notes), sets, lambda _, got, x, p=p: check(p, got, x),
                                        args.seconds, notes)
        right = right and not wrong
        us, others = times.pop("kiln", math.nan), times
        rows.append([p.text, "%.1f" % us, "%.1f" % (p.operations() / us / 1e6),
                     "; ".join("%s %.1f" % t for t in others.items()),
                     "%.3f" % (min(others.values(), default=math.nan) / us)])
        del sets
        torch.cuda.empty_cache()

    def put(out):
        table = csv.writer(out, lineterminator="\n")
        table.writerow(["problem", "kiln us", "kiln TFLOP/s", "peers us", "best peer over kiln"])
        table.writerows(rows)
    peers.write_table(args, put)
    for note in notes:
        print("ragged_peers: " + note, file=sys.stderr)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
