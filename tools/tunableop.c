// SPDX-License-Identifier: MIT
// Lines of files that PyTorch's TunableOp writes, as problems of the op `gemm`:
//     GemmTunableOp_BFloat16_TN,tn_200_100_20_ld_20_20_200             shapes of a run (untuned)
//     GemmTunableOp_BFloat16_TN,tn_200_100_20,Gemm_Rocblas_45,0.0123   results
//     GemmStridedBatchedTunableOp_Half_NN,nn_64_32_16_B_8_ld_64_16_64
// They are column-major, C (m x n) = op(A)(m x k) op(B)(k x n), so that row-major E is C
// transposed: M = n, N = m, A is what they call B, and the other way round.  An operand that BLAS
// does not transpose is row-major then.  Strides of batches are not in such files, and taken as
// packed.
#include "command.h"
#include <stdlib.h>
#include <string.h>

static const struct type {
    const char *theirs, *ours;
} types[] = {{"float", "f32"}, {"Half", "f16"}, {"BFloat16", "bf16"}};

typedef struct shape {
    char transposed[2]; /* 'n' or 't': their A, their B */
    long long m, n, k, batch, ld[3];
} shape;

/* A number behind an underscore; NULL: there is none from 1 to 2^31 - 1. */
static const char *read_size(const char *s, long long *out)
{
    char *end;
    if (!s || s[0] != '_' || s[1] < '0' || s[1] > '9') return NULL;
    *out = strtoll(s + 1, &end, 10);
    return *out < 1 || *out > 2147483647 ? NULL : end;
}

/* tn_m_n_k[_B_batch][_ld_a_b_c]; what follows says nothing of a gemm. */
static int read_shape(const char *s, shape *to)
{
    *to = (shape){.batch = 1};
    for (int i = 0; i < 2; i++) {
        if (s[i] != 'n' && s[i] != 't') return 0;
        to->transposed[i] = s[i];
    }
    s = read_size(read_size(read_size(s + 2, &to->m), &to->n), &to->k);
    if (s && !strncmp(s, "_B_", 3)) s = read_size(s + 2, &to->batch);
    if (s && !strncmp(s, "_ld_", 4))
        s = read_size(read_size(read_size(s + 3, &to->ld[0]), &to->ld[1]), &to->ld[2]);
    return s && !*s;
}

/* Op_type_TN: what is between the first and the last underscore. */
static const char *type_of(const char *op)
{
    static char name[32];
    const char *first = strchr(op, '_'), *last = strrchr(op, '_');
    if (!first || last == first || last - first > (long)sizeof name) return NULL;
    snprintf(name, sizeof name, "%.*s", (int)(last - first - 1), first + 1);
    return name;
}

static int is_op(const char *op, const char *name)
{
    return !strncmp(op, name, strlen(name)) && op[strlen(name)] == '_';
}

/* Where it is not the packed one. */
static void put_ld(FILE *f, const char *name, long long ld, long long packed)
{
    if (ld && ld != packed) fprintf(f, " ld%s=%lld", name, ld);
}

static const char *put_problem(const char *type, const shape *s, char *text, size_t size)
{
    const int a = s->transposed[1] == 't', b = s->transposed[0] == 't'; /* ours: column-major */
    const long long least[3] = {b ? s->k : s->m, a ? s->n : s->k, s->m};
    for (int i = 0; i < 3; i++)
        if (s->ld[i] && s->ld[i] < least[i]) return "a leading dimension is less than its column";
    FILE *f = fmemopen(text, size, "w");
    if (!f) return "out of memory";
    fprintf(f, "gemm %s,%s,%s %c%cr m=%lld n=%lld k=%lld", type, type, type, a ? 'c' : 'r',
            b ? 'c' : 'r', s->n, s->m, s->k);
    if (s->batch > 1) fprintf(f, " batch=%lld", s->batch);
    put_ld(f, "a", s->ld[1], least[1]);
    put_ld(f, "b", s->ld[0], least[0]);
    put_ld(f, "e", s->ld[2], least[2]);
    fclose(f);
    return NULL;
}

int kt_tunableop(char *line, char *text, size_t size, const char **why)
{
    char *const comma = strchr(line, ',');
    shape s;
    *why = "not `Op_type_TN,tn_m_n_k`";
    if (!comma) return -1;
    *comma = 0;
    if (!strcmp(line, "Validator")) return 0;
    comma[1 + strcspn(comma + 1, ",")] = 0;
    const int batched = is_op(line, "GemmStridedBatchedTunableOp");
    if (!batched && !is_op(line, "GemmTunableOp")) {
        if (strstr(line, "TunableOp_"))
            *why = "its op is no plain product: describe it, and name its problems";
        return -1;
    }
    if (!read_shape(comma + 1, &s)) return -1;
    const char *type = type_of(line);
    for (size_t i = 0; type && i < sizeof types / sizeof *types; i++)
        if (!strcmp(type, types[i].theirs)) {
            *why = put_problem(types[i].ours, &s, text, size);
            return *why ? -1 : 1;
        }
    *why = "its type is none of float, Half, BFloat16";
    return -1;
}
