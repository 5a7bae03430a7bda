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
other() { sed 's/UNITS,./UNITS,9/' "$tmp/t.csv" >"$tmp/other.csv" && KILN_TUNING=$tmp/other.csv exits 0 explain "$problem align=256" --threads 1 &&
    says 'other.csv:4: made with UNITS 9' && ! says tuned >/dev/null; }
check "another device's file is refused by name" other
# A row whose kernel is another now: as if its code had changed.
changed() { sed '$s/,[0-9a-f]*$/,0123456789abcdef/' "$tmp/t.csv" >"$tmp/changed.csv" && KILN_TUNING=$tmp/changed.csv exits 0 explain "$problem align=256" --threads 1 &&
    says 'changed.csv: 1 of 1 rows dropped (line 5: its kernel has changed); kernels that have changed: 1' && ! says 'tuned for' >/dev/null; }
check 'a row whose kernel has changed is dropped and counted' changed
# shellcheck disable=SC2086
keeps() { cp "$tmp/t.csv" "$tmp/before" && exits 1 tune $brief -o "$tmp/t.csv" 'no_such_op f32,f32,f32 rrr m=1 n=1 k=1' && cmp "$tmp/t.csv" "$tmp/before"; }
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

# ---- a file grows, row by row ----
row() { grep -c "^\"bias_relu bf16,bf16,bf16 rcr m=$1 " "$2"; }
sized() { echo "bias_relu bf16,bf16,bf16 rcr m=$1 n=48 k=32"; }
valid() { [ "$(grep -c '^Validator,' "$1")" = 4 ] && ! KILN_TUNING=$1 OMP_NUM_THREADS=1 "$kiln" list --op bias_relu 2>&1 >/dev/null | grep refused; }
# shellcheck disable=SC2086
adds() {
    exits 0 tune $brief -o "$tmp/grows.csv" "$(sized 1)" && exits 0 tune $brief -o "$tmp/grows.csv" "$(sized 2)" &&
        exits 0 tune $brief -o "$tmp/grows.csv" "$(sized 1)" && [ "$(row 1 "$tmp/grows.csv")" = 1 ] && [ "$(row 2 "$tmp/grows.csv")" = 1 ] &&
        valid "$tmp/grows.csv"
}
check 'what the file has is kept, a problem tuned again has one row' adds
# shellcheck disable=SC2086
anew() { exits 0 tune $brief --replace -o "$tmp/grows.csv" "$(sized 3)" "$(sized 4)" && ! row 2 "$tmp/grows.csv" && row 3 "$tmp/grows.csv" && row 4 "$tmp/grows.csv"; }
check '--replace starts it anew' anew
check '--replace without a file' exits 2 tune --replace "$problem"
# shellcheck disable=SC2086
foreign() {
    cp "$tmp/other.csv" "$tmp/foreign.csv" && exits 2 tune $brief -o "$tmp/foreign.csv" "$(sized 1)" && cmp "$tmp/other.csv" "$tmp/foreign.csv" &&
        says 'foreign.csv:4: .Validator,UNITS,9.*--replace' && exits 0 tune $brief --replace -o "$tmp/foreign.csv" "$(sized 1)" && valid "$tmp/foreign.csv"
}
check "another device's file is not added to, and replaced when asked" foreign
# shellcheck disable=SC2086
joined() {
    cat "$tmp/grows.csv" "$tmp/grows.csv" >"$tmp/joined.csv" && exits 0 tune $brief -o "$tmp/joined.csv" "$(sized 5)" && row 5 "$tmp/joined.csv"
}
check "files put behind each other are added to" joined
# shellcheck disable=SC2086
linked() { mkdir "$tmp/there" && : >"$tmp/there/t.csv" && ln -s there/t.csv "$tmp/link.csv" && exits 0 tune $brief -o "$tmp/link.csv" "$(sized 1)" && [ -L "$tmp/link.csv" ] && row 1 "$tmp/there/t.csv"; }
check 'a link stays one' linked
# shellcheck disable=SC2086
next() { exits 1 tune $brief -o "$tmp/next.csv" 'no_such_op f32,f32,f32 rrr m=1 n=1 k=1' "$(sized 1)" && row 1 "$tmp/next.csv"; }
check 'a problem that fails leaves the others' next
killed() {
    local pid i
    "$kiln" tune --threads 1 --seconds 20 --idle 0 -o "$tmp/killed.csv" "$(sized 1)" >"$tmp/out" 2>&1 &
    pid=$!
    sleep 0.2 && kill -9 $pid
    wait $pid
    [ ! -e "$tmp/killed.csv" ] || return 1
    "$kiln" tune --threads 1 --seconds 0.05 --idle 0 -o "$tmp/killed.csv" "$(sized 1)" "$(sized 2)" \
        'bias_relu bf16,bf16,bf16 rcr m=2048 n=11008 k=4096' >"$tmp/out" 2>&1 &
    pid=$!
    for ((i = 0; i < 300; i++)); do [ "$(cat "$tmp/killed.csv" 2>/dev/null | wc -l)" -lt 6 ] || break; sleep 0.1; done
    kill -9 $pid
    wait $pid
    row 1 "$tmp/killed.csv" && row 2 "$tmp/killed.csv" && valid "$tmp/killed.csv"
}
check 'a run that is killed leaves what it measured' killed
writers() {
    local i pids=()
    for i in 1 2 3 4 5 6; do
        "$kiln" tune --threads 1 --seconds 0.01 --idle 0 -o "$tmp/shared.csv" "$(sized "$i")" "$(sized "1$i")" >>"$tmp/writers" 2>&1 &
        pids+=($!)
    done
    for i in "${pids[@]}"; do wait "$i" || { cat "$tmp/writers"; return 1; }; done
    for i in 1 2 3 4 5 6 11 12 13 14 15 16; do [ "$(row $i "$tmp/shared.csv")" = 1 ] || return 1; done
    valid "$tmp/shared.csv" && [ ! -e "$tmp/shared.csv.new" ]
}
check 'six writers at once lose no row' writers

# ---- a problem's text may be long ----
mkdir "$tmp/tune_ops"
name() { printf '%s_%0*d' "$1" $((60 - ${#1})) 0; }
{
    echo 'gemm "long_names" {'
    echo '  types = { { a = f32, b = f32, e = f32 } }, layouts = { "rrr" }, targets = { "host" },'
    printf '  d = {'
    for i in a b c d e f; do printf ' %s = full "e",' "$(name $i)"; done
    printf ' },\n  epilogue = function(acc, d) return acc'
    for i in a b c d e f; do printf ' + d.%s' "$(name $i)"; done
    printf ' end,\n}\n'
} >"$tmp/tune_ops/long_names.lua"
make instances BUILD="$BUILD" TARGETS=host INSTANCES="$tmp/tune_ops" >"$tmp/make" 2>&1 || cat "$tmp/make"
long='long_names f32,f32,f32 rrr m=8 n=16 k=4 batch=2'
for i in a b c d e f; do long+=" ldd.$(name $i)=100 sd.$(name $i)=1000 alignd.$(name $i)=16"; done
export KILN_MODULE_PATH=$BUILD/modules/tune_ops
# shellcheck disable=SC2086
long_row() {
    [ ${#long} -gt 1100 ] && exits 0 tune $brief -o "$tmp/long.csv" "$long" && KILN_TUNING=$tmp/long.csv OMP_NUM_THREADS=1 kiln list --op long_names
    ! grep refused "$tmp/err" && grep -q "sd.$(name f)=1000" "$tmp/long.csv"
}
check 'a row of a long problem is one that loading takes' long_row
rm -rf "$BUILD/modules/tune_ops"
unset KILN_MODULE_PATH
finish
