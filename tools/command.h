// SPDX-License-Identifier: MIT
// The kiln command: one table of commands from which usage, --help and shell completion come, one
// set of options.
#ifndef KILN_COMMAND_H
#define KILN_COMMAND_H
#include <argp.h>
#include <kiln.h>
#include <stdio.h>

enum { EXIT_PASS = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_NO_DEVICE = 77 };

/* What a filter lets pass: any of these; none given: everything. */
enum { KT_MOST_NAMES = 64 };
typedef struct kt_names {
    size_t count;
    const char *name[KT_MOST_NAMES];
} kt_names;

typedef struct kt_options {
    kt_names op, target, schedule, dtype, instance, tuned;
    const char *device, *peer, *template, *folder, *output, *problems, *set, *csv_file, *modules;
    const char *tunableop, *shard, *html, *trace, *plot, *from;
    const char
        *tuning; /* no option: the tuning files of the context; NULL: as the library has it */
    int json, csv, all, quick, cost, replace, verbose, threads, dry_run, merge, resume, wide;
    long jobs;
    int has_seed, has_prune;
    int has_shuffle;
    uint64_t seed, shuffle;
    double seconds, idle, replay, budget, prune;
    char **argument;
    int arguments;
} kt_options;

typedef struct kt_command {
    const char *name, *usage, *summary;
    const char *help; /* examples, then what it does; \v, then the rest */
    const struct argp_option *options;
    int min_arguments, max_arguments;
    int (*run)(const kt_options *);
} kt_command;

/* What `kiln new` starts from: templates/FAMILY/new/NAME.lua, sorted, with @NAME@ in place of the
 * op's name and a line `-- @HOW@` in place of how it is checked and built.  The build writes the
 * table. */
typedef struct kt_template {
    const char *family, *name, *text;
} kt_template;
extern const kt_template kt_templates[];
extern const size_t kt_template_count;
/* Their names with this between them, and that before the last. */
const char *kt_template_names(char *text, size_t size, const char *between, const char *last);

extern const kt_command kt_commands[];
extern const size_t kt_command_count;

int cmd_list(const kt_options *);
int cmd_explain(const kt_options *);
int cmd_verify(const kt_options *);
int cmd_bench(const kt_options *);
int cmd_tune(const kt_options *);
int cmd_report(const kt_options *);
int kt_report_cost(const kt_options *);  /* report --cost: report_cost.c */
int kt_report_html(const kt_options *);  /* report --html: report_html.c */
int kt_report_trace(const kt_options *); /* report --trace: report_trace.c */
int cmd_new(const kt_options *);
int cmd_build(const kt_options *);

/* ---- shared by commands (common.c) ---- */
/* `kiln: ...` on stderr. */
void kt_message(const char *, ...) __attribute__((format(printf, 1, 2)));
/* The same with what the library says about its last failure, behind `what` unless that is NULL;
 * returns the exit code that fits the status. */
int kt_failed(kiln_status, const char *what);
/* Opens --device, else `fallback` where given (list and report need no GPU), else the best; an exit
 * code, 0 = open. */
int kt_open(const kt_options *, const char *fallback, kiln_ctx **);
int kt_open_here(const kt_options *, kiln_ctx **); /* a device that launches, no none:TARGET:UNITS */
/* Parses and resolves; an exit code. */
int kt_problem(const char *text, kiln_problem *);
enum { KT_PROBLEM_TEXT = 4096 }; /* bytes that the text of any problem fits into */
const char *kt_problem_text(const kiln_problem *, char *text, size_t size);
/* Problems of a run (problems.c). */
typedef struct kt_item {
    const char *set, *aim;     /* "" where no file names one; what the set is to show */
    const char *text, *versus; /* the problem; the one that peers are given, or NULL */
} kt_item;
typedef struct kt_problems {
    kt_item *item;
    size_t count;
    char **text; /* of the items */
    size_t texts;
} kt_problems;
/* Those of the command line and of --problems, or `otherwise`; an exit code.  Needs an open
 * context. */
int kt_problems_open(const kt_options *, const char *const *otherwise, size_t count, kt_problems *);
void kt_problems_close(kt_problems *);
/* A line of one of TunableOp's files (tunableop.c), which is cut; 1: text is its problem, 0: it has
 * none, -1: *why it cannot be used. */
int kt_tunableop(char *line, char *text, size_t size, const char **why);
kiln_status kt_describe(const kiln_kernel *, kiln_kernel_info *);
/* Instances that --op --target --schedule --dtype --instance select, sorted by name; *found is
 * malloc'ed.  Where something is selected, names that select nothing are said. */
typedef struct kt_instance {
    const kiln_kernel *kernel;
    kiln_kernel_info info;
} kt_instance;
size_t kt_select(const kt_options *, kiln_ctx *, kt_instance **found);
/* Says why nothing was selected: no modules, a filter that nothing passes, or `otherwise`. */
void kt_none(const kt_options *, kiln_ctx *, const char *otherwise);
int kt_selected(const kt_options *, const kiln_kernel_info *);
enum { KT_TYPES_TEXT = 96, KT_LAYOUTS_TEXT = KILN_MAX_LAYOUTS + 1 };
/* The types of its signature that tensors have: not a gemm's accumulator, which is the last. */
size_t kt_tensor_types(const kiln_kernel_info *);
const char *kt_types(const kiln_kernel_info *, char text[KT_TYPES_TEXT]);     /* "bf16,bf16,bf16" */
const char *kt_layouts(const kiln_kernel_info *, char text[KT_LAYOUTS_TEXT]); /* "rcr", or "" */
/* A problem without sizes for what an instance computes. */
kiln_status kt_kernel_problem(kiln_ctx *, const kiln_kernel_info *, kiln_problem *);
/* Whether an instance computes problems of the same op, types and layouts; the problem is
 * resolved. */
int kt_computes(kiln_ctx *, const kiln_kernel_info *, const kiln_problem *);

typedef enum kt_color { KT_PLAIN, KT_RED, KT_GREEN, KT_DIM } kt_color;
const char *kt_color_on(FILE *,
                        kt_color); /* "" unless the stream is a terminal and NO_COLOR is unset */
const char *kt_color_off(FILE *);

size_t kt_columns(FILE *); /* of the terminal that it is; 0: it is none (table.c) */
size_t kt_width(const char *, size_t bytes); /* columns, not bytes: names in messages are UTF-8 */

/* A table whose columns are as wide as their widest cell; numbers are aligned right (table.c). */
typedef struct kt_table kt_table;
kt_table *kt_table_open(const char *const *heads, size_t columns); /* at most 32 columns */
void kt_table_fold(kt_table *, size_t column); /* on narrow terminals a line may begin here */
void kt_cell(kt_table *, const char *, ...) __attribute__((format(printf, 2, 3))); /* row by row */
void kt_table_print(kt_table *, FILE *, int csv);
void kt_table_csv_row(const kt_table *, size_t row, FILE *); /* 0: the heads */
size_t kt_table_rows(const kt_table *);                      /* the heads among them */
void kt_table_close(kt_table *);
#endif
