#!/bin/bash
# SPDX-License-Identifier: MIT
# kiln tune: the file it writes is what KILN_TUNING takes, and nothing but a plain file is ever replaced.
# shellcheck source-path=SCRIPTDIR source=lib/kiln.sh disable=SC2154
. "$(dirname "$0")/lib/kiln.sh"
export KILN_DEVICE=host
problem='bias_relu bf16,bf16,bf16 rcr m=64 n=48 k=32'
brief='--threads 1 --seconds 0.05 --idle 0 --seed 1'
# shellcheck disable=SC2086
tunes() { exits 0 tune $brief -o "$1" "$problem"; }

tuned() { tunes "$tmp/t.csv" && [ ! -e "$tmp/t.csv.new" ] && KILN_TUNING=$tmp/t.csv exits 0 explain "$problem align=256" --threads 1 && says 'tuned for this shape'; }
check 'explain says that the file decided' tuned
# shellcheck disable=SC2086
literal() { tunes "$tmp/t.csv" && grep -q '^"bias_relu .* align=256"' "$tmp/t.csv" && exits 0 tune $brief -o "$tmp/l.csv" "$problem align=2" && grep -q '^"bias_relu .* align=2"' "$tmp/l.csv"; }
check 'a problem that says nothing of alignment is tuned for allocated buffers, another as it says' literal
other() { sed 's/REGISTRY,./REGISTRY,z/' "$tmp/t.csv" >"$tmp/other.csv" && KILN_TUNING=$tmp/other.csv exits 0 explain "$problem align=256" --threads 1 &&
    says 'other.csv: made with REGISTRY' && ! says tuned >/dev/null; }
check "another build's file is refused by name" other
keeps() { cp "$tmp/t.csv" "$tmp/before" && exits 1 tune -o "$tmp/t.csv" 'no_such_op f32,f32,f32 rrr m=1 n=1 k=1' && cmp "$tmp/t.csv" "$tmp/before"; }
check 'a run that finds nothing leaves the file as it was' keeps
pipe() {
    mkfifo "$tmp/pipe" && { cat "$tmp/pipe" >"$tmp/through" & } && tunes "$tmp/pipe" && wait && [ -p "$tmp/pipe" ] &&
        grep -q '^"bias_relu' "$tmp/through"
}
check 'a pipe is written to' pipe
# A link, so that a fault could not harm the machine's own.
# shellcheck disable=SC2086
full_disk() { [ ! -e /dev/full ] || { ln -s /dev/full "$tmp/full" && exits 2 tune $brief -o "$tmp/full" "$problem" && [ -L "$tmp/full" ]; }; }
check 'a full disk is an error' full_disk
check 'a folder that is not there' exits 2 tune -o "$tmp/none/t.csv" "$problem"
finish
