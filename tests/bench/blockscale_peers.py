#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fp8 products with a scale for each 1x128 block of A and 128x128 block of B, beside torch in one run on one GPU.

  tests/bench/blockscale_peers.py                 times all problems, then `kiln bench`, and joins both
  tests/bench/blockscale_peers.py --kiln b.csv    what `kiln bench --csv=b.csv` said stands for Kiln

Peers are torch._scaled_mm with these scales ("block") and, as the bound, the same product with one scale per tensor
("plain").  torch wants A's scales with M contiguous; Kiln takes them as its op says.  The protocol is that of
rowwise_peers.py.  Results are checked against numpy in double precision, 64 rows of each.  Exit codes: 0 done; 1 a result is wrong; 77 no
GPU."""
import argparse
import csv
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch

from rowwise_peers import Recording, geomean

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FP8, BLOCK = getattr(torch, "float8_e4m3fn", None), 128


class Problem:
    def __init__(self, group, text):
        self.group, self.text = group, text
        sizes = dict(w.split("=") for w in text.split()[3:])
        self.padded = True  # rows of B's scales are multiples of 16 bytes; not every version wants that
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
        b_scale = scales(wide, -(-deep // 4) * 4 if self.padded else deep)[:, :deep]
        return normal(self.m, self.k), normal(self.n, self.k), a_scale, b_scale, scales(1), scales(1)


def block(a, b, a_scale, b_scale, *_):
    return torch._scaled_mm(a, b.t(), scale_a=a_scale, scale_b=b_scale.t(), out_dtype=torch.bfloat16)


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


def read_problems(path):
    group, found = "", []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            named = re.match(r"\[(.*?)\]", line)
            if named:
                group = named[1]
            elif line.strip() and not line.startswith("#"):
                found.append(Problem(group, line.strip()))
    return found


def time_problem(p, seconds, generator, notes):
    cache = getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 0) or 64 << 20
    try:
        block(*p.inputs(generator))
    except Exception:  # pylint: disable=broad-except
        p.padded = False
    sets = [p.inputs(generator) for _ in range(max(2, min(256, -(-4 * cache // p.bytes()))))]
    recordings, right = {}, True
    for name, f in PEERS.items():
        try:
            worst = check(name, f(*sets[0]), sets[0])
            if worst > 1:
                notes.append("%s: %s computes something else (%.3g of what is allowed)" % (p.text, name, worst))
                right = False
                continue
            recordings[name] = Recording(f, sets, 0.006)
        except Exception as e:  # pylint: disable=broad-except
            notes.append("%s: %s: %s" % (p.text, name, (str(e).splitlines() or [type(e).__name__])[0][:160]))
    start, rounds = time.perf_counter(), 0
    while recordings and (rounds < 6 or time.perf_counter() - start < seconds * len(recordings)):
        for r in recordings.values():
            time.sleep(0.04)
            r.replay()
        rounds += 1
    best = {name: statistics.median(r.times[1:]) for name, r in recordings.items()}
    del recordings, sets
    torch.cuda.empty_cache()
    return best, right


def kiln_times(args):
    if not args.kiln:
        handle, args.kiln = tempfile.mkstemp(suffix=".csv")
        os.close(handle)
        subprocess.run([args.kiln_program, "bench", "--device", "nvidia", "--problems", args.problems, "--seconds",
                        str(args.seconds), "--csv=" + args.kiln], check=True)
    with open(args.kiln, newline="", encoding="utf-8") as lines:
        rows = [r for r in csv.DictReader(lines) if r["implementation"] == "kiln"]
    return {r["problem"]: (float(r["us"]), r["note"]) for r in rows}


def put_table(problems, peers, kiln, out):
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["set", "problem", "kiln us", "block us", "plain us", "block over kiln", "plain over kiln", "kernel"])
    ratios = {}
    for p in problems:
        us, kernel = kiln.get(p.text, (float("nan"), ""))
        cells = []
        for name in PEERS:
            ratio = peers.get(p.text, {}).get(name, float("nan")) / us
            cells.append("" if ratio != ratio else "%.3f" % ratio)
            if ratio == ratio:
                ratios.setdefault((p.group, name), []).append(ratio)
        times = ["%.2f" % t if t else "" for t in (peers.get(p.text, {}).get(n) for n in PEERS)]
        rows.writerow([p.group, p.text, "%.2f" % us] + times + cells + [kernel])
    for (group, name), values in ratios.items():
        shown = (group, name, len(values), geomean(values), min(values))
        print("%s: %s over kiln, %d problems: geomean %.3f, least %.3f" % shown, file=sys.stderr)


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--problems", default=os.path.join(ROOT, "docs/benchmarks/blockscale.problems"))
    a.add_argument("--kiln", metavar="CSV", help="what `kiln bench --csv=CSV` said; else it is run now")
    a.add_argument("--kiln-program", default=os.path.join(ROOT, "build/bin/kiln"))
    a.add_argument("--seconds", type=float, default=0.25, help="for each peer of a problem; default %(default)s")
    a.add_argument("--seed", type=int, default=1)
    a.add_argument("--csv", help="where the table goes; default standard output")
    args = a.parse_args()
    if not torch.cuda.is_available():
        print("blockscale_peers: torch finds no GPU", file=sys.stderr)
        return 77
    problems, generator = read_problems(args.problems), torch.Generator("cuda").manual_seed(args.seed)
    times, notes, right = {}, [], True
    for p in problems:
        times[p.text], good = time_problem(p, args.seconds, generator, notes)
        right = right and good
        print("%s: %s" % (p.text, ", ".join("%s %.2f us" % t for t in times[p.text].items())), file=sys.stderr)
    kiln = kiln_times(args)
    with open(args.csv, "w", newline="", encoding="utf-8") if args.csv else sys.stdout as out:
        put_table(problems, times, kiln, out)
    for note in notes:
        print(note, file=sys.stderr)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
