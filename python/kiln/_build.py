# SPDX-License-Identifier: MIT
"""Instance files compiled from Python, by the same make rules as in the source tree: kiln.build, `python -m kiln build`."""
import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess

from . import _kiln
from ._kiln import Error

_HERE = os.path.dirname(os.path.abspath(__file__))


class BuildError(Error):
    """An instance file that is wrong, or a compiler that is missing; the text is what they said."""


def places():
    """Where the rules are and where the programs: of a wheel, of the source tree, of an installation."""
    up = os.path.dirname(os.path.dirname(_HERE))
    prefixes = [(os.path.join(_HERE, "share", "kiln"), os.path.join(_HERE, "bin")),
                (os.path.dirname(up), os.path.join(up, "bin"))]
    while up != os.path.dirname(up):
        prefixes.append((os.path.join(up, "share", "kiln"), os.path.join(up, "bin")))
        up = os.path.dirname(up)
    for rules, programs in prefixes:
        if os.path.exists(os.path.join(rules, "mk", "instances.mk")) and os.path.exists(os.path.join(programs, "kiln-gen")):
            return rules, programs
    raise BuildError("no kiln-gen beside this package: it is part of a wheel, of `make install` and of the source tree")


def cache():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "kiln", _kiln.version)


def _run(command, **options):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **options)
    if done.returncode:
        raise BuildError(done.stdout.strip() or f"{command[0]}: exit status {done.returncode}")
    return done.stdout


@contextlib.contextmanager
def _alone(folder):
    """Whatever is built there at the same time, by this process or another, waits."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "lock"), "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _takes(path, remedy):
    """make's lists are split at blanks, and its shell sees the rest."""
    odd = re.search(r"[^\w./+@,=~%-]", path)
    if odd:
        raise BuildError(f"{path}: make takes no path with {odd[0]!r} in it; {remedy}")


def _targets(rules):
    """The host, and what this machine's own GPU needs."""
    found = _run(["sh", "mk/detect.sh"], cwd=rules).split()
    return sorted({"host", *found})


def source_of(name):
    """A path, or the name of one of the instance files that come with the package."""
    if os.path.exists(name):
        return os.path.abspath(name)
    ours = os.path.join(places()[0], "instances", name + ".lua")
    if re.fullmatch(r"\w+", name) and os.path.exists(ours):
        return ours
    raise FileNotFoundError(f"{name}: no such file, and no instance file of that name comes with Kiln")


def file_with(op):
    """The name of the instance file that comes with the package and describes the op, or None."""
    try:
        folder = os.path.join(places()[0], "instances")
    except BuildError:
        return None
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            if re.search(rf'^\w+ "{re.escape(op)}" [({{]', file.read(), re.MULTILINE):
                return os.path.splitext(name)[0]
    return None


def build(source, targets=None, verbose=False):
    """The folder with the modules, and the names of the ops in them."""
    source = source_of(source)
    _takes(source, "rename it")
    _takes(cache(), "name another folder in XDG_CACHE_HOME")
    rules, programs = places()
    name = re.sub(r"\W", "_", os.path.splitext(os.path.basename(source))[0])
    work = os.path.join(cache(), name + "-" + hashlib.sha256(source.encode()).hexdigest()[:8])
    wanted = targets or _targets(rules)
    tools = os.path.join(cache(), "tools" if set(wanted) - {"host"} else "host")
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    with _alone(tools):
        os.makedirs(os.path.join(tools, "bin"), exist_ok=True)
        _link(os.path.join(programs, "kiln-gen"), os.path.join(tools, "bin", "kiln-gen"))
        _find_compilers(rules, tools, wanted, environment)
    with _alone(work):
        said = _run(["make", "-r", "--no-print-directory", f"-j{os.cpu_count() or 1}", "-f", "mk/instances.mk",
                     f"DIR={source}", f"OUT={work}/gen", f"LIB={work}/lib", f"BUILD={tools}",
                     "CC=" + os.environ.get("CC", "gcc"), "TARGETS=" + " ".join(wanted),
                     "OPTIONAL=" + ("" if targets else " ".join(set(wanted) - {"host"}))],
                    cwd=rules, env=environment)
        if verbose and said:
            print(said, end="")
        return _settle(work), _names(work)


def _find_compilers(rules, tools, wanted, environment):
    """What compiles for GPUs; of the host make itself knows."""
    path = os.path.join(tools, "toolchain.mk")
    if set(wanted) - {"host"}:
        _run(["sh", "mk/toolchain.sh", path], cwd=rules, env={**environment, "BUILD": tools})
    elif not os.path.exists(path):
        with open(path, "w", encoding="utf-8") as file:
            file.write("KILN_TARGETS_AVAILABLE := host\n")


def _link(to, path):
    temporary = f"{path}.{os.getpid()}"
    os.symlink(to, temporary)
    os.replace(temporary, path)


def _settle(work):
    """A folder for these very modules: one that is open is never written to."""
    lib, digest = os.path.join(work, "lib"), hashlib.sha256()
    modules = sorted(f for f in os.listdir(lib) if f.endswith(".so"))
    for module in modules:
        with open(os.path.join(lib, module), "rb") as file:
            digest.update(file.read())
    folder = os.path.join(work, digest.hexdigest()[:16])
    if not os.path.isdir(folder):
        temporary = f"{folder}.{os.getpid()}"
        os.makedirs(temporary)
        for module in modules:
            shutil.copy2(os.path.join(lib, module), temporary)
        try:
            os.rename(temporary, folder)
        except OSError:  # another process was first
            shutil.rmtree(temporary)
    return folder


def _names(work):
    found = set()
    for target in os.listdir(os.path.join(work, "gen")):
        folder = os.path.join(work, "gen", target)
        if os.path.isdir(folder):
            found |= {f for f in os.listdir(folder) if os.path.isdir(os.path.join(folder, f))}
    return sorted(found)
