#!/bin/bash
# SPDX-License-Identifier: MIT
# Ops that were drawn: the host computes them, and every target has a kernel for them; so it has for whatever types, layouts
# and outputs there are.  TAP.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

"$gen" --templates templates --check tests/host/every.lua >"$tmp/out" 2>&1
result $? 'every combination of types, layouts and outputs has a kernel on every target' "$tmp/out"
"$gen" --templates templates --check tests/host/drawn >"$tmp/out" 2>&1
result $? 'what was drawn has, too' "$tmp/out"
make BUILD="$BUILD" instances TARGETS=host INSTANCES=tests/host/drawn >"$tmp/out" 2>&1
result $? 'drawn ops compile' "$tmp/out"
"$kiln" verify --modules "$BUILD/modules/drawn" --all --quick --device host --seed 1 >"$tmp/out" 2>&1
result $? "drawn ops: $(tail -n 1 "$tmp/out")" "$tmp/out"
