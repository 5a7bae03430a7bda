#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs every test and adds up.  A suite prints TAP, or `N passed, N failed`; a suite that prints neither, or exits
# non-zero with no failure counted, counts as one failure.  Logs: $BUILD/tests/log.  Arguments: names of suites to run.
set -u
cd "$(dirname "$0")/.." || exit 2
BUILD=${BUILD:-build}
export BUILD KILN_BIN=$PWD/$BUILD/bin/kiln KILN_GEN=$PWD/$BUILD/bin/kiln-gen KILN_ROOT=$PWD
export CMOCKA_MESSAGE_OUTPUT=tap NO_COLOR=1
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1} UBSAN_OPTIONS=print_stacktrace=1
# What is tested is this checkout's, not a libkiln that the caller's path names.
kept=
IFS=: read -ra folders <<<"${LD_LIBRARY_PATH-}"
for d in "${folders[@]}"; do compgen -G "$d/libkiln.so*" >/dev/null || kept+=${kept:+:}$d; done
if [ -n "$kept" ]; then LD_LIBRARY_PATH=$kept; else unset LD_LIBRARY_PATH; fi
log=$BUILD/tests/log
rm -rf "$log" && mkdir -p "$log"
passed=0 failed=0 skipped=0

# Suites run side by side, as many as there are cores, and are reported in order; those of tests/build/ whose head has a
# line `# Alone: why` with nothing beside them.
lanes=$(nproc)
started=() # suites not yet reported

suite() { # name, command...
    [ ${#only[@]} -eq 0 ] || [[ " ${only[*]} " == *" $1 "* ]] || return 0
    local out=$log/${1//\//_}
    while [ "$(jobs -rp | wc -l)" -ge "$lanes" ]; do wait -n; report; done
    started+=("$1")
    {
        SECONDS=0
        "${@:2}" >"$out" 2>"$out.err" </dev/null
        echo "$? $SECONDS" >"$out.part" && mv "$out.part" "$out.rc"
    } &
}

finished() {
    local name
    wait
    for name in "${started[@]}"; do # one that was killed with its shell
        [ -e "$log/${name//\//_}.rc" ] || echo '137 0' >"$log/${name//\//_}.rc"
    done
    report
}

report() { # those that have ended, in order
    while [ ${#started[@]} -gt 0 ] && [ -e "$log/${started[0]//\//_}.rc" ]; do
        report_one "${started[0]}"
        started=("${started[@]:1}")
    done
}

report_one() {
    local name=$1 out ok not skip rc seconds
    out=$log/${name//\//_}
    read -r rc seconds <"$out.rc"
    if [ "$rc" -eq 77 ]; then skipped=$((skipped + 1)); printf '%-32s skipped\n' "$name"; return; fi
    skip=$(grep -cE '^(not )?ok .*# SKIP' "$out") # cmocka writes `not ok` for those
    if grep -qE '^[0-9]+ passed, [0-9]+ failed' "$out"; then
        read -r ok not < <(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed.*/\1 \2/p' "$out" |
            awk '{ p += $1; f += $2 } END { print p, f }')
    else
        ok=$(grep -E '^ok ' "$out" | grep -cv '# SKIP') not=$(grep -E '^not ok ' "$out" | grep -cv '# SKIP')
    fi
    if [ $((ok + not + skip)) -eq 0 ] || { [ "$rc" -ne 0 ] && [ "$not" -eq 0 ]; }; then not=$((not + 1)); fi
    passed=$((passed + ok)) failed=$((failed + not)) skipped=$((skipped + skip))
    printf '%-32s %5d ok%s  %ds\n' "$name" "$ok" "$([ "$not" -eq 0 ] || echo ", $not FAILED")" "$seconds"
    if [ "$not" -ne 0 ]; then
        { grep -A8 -E '^not ok|FAIL|error:' "$out"; tail -n 15 "$out.err"; } | head -n 60 | sed 's/^/    /'
        echo "    (exit $rc; whole log: $out, $out.err)"
    fi
}

only=("$@")
# The long ones first, so that no lane waits for one at the end.
for d in host emul sim python tools docs gen spec; do
    for t in tests/"$d"/*.sh; do [ -e "$t" ] && suite "$d/$(basename "$t" .sh)" bash "$t"; done
done
for t in "$BUILD"/tests/test_*; do [ -x "$t" ] && [[ $t != *.d ]] && suite "unit/${t##*/test_}" "$t"; done
suite numerics/host "$KILN_BIN" verify --all --device host --quick
if [ "$BUILD" = build ] && [ -d build/san/tests ]; then # the same programs once more under sanitizers
    for t in build/san/tests/test_* build/san/tests/fuzz_*; do
        [ -x "$t" ] && [[ $t != *.d ]] && suite "san/${t##*/}" env BUILD=build/san "$t"
    done
    suite san/spec env KILN_GEN="$PWD/build/san/bin/kiln-gen" bash tests/spec/run.sh
fi
for t in $(grep -L '^# Alone: ' tests/build/*.sh); do suite "build/$(basename "$t" .sh)" bash "$t"; done
finished
for t in $(grep -l '^# Alone: ' tests/build/*.sh); do
    suite "build/$(basename "$t" .sh)" bash "$t"
    finished
done
echo "$passed passed, $failed failed$([ $skipped -eq 0 ] || echo ", $skipped skipped")"
[ "$failed" -eq 0 ]
