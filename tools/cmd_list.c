// SPDX-License-Identifier: MIT
// kiln list: the registry as a table or as JSON.
#include "command.h"
#include "report_page.h"
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

/* By their names in the op's description. */
static json_t *types_of(kiln_ctx *ctx, const kiln_kernel_info *k)
{
    json_t *types = json_object();
    kiln_op_info op = {.struct_size = sizeof op};
    if (kiln_op_describe(ctx, k->op, &op)) return types;
    for (size_t i = 0; i < op.ntypes; i++)
        json_object_set_new(types, op.type_name[i], json_string(kiln_dtype_name(k->type[i])));
    return types;
}

static json_t *to_json(kiln_ctx *ctx, const kiln_kernel_info *k)
{
    char layouts[KT_LAYOUTS_TEXT];
    json_t *tunables = json_object(), *derived = json_object();
    for (size_t i = 0; i < k->nvalues; i++)
        json_object_set_new(i < k->ntunables ? tunables : derived, k->value_name[i],
                            json_integer(k->value[i]));
    json_t *row =
        json_pack("{s:s s:s s:s s:s s:s s:o}", "name", k->name, "op", k->op, "family", k->family,
                  "target", k->target, "schedule", k->schedule, "types", types_of(ctx, k));
    if (k->a) /* of a gemm */
        json_object_update_new(row, json_pack("{s:s s:s s:s}", "a", kiln_dtype_name(k->a), "b",
                                              kiln_dtype_name(k->b), "e", kiln_dtype_name(k->e)));
    if (k->nlayouts) json_object_set_new(row, "layouts", json_string(kt_layouts(k, layouts)));
    char content[20];
    snprintf(content, sizeof content, "%016" PRIx64, k->content);
    json_object_update_new(row,
                           json_pack("{s:s s:i s:o s:o s:I s:s}", "file", k->file, "line", k->line,
                                     "tunables", tunables, "derived", derived, "code_bytes",
                                     (json_int_t)kt_code_bytes(k), "content", content));
    return row;
}

static void to_row(kt_table *t, const kiln_kernel_info *k)
{
    char types[KT_TYPES_TEXT], layouts[KT_LAYOUTS_TEXT], tunables[512] = "";
    size_t used = 0;
    for (size_t i = 0; i < k->ntunables && used < sizeof tunables; i++)
        used += (size_t)snprintf(tunables + used, sizeof tunables - used, "%s%s=%d", i ? " " : "",
                                 k->value_name[i], k->value[i]);
    kt_cell(t, "%s", k->name);
    kt_cell(t, "%s", kt_types(k, types));
    kt_cell(t, "%s", k->nlayouts ? kt_layouts(k, layouts) : "-");
    kt_cell(t, "%s", tunables);
    kt_cell(t, "%s:%d", k->file, k->line);
}

int cmd_list(const kt_options *o)
{
    static const char *const heads[] = {"instance", "types", "layout", "tunables", "described in"};
    kiln_ctx *ctx;
    kt_instance *found;
    const int wrong = kt_open(o, "host", &ctx);
    if (wrong) return wrong;
    json_t *array = json_array();
    kt_table *table = kt_table_open(heads, sizeof heads / sizeof *heads);
    kt_table_fold(table, 3);
    kt_table_fold(table, 4);
    const size_t n = kt_select(o, ctx, &found);
    for (size_t i = 0; i < n; i++) {
        if (o->json)
            json_array_append_new(array, to_json(ctx, &found[i].info));
        else
            to_row(table, &found[i].info);
    }
    if (o->json) {
        json_dumpf(array, stdout, JSON_INDENT(1));
        puts("");
    } else if (n)
        kt_table_print(table, stdout, 0);
    if (!n) kt_none(o, ctx, "no instance passes all these filters");
    json_decref(array);
    kt_table_close(table);
    free(found);
    kiln_close(ctx);
    return n ? EXIT_PASS : EXIT_FAILED;
}
