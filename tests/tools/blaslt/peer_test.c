// SPDX-License-Identifier: MIT
// Runs the cuBLASLt peer (on the stand-in library) and Kiln's host kernel on the same inputs and
// compares all of E. Arguments: `fused`, `steps` (products, then a kernel of Kiln's), `either` of
// them or `plain`, which the peer must turn out to be, and the problem.
#include "peer.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int agree(kh_sets *sets, kh_runner *ours, kh_runner *theirs)
{
    const kh_shape *s = kh_sets_shape(sets);
    const kh_operand *e = &s->operand[s->inputs];
    const size_t bytes = (size_t)e->span * e->size;
    char *theirs_e = malloc(bytes), *ours_e = kh_sets_args(sets, 0)->e;
    double worst = 0;
    if (theirs->launch(theirs, 0, NULL)) return 0;
    memcpy(theirs_e, ours_e, bytes);
    memset(ours_e, 0xa5, bytes);
    if (ours->launch(ours, 0, NULL)) return 0;
    for (int64_t b = 0; b < e->batch; b++)
        for (int64_t i = 0; i < e->rows; i++)
            for (int64_t j = 0; j < e->cols; j++) {
                const size_t at = (size_t)kh_place(e, b, i, j) * e->size;
                const double x = kh_decode(e->dtype, ours_e + at),
                             y = kh_decode(e->dtype, theirs_e + at);
                const double error =
                    fabs(x - y) / (e->dtype == KILN_I8 ? 1.01 : fmax(fabs(x), 0.1));
                if (!(error <= worst)) worst = error;
            }
    free(theirs_e);
    if (!(worst < (e->dtype == KILN_I8 ? 1 : 0.02)))
        printf("largest relative difference %g\n", worst);
    return worst < (e->dtype == KILN_I8 ? 1 : 0.02);
}

int main(int argc, char **argv)
{
    kiln_ctx *ctx;
    kiln_problem p;
    const kiln_kernel *kernel;
    kh_sets *sets;
    kh_runner ours;
    kt_entry entry = {0};
    char why[256] = "";
    if (argc != 3) return 2;
    if (kiln_open(&ctx, NULL) || kiln_problem_parse(argv[2], &p) || kiln_find(ctx, &p, &kernel) ||
        kh_sets_open(ctx, &p, 1, &sets) || kh_runner_open(sets, kernel, &ours))
        return fprintf(stderr, "%s\n", kiln_error()), 1;
    const kt_peer_options options = {.threads = 1, .protocol = {.seconds = 0.02, .idle = -1}};
    if (kt_cublaslt(sets, &options, &entry, why, sizeof why))
        return fprintf(stderr, "%s\n", why), 1;
    const int fused = strcmp(argv[1], "plain") != 0, steps = !strcmp(argv[1], "steps"),
              either = !strcmp(argv[1], "either");
    int ok = entry.same == fused && entry.whole == fused &&
             (either || !strstr(entry.note, "; then ") == !steps);
    if (!ok) printf("the peer is: %s\n", entry.note);
    ok = ok &&
         (fused ? agree(sets, &ours, &entry.runner) : !entry.runner.launch(&entry.runner, 0, NULL));
    entry.close(&entry);
    kh_runner_close(&ours);
    kh_sets_close(sets);
    kiln_close(ctx);
    return !ok;
}
