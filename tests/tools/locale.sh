#!/bin/bash
# SPDX-License-Identifier: MIT
# In a locale with a decimal comma nothing changes: a program that calls setlocale has its tuning rows used and its
# explanations with points; kiln and kiln-gen write what they write elsewhere; the simulator reads its options.
# shellcheck source-path=SCRIPTDIR source=lib/kiln.sh disable=SC2154
. "$(dirname "$0")/lib/kiln.sh"
unset LC_NUMERIC LC_CTYPE LANG LANGUAGE
export KILN_DEVICE=host OMP_NUM_THREADS=1

cat >"$tmp/in_locale.c" <<'EOC'
#include <kiln.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
static int fail(const char *what) { return fprintf(stderr, "%s: %s\n", what, kiln_error()), 1; }
int main(int argc, char **argv)
{
    char text[1 << 16], number[16];
    size_t len = sizeof text;
    kiln_ctx *ctx;
    kiln_problem p;
    if (argc != 2 || !setlocale(LC_ALL, "")) return 77;
    snprintf(number, sizeof number, "%.1f", 1.5);
    if (strcmp(number, "1,5")) return 77;
    const kiln_config config = {.struct_size = sizeof config, .tuning = argv[1]};
    if (kiln_open(&ctx, &config)) return fail("open");
    if (kiln_refused_at(ctx, 0)) return fail(kiln_refused_at(ctx, 0));
    if (kiln_problem_parse("bias_relu bf16,bf16,bf16 rcr m=64 n=48 k=32 align=256", &p)) return fail("parse");
    if (kiln_explain(ctx, &p, text, &len)) return fail("explain");
    fputs(text, stdout);
    /* 0xa0 is a blank and 0xe9 a letter in Latin-1; neither is in a problem */
    if (!kiln_problem_parse("bias_relu\xa0" "bf16,bf16,bf16 rcr m=64 n=48 k=32", &p)) return fail("0xa0 taken for a blank");
    if (!kiln_problem_parse("r\xe9lu bf16,bf16,bf16 rcr m=64 n=48 k=32", &p)) return fail("0xe9 taken for a letter");
    kiln_close(ctx);
    return 0;
}
EOC
gcc -std=c11 -Wall -Wextra -Werror -Iruntime -Iabi -o "$tmp/in_locale" "$tmp/in_locale.c" -L"$BUILD/lib" -lkiln -Wl,-rpath,"$BUILD/lib" 2>"$tmp/out"
result $? 'the program compiles'
check 'a tuning file' exits 0 tune --threads 1 --seconds 0.05 --idle 0 -o "$tmp/t.csv" 'bias_relu bf16,bf16,bf16 rcr m=64 n=48 k=32'
printf '"bias_relu bf16,bf16,bf16 rcr m=7 n=48 k=32",%s,1.5e-3,.5E+01,%s\n' "$(sed -n 's/.*",\(host[^,]*\),.*/\1/p' "$tmp/t.csv")" "$(sed -n '$s/.*,//p' "$tmp/t.csv")" >>"$tmp/t.csv"

# Locales made here, whatever the system has.
made=$tmp/locales
mkdir "$made"
for charset in UTF-8 ISO-8859-1; do
    locale=de_DE.$charset
    if ! localedef -i de_DE -f $charset "$made/$locale" >"$tmp/out" 2>&1 && ! [ -e "$made/$locale/LC_NUMERIC" ]; then
        skip "$locale" 'localedef cannot make it'
        continue
    fi
    library() {
        LOCPATH=$made LC_ALL=$locale "$tmp/in_locale" "$tmp/t.csv" >"$tmp/text" && grep -q 'tuned for this shape, cost [0-9]*\.[0-9] us' "$tmp/text" &&
            ! grep -E 'cost [0-9]*,' "$tmp/text"
    }
    check "$locale: a program's tuning rows and explanations" library
done
here() { LOCPATH=$made LC_ALL=$locale "$@"; }
if [ -e "$made/$locale/LC_NUMERIC" ]; then
    same() { "$@" >"$tmp/point" 2>&1; here "$@" >"$tmp/comma" 2>&1; diff "$tmp/point" "$tmp/comma"; }
    check 'kiln explain' same "$kiln" explain 'bias_relu bf16,bf16,bf16 rcr m=64 n=48 k=32'
    check 'kiln list' same "$kiln" list --json
    points() { here "$kiln" bench --threads 1 --seconds 0.05 --idle 0 --csv 'gemm f32,f32,f32 rrr m=64 n=48 k=32' >"$tmp/out" && [ "$(sed -n 2p "$tmp/out" | tr -cd , | wc -c)" = 11 ]; }
    check 'kiln bench --csv' points
    generated() {
        "$gen" --out "$tmp/point.gen" --target host --target gfx942 instances && here "$gen" --out "$tmp/comma.gen" --target host --target gfx942 instances &&
            diff -r "$tmp/point.gen" "$tmp/comma.gen"
    }
    check 'kiln-gen' generated
    if [ -e "$BUILD/lib/libkilnsim.so" ]; then
        cat >"$tmp/sim_locale.c" <<'EOC'
#include <locale.h>
int hipInit(unsigned);
int main(void) { return setlocale(LC_ALL, "") ? hipInit(0) : 77; }
EOC
        gcc -o "$tmp/sim_locale" "$tmp/sim_locale.c" -L"$BUILD/lib" -lkilnsim -Wl,-rpath,"$BUILD/lib" 2>"$tmp/out"
        check "the simulator's options" here env KILN_SIM=limit=1.5G "$tmp/sim_locale"
    fi
fi
finish
