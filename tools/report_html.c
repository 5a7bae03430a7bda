// SPDX-License-Identifier: MIT
// kiln report --html: the registry as one page that needs nothing else: tools/page/ with the data
// in it.  The same modules, options and tuning files give the same bytes.
#include "harness.h"
#include "output.h"
#include "report_page.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- finding ---- */
int kt_page_instance(const kt_page *page, const char *name)
{
    size_t lo = 0, hi = page->count;
    while (lo < hi) {
        const size_t mid = (lo + hi) / 2;
        const int order = strcmp(name, page->found[mid].info.name);
        if (!order) return (int)mid;
        *(order < 0 ? &hi : &lo) = order < 0 ? mid : mid + 1;
    }
    return -1;
}

int kt_page_op(const kt_page *page, const char *name)
{
    for (size_t i = 0; i < page->ops; i++)
        if (!strcmp(page->op[i], name)) return (int)i;
    return -1;
}

static int by_text(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static int find_ops(kt_page *page)
{
    page->op = malloc((page->count + 1) * sizeof *page->op);
    if (!page->op) return kt_failed(KILN_NO_MEMORY, "report");
    for (size_t i = 0; i < page->count; i++) page->op[i] = page->found[i].info.op;
    qsort(page->op, page->count, sizeof *page->op, by_text);
    for (size_t i = 0; i < page->count; i++)
        if (!page->ops || strcmp(page->op[page->ops - 1], page->op[i]))
            page->op[page->ops++] = page->op[i];
    return 0;
}

/* ---- machines ---- */
/* An exit code. */
static int add_machine(kt_page *page, const char *spec, kt_machine **out)
{
    kiln_device_info d = {.struct_size = sizeof d};
    *out = NULL;
    if (page->machines == KT_MOST_MACHINES) return 0;
    kt_machine *m = &page->machine[page->machines];
    snprintf(m->spec, sizeof m->spec, "%s", spec);
    const kiln_config config = {.struct_size = sizeof config,
                                .device = m->spec,
                                .module_path = page->o->modules,
                                .only_module_path = page->o->modules != NULL,
                                .tuning = ""};
    kiln_status status = kiln_open(&m->ctx, &config);
    if (!status) status = kiln_device_describe(m->ctx, &d);
    if (status) {
        const int code = kt_failed(status, status == KILN_INVALID ? NULL : spec);
        return status == KILN_INVALID ? EXIT_USAGE : code;
    }
    snprintf(m->target, sizeof m->target, "%s", d.target);
    m->units = d.units;
    page->machines++;
    *out = m;
    return 0;
}

/* Units of the machine that a target's file describes. */
static int usual_units(const kt_page *page, const char *target)
{
    for (size_t i = 0; i < page->count; i++)
        if (!strcmp(page->found[i].info.target, target)) return page->found[i].info.units;
    return 0;
}

kt_machine *kt_page_machine(kt_page *page, const char *target, int units)
{
    char spec[96];
    for (size_t i = 0; i < page->machines; i++)
        if (!strcmp(page->machine[i].target, target) && (!units || page->machine[i].units == units))
            return &page->machine[i];
    if (!units) units = usual_units(page, target);
    if (units < 1) return NULL;
    snprintf(spec, sizeof spec, "none:%s:%d", target, units);
    kt_machine *m;
    add_machine(page, spec, &m);
    return m;
}

/* --device first, so that it is its target's; then one of each target. */
static int open_machines(kt_page *page)
{
    kt_machine *m;
    const int code = page->o->device ? add_machine(page, page->o->device, &m) : 0;
    if (code) return code;
    for (size_t i = 0; i < page->count; i++) {
        const char *target = page->found[i].info.target;
        if (i && !strcmp(target, page->found[i - 1].info.target)) continue;
        if (!kt_page_machine(page, target, 0))
            kt_message("how large a %s is, is not known: no modelled times; name one with --device "
                       "none:%s:UNITS",
                       target, target);
    }
    return 0;
}

/* ---- the registry as JSON ---- */
static json_t *values(const kiln_kernel_info *k, size_t from, size_t to)
{
    json_t *all = json_array();
    for (size_t i = from; i < to; i++)
        json_array_append_new(all, json_pack("[s i]", k->value_name[i], k->value[i]));
    return all;
}

/* Of each kernel of an instance: vgprs, agprs, ..., as columns of report --json come. */
static json_t *resources(const kiln_kernel_info *k)
{
    static const char *const keys[] = {"vgprs",         "agprs",       "sgprs",       "lds_bytes",
                                       "scratch_bytes", "vgpr_spills", "sgpr_spills", "threads",
                                       "waves",         "most_waves",  "limit"};
    json_t *all = json_array(), *row;
    char why[600];
    for (size_t stage = 0; (row = kt_resources_json(k, stage, why, sizeof why)); stage++) {
        json_t *of = json_array();
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            json_array_append(of, json_object_get(row, keys[i]));
        json_array_append_new(all, of);
        json_decref(row);
    }
    if (*why) kt_message("%s: %s", k->name, why);
    return all;
}

/* [name, op, target, schedule, types, layouts, fixed sizes, tunables, derived, content, code bytes,
 * kernels]. */
static json_t *instance(const kt_page *page, const kiln_kernel_info *k)
{
    char types[KT_TYPES_TEXT], layouts[KT_LAYOUTS_TEXT], content[20];
    kiln_op_info op = {.struct_size = sizeof op};
    json_t *fixed = json_array();
    kiln_op_describe(page->ctx, k->op, &op);
    for (size_t i = 0; i < op.nfixed; i++)
        json_array_append_new(fixed, json_integer((json_int_t)k->fixed[i]));
    snprintf(content, sizeof content, "%016llx", (unsigned long long)k->content);
    return json_pack("[s i s s s s o o o s I o]", k->name, kt_page_op(page, k->op), k->target,
                     k->schedule, kt_types(k, types), k->nlayouts ? kt_layouts(k, layouts) : "",
                     fixed, values(k, 0, k->ntunables), values(k, k->ntunables, k->nvalues),
                     content, (json_int_t)kt_code_bytes(k), resources(k));
}

static const char *kind_name(kiln_dkind kind)
{
    switch (kind) {
#define X(name, id, text)                                                                          \
    case id:                                                                                       \
        return #name;
        KILN_DKINDS(X)
#undef X
    case KILN_D_NONE:
        return "";
    case KILN_D_INDEX:
        return "index array";
    }
    return "";
}

static void put_extent(const kiln_op_info *op, int size, int block, char *text, size_t room)
{
    const size_t used = strlen(text);
    if (size < 0) return;
    snprintf(text + used, room - used, block > 1 ? "%s%s/%d" : "%s%s", *text ? " × " : "",
             kh_size_name(op, size), block);
}

/* [name, kind, type, written, extent]. */
static json_t *tensor(const kiln_op_info *op, size_t i)
{
    const kiln_tensor_info *t = &op->tensor[i];
    char extent[256] = "";
    put_extent(op, op->tensor_planes[i], 1, extent, sizeof extent);
    put_extent(op, t->rows, t->row_block, extent, sizeof extent);
    put_extent(op, t->cols, t->col_block, extent, sizeof extent);
    const char *type = t->type >= 0 ? op->type_name[t->type] : kiln_dtype_name(op->tensor_dtype[i]);
    return json_pack("[s s s b s]", op->tensor_key[i], kind_name(t->kind), type, t->out,
                     *extent ? extent : "1");
}

/* The keys of a problem's text that are a tensor's: it is formatted with one of them set. */
static void add_keys(const kiln_problem *base, int at, json_t *keys)
{
    enum { FIELDS = 4, MARK = 16 };
    for (int field = 0; field < FIELDS; field++) {
        char text[KT_PROBLEM_TEXT];
        size_t len = sizeof text;
        kiln_problem p = *base;
        if (field == 0) p.tensor[at].ld = MARK;
        if (field == 1) p.tensor[at].batch_stride = MARK;
        if (field == 2) p.plane_stride[at] = MARK;
        if (field == 3) p.tensor[at].align = MARK;
        if (kiln_problem_format(&p, text, &len)) continue;
        char *key = strrchr(text, ' '), *equals = key ? strchr(key, '=') : NULL;
        if (!equals || strcmp(equals, "=16")) continue;
        *equals = 0;
        json_array_append_new(keys, json_string(key + 1));
    }
}

static json_t *keys_of(const kt_page *page, const kiln_op_info *op, const kiln_kernel_info *k)
{
    json_t *keys = json_array();
    kiln_problem base;
    if (kt_kernel_problem(page->ctx, k, &base)) return keys;
    base.acc = KILN_DTYPE_NONE;
    for (int i = 0; i < KH_SIZES; i++)
        if (i != KH_BATCH && kh_size_name(op, i) && !kh_size_of(&base, i)) *kh_size(&base, i) = 1;
    for (size_t i = 0; i < op->ntensors; i++)
        if (!i || op->tensor[i].at != op->tensor[i - 1].at) add_keys(&base, op->tensor[i].at, keys);
    return keys;
}

static json_t *names(const char *const *name, size_t n)
{
    json_t *all = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(all, json_string(name[i]));
    return all;
}

static char *op_text(const kt_page *page, const char *op)
{
    size_t len = 0;
    kiln_op_text(page->ctx, op, NULL, &len);
    char *text = calloc(1, len + 1);
    if (text && kiln_op_text(page->ctx, op, text, &len)) *text = 0;
    return text;
}

static json_t *op_json(const kt_page *page, const char *name)
{
    kiln_op_info op = {.struct_size = sizeof op};
    const kiln_kernel_info *first = NULL;
    for (size_t i = 0; i < page->count && !first; i++)
        if (!strcmp(page->found[i].info.op, name)) first = &page->found[i].info;
    if (!first || kiln_op_describe(page->ctx, name, &op)) return json_null();
    json_t *tensors = json_array(), *sizes = json_array();
    for (size_t i = 0; i < op.ntensors; i++) json_array_append_new(tensors, tensor(&op, i));
    for (int i = 0; i < KH_SIZES; i++)
        if (i != KH_BATCH && kh_size_name(&op, i))
            json_array_append_new(sizes, json_string(kh_size_name(&op, i)));
    json_t *fixed = json_array();
    for (size_t i = 0; i < op.nfixed; i++)
        json_array_append_new(fixed, json_string(kh_size_name(&op, op.fixed[i])));
    const size_t types = kt_tensor_types(first);
    char *text = op_text(page, name);
    json_t *all = json_pack(
        "{s:s s:s s:s s:i s:s s:o s:o s:o s:o s:o s:o s:i}", "name", op.name, "family", op.family,
        "file", op.file, "line", op.line, "text", text ? text : "", "tensors", tensors, "scalars",
        names(op.scalar_name, op.nscalars), "sizes", sizes, "fixed", fixed, "types",
        names(op.type_name, types), "keys", keys_of(page, &op, first), "letters", (int)op.nlayouts);
    if (op.ntypes > types) /* acc= */
        json_array_append_new(json_object_get(all, "keys"), json_string(op.type_name[types]));
    free(text);
    return all;
}

/* [instance, kernel, the row of report --cost --json]. */
static int simulate(kt_page *page)
{
    json_t *rows, *of;
    size_t i;
    if (!page->o->cost) return 0;
    const int code = kt_cost_json(page->o, &rows);
    json_array_foreach(rows, i, of)
    {
        char name[512];
        snprintf(name, sizeof name, "%s", json_string_value(json_object_get(of, "instance")));
        char *number = strrchr(name, '#');
        if (number) *number++ = 0;
        const int at = kt_page_instance(page, name);
        if (at >= 0)
            json_array_append_new(page->simulated,
                                  json_pack("[i i O]", at, number ? atoi(number) : 1, of));
    }
    json_decref(rows);
    return code;
}

static json_t *page_json(kt_page *page)
{
    char id[20];
    json_t *machines = json_array(), *ops = json_array(), *instances = json_array();
    for (size_t i = 0; i < page->machines; i++) {
        const kt_machine *m = &page->machine[i];
        json_array_append_new(machines, json_pack("[s s i]", m->spec, m->target, m->units));
    }
    for (size_t i = 0; i < page->ops; i++) json_array_append_new(ops, op_json(page, page->op[i]));
    for (size_t i = 0; i < page->count; i++)
        json_array_append_new(instances, instance(page, &page->found[i].info));
    if (json_array_size(instances) != page->count) { /* of which the others have positions */
        json_decref(machines), json_decref(ops), json_decref(instances);
        return NULL;
    }
    snprintf(id, sizeof id, "%016llx", (unsigned long long)kiln_registry_id(page->ctx));
    return json_pack("{s:s s:s s:o s:o s:o s:O s:O s:O s:O}", "version", kiln_version(), "registry",
                     id, "machines", machines, "ops", ops, "instances", instances, "words",
                     page->words, "problems", page->problems, "measured", page->measured,
                     "simulated", page->simulated);
}

/* ---- the file ---- */
/* As JSON within a script element: a text holds no < there, so that no text ends it. */
static void put_data(const char *json, FILE *f)
{
    for (; *json; json++)
        if (*json == '<')
            fputs("\\u003c", f);
        else
            fputc(*json, f);
}

static int write_page(const kt_page *page, const json_t *data)
{
    enum { DIGITS = 10 };
    const char *path = page->o->html, *hole = strstr(kt_page_text, KT_PAGE_DATA);
    char *json = json_dumps(data, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(DIGITS));
    kt_output out;
    int code = json && hole ? kt_output_open(path, &out) : kt_failed(KILN_NO_MEMORY, "report");
    if (!code) {
        fwrite(kt_page_text, 1, (size_t)(hole - kt_page_text), out.f);
        put_data(json, out.f);
        fputs(hole + strlen(KT_PAGE_DATA), out.f);
        code = kt_output_close(&out);
    }
    free(json);
    if (code) return code;
    printf("%s: %zu instances of %zu ops, %zu problems explained, %zu rows measured\n", path,
           page->count, page->ops, json_array_size(page->problems),
           json_array_size(page->measured));
    return 0;
}

static int make_page(kt_page *page)
{
    int code = find_ops(page);
    if (!code) code = open_machines(page);
    if (!code) code = kt_page_problems(page);
    if (!code) code = kt_page_measured(page);
    const int priced = code ? code : simulate(page);
    if (priced && priced != EXIT_FAILED) return priced;
    json_t *data = page_json(page);
    code = data ? write_page(page, data) : kt_failed(KILN_NO_MEMORY, "report");
    json_decref(data);
    return code ? code : priced;
}

int kt_report_html(const kt_options *o)
{
    kt_page page = {.o = o};
    kt_options plain = *o;
    plain.device = "none:host:1"; /* the registry, whatever the machine */
    plain.tuning = "";
    int code = kt_output_check(o->html);
    if (!code) code = kt_open(&plain, NULL, &page.ctx);
    if (code) return code;
    json_t **const lists[] = {&page.words, &page.problems, &page.measured, &page.simulated};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) *lists[i] = json_array();
    page.word_at = json_object();
    page.problem_at = json_object();
    page.count = kt_select(o, page.ctx, &page.found);
    if (!page.count) kt_none(o, page.ctx, "no instance passes all these filters");
    code = page.count ? make_page(&page) : EXIT_FAILED;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) json_decref(*lists[i]);
    json_decref(page.word_at);
    json_decref(page.problem_at);
    for (size_t i = 0; i < page.machines; i++) kiln_close(page.machine[i].ctx);
    free(page.op);
    free(page.found);
    kiln_close(page.ctx);
    return code;
}
