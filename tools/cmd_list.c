// SPDX-License-Identifier: MIT
// kiln list: the registry as a table or as JSON.
#include "command.h"
#include <jansson.h>
#include <stdlib.h>

static json_t *to_json(const kiln_kernel_info *k)
{
    char layouts[4];
    json_t *tunables = json_object(), *derived = json_object();
    for (size_t i = 0; i < k->nvalues; i++)
        json_object_set_new(i < k->ntunables ? tunables : derived, k->value_name[i],
                            json_integer(k->value[i]));
    return json_pack("{s:s s:s s:s s:s s:s s:s s:s s:s s:s s:i s:o s:o s:I}", "name", k->name, "op",
                     k->op, "target", k->target, "schedule", k->schedule, "a",
                     kiln_dtype_name(k->a), "b", kiln_dtype_name(k->b), "e", kiln_dtype_name(k->e),
                     "layouts", kt_layouts(k, layouts), "file", k->file, "line", k->line,
                     "tunables", tunables, "derived", derived, "code_bytes",
                     (json_int_t)k->code_size);
}

static void to_row(kt_table *t, const kiln_kernel_info *k)
{
    char types[64], layouts[4], tunables[512] = "";
    size_t used = 0;
    for (size_t i = 0; i < k->ntunables && used < sizeof tunables; i++)
        used += (size_t)snprintf(tunables + used, sizeof tunables - used, "%s%s=%d", i ? " " : "",
                                 k->value_name[i], k->value[i]);
    kt_cell(t, "%s", k->name);
    kt_cell(t, "%s", kt_types(k, types));
    kt_cell(t, "%s", kt_layouts(k, layouts));
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
            json_array_append_new(array, to_json(&found[i].info));
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
