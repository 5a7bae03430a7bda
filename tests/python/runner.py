#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the functions test_* of the modules named, in the order of their lines, and prints TAP; a Skip says why not."""
import importlib
import os
import sys
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import Skip  # noqa: E402


def main(modules):
    count = failed = 0
    for name in modules:
        module = importlib.import_module(name)
        tests = [f for n, f in vars(module).items() if n.startswith("test_") and callable(f)]
        for test in sorted(tests, key=lambda f: f.__code__.co_firstlineno):
            count += 1
            title = f"{count} - {name[5:]}: {test.__name__[5:].replace('_', ' ')}"
            try:
                test()
                print(f"ok {title}", flush=True)
            except Skip as why:
                print(f"ok {title} # SKIP {why}", flush=True)
            except Exception:  # whatever it is, the others still run
                failed += 1
                print(f"not ok {title}", flush=True)
                print("".join("# " + line for line in traceback.format_exc().splitlines(True)), flush=True)
    print(f"1..{count}")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
