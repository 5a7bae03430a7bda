#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the tiles of a default set are worth, by the cost model: no GPU, no compiler for one.

  tests/bench/choices.sh /tmp/m /dev/null       a module of tables alone, in /tmp/m/lib; TARGET=gfx942: another's
  tile_sets.py never --modules /tmp/m/lib       which instances none of so many problems of their view has chosen
  tile_sets.py costs --modules /tmp/m/lib "gemm bf16,bf16,bf16 rcr" >costs.csv    all that is built, problem by problem
  tile_sets.py least costs.csv                  which tile goes first, second ..., and what a set without them loses
  tile_sets.py against less.csv costs.csv       what a smaller set loses: costs of the same problems from two modules
  tile_sets.py measured less.csv tiles.csv      measured times of what the model would choose of what less.csv has

A gemm's problems are drawn as gemm_sample.py draws them: layers of models times 1 to 16384 rows, and of five problems
one of random sizes, pitches and alignments.  Those of a row-wise op have 1 to 65536 rows of 1 to 131072 columns, a fifth
of them at odd addresses.  "Kept" is the larger set's least cost over the smaller one's.
"""
import argparse
import collections
import csv
import json
import math
import os
import re
import signal
import subprocess
import sys

import gemm_sample as sample


def problems_of(view, seeds, count):
    """Texts of a view's problems: "op types layout" of a gemm, "op types" of a row-wise op."""
    fields, found = view.split(), []
    for seed in seeds:
        r = sample.Draw(seed)
        before = len(found)
        while len(found) - before < count:
            odd = (len(found) - before) % 5 == 4
            if len(fields) == 2:
                rows, cols = r.spread(1, 65536), r.spread(1, 131072)
                cols = cols if odd else max(cols // 64 * 64, 1)
                if rows * cols <= 1 << 30:
                    found.append("%s rows=%d cols=%d align=%s" % (view, rows, cols, "4" if odd else "256"))
                continue
            name, types, layout = fields
            batched = name.startswith("bmm_") or (len(found) - before) % 10 == 0 # products of attention
            kinds = () if batched else sample.ANY
            op = sample.Op(1, name, types, layout, kinds, ())
            p = (sample.draw_odd if odd else sample.draw_model)(r, op, types)
            if p.batch * (p.m * p.k + p.n * p.k + p.m * p.n) <= 1 << 31 and p.batch * p.m * p.n * p.k <= 1 << 44:
                found.append(sample.text_of(p))
    return found


def costs(o):
    out = csv.writer(sys.stdout)
    out.writerow(["view", "problem", "instance", "us"])
    if o.problems:
        with open(o.problems, newline="") as f:
            texts = list(collections.OrderedDict.fromkeys(row["problem"] for row in csv.DictReader(f)))
        listed = [(" ".join(x for x in text.split() if "=" not in x), text) for text in texts]
    else:
        listed = [(view, text) for view in o.views for text in problems_of(view, o.seed, o.count)]
    for (view, text), of in zip(listed, sample.costs_of(o, [text for _, text in listed])):
        for instance, us in of.items():
            out.writerow([view, text, instance, us])


def never(o):
    """No problems are drawn of attention and of ops that gather."""
    listed = subprocess.run([o.kiln, "list", "--json", "--modules", o.modules], stdout=subprocess.PIPE, check=True,
                            universal_newlines=True).stdout
    total, unused, seldom = [collections.Counter() for _ in range(3)]
    views, drawn = collections.OrderedDict(), {}
    for row in json.loads(listed):
        types = ",".join(row["types"][x] for x in "abe") if row["family"] == "gemm" else ",".join(row["types"].values())
        view = " ".join([row["op"], types] + ([row["layouts"]] if row["family"] == "gemm" else []))
        if row["family"] != "attention" and (not o.views or view in o.views):
            views.setdefault(view, []).append((row["family"], row["schedule"], row["name"].split("/")[-1]))
    for view, instances in views.items():
        # What a view has drawn depends on its types and layouts, and on whether its op is one for batches.
        fields = view.split()
        kind = (fields[0].startswith("bmm_"), *fields[1:])
        if kind not in drawn:
            drawn[kind] = [p[len(view):] for p in problems_of(view, o.seed, o.count)]
        least_costs = sample.costs_of(o, [view + rest for rest in drawn[kind]], 1)
        chosen = collections.Counter(instance for of in least_costs for instance in of)
        if not chosen:
            continue
        for family, schedule, instance in instances:
            total[family, schedule] += 1
            unused[family, schedule] += chosen[instance] == 0
            seldom[family, schedule] += 1000 * chosen[instance] < sum(chosen.values())
            if not chosen[instance] and o.names:
                print("%s %s" % (view, instance))
    print("| family | schedule | instances | never chosen | by less than one of 1000 |\n|---|---|---|---|---|")
    for of in sorted(total):
        print("| %s | %s | %d | %d | %d |" % (*of, total[of], unused[of], seldom[of]))


def read(path):
    """{view: {problem: {instance: microseconds}}}"""
    found = collections.OrderedDict()
    with open(path, newline="") as f:
        for row in csv.DictReader(f):
            of = found.setdefault(row["view"], collections.OrderedDict()).setdefault(row["problem"], {})
            of[row["instance"]] = float(row["us"])
    return found


def figures(kept):
    return "%.4f | %.3f | %.3f" % (sample.geomean(kept), sample.worst_part(kept), min(kept))


def least(o):
    """Backward: of all that are left goes, each time, what others replace best for the time that compiling it takes."""
    dear = [(pattern, float(s)) for pattern, s in (x.split("=") for x in o.seconds)]
    seconds = lambda tile: next((s for pattern, s in dear if re.search(pattern, tile)), 0.4)
    views = read(o.costs)
    problems = [(view, p, c) for view, of in views.items() for p, c in of.items() if not o.view or view in o.view]
    tiles = sorted({i for _, _, c in problems for i in c})
    chosen = collections.Counter(min(c, key=c.get) for _, _, c in problems)
    print("| tile that goes | chosen by | left | seconds | kept: geomean | worst 5 % | worst |")
    print("|---|---|---|---|---|---|---|")
    left = set(tiles)
    best = [min(c.values()) for _, _, c in problems]
    while len(left) > 1:
        order = [sorted((us, i) for i, us in c.items() if i in left) for _, _, c in problems]
        price = collections.Counter({i: 0.0 for i in left})
        for of, whole in zip(order, best):
            then = of[1][0] if len(of) > 1 else math.inf
            # What is lost counts by its square, too, so that nothing falls far.
            if then < math.inf:
                a, b = math.log(of[0][0] / whole), math.log(then / whole)
                price[of[0][1]] += b - a + o.square * (b * b - a * a)
            else:
                price[of[0][1]] = math.inf
        gone = min(sorted(left - set(o.keep)), key=lambda i: price[i] / seconds(i), default=None)
        if gone is None or price[gone] == math.inf:
            break
        left.remove(gone)
        kept = [whole / min(us for i, us in c.items() if i in left) for (_, _, c), whole in zip(problems, best)]
        to_compile = sum(map(seconds, left))
        print("| %s | %d | %d | %.1f | %s |" % (gone, chosen[gone], len(left), to_compile, figures(kept)))
        if sample.geomean(kept) < o.until:
            break
    print("left: " + ", ".join(sorted(left)))


def against(o):
    less, more = read(o.less), read(o.costs)
    print("| view | problems | instances before | now | kept: geomean | worst 5 % | worst |\n|---|---|---|---|---|---|---|")
    everything = []
    for view, of in more.items():
        if view not in less:
            continue
        now = less[view]
        kept = [min(c.values()) / min(now[p].values()) for p, c in of.items()]
        before, after = [len({i for c in x.values() for i in c}) for x in (of, now)]
        print("| %s | %d | %d | %d | %s |" % (view, len(kept), before, after, figures(kept)))
        everything += kept
        for k, p in sorted(zip(kept, of))[:o.worst]:
            print("  %.3f %s: %s instead of %s" % (k, p, min(now[p], key=now[p].get), min(of[p], key=of[p].get)))
    print("| all | %d | | | %s |" % (len(everything), figures(everything)))


def measured(o):
    """Only problems of which what is chosen now was timed, too."""
    less, times = read(o.less), {}
    with open(o.tiles, newline="") as f:
        for row in csv.DictReader(f):
            if row["implementation"] == "kiln":
                times.setdefault(row["problem"], {})[row["note"].split("/")[-1].split(",")[0]] = float(row["us"])
    print("| view | problems | best timed over best of those left | worst 5 % | worst | over what is chosen | worst 5 % |"
          " worst |\n|---|---|---|---|---|---|---|---|")
    built, chosen = [], []
    for view, of in less.items():
        b, c = [], []
        for p, candidates in of.items():
            here = times.get(p, {})
            left = [us for i, us in here.items() if i in candidates]
            best = min(candidates, key=candidates.get)
            if left and best in here:
                b.append(min(here.values()) / min(left))
                c.append(min(here.values()) / here[best])
                if c[-1] < o.worst:
                    print("  %.3f %s: %s, %.2f us, of all %s, of those left %s" %
                          (c[-1], p, best, here[best], min(here, key=here.get), min(left)))
        if b:
            print("| %s | %d | %s | %s |" % (view, len(b), figures(b), figures(c)))
        built, chosen = built + b, chosen + c
    print("| all | %d | %s | %s |" % (len(built), figures(built), figures(chosen)))


def drawing_options(p):
    p.add_argument("--seed", type=int, action="append", help="one or several (1)")
    p.add_argument("--count", type=int, default=300, help="problems of a view and a seed (300)")
    p.add_argument("--modules", required=True, metavar="DIRS", help="as kiln's")
    p.add_argument("--device", default="none:sm_90a:132")
    p.add_argument("--kiln", default=os.path.join(sample.ROOT, os.environ.get("BUILD", "build"), "bin", "kiln"))


def main():
    o = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = o.add_subparsers(dest="command", metavar="COMMAND")
    commands.required = True
    p = commands.add_parser("costs", help="all instances' costs of problems of these views, as CSV")
    p.add_argument("views", nargs="*", metavar="VIEW", help='"gemm bf16,bf16,bf16 rcr"')
    p.add_argument("--problems", metavar="CSV", help="those of a file with such a column, in place of drawn ones")
    drawing_options(p)
    p.set_defaults(run=costs)
    p = commands.add_parser("never", help="how many instances no drawn problem has chosen, and hardly any")
    p.add_argument("views", nargs="*", metavar="VIEW", help="those of all that is built")
    p.add_argument("--names", action="store_true", help="which ones, too")
    drawing_options(p)
    p.set_defaults(run=never)
    p = commands.add_parser("least", help="tiles in the order in which they can go")
    p.add_argument("costs")
    p.add_argument("--view", action="append", help="only this one; several: one set for all of them")
    p.add_argument("--keep", action="append", default=[], metavar="TILE", help="one that stays")
    p.add_argument("--seconds", action="append", default=[], metavar="PATTERN=S",
                   help="to compile tiles whose names have the pattern; the first that fits (0.4)")
    p.add_argument("--square", type=float, default=2, help="weight of squares of what is lost (2)")
    p.add_argument("--until", type=float, default=0.9, help="of the geometric mean (0.9)")
    p.set_defaults(run=least)
    p = commands.add_parser("against", help="a smaller set's costs beside a larger one's")
    p.add_argument("less")
    p.add_argument("costs")
    p.add_argument("--worst", type=int, default=0, help="so many problems of each view that lose most")
    p.set_defaults(run=against)
    p = commands.add_parser("measured", help="a smaller set by times that a GPU took (kiln bench --all --csv)")
    p.add_argument("less")
    p.add_argument("tiles")
    p.add_argument("--worst", type=float, default=0, help="problems below this")
    p.set_defaults(run=measured)
    o = o.parse_args()
    if o.command in ("costs", "never"):
        o.seed = o.seed or [1]
    signal.signal(signal.SIGPIPE, signal.SIG_DFL) # into head, say
    o.run(o)


main()
