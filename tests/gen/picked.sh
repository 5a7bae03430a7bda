#!/bin/bash
# SPDX-License-Identifier: MIT
# Products and quotients of which a maximum or minimum is looked for are rounded by themselves, on every target: less
# the largest one the largest is 0, whatever its size.  Others may be fused into sums.  TAP.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh disable=SC2154
. "$(dirname "$0")/../lib/tap.sh"
softmax() { # NAME VALUE: of a row of that
    printf 'rowwise "%s" { types = { { x = f32 } }, d = { x = full "x" }, scalars = { "s" }, outputs = { y = full "x" },
  body = function(d, s) local z = %s local e = exp(z - row_max(z)) return e / row_sum(e) end }\n' "$1" "$2"
}
{
    printf 'gemm "of_blocks" { types = { { a = f32, b = f32, e = f32 } }, layouts = { "rrr" }, scalars = { "s" },
  outputs = { m = per_block("e", f32, 1, 32) },
  epilogue = function(acc, _, s) local z = acc * s.s return { e = exp(z - block_max(z, 32)), m = block_max(z, 32) } end }\n'
    softmax product 'd.x * s.s'
    softmax negated '-(d.x * s.s)'
    softmax quotient 'd.x / s.s'
    softmax sum 'd.x * s.s + 1'
    softmax chosen 'select(gt(d.x, 0), d.x * s.s, 0)'
} >"$tmp/picked.lua"
"$gen" --templates templates --out "$tmp/gen" --target host --target gfx942 --target sm_90a "$tmp/picked.lua" >"$tmp/out" 2>&1
result $? 'generated' "$tmp/out"
sources() { find "$tmp/gen/$1/$2" -name 'f32*-*.[chp]*'; }
all_have() { # OP TEXT: each kernel of each target
    for target in host gfx942 sm_90a; do
        # shellcheck disable=SC2046
        [ -n "$(sources $target "$1")" ] && ! grep -LE "$2" $(sources $target "$1") | grep . || return
    done
}
none_has() { ! grep -rlE "$2" "$tmp"/gen/*/"$1"; }
all_have product '(kiln_product|HOST_PRODUCT)\('; result $? 'a product is rounded'
all_have of_blocks 'kiln_product\('; result $? 'one of an epilogue, too'
all_have negated '(kiln_product|HOST_PRODUCT)\('; result $? 'and one with another sign'
all_have quotient 'e3(\[v\])? = \(e1(\[v\])? / n2\)'; result $? 'a quotient is one, and no product by an inverse'
none_has sum '(kiln_product|HOST_PRODUCT)\('; result $? 'a product within a sum may be fused'
none_has chosen '(kiln_product|HOST_PRODUCT)\('; result $? 'what is chosen is no product'
finish
