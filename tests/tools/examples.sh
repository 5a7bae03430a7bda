#!/bin/bash
# SPDX-License-Identifier: MIT
# The README's program works when pasted; the main job verifies what it runs and fails when that is wrong.
# shellcheck source-path=SCRIPTDIR source=lib/kiln.sh
. "$(dirname "$0")/lib/kiln.sh"
pasted() {
    gcc -std=c11 -Wall -Wextra -Werror -Iruntime -Iabi -o "$tmp/prog" examples/readme.c -L"$BUILD/lib" -lkiln -Wl,-rpath,"$BUILD/lib" &&
        [ "$(KILN_DEVICE=host "$tmp/prog")" = 'E[0] = 100' ]
}
check 'examples/readme.c compiles with -Werror, runs and prints 100' pasted
clean() { # device memory, streams and the context are given back
    gcc -std=c11 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -Iruntime -Iabi -o "$tmp/san" examples/readme.c -L"$BUILD/lib" -lkiln \
        -Wl,-rpath,"$BUILD/lib" && ASAN_OPTIONS=detect_leaks=1 KILN_DEVICE=host "$tmp/san"
}
check 'it leaks nothing' clean
in_readme() { python3 - <<'PY'
text = open("README.md").read()
code = open("examples/readme.c").read().split("\n", 1)[1].strip()
assert code in text, "README.md does not show examples/readme.c"
PY
}
check 'and README.md shows it' in_readme
rows() {
    gcc -std=c11 -Wall -Wextra -Werror -Iruntime -Iabi -o "$tmp/rows" examples/rowwise.c -L"$BUILD/lib" -lkiln -Wl,-rpath,"$BUILD/lib" &&
        [ "$(KILN_DEVICE=host "$tmp/rows")" = 'y[0] = 2.000' ]
}
check 'examples/rowwise.c, too' rows
latent() {
    KILN_DEVICE=host "$BUILD/bin/mla_decode" >"$tmp/out" && grep -q '^0 of 16384 elements' "$tmp/out"
}
check 'mla_decode is what a plain program in double precision is' latent
job() {
    KILN_DEVICE=host "$BUILD/bin/llama_opt" >"$tmp/out" 2>"$tmp/err" && [ "$(wc -l <"$tmp/out")" = 3 ] &&
        grep -q 'host/bias_relu/bf16_bf16_bf16/rcr/' "$tmp/out" && grep -q 'host/linear_relu_abde_i8/' "$tmp/out"
}
check 'the main job on the host' job
absent() { KILN_DEVICE=nvidia:99 "$BUILD/bin/llama_opt"; [ $? = 1 ]; }
check 'the main job where there is no device' absent
finish
