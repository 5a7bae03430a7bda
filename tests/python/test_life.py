# SPDX-License-Identifier: MIT
"""What lives how long: references, threads, forks."""
import gc
import os
import sys
import threading

import kiln
import numpy as np
from common import BF16, numbers, raises, same
from test_errors import CudaArray
from test_tensors import Legacy


def calls():
    """One round of everything that takes or gives references."""
    x, w, e = numbers(4, 16), numbers(16, 8), np.zeros((4, 8), np.float32)
    row, one = numbers(4, 64, dtype=BF16), np.ones(64, BF16)
    q = numbers(2, 5, 64, dtype=BF16)

    def run():
        kiln.ops.gemm(x, w, out=e)
        kiln.ops.gemm(x, w)
        kiln.ops.gemm(Legacy(x), memoryview(w), out=e)
        kiln.ops.add_rmsnorm(row, one, row, eps=1e-6)
        kiln.ops.add_rmsnorm(row, one, row, eps=1e-6, out={"y": row})
        kiln.ops.window_attention(q, q, q, scale=0.5, window=2)
        kiln.ops.gemm.problem(x, w)
        kiln.find("gemm f32,f32,f32 rrr m=4 n=8 k=16")
        kiln.explain("gemm f32,f32,f32 rrr m=4 n=8 k=16")
        kiln.describe("add_rmsnorm")
        for wrong in ((x, w[:3]), (x,), (x, 1), (x.astype("f8"), w), (CudaArray(x), w), (x, w, x)):
            try:
                kiln.ops.gemm(*wrong)
            except (ValueError, TypeError, kiln.Error):
                pass
        try:
            kiln.ops.gemm(x, w, other=1)
        except TypeError:
            pass
        try:
            kiln.find("nobody f32,f32,f32 rrr m=1 n=1 k=1")
        except kiln.Error:
            pass
    return run, (x, w, e, row, one, q)


def test_no_reference_leaks():
    """What each round loses is lost in all of several hundreds; what caches keep is not."""
    run, tensors = calls()
    for _ in range(20):
        run()
    gc.collect()
    references, grown = [sys.getrefcount(t) for t in tensors], []
    for _ in range(6):
        blocks = sys.getallocatedblocks()
        for _ in range(200):
            run()
        gc.collect()
        grown.append(sys.getallocatedblocks() - blocks)
    assert [sys.getrefcount(t) for t in tensors] == references
    assert min(grown) < 150, grown


def test_results_are_nobody_elses():
    x, w = numbers(4, 16), numbers(16, 8)
    assert sys.getrefcount(kiln.ops.gemm(x, w)) == sys.getrefcount(np.empty(4))
    row = numbers(4, 16, dtype=BF16)
    total, y = kiln.ops.add_rmsnorm(row, np.ones(16, BF16), row, eps=1e-6)
    other, = (np.empty(4),)
    assert sys.getrefcount(total) == sys.getrefcount(y) == sys.getrefcount(other)


def test_threads():
    failures = []

    def work(seed):
        try:
            for m in range(1, 60):
                x, w = numbers(m, 48, seed=seed), numbers(48, 40, seed=seed + 1)
                same(kiln.ops.gemm(x, w), x @ w)
                got = kiln.ops.add_rmsnorm(x.astype(BF16), np.ones(48, BF16), x.astype(BF16), eps=1e-6)
                same(got.sum, 2 * x)
        except Exception as error:  # reported by the main thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures, failures


def test_modules_opened_anew_beside_calls():
    x, w = numbers(16, 48), numbers(48, 40)
    stop, failures = threading.Event(), []

    def work():
        op = kiln.ops.gemm
        try:
            while not stop.is_set():
                same(op(x, w), x @ w)
        except Exception as error:  # reported by the main thread
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for t in threads:
        t.start()
    for _ in range(5):
        kiln.configure()
    stop.set()
    for t in threads:
        t.join()
    assert not failures, failures


def in_child(work):
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException as error:  # pylint: disable=broad-except
            print(f"# child: {error!r}", flush=True)
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


def test_a_forked_child_goes_on_with_the_host():
    x, w = numbers(64, 48), numbers(48, 40)
    same(kiln.ops.gemm(x, w), x @ w)
    in_child(lambda: same(kiln.ops.gemm(x, w), x @ w))
    same(kiln.ops.gemm(x, w), x @ w)


def test_a_forked_child_has_no_gpu():
    x, w = CudaArray(numbers(4, 16)), CudaArray(numbers(16, 8))
    in_child(lambda: raises(RuntimeError, "a GPU is not to be had in such a child", kiln.ops.gemm, x, w))
