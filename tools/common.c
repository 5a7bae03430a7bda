// SPDX-License-Identifier: MIT
// What the commands share: messages, opening a device, selecting instances.
#define _GNU_SOURCE
#include "command.h"
#include "harness.h"
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void kt_message(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    fputs("kiln: ", stderr);
    vfprintf(stderr, format, ap);
    fputc('\n', stderr);
    va_end(ap);
}

int kt_failed(kiln_status status, const char *what)
{
    const char *why = kiln_error();
    if (!why || !*why) why = kiln_status_name(status);
    kt_message("%s%s%s", what ? what : "", what ? ": " : "", why);
    switch (status) {
    case KILN_NO_DEVICE:
        return EXIT_NO_DEVICE;
    case KILN_IO:
        return EXIT_USAGE;
    case KILN_OK:
    case KILN_INVALID:
    case KILN_NOT_FOUND:
    case KILN_NOT_SUPPORTED:
    case KILN_NO_MEMORY:
    case KILN_BAD_MODULE:
    case KILN_WORKSPACE:
    case KILN_DRIVER:
    case KILN_TRUNCATED:
        break;
    }
    return EXIT_FAILED;
}

int kt_open(const kt_options *o, const char *fallback, kiln_ctx **ctx)
{
    const kiln_config config = {.struct_size = sizeof config,
                                .device = o->device ? o->device : fallback,
                                .module_path = o->modules,
                                .only_module_path = o->modules != NULL,
                                .tuning = o->tuning,
                                .threads = o->threads};
    const kiln_status status = kiln_open(ctx, &config);
    if (status) { /* a device that cannot be is wrong usage */
        const char *device = config.device ? config.device : getenv("KILN_DEVICE");
        const int code = kt_failed(status, status == KILN_INVALID ? NULL : device);
        return status == KILN_INVALID ? EXIT_USAGE : code;
    }
    const char *why;
    for (size_t i = 0; (why = kiln_refused_at(*ctx, i)); i++) kt_message("refused: %s", why);
    return 0;
}

int kt_open_here(const kt_options *o, kiln_ctx **ctx)
{
    const int code = kt_open(o, NULL, ctx);
    const kiln_status status = code ? KILN_OK : kiln_synchronize(*ctx, NULL);
    if (status != KILN_NO_DEVICE) return code; /* what else is wrong, a run says better */
    const int why = kt_failed(status, NULL);
    kiln_close(*ctx);
    return why;
}

int kt_problem(const char *text, kiln_problem *p)
{
    if (!kiln_problem_parse(text, p)) return 0;
    kt_message("'%s': %s", text, kiln_error());
    return EXIT_USAGE;
}

const char *kt_problem_text(const kiln_problem *p, char *text, size_t size)
{
    size_t len = size;
    if (kiln_problem_format(p, text, &len)) snprintf(text, size, "%s", p->op);
    return text;
}

kiln_status kt_describe(const kiln_kernel *k, kiln_kernel_info *info)
{
    memset(info, 0, sizeof *info);
    info->struct_size = sizeof *info;
    return kiln_kernel_describe(k, info);
}

/* ---- filters ---- */
static int passes(const kt_names *wanted, const char *name)
{
    for (size_t i = 0; i < wanted->count; i++)
        if (!strcmp(wanted->name[i], name)) return 1;
    return !wanted->count;
}

int kt_selected(const kt_options *o, const kiln_kernel_info *k)
{
    int typed = 0;
    for (size_t i = 0; i < kt_tensor_types(k); i++)
        typed |= passes(&o->dtype, kiln_dtype_name(k->type[i]));
    return typed && passes(&o->op, k->op) && passes(&o->target, k->target) &&
           passes(&o->schedule, k->schedule) && passes(&o->instance, k->name);
}

static const struct filter {
    const char *name;
    size_t offset;
} filters[] = {{"op", offsetof(kt_options, op)},
               {"target", offsetof(kt_options, target)},
               {"schedule", offsetof(kt_options, schedule)},
               {"dtype", offsetof(kt_options, dtype)},
               {"instance", offsetof(kt_options, instance)}};

static int any(kiln_ctx *ctx, const kt_options *o)
{
    const kiln_kernel *kernel;
    kiln_kernel_info info;
    for (size_t i = 0; !kiln_kernel_at(ctx, i, &kernel); i++)
        if (!kt_describe(kernel, &info) && kt_selected(o, &info)) return 1;
    return 0;
}

/* Says which names of filters no instance has; their number. */
static size_t say_unknown(const kt_options *o, kiln_ctx *ctx)
{
    size_t unknown = 0;
    for (size_t f = 0; f < sizeof filters / sizeof *filters; f++) {
        const kt_names *names = (const kt_names *)((const char *)o + filters[f].offset);
        for (size_t i = 0; i < names->count; i++) {
            kt_options alone = {0};
            *(kt_names *)((char *)&alone + filters[f].offset) = (kt_names){1, {names->name[i]}};
            if (any(ctx, &alone)) continue;
            kt_message("no instance has --%s %s; `kiln list` shows all", filters[f].name,
                       names->name[i]);
            unknown++;
        }
    }
    return unknown;
}

static int by_name(const void *x, const void *y)
{
    return strcmp(((const kt_instance *)x)->info.name, ((const kt_instance *)y)->info.name);
}

size_t kt_select(const kt_options *o, kiln_ctx *ctx, kt_instance **found)
{
    const kiln_kernel *kernel;
    kiln_kernel_info info;
    size_t n = 0, room = 0;
    *found = NULL;
    for (size_t i = 0; !kiln_kernel_at(ctx, i, &kernel); i++) {
        if (kt_describe(kernel, &info) || !kt_selected(o, &info)) continue;
        if (n == room) {
            room = room ? 2 * room : 256;
            kt_instance *more = realloc(*found, room * sizeof *more);
            if (!more) break;
            *found = more;
        }
        (*found)[n++] = (kt_instance){kernel, info};
    }
    if (n) qsort(*found, n, sizeof **found, by_name);
    if (n) say_unknown(o, ctx);
    return n;
}

void kt_none(const kt_options *o, kiln_ctx *ctx, const char *otherwise)
{
    const kt_options all = {0};
    if (!any(ctx, &all))
        kt_message("there are no instances: run `make instances`, or name folders of modules in "
                   "KILN_MODULE_PATH");
    else if (!say_unknown(o, ctx))
        kt_message("%s", otherwise);
}

/* ---- what an instance computes ---- */
size_t kt_tensor_types(const kiln_kernel_info *k)
{
    return k->ntypes - (k->acc != KILN_DTYPE_NONE && k->ntypes > 0);
}

const char *kt_types(const kiln_kernel_info *k, char text[KT_TYPES_TEXT])
{
    size_t used = 0;
    *text = 0;
    for (size_t i = 0; i < kt_tensor_types(k) && used < KT_TYPES_TEXT; i++)
        used += (size_t)snprintf(text + used, KT_TYPES_TEXT - used, "%s%s", i ? "," : "",
                                 kiln_dtype_name(k->type[i]));
    return text;
}

const char *kt_layouts(const kiln_kernel_info *k, char text[KT_LAYOUTS_TEXT])
{
    static const char letter[] = {[KILN_LAYOUT_NONE] = '-',
#define X(id, c, doc) [id] = c,
                                  KILN_LAYOUTS(X)
#undef X
    };
    for (size_t i = 0; i < k->nlayouts; i++) text[i] = letter[k->layout[i]];
    text[k->nlayouts] = 0;
    return text;
}

/* The letter of a tensor's layout, those of the family's own come in the order of their positions;
 * -1: has none. */
static int letter_of(const kiln_tensor_info *t, const kiln_kernel_info *k)
{
    return t->kind == KILN_D_NONE && (size_t)t->at < k->nlayouts ? t->at : -1;
}

kiln_status kt_kernel_problem(kiln_ctx *ctx, const kiln_kernel_info *k, kiln_problem *p)
{
    kiln_op_info op = {.struct_size = sizeof op};
    *p = (kiln_problem){.struct_size = sizeof *p, .acc = k->acc};
    snprintf(p->op, sizeof p->op, "%s", k->op);
    const kiln_status status = kiln_op_describe(ctx, k->op, &op);
    if (status) return status;
    for (size_t i = 0; i < op.ntensors; i++) {
        const kiln_tensor_info *t = &op.tensor[i];
        if (t->type >= 0) p->tensor[t->at].dtype = k->type[t->type];
        if (letter_of(t, k) >= 0) p->tensor[t->at].layout = k->layout[letter_of(t, k)];
    }
    for (size_t i = 0; i < op.nfixed; i++) *kh_size(p, op.fixed[i]) = k->fixed[i];
    return KILN_OK;
}

int kt_computes(kiln_ctx *ctx, const kiln_kernel_info *k, const kiln_problem *p)
{
    kiln_op_info op = {.struct_size = sizeof op};
    if (strcmp(k->op, p->op) || kiln_op_describe(ctx, k->op, &op) || k->acc != p->acc) return 0;
    for (size_t i = 0; i < op.ntensors; i++) {
        const kiln_tensor_info *t = &op.tensor[i];
        if (t->type >= 0 && k->type[t->type] != p->tensor[t->at].dtype) return 0;
        if (letter_of(t, k) >= 0 && k->layout[letter_of(t, k)] != p->tensor[t->at].layout) return 0;
    }
    for (size_t i = 0; i < op.nfixed; i++)
        if (kh_size_of(p, op.fixed[i]) != k->fixed[i]) return 0;
    return 1;
}

static int colored(FILE *f)
{
    const char *no = getenv("NO_COLOR");
    return !(no && *no) && isatty(fileno(f));
}

const char *kt_color_on(FILE *f, kt_color c)
{
    static const char *const code[] = {
        [KT_PLAIN] = "", [KT_RED] = "\033[31m", [KT_GREEN] = "\033[32m", [KT_DIM] = "\033[2m"};
    return colored(f) ? code[c] : "";
}

const char *kt_color_off(FILE *f)
{
    return colored(f) ? "\033[0m" : "";
}
