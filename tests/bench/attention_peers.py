#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Attention beside cuDNN and FlashAttention as torch has them, in one run on one GPU.

  tests/bench/attention_peers.py                  times all problems, then `kiln bench`, and joins both
  tests/bench/attention_peers.py --kiln a.csv     what `kiln bench --csv=a.csv` said stands for Kiln

The protocol is peers.py's.  Q, K, V and O are [batch, position, head, element] in memory.  Peers compute the plain or
causal product; for scores of another kind, and for keys in pages, they stand as what the plain one takes.  Results are
checked in double precision on the last 64 queries of two heads.  Exit codes: 0 done; 1 a result is wrong; 77 no GPU."""
import argparse
import csv
import math
import sys

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

import peers

DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16}


class Problem:
    def __init__(self, group, text):
        words = text.split()
        self.group, self.text, self.op = group, text, words[0]
        self.types = words[1].split(",")
        self.size = {k: int(v) for k, v in (w.split("=") for w in words[2:])}
        self.causal = self.op != "attention"
        self.said = tuple(sorted(self.size.items()))
        # Of all sequences together there are q queries, and without pages kv keys: bench makes them all alike.
        if self.op.startswith(("ragged_", "paged_")):
            self.size["q"] //= self.size["batch"]
        if self.op.startswith("ragged_"):
            self.size["kv"] //= self.size["batch"]

    def key(self):
        return (self.op, tuple(self.types), self.said)

    def bytes(self):
        s = self.size
        q, kv = s["heads"] * s["q"] * (s["dim"] + s["dimv"]), s["kv_heads"] * s["kv"] * (s["dim"] + s["dimv"])
        return 2 * s["batch"] * (q + kv)

    def operations(self):
        s = self.size
        q, kv = s["q"], s["kv"]
        pairs = q * kv - q * (q - 1) // 2 if self.causal else q * kv  # that queries see
        return 2 * s["batch"] * s["heads"] * pairs * (s["dim"] + s["dimv"])

    def inputs(self, generator):
        s = self.size

        def made(length, heads, dim):
            x = torch.randn((s["batch"], length, heads, dim), device="cuda", generator=generator)
            return x.to(DTYPES[self.types[0]]).transpose(1, 2)
        return [made(s["q"], s["heads"], s["dim"]), made(s["kv"], s["kv_heads"], s["dim"]),
                made(s["kv"], s["kv_heads"], s["dimv"])]


def peer_of(backend, p):
    causal = p.causal and p.size["q"] > 1

    def attend(q, k, v):
        with sdpa_kernel(backend):
            return F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=q.shape[1] != k.shape[1])
    return attend


PEERS = {"cudnn": SDPBackend.CUDNN_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION}


def check(p, got, inputs, queries=64):
    """The largest share of what is allowed that an element is off by."""
    worst = 0.0
    for head in (0, p.size["heads"] - 1):
        q, k, v = inputs
        shared = head * p.size["kv_heads"] // p.size["heads"]
        q, k, v = (x[0, h].double() for x, h in ((q, head), (k, shared), (v, shared)))
        q = q[-queries:]
        scores = q @ k.T / math.sqrt(q.shape[1])
        if p.causal:
            place = torch.arange(k.shape[0] - q.shape[0], k.shape[0], device=q.device)
            scores = scores.masked_fill(torch.arange(k.shape[0], device=q.device)[None, :] > place[:, None], -math.inf)
        weights = torch.softmax(scores, -1)
        allowed = 2.0**-6 * (weights @ v.abs()) + 1e-6
        off = ((got[0, head][-queries:].double() - weights @ v).abs() / allowed).max().item()
        worst = max(worst, math.inf if math.isnan(off) else off)
    return worst


def put_table(problems, times, kiln, out):
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["set", "problem", "kiln us", "kiln TFLOP/s", "kiln GB/s"] + [n + " us" for n in PEERS] +
                  ["best peer over kiln", "kernel"])
    ratios = {}
    for p in problems:
        us, kernel = kiln.get(p.key(), (math.nan, ""))
        ratio = min(times[p.text].values(), default=math.nan) / us
        if ratio == ratio:
            ratios.setdefault(p.group, []).append(ratio)
        cells = ["%.2f" % us, "%.1f" % (p.operations() / us / 1e6), "%.0f" % (p.bytes() / us / 1e3)]
        cells += ["%.2f" % times[p.text][n] if n in times[p.text] else "" for n in PEERS]
        rows.writerow([p.group, p.text] + cells + ["%.3f" % ratio, kernel])
    for group, values in ratios.items():
        print("%s: %d problems: geomean %.3f, least %.3f" % (group, len(values), peers.geomean(values), min(values)),
              file=sys.stderr)


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    peers.add_options(a, "attention.problems")
    args = a.parse_args()
    if not torch.cuda.is_available():
        print("attention_peers: torch finds no GPU", file=sys.stderr)
        return 77
    problems, generator = peers.read_problems(args.problems, Problem), torch.Generator("cuda").manual_seed(args.seed)
    times, notes, right = {}, [], True
    for p in problems:
        sets = [p.inputs(generator) for _ in range(peers.sets_of(p))]
        times[p.text], wrong = peers.time_peers(p, {n: lambda b=b, p=p: peer_of(b, p) for n, b in PEERS.items()}, sets,
                                                lambda _, got, inputs, p=p: check(p, got, inputs), args.seconds, notes)
        right = right and not wrong
    kiln = {Problem(r["set"], r["problem"]).key(): (float(r["us"]), r["note"]) for r in peers.kiln_rows(args)}
    peers.write_table(args, lambda out: put_table(problems, times, kiln, out))
    for note in notes:
        print("attention_peers: " + note, file=sys.stderr)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
