# SPDX-License-Identifier: MIT
"""python -m kiln: builds instance files and writes type stubs; every other command is the tool's."""
import argparse
import os
import sys

import kiln
from kiln import _build, _stubs

_DOC = """
  python -m kiln new my_op               an instance file to start from, here (--folder: elsewhere)
  python -m kiln build my_op.lua         compiles it, for kiln.load(FOLDER) or KILN_MODULE_PATH
  python -m kiln stubs                   writes ops.pyi anew: what editors complete
  python -m kiln list --op bias_relu     every other command: see `python -m kiln --help`
"""


def _built(arguments):
    parser = argparse.ArgumentParser("python -m kiln build", description="Compiles an instance file, or a folder of them.")
    parser.add_argument("source", help="FILE.lua, a folder, or the name of an instance file that comes with Kiln")
    parser.add_argument("--target", action="append", help="compile for it (default: the host and this machine's own GPU)")
    parser.add_argument("-v", "--verbose", action="store_true", help="print what make prints")
    given = parser.parse_args(arguments)
    folder, names = _build.build(given.source, given.target, given.verbose)
    kiln.load(folder)
    print(f"{', '.join(names)}: in {folder}")
    for name in names:
        kinds = sorted({(",".join(k.types) + " " + k.layouts).strip() for k in kiln.list(name, "host")})
        print(f"  kiln.ops.{name}: {'; '.join(kinds) or 'not for the host'}")


def _stubbed(arguments):
    parser = argparse.ArgumentParser("python -m kiln stubs", description="Writes the type stubs of kiln.ops.")
    parser.add_argument("-o", "--output", help="instead of the package's own ops.pyi")
    _stubs.write(parser.parse_args(arguments).output)


def main():
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_DOC.strip("\n"))
        if not arguments:
            sys.exit(2)
    try:
        if arguments[0] == "build":
            _built(arguments[1:])
        elif arguments[0] == "stubs":
            _stubbed(arguments[1:])
        else:
            tool = os.path.join(_build.places()[1], "kiln")
            if arguments[0] == "new" and not any(a.startswith("--f") for a in arguments):  # there may be no checkout
                arguments[1:1] = ["--folder", "."]
            os.execv(tool, ["kiln", *arguments])
    except (kiln.Error, OSError) as error:
        print(f"kiln: {error}" if not isinstance(error, _build.BuildError) else error, file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
