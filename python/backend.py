# SPDX-License-Identifier: MIT
"""Builds the wheel with the tree's own make: `pip install ./python`.  Needs nothing from PyPI.

In it: the package, libkiln, kiln and kiln-gen, what they build instance files from, and the modules that build/ has; a tree
that has none gets those of KILN_OPS for the host (by default a first few), which is said.
"""
import base64
import hashlib
import os
import re
import subprocess
import sys
import zipfile

_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_BUILD = os.environ.get("KILN_BUILD", "build")
_FIRST = "bias_relu rmsnorm"
_TAG = "cp39-abi3-linux_" + os.uname().machine


def _version():
    with open(os.path.join(_ROOT, "abi", "kiln_version.h"), encoding="utf-8") as file:
        return re.search(r'KILN_VERSION "(.*)"', file.read()).group(1)


def _make(*goals):
    print("make", *goals, flush=True)
    subprocess.run(["make", "PYTHON=" + sys.executable, "BUILD=" + _BUILD, *goals], cwd=_ROOT, check=True)


def _files():
    """Archive's name and path of every file."""
    def under(folder, to, keep=lambda name: True):
        for here, folders, names in os.walk(os.path.join(_ROOT, folder)):
            folders[:] = sorted(f for f in folders if f != "__pycache__")
            for name in sorted(filter(keep, names)):
                path = os.path.join(here, name)
                yield os.path.join(to, os.path.relpath(path, os.path.join(_ROOT, folder))), path

    package = os.path.join(_BUILD, "python", "kiln")
    yield from under(package, "kiln")
    library = os.path.join(_BUILD, "lib")
    yield "kiln/lib/libkiln.so.0", os.path.join(_ROOT, library, "libkiln.so.0")
    yield from under(os.path.join(library, "kiln"), "kiln/lib/kiln", lambda name: name.endswith(".so"))
    for name in ("kiln", "kiln-gen"):
        yield "kiln/bin/" + name, os.path.join(_ROOT, _BUILD, "bin", name)
    for folder in ("abi", "templates", "instances", "mk"):
        yield from under(folder, "kiln/share/kiln/" + folder)


def _metadata():
    version = _version()
    return f"kiln-{version}.dist-info", {
        "METADATA": f"Metadata-Version: 2.1\nName: kiln\nVersion: {version}\nRequires-Python: >=3.9\nLicense: MIT\n"
                    "Summary: Fused operations for GPUs and CPUs on tensors of any framework\n",
        "WHEEL": f"Wheel-Version: 1.0\nGenerator: kiln\nRoot-Is-Purelib: false\nTag: {_TAG}\n",
    }


def _write(archive, record, name, data, mode=0o644):
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))  # the same input gives the same bytes
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = (0o100000 | mode) << 16
    archive.writestr(info, data, compresslevel=1)
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    record.append(f"{name},sha256={digest},{len(data)}")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):  # pylint: disable=unused-argument
    built = os.path.join(_ROOT, _BUILD, "lib", "kiln")
    if not os.path.isdir(built) or not any(n.endswith(".so") for n in os.listdir(built)):
        wanted = os.environ.get("KILN_OPS", _FIRST)
        _make("instances", "TARGETS=host", "OPS=" + wanted)
        print(f"kiln: the wheel has modules of {wanted}; `make` in the tree builds all ops, `python -m kiln build NAME` one",
              flush=True)
    _make("python")
    folder, metadata = _metadata()
    name, record = f"kiln-{_version()}-{_TAG}.whl", []
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w") as archive:
        for to, path in _files():
            with open(path, "rb") as file:
                _write(archive, record, to, file.read(), 0o755 if os.access(path, os.X_OK) else 0o644)
        for key, text in metadata.items():
            _write(archive, record, f"{folder}/{key}", text.encode())
        record.append(f"{folder}/RECORD,,")
        _write(archive, [], f"{folder}/RECORD", ("\n".join(record) + "\n").encode())
    return name


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("a wheel is built from the source tree alone: pip install ./python")
