#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tiles.py TARGET SEED COUNT OUT [PER [FAMILY]]: COUNT instance files in the folder OUT, each an op that ops.lua
draws with SEED or a number behind it, with sweeps of drawn values for the target's schedules, of which about PER
combinations (16) are kept. What any description may ask of a schedule, where defaults ask for little: each must
compile and be right (CONTRIBUTING.md). Ops are passed over that only schedules for any size take."""
import collections
import os
import random
import re
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
GEN = [os.environ.get("KILN_GEN", ROOT + "/build/bin/kiln-gen"), "--templates", ROOT + "/templates"]
FAMILIES = "gemm", "rowwise", "attention"
ANY_SIZE = "simt", "simt_decode"


def tunables():
    """{(schedule, family): {tunable: values}}, of what the generator writes for editors."""
    text = subprocess.run(GEN + ["--annotations"], stdout=subprocess.PIPE, check=True, text=True).stdout
    values = {(s, t): [int(x) for x in v.split("|")]
              for s, t, v in re.findall(r"@alias kiln\.(\w+)\.(\w+) ([\d|]+)$", text, re.M)}
    found = collections.defaultdict(dict)
    for schedule, fields in re.findall(r"@class kiln\.(\w+)\.Sweep\n((?:---@field .*\n)+)", text):
        for tunable, said in re.findall(r"@field (\w+)\? \S+ (.*)", fields):
            for family in re.findall(rf"\b({'|'.join(FAMILIES)}): ", said) or ["gemm"]:
                found[schedule, family][tunable] = values[schedule, tunable]
    return found


def write(path, seed, target, sweeps, one_of):
    """The op of the seed; of its combinations one of so many."""
    with open(ROOT + "/tests/host/drawn/ops.lua", encoding="utf-8") as file:
        text = re.sub(r"^local seed, count = .*", f"local seed, count = {seed}, 1", file.read(), flags=re.M)
    where = "" if one_of < 2 else f"""where = function(t)
    local h = {seed}
    for k, v in pairs(t) do if k ~= "schedule" then h = (h * 1000003 + v + #k) % 2147483629 end end
    return h % {one_of} == 0
  end"""
    if sweeps:
        tiles = f"op.tiles = {{ {target} = {{ {', '.join(sweeps)} }}, {where} }}"
        text = re.sub(rf"^  ({'|'.join(FAMILIES)})\(name\)\(op\)$", lambda m: f"  {tiles}\n{m[0]}", text, flags=re.M)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def instances(path, target, out):
    """Family and instances of the file, as generated; None where it is refused."""
    done = subprocess.run(GEN + ["--out", out, "--target", target, path], stderr=subprocess.PIPE, check=False,
                          text=True)
    if done.returncode:
        if not re.search("leaves nothing|is not one of", done.stderr):  # the latter: of another family's
            print(f"{path}: {done.stderr}", file=sys.stderr)
        return None
    with open(f"{out}/{target}/manifest", encoding="utf-8") as file:
        names = [line.split()[0] for line in file]
    folder = f"{out}/{target}/{names[0].split('/')[1]}"
    source = os.path.join(folder, os.listdir(folder)[0])
    with open(source, encoding="utf-8") as file:
        return re.search(r"kiln_([a-z]+)_args", file.read())[1], names


def draw(path, seed, target, known, per, wanted):
    """Whether the seed's op is one, with its tiles."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as out:
        write(path, seed, target, [], 1)
        plain = instances(path, target, out)
        if not plain or wanted not in (plain[0], None):
            return False
        family = plain[0]
        takes = {s for s, f in known if f == family for n in plain[1] if re.match(rf"{s}_[\d ts]", n.split("/")[-1])}
        sweeps = []
        for schedule in sorted(takes):
            if schedule in ANY_SIZE and family != "rowwise" and rng.random() < 0.75:
                continue
            axes = known[schedule, family]
            for _ in range(6 if schedule in ANY_SIZE else 25):
                chosen = rng.sample(sorted(axes), min(len(axes), rng.randint(2, 5)))
                chosen += [x for x in ("m", "n") if x in axes and x not in chosen]
                some = {x: rng.sample(axes[x], min(len(axes[x]), 6 if x in "mn" else 3)) for x in chosen}
                sweep = f"{schedule} {{ {', '.join(f'{x} = {{ {str(v)[1:-1]} }}' for x, v in some.items())} }}"
                write(path, seed, target, [sweep], 1)
                if instances(path, target, out):
                    sweeps.append(sweep)
                    break
        if not sweeps or family != "rowwise" and all(s.split()[0] in ANY_SIZE for s in sweeps):
            return False
        write(path, seed, target, sweeps, 1)
        all_of = instances(path, target, out)
        for one_of in {max(1, len(all_of[1]) // per // n): 0 for n in (1, 2, 4)} if all_of else ():
            write(path, seed, target, sweeps, one_of)
            if instances(path, target, out):
                return True
    return False


def main(target, seed, count, out, per=16, wanted=None):
    known, seed, left = tunables(), int(seed), int(count)
    os.makedirs(out, exist_ok=True)
    while left:
        path = f"{out}/tiles_{seed}.lua"
        if draw(path, seed, target, known, int(per), wanted):
            left -= 1
        else:
            os.remove(path)
        seed += 1


if __name__ == "__main__":
    if not 5 <= len(sys.argv) <= 7:
        sys.exit(__doc__)
    main(*sys.argv[1:])
