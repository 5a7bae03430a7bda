#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Row-wise ops beside torch.compile, quack and liger, in one run on one NVIDIA GPU.

  tests/bench/rowwise_peers.py                   times all problems, then `kiln bench`, and joins both
  tests/bench/rowwise_peers.py --kiln rows.csv   what `kiln bench --csv=rows.csv` said stands for Kiln
  tests/bench/rowwise_peers.py --dry-run         no GPU: checks what peers compute against float64, times nothing

The protocol is peers.py's.  Each result is checked against numpy in double precision, on up to 64 rows.  Problems that
--budget leaves no time for are named, and what a peer cannot do says why.  Exit codes: 0 done; 1 a result is wrong;
2 wrong usage; 77 no GPU."""
import argparse
import csv
import math
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

import peers

EPS, BLOCK, MOST, LEAST = 1e-5, 128, 448.0, 1e-12
DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32,
          "f8e4m3": getattr(torch, "float8_e4m3fn", torch.float32)}  # older ones: the check allows for the rounding
SLACK = {"bf16": 2.0**-7, "f16": 2.0**-9, "f32": 2.0**-18, "f8e4m3": 2.0**-3.7}

# ---- what is computed: as a user of torch writes it (f32 inside), and in numpy (float64) ----


def f8(y):
    return y.clamp(-MOST, MOST).to(DTYPES["f8e4m3"])


def t_norm(x, weight):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPS) * weight.float()


def t_row_scale(y):
    return y.abs().amax(-1, keepdim=True).clamp(min=LEAST) / MOST


def t_blocks(y):
    rows, cols = y.shape
    y = F.pad(y, (0, -cols % BLOCK)).view(rows, -1, BLOCK)
    scale = y.abs().amax(-1, keepdim=True).clamp(min=LEAST) / MOST
    return f8((y / scale).view(rows, -1)[:, :cols]), scale.squeeze(-1)


def t_add_rmsnorm(x, residual, weight):
    total = (x.float() + residual.float()).to(x.dtype)
    return total, t_norm(total.float(), weight).to(x.dtype)


def t_add_rmsnorm_quant(x, residual, weight):
    total = (x.float() + residual.float()).to(x.dtype)
    y = t_norm(total.float(), weight)
    scale = t_row_scale(y)
    return total, f8(y / scale), scale.squeeze(-1)


def t_add_rmsnorm_static(x, residual, weight, scale):
    total = (x.float() + residual.float()).to(x.dtype)
    return total, f8(t_norm(total.float(), weight) / scale)


def t_quantise_row(x):
    scale = t_row_scale(x.float())
    return f8(x.float() / scale), scale.squeeze(-1)


def n_norm(x, weight):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + EPS) * weight


def n_round(x, like):  # the sum that is stored, and used as stored
    return torch.from_numpy(x).to(torch.float32).to(like).double().numpy()


def n_row_scale(y):
    return np.maximum(np.abs(y).max(-1, keepdims=True), LEAST) / MOST


def n_add(x, residual, like):
    return n_round(x + residual, like)


def n_add_rmsnorm_quant(x, residual, weight, like):
    total = n_add(x, residual, like)
    y = n_norm(total, weight)
    return total, y / n_row_scale(y), n_row_scale(y)[:, 0]


def n_blocks(y):
    cuts = range(0, y.shape[1], BLOCK)
    scale = np.concatenate([n_row_scale(y[:, c:c + BLOCK]) for c in cuts], 1)
    return y / np.repeat(scale, BLOCK, 1)[:, :y.shape[1]], scale


def n_silu(x):
    return x / (1 + np.exp(-x))


def n_softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def n_layernorm(x, weight, bias):
    x = x - x.mean(-1, keepdims=True)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + EPS) * weight + bias


n_erf = np.vectorize(math.erf)
FULL, COLUMN, ONE = "full", "column", "one"  # an input's kind
# op: kinds of its inputs, the type of each output (its place among the problem's, or f32), torch's, numpy's
OPS = {
    "add_rmsnorm": ((FULL, FULL, COLUMN), (0, 0), t_add_rmsnorm,
                    lambda x, r, w, like: (n_add(x, r, like), n_norm(n_add(x, r, like), w))),
    "add_rmsnorm_quant": ((FULL, FULL, COLUMN), (0, 1, "f32"), t_add_rmsnorm_quant, n_add_rmsnorm_quant),
    "add_rmsnorm_static": ((FULL, FULL, COLUMN, ONE), (0, 1), t_add_rmsnorm_static,
                           lambda x, r, w, s, like: (n_add(x, r, like),
                                                     np.clip(n_norm(n_add(x, r, like), w) / s, -MOST, MOST))),
    "rmsnorm": ((FULL, COLUMN), (0,), lambda x, w: (t_norm(x.float(), w).to(x.dtype),),
                lambda x, w, like: (n_norm(x, w),)),
    "layernorm": ((FULL, COLUMN, COLUMN), (0,),
                  lambda x, w, b: (F.layer_norm(x.float(), x.shape[-1:], w.float(), b.float(), EPS).to(x.dtype),),
                  lambda x, w, b, like: (n_layernorm(x, w, b),)),
    "silu_mul": ((FULL, FULL), (0,), lambda g, u: ((F.silu(g.float()) * u.float()).to(g.dtype),),
                 lambda g, u, like: (n_silu(g) * u,)),
    "silu_mul_quant_block": ((FULL, FULL), (1, "f32"), lambda g, u: t_blocks(F.silu(g.float()) * u.float()),
                             lambda g, u, like: n_blocks(n_silu(g) * u)),
    "softmax": ((FULL,), (0,), lambda x: (torch.softmax(x.float(), -1).to(x.dtype),), lambda x, like: (n_softmax(x),)),
    "quantise_row": ((FULL,), (1, "f32"), t_quantise_row,
                     lambda x, like: (x / n_row_scale(x), n_row_scale(x)[:, 0])),
    "gelu_bias": ((FULL, COLUMN), (0,), lambda x, b: (F.gelu(x.float() + b.float()).to(x.dtype),),
                  lambda x, b, like: (0.5 * (x + b) * (1 + n_erf((x + b) / math.sqrt(2))),)),
}


def quack_of(op):
    """quack's kernel for an op: its inputs are torch's; raises what says that there is none."""
    import quack
    if op == "softmax":
        return lambda x: (quack.softmax(x),)
    from quack.rmsnorm import rmsnorm_fwd
    if op == "rmsnorm":
        return lambda x, w: (rmsnorm_fwd(x, w, eps=EPS)[0],)
    if op == "add_rmsnorm":
        def add(x, residual, w):
            y, total = rmsnorm_fwd(x, w, residual=residual, eps=EPS)[:2]
            return total, y
        return add
    raise NotImplementedError("no such kernel")


def liger_of(op):
    if op == "silu_mul":
        from liger_kernel.ops.swiglu import swiglu_forward
        return lambda g, u: (swiglu_forward(g, u)[-1],)
    raise NotImplementedError("no such kernel")


def torch_of(op):
    torch._dynamo.reset()  # it compiles each problem for its own sizes, and gives up after some
    return torch.compile(OPS[op][2], dynamic=False)


PEERS = {"torch.compile": torch_of, "quack": quack_of, "liger": liger_of}

# ---- problems ----


class Problem:
    def __init__(self, group, text):
        words = text.split()
        self.group, self.text, self.op, self.types = group, text, words[0], words[1].split(",")
        sizes = dict(w.split("=") for w in words[2:])
        self.rows, self.cols = int(sizes["rows"]), int(sizes["cols"])
        self.key = (self.op, words[1], self.rows, self.cols)
        self.dtype = DTYPES[self.types[0]]

    def inputs(self, device, generator, rows=None):
        made = []
        for kind in OPS[self.op][0]:
            shape = {FULL: (rows or self.rows, self.cols), COLUMN: (self.cols,), ONE: (1,)}[kind]
            x = torch.randn(shape, device=device, generator=generator)
            made.append(x.abs() * 0.01 + 0.01 if kind == ONE else x.to(self.dtype))
        return made

    def outputs(self):
        return [t if t == "f32" else self.types[t] for t in OPS[self.op][1]]

    def bytes(self):
        size = {"f32": 4, "bf16": 2, "f16": 2, "f8e4m3": 1}
        kinds = OPS[self.op][0]
        full = kinds.count(FULL) * size[self.types[0]]
        full += sum(size[self.types[t]] for t in OPS[self.op][1] if t != "f32")
        return self.rows * self.cols * full + kinds.count(COLUMN) * self.cols * size[self.types[0]]


def read_problems(path, only):
    found = peers.read_problems(path, Problem)
    unknown = sorted({p.op for p in found} - set(OPS))
    if unknown:
        sys.exit("rowwise_peers: no peer knows " + ", ".join(unknown))
    return [p for p in found if not only or p.op in only]


# ---- checks ----


def check(p, results, inputs, rows=64):
    """The largest share of what is allowed that an element is off by."""
    double = [x[:rows].double().cpu().numpy() if x.dim() == 2 else x.double().cpu().numpy() for x in inputs]
    worst = 0.0
    wanted = OPS[p.op][3](*double, like=p.dtype)
    if len(results) != len(wanted):
        return math.inf
    for got, want, name in zip(results, wanted, p.outputs()):
        got = got[:rows].float().cpu().numpy().astype(np.float64).reshape(want.shape)
        slack = SLACK[name] if name != "f32" or p.types[0] == "f32" else 2.0**-12
        # Near 0 what counts is the row: sums cancel, fp8 has its last steps there.
        allowed = slack * (np.abs(want) + np.abs(want).max(-1, keepdims=True) / 64) + 1e-30
        if name == "f8e4m3":
            allowed = allowed + 2.0**-9
        off = np.abs(got - want) / allowed
        worst = max(worst, float(np.where(np.isnan(off), np.inf, off).max()))
    return worst


# ---- the table ----


def kiln_times(args):
    return {Problem(r["set"], r["problem"]).key: (float(r["us"]), r["note"]) for r in peers.kiln_rows(args)}


def put_table(problems, times, kiln, names, out):
    rows = csv.writer(out, lineterminator="\n")
    heads = ["set", "problem", "kiln us", "GB/s"] + [n + " us" for n in names] + ["best peer over kiln", "kernel"]
    rows.writerow(heads)
    ratios = {}
    for p in problems:
        if p.key not in times:
            continue
        us, kernel = kiln.get(p.key, (math.nan, ""))
        best = min(times[p.key].values(), default=math.nan)
        ratio = best / us
        if not math.isnan(ratio):
            ratios.setdefault(p.group, []).append(ratio)
        cells = ["%.2f" % times[p.key][n] if n in times[p.key] else "" for n in names]
        cells = ["%.2f" % us, "%.0f" % (p.bytes() / us / 1e3)] + cells + ["%.3f" % ratio, kernel]
        rows.writerow([p.group, p.text] + cells)
    for group, values in list(ratios.items()) + [("all", sum(ratios.values(), []))]:
        least = min(values, default=math.nan)
        shown = (group, len(values), peers.geomean(values), least)
        print("%-24s %3d problems: geomean %.3f, least %.3f" % shown, file=sys.stderr)


def dry_run(problems, generator):
    """What peers compute, uncompiled and on few rows, against float64."""
    failed = 0
    for p in problems:
        inputs = p.inputs("cpu", generator, min(p.rows, 5))
        worst = check(p, OPS[p.op][2](*inputs), inputs)
        failed += not worst <= 1
        print("%-4s %s  %.2f of what is allowed" % ("ok" if worst <= 1 else "FAIL", p.text, worst))
    print("%d passed, %d failed" % (len(problems) - failed, failed))
    return 1 if failed else 0


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    peers.add_options(a, "rowwise.problems")
    a.add_argument("--peers", default=",".join(PEERS), help="default: %(default)s")
    a.add_argument("--op", action="append", help="only this op")
    a.add_argument("--budget", type=float, default=240, help="seconds for all peers; default %(default)s")
    a.add_argument("--dry-run", action="store_true")
    args = a.parse_args()
    names = args.peers.split(",")
    if set(names) - set(PEERS):
        a.error("--peers: there are " + ", ".join(PEERS))
    problems = read_problems(args.problems, args.op)
    if not problems:
        a.error("no problem is left")
    if args.dry_run:
        return dry_run(problems, torch.Generator().manual_seed(args.seed))
    if not torch.cuda.is_available():
        print("rowwise_peers: torch finds no GPU; --dry-run checks without one", file=sys.stderr)
        return 77
    start, generator = time.perf_counter(), torch.Generator("cuda").manual_seed(args.seed)
    times, notes, right = {}, [], True
    for i, p in enumerate(problems):
        if time.perf_counter() - start > args.budget:
            notes += ["%s: no time left of --budget" % q.text for q in problems[i:]]
            break
        sets = [p.inputs("cuda", generator) for _ in range(peers.sets_of(p))]
        times[p.key], wrong = peers.time_peers(p, {n: lambda n=n, p=p: PEERS[n](p.op) for n in names}, sets,
                                               lambda _, got, inputs, p=p: check(p, got, inputs), args.seconds, notes)
        right = right and "torch.compile" not in wrong
    kiln = kiln_times(args)
    peers.write_table(args, lambda out: put_table(problems, times, kiln, names, out))
    for note in notes:
        print("rowwise_peers: " + note, file=sys.stderr)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
