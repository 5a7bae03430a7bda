#!/bin/bash
# SPDX-License-Identifier: MIT
# Instance files that must load (ok_*) and that must not (err_*, whose first lines are the messages expected, less the
# file's name, in order).  Nothing may take 2 seconds of a core's time.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
case $gen in */san/*) LIMIT_MS=8000 ;; *) LIMIT_MS=2000 ;; esac # sanitizers take their time
LC_ALL=C TIMEFORMAT='%U %S'

run() { # file: status in $status, messages in $tmp/err, milliseconds of a core in $ms
    { time timeout 20 "$gen" --check --templates templates "$@" >"$tmp/out" 2>"$tmp/err"; } 2>"$tmp/time"
    status=$?
    ms=$(awk '{ print int(1000 * ($1 + $2)) }' "$tmp/time")
}

for f in tests/spec/err_*.lua; do
    run "$f"
    sed -n 's/^-- expect: //p' "$f" >"$tmp/want"
    sed -n "s|^$f: \{0,1\}||p; /^[0-9]* more error/p" "$tmp/err" >"$tmp/got"
    good=0
    diff -u "$tmp/want" "$tmp/got" >"$tmp/diff" || good=1
    [ -s "$tmp/want" ] || { good=1; echo "the file expects nothing" >>"$tmp/diff"; }
    [ "$status" -eq 1 ] || { good=1; echo "exit status $status, expected 1" >>"$tmp/diff"; }
    [ "$ms" -lt "$LIMIT_MS" ] || { good=1; echo "$ms ms, allowed $LIMIT_MS" >>"$tmp/diff"; }
    [ ! -s "$tmp/out" ] || { good=1; echo "wrote to standard output" >>"$tmp/diff"; }
    result $good "$f" "$tmp/diff"
done

for f in tests/spec/ok_*.lua; do
    run "$f"
    good=0
    [ "$status" -eq 0 ] && [ ! -s "$tmp/err" ] && [ ! -s "$tmp/out" ] || good=1
    echo "exit status $status" >>"$tmp/err"
    result $good "$f" "$tmp/err"
done

# Files that are no instance files, and the command line: exit status and what the message must say.
refuse() { # name status text arguments...
    name=$1 want=$2 text=$3
    shift 3
    run "$@"
    good=0
    [ "$status" -eq "$want" ] && grep -qF "$text" "$tmp/err" || good=1
    echo "exit status $status, expected $want and: $text" >>"$tmp/err"
    result $good "$name" "$tmp/err"
}
accept() { # name arguments...
    name=$1
    shift
    run "$@"
    good=0
    [ "$status" -eq 0 ] && [ ! -s "$tmp/err" ] || good=1
    result $good "$name" "$tmp/err"
}
mkdir "$tmp/empty" "$tmp/hostile" "$tmp/notes"
printf '\033Lua' >"$tmp/bytecode.lua"
printf 'local x = "a\0b"\n' >"$tmp/zero.lua"
: >"$tmp/nothing.lua"
head -c 1100000 /dev/zero | tr '\0' ' ' >"$tmp/large.lua"
mkfifo "$tmp/pipe.lua"
echo '---@meta' >"$tmp/notes/x.d.lua"
cp tests/spec/ok_minimal.lua "$tmp/notes/a.lua"
bad="$tmp/hostile/a
b\"*\\.lua"
echo 'gemm "x" {}' >"$bad"
refuse "missing file" 2 "cannot read it: No such file or directory" "$tmp/missing.lua"
refuse "folder without instances" 1 "no instance files (*.lua) in this folder" "$tmp/empty"
refuse "bytecode" 2 "compiled Lua, not text" "$tmp/bytecode.lua"
refuse "0 byte in the text" 2 "not text" "$tmp/zero.lua"
refuse "empty file" 1 "describes no op" "$tmp/nothing.lua"
refuse "larger than 1 MiB" 2 "larger than 1 MiB" "$tmp/large.lua"
refuse "named pipe" 2 "not a regular file" "$tmp/pipe.lua"
refuse "no files given" 2 "no instance files given"
refuse "unknown target" 2 "unknown target 'nope'" --target nope tests/spec/ok_minimal.lua
refuse "misspelt target" 2 "unknown target 'hsot' (did you mean 'host'?): " --target hsot tests/spec/ok_minimal.lua
refuse "target with a path" 2 "unknown target '../x'" --target ../x tests/spec/ok_minimal.lua
refuse "unknown option" 2 "unrecognized option" --nope tests/spec/ok_minimal.lua
refuse "file name with quotes and a line break" 1 'hostile/a?b???.lua:1:1: error: gemm "x": missing field' "$bad"
# Noise, the same in every run, behind each first byte: wrong text (1), but for compiled Lua's first byte and a 0 (2).
LC_ALL=C awk 'BEGIN { for (x = 1; n < 3000; n++) { x = (x * 16807) % 2147483647; printf "%c", 1 + int(x / 64) % 255 } }' >"$tmp/noise"
odd=()
for byte in {0..255}; do
    printf -v escape '\\x%02x' "$byte"
    { printf '%b' "$escape"; cat "$tmp/noise"; } >"$tmp/noise.lua"
    case $byte in 0 | 27) want=2 ;; *) want=1 ;; esac
    run "$tmp/noise.lua"
    [ "$status" -eq $want ] && grep -q 'error: ' "$tmp/err" || odd+=("$byte: exit $status, expected $want")
done
printf '%s\n' "${odd[@]}" >"$tmp/odd"
[ ${#odd[@]} -eq 0 ]
result $? "noise behind every first byte" "$tmp/odd"
accept "annotations beside instances are skipped" "$tmp/notes"

# A folder: files in order of name, each once, whatever way it is given.
mkdir "$tmp/two"
sed 's/plain/first/' tests/spec/ok_minimal.lua >"$tmp/two/a.lua"
sed 's/plain/first/' tests/spec/ok_minimal.lua >"$tmp/two/b.lua"
refuse "the same op in two files: error" 1 'two/b.lua:1:1: error: gemm "first" is described twice' "$tmp/two"
refuse "an absolute path is shown as one: an editor opens it" 1 "$tmp/two/b.lua:1:1: error: " "$tmp/two"
refuse "the same op in two files: note" 1 'two/a.lua:1:1: note: gemm "first" is first described here' "$tmp/two"
rm "$tmp/two/b.lua"
accept "the same file twice is one file" "$tmp/two" "$tmp/two/a.lua" "$tmp/two/./a.lua"

# The same text gives the same messages, in every run.
"$gen" --check --templates templates tests/spec/err_*.lua 2>"$tmp/first"
"$gen" --check --templates templates tests/spec/err_*.lua 2>"$tmp/second"
cmp -s "$tmp/first" "$tmp/second"
result $? "messages are the same in every run"

finish
