#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A sample of gemms that programs run, to see how Kiln does off the list that it was tuned with.

  gemm_sample.py draw --seed 1 >sample.problems        150 problems for `kiln bench --problems`
  kiln bench --peer cublaslt --problems sample.problems --shuffle 1 --csv=sample.csv
  gemm_sample.py tables sample.csv                     the other side's best time over Kiln's, by op and by M
  gemm_sample.py model --device sim:gfx942 1 2 3       modelled: floor over the chosen instance's cost, three seeds

Four of five problems are a layer of a model, perhaps one device's slice of it, times a number of rows; the fifth has
random sizes, pitches and alignments.  Nothing but whole numbers decides, so a seed means one list on every machine.
"""
import argparse
import collections
import csv
import functools
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

# Models by what their layers are made of: hidden size, heads, heads of keys and values, size of a head, feed-forward
# size, whether that is gated, devices that share a layer.
DENSE = [
    ("Llama 2 7B", 4096, 32, 32, 128, 11008, True, (1, 2)),
    ("Llama 2 13B", 5120, 40, 40, 128, 13824, True, (1, 2, 4)),
    ("Llama 2 70B", 8192, 64, 8, 128, 28672, True, (1, 2, 4, 8)),
    ("Llama 3 8B", 4096, 32, 8, 128, 14336, True, (1, 2)),
    ("Llama 3 70B", 8192, 64, 8, 128, 28672, True, (2, 4, 8)),
    ("Llama 3 405B", 16384, 128, 8, 128, 53248, True, (4, 8)),
    ("Qwen 2.5 1.5B", 1536, 12, 2, 128, 8960, True, (1,)),
    ("Qwen 2.5 7B", 3584, 28, 4, 128, 18944, True, (1, 2)),
    ("Qwen 2.5 32B", 5120, 40, 8, 128, 27648, True, (1, 2, 4)),
    ("Qwen 3 14B", 5120, 40, 8, 128, 17408, True, (1, 2)),
    ("OPT 1.3B", 2048, 32, 32, 64, 8192, False, (1,)),
    ("OPT 13B", 5120, 40, 40, 128, 20480, False, (1, 2)),
    ("OPT 66B", 9216, 72, 72, 128, 36864, False, (1, 4)),
    ("GPT-2", 768, 12, 12, 64, 3072, False, (1,)),
    ("GPT-2 XL", 1600, 25, 25, 64, 6400, False, (1,)),
    ("ViT-B", 768, 12, 12, 64, 3072, False, (1,)),
    ("ViT-L", 1024, 16, 16, 64, 4096, False, (1,)),
    ("ViT-H", 1280, 16, 16, 80, 5120, False, (1,)),
]
# Layers as N, K and a kind: those of models that do not fit the table above.
OTHERS = [
    ("Mixtral 8x7B expert", 14336, 4096, "gated"),
    ("Mixtral 8x7B expert", 4096, 14336, "down"),
    ("Mixtral 8x22B expert", 16384, 6144, "gated"),
    ("Mixtral 8x22B expert", 6144, 16384, "down"),
    ("DeepSeek-V3 expert", 2048, 7168, "gated"),
    ("DeepSeek-V3 expert", 7168, 2048, "down"),
    ("DeepSeek-V3 dense", 18432, 7168, "gated"),
    ("DeepSeek-V3 dense", 7168, 18432, "down"),
    ("DeepSeek-V3 q_a", 1536, 7168, "attention"),
    ("DeepSeek-V3 q_b", 24576, 1536, "attention"),
    ("DeepSeek-V3 kv_a", 576, 7168, "attention"),
    ("DeepSeek-V3 kv_b", 32768, 512, "attention"),
    ("DeepSeek-V3 o", 7168, 16384, "attention"),
    ("Qwen 3 30B-A3B expert", 768, 2048, "gated"),
    ("Qwen 3 30B-A3B expert", 2048, 768, "down"),
    ("Qwen 3 235B-A22B expert", 1536, 4096, "gated"),
    ("Qwen 3 235B-A22B expert", 4096, 1536, "down"),
]


@functools.lru_cache()
def layers():
    """All of them: (N, K, kind), each once, in a fixed order."""
    found = {}
    for _, hidden, heads, kv, head, ffn, gated, shares in DENSE:
        for t in shares:
            kept = max(kv // t, 1) # heads of keys and values are repeated where devices are more
            found[((heads // t + 2 * kept) * head, hidden, "attention")] = 1
            found[(hidden, heads * head // t, "attention")] = 1
            found[(ffn // t, hidden, "gated" if gated else "up")] = 1
            found[(hidden, ffn // t, "down")] = 1
    for _, n, k, kind in OTHERS:
        found[(n, k, kind)] = 1
    return sorted(found)


@functools.lru_cache()
def heads_of():
    """(heads, size of a head): what products of queries and keys are batched by."""
    return sorted({(m[2] // t, m[4]) for m in DENSE for t in m[7]})


ANY = ("attention", "gated", "up", "down")
Op = collections.namedtuple("Op", "weight name types layouts kinds full other", defaults=(None,))
# weight; types ("FP8" is the target's); layouts, repeated as often as they shall come; kinds of layers; full inputs;
# the problem that a library is given in its place.
OPS = [
    Op(6, "bias_relu", "bf16,bf16,bf16", "rcr rcr rcr rrr", ANY, ()),
    Op(6, "add_fastgelu", "f16,f16,f16", "rcr rcr rcr rrr", ANY, ()),
    Op(6, "linear_relu_abde_i8", "i8,i8,i8", "rcr", ANY, ()),
    Op(6, "multiply_multiply", "FP8,FP8,bf16", "rcr", ANY, ()),
    Op(5, "swiglu", "bf16,bf16,bf16", "rcr", ("gated",), ()),
    Op(3, "add_fastgelu_multiply", "bf16,bf16,bf16", "rcr", ("gated", "up"), ("residual", "gate")),
    Op(2, "gemm", "bf16,bf16,bf16", "rcr rrr crr ccr", ANY, ()),
    Op(2, "gemm", "f16,f16,f16", "rcr rrr crr ccr", ANY, ()),
    Op(1, "gemm", "i8,i8,i32", "rcr", ANY, ()),
    Op(4, "a16w8_linear", "bf16,i8,bf16", "rcr", ANY, (), "gemm bf16,bf16,bf16"),
    Op(1, "bmm_ab_i8_e_f32", "i8,i8,f32", "rcr", (), ()),
    Op(1, "bmm_abe_i8", "i8,i8,i8", "rcr", (), ()),
    Op(1, "gemm", "bf16,bf16,bf16", "rcr rrr", (), ()),
]
BYTES = {"f32": 4, "i32": 4, "f16": 2, "bf16": 2, "i8": 1}
EDGES = (1, 16, 95, 384, 1024, 16384) # of the classes of M


def size_of(dtype):
    return BYTES.get(dtype, 1)


def class_of(m):
    low = 1
    for high in EDGES:
        if m <= high:
            return "m=%d" % high if low == high else "m=%d..%d" % (low, high)
        low = high + 1
    return "m>%d" % EDGES[-1]


class Draw:
    """SplitMix64: the same numbers wherever it runs."""
    def __init__(self, seed):
        self.state = seed % 2**64

    def word(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        z = self.state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        return z ^ (z >> 31)

    def below(self, n):
        return self.word() * n >> 64

    def one(self, items):
        return items[self.below(len(items))]

    def weighted(self, items):
        at = self.below(sum(i.weight for i in items))
        for i in items:
            at -= i.weight
            if at < 0:
                return i

    def spread(self, low, high):
        """low to high, both powers of two and high left out; each octave as likely as another."""
        base = low << self.below(high.bit_length() - low.bit_length())
        return base + self.below(base)


def rows(r):
    """1 to 16384: half of them as batches and prompts are cut (powers of two and half-way between them), the rest any."""
    if r.below(2):
        return r.spread(1, 16384)
    base = 1 << r.below(15)
    return base + base // 2 if base < 16384 and r.below(3) == 0 else base


Problem = collections.namedtuple("Problem", "op types layout m n k batch fields other kind")


def text_of(p, name=None):
    head = name or "%s %s" % (p.op, p.types)
    # The other problem has no inputs of its own.
    fields = [f for f in p.fields if not name or not f.startswith("ldd.")]
    batch = [] if p.batch == 1 else ["batch=%d" % p.batch]
    return " ".join([head, p.layout, "m=%d" % p.m, "n=%d" % p.n, "k=%d" % p.k] + batch + fields)


def draw_model(r, op, types):
    layout = r.one(op.layouts.split())
    if op.kinds:
        n, k, _ = r.one([x for x in layers() if x[2] in op.kinds])
        return Problem(op.name, types, layout, rows(r), n, k, 1, ["align=256"], op.other, "")
    heads, head = r.one(heads_of())
    m, length, sequences = rows(r), r.spread(64, 4096), 1 << r.below(4)
    n, k = (length, head) if r.below(2) else (head, length)
    return Problem(op.name, types, layout, m, n, k, heads * sequences, ["align=256"], op.other, "")


def draw_odd(r, op, types):
    """Any sizes; pitches of a little more than the rows; addresses of little alignment."""
    layout = r.one(op.layouts.split())
    dtypes = types.split(",")
    step = r.one((1, 1, 2, 4, 8)) # sizes often are multiples of something
    m = r.spread(1, 4096)
    n, k = [max(r.spread(16, 16384) // step * step, step) for _ in range(2)]
    batch = 1 if op.kinds else 1 + r.below(24)
    fields = []
    inner = {"a": k if layout[0] == "r" else m, "b": n if layout[1] == "r" else k, "e": n if layout[2] == "r" else m}
    for name in sorted(inner):
        if r.below(3) == 0:
            fields.append("ld%s=%d" % (name, inner[name] + r.one((1, 2, 3, 4, 8, 16, 24, 40))))
    for name in op.full:
        if r.below(3) == 0:
            fields.append("ldd.%s=%d" % (name, inner["e"] + r.one((1, 2, 8, 24))))
    # An address is a multiple of its element's size; what a program cuts out of a buffer, of not much more.
    align = r.one((2, 4, 8, 16, 256))
    for name, dtype in zip("abe", dtypes):
        fields.append("align%s=%d" % (name, max(align, size_of(dtype))))
    for name in op.full:
        fields.append("alignd.%s=%d" % (name, max(align, size_of(dtypes[2]))))
    return Problem(op.name, types, layout, m, n, k, batch, fields, op.other, "odd")


def memory_of(p):
    """Bytes of A, B, E and the full inputs, without padding."""
    a, b, e = [size_of(t) for t in p.types.split(",")]
    full = {o.name: len(o.full) for o in OPS}[p.op]
    products = 2 if p.op == "swiglu" else 1
    return p.batch * (p.m * p.k * a + products * p.n * p.k * b + p.m * p.n * e * (1 + full))


def flops_of(p):
    return 2 * p.batch * p.m * p.n * p.k * (2 if p.op == "swiglu" else 1)


def draw(seed, count, fp8, memory, most_flops, only=None, most_m=None):
    """The seed's problems that pass, in the order in which they are drawn."""
    r, found, seen = Draw(seed), [], set()
    ops = [o for o in OPS if not only or o.name in only]
    while len(found) < count:
        op = r.weighted(ops)
        types = op.types.replace("FP8", fp8)
        p = draw_odd(r, op, types) if len(found) % 5 == 4 else draw_model(r, op, types)
        text = text_of(p)
        if text in seen or memory_of(p) > memory or flops_of(p) > most_flops or (most_m and p.m > most_m):
            continue
        seen.add(text)
        found.append(p)
    return found


def set_of(p):
    return "/".join([p.op, class_of(p.m)] + ([p.kind] if p.kind else []))


def write(problems, seed, f):
    f.write("# gemm_sample.py, seed %d, %d problems\n" % (seed, len(problems)))
    sets = collections.OrderedDict()
    for p in problems:
        sets.setdefault(set_of(p), []).append(p)
    for name in sorted(sets):
        f.write("\n[%s]\n" % name)
        for p in sets[name]:
            f.write(text_of(p) + (" vs " + text_of(p, p.other) if p.other else "") + "\n")


def sample_of(o, seed):
    fp8 = o.fp8 or {"sim:gfx942": "f8e4m3fnuz", "sim:gfx90a": "i8"}.get(getattr(o, "device", ""), "f8e4m3")
    return draw(seed, o.count, fp8, o.memory << 20, int(o.flops * 1e12), o.op, o.most_m)


# ---- tables ----
def geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def worst_part(values):
    """What a twentieth of them, rounded down, at least the worst one, are not above."""
    return sorted(values)[max(len(values) // 20, 1) - 1] if values else float("nan")


def print_table(title, groups, columns):
    """groups: name -> {column -> ratios}; of each column its geomean, worst twentieth and worst."""
    print("| %s | count | %s |" % (title, " | ".join("%s: geomean | worst 5 %% | worst" % c for c in columns)))
    print("|---|%s" % ("---|" * (1 + 3 * len(columns))))
    for name, group in groups.items():
        cells = [str(len(group[columns[0]]))]
        for c in columns:
            v = group[c]
            cells += ["%.3f" % x for x in (geomean(v), worst_part(v), min(v))] if v else ["", "", ""]
        print("| %s | %s |" % (name, " | ".join(cells)))


def both_tables(entries, columns):
    """entries: (set's name, {column -> ratio})."""
    order = ["m=1"] + ["m=%d..%d" % (a + 1, b) for a, b in zip(EDGES, EDGES[1:])]
    for title, of in (("op", lambda s: s.split("/")[0]), ("M", lambda s: s.split("/")[1])):
        groups = {}
        for name, ratios in entries:
            places = [of(name), "all"] + (["random sizes, pitches, alignments"] if name.endswith("/odd") else [])
            for place in places:
                group = groups.setdefault(place, {c: [] for c in columns})
                for c in columns:
                    if c in ratios:
                        group[c].append(ratios[c])
        last = ["random sizes, pitches, alignments", "all"]
        key = lambda g: (g in last, last.index(g) if g in last else 0, order.index(g) if g in order else 0, g)
        print_table(title, {g: groups[g] for g in sorted(groups, key=key)}, columns)
        print()


def tables(o):
    """Of one or several CSV files; a problem in several of them counts as often."""
    entries, left_out = [], 0
    for name in o.csv:
        problems = collections.OrderedDict()
        with open(name, newline="") as f:
            for row in csv.DictReader(f):
                problems.setdefault((row["set"], row["problem"]), []).append(row)
        for (of, _), lines in problems.items():
            ours = [r for r in lines if r["implementation"] == "kiln"]
            # A path that does not do all of the work, or computes something else, says so in its note.
            theirs = [r for r in lines if r["implementation"] not in ("kiln", "memory") and
                      "DIFFER" not in r["note"] and "GEMM only" not in r["note"]]
            if "/" not in of or not ours:
                left_out += 1
                continue
            # With --all the fastest stands first, and the one that would be taken says so.
            chosen = float(([r for r in ours if r["note"].endswith(", chosen")] or ours)[0]["us"])
            ratios = {}
            if theirs:
                ratios["library over Kiln"] = min(float(r["us"]) for r in theirs) / chosen
            if len(ours) > 1:
                ratios["best built over chosen"] = min(float(r["us"]) for r in ours) / chosen
            if ratios:
                entries.append((of, ratios))
            else:
                left_out += 1
    if not entries:
        sys.exit("nothing to compare in %s" % ", ".join(o.csv))
    columns = [c for c in ("library over Kiln", "best built over chosen") if any(c in r for _, r in entries)]
    both_tables(entries, columns)
    if left_out:
        print("%d problems without a figure to compare are left out" % left_out)


# ---- the cost model ----
def facts_of(target):
    """Peaks by type in TFLOP/s, GB/s and microseconds of a launch, from the target's file."""
    with open(os.path.join(ROOT, "templates", "targets", target + ".lua")) as f:
        text = f.read()
    peaks = dict(re.findall(r"(\w+) = ([\d.]+)", re.search(r"tflops = \{(.*?)\}", text, re.S).group(1)))
    number = lambda name: float(re.search(r"\b%s = ([\d.]+)" % name, text).group(1))
    return {k: float(v) for k, v in peaks.items()}, number("gbps"), number("launch_us")


def floor_of(p, facts):
    """What no kernel can be faster than, in microseconds: operations at the peak of the wider type or bytes, and a launch."""
    peaks, gbps, launch = facts
    a, b = p.types.split(",")[:2]
    wide = a if size_of(a) >= size_of(b) else b
    return max(flops_of(p) / peaks[wide] / 1e6, memory_of(p) / gbps / 1e3) + launch


def kiln(o, command, text, *more, **settings):
    """What kiln says as JSON; settings: of the simulator, beside those that KILN_SIM has."""
    environment = dict(os.environ)
    given = [environment["KILN_SIM"]] if "KILN_SIM" in environment else []
    if settings:
        environment["KILN_SIM"] = ",".join(given + ["%s=%s" % x for x in settings.items()])
    run = subprocess.run([o.kiln, command, "--json", "--device", o.device] +
                         (["--modules", o.modules] if o.modules else []) + list(more) + [text], env=environment,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if run.returncode:
        sys.exit("%s: %s" % (text, run.stderr.strip()))
    return json.loads(run.stdout)


def explained(o, p):
    return kiln(o, "explain", text_of(p))


def costs_of(o, texts, most=0):
    """Of each problem {instance: microseconds}, least first, `most` of them (0: all); {} where nothing computes it."""
    program = os.path.join(os.path.dirname(os.path.dirname(o.kiln)), "tests", "costs")
    if not os.path.exists(program):
        sys.exit("no %s: `make test-programs` builds it" % program)
    with tempfile.TemporaryFile("w+") as said: # of all those that nothing computes
        run = subprocess.run([program, o.modules, o.device] + ([str(most)] if most else []), stdout=subprocess.PIPE,
                             stderr=said, input="".join(text + "\n" for text in texts), universal_newlines=True)
        if run.returncode:
            said.seek(0)
            sys.exit(said.read().strip())
    words = [line.split() for line in run.stdout.splitlines()]
    return [dict(zip(of[::2], map(float, of[1::2]))) for of in words]


def model(o):
    facts = facts_of(o.device.split(":")[1])
    csv_out = csv.writer(open(o.csv, "w", newline="")) if o.csv else None
    if csv_out:
        csv_out.writerow(["set", "problem", "floor us", "chosen us", "instance"])
    used, entries = collections.Counter(), []
    for seed in o.seeds:
        of_seed = []
        for p in sample_of(o, seed):
            chosen = explained(o, p)["candidates"][0]
            floor = floor_of(p, facts)
            used[chosen["instance"].split("/")[-1]] += 1
            of_seed.append((set_of(p), {"floor over chosen": floor / chosen["cost_us"]}))
            if csv_out:
                csv_out.writerow([set_of(p), text_of(p), "%.2f" % floor, "%.2f" % chosen["cost_us"], chosen["instance"]])
        ratios = [r["floor over chosen"] for _, r in of_seed]
        print("seed %d: %d problems, geomean %.3f, worst 5 %% %.3f, worst %.3f" %
              (seed, len(ratios), geomean(ratios), worst_part(ratios), min(ratios)))
        entries += of_seed
    print()
    both_tables(entries, ["floor over chosen"])
    if o.instances:
        for name, count in sorted(used.items(), key=lambda x: (-x[1], x[0])):
            print("%5d  %s" % (count, name))


FIRST_TRIP = 0.37 # microseconds by which a block begins later, with memory 600 ns away, than by the simulator's model


def price(o):
    """The cost model beside the simulator: chosen instances, on a unit's share of their problem, at most 4096 of K."""
    print("| problem, cut to one unit | instance | cost, us | simulator's, us | cost / simulator's |")
    print("|---|---|---|---|---|")
    ratios = []
    for p in [p for seed in o.seeds for p in sample_of(o, seed)][::o.step]:
        name = explained(o, p)["candidates"][0]["instance"]
        tile = re.search(r"_(\d+)x(\d+)x(\d+)_", name)
        m, n = [int(x) for x in tile.groups()[:2]]
        small = p._replace(m=min(p.m, 2 * m), n=min(p.n, n), k=min(p.k, 4096), batch=1,
                           fields=["align=256"] if not p.kind else [f for f in p.fields if f.startswith("align")])
        launch = facts_of(o.device.split(":")[1])[2]
        chosen = [c for c in kiln(o, "explain", text_of(small), units=1)["candidates"] if c["instance"] == name][0]
        launches = 2 if any(x["name"].startswith("adding") and x["us"] > 0 for x in chosen["parts"]) else 1
        cost = chosen["cost_us"] - launches * (launch + FIRST_TRIP)
        modelled = kiln(o, "bench", text_of(small), "--instance", name, units=1)[0]["modelled_us"]
        ratios.append(cost / modelled)
        print("| %s | %s | %.2f | %.2f | %.2f |" % (text_of(small), name.split("/")[-1], cost, modelled, ratios[-1]))
    print("\n%d: geomean %.2f, least %.2f, greatest %.2f" % (len(ratios), geomean(ratios), min(ratios), max(ratios)))


def check(o):
    """Whether `kiln` reads every problem and has a kernel for it."""
    for seed in o.seeds:
        for p in sample_of(o, seed):
            explained(o, p)
            if p.other:
                explained(o, p._replace(op=p.other.split()[0], types=p.other.split()[1],
                                        fields=[f for f in p.fields if not f.startswith("ldd.")]))


def sample_options(p):
    p.add_argument("--count", type=int, default=150, help="problems of a seed (150)")
    p.add_argument("--fp8", help="the target's 8-bit floats, or i8 where it has none (of the --device, else f8e4m3)")
    p.add_argument("--memory", type=int, default=4096, metavar="MIB", help="most that a problem's tensors take (4096)")
    p.add_argument("--flops", type=float, default=60, metavar="T", help="most operations of a problem, in 10^12 (60)")
    p.add_argument("--op", action="append", choices=sorted({x.name for x in OPS}), help="only this op; several times")
    p.add_argument("--most-m", type=int, metavar="M", help="no problem of more rows")


def explain_options(p):
    p.add_argument("seeds", type=int, nargs="+")
    p.add_argument("--device", default="sim:gfx942")
    p.add_argument("--modules", metavar="DIRS", help="as kiln's")
    p.add_argument("--kiln", default=os.path.join(ROOT, os.environ.get("BUILD", "build"), "bin", "kiln"))


def main():
    o = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = o.add_subparsers(dest="command", metavar="COMMAND")
    commands.required = True
    p = commands.add_parser("draw", help="problems for kiln bench --problems, on standard output")
    p.add_argument("--seed", type=int, required=True)
    p.set_defaults(run=lambda o: write(sample_of(o, o.seed), o.seed, sys.stdout))
    sample_options(p)
    p = commands.add_parser("tables", help="tables by op and by M of what kiln bench --csv printed")
    p.add_argument("csv", nargs="+")
    p.set_defaults(run=tables)
    p = commands.add_parser("model", help="modelled: the floor over the cost of what kiln explain says is chosen")
    explain_options(p)
    sample_options(p)
    p.add_argument("--csv", help="a line for each problem, too")
    p.add_argument("--instances", action="store_true", help="how often each tile is chosen")
    p.set_defaults(run=model)
    p = commands.add_parser("price", help="costs of chosen instances beside what the simulator says of a unit's share")
    explain_options(p)
    sample_options(p)
    p.add_argument("--step", type=int, default=12, help="of the seeds' problems every so many")
    p.set_defaults(run=price)
    p = commands.add_parser("check", help="whether kiln has a kernel for every problem of these seeds")
    explain_options(p)
    sample_options(p)
    p.set_defaults(run=check)
    o = o.parse_args()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL) # into head, say
    o.run(o)


if __name__ == "__main__":
    main()
