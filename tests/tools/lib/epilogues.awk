# SPDX-License-Identifier: MIT
# Random epilogues as an instance file: awk -v count=N -v seed=S -f epilogues.awk.  The same numbers give the same text
# with any awk.  Every function of the language, operands of every kind, up to four deep; f32 and 16-bit types in turn.
function below(n) {
    state = (state * 48271) % 2147483647 # Lehmer's generator: products stay below 2^53
    return int(state / 2147483647 * n)
}
function pick(list,    part, n) { n = split(list, part, " "); return part[1 + below(n)] }

function leaf(    n) {
    n = below(9)
    return n < 5 ? "acc" : n < 8 ? "d." pick("row col all one") : "s.k"
}
function other(depth) { # operand; only here a number: of numbers alone Lua would make a constant, maybe NaN
    return below(5) ? value(below(depth)) : pick("0.5 2 3 -1 0.044 1e-5 0.125")
}
function condition(depth) { return pick("lt le gt ge") "(" value(depth) ", " other(depth) ")" }
function value(depth,    n, x) {
    if (depth <= 0 || below(12) == 0) return leaf()
    n = below(16)
    x = value(depth - 1)
    if (n < 5) return "(" x " " pick("+ - * * /") " " other(depth) ")"
    if (n < 10) return pick("relu gelu gelu_tanh silu sigmoid tanh exp log sqrt rsqrt abs abs round") "(" x ")"
    if (n == 10) return pick("min max") "(" x ", " other(depth) ")"
    if (n == 11) return "clamp(" x ", " pick("-1 -3 0 -0.5") ", " pick("0.5 1 6") ")"
    if (n == 12) return "leaky_relu(" x ", " pick("0.01 0.2 s.k d.col") ")"
    if (n == 13) return "select(" condition(below(depth)) ", " x ", " other(depth) ")"
    if (n == 14) return "cast(" x ", " pick("bf16 f16 i8 f8e4m3") ")"
    return below(2) ? "(" x ") ^ " pick("2 3 -1 0.5 1.5") : "abs(" x ") ^ " leaf()
}
function uses(text, name) { return text ~ ("[^a-z_]" name "[^a-z_]") }

BEGIN {
    state = 1 + (seed * 7919 + 12345) % 2147483646
    for (i = 0; i < 10; i++) below(2)
    for (i = 1; i <= count; i++) {
        do text = " " value(2 + below(3)) " "
        while (!uses(text, "acc"))
        type = pick("f32 f32 f16 bf16")
        printf "gemm \"random_%d\" {\n  types = { { a = %s, b = %s, e = %s } }, layouts = { \"%s\" }, targets = { \"host\" },\n", i,
            type, type, type, pick("rcr rrr rrc")
        inputs = ""
        if (uses(text, "d\\.row")) inputs = inputs " row = per_row(f32),"
        if (uses(text, "d\\.col")) inputs = inputs " col = per_col \"e\","
        if (uses(text, "d\\.all")) inputs = inputs " all = full \"e\","
        if (uses(text, "d\\.one")) inputs = inputs " one = per_tensor(f32),"
        if (inputs != "") printf "  d = {%s },\n", inputs
        if (uses(text, "s\\.k")) print "  scalars = { \"k\" },"
        printf "  epilogue = function(acc, d, s) return%send,\n}\n", text
    }
}
