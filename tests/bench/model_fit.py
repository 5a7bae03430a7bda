#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""model_fit.py CSV CHOICES: the cost model beside what a GPU measured.

CSV is what `kiln bench --csv` printed of Kiln's instances, CHOICES what `MOST=999 tests/bench/choices.sh` did for the same
problems.  A line each: problem, instance, measured and modelled microseconds, their ratio, and what the model would take
in its place.  Then by schedule: how many, the ratios' geometric mean, and the root mean square of their logarithms.
"""
import csv
import math
import re
import sys


def modelled(path):
    """{problem: [(instance, microseconds), ...]}, the chosen one first."""
    found = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            fields = line.split()
            if len(fields) > 3 and fields[-1] != "none":
                found.setdefault(" ".join(fields[:-2]), []).append((fields[-2], float(fields[-1])))
    return found


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    costs, ratios = modelled(sys.argv[2]), {}
    with open(sys.argv[1], encoding="utf-8", newline="") as table:
        for row in csv.DictReader(table):
            candidates = costs.get(row["problem"], [])
            instance = row["note"].split("/")[-1]
            us = dict(candidates).get(instance)
            if row["implementation"] != "kiln" or us is None:
                continue
            ratio = us / float(row["us"])
            ratios.setdefault(re.match(r"[a-z_]+?(?=_\d)", instance).group(), []).append(math.log(ratio))
            chosen = candidates[0][0]
            print(f"{row['problem']:80} {instance:40} {row['us']:>8} {us:8.1f} {ratio:5.2f}"
                  f"  {'' if chosen == instance else chosen}".rstrip())
    for schedule, logs in sorted(ratios.items()):
        mean = math.exp(sum(logs) / len(logs))
        spread = math.sqrt(sum(x * x for x in logs) / len(logs))
        print(f"{schedule}: {len(logs)}, geomean {mean:.3f}, rms {spread:.3f}")


main()
