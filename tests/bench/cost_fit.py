#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Constants of a schedule's cost model, fitted to times that a GPU took (kiln bench --all --csv); needs no GPU.

  cost_fit.py templates/gemm/mma.lua --times tiles.csv                 what the model is worth as it is
  cost_fit.py templates/gemm/mma.lua --times tiles.csv --seconds 300 --out mma.lua
                                                            a better one, to be read and rounded before it is kept
  ... --only 'local memory'                                 constants of lines of `cost` that match, instead of all

Coordinate descent: one after the other each number of the function `cost` that has a decimal point is made larger or
smaller by a step, which is halved after each round, and kept so where that pays.  What is to be small is the mean over
problems of the logarithm of chosen over best time, where an instance counts as chosen the more, the nearer it is to the
least cost (by exp(-x/0.035), x: the logarithm of its cost over the least), and a quarter of the mean square of the
costs' logarithmic errors (up to 0.4) of instances within 1.5 of the best, a problem's mean first; a number that moves
has to pay for it.  What is tried is evaluated by Lua (cost_values.lua) where that says what a module does; the first
figure and the last are a module's.  Chosen and best are of problems with three instances or more that were timed and
are built.  How deep a ring is, `_d4`, is left out of names.
"""
import argparse
import collections
import csv
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import gemm_sample as sample

NUMBER = re.compile(r"(?<![\w.])\d+\.\d+(?:e-?\d+)?(?![\w.])")


def plain(name):
    return re.sub(r"_d\d+(?=_|$)", "", name)


def read_times(paths):
    """{problem: {instance: microseconds}}; of one that was timed several times the least."""
    found = collections.OrderedDict()
    for path in paths:
        with open(path, newline="", encoding="utf-8") as table:
            for row in csv.DictReader(table):
                if row["implementation"] != "kiln" or not row["us"]:
                    continue
                of = found.setdefault(row["problem"].split(" vs ")[0], {})
                name = plain(row["note"].split("/")[-1].split(",")[0])
                of[name] = min(float(row["us"]), of.get(name, math.inf))
    return found


PITCHES = (("a", 0, "mk"), ("b", 1, "kn"), ("e", 2, "mn"))


def fields(problem, types, layouts, units):
    """What `cost` sees of a problem as `p`."""
    given = {k: int(v) for k, v in re.findall(r"\b(\w+)=(\d+)", problem)}
    p = {"m": 1, "n": 1, "k": 1, "batch": 1}
    p.update({name: given[name] for name in p if name in given}, units=units, gbps=0)
    for name, place, sides in PITCHES:
        across, along = sides if layouts[place] == "r" else sides[::-1]
        p["ld" + name] = given.get("ld" + name, p[along])
        bits = int(re.search(r"\d+", types[name]).group())
        address = given.get("align" + name, given.get("align", 256))
        p["align_" + name] = math.gcd(address, p["ld" + name] * bits // 8, 256)
    p["align_d"] = p["align_e"]
    return p


def lua(of):
    return "{ %s }" % ", ".join("%s = %s" % pair for pair in of.items())


class Model:
    """A module of tables alone, of copies of the templates and of the ops that were timed; and `cost` by numbers."""

    def __init__(self, folder, schedule, ops, o):
        self.folder, self.o = folder, o
        self.templates = os.path.join(folder, "templates")
        self.schedule = os.path.relpath(os.path.abspath(schedule), os.path.join(sample.ROOT, "templates"))
        shutil.copytree(os.path.join(sample.ROOT, "templates"), self.templates)
        self.environment = dict(os.environ, OPS=" ".join(ops), SCHEDULES=self.templates, TARGET=o.target)
        module = os.path.join(folder, "module")
        self.values, self.known, self.pairs = None, {}, []
        self.asked = argparse.Namespace(kiln=o.kiln, modules=os.path.join(module, "lib"),
                                        device="none:%s:%d" % (o.target, o.units))

    def write(self, text, name):
        with open(name, "w", encoding="utf-8") as out:
            out.write(text)
        return name

    def costs(self, text, problems):
        """{problem: {instance: microseconds}} with this text as the schedule's, by a module that is built."""
        self.write(text, os.path.join(self.templates, self.schedule))
        choices = os.path.join(sample.ROOT, "tests", "bench", "choices.sh")
        made = subprocess.run([choices, os.path.join(self.folder, "module"), "/dev/null"], env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
        if made.returncode:
            sys.exit(made.stdout.strip() or "%s: exit status %d" % (choices, made.returncode))
        return {problem: {plain(instance): us for instance, us in of.items()}
                for problem, of in zip(problems, sample.costs_of(self.asked, problems))}

    def follow(self, text, costs, times):
        """Evaluates `cost` of gemm from now on: of what was timed, where it says what the module says, to 0.3 %."""
        family, schedule = os.path.split(os.path.splitext(self.schedule)[0])
        if family != "gemm":
            return
        rows = {}
        listed = subprocess.run([self.o.kiln, "list", "--json", "--modules", self.asked.modules],
                                stdout=subprocess.PIPE, check=True, universal_newlines=True).stdout
        for row in json.loads(listed):
            if row["schedule"] == schedule:
                types = ",".join(row["types"][x] for x in "abe")
                rows[row["op"], types, row["layouts"], plain(row["name"].split("/")[-1])] = row
        seen, tiles, pairs = [], [], []
        for problem, of in costs.items():
            op, types, layouts = problem.split()[:3]
            for instance in sorted(set(of) & set(times[problem])):
                row = rows.get((op, ",".join(types.split(",")[:3]), layouts, instance))
                if row:
                    pairs.append((problem, instance, len(seen) + 1, len(tiles) + 1))
                    tiles.append(dict(row["tunables"], **row["derived"]))
            seen.append(fields(problem, dict(zip("abe", types.split(","))), layouts, self.o.units))
        given = "return { problems = { %s },\ntiles = { %s },\npairs = { %s } }\n" % (
            ",\n".join(map(lua, seen)), ",\n".join(map(lua, tiles)), ", ".join("{ %d, %d }" % p[2:] for p in pairs))
        program = os.path.join(os.path.dirname(os.path.dirname(self.o.kiln)), "tests", "cost_values")
        if not os.path.exists(program):
            sys.exit("cost_fit.py: no %s: `make test-programs` builds it" % program)
        script = os.path.join(sample.ROOT, "tests", "bench", "cost_values.lua")
        file = self.write(given, os.path.join(self.folder, "pairs.lua"))
        self.values = subprocess.Popen([program, script, self.templates, self.o.target, file], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, universal_newlines=True)
        self.known = costs
        said = self.evaluate(text)
        self.pairs = [p if abs(us / costs[p[0]][p[1]] - 1) < 0.003 else None for p, us in zip(pairs, said)]
        followed = len(pairs) - self.pairs.count(None)
        print("%d of %d costs of this schedule are followed" % (followed, len(pairs)), flush=True)

    def evaluate(self, text):
        self.values.stdin.write(self.write(text, os.path.join(self.folder, "tried.lua")) + "\n")
        self.values.stdin.flush()
        line = self.values.stdout.readline()
        if not line or line.startswith("error"):
            sys.exit("cost_fit.py: %s" % (line.strip() or "cost_values has ended"))
        return [float(us) for us in line.split()]

    def tried(self, text, times):
        """The same as `costs`, by numbers; of pairs that `follow` did not find to agree, what the module said."""
        if not self.values:
            return self.costs(text, times)
        costs = {problem: dict(of) for problem, of in self.known.items()}
        for pair, us in zip(self.pairs, self.evaluate(text)):
            if pair:
                costs[pair[0]][pair[1]] = us
        return costs

    def end(self):
        if self.values:
            self.values.stdin.close()
            self.values.wait()


def judge(costs, times):
    """What is to be small, and it in words."""
    soft, kept, squares, count = 0, [], [], 0
    for problem, of in times.items():
        cost = {i: costs[problem][i] for i in of if i in costs[problem]}
        if not cost:
            continue
        best, least = min(of[i] for i in cost), min(cost.values())
        errors = [max(-0.4, min(0.4, math.log(cost[i] / of[i]))) ** 2 for i in cost if of[i] < 1.5 * best]
        squares.append(sum(errors) / len(errors))
        count += len(errors)
        if len(cost) < 3:
            continue
        weight = {i: math.exp(-math.log(cost[i] / least) / 0.035) for i in cost}
        soft += sum(weight[i] * min(math.log(of[i] / best), 0.6) for i in cost) / sum(weight.values())
        kept.append(best / of[min(cost, key=cost.get)])
    if not kept:
        sys.exit("cost_fit.py: no problem has three instances that were timed and are built")
    square = sum(squares) / len(squares)
    loss = soft / len(kept) + 0.25 * square
    words = "%.5f: of %d problems chosen at %.4f of the best (worst 5 %% %.3f, worst %.3f); %d costs of %d, error %.3f"
    return loss, words % (loss, len(kept), sample.geomean(kept), sample.worst_part(kept), min(kept), count, len(squares),
                          square ** 0.5)


def constants(text, only):
    """[(where it begins, where it ends)] of the numbers in `cost`."""
    begin = text.index("  cost = function")
    end, at, found = text.index("\n  end,", begin), begin, []
    for line in text[begin:end].splitlines(keepends=True):
        code = line.split("--")[0]
        if re.search(only, code):
            found += [(at + m.start(), at + m.end()) for m in NUMBER.finditer(code)]
        at += len(line)
    return found


def fit(model, times, text, o):
    where = constants(text, o.only)
    start = [float(text[a:b]) for a, b in where]
    now, step, deadline = list(start), o.step, time.monotonic() + o.seconds

    def written(values):
        out, at = [], 0
        for (a, b), v, before in zip(where, values, start):
            out += [text[at:a], text[a:b] if v == before else "%.4g" % v]
            at = b
        return "".join(out) + text[at:]

    def price(values):
        moved = sum(abs(math.log(v / before)) for v, before in zip(values, start) if v != before)
        return judge(model.tried(written(values), times), times)[0] + 0.001 * moved

    best = price(now)
    while time.monotonic() < deadline and step > 0.02:
        for k, (a, _) in enumerate(where):
            for factor in (1 + step, 1 / (1 + step)):
                if now[k] == 0 or time.monotonic() > deadline:
                    break
                tried = list(now)
                tried[k] *= factor
                then = price(tried)
                if then < best - 1e-5:
                    now, best = tried, then
                    line = text[:a].count("\n") + 1
                    print("%.5f  line %d: %g becomes %.4g" % (best, line, start[k], now[k]), flush=True)
                    break
        step /= 2
    return written(now)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("schedule", metavar="SCHEDULE.lua", help="in this tree's templates/")
    p.add_argument("--times", action="append", required=True, metavar="CSV", help="several times: several files")
    p.add_argument("--only", default="", metavar="REGEX", help="constants of these lines")
    p.add_argument("--seconds", type=float, default=0, help="how long to try (0: not at all)")
    p.add_argument("--step", type=float, default=0.15, help="of a number at first (0.15)")
    p.add_argument("--out", metavar="FILE", help="the schedule's text with what was found")
    p.add_argument("--target", default="sm_90a")
    p.add_argument("--units", type=int, default=132)
    p.add_argument("--kiln", default=os.path.join(sample.ROOT, os.environ.get("BUILD", "build"), "bin", "kiln"))
    o = p.parse_args()
    times = read_times(o.times)
    with open(o.schedule, encoding="utf-8") as source:
        text = source.read()
    with tempfile.TemporaryDirectory() as folder:
        model = Model(folder, o.schedule, sorted({problem.split()[0] for problem in times}), o)
        costs = model.costs(text, times)
        print(judge(costs, times)[1], flush=True)
        if not o.seconds:
            return
        model.follow(text, costs, times)
        text = fit(model, times, text, o)
        model.end()
        print(judge(model.costs(text, times), times)[1])
        if o.out:
            with open(o.out, "w", encoding="utf-8") as out:
                out.write(text)


if __name__ == "__main__":
    main()
