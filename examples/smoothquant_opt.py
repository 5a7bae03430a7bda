#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""SmoothQuant's int8 OPT with Kiln's ops, random weights of the true sizes: calibrated, smoothed, quantised, and run int8 from
LayerNorm to the last product: ops of a layer beside torch in double precision, logits beside the model's in f32, time beside
torch's in bf16.  docs/python.md has how to build what it needs, and what it printed.

    PYTHONPATH=build/python python3 examples/smoothquant_opt.py                 # a GPU: OPT-1.3B whole, a layer of 13B
    PYTHONPATH=build/python python3 examples/smoothquant_opt.py --device host   # tiny sizes on the CPU
"""
import sys

import torch
import torch.nn.functional as F

from whole import Kiln, Place, Table, Torch, attended, causal, emulate, graphs, in_turn, parser, relative, run

try:
    import transformers
except ImportError:
    transformers = None

SIZES = {  # hidden, layers, heads, feed-forward, words, positions
    "1.3b": (2048, 24, 32, 8192, 50272, 2048), "13b": (5120, 40, 40, 20480, 50272, 2048),
    "tiny": (128, 2, 2, 512, 512, 64)}
EPS = 1e-5
DEFAULT = ["linear_ab_i8_de_f32", "linear_abde_i8", "linear_relu_abde_i8", "bmm_ab_i8_e_f32", "bmm_abe_i8",
           "causal_attention"]
OWN = ["opt_add_layernorm_i8", "opt_causal_softmax_i8", "opt_quantise_i8", "opt_linear_i8_f16"]


# ---- the model: transformers' OPTDecoderLayer, with its LayerNorm before ----

class Layer:
    """Weights by the names that transformers has; some channels of LayerNorms are large, as those of trained models are."""
    PARTS = {"q": "self_attn.q_proj", "k": "self_attn.k_proj", "v": "self_attn.v_proj", "o": "self_attn.out_proj",
             "1": "fc1", "2": "fc2", "n1": "self_attn_layer_norm", "n2": "final_layer_norm"}

    def __init__(self, place, size):
        hidden, _, self.heads, wide, _, _ = size
        shapes = {"q": (hidden, hidden), "k": (hidden, hidden), "v": (hidden, hidden), "o": (hidden, hidden),
                  "1": (wide, hidden), "2": (hidden, wide)}
        self.w = {n: place.random(*s, scale=s[1] ** -0.5) for n, s in shapes.items()}
        self.b = {n: place.random(s[0], scale=0.1) for n, s in shapes.items()}
        for n in ("n1", "n2"):
            weight = 1 + place.random(hidden, scale=0.1)
            weight[place.random(hidden).abs() > 2.6] *= 20  # one channel of a hundred
            self.w[n], self.b[n] = weight, place.random(hidden, scale=0.1)

    def to(self, dtype):
        """As a flat list, which torch.compile takes as it is."""
        return [t[n].to(dtype) for n in ("n1", "q", "k", "v", "o", "n2", "1", "2") for t in (self.w, self.b)]


def layer(h, weights, heads, seen=None):
    """seen: what calibration is told of, by name."""
    n1, m1, q, bq, k, bk, v, bv, o, bo, n2, m2, w1, b1, w2, b2 = weights

    def apart(x):
        return x.unflatten(-1, (heads, -1)).transpose(0, 1).unsqueeze(0)

    x1 = F.layer_norm(h, n1.shape, n1, m1, EPS)
    q, k, v = F.linear(x1, q, bq), F.linear(x1, k, bk), F.linear(x1, v, bv)
    a = F.scaled_dot_product_attention(apart(q), apart(k), apart(v), is_causal=True)
    a = a.squeeze(0).transpose(0, 1).flatten(1)
    h = h + F.linear(a, o, bo)
    x2 = F.layer_norm(h, n2.shape, n2, m2, EPS)
    f = torch.relu(F.linear(x2, w1, b1))
    if seen is not None:
        for name, value in (("x1", x1), ("q", q), ("k", k), ("v", v), ("a", a), ("x2", x2), ("f", f)):
            most = value.abs().amax(0)
            seen[name] = torch.maximum(seen[name], most) if name in seen else most
    return h + F.linear(f, w2, b2)


class Model:
    def __init__(self, place, size):
        hidden, layers, _, _, words, positions = size
        self.words, self.places = place.random(words, hidden, scale=0.3), place.random(positions + 2, hidden, scale=0.1)
        self.layers = [Layer(place, size) for _ in range(layers)]
        self.norm = 1 + place.random(hidden, scale=0.1), place.random(hidden, scale=0.1)

    def embed(self, tokens):
        return self.words[tokens], self.places[2:2 + len(tokens)]

    def logits(self, h):
        return F.linear(F.layer_norm(h, h.shape[-1:], *self.norm, EPS), self.words)

    def run(self, tokens, seen=None):
        h = sum(self.embed(tokens))
        for i, one in enumerate(self.layers):
            h = layer(h, one.to(torch.float32), one.heads, None if seen is None else seen[i])
        return self.logits(h)

    def in_transformers(self, size):
        """The same weights in transformers' model."""
        hidden, layers, heads, wide, words, positions = size
        config = transformers.OPTConfig(
            vocab_size=words, hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=heads, ffn_dim=wide,
            max_position_embeddings=positions, word_embed_proj_dim=hidden, do_layer_norm_before=True, dropout=0.0)
        with torch.device(self.words.device):
            model = transformers.OPTForCausalLM(config).eval()
        state = {"model.decoder.embed_tokens.weight": self.words, "lm_head.weight": self.words,
                 "model.decoder.embed_positions.weight": self.places,
                 "model.decoder.final_layer_norm.weight": self.norm[0], "model.decoder.final_layer_norm.bias": self.norm[1]}
        for i, one in enumerate(self.layers):
            for n, part in Layer.PARTS.items():
                state[f"model.decoder.layers.{i}.{part}.weight"] = one.w[n]
                state[f"model.decoder.layers.{i}.{part}.bias"] = one.b[n]
        model.load_state_dict(state)
        return model


# ---- smoothed and quantised ----

def to_i8(x):
    scale = x.abs().max().item() / 127
    return (x / scale).round().to(torch.int8), scale


class Quantised:
    """A layer in int8, one scale for each tensor: inputs of products divided by s, weights multiplied by it, with
    s = largest input of a channel ^ alpha / largest weight of it ^ (1 - alpha)."""

    def __init__(self, one, seen, alpha):
        self.heads, w, b = one.heads, dict(one.w), one.b
        self.norm, self.w, self.scale, inputs = {}, {}, {}, {}
        for norm, x, products in (("n1", "x1", "qkv"), ("n2", "x2", "1")):
            most = torch.stack([w[n].abs().amax(0) for n in products]).amax(0).clamp(min=1e-5)
            s = (seen[x].clamp(min=1e-5) ** alpha / most ** (1 - alpha)).clamp(min=1e-5)
            for n in products:
                w[n] = w[n] * s
                inputs[n] = (seen[x] / s).max().item() / 127
            self.norm[norm] = w[norm] / (s * inputs[products[0]]), b[norm] / (s * inputs[products[0]])
        for n, x in (("o", "a"), ("2", "f")):
            inputs[n] = seen[x].max().item() / 127
        self.inputs, self.bias = inputs, b
        self.out = {n: seen[n].max().item() / 127 for n in "qkv"}
        for n in "qkvo12":
            self.w[n], self.scale[n] = to_i8(w[n])
        self.bias_i8 = {n: to_i8(b[n]) for n in "qkv1"}

    def factor(self, n):
        """Of a product's sums."""
        return self.inputs[n] * self.scale[n]


class Buffers:
    """What layers hand on: all have the same."""

    def __init__(self, place, rows, size):
        def made(shape, dtype):
            return torch.zeros(shape, dtype=dtype, device=place.device)
        hidden, heads, wide = size[0], size[2], size[3]
        self.heads, self.head = heads, hidden // heads
        self.h, self.x = made((rows, hidden), torch.float32), made((rows, hidden), torch.float32)
        self.y, self.ai = made((rows, hidden), torch.int8), made((rows, hidden), torch.int8)
        self.f = made((rows, wide), torch.int8)
        self.q, self.k, self.v, self.a = (made((rows, hidden), torch.float16) for _ in range(4))
        self.qi, self.ki, self.vi = (made((rows, hidden), torch.int8) for _ in range(3))
        self.lse = made((heads, rows), torch.float32)
        self.vt = made((heads, self.head, rows), torch.int8)
        self.scores, self.p = made((heads, rows, rows), torch.float32), made((heads, rows, rows), torch.int8)

    def apart(self, x):
        """[head, position, element]"""
        return x.unflatten(-1, (self.heads, self.head)).transpose(0, 1)


def f32(x):
    """Rounded to f32, as f64: what an op computes with scalars, sums of i32 and results in f32."""
    return torch.as_tensor(x, dtype=torch.float64).float().double()


def product(a, b):
    """Sums of int8 products, exact, as the f32 that an epilogue gets."""
    return f32(a.double() @ b.double().transpose(-1, -2))


def mean(x):
    """Of a row: a compensated sum, which is the exact one, rounded, then divided."""
    return f32(f32(x.sum(-1, keepdim=True)) / x.shape[-1])


def exponential(x):
    """ops/opt.lua's, step by step; a product that is added to is not rounded before."""
    y = x.clamp(min=-30) / 64
    e = f32(1 / 120)
    for c in 1 / 24, 1 / 6, 1 / 2, 1, 1:
        e = f32(e * y + f32(c))
    for _ in range(6):
        e = f32(e * e)
    return e


def norm_step(one, buf, n):
    weight, bias = one.norm[n]

    def want():
        total = (buf.x + buf.h).double()
        centred = f32(total - mean(total))
        spread = f32(mean(f32(centred * centred)) + EPS)
        return {"sum": total, "y": f32(f32(centred * f32(spread.rsqrt())) * weight.double() + bias.double())}
    return Kiln("opt_add_layernorm_i8", {"x": buf.x, "residual": buf.h, "weight": weight, "bias": bias, "eps": EPS},
                {"sum": buf.h, "y": buf.y}, want, 1e-6)


def linear_step(one, n, x, out, tolerance=None):
    """Into i8 with a scale of its own (its bias is i8, too), or into f16 or f32."""
    w, alpha, relu = one.w[n], one.factor(n), n == "1"
    bias, beta = one.bias[n], 1.0
    if out.dtype == torch.int8:
        bias, scale = one.bias_i8[n]
        of = one.inputs["2"] if relu else one.out[n]
        alpha, beta = alpha / of, scale / of
    name = {torch.float16: "opt_linear_i8_f16", torch.float32: "linear_ab_i8_de_f32",
            torch.int8: "linear_relu_abde_i8" if relu else "linear_abde_i8"}[out.dtype]

    def want():
        value = f32(f32(alpha) * product(x, w) + f32(f32(beta) * bias.double()))
        return {"e": value.relu() if relu else value}
    given = {"a": x, "b": w.t(), "bias": bias, "alpha": alpha}
    if out.dtype != torch.float16:
        given["beta"] = beta
    return Kiln(name, given, {"e": out}, want, tolerance)


def attention_f16(one, buf):
    """q, k and v in f16, one kernel of attention."""
    scale, factor = buf.head ** -0.5, 1 / one.inputs["o"]
    q, k, v = (buf.apart(t) for t in (buf.q, buf.k, buf.v))
    return [*(linear_step(one, n, buf.y, getattr(buf, n), 1e-3) for n in "qkv"),
            Kiln("causal_attention", {"q": q, "k": k, "v": v, "scale": scale}, {"o": buf.apart(buf.a), "lse": buf.lse},
                 lambda: attended(q, k, v, scale), 2e-3),
            Kiln("opt_quantise_i8", {"x": buf.a, "factor": factor}, {"y": buf.ai}, lambda: {"y": f32(buf.a.double() * f32(factor))})]


def attention_i8(one, buf):
    """SmoothQuant's: two batched products in int8 and a softmax between them."""
    q, k, out = buf.apart(buf.qi), buf.apart(buf.ki), buf.apart(buf.ai)
    first = one.out["q"] * one.out["k"] * buf.head ** -0.5
    last = one.out["v"] / 127 / one.inputs["o"]

    def weights():
        value = torch.empty(buf.scores.shape, dtype=torch.float64, device=q.device)
        for i in range(buf.heads):
            x = causal(buf.scores[i].double())
            e = exponential(f32(x - x.amax(-1, keepdim=True)))
            total = f32(e.sum(-1, keepdim=True))
            value[i] = f32(e * f32(127 * f32(f32(total * total).rsqrt())))
        return {"y": value}
    return [*(linear_step(one, n, buf.y, getattr(buf, n + "i")) for n in "qkv"),
            Kiln("bmm_ab_i8_e_f32", {"a": q, "b": k.transpose(1, 2), "alpha": first}, {"e": buf.scores},
                 lambda: {"e": f32(f32(first) * product(q, k))}, 1e-6),
            Kiln("opt_causal_softmax_i8", {"x": buf.scores}, {"y": buf.p}, weights),
            Torch("transposing V", lambda: buf.vt.copy_(buf.apart(buf.vi).transpose(1, 2))),
            Kiln("bmm_abe_i8", {"a": buf.p, "b": buf.vt.transpose(1, 2), "alpha": last}, {"e": out},
                 lambda: {"e": f32(f32(last) * product(buf.p, buf.vt))})]


def steps_of(one, buf, attention):
    """x + h is what comes in, and what goes out."""
    return [norm_step(one, buf, "n1"), *attention(one, buf),
            linear_step(one, "o", buf.ai, buf.x, 1e-6),
            norm_step(one, buf, "n2"),
            linear_step(one, "1", buf.y, buf.f),
            linear_step(one, "2", buf.f, buf.x, 1e-6)]


KINDS = {"attention in f16": attention_f16, "attention in int8": attention_i8}


# ---- what is shown ----

def agree(x, y):
    return (x.argmax(-1) == y.argmax(-1)).double().mean().item()


def one_layer(place, table, name, rows, options):
    """A layer by itself: each op beside torch, then its time."""
    size = SIZES[name]
    one, seen = Layer(place, size), {}
    h = place.random(rows, size[0])
    want = layer(h, one.to(torch.float32), one.heads, seen)
    low, quantised = one.to(torch.bfloat16), Quantised(one, seen, options.alpha)
    low_h, buf = h.to(torch.bfloat16), Buffers(place, rows, size)
    calls = {"torch, bf16, eager": lambda: layer(low_h, low, one.heads)}
    if options.compile:
        compiled = torch.compile(layer, dynamic=False)
        calls["torch, bf16, torch.compile"] = lambda: compiled(low_h, low, one.heads)
    errors = {n: relative(call().float(), want) for n, call in calls.items()}
    for kind, attention in KINDS.items():
        steps = steps_of(quantised, buf, attention)

        def call(steps=steps):
            run(steps)
        buf.h.copy_(h), buf.x.zero_()
        table.check(f"OPT-{name}, {kind}", steps, options.ops)
        buf.h.copy_(h), buf.x.zero_()  # ops by themselves, timed again and again, add to what they find
        run(steps)
        errors[f"Kiln, int8, {kind}"] = relative(buf.h + buf.x, want)
        calls[f"Kiln, int8, {kind}"] = call
    times = in_turn(place, graphs(place, calls, eager={"torch, bf16, eager"}))
    base = times.get("torch, bf16, torch.compile", times["torch, bf16, eager"])
    for n, ms in times.items():
        table.add(f"OPT-{name}, a layer, {rows} tokens: {n}", ms, base / ms, errors[n])


def whole_model(place, table, name, rows, options):
    """All layers: logits beside f32's, beside the quantised model's own emulation, and the time of the layers."""
    size = SIZES[name]
    model = Model(place, size)
    seen = [{} for _ in model.layers]
    for _ in range(options.calibration):
        model.run(torch.randint(0, size[4], (rows,), device=place.device, generator=place.generator), seen)
    tokens = torch.randint(0, size[4], (rows,), device=place.device, generator=place.generator)
    want = model.run(tokens)
    if transformers:
        table.add(f"OPT-{name}, this file's model in f32 beside transformers' {transformers.__version__}",
                  error=relative(want, model.in_transformers(size)(tokens[None]).logits[0]), allowed=1e-5)
    quantised = [Quantised(one, s, options.alpha) for one, s in zip(model.layers, seen)]
    low, buf = [one.to(torch.bfloat16) for one in model.layers], Buffers(place, rows, size)
    heads, first = size[2], [t.clone() for t in model.embed(tokens)]
    low_h = sum(first).to(torch.bfloat16)

    def through(function):
        def call():
            h = low_h
            for weights in low:
                h = function(h, weights, heads)
            return h
        return call
    calls = {"torch, bf16, eager": through(layer)}
    if options.compile:
        calls["torch, bf16, torch.compile"] = through(torch.compile(layer, dynamic=False))
    logits = {n: model.logits(call().float()) for n, call in calls.items()}
    for kind, attention in KINDS.items():
        steps = [s for one in quantised for s in steps_of(one, buf, attention)]
        for how, act in (("emulated in f64 and f32", emulate), ("Kiln, int8", run)):
            buf.x.copy_(first[0]), buf.h.copy_(first[1])
            act(steps)
            logits[f"{how}, {kind}"] = model.logits(buf.h + buf.x)
        mine, exact = logits[f"Kiln, int8, {kind}"], logits[f"emulated in f64 and f32, {kind}"]
        # What the least difference that there is becomes: the emulation once more, with one byte of each position one unit
        # off in the first layer's feed-forward part.
        last = len(steps) // len(quantised) - 1
        buf.x.copy_(first[0]), buf.h.copy_(first[1])
        emulate(steps[:last])
        buf.f[:, 0] ^= 1
        emulate(steps[last:])
        near = model.logits(buf.h + buf.x)
        place.say(f"OPT-{name}, {kind}: the argmax of {100 * agree(mine, exact):.2f} % of {rows} positions is that of its "
                  f"emulation, of {100 * agree(mine, want):.2f} % that of the model in f32; logits are "
                  f"{relative(mine, exact):.2e} from it.  With one byte of each position one unit off in the first layer "
                  f"the emulation has its own argmax at {100 * agree(near, exact):.2f} %, and logits "
                  f"{relative(near, exact):.2e} from its own")

        def call(steps=steps):
            buf.x.copy_(first[0]), buf.h.copy_(first[1])
            run(steps)
        calls[f"Kiln, int8, {kind}"] = call
    times = in_turn(place, graphs(place, calls, eager={"torch, bf16, eager"}), 7)
    base = times.get("torch, bf16, torch.compile", times["torch, bf16, eager"])
    for n, values in logits.items():
        ms = times.get(n)
        table.add(f"OPT-{name}, {size[1]} layers, {rows} tokens: {n}", ms, ms and base / ms, relative(values, want))


def main():
    options = parser(__doc__)
    options.add_argument("--layer", choices=[*SIZES, "none"], help="a layer by itself (default: 13b, tiny on the host)")
    options.add_argument("--model", choices=[*SIZES, "none"], help="a whole model (default: 1.3b, tiny on the host)")
    options.add_argument("--tokens", type=int, help="default: 2048, all positions of the tiny one")
    options.add_argument("--alpha", type=float, default=0.5, help="how much of the inputs' range weights take over")
    options.add_argument("--calibration", type=int, default=4, help="sequences of random tokens (default: %(default)s)")
    options = options.parse_args()
    place = Place(options.device, options.modules)
    small = "tiny" if place.host else None
    options.compile = options.compile and not place.host
    place.require(DEFAULT, OWN)
    table = Table(place)
    place.say(f"random weights, one channel of a hundred of LayerNorms 20 times as large; {options.calibration} sequences of "
              f"random tokens calibrate; alpha = {options.alpha}\n"
              f"model: this file's, with the layers of transformers' OPT"
              f"{', beside that' if transformers else '; transformers is not installed'}\n"
              "left to torch: embeddings, the last LayerNorm and logits (f32); of attention in int8, transposing V\n"
              "errors: of ops the largest difference over the largest magnitude, of i8 in units of the last place; of layers "
              "and logits relative, |x - f32| / |f32|")
    with torch.no_grad():
        name = options.layer or small or "13b"
        if name != "none":
            one_layer(place, table, name, options.tokens or SIZES[name][5], options)
        name = options.model or small or "1.3b"
        if name != "none":
            whole_model(place, table, name, options.tokens or SIZES[name][5], options)
    failed = table.print()
    place.finish()
    return failed


if __name__ == "__main__":
    sys.exit(main())
