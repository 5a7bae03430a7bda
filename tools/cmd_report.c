// SPDX-License-Identifier: MIT
// kiln report: what the compiler made of each instance.
#include "command.h"
#include "report_page.h"
#include "resources.h"
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

typedef struct figures { /* of one of an instance's kernels */
    char name[512];
    kt_resources r;
    kt_occupancy o;
    int known; /* o is */
} figures;

/* Instructions of all kernels of an instance; an object has those of others in it, too.  What is
 * not told apart is the object's. */
long long kt_code_bytes(const kiln_kernel_info *k)
{
    enum { STAGES = sizeof k->stage_symbol / sizeof *k->stage_symbol };
    long long bytes = 0;
    kt_elf e;
    for (size_t i = 0; i < STAGES && k->stage_symbol[i] && kt_elf_open(k->code, k->code_size, &e);
         i++) {
        const long long size = kt_elf_symbol_size(&e, k->stage_symbol[i]);
        if (size > 0) bytes += size;
    }
    return bytes ? bytes : (long long)k->code_size;
}

/* 0: there is no such kernel, or *why says what is wrong. */
static int read_figures(const kiln_kernel_info *k, size_t stage, figures *f, char *why, size_t size)
{
    enum { STAGES = sizeof k->stage_symbol / sizeof *k->stage_symbol };
    *why = 0;
    if (!k->code || stage >= STAGES || !k->stage_symbol[stage]) return 0;
    if (!kt_resources_read(k->code, k->code_size, k->stage_symbol[stage], &f->r, why, size))
        return 0;
    /* LDS that is only known at launch: the schedule derives it. */
    const int dynamic = value_named(k, "lds_bytes");
    if (f->r.lds <= 0 && stage == 0 && dynamic > 0) f->r.lds = dynamic;
    snprintf(f->name, sizeof f->name, stage ? "%s#%zu" : "%s", k->name, stage + 1);
    f->known = kt_occupancy_of(k->target, &f->r, f->r.lds, f->r.threads, &f->o);
    *why = 0;
    return 1;
}

static long long code_bytes(const kiln_kernel_info *k, const figures *f)
{
    return f->r.code > 0 ? f->r.code : (long long)k->code_size;
}

static json_t *to_json(const kiln_kernel_info *k, const figures *f)
{
    json_t *row = json_pack("{s:s s:s s:s s:I}", "instance", f->name, "op", k->op, "target",
                            k->target, "code_bytes", (json_int_t)code_bytes(k, f));
    for (size_t i = 0; i < COLUMNS; i++)
        json_object_set_new(row, columns[i].json,
                            number(&f->r, i) < 0 ? json_null()
                                                 : json_integer((json_int_t)number(&f->r, i)));
    json_object_set_new(row, "waves", f->known ? json_integer(f->o.waves) : json_null());
    json_object_set_new(row, "most_waves", f->known ? json_integer(f->o.most) : json_null());
    json_object_set_new(row, "limit", f->known ? json_string(f->o.limit) : json_null());
    return row;
}

json_t *kt_resources_json(const kiln_kernel_info *k, size_t stage, char *why, size_t why_size)
{
    figures f;
    return read_figures(k, stage, &f, why, why_size) ? to_json(k, &f) : NULL;
}

static void add_row(report *p, const kiln_kernel_info *k, const figures *f)
{
    p->shown++;
    if (p->o->json) {
        json_array_append_new(p->rows, to_json(k, f));
        return;
    }
    kt_cell(p->table, "%s", f->name);
    for (size_t i = 0; i < COLUMNS; i++)
        if (number(&f->r, i) < 0)
            kt_cell(p->table, "-");
        else
            kt_cell(p->table, "%lld", number(&f->r, i));
    if (f->known)
        kt_cell(p->table, p->o->csv ? "%d" : "%d of %d", f->o.waves, f->o.most);
    else
        kt_cell(p->table, "-");
    kt_cell(p->table, "%s", f->known ? f->o.limit : "-");
    kt_cell(p->table, "%lld", code_bytes(k, f));
}

static void report_kernel(report *p, const kiln_kernel_info *k)
{
    enum { STAGES = sizeof k->stage_symbol / sizeof *k->stage_symbol };
    for (size_t i = 0; i < STAGES && k->stage_symbol[i]; i++) {
        char why[600];
        figures f;
        if (read_figures(k, i, &f, why, sizeof why)) {
            add_row(p, k, &f);
        } else {
            kt_message("%s: %s", k->name, why);
            p->damaged++;
        }
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
    if (o->html && o->trace) {
        kt_message("--html and --trace exclude each other");
        return EXIT_USAGE;
    }
    if (!o->html && (o->tuned.count || o->problems || o->set)) {
        kt_message("--tuned, --problems and --set are for the page of --html FILE");
        return EXIT_USAGE;
    }
    if (o->html && (o->json || o->csv)) {
        kt_message("--html excludes --json and --csv");
        return EXIT_USAGE;
    }
    if (o->html && o->arguments) {
        kt_message("report --html takes problems by --problems FILE");
        return EXIT_USAGE;
    }
    if (o->html) return kt_report_html(o);
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
