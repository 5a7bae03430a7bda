#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs compiled against an older and a newer kiln.h, with shorter and longer structs, work with this library: what
# they lack is zero, nothing is written behind what they have, and only what the library does not know is refused.  TAP.
# shellcheck source-path=SCRIPTDIR source=../lib/tap.sh disable=SC2154
. "$(dirname "$0")/../lib/tap.sh"
unset KILN_MODULE_PATH KILN_TUNING KILN_LOG
export KILN_DEVICE=host

cat >"$tmp/prog.c" <<'EOF'
#include <kiln.h>
#include <stdio.h>
#include <string.h>

#define CHECK(ok) if (!(ok)) return printf("line %d: %s\n", __LINE__, kiln_error()), 1
/* A struct with 64 bytes behind it that nobody may touch. */
#define GUARDED(type, name) \
    union { type s; unsigned char byte[sizeof(type) + 64]; } name; \
    memset(&name, 0xa5, sizeof name); \
    name.s.struct_size = sizeof(type)
#define UNTOUCHED(name) untouched(name.byte + sizeof name.s)

static int untouched(const unsigned char *p)
{
    for (int i = 0; i < 64; i++)
        if (p[i] != 0xa5) return 0;
    return 1;
}

#ifdef LONGER
#define LATER(name) ((name).s.later[0] == 0 && (name).s.later[1] == 0)
#else
#define LATER(name) 1
#endif

int main(void)
{
    enum { M = 2, N = 3, K = 4 };
    const float a[M * K] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    const float b[K * N] = { 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1 };
    float e[M * N], want[M * N];
    double lo[M * N], hi[M * N];
    char text[400];
    size_t len = sizeof text, count = 0;
    kiln_ctx *ctx;
    const kiln_kernel *kernel;
    const kiln_config config = { .struct_size = sizeof config };
    CHECK(kiln_open(&ctx, &config) == KILN_OK);

    GUARDED(kiln_problem, p);
    CHECK(kiln_problem_parse("gemm f32,f32,f32 rrr m=2 n=3 k=4", &p.s) == KILN_OK);
    CHECK(p.s.struct_size == sizeof p.s && p.s.k == 4 && UNTOUCHED(p) && LATER(p));
    CHECK(kiln_find(ctx, &p.s, &kernel) == KILN_OK);
    CHECK(kiln_find_all(ctx, &p.s, NULL, &count) == KILN_OK && count > 0);
    CHECK(kiln_explain(ctx, &p.s, NULL, &(size_t){ 0 }) == KILN_OK);
    CHECK(kiln_problem_format(&p.s, text, &len) == KILN_OK);
    CHECK(strcmp(text, "gemm f32,f32,f32 rrr m=2 n=3 k=4") == 0);
    GUARDED(kiln_problem, r);
    CHECK(kiln_problem_resolve(&p.s, &r.s) == KILN_OK);
    CHECK(r.s.struct_size == sizeof r.s && r.s.batch == 1 && r.s.e.ld == 3 && UNTOUCHED(r) && LATER(r));

    kiln_args args = { .struct_size = sizeof args, .a = a, .b = { b }, .e = e,
                       .workspace_size = kiln_workspace_size(kernel, &p.s) };
    CHECK(args.workspace_size != (size_t)-1);
    CHECK(kiln_malloc(ctx, args.workspace_size, &args.workspace) == KILN_OK);
    CHECK(kiln_launch(ctx, kernel, &p.s, &args, NULL) == KILN_OK);
    args.e = want;
    CHECK(kiln_reference(&p.s, &args) == KILN_OK);
    CHECK(kiln_reference_bounds(&p.s, &args, lo, hi) == KILN_OK);
    for (int i = 0; i < M * N; i++) CHECK(e[i] == want[i] && e[i] >= lo[i] && e[i] <= hi[i]);

    GUARDED(kiln_kernel_info, k);
    GUARDED(kiln_op_info, op);
    GUARDED(kiln_device_info, dev);
    CHECK(kiln_kernel_describe(kernel, &k.s) == KILN_OK && strcmp(k.s.op, "gemm") == 0);
    CHECK(UNTOUCHED(k) && LATER(k) && k.s.struct_size == sizeof k.s);
    CHECK(kiln_op_describe(ctx, "gemm", &op.s) == KILN_OK && op.s.products == 1);
    CHECK(UNTOUCHED(op) && LATER(op) && op.s.struct_size == sizeof op.s);
    CHECK(kiln_device_describe(ctx, &dev.s) == KILN_OK && strcmp(dev.s.target, "host") == 0);
    CHECK(UNTOUCHED(dev) && LATER(dev) && dev.s.struct_size == sizeof dev.s);

#ifdef LONGER
    p.s.later[1] = 1;
    CHECK(kiln_find(ctx, &p.s, &kernel) == KILN_INVALID);
    CHECK(strstr(kiln_error(), "the program uses fields that version"));
    p.s.later[1] = 0;
    args.later[0] = 1;
    CHECK(kiln_launch(ctx, kernel, &p.s, &args, NULL) == KILN_INVALID);
    kiln_ctx *other;
    const kiln_config more = { .struct_size = sizeof more, .later = { 0, 1 } };
    CHECK(kiln_open(&other, &more) == KILN_INVALID);
#endif
    kiln_free(ctx, args.workspace);
    kiln_close(ctx);
    return 0;
}
EOF

structs='config|problem|args|kernel_info|op_info|device_info'
declare -A edit=( # of kiln.h
    [same]=''
    [shorter]='/^    (int threads|int only_module_path|size_t code_size|int runnable|kiln_sums sums;|size_t nshapes)/d
        /^    KILN_EXTENSION union \{/{N;/kiln_sums sums/{N;N;d}}
        /^    (const int64_t \(\*(family_)?shapes|float rtol|size_t memory|size_t l2)/d
        /^    (const char \*(family;|stage_symbol|size_name|type_name)|kiln_dtype type\[|kiln_layout layout\[)/d
        /^    (size_t (ntensors|ntypes|nodes|nfamily_shapes)|kiln_tensor_info tensor|int (rows, cols;|summed|uses_at)|unsigned empty)/d
        s/^        kiln_tensor tensor\[KILN_MAX_TENSORS\];/        kiln_tensor tensor[4];/
        s/kiln_tensor a, b, e, d\[KILN_MAX_D\];/kiln_tensor a, b, e, d[1];/'
    [longer]="s/^} kiln_($structs);/    size_t later[2];\n&/"
)
for header in same shorter longer; do
    mkdir "$tmp/$header"
    cp abi/kiln_dtype.h abi/kiln_version.h "$tmp/$header"
    sed -E "${edit[$header]}" runtime/kiln.h >"$tmp/$header/kiln.h"
    gcc -std=c11 -Wall -Wextra -Werror "-D${header^^}" -I"$tmp/$header" "$tmp/prog.c" -o "$tmp/prog" \
        -L"$bin/../lib" -lkiln -Wl,-rpath,"$bin/../lib" >"$tmp/out" 2>&1 && "$tmp/prog" >"$tmp/out" 2>&1
    result $? "a program with $header structs"
done
[ "$(diff "$tmp/same/kiln.h" "$tmp/shorter/kiln.h" | grep -c '^<')" -eq 33 ]; result $? 'the shorter header lacks a field of every struct'
[ "$(diff "$tmp/same/kiln.h" "$tmp/longer/kiln.h" | grep -c '^>')" -eq 6 ]; result $? 'the longer one has a field more in each'
finish
