# SPDX-License-Identifier: MIT
"""What the programs *_peers.py share: peers timed by torch in one run with `kiln bench`, and its protocol.

Random inputs in sets that together have four times the last-level cache, a CUDA graph of launches that walk over them,
40 ms of rest before each replay of some 6 ms, implementations in turn, medians."""
import argparse
import csv
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import torch

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Recording:
    """A graph of launches of one implementation over all sets.  Where `f.eager` is true it can be captured in none:
    then the time is that of its kernels alone, as torch's profiler has it."""

    def __init__(self, f, sets, length=0.006):
        self.keep, self.times = [None] * len(sets), []
        self.f, self.sets, self.graph = f, sets, None
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                f(*sets[0])
            torch.cuda.synchronize()
            trial, took = 4, 0.0
            while took < length / 2 and trial < 20000:
                start = time.perf_counter()
                for i in range(trial):
                    f(*sets[i % len(sets)])
                torch.cuda.synchronize()
                took, trial = time.perf_counter() - start, trial * 2
            if getattr(f, "eager", False):  # what the host takes says nothing
                took, trial = length, 8
            self.launches = max(1, min(20000, round(length / (took / (trial / 2)))))
            self.launches = -(-self.launches // len(sets)) * len(sets)
            if not getattr(f, "eager", False):
                self.graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(self.graph, stream=stream):
                    self.launch()
        torch.cuda.synchronize()

    def launch(self):
        for i in range(self.launches):  # what a launch writes is kept until its set's turn comes again
            self.keep[i % len(self.sets)] = self.f(*self.sets[i % len(self.sets)])

    def replay(self):
        if not self.graph:
            with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as seen:
                self.launch()
                torch.cuda.synchronize()
            us = sum(e.device_time_total for e in seen.events() if e.device_type == torch.autograd.DeviceType.CUDA)
            self.times.append(us / self.launches)
            return
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        self.graph.replay()
        end.record()
        end.synchronize()
        self.times.append(begin.elapsed_time(end) * 1e3 / self.launches)


def sets_of(p):
    """How many sets of a problem's inputs have four times the last-level cache."""
    cache = getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 0) or 64 << 20
    return max(2, min(256, -(-4 * cache // p.bytes())))


def time_peers(p, peers, sets, check, seconds, notes):
    """Microseconds of each peer (name: a function that gives one, or raises why there is none), and the names of those
    that compute something else: check(name, results, inputs) is the share of what is allowed that they are off by."""
    recordings, wrong = {}, set()
    for name, peer in peers.items():
        try:
            f = peer()
            worst = check(name, f(*sets[0]), sets[0])
            if worst > 1:
                notes.append("%s: %s computes something else (%.3g of what is allowed)" % (p.text, name, worst))
                wrong.add(name)
                continue
            recordings[name] = Recording(f, sets)
        except Exception as e:  # pylint: disable=broad-except
            if not isinstance(e, NotImplementedError):
                notes.append("%s: %s: %s" % (p.text, name, (str(e).splitlines() or [type(e).__name__])[0][:160]))
    start, rounds = time.perf_counter(), 0
    while recordings and (rounds < 6 or time.perf_counter() - start < seconds * len(recordings)):
        for r in recordings.values():
            time.sleep(0.04)
            r.replay()
        rounds += 1
    best = {name: statistics.median(r.times[1:]) for name, r in recordings.items()}
    del recordings
    torch.cuda.empty_cache()
    print("%s: %s" % (p.text, ", ".join("%s %.2f us" % t for t in best.items())), file=sys.stderr)
    return best, wrong


def read_problems(path, problem):
    """problem(group, text) of each line."""
    group, found = "", []
    with open(path, encoding="utf-8") as lines:
        for line in map(str.strip, lines):
            named = re.match(r"\[(.*?)\]", line)
            if named:
                group = named[1]
            elif line and not line.startswith("#"):
                found.append(problem(group, line))
    return found


def kiln_rows(args):
    """Kiln's rows of what `kiln bench` wrote, or writes now, of all problems."""
    if not args.kiln:
        handle, args.kiln = tempfile.mkstemp(suffix=".csv")
        os.close(handle)
        subprocess.run([args.kiln_program, "bench", "--device", "nvidia", "--problems", args.problems, "--seconds",
                        str(args.seconds), "--csv=" + args.kiln], check=True)
    with open(args.kiln, newline="", encoding="utf-8") as lines:
        return [r for r in csv.DictReader(lines) if r["implementation"] == "kiln"]


def geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def add_options(a, problems):
    a.add_argument("--problems", default=os.path.join(ROOT, "docs/benchmarks", problems))
    a.add_argument("--kiln", metavar="CSV", help="what `kiln bench --csv=CSV` said; else it is run now")
    a.add_argument("--kiln-program", default=os.path.join(ROOT, "build/bin/kiln"))
    a.add_argument("--seconds", type=float, default=0.25, help="for each peer of a problem; default %(default)s")
    a.add_argument("--seed", type=int, default=1)
    a.add_argument("--csv", help="where the table goes; default standard output")


def write_table(args, put):
    """put(file) writes it."""
    if args.csv:
        with open(args.csv, "w", newline="", encoding="utf-8") as out:
            put(out)
    else:
        put(sys.stdout)


def put_table(problems, times, kiln, names, out):
    """Of each problem Kiln's time, those of the peers, and theirs over Kiln's; geometric means of these by set."""
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["set", "problem", "kiln us"] + [n + " us" for n in names] + [n + " over kiln" for n in names] +
                  ["kernel"])
    ratios = {}
    for p in problems:
        us, kernel = kiln.get(p.text, (math.nan, ""))
        found = [times.get(p.text, {}).get(n, math.nan) for n in names]
        over = [t / us for t in found]
        for name, ratio in zip(names, over):
            if ratio == ratio:
                ratios.setdefault((p.group, name), []).append(ratio)
        rows.writerow([p.group, p.text, "%.2f" % us] + ["%.2f" % t if t == t else "" for t in found] +
                      ["%.3f" % r if r == r else "" for r in over] + [kernel])
    for (group, name), values in ratios.items():
        shown = (group, name, len(values), geomean(values), min(values))
        print("%s: %s over kiln, %d problems: geomean %.3f, least %.3f" % shown, file=sys.stderr)


def compare(description, file, problem, time_problem, names):
    """A program that times the problems of a file, by time_problem(p, seconds, generator, notes), which gives times by
    name and the names of those that are wrong, and joins what `kiln bench` says of them; its exit code."""
    a = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(a, file)
    args = a.parse_args()
    if not torch.cuda.is_available():
        print(a.prog + ": torch finds no GPU", file=sys.stderr)
        return 77
    problems, generator = read_problems(args.problems, problem), torch.Generator("cuda").manual_seed(args.seed)
    times, notes, right = {}, [], True
    for p in problems:
        times[p.text], wrong = time_problem(p, args.seconds, generator, notes)
        right = right and not wrong
    kiln = {r["problem"]: (float(r["us"]), r["note"]) for r in kiln_rows(args)}
    write_table(args, lambda out: put_table(problems, times, kiln, names, out))
    for note in notes:
        print(note, file=sys.stderr)
    return 0 if right else 1
