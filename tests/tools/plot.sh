#!/bin/bash
# SPDX-License-Identifier: MIT
# kiln bench --plot: the picture of results from a file: what is drawn and where, escaped, the same bytes again; mistakes.
# shellcheck source-path=SCRIPTDIR source=lib/kiln.sh disable=SC2154
. "$(dirname "$0")/lib/kiln.sh"
svg() { exits 0 bench --plot "$tmp/p.svg" --from "$1"; } # RESULTS

shipped() {
    svg docs/benchmarks/h200.csv && cp "$tmp/p.svg" "$tmp/first" && svg docs/benchmarks/h200.csv && cmp "$tmp/first" "$tmp/p.svg" &&
        python3 - "$tmp/p.svg" <<'PY'
import csv, re, sys
import xml.etree.ElementTree as x
ns = "{http://www.w3.org/2000/svg}"
root = x.parse(sys.argv[1]).getroot()
w, h = float(root.get("width")), float(root.get("height"))
assert root.get("viewBox") == f"0 0 {w:g} {h:g}", root.attrib
text = [t.text or "" for t in root.iter(ns + "text")]
for want in ["Roofline", "arithmetic intensity, FLOP/byte", "TFLOP/s", "m", "\u00b5s", "kiln", "cublaslt"]:
    assert want in text, (want, text)
assert not list(root.iter(ns + "script")) and "href" not in open(sys.argv[1]).read()
assert "prefers-color-scheme: dark" in root.find(ns + "style").text
for e in root.iter():
    for a in ["x", "x1", "x2"]:
        assert 0 <= float(e.get(a, 0)) <= w or e.tag == ns + "rect", e.attrib
    for a in ["y", "y1", "y2"]:
        assert 0 <= float(e.get(a, 0)) <= h or e.tag == ns + "rect", e.attrib
# every row is a point of the roofline, of which the ceilings are the most that any row has
rows = list(csv.DictReader(open("docs/benchmarks/h200.csv")))
titles = [t.text for t in root.iter(ns + "title")][1:]
for r in rows:
    if r["TFLOP/s"] != "-":
        assert any(r["problem"] in t and t.startswith(r["implementation"]) for t in titles), r
most = max(float(r["GB/s"]) for r in rows)
assert f"{most:.4g} GB/s" in text, (most, text)
best = max(float(r["TFLOP/s"]) for r in rows if r["TFLOP/s"] != "-" and re.match(r"\w+ bf16,", r["problem"]))
assert f"bf16 {best:.4g} TFLOP/s" in text, (best, text)
PY
}
check 'shipped results: axes, units, points, ceilings, the same bytes again' shipped

cat >"$tmp/odd.csv" <<'EOC'
set,problem,implementation,us,spread,TFLOP/s,GB/s,ratio,replays,note
"<set>","gemm f32,f32,f32 rrr m=8 n=8 k=8",kiln,2.00,0.1,0.001,1,1,5,"a ""note"", of
two lines"
,"gemm f32,f32,f32 rrr m=32 n=8 k=8",kiln,8.00,0.1,0.004,1,1,5,
,"gemm f32,f32,f32 rrr m=8 n=8 k=8","a<b>&""c""",4.00,0.1,0.0005,1,1,5,
,"gemm f32,f32,f32 rrr m=32 n=8 k=8","a<b>&""c""",4.00,0.1,0.008,1,1,5,
,"softmax f32,f32 rows=4 cols=4",kiln,1.00,0.1,-,0.5,1,5,
EOC
odd() {
    svg "$tmp/odd.csv" && python3 - "$tmp/p.svg" <<'PY'
import sys
import xml.etree.ElementTree as x
ns = "{http://www.w3.org/2000/svg}"
root = x.parse(sys.argv[1]).getroot()
lines = [[tuple(map(float, p.split(","))) for p in l.get("points").split()] for l in root.iter(ns + "polyline")]
assert len(lines) == 2 and all(len(l) == 2 for l in lines), lines
kiln, other = lines
assert kiln[0][0] == other[0][0] and kiln[1][0] == other[1][0] and kiln[0][0] < kiln[1][0], lines # m=8, m=32
assert other[0][1] == other[1][1], lines # 4 us both
assert abs((kiln[0][1] - other[0][1]) - (other[1][1] - kiln[1][1])) < 0.3, lines # 2, 4, 8: as far apart
raw = open(sys.argv[1]).read()
assert "a&lt;b&gt;&amp;&quot;c&quot;" in raw and "a<b>" not in raw
assert raw.count("<title>") == 1 + 4 + 4, raw.count("<title>")
PY
}
check 'names of any characters, logarithmic axes, quoted fields' odd
long() { # what is cut is cut between characters; numbers that nothing can be placed by are none
    python3 - "$tmp/long.json" <<'PY' && svg "$tmp/long.json" && parsed && [ "$(grep -c '<polyline' "$tmp/p.svg")" = 1 ]
import json, sys
e = "\u00e9"
rows = [{"problem": f"x{e} {e * 60} m={m} n=1", "implementation": f"k{e * 99}", "device": "d" + e * 99, "us": us, "gflops": g, "gbps": b}
        for m, us, g, b in [("1", 1, 1, 1), ("2", 2, 1e300, 1e-300), ("1e400", 3, 1e-300, 1e300), ("3", 1e300, 1, 1), ("4", 0, 1, 1)]]
json.dump(rows, open(sys.argv[1], "w"))
PY
}
parsed() { python3 -c 'import sys, xml.etree.ElementTree as x; x.parse(sys.argv[1])' "$tmp/p.svg" && ! grep '[" ,]-*\(nan\|inf\)[", ]' "$tmp/p.svg"; }
check 'long names of more than ASCII, numbers beyond all measure' long
one_point() {
    printf 'problem,implementation,us,TFLOP/s,GB/s\n"x f32 m=1",kiln,inf,1,1\n"x f32 m=1",kiln,nan,1,1\n"x f32 m=1",kiln,1,1,1\n' >"$tmp/point.csv"
    svg "$tmp/point.csv" && parsed && [ "$(grep -c '<title>kiln: x' "$tmp/p.svg")" = 1 ]
}
check 'one point' one_point
json() {
    python3 - "$tmp/odd.csv" >"$tmp/odd.json" <<'PY'
import csv, json, sys
rows = []
for r in csv.DictReader(open(sys.argv[1])):
    rows.append({"set": r["set"], "problem": r["problem"], "implementation": r["implementation"], "us": float(r["us"]),
                 "gflops": None if r["TFLOP/s"] == "-" else float(r["TFLOP/s"]) * 1000, "gbps": float(r["GB/s"]), "note": r["note"]})
print(json.dumps(rows))
PY
    svg "$tmp/odd.csv" && cp "$tmp/p.svg" "$tmp/of_csv" && svg "$tmp/odd.json" && cmp "$tmp/of_csv" "$tmp/p.svg"
}
check 'JSON gives the picture that CSV gives' json
modelled() {
    printf 'problem,implementation,modelled us,modelled TFLOP/s,GB/s\n"gemm f32,f32,f32 rrr m=1 n=1 k=1",kiln,1,2,-\n"gemm f32,f32,f32 rrr m=2 n=1 k=1",kiln,2,2,-\n' >"$tmp/m.csv"
    svg "$tmp/m.csv" && grep -q 's, modelled<' "$tmp/p.svg" && ! grep -q Roofline "$tmp/p.svg"
}
reader() {
    printf 'problem,implementation,us,TFLOP/s,GB/s\n"gemm f32,f32,f32 rrr m=8 n=8 k=8",kiln,4,2,10\n"gemm f32,f32,f32 rrr m=8 n=8 k=8",memory,1,8,40\n' >"$tmp/r.csv"
    svg "$tmp/r.csv" && grep -q '>f32 2 TFLOP/s<' "$tmp/p.svg" && grep -q '>10 GB/s<' "$tmp/p.svg" && [ "$(grep -c '<title>memory' "$tmp/p.svg")" = 0 ]
}
check 'a peer that computes nothing has no rate' reader
check "a simulator's results have no roofline and say that they are modelled" modelled
single() {
    printf 'problem,implementation,us\n"x f32 m=1",kiln,1\n' >"$tmp/one.csv"
    svg "$tmp/one.csv" && grep -q 'no two problems differ in one size alone' "$tmp/p.svg"
}
check 'nothing to compare is said in the picture' single

refused() { # CODE WHAT IT SAYS, ARGUMENTS...
    local code=$1 want=$2
    shift 2
    exits "$code" bench "$@" && says "$want"
}
printf 'problem,implementation,us\n"x f32,kiln,1\n' >"$tmp/open.csv"
printf 'a,b\n1,2\n' >"$tmp/foreign.csv"
printf 'problem,implementation,us\n' >"$tmp/none.csv"
echo '[{"problem": ' >"$tmp/cut.json"
check 'a quote that does not end' refused 2 'open.csv:2: not CSV' --plot "$tmp/q.svg" --from "$tmp/open.csv"
check 'other columns' refused 2 'foreign.csv:1: no columns problem, implementation and us' --plot "$tmp/q.svg" --from "$tmp/foreign.csv"
check 'JSON that is cut' refused 2 'cut.json:[12]: ' --plot "$tmp/q.svg" --from "$tmp/cut.json"
check 'a file that is not there' refused 2 'No such file' --plot "$tmp/q.svg" --from "$tmp/nowhere.csv"
nothing() { refused 1 'no rows with a time' --plot "$tmp/q.svg" --from "$tmp/none.csv" && [ ! -e "$tmp/q.svg" ]; }
check 'no rows: no picture' nothing
printf 'problem,implementation,us\n"x f32 m=1",kiln,1\n"x f32 m=2",k\xff,1\n' >"$tmp/latin.csv"
check 'text of another encoding' refused 2 'latin.csv:3: not UTF-8' --plot "$tmp/q.svg" --from "$tmp/latin.csv"
itself() { cp "$tmp/odd.csv" "$tmp/same.csv" && refused 2 'both what --from reads and' --plot "$tmp/same.csv" --from "$tmp/same.csv" && cmp "$tmp/odd.csv" "$tmp/same.csv"; }
check 'results are not drawn over' itself
kept() { # a picture that was there stays until there is another, then its mode and links to it do
    echo earlier >"$tmp/k.svg" && chmod 640 "$tmp/k.svg" && ln -sf k.svg "$tmp/link.svg" && refused 1 'no rows with a time' --plot "$tmp/k.svg" --from "$tmp/none.csv" &&
        [ "$(cat "$tmp/k.svg")" = earlier ] && exits 0 bench --plot "$tmp/link.svg" --from "$tmp/odd.csv" && [ -L "$tmp/link.svg" ] &&
        [ "$(stat -c %a "$tmp/k.svg")" = 640 ] && grep -q '</svg>' "$tmp/k.svg" && ! ls "$tmp"/k.svg.*new 2>/dev/null
}
check 'what was there stays until it is drawn' kept
together() { # each run writes beside the file under a name of its own
    for name in t t t u; do "$kiln" bench --plot "$tmp/$name.svg" --from "$tmp/odd.csv" 2>/dev/null & done
    wait && cmp "$tmp/u.svg" "$tmp/k.svg" && cmp "$tmp/t.svg" "$tmp/k.svg" && ! ls "$tmp"/t.svg.*new 2>/dev/null
}
check 'runs that write one file at a time' together
check 'a folder' refused 2 'Is a directory' --plot "$tmp" --from "$tmp/odd.csv"
check '--from as JSON' refused 2 'nor --csv or --json' --plot "$tmp/q.svg" --from "$tmp/odd.csv" --json
if [ -e /dev/full ]; then check 'a full disk is noticed' refused 2 '/dev/full: ' --plot /dev/full --from "$tmp/odd.csv"; fi
check 'a folder that is not there' refused 2 'No such file' --plot "$tmp/none/q.svg" --from "$tmp/odd.csv"
check '--from without --plot' refused 2 'with --plot FILE.svg' --from "$tmp/odd.csv"
check '--from with problems' refused 2 'no problems go with it' --plot "$tmp/q.svg" --from "$tmp/odd.csv" 'gemm f32,f32,f32 rrr m=1 n=1 k=1'

# A run of its own, of modules that have none of the problems for ceilings.
mkdir "$tmp/plot_ops"
cat >"$tmp/plot_ops/drawn.lua" <<'EOI'
gemm "drawn" { types = { { a = f32, b = f32, e = f32 } }, layouts = { "rrr" }, targets = { "host" }, epilogue = function(acc) return acc end }
EOI
nowhere() { # is said before a file of rows is begun and anything is timed
    echo rows >"$tmp/rows.csv" && refused 2 'No such file' --device host --csv="$tmp/rows.csv" --plot "$tmp/none/q.svg" 'gemm f32,f32,f32 rrr m=8 n=8 k=8' &&
        [ "$(cat "$tmp/rows.csv")" = rows ]
}
check 'a run whose picture cannot be written does not begin' nowhere
live() {
    exits 0 build "$tmp/plot_ops" --target host && exits 0 bench --modules "$tmp/plot_ops/build" --device host --threads 1 --seconds 0.02 \
        --idle 0 --seed 1 --plot "$tmp/live.svg" --csv="$tmp/live.csv" 'drawn f32,f32,f32 rrr m=16 n=64 k=64' 'drawn f32,f32,f32 rrr m=64 n=64 k=64' &&
        [ "$(wc -l <"$tmp/live.csv")" = 3 ] && grep -q Roofline "$tmp/live.svg" && grep -q '<polyline' "$tmp/live.svg" &&
        grep -q 'drawn f32,f32,f32 rrr n=64 k=64' "$tmp/live.svg"
}
check 'a run draws what it measured' live
finish
