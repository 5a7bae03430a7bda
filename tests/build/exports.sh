#!/bin/bash
# SPDX-License-Identifier: MIT
# libkiln.so exports what kiln.h declares, each by its name in runtime/kiln.map, and nothing else.
set -u
declared=$(grep -E '^KILN_API' runtime/kiln.h | grep -oE '\bkiln_[a-z_]+\(' | tr -d '(' | sort)
listed=$(grep -oE '^ +kiln_[a-z_]+;' runtime/kiln.map | tr -d ' ;' | sort)
exported=$(nm -D --defined-only "$BUILD/lib/libkiln.so.0" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort)
n=0
check() { # what, difference
    n=$((n + 1))
    if [ -z "$2" ]; then echo "ok $n - $1"; else printf 'not ok %d - %s\n%s\n' $n "$1" "${2//$'\n'/$'\n'# }"; fi
}
check "kiln.map lists what kiln.h declares" "$(diff <(echo "$declared") <(echo "$listed"))"
check "the library exports what kiln.map lists" "$(diff <(echo "$listed") <(echo "$exported"))"
check "there is something to compare" "$([ -n "$declared" ] || echo "no declarations found")"
echo "1..$n"
