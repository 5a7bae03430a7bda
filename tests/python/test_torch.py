# SPDX-License-Identifier: MIT
"""kiln on torch's tensors and kiln.torch, on the CPU and on every GPU that torch has: `runner.py test_torch`.

Needs torch of 2.4 or later and numpy; not among `make test`'s, which does not install torch.
"""
import os
import shutil
import time

import torch
from torch import library

import kiln
import kiln.torch as kt
from common import Skip, raises

BF16, F32, I8 = torch.bfloat16, torch.float32, torch.int8
DEVICES = ["cpu"] + [f"cuda:{i}" for i in range(torch.cuda.device_count())]
GPU = DEVICES[1] if len(DEVICES) > 1 else None


def numbers(*shape, dtype=F32, device="cpu", seed=0):
    made = torch.randint(-4, 5, shape, generator=torch.Generator().manual_seed(seed + sum(shape)))
    return made.to(dtype).to(device)


def same(x, y):
    assert x.shape == y.shape and x.dtype == y.dtype, (x.shape, y.shape, x.dtype, y.dtype)
    assert torch.equal(x.float().cpu(), y.float().cpu()), (x.float().cpu() - y.float().cpu()).abs().max()


def close(x, y, tolerance):
    assert x.shape == y.shape, (x.shape, y.shape)
    worst = (x.double().cpu() - y.double().cpu()).abs().max().item() if x.numel() else 0
    assert worst <= tolerance, worst


def layer(device, m=5, n=128, k=64):
    x, w = numbers(m, k, dtype=BF16, device=device), numbers(n, k, dtype=BF16, device=device, seed=1)
    b = numbers(n, dtype=BF16, device=device)
    return x, w, b, torch.relu(x.float() @ w.float().t() + b.float()).to(BF16)


def test_ops_on_every_device():
    for device in DEVICES:
        x, w, b, want = layer(device)
        y = kiln.ops.bias_relu(x, w.t(), bias=b)
        assert y.device == x.device
        same(y, want)
        out = torch.empty_like(y)
        assert kiln.ops.bias_relu(x, w.t(), b, out=out) is out
        same(out, want)
        parameter = torch.nn.Parameter(w)
        same(kiln.ops.bias_relu(x, parameter.t(), b), want)
        same(kiln.ops.bias_relu(x.reshape(1, 5, 1, 64), w.t(), b), want.reshape(1, 5, 1, 128))
        got = kiln.ops.add_rmsnorm_quant(x=x, residual=x, weight=torch.ones(64, dtype=BF16, device=device), eps=1e-6)
        assert got.y.dtype is torch.float8_e4m3fn
        same(got.sum, (x.float() * 2).to(BF16))


def test_types_and_zero_sizes():
    for device in DEVICES:
        x = numbers(4, 16, dtype=I8, device=device)
        assert kiln.ops.gemm(x, x.t(), dtype=torch.int32).dtype is torch.int32
        assert kiln.ops.bias_relu(*layer(device, m=0)[:1], layer(device)[1].t(), layer(device)[2]).shape == (0, 128)
        raises(TypeError, "a has elements of type torch.float64", kiln.ops.gemm, x.double(), x.t().double())
        raises(TypeError, "", kiln.ops.gemm, x.to_sparse(), x.t())
    raises(TypeError, "", kiln.ops.gemm, torch.empty(4, 4, device="meta"), torch.empty(4, 4, device="meta"))


def test_devices_do_not_mix():
    if not GPU:
        raise Skip("no GPU")
    x, w, b, _ = layer("cpu")
    raises(ValueError, "all must be on one device", kiln.ops.bias_relu, x.to(GPU), w.t(), b)


def test_custom_ops_are_what_torch_wants():
    check = library.opcheck
    tests = ("test_schema", "test_faketensor", "test_autograd_registration", "test_aot_dispatch_dynamic")
    for device in DEVICES[:2]:
        x, w, b, _ = layer(device)
        check(torch.ops.kiln.bias_relu.default, (x, w.t(), b), test_utils=tests)
        one = torch.ones(64, dtype=BF16, device=device)
        check(torch.ops.kiln.add_rmsnorm_quant.default, (x, one, x, 1e-6), test_utils=tests)
        q = numbers(2, 4, 6, 64, dtype=BF16, device=device)
        check(torch.ops.kiln.window_attention.default, (q, q, q, 0.1), {"window": 3}, test_utils=tests)
        e = torch.empty(5, 128, dtype=BF16, device=device)
        check(torch.ops.kiln.bias_relu.into, (x, w.t(), b), {"e": e}, test_utils=tests[:3])


def test_fake_shapes_are_those_of_calls():
    """Every op that takes tensors of one simple kind."""
    from torch._subclasses.fake_tensor import FakeTensorMode
    seen = 0
    for name in dir(kiln.ops):
        info = kiln.describe(name, "host")
        if not info.signatures or info.sizes:
            continue
        given = example(info)
        if given is None:
            continue
        op = getattr(torch.ops.kiln, name).default
        more = [1.0] * len(info.scalars)
        first, inputs = info.signatures[0].types, {t.type for t in info.inputs}
        alike = [s.types for s in info.signatures if all(s.types[i] == first[i] for i in inputs if i >= 0)]
        made = {t.type for t in info.outputs if t.type >= 0}
        named = {}
        if len(made) == 1 and len({types[i] for types in alike for i in made}) > 1:
            named["dtype"] = getattr(torch, kiln._kiln.dtype_name(first[made.pop()]))
        real = op(*given, *more, **named)
        with FakeTensorMode() as mode:
            fake = op(*[mode.from_tensor(t) for t in given], *more, **named)
        real, fake = ([r] if isinstance(r, torch.Tensor) else r for r in (real, fake))
        assert [(r.shape, r.dtype, r.stride()) for r in real] == [(f.shape, f.dtype, f.stride()) for f in fake], name
        seen += 1
    assert seen >= 0.8 * len(dir(kiln.ops)), seen


def example(info):
    """Inputs of an op, by its first signature."""
    signature, given = info.signatures[0], []
    size = {"m": 6, "n": 256, "k": 128, "rows": 6, "cols": 256, "heads": 4, "kv_heads": 2, "q": 5, "kv": 7, "batch": 2,
            "pages": 3, **signature.fixed}
    for t in info.inputs:
        kind = signature.types[t.type] if t.type >= 0 else t.dtype
        packed = kind in ("i4", "u4")
        dtype = torch.uint8 if packed else getattr(torch, kiln._kiln.dtype_name(kind))
        shape = [-(-size[s] // b) for s, b in ((t.planes, 1), (t.rows, t.block[0]), (t.cols, t.block[1])) if s]
        if t.rows and (t.page or t.beyond):
            shape[t.planes is not None] = t.page or size[t.rows] + t.beyond
        if t.batches == "pages":
            shape.insert(0, size["pages"])
        column = len(shape) > 1 and ((signature.layouts[t.letter] if t.letter >= 0 else t.layout) == "c")
        if packed:
            along = -2 if column else -1
            shape[along] = -(-shape[along] // 2)
        if column:
            shape[-1], shape[-2] = shape[-2], shape[-1]
        made = torch.ones(shape).to(dtype)
        given.append(made.transpose(-1, -2) if column else made)
    return given


def test_compile():
    for device in DEVICES[:2]:
        x, w, b, want = layer(device)
        for backend in ("eager", "aot_eager", *(["inductor"] if device != "cpu" and shutil.which("gcc") else [])):
            torch._dynamo.reset()
            f = torch.compile(lambda x, w=w, b=b: torch.ops.kiln.bias_relu(x + 0, w.t(), b) * 2, backend=backend, fullgraph=True)
            same(f(x), want * 2)
            q = numbers(2, 7, 4, 64, dtype=BF16, device=device) / 8
            g = torch.compile(lambda q: kt.flash_attn_func(q, q, q, causal=True) + 1, backend=backend, fullgraph=True)
            same(g(q), kt.flash_attn_func(q, q, q, causal=True) + 1)


def test_cuda_graphs():
    if not GPU:
        raise Skip("no GPU")
    x, w, b, want = layer(GPU, m=64, n=512, k=512)
    op = kiln.ops.bias_relu
    same(op(x, w.t(), b), want)  # loads the kernel
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = op(x, w.t(), b)
        z = torch.ops.kiln.bias_relu(y[:, :512], w.t(), b)
    for seed in 5, 6:
        x.copy_(numbers(64, 512, dtype=BF16, seed=seed))
        graph.replay()
        torch.cuda.synchronize()
        same(y, op(x, w.t(), b))
        same(z, op(y[:, :512], w.t(), b))


def test_streams():
    if not GPU:
        raise Skip("no GPU")
    x, w, b, want = layer(GPU, m=2048, n=2048, k=2048)
    side = torch.cuda.Stream(GPU)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = kiln.ops.bias_relu(x, w.t(), b)
    side.synchronize()
    same(y, want)
    torch.cuda.synchronize()
    for given in (side, side.cuda_stream):
        z = kiln.ops.bias_relu(x, w.t(), b, stream=given)
        side.synchronize()
        same(z, want)


def test_tensors_freed_while_they_are_queued():
    """Memory that a queued launch reads is handed out again only behind it, also on another stream than the allocator's."""
    if not GPU:
        raise Skip("no GPU")
    side = torch.cuda.Stream(GPU)
    x, w, b, want = layer(GPU, m=1024, n=1024, k=1024)
    torch.cuda.synchronize()
    results = []
    for _ in range(20):
        copies = [t.clone() for t in (x, w, b)]
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            torch.cuda._sleep(2_000_000)
        results.append(kiln.ops.bias_relu(copies[0], copies[1].t(), copies[2], stream=side))
        del copies
        torch.full_like(x, 7), torch.full_like(w, 7)  # would take what is free
    torch.cuda.synchronize()
    for y in results:
        same(y, want)


class CudaArray:
    """A tensor by __cuda_array_interface__ alone."""

    def __init__(self, t):
        self.t = t

    @property
    def __cuda_array_interface__(self):
        return self.t.__cuda_array_interface__


class Dlpack:
    """A tensor by __dlpack__ alone; notes the stream that it was asked for."""

    def __init__(self, t):
        self.t, self.streams = t, []

    def __dlpack_device__(self):
        return self.t.__dlpack_device__()

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        return self.t.__dlpack__(stream=stream)


def test_tensors_of_no_known_framework():
    """Their memory may be gone when the call returns: it waits."""
    if not GPU:
        raise Skip("no GPU")
    x, w, b, want = layer(GPU, m=512, n=512, k=512)
    x, w, b = x.half(), w.half(), b.half()
    want = torch.relu(x.float() @ w.float().t() + b.float()).half()
    for kind in CudaArray, Dlpack:
        y = torch.zeros_like(want)
        given = kind(x)
        torch.cuda.synchronize()
        kiln.ops.bias_relu(given, kind(w.t()), kind(b), out=kind(y))
        same(y, want)
        raises(TypeError, "has no way to make a tensor", kiln.ops.bias_relu, given, kind(w.t()), kind(b))
    assert given.streams and set(given.streams) == {1}  # the legacy default stream, in CUDA's numbers
    side = torch.cuda.Stream(GPU)
    given = Dlpack(x)
    kiln.ops.bias_relu(given, Dlpack(w.t()), Dlpack(b), out=Dlpack(y), stream=side)
    assert given.streams == [side.cuda_stream]


def test_int8_layers():
    for device in DEVICES:
        x, w = (torch.randint(-128, 128, s, dtype=I8) for s in ((3, 5, 64), (128, 64)))
        bias = torch.randint(-128, 128, (128,), dtype=I8)
        product = x.double() @ w.double().t()
        at = [t.to(device) for t in (x, w, bias)]

        def rounded(y):
            return y.round().clamp(-128, 127).to(I8)

        want = 2.0**-10 * product + 0.5 * bias.double()
        for f in kt.linear_abde_i8, kt.linear_a8_w8_b8_o8:
            same(f(*at, 2.0**-10, 0.5), rounded(want))
        for f in kt.linear_relu_abde_i8, kt.linear_relu_a8_w8_b8_o8:
            same(f(*at, 2.0**-10, 0.5), rounded(want.relu()))
        for f in kt.linear_ab_i8_de_f32, kt.linear_a8_w8_bfp32_ofp32:
            same(f(at[0], at[1], at[2].float(), 2.0**-10, 0.5), want.float())
        a, b = x, torch.randint(-128, 128, (3, 48, 64), dtype=I8)
        product = 2.0**-10 * (a.double() @ b.double().transpose(1, 2))
        for f in kt.bmm_abe_i8, kt.bmm_s8t_s8n_s8t:
            same(f(a.to(device), b.to(device), 2.0**-10), rounded(product))
        for f in kt.bmm_ab_i8_e_f32, kt.bmm_s8t_s8n_f32t:
            same(f(a.to(device), b.to(device), 2.0**-10), product.float())


def reference(q, k, v, mask=None, bias=None, scale=None):
    q, k, v = (t.double().cpu().transpose(1, 2) for t in (q, k, v))
    k, v = (t.repeat_interleave(q.shape[1] // k.shape[1], 1) for t in (k, v))
    s = q @ k.transpose(-1, -2) * (scale or q.shape[-1] ** -0.5)
    if bias is not None:
        s = bias(s) if callable(bias) else s + bias.double().cpu()
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    return (s.softmax(-1) @ v).transpose(1, 2)


class LowerTriangularMask:  # by the names of xFormers'
    pass


class LowerTriangularFromBottomRightMask:
    pass


def test_attention():
    for device in DEVICES:
        q, k, v = (torch.randn(2, s, h, 64, generator=torch.Generator().manual_seed(s)).to(BF16).to(device)
                   for s, h in ((7, 4), (9, 2), (9, 2)))
        causal = torch.ones(7, 9, dtype=torch.bool).tril(2)
        window = causal & torch.ones(7, 9, dtype=torch.bool).triu(-1)
        slopes = torch.tensor([0.5, 0.25, 0.125, 1.0], device=device)
        distance = (torch.arange(9)[None] - torch.arange(7)[:, None] - 2).double()
        flash = kt.flash_attn_func
        close(flash(q, k, v), reference(q, k, v), 0.02)
        close(flash(q, k, v, causal=True), reference(q, k, v, causal), 0.02)
        close(flash(q, k, v, softmax_scale=0.3, causal=True), reference(q, k, v, causal, scale=0.3), 0.02)
        close(flash(q, k, v, causal=True, window_size=(3, 0)), reference(q, k, v, window), 0.02)
        close(flash(q, k, v, causal=True, alibi_slopes=slopes),
              reference(q, k, v, causal, slopes.cpu()[:, None, None] * distance), 0.02)
        wide = [torch.randn(1, 6, 2, 128, generator=torch.Generator().manual_seed(i)).to(BF16).to(device) for i in range(3)]
        close(flash(*wide, causal=True, softcap=2.0),
              reference(*wide, torch.ones(6, 6, dtype=torch.bool).tril(), lambda s: 2 * (s / 2).tanh()), 0.02)
        efficient = kt.memory_efficient_attention
        close(efficient(q, k, v), reference(q, k, v), 0.02)
        bias = torch.randn(2, 4, 7, 9, generator=torch.Generator().manual_seed(1)).to(BF16).to(device)
        close(efficient(q, k, v, bias), reference(q, k, v, bias=bias), 0.02)
        close(efficient(q, k, v, bias[:1]), reference(q, k, v, bias=bias[:1]), 0.02)
        close(efficient(q, k, v, LowerTriangularFromBottomRightMask()), reference(q, k, v, causal), 0.02)
        close(efficient(q[:, :, 0], k[:, :, 0], v[:, :, 0]), reference(q[:, :, :1], k[:, :, :1], v[:, :, :1])[:, :, 0], 0.02)


def test_what_attention_refuses():
    q = torch.zeros(1, 4, 2, 64, dtype=BF16)
    k = torch.zeros(1, 6, 2, 64, dtype=BF16)
    flash, efficient = kt.flash_attn_func, kt.memory_efficient_attention
    for text, call in (
            ("dropout_p=0.1", lambda: flash(q, q, q, 0.1)),
            ("return_attn_probs", lambda: flash(q, q, q, return_attn_probs=True)),
            ("window_size=(3, 3)", lambda: flash(q, q, q, window_size=(3, 3))),
            ("softcap without causal=True", lambda: flash(q, q, q, softcap=1.0)),
            ("window_size with softcap", lambda: flash(q, q, q, causal=True, window_size=(3, 0), softcap=1.0)),
            ("scale=0.5 without a mask", lambda: flash(q, q, q, softmax_scale=0.5)),
            ("p=0.5", lambda: efficient(q, q, q, p=0.5)),
            ("op=", lambda: efficient(q, q, q, op=1)),
            ("output_dtype", lambda: efficient(q, q, q, output_dtype=F32)),
            ("attn_bias of type int", lambda: efficient(q, q, q, 1)),
            ("LowerTriangularMask of other numbers", lambda: efficient(q, k, k, LowerTriangularMask())),
            ("a query of 5 dimensions", lambda: efficient(q[None], q[None], q[None]))):
        raises(NotImplementedError, text, call)
    raises(kiln.Error, "dim", flash, torch.zeros(1, 4, 2, 72, dtype=BF16), *[torch.zeros(1, 4, 2, 72, dtype=BF16)] * 2)


def test_gradients_are_not_silently_lost():
    x, w, b, _ = layer("cpu")
    y = torch.ops.kiln.bias_relu(x.requires_grad_(), w.t(), b)
    if y.requires_grad:  # then backward says that there is none
        raises(RuntimeError, "", torch.autograd.grad, y.float().sum(), x)


def seconds(call, count=2000, rounds=15):
    best = float("inf")
    call()
    for _ in range(rounds):
        if GPU:
            torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(count // rounds):
            call()
        best = min(best, (time.perf_counter() - start) / (count // rounds))
    return best * 1e6


def test_overhead():
    """Printed; judged where KILN_OVERHEAD is set, on a machine that does nothing else."""
    for device in DEVICES[:2]:
        x, w, b, _ = layer(device)
        if device == "cpu":
            x = x[:0]
        wt, e = w.t(), torch.empty(x.shape[0], 128, dtype=BF16, device=device)
        op, torch_op = kiln.ops.bias_relu, torch.ops.kiln.bias_relu
        with torch.no_grad():
            api = min(op.launch_time(200, x, wt, b, out=e) for _ in range(10)) * 1e6
            out = seconds(lambda: op(x, wt, b, out=e)) - api
            named = seconds(lambda: op(x, wt, bias=b, out=e)) - api
            made = seconds(lambda: op(x, wt, b)) - api
            custom = seconds(lambda: torch_op(x, wt, b)) - api
            into = seconds(lambda: torch_op.into(x, wt, b, e=e)) - api
            mm = seconds(lambda: torch.mm(x, wt))
        print(f"# {device}: C API {api:.2f} us; beyond it: out= {out:.2f}, with a name {named:.2f}, made {made:.2f}, "
              f"torch op {custom:.2f}, into {into:.2f}; torch.mm whole {mm:.2f}")
        if os.environ.get("KILN_OVERHEAD"):
            assert out <= 2 and custom <= mm + 3, (out, custom, mm)
