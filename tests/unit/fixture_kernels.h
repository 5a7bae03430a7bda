// SPDX-License-Identifier: MIT
// Host kernels of the fixture: naive loops in float.
static float at(const float *p, int layout, long long ld, long long i, long long j)
{
    return layout == KILN_ROW ? p[i * ld + j] : p[i + j * ld];
}

static float dot(const kiln_gemm_args *g, int product, int layout_b, int batch, int i, int j)
{
    const float *a = (const float *)g->a + batch * g->stride_a;
    const float *b = (const float *)g->b[product] + batch * g->stride_b;
    float acc = 0;
    for (int k = 0; k < g->k; k++)
        acc += at(a, KILN_ROW, g->lda, i, k) * at(b, layout_b, g->ldb, k, j);
    return acc;
}

#define EACH(g, body)                                                                              \
    for (int batch = 0; batch < g->batch; batch++)                                                 \
        for (int i = 0; i < g->m; i++)                                                             \
            for (int j = 0; j < g->n; j++) {                                                       \
                body                                                                               \
            }

static float *e_at(const kiln_gemm_args *g, int batch, int i, int j)
{
    return (float *)g->e + batch * g->stride_e + i * g->lde + j;
}

/* Rows of all batches, on several threads. */
static void bias_relu_row(const kiln_gemm_args *g, int layout_b, long long row)
{
    const int batch = (int)(row / g->m), i = (int)(row % g->m);
    for (int j = 0; j < g->n; j++) {
        const float x =
            dot(g, 0, layout_b, batch, i, j) + ((const float *)g->d[0])[batch * g->stride_d[0] + j];
        *e_at(g, batch, i, j) = x < 0 ? 0 : x;
    }
}

static void bias_relu_rcr_row(const void *g, long long row, int thread)
{
    (void)thread;
    bias_relu_row(g, KILN_COL, row);
}

static void bias_relu_rrr_row(const void *g, long long row, int thread)
{
    (void)thread;
    bias_relu_row(g, KILN_ROW, row);
}

static void bias_relu_rcr(const void *args, kiln_each each)
{
    const kiln_gemm_args *g = args;
    each(g->units, (long long)g->batch * g->m, bias_relu_rcr_row, g);
}

static void bias_relu_rrr(const void *args, kiln_each each)
{
    const kiln_gemm_args *g = args;
    each(g->units, (long long)g->batch * g->m, bias_relu_rrr_row, g);
}

static void axpby(const void *args, kiln_each each)
{
    const kiln_gemm_args *g = args;
    (void)each;
    EACH(g, {
        const float c = ((const float *)g->d[0])[batch * g->stride_d[0] + i * g->ldd[0] + j];
        *e_at(g, batch, i, j) = g->s[0] * dot(g, 0, KILN_ROW, batch, i, j) + g->s[1] * c;
    })
}

static void swiglu(const void *args, kiln_each each)
{
    const kiln_gemm_args *g = args;
    (void)each;
    EACH(g, {
        const float gate = dot(g, 0, KILN_COL, batch, i, j);
        *e_at(g, batch, i, j) =
            gate / (1 + __builtin_expf(-gate)) * dot(g, 1, KILN_COL, batch, i, j);
    })
}

static void linear_i8(const void *args, kiln_each each)
{
    const kiln_gemm_args *g = args;
    (void)each;
    EACH(g, {
        const int8_t *a = (const int8_t *)g->a + batch * g->stride_a + i * g->lda;
        const int8_t *b = (const int8_t *)g->b[0] + batch * g->stride_b + j * g->ldb;
        int acc = 0;
        for (int k = 0; k < g->k; k++) acc += a[k] * b[k];
        const float x = __builtin_nearbyintf(g->s[0] * (float)acc);
        ((int8_t *)g->e)[batch * g->stride_e + i * g->lde + j] = (int8_t)(x < -128  ? -128
                                                                          : x > 127 ? 127
                                                                                    : x);
    })
}

static void nothing(const void *args, kiln_each each)
{
    const kiln_gemm_args *g = args;
    (void)each;
    (void)g;
}
