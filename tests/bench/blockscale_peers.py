#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fp8 products with a scale for each 1x128 block of A and 128x128 block of B, beside torch in one run on one GPU.

  tests/bench/blockscale_peers.py                 times all problems, then `kiln bench`, and joins both
  tests/bench/blockscale_peers.py --kiln b.csv    what `kiln bench --csv=b.csv` said stands for Kiln

Peers are torch._scaled_mm with these scales ("block") and, as the bound, the same product with one scale per tensor
("plain").  torch wants A's scales with M contiguous; Kiln takes them as its op says.  Of B's, cuBLASLt reads a row
every multiple of four, but torch may refuse that stride: then the same memory is handed over as if its rows were
dense.  The protocol is peers.py's.  Results are checked against numpy in double precision, 64 rows of each.  Exit
codes: 0 done; 1 a result is wrong; 77 no GPU."""
import sys

import numpy as np
import torch

import peers

FP8, BLOCK = getattr(torch, "float8_e4m3fn", None), 128


class Problem:
    def __init__(self, group, text):
        self.group, self.text = group, text
        sizes = dict(w.split("=") for w in text.split()[3:])
        self.m, self.n, self.k = (int(sizes[s]) for s in "mnk")

    def bytes(self):
        return self.m * self.k + self.n * self.k + 2 * self.m * self.n

    def inputs(self, generator):
        def normal(*shape):
            return torch.randn(shape, device="cuda", generator=generator).to(FP8)

        def scales(*shape):
            return torch.rand(shape, device="cuda", generator=generator) + 0.5
        deep, wide = -(-self.k // BLOCK), -(-self.n // BLOCK)
        a_scale = scales(deep, self.m).t()
        b_scale = scales(wide, -(-deep // 4) * 4)[:, :deep]
        return normal(self.m, self.k), normal(self.n, self.k), a_scale, b_scale, scales(1), scales(1)


def block(a, b, a_scale, b_scale, *_):
    return torch._scaled_mm(a, b.t(), scale_a=a_scale, scale_b=b_scale.t(), out_dtype=torch.bfloat16)


def block_as_dense(a, b, a_scale, b_scale, *_):
    """The same, whose rows of B's scales are said to be without a gap."""
    return block(a, b, a_scale, torch.as_strided(b_scale, b_scale.shape, (b_scale.shape[1], 1)))


def plain(a, b, _a, _b, one, other):
    return torch._scaled_mm(a, b.t(), scale_a=one, scale_b=other, out_dtype=torch.bfloat16)


PEERS = {"block": block, "plain": plain}


def check(name, got, inputs, rows=64):
    """The largest share of what is allowed that an element is off by."""
    a, b, a_scale, b_scale, one, other = (x.double().cpu().numpy() for x in inputs)
    a, a_scale = a[:rows], a_scale[:rows]
    if name == "block":
        a = a * np.repeat(a_scale, BLOCK, 1)[:, :a.shape[1]]
        b = b * np.repeat(np.repeat(b_scale, BLOCK, 1)[:, :b.shape[1]], BLOCK, 0)[:b.shape[0]]
        want = a @ b.T
    else:
        want = a @ b.T * one * other
    allowed = 2.0**-7 * np.abs(want) + 2.0**-10 * np.abs(a) @ np.abs(b).T
    off = np.abs(got[:rows].double().cpu().numpy() - want) / allowed
    return float(np.where(np.isnan(off), np.inf, off).max())


def time_problem(p, seconds, generator, notes):
    sets, of = [p.inputs(generator) for _ in range(peers.sets_of(p))], dict(PEERS)
    try:
        block(*sets[0])
    except Exception:  # pylint: disable=broad-except
        of["block"] = block_as_dense
    return peers.time_peers(p, {name: lambda f=f: f for name, f in of.items()}, sets, check, seconds, notes)


if __name__ == "__main__":
    sys.exit(peers.compare(__doc__, "blockscale.problems", Problem, time_problem, list(PEERS)))
