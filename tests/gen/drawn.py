#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ops drawn at random, as an instance file: what types, layouts, products, operators of B, blocks of K and outputs may
be together.  drawn.py SEED COUNT"""
import random
import sys


def types(r):
    a = r.choice(["f16", "bf16", "f8e4m3", "i8", "bf16", "f16", "f8e5m2", "u8", "f32"])
    b = r.choice([a, a, "i4", "u4", "i8", "f8e4m3", "f8e5m2"])
    e = r.choice(["f32", "f16", "bf16", "f8e4m3", "i8"])
    return a, b, e


def of_b(r, b, product=None):
    deep = r.choice([16, 32, 64, 128, 128, 256, 512, 96])
    kind = r.choice(["per_block"] * 4 + ["per_col", "per_tensor"])
    t = r.choice(["f32", "f16", "bf16", '"a"', "u4", "i8"])
    if kind != "per_block":
        return f"{kind}({t if t != 'u4' else 'f32'})"
    layout = r.choice(["", "", ', "r"', ', "c"'])
    return f'per_block("{product or "b"}", {t}, {r.choice([1, 1, 1, 8, 128])}, {deep}{layout})'


def op(r, name):
    a, b, e = types(r)
    whole = all(t in ("i8", "u8", "i4", "u4") for t in (a, b))
    two = r.random() < 0.4
    d, lines = {}, []
    layouts = r.choice([["rcr"], ["rcr"], ["rcr", "rcc"], ["rrr"], ["crr"], ["ccr"]])
    if r.random() < 0.4:
        affine = "(w - d.zero) * d.scale"
        form = r.choice(["w * d.scale", affine, affine, "w * d.scale + d.zero", "relu(w) / 4"])
        for i in "scale", "zero":
            if "d." + i in form:
                d[i] = of_b(r, b)
        lines.append(f"b_op = function(w, d) return {form} end,")
    if r.random() < 0.3:
        deep = r.choice([32, 64, 128, 128, 256])
        d["of_b"] = f'per_block("b", {r.choice(["f32", "f32", "f32", "bf16"])}, {r.choice([1, 8, 64, 128])}, {deep})'
        text = "acc * d.of_b"
        if r.random() < 0.6:
            lies = r.choice(["", ', "c"'])
            d["of_a"] = f'per_block("a", f32, {r.choice([1, 1, 1, 8])}, {deep}{lies})'
            text += " * d.of_a"
        lines.append(f"block = function(acc, d) return {text} end,")
    if two:
        lines.append('b = { "gate", "up" },')
    y = "silu(acc.gate) * acc.up" if two else "acc"
    used = sum(2 if two and '"b"' in v else 1 for v in d.values())  # of eight inputs and outputs
    for kind in "per_col(f32)", "per_row(f32)", 'full("e")', 'full(f32, "c")':
        if r.random() < 0.2 and used < 4:
            d["in%d" % len(d)] = kind
            y += " * d.in%d" % (len(d) - 1)
            used += 1
    out, value = {}, {}
    if r.random() < 0.4:
        n = r.choice([2, 4, 8, 16, 32, 64, 128, 128, 128])
        out["each"], value["each"] = f'per_block("e", f32, 1, {n})', f"block_max(abs(y), {n})"
    if r.random() < 0.15 and used + len(out) < 8:
        out["amax"], value["amax"] = "per_row(f32)", "row_max(abs(y))"
    if r.random() < 0.1 and used + len(out) < 8:
        out["pre"], value["pre"] = "full(bf16)", "y"
    if r.random() < 0.05 and used + len(out) < 8:
        out["sums"], value["sums"] = "per_col(f32)", "col_sum(y)"
    if out:
        lines.append("outputs = { %s }," % ", ".join(f"{k} = {v}" for k, v in out.items()))
        result = "{ e = y%s, %s }" % (" / each" if "each" in value else "", ", ".join(f"{k} = {k}" for k in value))
        body = "local y = %s; %s return %s" % (y, " ".join(f"local {k} = {v};" for k, v in value.items()), result)
    else:
        body = f"return {y}"
    if d:
        lines.append("d = { %s }," % ", ".join(f"{k} = {v}" for k, v in d.items()))
    lines.append(f"epilogue = function(acc, d) {body} end,")
    acc = ", acc = f32" if whole and r.random() < 0.3 else ""
    return (f'gemm "{name}" {{\n  types = {{ {{ a = {a}, b = {b}, e = {e}{acc} }} }}, layouts = {{ '
            + ", ".join(f'"{x}"' for x in layouts) + " },\n  " + "\n  ".join(lines) + "\n}\n")


seed, count = int(sys.argv[1]), int(sys.argv[2])
for i in range(count):
    print(op(random.Random(f"{seed}.{i}"), f"drawn_{seed}_{i}"))
