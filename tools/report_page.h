// SPDX-License-Identifier: MIT
// What `kiln report --html` puts into its page, as it is collected: report_html.c has the registry,
// report_problems.c problems and their explanations, report_measured.c rows of tuning files.
// ORDER PAGE: rows are JSON arrays, whose places tools/page/model.js counts, too.
#ifndef KILN_REPORT_PAGE_H
#define KILN_REPORT_PAGE_H
#include "command.h"
#include <jansson.h>

enum { KT_MOST_MACHINES = 64 };

/* A device that problems are explained for: the one that a target's file describes, one that
 * --device or a tuning file names. */
typedef struct kt_machine {
    char spec[96], target[32]; /* for --device; the target of its instances */
    int units;
    kiln_ctx *ctx;
} kt_machine;

typedef struct kt_page {
    const kt_options *o;
    kiln_ctx *ctx;
    kt_instance *found; /* by name */
    size_t count;
    const char **op; /* names, sorted */
    size_t ops;
    kt_machine machine[KT_MOST_MACHINES]; /* the first of a target is what the page begins with */
    size_t machines;
    json_t *words, *word_at; /* texts that are said often, and their positions */
    json_t *problems, *problem_at;
    json_t *measured, *simulated;
} kt_page;

/* The built-in page; what stands in it for the data. */
extern const char kt_page_text[];
#define KT_PAGE_DATA "@DATA@"

int kt_page_instance(const kt_page *, const char *name); /* position in found; -1: not there */
int kt_page_op(const kt_page *, const char *name);
/* The machine of a target with so many units (0: the first), opened where it is new; NULL: failed,
 * or the target is not known how large. */
kt_machine *kt_page_machine(kt_page *, const char *target, int units);

/* Problems of common sizes for each op, types, layouts and target, and those of --problems; an exit
 * code. */
int kt_page_problems(kt_page *);
/* Modelled microseconds of one instance for a problem, which the page explains for the machine from
 * now on; NAN where it is not legal or not there. */
double kt_page_explain(kt_page *, kt_machine *, const kiln_problem *, const char *instance);
/* Rows of --tuned, else of KILN_TUNING; an exit code. */
int kt_page_measured(kt_page *);

/* cmd_report.c: what the nth kernel of an instance needs, as --json has it; NULL: there is none, or
 * *why is set. */
json_t *kt_resources_json(const kiln_kernel_info *, size_t stage, char *why, size_t why_size);
/* Of its machine code, of all its kernels. */
long long kt_code_bytes(const kiln_kernel_info *);
/* report_cost.c: what instances cost on the simulator, as --json has it; an exit code. */
int kt_cost_json(const kt_options *, json_t **rows);
#endif
