# SPDX-License-Identifier: MIT
"""Calls that are right: every family by the one path, sizes, batches, layouts and outputs as they come."""
import kiln
import numpy as np
from common import BF16, F8, close, numbers, raises, same


def relu(x):
    return np.maximum(x, 0)


def test_a_product_with_its_weight_transposed():
    x, w, b = numbers(5, 64, dtype=BF16), numbers(32, 64, dtype=BF16, seed=1), numbers(32, dtype=BF16)
    want = relu(x.astype("f4") @ w.astype("f4").T + b.astype("f4")).astype(BF16)
    y = kiln.ops.bias_relu(x, w.T, bias=b)
    assert y.dtype == BF16 and isinstance(y, np.ndarray)
    same(y, want)
    same(kiln.op("bias_relu")(a=x, b=w.T, bias=b), want)
    assert kiln.ops.bias_relu is kiln.op("bias_relu") and kiln.ops.bias_relu.__name__ == "bias_relu"
    assert kiln.ops.bias_relu.problem(x, w.T, b).startswith("bias_relu bf16,bf16,bf16 rcr m=5 n=32 k=64")


def test_layouts_follow_the_strides():
    a, b = numbers(6, 16), numbers(16, 8, seed=1)
    text = {"r": np.ascontiguousarray, "c": np.asfortranarray}
    for lay_a in "rc":
        for lay_b in "rc":
            x, y = text[lay_a](a), text[lay_b](b)
            assert f" {lay_a}{lay_b}r " in kiln.ops.gemm.problem(x, y)
            same(kiln.ops.gemm(x, y), a @ b)


def test_leading_dimensions_are_strides():
    whole = numbers(7, 40)
    x, w = whole[::2, 3:19], numbers(16, 8, seed=1)
    assert "lda=80" in kiln.ops.gemm.problem(x, w)
    same(kiln.ops.gemm(x, w), x @ w)


def test_batches_of_rows_are_rows():
    x, w, b = numbers(2, 3, 5, 16), numbers(8, 16, seed=1), numbers(8)
    assert "m=30 " in kiln.ops.bias_relu.problem(x.astype(BF16), w.T.astype(BF16, order="K"), b.astype(BF16))
    y = kiln.ops.gemm(x, w.T)
    same(y, x @ w.T)


def test_rows_of_batches_are_counted_in_each():
    x = numbers(3, 5, 5, dtype=BF16)
    e = np.exp(x.astype("f4")) * np.tri(5)
    close(kiln.ops.causal_softmax(x, 1.0).astype("f4"), e / e.sum(-1, keepdims=True), 0.01)
    assert "batch=3" in kiln.ops.causal_softmax.problem(x, 1.0)
    assert not kiln.describe("causal_softmax").rows_fold and kiln.describe("softmax").rows_fold


def test_batches_with_matrices_of_their_own():
    a, b = numbers(3, 5, 16), numbers(3, 8, 16, seed=1)
    assert "batch=3" in kiln.ops.gemm.problem(a, b.swapaxes(1, 2))
    same(kiln.ops.gemm(a, b.swapaxes(1, 2)), a @ b.swapaxes(1, 2))
    same(kiln.ops.gemm(a[0], b.swapaxes(1, 2)), a[0] @ b.swapaxes(1, 2))
    shared = np.broadcast_to(b[0].T, (3, 16, 8))
    same(kiln.ops.gemm(a, shared), a @ shared)


def test_two_batch_dimensions_are_one():
    a, b = numbers(2, 3, 5, 16), numbers(2, 3, 16, 8, seed=1)
    same(kiln.ops.gemm(a, b), a @ b)
    heads = numbers(2, 5, 3, 16)  # [batch, position, head, element]: batches lie between rows
    one = kiln.ops.gemm(heads[0].swapaxes(0, 1), b[0])
    same(one, heads[0].swapaxes(0, 1) @ b[0])


def test_scalars_by_place_and_by_name():
    x, w = numbers(4, 16, dtype=np.int8), numbers(8, 16, dtype=np.int8, seed=1)
    bias = numbers(8, dtype=np.int8)
    want = np.clip(np.rint(0.5 * (x.astype("i4") @ w.astype("i4").T) + 2.0 * bias), -128, 127)
    same(kiln.ops.linear_abde_i8(x, w.T, bias, 0.5, 2.0), want)
    same(kiln.ops.linear_abde_i8(x, w.T, bias=bias, beta=2, alpha=0.5), want)


def test_sums_of_integers_are_kept():
    """127 * 127 * 1041 has 25 bits, one more than f32."""
    x, w = np.full((3, 1041), 127, np.int8), np.full((5, 1041), 127, np.int8)
    w[:, 0] = range(5)
    same(kiln.ops.gemm(x, w.T, dtype="i32"), x.astype("i4") @ w.T.astype("i4"))


def test_softmax_of_what_is_masked_whole():
    """-1e30 everywhere: the largest product less itself is 0, and no product less its rounded value."""
    x = np.full((3, 300), -1e30, BF16)
    x[1] = np.finfo(np.float32).min / 2
    x[2, 100:] = 0
    y = kiln.ops.scaled_softmax(x, scale=0.0883).astype("f4")
    close(y[:2], np.full((2, 300), 1 / 300), 1e-4)
    close(y[2], np.where(np.arange(300) < 100, 0, 1 / 200), 1e-4)


def test_requantised_as_fbgemm_does():
    """u8 times i8, with zero points of A, B and C, and scales of all of B, of groups of its columns, and of each."""
    r = np.random.default_rng(0)
    m, k, n = 61, 96, 48
    a, b = r.integers(0, 256, (m, k), dtype=np.uint8), r.integers(-128, 128, (n, k), dtype=np.int8)
    bias, a_zero, c_zero = r.integers(-5000, 5000, n, dtype=np.int32), 131, 117
    for groups in 1, 4, n:
        b_zero = r.integers(-9, 9, groups, dtype=np.int32).repeat(n // groups)
        multiplier = r.uniform(1e-4, 2e-3, groups).astype("f4").repeat(n // groups)
        # What numbers stand for, multiplied as such.
        raw = (a.astype("i8") - a_zero) @ (b.T.astype("i8") - b_zero) + bias
        given = {"a": a, "b": b.T, "bias": bias, "row_offset": a.sum(1, dtype=np.int32), "b_zero": b_zero,
                 "multiplier": multiplier, "col_offset": (b.sum(1, dtype="i8") - k * b_zero).astype(np.int32)}
        for relu in "", "_relu":
            want = np.rint(raw.astype("f4") * multiplier).astype("i8") + c_zero
            want = np.clip(want, c_zero if relu else 0, 255).astype(np.uint8)
            got = kiln.op("requantise" + relu)(**given, a_zero=a_zero, c_zero=c_zero)
            assert got.dtype == np.uint8
            same(got, want)
            assert len(np.unique(want)) > 50 and (want == 255).any() and (want == (c_zero if relu else 0)).any()
    assert kiln.op("requantise").problem(**given, a_zero=0, c_zero=0).startswith("requantise u8,i8,u8 rcr m=61 n=48 k=96")


def test_two_products():
    x = numbers(3, 16, dtype=BF16)
    gate, up = numbers(8, 16, dtype=BF16, seed=1), numbers(8, 16, dtype=BF16, seed=2)
    g, u = x.astype("f4") @ gate.astype("f4").T, x.astype("f4") @ up.astype("f4").T
    close(kiln.ops.swiglu(x, gate.T, up.T), g / (1 + np.exp(-g)) * u, 2e-2)


def test_weights_of_four_bits():
    codes = np.random.default_rng(0).integers(0, 16, (8, 256), dtype=np.uint8)
    packed = codes[:, ::2] | codes[:, 1::2] << 4
    x = numbers(3, 256, dtype=BF16)
    scale = np.full((2, 8), 0.5, BF16)
    info = kiln.describe("w4a16_g128")
    zeros = np.full((2, 4) if info.inputs[-1].layout == "r" else (1, 8), 0x88, np.uint8)
    named = {t.name: t for t in info.inputs}
    given = {"scale": scale if named["scale"].layout != "c" else np.asfortranarray(scale)}
    if "zero" in named:
        letter = named["zero"].letter
        column = named["zero"].layout == "c" or letter >= 0 and info.signatures[0].layouts[letter] == "c"
        zeros = np.asfortranarray(np.full((1, 8), 0x88, np.uint8)) if column else np.full((2, 4), 0x88, np.uint8)
        given["zero"] = zeros
        column = named["scale"].layout == "c" or info.signatures[0].layouts[named["scale"].letter] == "c"
        given["scale"] = np.asfortranarray(scale) if column else scale
    want = x.astype("f4") @ ((codes.astype("f4") - 8) * 0.5).T
    close(kiln.ops.w4a16_g128(x, packed.T, **given), want, 1e-2)
    assert "k=256" in kiln.ops.w4a16_g128.problem(x, packed.T, **given)


def test_blocks_of_scales():
    x, w = numbers(3, 256, dtype=F8), numbers(128, 256, dtype=F8, seed=1)
    a, b = np.full((3, 2), 0.5, np.float32), np.asfortranarray(np.full((2, 1), 2, np.float32))
    y = kiln.ops.gemm_a8w8_blockscale(x, w.T, a, b)
    close(y, x.astype("f4") @ w.astype("f4").T, 1e-2)


def test_several_outputs():
    x, r, w = numbers(4, 64, dtype=BF16), numbers(4, 64, dtype=BF16, seed=1), np.ones(64, BF16)
    got = kiln.ops.add_rmsnorm_quant(residual=r, x=x, weight=w, eps=1e-6)
    assert got._fields == ("scale", "sum", "y") and got.y.dtype == F8 and got.scale.dtype == np.float32
    total = x.astype("f4") + r.astype("f4")
    same(got.sum, total)
    norm = total / np.sqrt((total * total).mean(1, keepdims=True) + 1e-6)
    close(got.scale, abs(norm).max(1) / 448, 1e-4)
    close(got.y.astype("f4") * got.scale[:, None], norm, 0.08)


def test_outputs_that_are_given():
    x, r, w = numbers(4, 64, dtype=BF16), numbers(4, 64, dtype=BF16, seed=1), np.ones(64, BF16)
    want = kiln.ops.add_rmsnorm(r, w, x, eps=1e-6)
    total, y = np.empty_like(x), np.empty_like(x)
    for out in ((total, y), [total, y], {"y": y, "sum": total}):
        total[:] = 0
        got = kiln.ops.add_rmsnorm(r, w, x, eps=1e-6, out=out)
        assert got.sum is total and got.y is y
        same(total, want.sum), same(y, want.y)
    one = kiln.ops.add_rmsnorm(r, w, x, eps=1e-6, y=y)
    assert one.y is y and one.sum is not total
    same(one.sum, want.sum)
    half = kiln.ops.add_rmsnorm(r, w, x, eps=1e-6, out={"sum": r})  # in place
    assert half.sum is r
    same(r, want.sum)


def test_an_output_of_column_major():
    a, b, e = numbers(5, 16), numbers(16, 8, seed=1), np.zeros((8, 5), np.float32).T
    kinds = {s.layouts for s in kiln.describe("gemm").signatures if s.types[0] == "f32"}
    if "rrc" in kinds:
        assert kiln.ops.gemm(a, b, out=e) is e
        same(e, a @ b)


def test_types_of_made_outputs():
    x = numbers(4, 16, dtype=np.int8)
    kinds = {s.types[2] for s in kiln.describe("gemm").signatures if s.types[0] == "i8" == s.types[1]}
    for kind in kinds:
        got = kiln.ops.gemm(x, x.T, dtype=kind)
        same(kiln.ops.gemm(x, x.T, dtype=got.dtype), got)
        assert got.dtype == np.dtype({"i8": "i1", "i32": "i4", "f32": "f4"}.get(kind, got.dtype)), kind


def test_attention_by_shapes():
    q, k, v = numbers(2, 4, 7, 64), numbers(2, 2, 9, 64, seed=1), numbers(2, 2, 9, 64, seed=2)
    got = kiln.ops.attention(q / 8, k / 8, v)
    scores = np.einsum("bhqd,bhkd->bhqk", q / 8, (k / 8).repeat(2, 1)) / 8
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    close(got.o, weights / weights.sum(-1, keepdims=True) @ v.repeat(2, 1), 1e-5)
    close(got.lse, np.log(np.exp(scores).sum(-1)), 1e-5)
    inner = np.ascontiguousarray((q / 8).swapaxes(1, 2))  # [batch, position, head, element]
    same(kiln.ops.attention(inner.swapaxes(1, 2), k / 8, v).o, got.o)


def test_sizes_that_no_tensor_tells():
    q, k, v = (numbers(2, 5, 64, dtype=BF16, seed=i) for i in range(3))
    one = kiln.ops.window_attention(q, k, v, scale=0.1, window=1)  # each query sees its own key
    same(one, v)
    assert "window=1" in kiln.ops.window_attention.problem(q, k, v, 0.1, window=1)


def attended(q, k, v, scale):
    """One sequence, [head, position, element]; the last query sees the last key."""
    q, k, v = (x.astype("f4") for x in (q, k.repeat(q.shape[0] // k.shape[0], 0), v.repeat(q.shape[0] // v.shape[0], 0)))
    s = scale * q @ k.swapaxes(1, 2)
    s[:, np.triu(np.ones(s.shape[1:], bool), s.shape[2] - s.shape[1] + 1)] = -np.inf
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ v


def test_sequences_of_different_lengths():
    q_begin, kv_begin = np.array([0, 3, 3, 7], np.int32), np.array([0, 5, 6, 10], np.int32)
    q, k, v = numbers(4, 7, 128, dtype=BF16), numbers(2, 10, 128, dtype=BF16, seed=1), numbers(2, 10, 128, dtype=BF16, seed=2)
    got = kiln.ops.ragged_attention(q, k, v, q_begin=q_begin, kv_begin=kv_begin, scale=0.05)
    assert got.o.shape == q.shape and got.lse.shape == (4, 7)
    assert " batch=3" in kiln.ops.ragged_attention.problem(q, k, v, kv_begin, q_begin, 0.05)
    for b in 0, 2:
        rows, keys = slice(*q_begin[b:b + 2]), slice(*kv_begin[b:b + 2])
        close(got.o[:, rows].astype("f4"), attended(q[:, rows], k[:, keys], v[:, keys], 0.05), 0.02)
    raises(ValueError, "'q_begin' has shape (3,), and is to be [batch=3 + 1]", kiln.ops.ragged_attention, q, k, v, kv_begin,
           q_begin[:3], 0.05)


def test_keys_in_pages():
    """[page, position, K or V, head, element], as caches are."""
    cache = numbers(9, 16, 2, 2, 128, dtype=BF16)
    k, v = cache[:, :, 0].swapaxes(1, 2), cache[:, :, 1].swapaxes(1, 2)
    length, pages = np.array([37, 0, 16], np.int32), np.array([[7, 2, 4, 0], [1, 1, 1, 1], [3, 0, 0, 0]], np.int32)
    q, q_begin = numbers(4, 5, 128, dtype=BF16, seed=1), np.array([0, 3, 3, 5], np.int32)
    given = {"q": q, "k": k, "v": v, "kv_length": length, "kv_pages": pages, "q_begin": q_begin, "scale": 0.05}
    text = kiln.ops.paged_attention.problem(**given)
    assert all(part in text for part in ("batch=3", "kv=64", "pages=9", "q=5")), text
    got = kiln.ops.paged_attention(**given)
    for b in 0, 2:
        one = cache[pages[b]].reshape(64, 2, 2, 128)[:length[b]].transpose(1, 2, 0, 3)
        rows = slice(*q_begin[b:b + 2])
        close(got.o[:, rows].astype("f4"), attended(q[:, rows], *one, 0.05), 0.02)
    cut = {**given, "kv_pages": pages[:, :3]}  # rows of the table lie apart
    assert "kv=48" in kiln.ops.paged_attention.problem(**cut)
    same(kiln.ops.paged_attention(**cut).o[:, :3], got.o[:, :3])
    raises(ValueError, "'k' has shape (9, 2, 15, 128), and is to be [pages, kv_heads, 16, dim=128]", kiln.ops.paged_attention,
           **{**given, "k": k[:, :, :15]})
    raises(ValueError, "'q_begin' has shape (3,), and is to be [batch=3 + 1]", kiln.ops.paged_attention,
           **{**given, "q_begin": q_begin[:3]})


def test_experts():
    """Rows of groups in any order, one without rows, rows of none, a token that is none."""
    x, gate, up = (v.astype("f2") for v in (numbers(6, 16), numbers(3, 8, 16, seed=1), numbers(3, 8, 16, seed=2)))
    gate, up = gate.swapaxes(1, 2), up.swapaxes(1, 2)  # [group, n, k], as layers have weights
    begin, end = np.array([5, 2, 0], np.int32), np.array([9, 2, 4], np.int32)
    index = np.array([3, 0, 3, 5, 9, 1, 2, 6, 4, 9, 9], np.int32)  # row 4 is nobody's, of row 7 there is no token
    out = np.full((11, 8), 7, "f2")
    given = {"a": x, "gate": gate, "up": up, "begin": begin, "end": end, "index": index}
    text = kiln.ops.moe_gate_up.problem(**given)
    assert all(part in text for part in ("m=11", "n=8", "k=16", "tokens=6", "groups=3")), text
    kiln.ops.moe_gate_up(**given, out=out)
    want = np.full((11, 8), 7, "f4")
    for g in range(3):
        for row in range(begin[g], end[g]):
            one = x[index[row]].astype("f4") if index[row] < 6 else np.zeros(16, "f4")
            y = one @ gate[g].astype("f4")
            want[row] = y / (1 + np.exp(-y)) * (one @ up[g].astype("f4"))
    close(out.astype("f4"), want, 0.01)
    assert kiln.ops.moe_gate_up(**given).shape == (11, 8)
    raises(ValueError, "'end' has shape (3,), and is to be [groups=2]", kiln.ops.moe_gate_up,
           **{**given, "begin": begin[:2]})
    weights = numbers(3, 4, 8, seed=3).astype("f2").swapaxes(1, 2)
    down = kiln.ops.moe_down(out, weights, weight=np.ones(11, "f4"), begin=begin, end=end)
    assert down.shape == (11, 4)


def test_experts_with_block_scales():
    """A token's scales come with its row."""
    shapes = (6, 200), (2, 8, 200), (2, 8, 200)
    values = [numbers(*shape, dtype=F8, seed=i) for i, shape in enumerate(shapes)]
    scales = [np.abs(numbers(*shape, seed=i)) + 0.5 for i, shape in enumerate(((6, 2), (2, 1, 2), (2, 1, 2)))]
    begin, end = np.array([4, 0], np.int32), np.array([7, 3], np.int32)
    index = np.array([3, 0, 5, 2, 1, 6, 4], np.int32)  # row 3 is nobody's, of row 5 there is no token
    given = {"a": values[0], "gate": values[1].swapaxes(1, 2), "up": values[2].swapaxes(1, 2), "a_scale": scales[0],
             "b_scale_gate": scales[1].swapaxes(1, 2), "b_scale_up": scales[2].swapaxes(1, 2), "begin": begin, "end": end,
             "index": index}
    got = kiln.ops.moe_gate_up_blockscale(**given)
    x, gate, up = (v.astype("f4") * s.repeat(128, -1)[..., :200] for v, s in zip(values, scales))
    for g in range(2):
        rows = slice(begin[g], end[g])
        one = np.where(index[rows, None] < 6, x[index[rows] % 6], 0)
        y = one @ gate[g].T
        close(got[rows].astype("f4"), y / (1 + np.exp(np.clip(-y, -80, 80))) * (one @ up[g].T), 0.02)
    raises(ValueError, "'a_scale'", kiln.ops.moe_gate_up_blockscale, **{**given, "a_scale": scales[0][:, :1]})


def test_rope_in_place_and_into_a_cache():
    positions, heads, half = 5, 3, 64
    qkv = numbers(positions, 3 * heads, 2 * half, dtype=BF16)
    turn = np.random.default_rng(0).uniform(-3, 3, (positions, half)).astype("f4")
    cos, sin = np.cos(turn), np.sin(turn)

    def turned(x):
        x1, x2 = x.astype("f4")[..., :half], x.astype("f4")[..., half:]
        return np.concatenate([x1 * cos[:, None] - x2 * sin[:, None], x2 * cos[:, None] + x1 * sin[:, None]], -1)

    def halves(x):  # [head, position, element]
        x = x.swapaxes(0, 1)
        return x[..., :half], x[..., half:]
    q, k, v = np.split(qkv, 3, 1)
    cache = np.zeros((16, 2, heads, 2 * half), BF16)
    want, (k1, k2), (v1, v2) = turned(q), halves(k), halves(v)
    names = [f"to_{n}" for n in ("k1", "k2", "v1", "v2")]
    out = dict(zip(names, [*halves(cache[4:9, 0]), *halves(cache[4:9, 1])]))
    kiln.ops.rope_cache(k1=k1, k2=k2, v1=v1, v2=v2, cos=cos, sin=sin, out=out)
    close(cache[4:9, 0].astype("f4"), turned(k), 0.01), same(cache[4:9, 1], v)
    assert not cache[:4].any() and not cache[9:].any()
    weight = numbers(2 * half, dtype=BF16, seed=1)
    normed = kiln.ops.rmsnorm_rope(x1=k1, x2=k2, weight1=weight[:half], weight2=weight[half:], cos=cos, sin=sin, eps=0.1)
    x = k.astype("f4")
    x = turned(x / np.sqrt((x * x).mean(-1, keepdims=True) + 0.1) * weight.astype("f4")).swapaxes(0, 1)
    close(np.concatenate([normed.y1, normed.y2], -1).astype("f4"), x, 0.01)
    x1, x2 = halves(q)
    kiln.ops.rope(x1=x1, x2=x2, cos=cos, sin=sin, out={"y1": x1, "y2": x2})
    close(q.astype("f4"), want, 0.01)


def test_zero_sizes():
    w, b = numbers(16, 8), numbers(8)
    assert kiln.ops.gemm(numbers(0, 16), w).shape == (0, 8)
    assert kiln.ops.gemm(numbers(4, 16), w[:, :0]).shape == (4, 0)
    same(kiln.ops.gemm(numbers(4, 0), w[:0]), np.zeros((4, 8)))
    assert kiln.ops.gemm(numbers(0, 3, 16), w).shape == (0, 3, 8)
    assert kiln.ops.gemm(numbers(0, 3, 16), numbers(0, 16, 8)).shape == (0, 3, 8)
    x = numbers(0, 64, dtype=BF16)
    assert kiln.ops.rmsnorm(weight=np.ones(64, BF16), x=x, eps=0.1).shape == (0, 64)
    same(kiln.ops.bias_relu(numbers(3, 0, dtype=BF16), numbers(8, 0, dtype=BF16).T, b.astype(BF16)),
         relu(b.astype("f4"))[None].repeat(3, 0))


def test_plans_are_told_apart():
    """More shapes, strides and alignments than there are places, in turn and again."""
    memory = numbers(4096)
    w = numbers(64, 8)
    for _ in range(2):
        for m in range(1, 20):
            for k in (1, 2, 3, 16, 33, 64):
                for at in (0, 1, 4):
                    x = memory[at:at + m * k].reshape(m, k)
                    same(kiln.ops.gemm(x, w[:k]), x @ w[:k])


def test_ones_in_place_of_what_is_not_there():
    x = numbers(4, 64, dtype=BF16)
    flat = kiln.ops.quantise_row(x)
    y, scale = np.empty((4, 64), F8), np.empty((4, 1), np.float32)
    kiln.ops.quantise_row(x, out={"y": y, "scale": scale})
    same(scale[:, 0], flat.scale), same(y, flat.y)
