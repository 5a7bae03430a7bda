#!/bin/bash
# SPDX-License-Identifier: MIT
# kiln report --html: one page with the registry in it that needs nothing else, the same each time.
# shellcheck source-path=SCRIPTDIR source=lib/kiln.sh disable=SC2154
. "$(dirname "$0")/lib/kiln.sh"
page=$tmp/page.html
some=(--target host --op bias_relu --op swiglu --op w4a16_g32 --op add_rmsnorm_quant --op causal_attention)

# ---- the page ----
written() { exits 0 report --html "$page" "${some[@]}" && says "^$page: [1-9][0-9]* instances of 5 ops, [1-9][0-9]* problems explained, 0 rows measured$"; }
check 'report --html writes a page' written
check 'it is whole, loads nothing and has the data' python3 tests/tools/report/page.py "$page" \
    'e = relu(acc + d.bias)' 'e = silu(acc.gate) * acc.up' 'none:host:1' 'bias_relu bf16,bf16,bf16 rcr m=512 n=11008 k=4096 align=256' \
    'add_rmsnorm_quant bf16,f8e4m3 rows=4096 cols=8192 align=256' 'instances/bias_relu.lua' 'mask = causal' ldd.bias alignq
again() { exits 0 report --html "$tmp/again.html" "${some[@]}" && cmp "$page" "$tmp/again.html"; }
check 'the same once more gives the same bytes' again
elsewhere() { (cd / && KILN_DEVICE=host LC_ALL=C "$kiln" report --html "$tmp/again.html" "${some[@]}" >/dev/null) && cmp "$page" "$tmp/again.html"; }
check 'and elsewhere, whatever KILN_DEVICE is' elsewhere
template() { # what the browser gets is the files of tools/page
    for f in model table views; do grep -v SPDX- tools/page/$f.js; done >"$tmp/want"
    sed -n '/^"use strict";$/,/^<.script>$/p' "$page" | sed '$d' | diff <(sed -n '/^"use strict";$/,$p' "$tmp/want") -
}
check 'its script is that of tools/page' template
explained() { # the page says of a problem what the command that it shows says
    local problem='bias_relu bf16,bf16,bf16 rcr m=512 n=11008 k=4096 align=256'
    exits 0 explain --json --device none:host:1 "$problem" && python3 - "$page" "$tmp/out" "$problem" <<'PY'
import json, re, sys
data = json.loads(re.search(r'id="data">(.*?)</script>', open(sys.argv[1]).read(), re.S)[1])
said = [c for c in json.load(open(sys.argv[2]))["candidates"] if "cost_us" in c]
row = next(p for p in data["problems"] if p[0] == sys.argv[3] and data["machines"][p[2]][0] == "none:host:1")
ours = [c for c in row[4] if c[1] is not None]
assert [data["instances"][c[0]][0] for c in ours] == [c["instance"] for c in said], (ours, said)
for c, s in zip(ours, said):
    assert abs(c[1] - s["cost_us"]) <= 1e-3 * s["cost_us"], (c, s)
assert row[3] == said[0]["chosen"], row
PY
}
check 'its explanations are those of kiln explain' explained

if command -v node >/dev/null; then
    while IFS= read -r line; do
        case $line in
        'ok - '*) result 0 "script: ${line#ok - }" ;;
        'not ok - '*) result 1 "script: ${line#not ok - }" "$tmp/node" ;;
        esac
    done < <(node tests/tools/report/page.js "$page" 2>&1 | tee "$tmp/node")
    check "the script's own checks ran" test "$(grep -c '^ok' "$tmp/node")" = 18
else
    skip "the script's own checks" 'no node here'
fi

# ---- measured rows ----
hostile='</script><b>&"'\''x'
row() { # problem, instance, us: of a tuning file
    "$kiln" list --json --instance "$2" | sed -n 's/.*"content": "\(.*\)".*/\1/p' | while read -r content; do echo "\"$1\",$2,$3,0.001,$content"; done
}
instance=$("$kiln" list --json --op bias_relu --target host --dtype bf16 | sed -n 's/.*"name": "\(.*\/rcr\/.*\)".*/\1/p' | head -n 1)
{
    printf 'Validator,KILN_VERSION,0\nValidator,TARGET,host\nValidator,DEVICE,"%s"\nValidator,UNITS,3\n' "${hostile//\"/\"\"}"
    row 'bias_relu bf16,bf16,bf16 rcr m=7 n=5 k=3' "$instance" 12.5
    row 'bias_relu bf16,bf16,bf16 rcr m=7 n=5 k=3' "$instance" 12.5 | sed 's/,[0-9a-f]*$/,0123456789abcdef/'
    echo '"bias_relu bf16,bf16,bf16 rcr m=7 n=5 k=3",host/gone/x,1.0,0,0123456789abcdef'
} >"$tmp/tuning.csv"
measured() {
    exits 0 report --html "$page" --tuned "$tmp/tuning.csv" "${some[@]}" && says ', 1 rows measured$' &&
        says "$tmp/tuning.csv: 2 of 3 rows left out: their instances are not in this report, or have changed" &&
        python3 tests/tools/report/page.py "$page" "$hostile" 'bias_relu bf16,bf16,bf16 rcr m=7 n=5 k=3' none:host:3
}
check 'rows of a tuning file, with a hostile name of a device' measured
odd_rows() { # an encoding of its own, a size that no machine has, neither time nor error
    sed -e "s/^Validator,DEVICE.*/Validator,DEVICE,\"$(printf 'caf\351')\"/" -e 's/,UNITS,3/,UNITS,2000000000/' -e 's/,0.001,/,nan,/' "$tmp/tuning.csv" >"$tmp/odd.csv"
    grep -m 1 ',12.5,' "$tmp/tuning.csv" | sed 's/,12.5,/,inf,/' >>"$tmp/odd.csv"
    exits 0 report --html "$tmp/again.html" --tuned "$tmp/odd.csv" "${some[@]}" && says ', 1 rows measured$' && says 'odd.csv: 3 of 4 rows left out' &&
        [ "$(grep -c 'no device .none:host:2000000000' "$tmp/err")" = 1 ] && python3 tests/tools/report/page.py "$tmp/again.html" '?'
}
check 'rows that are odd' odd_rows
variable() { cp "$page" "$tmp/first.html" && KILN_TUNING=$tmp/tuning.csv exits 0 report --html "$page" "${some[@]}" && cmp "$page" "$tmp/first.html"; }
check 'the same from KILN_TUNING' variable
no_rows() { echo nonsense >"$tmp/bad.csv" && exits 2 report --html "$page" --tuned "$tmp/bad.csv" "${some[@]}" && says "bad.csv:1: 'nonsense': no line of a tuning file"; }
check 'a file that is no tuning file' no_rows
check 'a tuning file that is not there' exits 2 report --html "$page" --tuned "$tmp/none.csv" "${some[@]}"

# ---- problems and devices of one's own ----
own() {
    printf '[mine] a set\nbias_relu bf16,bf16,bf16 rcr m=77 n=55 k=33\nbias_rleu f16,f16,f16 rcr m=7 n=5 k=3\n' >"$tmp/problems" &&
        exits 0 report --html "$page" --problems "$tmp/problems" --device none:host:9 "${some[@]}" &&
        says "/problems: 1 of 2 problems are not in the page" &&
        python3 tests/tools/report/page.py "$page" 'bias_relu bf16,bf16,bf16 rcr m=77 n=55 k=33 align=256' none:host:9 >"$tmp/counts" &&
        ! grep -q none:host:1 "$page"
}
check '--problems and --device' own
if folder=$(modules gfx942); then
    gpu() {
        exits 0 report --html "$page" --modules "$folder" --target gfx942 --op bias_relu && python3 tests/tools/report/page.py "$page" none:gfx942:304 &&
            python3 - "$page" <<'PY'
import json, re, sys
data = json.loads(re.search(r'id="data">(.*?)</script>', open(sys.argv[1]).read(), re.S)[1])
assert all(i[11] and 0 < i[11][0][0] <= 512 and i[11][0][10] for i in data["instances"]), "resources"
assert any(len(p[4]) > 1 for p in data["problems"])
PY
    }
    check 'resources of code objects, candidates that lost' gpu
    one=$("$kiln" list --modules "$folder" --target gfx942 --op bias_relu | awk 'NR == 2 { print $1 }')
    priced() {
        exits 0 report --html "$page" --cost --modules "$folder" --instance "$one" && python3 tests/tools/report/page.py "$page" >"$tmp/counts" &&
            grep -q ' [1-9][0-9]*$' "$tmp/counts"
    }
    check 'with --cost what the simulator says' priced
    check '--cost on a device that is no simulator' exits 2 report --html "$page" --cost --modules "$folder" --device none:gfx942:304
fi

# ---- mistakes ----
check 'with --json' exits 2 report --html "$page" --json
check '--tuned without a page' exits 2 report --tuned x
check '--problems without a page' exits 2 report --problems x
check 'a folder that is not there' exits 2 report --html "$tmp/none/x.html" "${some[@]}"
check 'a device that cannot be' exits 2 report --html "$page" --device tpu "${some[@]}"
check 'an op that nothing has' exits 1 report --html "$page" --op no_such_op
if [ -e /dev/full ]; then
    full() { exits 2 report --html /dev/full "${some[@]}" && says '/dev/full: '; }
    check 'a full disk is noticed' full
fi
finish
