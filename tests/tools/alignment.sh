#!/bin/bash
# SPDX-License-Identifier: MIT
# What a problem that says nothing of alignment is to bench, tune and explain: with the unit tests' module, whose
# fastest instance needs A at a multiple of 16 bytes.
# shellcheck source-path=SCRIPTDIR source=lib/kiln.sh disable=SC2154
. "$(dirname "$0")/lib/kiln.sh"
export KILN_DEVICE=host
problem='bias_relu f32,f32,f32 rcr m=64 n=64 k=64'
brief="--modules $tmp/modules --threads 1 --seconds 0.05 --idle 0 --seed 1"

mkdir "$tmp/modules"
cp "$BUILD/tests/libfixture_host.so" "$tmp/modules/libkiln-host.so" && "$gen" --seal "$tmp/modules/libkiln-host.so"

# shellcheck disable=SC2086
benches() { exits 0 bench $brief --csv "$1" && says "^,\"$2\",kiln,.*/$3\$"; }
check 'bench: allocated buffers' benches "$problem" "$problem align=256" wide_128
check 'bench: as it says' benches "$problem align=4" "$problem align=4" plain_64
check 'bench: as it says of one operand' benches "$problem aligne=8" "$problem aligne=8" plain_64
tab=$(printf '\t')
check 'bench: after a tab' benches "$problem${tab}align=4" "$problem${tab}align=4" plain_64
# shellcheck disable=SC2086
file() {
    echo "$problem vs $problem align=16" >"$tmp/problems"
    exits 0 bench $brief --csv --problems "$tmp/problems" && says "^,\"$problem align=256\",kiln,.*/wide_128\$"
}
check 'bench: of a file' file
mistake() { exits 2 bench --modules "$tmp/modules" "$problem align=3" && says 'align=3: an alignment is a power of two'; }
check 'bench: no alignment' mistake

explains() { exits 0 explain --modules "$tmp/modules" "$problem$1" && says "/$2  chosen"; }
remedy() { explains "$1" plain_64 && says '^  with align=256, .* host/bias_relu/f32_f32_f32/rcr/wide_128$'; }
check 'explain: as it says, and what alignment would change' remedy ''
check 'explain: too little alignment' remedy ' align=8'
enough() { explains ' aligna=16' wide_128 && ! grep -q 'with align=' "$tmp/out"; }
check 'explain: enough alignment' enough

# shellcheck disable=SC2086
tunes() { exits 0 tune $brief -o "$tmp/t.csv" "$problem$1" && grep -q "^\"$problem$2\"," "$tmp/t.csv"; }
check 'tune: allocated buffers' tunes '' ' align=256'
# The model leaves nothing else to be timed.
only() { says 'best of 1 (3 legal, 2 modelled too slow, 0 wrong)' && grep -q '/wide_128,' "$tmp/t.csv"; }
check 'tune: what is modelled far behind is not timed' only
tuned() { KILN_TUNING=$tmp/t.csv exits 0 explain --modules "$tmp/modules" --threads 1 "$problem$1" && says "$2"; }
check 'its row decides for that alignment' tuned ' align=256' '/wide_128  chosen: tuned for this shape'
check 'and for less that is enough' tuned ' align=16' '/wide_128  chosen: tuned for this shape'
check 'but not where its instance is not legal' tuned '' '/plain_64  chosen: cost'
check 'tune: as it says' tunes ' align=4' ' align=4'
finish
