// SPDX-License-Identifier: MIT
// far_apart PACKED FAR [INSTANCE]: two problems that differ in leading dimensions and strides
// alone, FAR's so large that its tensors pass 2^32 bytes.  Each legal instance, or those with this
// in their names, must write the same bytes for both.  Memory between lines is not touched.  Exit
// 77 where there is no device, or not that much memory.
#include "within.h"

typedef struct side {
    kiln_problem p;
    kr_view view;
    kiln_args args;
    void *memory[KILN_MAX_TENSORS];
} side;

static const kiln_op_row *op;

static int64_t at_least_one(int64_t n, int64_t apart)
{
    return apart ? n : 1;
}

/* Lines of a tensor, all batches' and planes'. */
static int64_t lines(const kr_operand *o)
{
    return at_least_one(o->batches, o->stride) * at_least_one(o->planes, o->plane) *
           at_least_one(o->outer, o->ld);
}

/* Bytes ahead of a line. */
static size_t place(const kr_operand *o, int64_t line)
{
    const int64_t outer = at_least_one(o->outer, o->ld), planes = at_least_one(o->planes, o->plane);
    return (size_t)kr_span(o, line % outer * o->ld + line / outer % planes * o->plane +
                                  line / outer / planes * o->stride);
}

static void view(side *s, const kiln_kernel *k)
{
    kr_signature sig;
    MUST(kr_sign(&s->p, k->module, k->op, k->op->hash, &sig));
    MUST(kr_view_make(&s->p, &sig, k->module, k->op, k->ctx->device, &s->view));
}

static void make_room(kiln_ctx *ctx, side *s)
{
    s->args.struct_size = sizeof s->args;
    for (int i = 0; i < KILN_MAX_SCALARS; i++) s->args.scalars[i] = 0.0625f;
    for (int i = 0; i < op->ntensors; i++) {
        const kr_operand *o = &s->view.t[i];
        const size_t bytes = place(o, lines(o) - 1) + (size_t)kr_span(o, o->inner);
        const kiln_status status = kiln_malloc(ctx, bytes, &s->memory[i]);
        if (status == KILN_NO_MEMORY) exit(77);
        must(status == KILN_OK, "kiln_malloc");
        s->args.tensor[op->tensor[i].arg] = s->memory[i];
    }
}

/* Numbers of an index array, all of them rows or pages that exist. */
static int32_t number(const kiln_rows_info *r, const side *s, const kr_operand *o, int64_t at)
{
    const int64_t most = kr_size_of(&s->p, r->within);
    if (r->index == KILN_INDEX_BEGIN) return (int32_t)(most * at / (o->inner * o->outer - 1));
    return (int32_t)(r->index == KILN_INDEX_LENGTH ? most : (at * 7 + 3) % most);
}

static void fill(const side *s, const kiln_rows_info *rows, int i, char *image)
{
    const kr_operand *o = &s->view.t[i];
    const int64_t all = lines(o) * o->inner;
    for (int64_t at = 0; at < all; at++) {
        const double x = rows->index ? number(rows, s, o, at) : (double)dice(2001) / 1000 - 1;
        if (o->bits < 8)
            image[at / 2] = (char)dice(256);
        else
            kr_encode(o->type, o->type == KILN_I8 ? x * 100 : x,
                      (kr_at){image + at * (o->bits / 8), 0});
    }
}

/* All lines between an image, where they are packed, and the device. */
static void carry(kiln_ctx *ctx, const side *s, int i, char *image, bool there)
{
    const kr_operand *o = &s->view.t[i];
    const size_t bytes = (size_t)kr_span(o, o->inner);
    for (int64_t line = 0; line < lines(o); line++, image += bytes) {
        char *const device = (char *)s->memory[i] + place(o, line);
        if (there)
            MUST(kiln_upload(ctx, device, image, bytes));
        else
            MUST(kiln_download(ctx, image, device, bytes));
    }
}

static void run(kiln_ctx *ctx, const kiln_kernel *k, side *s, char *const *image)
{
    s->args.workspace_size = kiln_workspace_size(k, &s->p);
    must(s->args.workspace_size != SIZE_MAX, "kiln_workspace_size");
    const kiln_status status = kiln_malloc(ctx, s->args.workspace_size + 1, &s->args.workspace);
    if (status == KILN_NO_MEMORY) exit(77);
    for (int i = 0; i < op->ntensors; i++)
        if (op->tensor[i].out) carry(ctx, s, i, image[i], true);
    MUST(kiln_launch(ctx, k, &s->p, &s->args, NULL));
    for (int i = 0; i < op->ntensors; i++)
        if (op->tensor[i].out) carry(ctx, s, i, image[i], false);
    kiln_free(ctx, s->args.workspace);
}

static size_t image_bytes(const side *s, int i)
{
    const kr_operand *o = &s->view.t[i];
    return (size_t)(lines(o) * kr_span(o, o->inner));
}

int main(int argc, char **argv)
{
    if (argc < 3) return fprintf(stderr, "usage: far_apart PACKED FAR [INSTANCE]\n"), 2;
    kiln_ctx *const ctx = opened();
    side packed = {.args = {0}}, far = {.args = {0}};
    MUST(kiln_problem_parse(argv[1], &packed.p));
    MUST(kiln_problem_parse(argv[2], &far.p));
    const kiln_kernel *kernel[64];
    size_t kernels = sizeof kernel / sizeof *kernel;
    MUST(kiln_find_all(ctx, &far.p, kernel, &kernels));
    must(kernels > 0 && kernels <= sizeof kernel / sizeof *kernel, "none, or too many instances");
    op = kernel[0]->op;
    view(&packed, kernel[0]), view(&far, kernel[0]);
    make_room(ctx, &packed), make_room(ctx, &far);
    kiln_op_info info = {.struct_size = sizeof info};
    MUST(kiln_op_describe(ctx, far.p.op, &info));
    char *image[2][KILN_MAX_TENSORS] = {{NULL}};
    for (int i = 0; i < op->ntensors; i++)
        for (int n = 0; n < 2; n++)
            must((image[n][i] = malloc(image_bytes(&far, i))) != NULL, "no memory");
    for (int i = 0; i < op->ntensors; i++) {
        if (op->tensor[i].out) continue;
        fill(&far, &info.rows_of[i], i, image[0][i]);
        carry(ctx, &packed, i, image[0][i], true), carry(ctx, &far, i, image[0][i], true);
    }
    int tried = 0, wrong = 0;
    for (size_t n = 0; n < kernels; n++) {
        if ((argv[3] && !strstr(kr_kernel_name(kernel[n]), argv[3])) ||
            kiln_workspace_size(kernel[n], &packed.p) == SIZE_MAX)
            continue;
        bool same = true;
        for (int i = 0; i < op->ntensors; i++) {
            memset(image[0][i], 0x5a, op->tensor[i].out ? image_bytes(&far, i) : 0);
            memset(image[1][i], 0x5a, op->tensor[i].out ? image_bytes(&far, i) : 0);
        }
        run(ctx, kernel[n], &packed, image[0]), run(ctx, kernel[n], &far, image[1]);
        for (int i = 0; i < op->ntensors; i++)
            if (op->tensor[i].out)
                same = same && !memcmp(image[0][i], image[1][i], image_bytes(&far, i));
        if (!same) printf("%s: other results than of packed tensors\n", kr_kernel_name(kernel[n]));
        tried++, wrong += !same;
    }
    must(tried > 0, "no such instance");
    printf("%s: %d of %d instances are off\n", argv[2], wrong, tried);
    for (int i = 0; i < op->ntensors; i++) {
        kiln_free(ctx, packed.memory[i]), kiln_free(ctx, far.memory[i]);
        free(image[0][i]), free(image[1][i]);
    }
    kiln_close(ctx);
    return wrong > 0;
}
