# SPDX-License-Identifier: MIT
"""What there is, told; instance files built and opened in this process; the command line; stubs."""
import ast
import os
import subprocess
import sys
import tempfile
import zipfile

import kiln
import numpy as np
from common import Skip, numbers, raises, same

PROBLEM = "gemm f32,f32,f32 rrr m=4 n=8 k=16"


def test_find_and_explain():
    kernel = kiln.find(PROBLEM)
    assert kernel.op == "gemm" and kernel.target == "host" and kernel.types[:3] == ("f32", "f32", "f32")
    assert kernel.layouts == "rrr" and kernel.runnable and kernel.workspace >= 0
    assert kernel.name in kiln.explain(PROBLEM)
    assert kiln.explain(PROBLEM, json=True).startswith("{")
    x, w = numbers(4, 16), numbers(16, 8)
    assert kiln.find(kiln.ops.gemm.problem(x, w)).op == "gemm"


def test_list_and_describe():
    kernels = kiln.list("gemm")
    assert kernels and all(k.op == "gemm" and k.target == "host" for k in kernels)
    assert len(kiln.list()) > len(kernels) and len(kiln.list(all=True)) >= len(kiln.list())
    info = kiln.describe("linear_abde_i8")
    assert [t.name for t in info.inputs] == ["a", "b", "bias"] and info.scalars == ["alpha", "beta"]
    assert info.family == "gemm" and info.outputs[0].name == "e" and info.signatures[0].layouts == "rcr"
    assert kiln.describe("window_attention").sizes == ["window"]
    assert kiln.device().vendor == "host" and isinstance(kiln.refused(), list)
    assert "gemm" in dir(kiln.ops)


def test_launch_time():
    assert 0 <= kiln.ops.gemm.launch_time(3, numbers(4, 16), numbers(16, 8)) < 10
    raises(TypeError, "launch_time takes a count", kiln.ops.gemm.launch_time)


SOURCE = """gemm "own_scale" {
  types    = { { a = f32, b = f32, e = f32 } },
  layouts  = { "rrr" },
  epilogue = function(acc) return acc * %d end,
}
"""


def test_instance_files_are_built_and_opened():
    x, w = numbers(4, 16), numbers(16, 8)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "own_scale.lua")
        for factor in 3, 5:  # changed, it is another op from now on
            with open(path, "w", encoding="utf-8") as file:
                file.write(SOURCE % factor)
            assert kiln.build(path, targets=["host"]) == ["own_scale"]
            same(kiln.ops.own_scale(x, w), factor * (x @ w))
        held = kiln.ops.own_scale
        same(kiln.ops.gemm(x, w), x @ w)
        with open(path, "w", encoding="utf-8") as file:
            file.write(SOURCE.replace("acc *", "bad *") % 1)
        raises(kiln.Error, "own_scale.lua:4", kiln.build, path, targets=["host"])
        same(held(x, w), 5 * (x @ w))
        for name in "a b.lua", "a&touch.lua", "a$(HOME).lua", "a'b.lua":
            path = os.path.join(folder, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(SOURCE % 1)
            raises(kiln.Error, f"{name}: make takes no path with", kiln.build, path, targets=["host"])
    raises(FileNotFoundError, "no such file", kiln.build, "nothing/there.lua")
    raises(FileNotFoundError, "no such folder", kiln.load, "nothing/there")


SHAPES = """rowwise "by_row" {
  types   = { { x = f32 } },
  d       = { scale = per_row(f32), tensor = per_tensor(f32), x = full "x", w = per_col(f32) },
  outputs = { y = full "x" },
  body    = function(d) return d.x * d.scale * d.tensor * d.w end,
}
gemm "four_bits" {
  types    = { { a = f32, b = u4, e = f32 } },
  layouts  = { "rrr", "rcr" },
  d        = { scale = per_block("b", f32, 1, 32, "c") },
  b_op     = function(w, d) return w * d.scale end,
  epilogue = function(acc) return acc end,
}
rowwise "places" {
  types   = { { y = f32 } },
  outputs = { last = per_row(f32), y = full "y" },
  scalars = { "width" },
  body    = function(_, s, at) return { last = row_max(at.col), y = at.row * s.width + at.col } end,
}
"""


def test_ones_in_place_of_what_a_tensor_has_not():
    """Whichever of the tensors comes first by name; and bytes of two elements along either dimension."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "shapes.lua")
        with open(path, "w", encoding="utf-8") as file:
            file.write(SHAPES)
        kiln.build(path, targets=["host"])
    x, scale, w, two = numbers(5, 8), numbers(5, 1, seed=1), numbers(8, seed=2), np.full(1, 2, np.float32)
    by_row = kiln.ops.by_row
    for s in scale, scale[:, 0], scale.T:
        for columns in w, w[None]:
            for tensor in two, two[0], two[None]:
                same(by_row(x=x, scale=s, w=columns, tensor=tensor), 2 * x * scale * w)
    same(by_row(x=x[None], scale=scale, w=w, tensor=two), 2 * (x * scale * w)[None])
    batches = numbers(3, 5, 8)
    same(by_row(x=batches, scale=scale, w=w, tensor=two), 2 * batches * scale * w)

    codes = np.random.default_rng(0).integers(0, 16, (64, 6), dtype=np.uint8)
    a, scales = numbers(3, 64), np.asfortranarray(np.full((2, 6), 0.5, np.float32))
    for packed, letter in (codes[:, ::2] | codes[:, 1::2] << 4, "r"), ((codes[::2] | codes[1::2] << 4).T.copy().T, "c"):
        assert f" r{letter}r m=3 n=6 k=64" in kiln.ops.four_bits.problem(a, packed, scales)
        same(kiln.ops.four_bits(a, packed, scales), a @ codes.astype("f4") / 2)
    raises(ValueError, "'scale' has strides (6, 1) (elements): the op has it column-major", kiln.ops.four_bits, a,
           codes[:, ::2].copy(), np.ones((2, 6), np.float32))
    raises(ValueError, "'b' has shape (64, 6), and is to be [batch..., k/2=32, n]", kiln.ops.four_bits, a,
           np.asfortranarray(codes), scales)
    raises(ValueError, "'scale' has shape (3, 6), and is to be [batch..., k/32=2, n=6]", kiln.ops.four_bits, a,
           packed, np.ones((6, 3), np.float32).T)

    places, y = kiln.ops.places, np.empty((3, 5), np.float32)
    made = places(10, y=y)  # an op without inputs: sizes are the output's
    same(made.y, 10 * np.arange(3)[:, None] + np.arange(5))
    same(made.last, [4, 4, 4])
    raises(TypeError, "places: no tensor is given, and it has no inputs: give outputs, out=", places, 10)


def run(*arguments, **options):
    return subprocess.run([sys.executable, "-m", "kiln", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False, **options)


def test_bytes_of_two_signs():
    """Where an op has rows of i4 and of u4, the sign of the bytes says which one is meant."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "own.lua")
        with open(path, "w", encoding="utf-8") as f:
            f.write('''gemm "own_bits" {
  types = { { a = f32, b = i4, e = f32 }, { a = f32, b = u4, e = f32 } },
  layouts = { "rcr" },
  epilogue = function(acc) return acc end,
}''')
        kiln.build(path, targets=["host"])
        x, packed = numbers(3, 8), np.arange(0x70, 0xf0, 4, dtype=np.uint8).reshape(8, 4)
        codes = np.stack([packed & 15, packed >> 4], -1).reshape(8, 8)
        same(kiln.ops.own_bits(x, packed.T), x @ codes.T)
        same(kiln.ops.own_bits(x, packed.view(np.int8).T), x @ ((codes.astype("i4") ^ 8) - 8).T)


def test_the_command_line():
    with tempfile.TemporaryDirectory() as folder:
        made = run("new", "my_op", cwd=folder)
        assert made.returncode == 0, made.stdout
        made = run("new", "--folder", "nothing", "my_op", cwd=folder)
        assert made.returncode == 2 and "no folder nothing" in made.stdout, made.stdout
        built = run("build", "my_op.lua", "--target", "host", cwd=folder)
        assert built.returncode == 0 and "kiln.ops.my_op: " in built.stdout, built.stdout
        bad = run("build", "nothing.lua", cwd=folder)
        assert bad.returncode == 1 and "kiln: nothing.lua: no such file" in bad.stdout, bad.stdout
        listed = run("list", "--op", "gemm")
        assert listed.returncode == 0 and "host/gemm/" in listed.stdout, listed.stdout
    assert run().returncode == 2


def test_the_wheel():
    """Of what is built; the package works where it is unpacked, and builds instance files there."""
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python")
    built = os.path.join(source, "..", os.environ.get("KILN_BUILD", "build"))
    if not os.path.exists(os.path.join(built, "lib", "kiln", "libkiln-host.so")):
        raise Skip("no module for the host")
    with tempfile.TemporaryDirectory() as folder:
        made = subprocess.run([sys.executable, "-c", f"import backend; print(backend.build_wheel({folder!r}))"], cwd=source,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        assert made.returncode == 0, made.stdout
        wheel = os.path.join(folder, made.stdout.split()[-1])
        unpacked = os.path.join(folder, "site")
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
            archive.extractall(unpacked)
            record = archive.read(next(n for n in names if n.endswith("/RECORD"))).decode().splitlines()
        assert {line.split(",")[0] for line in record} == set(names) and len(names) == len(set(names))
        for name in "kiln", "kiln-gen":
            os.chmod(os.path.join(unpacked, "kiln", "bin", name), 0o755)
        done = run("build", "bias_relu", "--target", "host", cwd=folder, env={**os.environ, "PYTHONPATH": unpacked})
        assert done.returncode == 0 and "kiln.ops.bias_relu: " in done.stdout, done.stdout


def test_stubs_are_of_what_there_is():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "ops.pyi")
        done = run("stubs", "-o", path)
        assert done.returncode == 0, done.stdout
        with open(path, encoding="utf-8") as file:
            tree = ast.parse(file.read())
    names = {n.target.id for n in tree.body if isinstance(n, ast.AnnAssign)}
    fresh = subprocess.run([sys.executable, "-c", "import kiln; print(*dir(kiln.ops))"], capture_output=True, text=True,
                           check=True)  # this process may have other tests' ops, too
    assert names == set(fresh.stdout.split())
    call = next(f for c in tree.body if isinstance(c, ast.ClassDef) and c.name == "_linear_abde_i8" for f in c.body
                if f.name == "__call__")
    assert [a.arg for a in call.args.args] == ["self", "a", "b", "bias", "alpha", "beta"]
    assert [a.arg for a in call.args.kwonlyargs] == ["e", "out", "stream", "dtype"]


def test_tuning_and_threads():
    kiln.configure(threads=1)
    assert kiln.device("host").units == 1
    x, w = numbers(4, 16), numbers(16, 8)
    same(kiln.ops.gemm(x, w), x @ w)
    kiln.configure(tuning="/nonexistent/tuning")
    assert any("/nonexistent/tuning" in line for line in kiln.refused("host"))
    kiln.configure()
    assert np.array_equal(kiln.ops.gemm(x, w), x @ w)
