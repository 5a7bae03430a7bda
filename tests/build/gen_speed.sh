#!/bin/bash
# SPDX-License-Identifier: MIT
# kiln-gen renders and writes 10,000 instances in at most 2 s on one thread with at most 300 MB; of an unchanged input it
# writes nothing.  What is gated is the program's own time, the least of three runs: what the system takes to write so many
# files depends on what else waits for the disk; a core's own speed is measured, too.  TAP.
# Alone: times kiln-gen.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
cat >"$tmp/sweep.lua" <<'EOF'
gemm "sweep" {
  types = { { a = f16, b = f16, e = f16 }, { a = bf16, b = bf16, e = bf16 }, { a = f32, b = f32, e = f32 },
            { a = f8e4m3, b = f8e4m3, e = bf16 }, { a = f16, b = f16, e = f32 }, { a = bf16, b = bf16, e = f32 } },
  layouts = { "rcr", "rrr" },
  d = { bias = per_col "e" },
  epilogue = function(acc, d) return relu(acc + d.bias) end,
  tiles = { gfx942 = { simt { m = { 16, 32, 64, 128 }, n = { 16, 32, 64, 128 }, k = { 8, 16, 32, 64 },
                              tm = { 1, 2, 4, 8 }, tn = { 1, 2, 4, 8 }, split_k = { 1, 2 } } } },
  targets = { "gfx942" },
}
EOF
run() { # prints milliseconds of CPU, of the system's too, and the largest resident size in KB
    python3 - "$gen" --templates "$root/templates" --out "$tmp/out" --target gfx942 "$tmp/sweep.lua" <<'EOF'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
u = resource.getrusage(resource.RUSAGE_CHILDREN)
print(int(u.ru_utime * 1000), int((u.ru_utime + u.ru_stime) * 1000), u.ru_maxrss)
EOF
}
least() { sort -n | head -n 1; }
run >"$tmp/first"
count=$(find "$tmp/out" -name '*.hip' | wc -l)
[ "$count" -ge 10000 ]; result $? "$count instances"
touch "$tmp/mark"
sleep 0.02
{ run; run; } >"$tmp/again"
[ -z "$(find "$tmp/out" -newer "$tmp/mark" -type f)" ]; result $? "unchanged input writes nothing"
cpu=$(cut -d' ' -f1 "$tmp/first" "$tmp/again" | least)
[ "${cpu:-99999}" -le "$(slowed 2000)" ]; result $? "in at most 2 s (took $cpu ms of CPU)"
all=$(cut -d' ' -f2 "$tmp/again" | least)
[ "${all:-99999}" -le "$(slowed 4000)" ]; result $? "and where nothing is written no more, the system's time included (took $all ms)"
kb=$(cut -d' ' -f3 "$tmp/first")
[ "${kb:-999999}" -le 300000 ]; result $? "in 300 MB (took $kb KB)"
finish
