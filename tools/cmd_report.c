// SPDX-License-Identifier: MIT
// kiln report: what the compiler made of each instance.
#include "command.h"
#include "resources.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* A column: its head, JSON name, and where the number is. */
static const struct column {
    const char *head, *json;
    size_t offset;
} columns[] = {
    {"VGPR", "vgprs", offsetof(kt_resources, vgprs)},
    {"AGPR", "agprs", offsetof(kt_resources, agprs)},
    {"SGPR", "sgprs", offsetof(kt_resources, sgprs)},
    {"LDS", "lds_bytes", offsetof(kt_resources, lds)},
    {"scratch", "scratch_bytes", offsetof(kt_resources, scratch)},
    {"VGPR spills", "vgpr_spills", offsetof(kt_resources, vgpr_spills)},
    {"SGPR spills", "sgpr_spills", offsetof(kt_resources, sgpr_spills)},
    {"threads", "threads", offsetof(kt_resources, threads)},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

typedef struct report {
    const kt_options *o;
    kt_table *table;
    json_t *rows;
    size_t shown, damaged;
} report;

static long long number(const kt_resources *r, size_t column)
{
    long long v;
    memcpy(&v, (const char *)r + columns[column].offset, sizeof v);
    return v;
}

static int value_named(const kiln_kernel_info *k, const char *name)
{
    for (size_t i = 0; i < k->nvalues; i++)
        if (!strcmp(k->value_name[i], name)) return k->value[i];
    return 0;
}

static void add_row(report *p, const kiln_kernel_info *k, const char *name, const kt_resources *r,
                    const kt_occupancy *o)
{
    if (p->o->json) {
        json_t *row = json_pack("{s:s s:s s:s s:I}", "instance", name, "op", k->op, "target",
                                k->target, "code_bytes", (json_int_t)k->code_size);
        for (size_t i = 0; i < COLUMNS; i++)
            json_object_set_new(row, columns[i].json,
                                number(r, i) < 0 ? json_null()
                                                 : json_integer((json_int_t)number(r, i)));
        json_object_set_new(row, "waves", o ? json_integer(o->waves) : json_null());
        json_object_set_new(row, "most_waves", o ? json_integer(o->most) : json_null());
        json_object_set_new(row, "limit", o ? json_string(o->limit) : json_null());
        json_array_append_new(p->rows, row);
        return;
    }
    kt_cell(p->table, "%s", name);
    for (size_t i = 0; i < COLUMNS; i++)
        if (number(r, i) < 0)
            kt_cell(p->table, "-");
        else
            kt_cell(p->table, "%lld", number(r, i));
    if (o)
        kt_cell(p->table, p->o->csv ? "%d" : "%d of %d", o->waves, o->most);
    else
        kt_cell(p->table, "-");
    kt_cell(p->table, "%s", o ? o->limit : "-");
    kt_cell(p->table, "%zu", k->code_size);
}

static void report_kernel(report *p, const kiln_kernel_info *k)
{
    char why[600], name[512];
    kt_resources r;
    kt_occupancy o;
    enum { STAGES = sizeof k->stage_symbol / sizeof *k->stage_symbol };
    for (size_t i = 0; i < STAGES && k->stage_symbol[i]; i++) {
        if (!kt_resources_read(k->code, k->code_size, k->stage_symbol[i], &r, why, sizeof why)) {
            kt_message("%s: %s", k->name, why);
            p->damaged++;
            continue;
        }
        /* LDS that is only known at launch: the schedule derives it. */
        const int dynamic = value_named(k, "lds_bytes");
        if (r.lds <= 0 && i == 0 && dynamic > 0) r.lds = dynamic;
        snprintf(name, sizeof name, i ? "%s#%zu" : "%s", k->name, i + 1);
        add_row(p, k, name, &r, kt_occupancy_of(k->target, &r, r.lds, r.threads, &o) ? &o : NULL);
        p->shown++;
    }
}

static kt_table *open_table(void)
{
    const char *heads[COLUMNS + 4] = {"instance"};
    for (size_t i = 0; i < COLUMNS; i++) heads[1 + i] = columns[i].head;
    heads[COLUMNS + 1] = "waves", heads[COLUMNS + 2] = "limit", heads[COLUMNS + 3] = "code";
    return kt_table_open(heads, COLUMNS + 4);
}

int cmd_report(const kt_options *o)
{
    report p = {.o = o};
    kiln_ctx *ctx;
    kt_instance *found;
    if (o->trace) return kt_report_trace(o);
    if (o->arguments) {
        kt_message("report takes a problem only with --trace FILE, which writes its timeline");
        return EXIT_USAGE;
    }
    if (o->cost) return kt_report_cost(o);
    const int code = kt_open(o, "host", &ctx);
    if (code) return code;
    p.table = open_table();
    kt_table_fold(p.table, 1);
    p.rows = json_array();
    const size_t n = kt_select(o, ctx, &found);
    for (size_t i = 0; i < n; i++)
        if (found[i].info.code) report_kernel(&p, &found[i].info);
    if (o->json) {
        json_dumpf(p.rows, stdout, JSON_INDENT(1));
        puts("");
    } else if (p.shown)
        kt_table_print(p.table, stdout, o->csv);
    if (!p.shown && !p.damaged)
        kt_none(o, ctx, "no instance with a code object (of a GPU target) passes these filters");
    json_decref(p.rows);
    kt_table_close(p.table);
    free(found);
    kiln_close(ctx);
    return p.damaged || !p.shown ? EXIT_FAILED : EXIT_PASS;
}
