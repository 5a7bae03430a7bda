#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Products of rows that belong to groups (experts), beside torch in one run on one GPU.

  tests/bench/grouped_peers.py                 times all problems, then `kiln bench`, and joins both
  tests/bench/grouped_peers.py --kiln b.csv    what `kiln bench --csv=b.csv` said stands for Kiln

Peers: "grouped", torch's grouped product of bf16, of gated units between a gather of rows and silu(gate) * up, gate and
up side by side in one matrix, and what is behind the product compiled by torch.compile; and, of products alone, "dense",
one product with as many rows, all of one group.  Beside block-scaled fp8 "scaled" instead, torch's grouped product of
fp8, which has one scale for each row and column.  Groups have as many rows each, about, as in `kiln bench`.  The protocol
is peers.py's.  Results are checked against numpy in double precision, 64 rows of each.  Exit codes: 0 done; 1 a result is
wrong; 77 no GPU."""
import sys

import numpy as np
import torch

import peers

grouped_mm = getattr(torch.nn.functional, "grouped_mm", None) or torch._grouped_mm


class Problem:
    def __init__(self, group, text):
        self.group, self.text = group, text
        sizes = dict(w.split("=") for w in text.split()[3:])
        self.m, self.n, self.k, self.groups = (int(sizes[s]) for s in ("m", "n", "k", "groups"))
        self.tokens = int(sizes.get("tokens", 0))
        self.wide = self.n * (2 if self.tokens else 1)
        self.fp8 = "f8e4m3" in text.split()[1]

    def bytes(self):
        operands = (self.tokens or self.m) * self.k + self.groups * self.wide * self.k
        return (1 if self.fp8 else 2) * operands + 2 * self.m * self.n

    def inputs(self, generator):
        def normal(*shape):
            return torch.randn(shape, device="cuda", dtype=torch.bfloat16, generator=generator)
        ends = [self.m * (i + 1) // self.groups for i in range(self.groups)]
        end = torch.tensor(ends, dtype=torch.int32, device="cuda")
        index = torch.randint(self.tokens or self.m, (self.m,), device="cuda", generator=generator)
        b = normal(self.groups, self.wide, self.k)
        b.mul_(self.k**-0.5)
        a = normal(self.tokens or self.m, self.k)
        if not self.fp8:
            return a, b, end, index
        b.mul_(self.k**0.5)
        scales = torch.rand(len(a), device="cuda", generator=generator), self.k**-0.5 * torch.rand(
            (self.groups, self.wide), device="cuda", generator=generator)
        return a.to(torch.float8_e4m3fn), b.to(torch.float8_e4m3fn), end, index, *scales


@torch.compile(dynamic=False)
def gate(x):
    a, b = x.float().chunk(2, -1)
    return (a * torch.sigmoid(a) * b).to(torch.bfloat16)


def grouped(a, b, end, _):
    return grouped_mm(a, b.transpose(1, 2), offs=end)


def gathered(a, b, end, index):
    return gate(grouped_mm(a.index_select(0, index), b.transpose(1, 2), offs=end))


def scaled(a, b, end, _, of_a, of_b):
    return torch._scaled_grouped_mm(a, b.transpose(1, 2), of_a, of_b, offs=end, out_dtype=torch.bfloat16)


def scaled_gathered(a, b, end, index, of_a, of_b):
    rows = a.view(torch.uint8).index_select(0, index).view(a.dtype)
    return gate(scaled(rows, b, end, index, of_a.index_select(0, index), of_b))


def dense(a, b, *_):
    return a @ b[0].t()


def peers_of(p):
    if p.fp8:
        return {"scaled": scaled_gathered if p.tokens else scaled}
    return {"grouped": gathered} if p.tokens else {"grouped": grouped, "dense": dense}


def check(p):
    def off(name, got, inputs, rows=64):
        """The largest share of what is allowed that an element is off by."""
        first = min(rows, p.m // p.groups) if name != "dense" else rows
        row = inputs[3][:first].long() if p.tokens else slice(0, first)
        x, b = inputs[0].view(torch.uint8)[row].view(inputs[0].dtype).double(), inputs[1][:1].double()
        if p.fp8:
            x, b = x * inputs[4][row, None], b * inputs[5][:1, :, None]
        x, b = x.cpu().numpy(), b.cpu().numpy()
        want, size = x @ b[0].T, np.abs(x) @ np.abs(b[0]).T
        if p.tokens:
            (g, u), (of_g, of_u) = np.split(want, 2, -1), np.split(size, 2, -1)
            want, size = g / (1 + np.exp(-g)) * u, np.abs(u) * of_g + np.abs(g) * of_u
        allowed = 2.0**-6 * np.abs(want) + 2.0**-8 * size
        share = np.abs(got[:first].double().cpu().numpy() - want) / allowed
        return float(np.where(np.isnan(share), np.inf, share).max())
    return off


def time_problem(p, seconds, generator, notes):
    sets = [p.inputs(generator) for _ in range(peers.sets_of(p))]
    return peers.time_peers(p, {name: lambda f=f: f for name, f in peers_of(p).items()}, sets, check(p), seconds, notes)


if __name__ == "__main__":
    sys.exit(peers.compare(__doc__, "moe.problems", Problem, time_problem, ["grouped", "dense", "scaled"]))
