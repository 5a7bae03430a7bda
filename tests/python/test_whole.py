# SPDX-License-Identifier: MIT
"""The programs of whole models: their own ops; where torch is, both on the host with tiny sizes."""
import importlib.util
import os
import subprocess
import sys
import tempfile

import kiln
import numpy as np
from common import Skip, numbers, same

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OPS = os.path.join(ROOT, "examples", "ops")
TWO = os.path.join(ROOT, "tests", "python", "two_ranks.py")


def nearest(x, y):
    """i8 to the nearest of what is not rounded, with room for f32's own error."""
    assert np.abs(x.astype("f8") - np.clip(y, -128, 127)).max() <= 0.501


def test_their_own_ops():
    assert kiln.build(OPS, targets=["host"]) == ["opt_add_layernorm_i8", "opt_causal_softmax_i8", "opt_linear_i8_f16",
                                                 "opt_quantise_i8", "paged_attention_fp8"]
    x, residual, weight, bias = numbers(5, 96), numbers(5, 96, seed=1), numbers(96, seed=2) * 9, numbers(96, seed=3)
    got = kiln.ops.opt_add_layernorm_i8(x=x, residual=residual, weight=weight, bias=bias, eps=0.1)
    total = x + residual
    same(got.sum, total)
    apart = total - total.mean(-1, keepdims=True)
    nearest(got.y, apart / np.sqrt((apart * apart).mean(-1, keepdims=True) + 0.1) * weight + bias)
    scores = numbers(2, 7, 7)
    e = np.exp(scores) * np.tri(7)
    nearest(kiln.ops.opt_causal_softmax_i8(scores), 127 * e / e.sum(-1, keepdims=True))
    same(kiln.ops.opt_quantise_i8(x.astype("f2"), 0.75), np.rint(0.75 * x))
    a, b = numbers(5, 64, dtype=np.int8), numbers(32, 64, dtype=np.int8, seed=1)
    same(kiln.ops.opt_linear_i8_f16(a, b.T, bias[:32], 0.125),
         (0.125 * (a.astype("f4") @ b.astype("f4").T) + bias[:32]).astype("f2"))


def program(name, *more, status=0, by=()):
    if importlib.util.find_spec("torch") is None:
        raise Skip("no torch")
    kiln.build(OPS, targets=["host"])
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, *by, os.path.join(ROOT, "examples", name), "--device", "host", "--modules",
                               kiln._folders[OPS], *more],
                              capture_output=True, text=True, check=False, timeout=300, env={**os.environ, "SYMMETRIC": folder})
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_smoothquant_opt():
    text = program("smoothquant_opt.py")
    for part in ("Kiln, int8, attention in f16", "Kiln, int8, attention in int8", "argmax of 100.00 % of 64 positions",
                 "bmm_abe_i8, e"):
        assert part in text, text


def test_llama_fp8():
    text = program("llama_fp8.py", "--ops")
    for part in ("prefill, 48 tokens: Kiln, fp8", "decode, 3 x 40 keys: Kiln, fp8", "paged_attention, o", "paged_attention_fp8, o",
                 " m=48 n=1024 k=512 ", " m=48 n=512 k=512 "):
        assert part in text, text
    assert "'decod' is not of prefill, decode" in program("llama_fp8.py", "--phase", "decod", status=2)
    assert "not built for host: paged_attention_fp8." in program("llama_fp8.py", "--modules", "none", status=1)


def test_llama_fp8_by_two():
    by = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", TWO]
    for more, moves in (((), "copies of each other's memory"), (("--no-peers",), "reduce_scatter and all_gather")):
        text = program("llama_fp8.py", *more, by=by)
        for part in (f"of prompts {moves}", "prefill, 48 tokens: Kiln, fp8, 2 processes, beside one",
                     "decode, 3 x 40 keys: Kiln, fp8, keys and values, too, 2 processes, beside one"):
            assert part in text, text
