#!/bin/bash
# SPDX-License-Identifier: MIT
# libkiln.so exports what kiln.h declares, each by its name in runtime/kiln.map, and nothing else.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
declared=$(grep -E '^KILN_API' runtime/kiln.h | grep -oE '\bkiln_[a-z_]+\(' | tr -d '(' | sort)
listed=$(grep -oE '^ +kiln_[a-z_]+;' runtime/kiln.map | tr -d ' ;' | sort)
exported=$(nm -D --defined-only "$BUILD/lib/libkiln.so.0" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort)
check "kiln.map lists what kiln.h declares" diff <(echo "$declared") <(echo "$listed")
check "the library exports what kiln.map lists" diff <(echo "$listed") <(echo "$exported")
check "there is something to compare" test -n "$declared"
finish
