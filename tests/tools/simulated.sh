#!/bin/bash
# SPDX-License-Identifier: MIT
# On the simulator bench prints what its model says and names it so, the same in every run; tune refuses.  Of the two
# targets that are there, explain shows the device's own.
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
rm -rf "$BUILD/modules/simulated_ops"
finish
