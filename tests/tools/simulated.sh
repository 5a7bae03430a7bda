#!/bin/bash
# SPDX-License-Identifier: MIT
# On the simulator bench prints what its model says and names it so, the same in every run; tune refuses, report --trace
# writes a timeline.  Of the two targets that are there, explain shows the device's own.
# shellcheck source-path=SCRIPTDIR source=lib/kiln.sh disable=SC2154
. "$(dirname "$0")/lib/kiln.sh"
. tests/lib/amd.sh
{ [ -e "$BUILD/lib/libkilnsim.so" ] && amd_available gfx942; } || { echo '1..0 # SKIP no simulator, or no AMD compiler'; exit 77; }
mkdir "$tmp/simulated_ops"
cat >"$tmp/simulated_ops/modelled.lua" <<'EOI'
gemm "modelled" {
  types = { { a = f16, b = f16, e = f16 } }, layouts = { "rcr" }, targets = { "gfx942", "host" },
  epilogue = function(acc) return acc end,
  tiles = { gfx942 = { simt { m = 64, n = 64 } } },
}
gemm "traced" { -- of four waves
  types = { { a = f16, b = f16, e = f16 } }, layouts = { "rcr" }, targets = { "gfx942" },
  epilogue = function(acc) return acc end,
  tiles = { gfx942 = { simt { m = 128, n = 128 } } },
}
EOI
make instances BUILD="$BUILD" TARGETS="gfx942 host" INSTANCES="$tmp/simulated_ops" >"$tmp/make" 2>&1 || cat "$tmp/make"
export KILN_MODULE_PATH=$BUILD/modules/simulated_ops KILN_DEVICE=sim:gfx942
problem='modelled f16,f16,f16 rcr m=256 n=128 k=64'

bench() {
    exits 0 bench --csv "$problem" && says 'times are modelled' && cp "$tmp/out" "$tmp/first" && exits 0 bench --csv "$problem" --seed 3 &&
        python3 - "$tmp/first" "$tmp/out" <<'PY'
import csv, sys
first, second = [list(csv.DictReader(open(f))) for f in sys.argv[1:]]
r = first[0]
assert "us" not in r and "TFLOP/s" not in r and r["GB/s"] == "-", r
us, rate = float(r["modelled us"]), float(r["modelled TFLOP/s"])
assert 0 < us < 1000, r # the simulator itself takes milliseconds
assert abs(rate - 2e-6 * 256 * 128 * 64 / us) < 0.01 * rate, r
assert us == float(second[0]["modelled us"]), (r, second) # no clock in it
PY
}
check 'bench: modelled times, equal from run to run' bench
json() { exits 0 bench --json "$problem" && valid_json "$tmp/out" && says '"modelled_us"' && ! grep -q '"us"' "$tmp/out"; }
check 'bench --json: its names say so, too' json
all() { exits 0 bench --all "$problem" && says 'modelled us' && says '/simt_'; }
check 'bench --all' all
split() { # more workgroups than fit at once take a second round
    exits 0 bench --csv 'modelled f16,f16,f16 rcr m=64 n=64 k=64' && cp "$tmp/out" "$tmp/first" &&
        exits 0 bench --csv 'modelled f16,f16,f16 rcr m=6144 n=2048 k=32' &&
        python3 - "$tmp/first" "$tmp/out" <<'PY'
import csv, sys
one, many = [float(list(csv.DictReader(open(f)))[0]["modelled us"]) for f in sys.argv[1:]]
assert many > 2 * one, (one, many)
PY
}
check 'bench: a grid that fills the device more than once takes longer' split
peers() { exits 2 bench --peer all "$problem" && says 'modelled time'; }
check 'bench --peer is refused' peers
tune() { exits 2 tune -o "$tmp/t.csv" "$problem" && says 'bench --all' && [ ! -e "$tmp/t.csv" ]; }
check 'tune is refused and writes nothing' tune
of_host() { exits 0 explain --device host "$problem" && says '^  host/.* chosen: ' && says '^  other targets: [1-9][0-9]* of gfx942$' && ! grep -q gfx942/ "$tmp/out"; }
check 'explain counts what other targets have' of_host
of_all() { exits 0 explain --all --device host "$problem" && says '^  gfx942/modelled/.*/simt_[^ ]*  other target: gfx942$' && ! grep -q 'host/.*other target' "$tmp/out"; }
check 'explain --all lists it' of_all
of_sim() { exits 0 explain "$problem" && says '^  gfx942/.* chosen: ' && says '^  other targets: 1 of host$'; }
check 'explain on the simulator' of_sim

# ---- report --trace ----
trace() {
    exits 0 report --trace "$tmp/t.json" "${problem/modelled/traced}" && says 't.json: [0-9]* instructions of gfx942/traced/' && cp "$tmp/t.json" "$tmp/first" &&
        exits 0 report --trace "$tmp/t.json" "${problem/modelled/traced}" && cmp "$tmp/first" "$tmp/t.json" && python3 - "$tmp/t.json" <<'PY'
import collections, json, sys
t = json.load(open(sys.argv[1]))
other, events = t["otherData"], t["traceEvents"]
assert other["instance"].startswith("gfx942/traced/") and other["problem"].endswith(" align=256"), other
names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
tracks = collections.defaultdict(list)
for e in events:
    if e["ph"] == "X":
        assert e["dur"] > 0 and e["ts"] >= 0 and e["args"]["pc"].startswith("0x"), e
        tracks[e["pid"], e["tid"]].append(e)
assert set(tracks) == set(names), names
waves = [k for k in tracks if names[k].startswith("wave ")]
units = [k for k in tracks if k not in waves]
assert len(waves) == 4 and {names[k].split(" (")[0] for k in waves} == {f"wave {i}" for i in range(4)}, names
assert {names[k] for k in units} >= {"SIMD 0 VALU", "SIMD 3 VALU", "LDS", "memory", "scalar memory"}, names
for k in tracks: # nothing on a track overlaps; a wave's instructions follow each other without a gap
    end = 0
    for e in sorted(tracks[k], key=lambda e: e["ts"]):
        assert e["ts"] >= end and (k not in waves or e["ts"] == end or end == 0), (names[k], e, end)
        end = e["ts"] + e["dur"]
    assert end <= other["kernels"][0]["cycles"], (names[k], end)
    if k in waves:
        assert tracks[k][-1]["name"].startswith("s_endpgm"), tracks[k][-1]
assert any(e["name"].startswith("s_waitcnt") and e["args"]["waited"] > 100 for k in waves for e in tracks[k])
PY
}
check 'report --trace: waves and units, the same in every run' trace
instance=$("$kiln" list --op traced --target gfx942 --json | sed -n 's/.*"name": "\([^"]*\)".*/\1/p')
of_instance() { exits 0 report --trace "$tmp/i.json" --instance "$instance" && valid_json "$tmp/i.json" && says "instructions of $instance,"; }
check 'report --trace of an instance, on whole tiles of its own' of_instance
wrong_use() { # WHAT IT SAYS, ARGUMENTS...
    local want=$1
    shift
    exits 2 report "$@" && says "$want" && [ ! -e "$tmp/n.json" ]
}
check 'report --trace of another op' wrong_use "the problem is of the op 'modelled', and --instance $instance of 'traced'" --trace "$tmp/n.json" --instance "$instance" "$problem"
check 'report --trace of nothing' wrong_use 'name a PROBLEM, an --instance NAME' --trace "$tmp/n.json"
check 'report --trace of a filter' wrong_use 'no other filter' --trace "$tmp/n.json" --op traced "${problem/modelled/traced}"
check 'report --trace as CSV' wrong_use 'leave out --csv' --trace "$tmp/n.json" --csv "${problem/modelled/traced}"
check 'report --trace elsewhere' wrong_use 'is not the simulator' --trace "$tmp/n.json" --device host "${problem/modelled/traced}"
check 'report --trace into no folder' wrong_use 'No such file' --trace "$tmp/none/n.json" "${problem/modelled/traced}"
check 'a problem without --trace' wrong_use 'only with --trace' "${problem/modelled/traced}"
nothing() { exits 1 report --trace "$tmp/n.json" 'traced f16,f16,f16 rcr m=0 n=64 k=64' && says 'nothing is launched' && [ ! -e "$tmp/n.json" ]; }
check 'report --trace of an empty problem' nothing
rm -rf "$BUILD/modules/simulated_ops"
finish
