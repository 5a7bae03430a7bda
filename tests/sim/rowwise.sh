#!/bin/bash
# SPDX-License-Identifier: MIT
# What row-wise kernels for AMD cost, each of them: no register is spilled, no segment of memory is touched that needs not
# be, no bank of LDS conflicts; and what schedules think of large problems is near to what their bytes take.  Argument
# --full: gfx90a, too (make check-sim).  TAP.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh disable=SC2154
. "$(dirname "$0")/../lib/tap.sh"
command -v python3 >/dev/null || { echo "1..0 # SKIP no python3"; exit 77; }
found=""
targets=gfx942
[ "${1-}" != --full ] || targets="gfx942 gfx90a"
for target in $targets; do
    folder=$(modules $target) || continue
    found=1
    "$kiln" list --modules "$folder" --target $target --json >"$tmp/list" 2>"$tmp/err" &&
        "$kiln" report --modules "$folder" --target $target --json >"$tmp/resources" 2>"$tmp/err"
    result $? "$target: kiln list, kiln report" "$tmp/err"
    python3 - "$tmp" <<'EOP' >"$tmp/out" 2>&1
import json, sys
def read(name): return json.load(open(sys.argv[1] + "/" + name))
names = {r["name"]: r for r in read("list") if r["family"] == "rowwise"}
with open(sys.argv[1] + "/ops", "w") as f: f.writelines(sorted({"--op=" + r["op"] + "\n" for r in names.values()}))
kernels = [r for r in read("resources") if r["instance"].split("#")[0] in names]
assert len(names) > 30 and len(kernels) > len(names), (len(names), len(kernels))
bad = [r for r in kernels if r["sgpr_spills"] or r["vgpr_spills"] or r["scratch_bytes"]]
for r in bad: print(r["instance"], {k: r[k] for k in ("sgprs", "sgpr_spills", "vgprs", "vgpr_spills", "scratch_bytes")})
sys.exit(bool(bad))
EOP
    result $? "$target: no row-wise kernel spills a register"
    # shellcheck disable=SC2046
    "$kiln" report --cost --modules "$folder" --device sim:$target $(cat "$tmp/ops") --json >"$tmp/cost" 2>"$tmp/out" &&
        python3 - "$tmp/cost" <<'EOP' >"$tmp/out" 2>&1
import json, sys
rows = json.load(open(sys.argv[1]))
assert len(rows) > 30, len(rows)
bad = [r for r in rows if r["segments"] != r["segments_needed"] or r["lds_cycles"] != r["lds_ideal_cycles"]]
for r in bad: print(r["instance"], r["problem"], r["segments"], r["segments_needed"], r["lds_cycles"], r["lds_ideal_cycles"])
sys.exit(bool(bad))
EOP
    result $? "$target: segments touched are those needed, and LDS has no conflicts"
    # Rows that are kept in registers, and ops that reduce nothing: what moves is each tensor once.
    python3 - "$kiln" "$folder" $target "$tmp/list" <<'EOP' >"$tmp/out" 2>&1
import json, re, subprocess, sys
kiln, modules, target, names = sys.argv[1:]
facts = open("templates/targets/%s.lua" % target).read()
gbps, launch = (float(re.search(name + r" = ([\d.]+)", facts)[1]) for name in ("gbps", "launch_us"))
ops = {(r["op"], ",".join(r["types"].values())): r["derived"]["bytes"] for r in json.load(open(names)) if r["family"] == "rowwise"}
ratios = []
for (op, types), each in sorted(ops.items()):
    for cols, mb in (4096, 64), (4096, 512), (16384, 128), (16384, 512):
        rows = round(mb * 2**20 / each / cols)
        problem = "%s %s rows=%d cols=%d align=256" % (op, types, rows, cols)
        said = subprocess.run([kiln, "explain", "--modules", modules, "--device", "sim:" + target, problem], capture_output=True, text=True)
        us = float(re.search(r"chosen: cost ([\d.]+) us", said.stdout)[1]) - launch
        ratios.append((us / (rows * cols * each / gbps / 1e3), problem))
least, most = min(ratios), max(ratios)
# Of gfx90a's vector units a byte gets half as many operations: the first blocks compute before memory is busy.
limit = {"gfx942": 1.2, "gfx90a": 1.27}[target]
print("of %d problems, over their bytes: %.3f (%s) to %.3f (%s)" % (len(ratios), *least, *most))
sys.exit(not (len(ratios) >= 32 and least[0] >= 1 and most[0] <= limit))
EOP
    result $? "$target: the cost model is near bytes over bandwidth: $(cat "$tmp/out")"
done
[ -n "$found" ] || { echo "1..0 # SKIP no module for $targets"; exit 77; }
finish
