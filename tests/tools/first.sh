#!/bin/bash
# SPDX-License-Identifier: MIT
# KILN_TUNE=first: what a first find tunes, keeps and leaves alone.
# shellcheck source-path=SCRIPTDIR source=lib/kiln.sh disable=SC2154
. "$(dirname "$0")/lib/kiln.sh"
export KILN_DEVICE=host OMP_NUM_THREADS=1 KILN_LOG=stderr
${CC:-gcc} -std=gnu11 -Wall -Wextra -Iruntime -Iabi -o "$tmp/first" tests/tools/first/first.c -L"$BUILD/lib" -lkiln -lpthread \
    -Wl,-rpath,"$BUILD/lib" >"$tmp/cc" 2>&1 || cat "$tmp/cc"
check 'the program compiles' test -x "$tmp/first"
# An op of three instances, so that there is something to choose.
mkdir "$tmp/ops"
cat >"$tmp/ops/several.lua" <<'EOI'
gemm "several" {
  types = { { a = f32, b = f32, e = f32 } }, layouts = { "rcr" }, targets = { "host" }, epilogue = function(acc) return acc end,
  tiles = { host = { host { mc = { 256, 1024, 2048 } } } },
}
EOI
exits 0 build "$tmp/ops" --target host >"$tmp/build" 2>&1 || cat "$tmp/build"
export KILN_MODULE_PATH=$tmp/ops/build
sized() { echo "several f32,f32,f32 rcr m=$1 n=48 k=64 align=64"; }
# run ARGUMENTS...: leaves $tmp/out and $tmp/err
run() { "$tmp/first" "$@" >"$tmp/out" 2>"$tmp/err" || { cat "$tmp/out" "$tmp/err"; return 1; }; }
tuned() { [ "$(grep -c 'kiln: tuned ' "$tmp/err")" = "$1" ] || { cat "$tmp/out" "$tmp/err"; return 1; }; } # HOW OFTEN
rows() { grep -c '^"several .*,host/several/' "$1"; }

untouched() { KILN_TUNING=$tmp/none.csv run find "$(sized 64)" && tuned 0 && [ ! -e "$tmp/none.csv" ] && says 'none.csv: No such file'; }
check 'without KILN_TUNE nothing is tuned' untouched
export KILN_TUNE=first:0.15s
memory() { KILN_TUNE=first:2s run find "$(sized 64)" "$(sized 64)" && tuned 1 && ! grep -q "refused: .*\(csv\|KILN\)" "$tmp/err" && [ "$(sort -u "$tmp/out" | wc -l)" = 1 ] && says 'kiln: tuned several in .* us, best of 3 (3 legal'; }
check 'where no file is named the winner is kept in memory' memory
keeps() {
    KILN_TUNING=$tmp/f.csv run find "$(sized 64)" && tuned 1 && ! grep -q "refused: .*\(csv\|KILN\)" "$tmp/err" && [ "$(grep -c '^Validator,' "$tmp/f.csv")" = 4 ] &&
        [ "$(rows "$tmp/f.csv")" = 1 ] && cp "$tmp/out" "$tmp/won" && [ ! -e "$tmp/f.csv.new" ]
}
check 'a file that is not there yet gets the row' keeps
again() { KILN_TUNING=$tmp/f.csv run find "$(sized 64)" && tuned 0 && says 'by tuning$' && cmp "$tmp/out" "$tmp/won"; }
check 'which the next run takes' again
explains() { KILN_TUNE='' KILN_TUNING=$tmp/f.csv exits 0 explain "$(sized 64)" && says "$(cat "$tmp/won").*tuned for this shape"; }
check 'and explain shows' explains
near() { run find "$(sized 64)" "$(sized 96)" "$(sized 129)" && tuned 2 && says 'm=96 .*by nearest tuning'; }
check 'what is near is covered, what is not is tuned' near
covered() { KILN_TUNING=$tmp/f.csv run find "$(sized 96)" "$(sized 200)" && tuned 1 && [ "$(rows "$tmp/f.csv")" = 2 ]; }
check 'so it is near the rows of a file' covered
second() { KILN_TUNING=$tmp/second.csv:$tmp/f.csv run find "$(sized 64)" "$(sized 900)" && tuned 1 && [ "$(rows "$tmp/second.csv")" = 1 ] && [ "$(rows "$tmp/f.csv")" = 2 ]; }
check 'of several files the first one is added to' second
relative() { (cd "$tmp" && KILN_TUNING=r.csv run find "$(sized 64)") && [ "$(rows "$tmp/r.csv")" = 1 ]; }
check 'a relative name' relative
silent() { KILN_LOG='' run find "$(sized 64)" && [ ! -s "$tmp/err" ] && [ "$(wc -l <"$tmp/out")" = 1 ]; }
check 'the library prints nothing' silent
empty() { run find "several f32,f32,f32 rcr m=0 n=48 k=64" && tuned 0; }
check 'a problem with nothing to do is not tuned' empty
unknown() { run find "$(sized 8)x" && tuned 0 && run find 'several f16,f16,f16 rcr m=8 n=8 k=8' && tuned 0; }
check 'nor is one that nothing computes' unknown
foreign() {
    sed 's/UNITS,1/UNITS,9/' "$tmp/f.csv" >"$tmp/foreign.csv" && cp "$tmp/foreign.csv" "$tmp/before" && KILN_TUNING=$tmp/foreign.csv run find "$(sized 64)" &&
        tuned 1 && says 'a row is not kept: .*foreign.csv:4: ' && cmp "$tmp/before" "$tmp/foreign.csv"
}
check "another device's file is not added to" foreign
threads() { KILN_TUNING=$tmp/t.csv run threads 8 "$(sized 64)" && tuned 1 && [ "$(rows "$tmp/t.csv")" = 1 ]; }
check 'eight threads: one tunes' threads
writers() {
    local i pids=()
    for i in 1 2 3 4; do
        KILN_TUNING=$tmp/w.csv "$tmp/first" find "$(sized $((i * 3)))" "$(sized $((i * 1000)))" >>"$tmp/writers" 2>&1 &
        pids+=($!)
    done
    for i in "${pids[@]}"; do wait "$i" || { cat "$tmp/writers"; return 1; }; done
    for i in 3 6 9 12 1000 2000 3000 4000; do grep -q "^\"$(sized $i)\"," "$tmp/w.csv" || return 1; done
    KILN_TUNE='' KILN_TUNING=$tmp/w.csv run find "$(sized 3)" && ! grep -q "refused: .*\(csv\|KILN\)" "$tmp/err"
}
check 'four processes at once lose no row' writers
graph() { run graph "$(sized 64)" && tuned 1 && [ "$(grep -n 'kiln: tuned' "$tmp/err" | cut -d: -f1)" -gt "$(grep -n '^recorded' "$tmp/err" | cut -d: -f1)" ]; }
check 'nothing is tuned while a graph is recorded' graph
value() { KILN_TUNE=$1 run find "$(sized 64)" && tuned 0 && says "refused: KILN_TUNE=$1: nothing is tuned: say first"; }
for v in always first: first:x first:2x first:0 first:4000s first:-1 first:1e1; do check "KILN_TUNE=$v is refused" value "$v"; done
seconds() { KILN_TUNE=$1 run find "$(sized 64)" && tuned 1 && ! grep -q "refused: .*\(csv\|KILN\)" "$tmp/err"; }
check "KILN_TUNE=first:0.1" seconds first:0.1
absent() { KILN_DEVICE=none:host:4 run find "$(sized 64)" && tuned 0 && says 'refused: KILN_TUNE=.*no device whose time can be measured'; }
check 'a device that is not here' absent
simulated() { KILN_DEVICE=sim:gfx942 "$tmp/first" find "$(sized 64)" >"$tmp/out" 2>"$tmp/err"; tuned 0 && says 'refused: KILN_TUNE=.*no device whose time can be measured'; }
if KILN_DEVICE=sim:gfx942 "$tmp/first" find x >/dev/null 2>&1; then check 'the simulator' simulated; else skip 'the simulator' 'it is not here'; fi
bench() { KILN_TUNING=$tmp/b.csv exits 0 bench --seconds 0.01 --idle 0 "$(sized 64)" && [ "$(rows "$tmp/b.csv")" = 1 ]; }
check 'kiln itself is a program like any' bench
finish
