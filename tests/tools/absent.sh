#!/bin/bash
# SPDX-License-Identifier: MIT
# Why a schedule has no instance of an op: `kiln explain` says it, with where that stands and what helps.  Modules of tables
# alone: no compiler for a GPU is needed.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh disable=SC2016
. "$(dirname "$0")/../lib/tap.sh"

mkdir "$tmp/ops"
cat >"$tmp/ops/absent.lua" <<'END'
gemm "only_simt" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = f32, b = f32, e = f32 } },
  layouts  = { "rcr", "ccr" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { simt {} } },
}
gemm "promoted" {
  types    = { { a = f8e4m3, b = f8e4m3, e = bf16 }, { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return acc end,
  tiles    = { sm_90a = { wgmma { m = 128, n = 64, promote = 4 } } },
}
gemm "plain" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return acc end,
}
END
for target in sm_90a gfx942; do
    INSTANCES=$tmp/ops TARGET=$target tests/bench/choices.sh "$tmp/$target" /dev/null >"$tmp/out" 2>&1
    result $? "a table of $target"
done
explain() { # TARGET OPTION... PROBLEM
    "$kiln" explain --modules "$tmp/$1/lib" --device "none:$1:132" "${@:2}" >"$tmp/out" 2>&1
}
lacks() { grep -qE "^  [a-z0-9_]+/$1/[a-z0-9_]*/r?c?c?r/$2 +no instance: $3\$" "$tmp/out"; } # OP SCHEDULE SENTENCE
line() { # FILE PATTERN: the number of the first line that has it
    grep -nE -m 1 "$2" "$1" | cut -d: -f1
}
sizes='m=64 n=64 k=64 align=256'
supports=$(line templates/gemm/wgmma_decode.lua '^  supports =') promote=$(line templates/gemm/wgmma.lua '"promote is for fp8"')
along_k='A must be contiguous along K, unless A and B have 16 bits and are summed over all of K'
explain sm_90a "only_simt f32,f32,f32 ccr $sizes" && lacks only_simt wgmma_decode "$along_k \(gemm/wgmma_decode.lua:$supports\)"
result $? 'what the schedule does not do' "$tmp/out"
explain sm_90a "only_simt bf16,bf16,bf16 ccr $sizes" && lacks only_simt wgmma '`tiles` on sm_90a are of other schedules: add `wgmma \{\}` \(.*ops/absent.lua:5\)'
result $? 'tiles of other schedules, and what to write' "$tmp/out"
! grep -q 'no instance.*host' "$tmp/out"
result $? "nothing of the host's" "$tmp/out"
explain sm_90a "promoted bf16,bf16,bf16 rcr $sizes" &&
    lacks promoted wgmma "1 tile, 1 cut by promote is for fp8 \(sm_90a\) \(gemm/wgmma.lua:$promote\)"
result $? 'tiles that a rule cuts' "$tmp/out"
explain sm_90a "promoted f8e4m3,f8e4m3,bf16 rcr $sizes" && ! grep -q 'wgmma  *no instance' "$tmp/out" && grep -q 'wgmma_128x64' "$tmp/out"
result $? 'but not of types that have one' "$tmp/out"
explain gfx942 "plain bf16,bf16,bf16 rcr $sizes" && lacks plain wgmma "needs Hopper's matrix unit \(sm_90a\) \(.*\)"
result $? 'what another machine has' "$tmp/out"
explain gfx942 --json "plain bf16,bf16,bf16 rcr $sizes" && python3 - "$tmp/out" <<'END'
import json, sys
lacks = {a["schedule"]: a["why"] for a in json.load(open(sys.argv[1]))["no_instance"]}
assert sorted(lacks) == ["mma", "simt_decode", "wgmma", "wgmma_decode"] and lacks["wgmma"].startswith("needs Hopper's"), lacks
END
result $? 'as JSON' "$tmp/out"

# What is to be written there is taken.
sed -i 's/{ simt {} }/{ simt {}, wgmma {} }/' "$tmp/ops/absent.lua"
INSTANCES=$tmp/ops TARGET=sm_90a tests/bench/choices.sh "$tmp/sm_90a" /dev/null >"$tmp/out" 2>&1 &&
    explain sm_90a "only_simt bf16,bf16,bf16 rcr $sizes" && grep -q 'rcr/wgmma_[0-9]' "$tmp/out" && ! grep -q 'wgmma  *no instance' "$tmp/out"
result $? 'the remedy gives instances' "$tmp/out"
finish
