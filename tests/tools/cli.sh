#!/bin/bash
# SPDX-License-Identifier: MIT
# kiln's commands as scripts use them: help, exit codes, streams, JSON, completion.
# shellcheck source-path=SCRIPTDIR source=lib/kiln.sh disable=SC2154
. "$(dirname "$0")/lib/kiln.sh"
problem='bias_relu bf16,bf16,bf16 rcr m=64 n=48 k=32'

commands=$("$kiln" --help | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p' | grep -v '^kiln$')
check 'all eight commands are listed' test "$(echo "$commands" | wc -w)" = 8
for c in $commands; do
    helps() { exits 0 "$c" --help && says '^Examples:' && says "kiln $c" && says 'Exit codes: 0' && says 77; }
    check "$c --help: examples and exit codes" helps
    first() { "$kiln" "$c" --help | awk '/Examples:/ { e = NR } /^ *-[a-z-]/ && !o { o = NR } END { exit !(e && (!o || e < o)) }'; }
    check "$c --help: examples come before options" first
    check "$c --bogus is wrong usage" exits 2 "$c" --bogus
done
check '--version' exits 0 --version
check 'no command' exits 2
check 'an unknown command' exits 2 frobnicate
check 'explain without a problem' exits 2 explain
check 'explain with two' exits 2 explain "$problem" "$problem"
check 'verify without anything' exits 2 verify
check 'verify with a problem and --all' exits 2 verify --all "$problem"
check 'a seed that is no number' exits 2 verify --all --seed x
check 'a number of threads that is none' exits 2 bench --threads 0 "$problem"
check 'json and csv together' exits 2 bench --json --csv "$problem"
check 'a peer that nobody knows' exits 2 bench --device host --peer mkl "$problem"

check 'a problem that cannot be parsed' exits 2 explain --device host 'bias_relu bf16 m=x'
check 'an op that was never described' exits 1 explain --device host 'no_such_op f32,f32,f32 rrr m=1 n=1 k=1'
check 'a device that nobody knows' exits 2 explain --device tpu "$problem"
check 'a device that is not there' exits 77 verify --all --device nvidia:99
check 'a device that cannot be' exits 77 explain --device sim:gfx000 "$problem"

list_text() { exits 0 list --op bias_relu && says 'host/bias_relu/bf16_bf16_bf16/rcr/' && ! says 'host/swiglu'; }
check 'list --op' list_text
list_json() {
    exits 0 list --json && valid_json "$tmp/out" &&
        python3 - "$tmp/out" <<'PY'
import json, sys
rows = json.load(open(sys.argv[1]))
assert len(rows) > 40, len(rows)
names = [r["name"] for r in rows]
assert len(set(names)) == len(names), "names are unique"
for r in rows:
    assert r["name"].split("/")[0] == r["target"] and r["name"].split("/")[1] == r["op"], r
    assert r["tunables"] and r["line"] > 0 and r["types"], r
    assert r["family"] != "gemm" or len(r["layouts"]) == 3 and r["types"]["a"] == r["a"] and r["e"], r
assert {r["family"] for r in rows} >= {"gemm", "rowwise"}
PY
}
check 'list --json' list_json
no_log() { KILN_LOG=$tmp/none/log exits 0 list --op gemm && says 'refused: KILN_LOG=.*/none/log: No such file or directory: no log; name a file'; }
check 'a log that cannot be written is named' no_log
a_log() { KILN_LOG=$tmp/log exits 0 list --op gemm && [ -s "$tmp/log" ] && ! grep -q refused "$tmp/err"; }
check 'a log that can be is written' a_log
list_filters() {
    exits 0 list --json --target host --schedule host --dtype i8 --op linear_relu_abde_i8 && valid_json "$tmp/out" &&
        ! grep -q '"op"' "$tmp/out" && return 1
    ! grep '"op"' "$tmp/out" | grep -vq linear_relu_abde_i8
}
check 'list: filters together' list_filters
check 'list: nothing found' exits 1 list --op no_such_op
why_none() { exits 1 list --op bias_relu --dtype f12 && says 'no instance has --dtype f12'; }
check 'list: names the filter that nothing passes' why_none
cp -r "$(dirname "$kiln")" "$tmp/bin" && mkdir "$tmp/lib" && cp "$BUILD/lib/libkiln.so.0" "$tmp/lib"
no_modules() { env -u LD_LIBRARY_PATH "$tmp/bin/kiln" list >"$tmp/out" 2>"$tmp/err"; [ $? = 1 ] && says 'make instances'; }
check 'list: says what to do where nothing was built' no_modules
aligned() { exits 0 list --op bias_relu && awk 'NR == 1 { p = index($0, "types") } NR > 1 && substr($0, p - 1, 1) != " " { exit 1 }' "$tmp/out"; }
check 'list: columns are aligned' aligned
no_escapes() { exits 0 list --op bias_relu && ! grep -q "$(printf '\033')" "$tmp/out"; }
check 'no colours where there is no terminal' no_escapes
on_terminal() { script -qec "NO_COLOR=$1 '$kiln' list --op bias_relu" /dev/null | grep -q "$(printf '\033')"; }
if script -qec true /dev/null >/dev/null 2>&1; then
    check 'colours on a terminal' on_terminal ''
    not_colored() { ! on_terminal 1; }
    check 'NO_COLOR turns them off' not_colored
else
    skip 'colours on a terminal' 'no pseudo-terminal here'
fi
# ---- tables on terminals ----
on() { python3 tests/tools/lib/terminal.py "$@"; }
fits() { # columns, arguments: nothing is wider
    local columns=$1
    shift
    NO_COLOR=1 on "$columns" "$kiln" "$@" >"$tmp/out" || return 1
    python3 - "$tmp/out" "$columns" <<'PY'
import sys
wide = [l for l in open(sys.argv[1]).read().splitlines() if len(l) > int(sys.argv[2]) and not l.startswith("kiln: ")]
print("\n".join(wide))
sys.exit(bool(wide))
PY
}
for columns in 80 100; do
    check "list fits $columns columns" fits $columns list
    check "bench fits $columns columns" fits $columns bench --device host --threads 1 --seconds 0.01 --idle 0 --peer memory "$problem"
done
if "$kiln" list --target gfx942 >/dev/null 2>&1; then
    check 'report fits 100 columns' fits 100 report --target gfx942 --op bias_relu
else
    skip 'report fits 100 columns' 'no module for gfx942'
fi
folded() { # nothing is lost: the lines joined are the cells of the row; of a target whose cells need not be cut
    local of=(list --op bias_relu --dtype bf16 --target host)
    NO_COLOR=1 on 100 "$kiln" "${of[@]}" | tr -s ' \n' ' ' | sed 's/ $//' >"$tmp/narrow" &&
        "$kiln" "${of[@]}" | tr -s ' \n' ' ' | sed 's/ $//' >"$tmp/piped" && diff "$tmp/narrow" "$tmp/piped"
}
check 'a folded table has all of its cells' folded
one_line() { exits 0 list --op bias_relu --dtype bf16 && [ "$(wc -l <"$tmp/out")" = $((1 + $("$kiln" list --op bias_relu --dtype bf16 --json | grep -c '"name"'))) ]; }
check 'without a terminal a row is one line' one_line

# ---- what could not be written ----
full() { # program, arguments: ends with 2 and a message
    local program=$1
    shift
    "$program" "$@" >/dev/full 2>"$tmp/err"
    [ $? = 2 ] && grep -q '^kiln[-a-z]*: standard output: ' "$tmp/err"
}
if [ -e /dev/full ]; then
    while read -r line; do
        # shellcheck disable=SC2086
        check "a full disk is noticed: kiln $line" full "$kiln" $line
    done <<'EOC'
--version
--help
--completion
list
list --json
list --help
verify --all --quick --device host --op bias_relu
report --cost --help
EOC
    for c in explain verify tune bench 'bench --json' 'bench --csv'; do
        case $c in bench* | tune) brief='--threads 1 --seconds 0.05 --idle 0' ;; *) brief='' ;; esac
        # shellcheck disable=SC2086
        check "a full disk is noticed: kiln $c" full "$kiln" $c --device host $brief "$problem"
    done
    scaffold_full() { full "$kiln" new unheard --folder "$tmp"; }
    check 'a full disk is noticed: kiln new' scaffold_full
    for c in --language --annotations --help --version; do check "a full disk is noticed: kiln-gen $c" full "$gen" $c; done
else
    skip 'a full disk' 'no /dev/full here'
fi

closed() { "$gen" --check instances/gemm.lua >&- && ! "$kiln" list >&- 2>"$tmp/err" && grep -q 'standard output' "$tmp/err"; }
check 'a closed standard output harms only who writes to it' closed

# ---- options given again ----
twice() { exits 2 "$@" && says "--$option is given twice"; }
while read -r option line; do
    # shellcheck disable=SC2086
    check "twice --$option is refused" twice $line
done <<'EOC'
device explain --device host --device host x
seed verify --all --seed 1 --seed 1
peer bench --peer all --peer memory
seconds bench --seconds 1 --seconds 2
csv bench --csv=a --csv=b
output tune -o a --output b x
folder new x --folder a --folder b
EOC
gen_twice() { "$gen" --out a --out b instances 2>"$tmp/err"; [ $? = 2 ] && grep -q -- '--out is given twice' "$tmp/err"; }
check 'kiln-gen: twice --out is refused' gen_twice
both() { # filters add up within an option, and narrow across options
    exits 0 list --op bias_relu --op gemm --json &&
        [ "$(grep -o '"op": "[a-z_]*"' "$tmp/out" | sort -u | tr -d '\n')" = '"op": "bias_relu""op": "gemm"' ] &&
        exits 0 list --op bias_relu --op gemm --dtype bf16 --json && ! grep -q '"name": "host/gemm/f32' "$tmp/out" &&
        grep -q host/bias_relu/bf16 "$tmp/out"
}
check 'list --op a --op b shows both' both
one_of_two() { exits 0 list --op bias_relu --op no_such_op && says 'no instance has --op no_such_op' && says host/bias_relu/; }
check 'a name that nothing has is said beside what others found' one_of_two
check 'bench --instance twice' exits 2 bench --device host --instance a --instance b "$problem"

explain_text() { exits 0 explain --device host "$problem" && says 'host/bias_relu/bf16_bf16_bf16/rcr/'; }
check 'explain names the instance' explain_text
# What is hidden by nothing takes no longer than the whole: parts see the same machine as the cost.
explain_parts() {
    exits 0 explain --device host "$problem" &&
        awk '/chosen: cost/ { cost = $(NF - 1) } / decides/ && !longest { longest = $0; sub(/ us decides.*/, "", longest); sub(/.* /, "", longest) }
            END { exit !(longest > 0 && longest + 0 <= cost + 0.1) }' "$tmp/out"
}
check 'its parts are no longer than its cost' explain_parts

# ---- explain on a terminal, as JSON ----
long_problem="$problem lda=64 ldb=128 lde=256 ldd.bias=512 sa=4096 sb=8192 se=16384 align=16"
for columns in 80 100; do check "explain fits $columns columns" fits $columns explain --device host "$long_problem"; done
whole() { # columns, arguments: names said once up to their last slash, sentences wrapped: all of it is there
    NO_COLOR=1 on "$@" >"$tmp/narrow" && "${@:2}" --json >"$tmp/json" 2>/dev/null && "${@:2}" >"$tmp/wide" 2>/dev/null && python3 - "$tmp" <<'PY'
import json, re, sys
narrow, wide = (open(sys.argv[1] + "/" + f).read() for f in ("narrow", "wide"))
names, folder = [], ""
for line in narrow.splitlines():
    assert not line.endswith(" "), line
    if re.fullmatch(r"  \S*/", line):
        folder = line.strip()
    elif re.match(r"    \S", line) and folder:
        names.append(folder + line.split()[0])
want = [c["instance"] for c in json.load(open(sys.argv[1] + "/json"))["candidates"]]
assert len(want) > 3 and names[:len(want)] == want, (names, want)
flat = " ".join(narrow.split())
sentences = re.findall(r"(?:not legal: .*|slower: .*|chosen: .*|\d.* us decides.*|with align=.*be )", wide)
assert len(sentences) >= len(want), sentences
for sentence in sentences:
    assert " ".join(sentence.split()) in flat, sentence
PY
}
if folder=$(modules gfx942); then
    many='bias_relu f16,f16,f16 rcr m=512 n=11008 k=4096'
    for columns in 60 80 100; do
        check "explain of many fits $columns columns" fits $columns explain --modules "$folder" --device none:gfx942:304 "$many"
        check "and loses nothing of it" whole $columns "$kiln" explain --modules "$folder" --device none:gfx942:304 "$many"
    done
    wide() {
        NO_COLOR=1 on 80 "$kiln" explain --wide --modules "$folder" --device none:gfx942:304 "$many" >"$tmp/wide" &&
            "$kiln" explain --modules "$folder" --device none:gfx942:304 "$many" | diff - "$tmp/wide"
    }
    check 'explain --wide prints lines as they are' wide
fi
explain_json() {
    exits 0 explain --json --device host "$problem" && valid_json "$tmp/out" && python3 - "$tmp/out" <<'PY'
import json, sys
e = json.load(open(sys.argv[1]))
assert e["with_align_256"] is None or e["with_align_256"].startswith("host/"), e
assert "host" not in e["other_targets"] and all(n > 0 for n in e["other_targets"].values()), e
PY
}
check 'explain --json has what the text has' explain_json
explain_all_json() { # where nothing is compiled for the device it ends with 1, and says it all the same
    kiln explain --json --all --device none:sm_90a:132 "$problem"
    [ "$code" -le 1 ] && valid_json "$tmp/out" && grep -q '"other_targets": {.*"host": \["host/bias_relu/' "$tmp/out"
}
check 'explain --json --all names the instances of other targets' explain_all_json

streams() { kiln list --op no_such_op; [ ! -s "$tmp/out" ] && grep -q '^kiln: ' "$tmp/err"; }
check 'messages go to stderr, after kiln:' streams
same_completion() { "$kiln" --completion | diff - tools/kiln.bash; }
check 'tools/kiln.bash is what kiln --completion prints' same_completion
completes() {
    PATH=$(dirname "$kiln"):$PATH
    # shellcheck disable=SC1091
    . tools/kiln.bash
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _kiln
    echo "${COMPREPLY[*]}"
}
completion() {
    [ "$(completes kiln expl)" = explain ] && [ "$(completes kiln verify --qu)" = --quick ] &&
        [ "$(completes kiln bench --peer openb)" = openblas ] && [ "$(completes kiln list --op bias_rel)" = bias_relu ]
}
check 'completion of commands, options, peers and ops' completion

# ---- new ----
mkdir "$tmp/ops"
for t in bias residual gated quantized plain activation norm quantise attention; do
    scaffold() { exits 0 new "my_$t" --template "$t" --folder "$tmp/ops" && [ "$(cat "$tmp/out")" = "$tmp/ops/my_$t.lua" ] &&
        "$gen" --check "$tmp/ops/my_$t.lua"; }
    check "new: template $t passes kiln-gen --check" scaffold
done
built() { # what the file says builds it
    grep -q 'kiln build' "$tmp/ops/my_plain.lua" || return 1
    mkdir "$tmp/new_ops" && exits 0 new my_new --template plain --folder "$tmp/new_ops/" || return 1
    local build path
    build=$(sed -n 's/^-- Build it with `kiln \(build [^`]*\)`.*/\1/p' "$tmp/new_ops/my_new.lua")
    path=$(sed -n 's/^-- KILN_MODULE_PATH=\(.*\)\.$/\1/p' "$tmp/new_ops/my_new.lua")
    # shellcheck disable=SC2086
    [ "$build" = "build $tmp/new_ops" ] && exits 0 $build --target host && KILN_MODULE_PATH=$path exits 0 list --op my_new &&
        says 'host/my_new/'
}
check 'new --folder: the build that the file names builds it' built
odd() { mkdir "$tmp/odd ops" && exits 0 new my_odd --folder "$tmp/odd ops" && "$gen" --check "$tmp/odd ops/my_odd.lua" && grep -q 'kiln build DIR' "$tmp/odd ops/my_odd.lua"; }
check 'new --folder: a name that make cannot take' odd
own() { mkdir -p "$tmp/own/instances" && (cd "$tmp/own" && "$kiln" new my_own) && grep -qx -- '-- Build it with `make instances`.' "$tmp/own/instances/my_own.lua"; }
check 'new: in instances/' own
keeps() { echo mine >"$tmp/ops/taken.lua" && exits 2 new taken --folder "$tmp/ops" && [ "$(cat "$tmp/ops/taken.lua")" = mine ]; }
check 'new never overwrites' keeps
for name in '' A 1x ../x 'a b' "a'b" a.lua é "$(printf 'a\nb')" "$(head -c 64 /dev/zero | tr '\0' a)"; do
    refused() { exits 2 new --folder "$tmp/ops" -- "$name" && [ "$(find "$tmp/ops" -newer "$tmp/ops/taken.lua" | grep -vc 'ops$')" = 0 ]; }
    check "new: name '$(printf '%.20q' "$name")' is refused" refused
done
reserved() {
    words=$(grep -o 'X("[a-z]*")' abi/kiln_reserved.h | tr -dc 'a-z\n')
    [ "$(echo "$words" | wc -w)" -gt 50 ] || return 1
    for w in $words; do exits 2 new "$w" --folder "$tmp/ops" && says reserved || { echo "$w"; return 1; }; done
}
check 'new: every word that kiln-gen reserves is refused' reserved
check 'new: no such template' exits 2 new x --template no --folder "$tmp/ops"
no_folder() { exits 2 new x --folder "$tmp/none" && says "there is no folder $tmp/none: make it first"; }
check 'new: no such folder' no_folder
elsewhere() { (cd "$tmp" && exits 2 new x) && says 'there is no folder instances here: go to a checkout of Kiln, or name a folder with --folder'; }
check 'new: outside of a folder with instances' elsewhere
finish
