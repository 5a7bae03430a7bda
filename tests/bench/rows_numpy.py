#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What numpy takes for expressions of `make bench-rows`, in f32 (it has no bf16), at 4096 x 4096: least of 7 times.

Prints the time and numpy's own copy of as many bytes as the expression must read and write."""
import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
import numpy as np  # noqa: E402

ROWS = COLS = 4096
rng = np.random.default_rng(1)


def matrix():
    return rng.uniform(-1, 1, (ROWS, COLS)).astype(np.float32)


def rmsnorm(x, weight):
    return x / np.sqrt(np.mean(x * x, axis=1, keepdims=True) + np.float32(1e-6)) * weight


def layernorm(x, weight, bias):
    centred = x - np.mean(x, axis=1, keepdims=True)
    return centred / np.sqrt(np.mean(centred * centred, axis=1, keepdims=True) + np.float32(1e-6)) * weight + bias


def softmax(x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


def silu_mul(gate, up):
    return gate / (1 + np.exp(-gate)) * up


def quantise_row_i8(x):
    scale = np.max(np.abs(x), axis=1, keepdims=True) / np.float32(127)
    return np.rint(x / scale).astype(np.int8), scale


def least(f, *args):
    best = float("inf")
    for _ in range(7):
        start = time.perf_counter()
        f(*args)
        best = min(best, time.perf_counter() - start)
    return best * 1e6


def main():
    x, y = matrix(), matrix()
    weight, bias = x[0].copy(), y[0].copy()
    to = np.empty_like(x)
    copy = least(np.copyto, to, x) / (2 * x.nbytes)
    print(f"numpy {np.__version__}, f32, {ROWS} x {COLS}")
    for name, f, args, byte_count in (
        ("residual_add", np.add, (x, y), 12),
        ("rmsnorm", rmsnorm, (x, weight), 8),
        ("layernorm", layernorm, (x, weight, bias), 8),
        ("softmax", softmax, (x,), 8),
        ("silu_mul", silu_mul, (x, y), 12),
        ("quantise_row_i8", quantise_row_i8, (x,), 5),
    ):
        t, c = least(f, *args), copy * byte_count * ROWS * COLS
        print(f"{name:<18} {t:8.0f} us  copy {c:6.0f} us  {c / t:5.2f}")


if __name__ == "__main__":
    main()
