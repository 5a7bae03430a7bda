# SPDX-License-Identifier: MIT
"""What smoothquant_opt.py and llama_fp8.py share: options, finding Kiln, steps of Kiln's ops beside what torch computes for
them in double precision, time of several implementations in turn, one table."""
import argparse
import itertools
import os
import statistics
import sys
import time

import torch

OPS = "build/modules/ops"  # modules of examples/ops
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
try:
    import kiln
except ImportError:
    sys.path.insert(0, os.path.join(ROOT, "build", "python"))
    import kiln


# ---- options and devices ----

def parser(about):
    """With what both programs take; about: the program's docstring."""
    text, _, examples = about.partition("\n\n")
    made = argparse.ArgumentParser(description=text, epilog="\n" + examples, usage="%(prog)s [OPTION...]",
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--device", choices=["cuda", "host"], help="default: a GPU where there is one")
    made.add_argument("--no-compile", dest="compile", action="store_false", help="leave torch.compile out")
    made.add_argument("--ops", action="store_true", help="kernel, sizes and time of each op that is checked, too")
    made.add_argument("--modules", default=OPS, help="folder of the modules of examples/ops (default: %(default)s)")
    return made


class Place:
    """Where to run: the host, or a GPU, of several one to a process (torchrun)."""

    def __init__(self, name, modules):
        self.ranks, self.rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
        if name is None:
            name = "cuda" if torch.cuda.is_available() else "host"
        self.host = name == "host"
        index = int(os.environ.get("LOCAL_RANK", 0))
        self.device = torch.device("cpu") if self.host else torch.device("cuda", index)
        if not self.host:
            torch.cuda.set_device(self.device)
        self.kiln = "host" if self.host else f"{'amd' if torch.version.hip else 'nvidia'}:{index}"
        if self.ranks > 1:
            torch.distributed.init_process_group("gloo" if self.host else "nccl",
                                                 device_id=None if self.host else self.device)
        torch.manual_seed(0)
        self.generator = torch.Generator(self.device).manual_seed(1)  # the same numbers in every process
        folder = os.path.join(ROOT, modules)
        if os.path.isdir(folder):
            kiln.load(folder)

    def require(self, names, own):
        """Ends the program where an op is not built for this device; own: those of examples/ops."""
        built = {k.op for k in kiln.list(device=self.kiln)}
        missing, target = [n for n in names + own if n not in built], kiln.device(self.kiln).target or "host"
        targets = " ".join(dict.fromkeys(["host", target]))
        if missing:
            sys.exit(f"not built for {target}: {', '.join(missing)}.  Where the compilers are:\n"
                     f"    make python instances OPS=\"{' '.join(names)}\" TARGETS=\"{targets}\"\n"
                     f"    make instances INSTANCES=examples/ops TARGETS=\"{targets}\"")

    def say(self, text):
        if self.rank == 0:
            print(text, flush=True)

    def random(self, *shape, dtype=torch.float32, scale=1.0):
        made = torch.randn(*shape, device=self.device, generator=self.generator)
        return made.mul_(scale).to(dtype)

    def wait(self):
        if not self.host:
            torch.cuda.synchronize()

    def finish(self):
        if self.ranks > 1:
            torch.distributed.destroy_process_group()


# ---- what should come out ----

def relative(x, y):
    return ((x.double() - y.double()).norm() / y.double().norm()).item()


def causal(scores):
    """[..., row, key], the last row at the last key: later keys count nothing."""
    rows, keys = scores.shape[-2:]
    after = torch.ones(rows, keys, dtype=torch.bool, device=scores.device).triu(keys - rows + 1)
    return scores.masked_fill_(after, float("-inf"))


def attended(q, k, v, scale):
    """Causal attention, [head, row, element], in double precision."""
    group = q.shape[0] // k.shape[0]
    o = torch.empty(q.shape, dtype=torch.float64, device=q.device)
    lse = torch.empty(q.shape[:2], dtype=torch.float64, device=q.device)
    for i in range(k.shape[0]):
        mine = slice(i * group, (i + 1) * group)
        s = causal(q[mine].double() @ k[i].double().t() * scale)
        lse[mine], o[mine] = s.logsumexp(-1), s.softmax(-1) @ v[i].double()
    return {"o": o, "lse": lse}


# ---- steps ----

def rounded(value, dtype):
    return value.round().clamp(-128, 127).to(dtype) if dtype == torch.int8 else value.to(dtype)


class Kiln:
    """A call of an op.  want() gives its outputs, not rounded, of the inputs as they are then; scales: of outputs that
    are quantised, their scale as an output of the same call."""

    def __init__(self, name, given, out, want, tolerance=None, scales=None):
        self.name, self.op, self.given, self.out = name, kiln.op(name), given, out
        self.want, self.tolerance, self.scales = want, tolerance, scales or {}

    def run(self):
        self.op(**self.given, out=self.out)

    def emulate(self):
        for name, value in self.want().items():
            self.out[name].copy_(rounded(value, self.out[name].dtype))

    def result(self, name):
        value = self.out[name].double()
        if name in self.scales:
            value = value * self.out[self.scales[name]].double().repeat_interleave(128, -1)[..., :value.shape[-1]]
        return value

    def errors(self):
        """Runs it; of each output the largest difference of an element from what it should be, over the largest magnitude,
        and what is allowed.  Of i8: in units of the last place, of which half a one is rounding."""
        want = {name: value.double() for name, value in self.want().items()}
        self.run()
        for name, value in want.items():
            units = self.out[name].dtype == torch.int8
            value = value.clamp(-128, 127) if units else value
            apart = (self.result(name) - value).abs().max().item()
            allowed = self.tolerance[name] if isinstance(self.tolerance, dict) else self.tolerance
            yield name, apart if units else apart / max(value.abs().max().item(), 1e-30), 0.51 if units else allowed

    def kernel(self, place):
        """Its name, and the sizes it is for."""
        problem = self.op.problem(**self.given, out=self.out)
        sizes = itertools.takewhile(lambda word: not word.startswith(("ld", "align")), (w for w in problem.split() if "=" in w))
        return " ".join([kiln.find(problem, place.kiln).name.split("/", 1)[1], *sizes])


class Torch:
    """What is left to torch."""

    def __init__(self, name, function):
        self.name, self.run, self.emulate = name, function, function


def run(steps):
    for step in steps:
        step.run()


def emulate(steps):
    for step in steps:
        step.emulate()


# ---- time ----

def captured(call):
    """One CUDA graph of what the call launches."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        call()
    return graph.replay


def in_turn(place, calls, rounds=15, idle=0.04):
    """Milliseconds of each, the median of rounds: one after the other in each round, on a GPU each behind an idle time
    and for some 6 ms, so that none inherits the others' heat."""
    counts, times = {}, {name: [] for name in calls}
    for name, call in calls.items():
        call()
        place.wait()
        start = time.perf_counter()
        call()
        place.wait()
        counts[name] = 1 if place.host else max(1, int(6e-3 / (time.perf_counter() - start)))
    if place.ranks > 1:  # all do as many
        shared = torch.tensor(list(counts.values()), device=place.device)
        torch.distributed.broadcast(shared, 0)
        counts = dict(zip(counts, shared.tolist()))
    for _ in range(3 if place.host else rounds):
        for name, call in calls.items():
            if place.host:
                start = time.perf_counter()
                call()
                times[name].append(1e3 * (time.perf_counter() - start))
                continue
            if place.ranks > 1:
                torch.distributed.barrier()
            place.wait()
            time.sleep(idle)
            first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            first.record()
            for _ in range(counts[name]):
                call()
            last.record()
            place.wait()
            times[name].append(first.elapsed_time(last) / counts[name])
    return {name: statistics.median(t) for name, t in times.items()}


def graphs(place, calls, eager=()):
    """Each as one CUDA graph, but for those that are to be launched as they are."""
    if place.host:
        return calls
    return {name: call if name in eager else captured(call) for name, call in calls.items()}


# ---- the table ----

class Table:
    def __init__(self, place):
        self.place, self.rows, self.failed = place, [], []

    def add(self, what, ms=None, ratio=None, error=None, allowed=None):
        if allowed is not None and not error <= allowed:
            self.failed.append(what)
        self.rows.append((what, *("" if x is None else f"{x:.{n}}" for x, n in
                                  ((ms, "4g"), (ratio, "2f"), (error, "2e"), (allowed, "1e")))))

    def check(self, title, steps, time_ops=False, only=None):
        """Runs the steps, each of Kiln's (or those of these names alone) beside torch; a row for each output of an op."""
        errors, calls = {}, {}
        for step in steps:
            if not isinstance(step, Kiln) or only and step.name not in only:
                step.run()
                continue
            for name, error, allowed in step.errors():
                key = f"{title}: {step.name}, {name}", allowed
                before = errors.get(key, 0.0)
                errors[key] = error if error != error else max(before, error)
            if time_ops:
                calls[f"{title}: {step.kernel(self.place)}"] = step.run
        for (what, allowed), error in errors.items():
            self.add(what, error=error, allowed=allowed)
        for what, call in calls.items():
            self.add(what, in_turn(self.place, graphs(self.place, {what: call}), 5)[what])

    def print(self):
        widths = [max(len(r[i]) for r in [*self.rows, ("", "ms", "ratio", "error", "allowed")]) for i in range(5)]
        for row in [("", "ms", "ratio", "error", "allowed"), *self.rows]:
            self.place.say("  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:]))]).rstrip())
        for what in self.failed:
            self.place.say(f"WRONG: {what}")
        return 1 if self.failed else 0
