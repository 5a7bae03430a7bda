// SPDX-License-Identifier: MIT
// The kiln command: options are parsed here, once for all commands, from one table.
#define _GNU_SOURCE
#include "command.h"
#include <errno.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    KEY_JSON = 256,
    KEY_CSV,
    KEY_OP,
    KEY_TARGET,
    KEY_SCHEDULE,
    KEY_DTYPE,
    KEY_ALL,
    KEY_INSTANCE,
    KEY_QUICK,
    KEY_SEED,
    KEY_PEER,
    KEY_SECONDS,
    KEY_IDLE,
    KEY_REPLAY,
    KEY_THREADS,
    KEY_TEMPLATE,
    KEY_FOLDER,
    KEY_COST,
    KEY_PROBLEMS,
    KEY_SET,
    KEY_BUDGET,
    KEY_SHUFFLE,
    KEY_MODULES,
    KEY_REPLACE,
    KEY_VERBOSE,
    KEY_TUNABLEOP,
    KEY_SHARD,
    KEY_PRUNE,
    KEY_DRY_RUN,
    KEY_MERGE,
    KEY_RESUME,
    KEY_WIDE,
    KEY_HTML,
    KEY_TUNED,
    KEY_PLOT,
    KEY_FROM,
    KEY_TRACE
};

/* ---- options ---- */
/* An option of a command: name, key, argument or NULL, help. */
#define OPTION(name, key, argument, text)                                                          \
    {                                                                                              \
        name, key, argument, 0, text, 0                                                            \
    }
#define OPT_DEVICE                                                                                 \
    OPTION("device", 'd', "D",                                                                     \
           "host, amd[:i], nvidia[:i] or sim:gfx942; default: KILN_DEVICE, else the best")
#define OPT_MODULES                                                                                \
    OPTION("modules", KEY_MODULES, "DIRS",                                                         \
           "only the modules in these folders, ':' between; not Kiln's own, not KILN_MODULE_PATH")
#define OPT_JSON     OPTION("json", KEY_JSON, NULL, "print JSON")
#define OPT_CSV      OPTION("csv", KEY_CSV, NULL, "print CSV")
#define OPT_OP       OPTION("op", KEY_OP, "X", "only instances of op X")
#define OPT_TARGET   OPTION("target", KEY_TARGET, "T", "only instances of target T")
#define OPT_SCHEDULE OPTION("schedule", KEY_SCHEDULE, "S", "only instances of schedule S")
#define OPT_DTYPE    OPTION("dtype", KEY_DTYPE, "TYPE", "only instances with a tensor of this type")
#define OPT_INSTANCE OPTION("instance", KEY_INSTANCE, "NAME", "only this instance")
#define OPT_SEED     OPTION("seed", KEY_SEED, "N", "seed of the inputs; default: a fresh one, printed")
#define OPT_THREADS                                                                                \
    OPTION("threads", KEY_THREADS, "N", "threads of the host device and of host peers")
#define OPT_SECONDS                                                                                \
    OPTION("seconds", KEY_SECONDS, "S", "time to spend on each implementation; default 1")
#define OPT_PROBLEMS                                                                               \
    OPTION("problems", KEY_PROBLEMS, "FILE", "problems from FILE, one a line, in [sets]")
#define OPT_SET  OPTION("set", KEY_SET, "NAME", "only the sets of FILE that match this pattern")
#define OPT_IDLE OPTION("idle", KEY_IDLE, "S", "pause before each replay; default 0.04, 0: none")

static const struct argp_option list_options[] = {OPT_OP,       OPT_TARGET, OPT_SCHEDULE, OPT_DTYPE,
                                                  OPT_INSTANCE, OPT_JSON,   OPT_MODULES,  {0}};
static const struct argp_option explain_options[] = {
    {"all", KEY_ALL, NULL, 0, "list the instances of other targets, too", 0},
    {"wide", KEY_WIDE, NULL, 0, "on a terminal, too: whole names, a line each", 0},
    OPT_JSON,
    OPT_DEVICE,
    OPT_THREADS,
    OPT_MODULES,
    {0}};
static const struct argp_option verify_options[] = {
    {"all", KEY_ALL, NULL, 0, "every instance that runs on the device, adversarial shapes", 0},
    {"quick", KEY_QUICK, NULL, 0, "fewer and smaller shapes", 0},
    OPT_OP,
    OPT_SCHEDULE,
    OPT_DTYPE,
    OPT_INSTANCE,
    OPT_SEED,
    OPT_DEVICE,
    OPT_THREADS,
    OPT_MODULES,
    {0}};
static const struct argp_option bench_options[] = {
    {"peer", KEY_PEER, "P", 0,
     "also time openblas, memory, cublaslt or hipblaslt, or all that fit the device", 0},
    OPT_PROBLEMS,
    OPT_SET,
    {"all", KEY_ALL, NULL, 0, "time every legal instance and list them, fastest first", 0},
    OPT_INSTANCE,
    OPT_SECONDS,
    {"budget", KEY_BUDGET, "S", 0,
     "time for everything: shortens --seconds where needed, and ends the run", 0},
    {"shuffle", KEY_SHUFFLE, "N", 0, "take the problems in the random order of this seed", 0},
    OPT_IDLE,
    {"replay", KEY_REPLAY, "S", 0, "length of a replay; default 0.006", 0},
    {"csv", KEY_CSV, "FILE", OPTION_ARG_OPTIONAL, "print CSV, or write it to FILE", 0},
    OPT_JSON,
    {"plot", KEY_PLOT, "FILE", 0, "also draw the results, as SVG", 0},
    {"from", KEY_FROM, "RESULTS", 0,
     "with --plot: draw what an earlier run wrote, CSV or JSON, and time nothing", 0},
    OPT_SEED,
    OPT_DEVICE,
    OPT_THREADS,
    OPT_MODULES,
    {0}};
static const struct argp_option tune_options[] = {
    {"output", 'o', "FILE", 0,
     "tuning file to write or to add to, problem by problem; default: standard output", 0},
    {"replace", KEY_REPLACE, NULL, 0, "drop the rows that FILE has, instead of adding to them", 0},
    {"resume", KEY_RESUME, NULL, 0, "leave out the problems that FILE has a row of", 0},
    OPT_PROBLEMS,
    OPT_SET,
    {"from-tunableop", KEY_TUNABLEOP, "FILE", 0,
     "shapes that PyTorch's TunableOp wrote, as problems of gemm", 0},
    {"shard", KEY_SHARD, "I/N", 0, "only the I-th of N parts of the problems", 0},
    {"prune", KEY_PRUNE, "X", 0,
     "do not time what is modelled above X times the best; default 3, 0: time all", 0},
    {"dry-run", KEY_DRY_RUN, NULL, 0, "print the problems, and tune nothing", 0},
    {"merge", KEY_MERGE, NULL, 0, "put the rows of tuning files into one, the best of each problem",
     0},
    OPT_SECONDS,
    OPT_IDLE,
    OPT_SEED,
    OPT_DEVICE,
    OPT_THREADS,
    OPT_MODULES,
    {0}};
static const struct argp_option report_options[] = {
    {"cost", KEY_COST, NULL, 0, "run each on the simulator and print what that costs", 0},
    {"html", KEY_HTML, "FILE", 0, "write a page of the registry, to look at in a browser", 0},
    {"tuned", KEY_TUNED, "FILE", 0,
     "times for the page, from this tuning file; default: those of KILN_TUNING", 0},
    {"trace", KEY_TRACE, "FILE", 0,
     "run one on the simulator and write the timeline of a workgroup, for Perfetto", 0},
    OPT_PROBLEMS,
    OPT_SET,
    OPT_OP,
    OPT_TARGET,
    OPT_SCHEDULE,
    OPT_DTYPE,
    OPT_INSTANCE,
    OPT_JSON,
    OPT_CSV,
    OPT_DEVICE,
    OPT_MODULES,
    {0}};
static const struct argp_option new_options[] = {
    {"template", KEY_TEMPLATE, "T", 0, "what to start from; default bias", 0},
    {"folder", KEY_FOLDER, "DIR", 0, "where to put it; default instances", 0},
    {0}};
static const struct argp_option build_options[] = {
    {"target", KEY_TARGET, "T", 0,
     "for this target; default: the host, gfx942, this machine's GPU, and what was built before",
     0},
    {"op", KEY_OP, "X", 0, "only op X of the folder; default: all", 0},
    {"output", 'o', "OUT", 0, "folder of the modules; default DIR/build", 0},
    {"jobs", 'j', "N", 0, "compilers at a time; default: one for each processor", 0},
    {"verbose", KEY_VERBOSE, NULL, 0, "print the commands", 0},
    {0}};

/* ---- commands ---- */
const kt_command kt_commands[] = {
    {"list", "", "the instances in all modules",
     "Examples:\n"
     "  kiln list --op bias_relu\n"
     "  kiln list --target gfx942 --dtype i8 --json\n",
     list_options, 0, 0, cmd_list},
    {"explain", "PROBLEM", "every candidate for a problem, and why it won or lost",
     "Examples:\n"
     "  kiln explain 'bias_relu bf16,bf16,bf16 rcr m=512 n=11008 k=4096 align=256'\n"
     "  kiln explain --device amd 'gemm f16,f16,f16 rcr m=64 n=64 k=64 align=16'\n"
     "  kiln explain --device none:sm_90a:132 'gemm f16,f16,f16 rcr m=64 n=64 k=64 align=16'\n\v"
     "--device none:TARGET:UNITS: a device with so many units that is not here.  "
     "Instances of other targets are counted in one line; --all lists them.  "
     "Without align= a problem promises an element's own alignment only; the last line says what "
     "align=256, which allocated memory has, would change.",
     explain_options, 1, 1, cmd_explain},
    {"verify", "PROBLEM... | --all",
     "run instances and compare with the double-precision reference",
     "Examples:\n"
     "  kiln verify --all --device host\n"
     "  kiln verify 'bias_relu bf16,bf16,bf16 rcr m=512 n=11008 k=4096'\n"
     "  kiln verify --all --op swiglu --quick --seed 7\n\v"
     "Inputs are random, outputs, workspace and padding are poisoned, every buffer lies between "
     "guard "
     "bands, and each "
     "instance runs twice.  Large problems are compared on a sample of rows and columns that "
     "includes the edges.  "
     "The last line is `N passed, N failed`.",
     verify_options, 0, 1000, cmd_verify},
    {"bench", "[PROBLEM...]", "time the chosen instance, beside vendor libraries",
     "Examples:\n"
     "  kiln bench --peer all 'bias_relu bf16,bf16,bf16 rcr m=512 n=11008 k=4096'\n"
     "  kiln bench --device host --threads 1 --peer openblas --csv 'gemm f32,f32,f32 rcr m=1024 "
     "n=1024 k=1024'\n"
     "  kiln bench --peer cublaslt --problems docs/benchmarks/h200.problems --set 'm*' "
     "--csv=h200.csv\n"
     "  kiln bench --plot h200.svg --from h200.csv\n\v"
     "Random inputs in several sets that together exceed the last-level cache; implementations are "
     "replayed in turn, "
     "each replay of about 6 ms after a pause; medians.  `ratio` is that row's time over Kiln's; "
     "`spread` is "
     "the distance between the 10th and the 90th percentile, as a share of the median.  Without a "
     "problem the main ones are "
     "timed.  One that says nothing of alignment has align=256.  A problem written `X vs Y` has "
     "Kiln compute X and the peers Y.  Of a file of "
     "problems "
     "each set is summed up: geometric mean, least and greatest ratio to the fastest peer that "
     "does "
     "all of the work.  Peers that cannot fuse an op are followed by a row-wise kernel of Kiln's, "
     "of an op of instances/elementwise.lua.  --plot draws a roofline under what was measured at "
     "most, for which it times a large product of each type and a copy ahead of the problems, and "
     "for each layer the time over its size.",
     bench_options, 0, 1000, cmd_bench},
    {"tune", "[PROBLEM... | --merge FILE...]", "time legal instances and write a tuning file",
     "Examples:\n"
     "  kiln tune -o tuning.csv 'bias_relu bf16,bf16,bf16 rcr m=512 n=11008 k=4096'\n"
     "  KILN_TUNING=tuning.csv ./my_program\n"
     "  KILN_LOG=problems:run.problems ./my_program && kiln tune -o tuning.csv --problems "
     "run.problems\n"
     "  kiln tune -o tuning.csv --from-tunableop tunableop_untuned0.csv\n"
     "  kiln tune -o part1.csv --problems run.problems --shard 1/2\n"
     "  kiln tune --merge part1.csv part2.csv -o tuning.csv\n\v"
     "A problem that says nothing of alignment is tuned with align=256, which allocated memory "
     "has.  A row decides for problems of its shape, and of shapes near it, that its instance can "
     "compute, whatever their alignment; among rows of a shape the one of the same alignment comes "
     "first.  Each row is in the file as soon as it is known; rows that the file has stay, unless "
     "--replace says otherwise or their problem is tuned again.",
     tune_options, 0, 1000, cmd_tune},
    {"report", "[PROBLEM]", "registers, LDS, scratch, spills and occupancy from the code objects",
     "Examples:\n"
     "  kiln report --target gfx942\n"
     "  kiln report --target gfx942 --op bias_relu --json\n"
     "  kiln report --cost --device sim:gfx942 --op bias_relu\n"
     "  kiln report --html kiln.html --tuned tuning.csv\n"
     "  kiln report --trace trace.json --device sim:gfx942 'bias_relu bf16,bf16,bf16 rcr m=256 "
     "n=256 "
     "k=512'\n\v"
     "Needs no GPU.  `waves` is how many waves (warps) can be resident on one SIMD of AMD, one SM "
     "of NVIDIA, and "
     "`limit` says what keeps it from being more.  With --cost each instance runs once on the "
     "simulator, on a few whole tiles of its own: instructions of all waves by kind, cycles of "
     "matrix units and LDS, 64-byte segments of memory, and a compute unit's time as modelled.  "
     "--html writes one file that needs nothing else: instances to filter and sort, and of each op "
     "its "
     "expression, its tensors and what decides for problems, of common sizes and of --problems, on "
     "the machine of each target's description or on --device.  With --cost it has those figures, "
     "too.  "
     "With --trace a PROBLEM's instance, or one --instance, runs once there, and FILE has each "
     "instruction of one of its workgroups, when its wave came to it and for how long it kept its "
     "unit busy, in cycles of that model, as a trace for https://ui.perfetto.dev.",
     report_options, 0, 1, cmd_report},
    {"new", "NAME", "start an instance file for a new op",
     "Examples:\n"
     "  kiln new my_op\n"
     "  kiln new my_gate --template gated --folder ~/ops\n",
     new_options, 1, 1, cmd_new},
    {"build", "DIR", "compile a folder of instance files into modules",
     "Examples:\n"
     "  kiln build ~/my_ops\n"
     "  kiln build ~/my_ops --target host --target gfx942 -o /tmp/modules\n"
     "  KILN_MODULE_PATH=~/my_ops/build ./my_program\n\v"
     "make does it, which has to be there, like gcc or the compiler that CC names, and for GPUs "
     "hipcc.  Nothing but OUT is written to: modules, what was generated in OUT/gen, and which "
     "compilers there are in OUT/toolchain.  Only what is out of date is compiled.  Without --op a "
     "module holds all that the folder describes.",
     build_options, 1, 1, cmd_build},
};
const size_t kt_command_count = sizeof kt_commands / sizeof *kt_commands;

static const char exit_codes[] = "Exit codes: 0 done, all passed; 1 something failed or was not "
                                 "found; 2 wrong usage, or a file could not be read or "
                                 "written; 77 the device is not there.";

/* ---- parsing ---- */
typedef struct parse {
    const kt_command *command;
    kt_options options;
    unsigned given; /* bits of the command's options */
} parse;

static int number(const char *text, double lo, double hi, double *out)
{
    char *end;
    errno = 0;
    *out = strtod(text, &end);
    return !errno && end != text && !*end && *out >= lo && *out <= hi;
}

static uint64_t seed_of(const char *text, struct argp_state *state)
{
    char *end;
    errno = 0;
    const unsigned long long v = strtoull(text, &end, 10);
    if (errno || end == text || *end || *text == '-') argp_error(state, "'%s' is not a seed", text);
    return v;
}

static error_t parse_number(int key, const char *arg, struct argp_state *state, kt_options *o)
{
    double v;
    const int count = key == KEY_THREADS || key == 'j';
    const double hi = count ? 4096 : 3600, lo = count;
    if (!number(arg, lo, hi, &v))
        argp_error(state, "'%s' is not a number from %g to %g", arg, lo, hi);
    if (key == KEY_THREADS)
        o->threads = (int)v;
    else if (key == 'j')
        o->jobs = (long)v;
    else if (key == KEY_SECONDS)
        o->seconds = v;
    else if (key == KEY_BUDGET)
        o->budget = v;
    else if (key == KEY_REPLAY)
        o->replay = v;
    else if (key == KEY_PRUNE) {
        if (v > 0 && v < 1)
            argp_error(state,
                       "--prune %s would leave out the best, too: 0 leaves out nothing, 1 "
                       "all that is modelled slower",
                       arg);
        o->prune = v, o->has_prune = 1;
    } else
        o->idle = v > 0 ? v : -1;
    return 0;
}

/* Options that only set a text or a flag, and where. */
static const struct simple {
    int key;
    enum { TEXT, FLAG, NAMES } kind; /* names: may be given several times */
    size_t offset;
} simple[] = {
    {'d', TEXT, offsetof(kt_options, device)},
    {'o', TEXT, offsetof(kt_options, output)},
    {KEY_JSON, FLAG, offsetof(kt_options, json)},
    {KEY_OP, NAMES, offsetof(kt_options, op)},
    {KEY_TARGET, NAMES, offsetof(kt_options, target)},
    {KEY_SCHEDULE, NAMES, offsetof(kt_options, schedule)},
    {KEY_DTYPE, NAMES, offsetof(kt_options, dtype)},
    {KEY_ALL, FLAG, offsetof(kt_options, all)},
    {KEY_INSTANCE, NAMES, offsetof(kt_options, instance)},
    {KEY_QUICK, FLAG, offsetof(kt_options, quick)},
    {KEY_PEER, TEXT, offsetof(kt_options, peer)},
    {KEY_TEMPLATE, TEXT, offsetof(kt_options, template)},
    {KEY_FOLDER, TEXT, offsetof(kt_options, folder)},
    {KEY_COST, FLAG, offsetof(kt_options, cost)},
    {KEY_REPLACE, FLAG, offsetof(kt_options, replace)},
    {KEY_VERBOSE, FLAG, offsetof(kt_options, verbose)},
    {KEY_RESUME, FLAG, offsetof(kt_options, resume)},
    {KEY_WIDE, FLAG, offsetof(kt_options, wide)},
    {KEY_HTML, TEXT, offsetof(kt_options, html)},
    {KEY_TUNED, NAMES, offsetof(kt_options, tuned)},
    {KEY_DRY_RUN, FLAG, offsetof(kt_options, dry_run)},
    {KEY_MERGE, FLAG, offsetof(kt_options, merge)},
    {KEY_TUNABLEOP, TEXT, offsetof(kt_options, tunableop)},
    {KEY_SHARD, TEXT, offsetof(kt_options, shard)},
    {KEY_PROBLEMS, TEXT, offsetof(kt_options, problems)},
    {KEY_SET, TEXT, offsetof(kt_options, set)},
    {KEY_MODULES, TEXT, offsetof(kt_options, modules)},
    {KEY_PLOT, TEXT, offsetof(kt_options, plot)},
    {KEY_FROM, TEXT, offsetof(kt_options, from)},
    {KEY_TRACE, TEXT, offsetof(kt_options, trace)},
};

static const struct simple *simple_of(int key)
{
    for (size_t i = 0; i < sizeof simple / sizeof *simple; i++)
        if (simple[i].key == key) return &simple[i];
    return NULL;
}

static void parse_simple(const struct simple *s, const char *arg, kt_options *o,
                         struct argp_state *state)
{
    char *to = (char *)o + s->offset;
    kt_names *names = (kt_names *)to;
    switch (s->kind) {
    case FLAG:
        memcpy(to, &(int){1}, sizeof(int));
        break;
    case TEXT:
        memcpy(to, &arg, sizeof arg);
        break;
    case NAMES:
        if (names->count == KT_MOST_NAMES)
            argp_error(state, "more than %d names for one option", KT_MOST_NAMES);
        names->name[names->count++] = arg;
        break;
    }
}

/* An option that takes one value has no second one: which of the two was meant is not known. */
static void check_once(parse *p, int key, struct argp_state *state)
{
    const struct argp_option *o = p->command->options;
    for (size_t i = 0; o[i].name; i++) {
        if (o[i].key != key) continue;
        if (o[i].arg && p->given & 1u << i) argp_error(state, "--%s is given twice", o[i].name);
        p->given |= 1u << i;
    }
}

static void check_arguments(const parse *p, struct argp_state *state)
{
    const kt_options *o = &p->options;
    if (o->arguments < p->command->min_arguments)
        argp_error(state, "%s is missing", p->command->usage);
    if (o->arguments > p->command->max_arguments)
        argp_error(state, "'%s' is one argument too many", o->argument[p->command->max_arguments]);
    if (o->json && o->csv) argp_error(state, "--json and --csv exclude each other");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    parse *p = state->input;
    kt_options *o = &p->options;
    const struct simple *s = simple_of(key);
    if (!s || s->kind != NAMES) check_once(p, key, state);
    if (s) {
        parse_simple(s, arg, o, state);
        return 0;
    }
    switch (key) {
    case KEY_SEED:
        o->seed = seed_of(arg, state);
        o->has_seed = 1;
        return 0;
    case KEY_SHUFFLE:
        o->shuffle = seed_of(arg, state);
        o->has_shuffle = 1;
        return 0;
    case KEY_CSV:
        o->csv = 1;
        o->csv_file = arg;
        return 0;
    case KEY_SECONDS:
    case KEY_BUDGET:
    case KEY_IDLE:
    case KEY_REPLAY:
    case KEY_PRUNE:
    case KEY_THREADS:
    case 'j':
        return parse_number(key, arg, state, o);
    case ARGP_KEY_ARGS:
        o->argument = state->argv + state->next;
        o->arguments = state->argc - state->next;
        return 0;
    case ARGP_KEY_END:
        check_arguments(p, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN; /* a single argument, too: ARGP_KEY_ARGS follows with all */
    }
}

/* The names of templates are the build's. */
static char *help_text(int key, const char *text, void *input)
{
    char names[1024], *more = NULL;
    (void)input;
    if (key != KEY_TEMPLATE || !text) return (char *)(uintptr_t)text;
    if (asprintf(&more, "%s; default bias", kt_template_names(names, sizeof names, ", ", " or ")) <
        0)
        return (char *)(uintptr_t)text;
    return more;
}

static int run_command(const kt_command *c, int argc, char **argv)
{
    char name[64], doc[4096];
    parse p = {.command = c};
    const char *rest = strchr(c->help, '\v');
    snprintf(name, sizeof name, "kiln %s", c->name);
    snprintf(doc, sizeof doc, "\n%c%s: %s.\n\n%.*s\v%s%s%s", c->name[0] - 'a' + 'A', c->name + 1,
             c->summary, rest ? (int)(rest - c->help) : (int)strlen(c->help), c->help,
             rest ? rest + 1 : "", rest ? "\n\n" : "", exit_codes);
    const struct argp argp = {c->options, parse_option, c->usage, doc, NULL, help_text, NULL};
    argv[0] = name;
    const error_t wrong = argp_parse(&argp, argc, argv, 0, NULL, &p);
    return wrong ? EXIT_USAGE : c->run(&p.options);
}

/* ---- help and completion ---- */
static void print_help(FILE *f)
{
    fputs("Usage: kiln COMMAND [OPTION...] [ARGUMENT...]\n\n"
          "  kiln list --op bias_relu\n"
          "  kiln explain 'bias_relu bf16,bf16,bf16 rcr m=512 n=11008 k=4096'\n"
          "  kiln verify --all --device host\n"
          "  kiln bench --peer all 'gemm f32,f32,f32 rcr m=1024 n=1024 k=1024'\n\nCommands:\n",
          f);
    for (size_t i = 0; i < kt_command_count; i++)
        fprintf(f, "  %-8s  %s\n", kt_commands[i].name, kt_commands[i].summary);
    fprintf(
        f,
        "\nkiln COMMAND --help says more about one.  kiln --version, kiln --completion prints "
        "a bash completion.\n%s\n"
        "Environment: KILN_DEVICE, KILN_MODULE_PATH, KILN_TUNING, KILN_TUNE, KILN_LOG, NO_COLOR.\n",
        exit_codes);
}

static void print_completion(void)
{
    char names[1024];
    puts("# SPDX-License-Identifier: MIT\n"
         "# bash completion for kiln; written by `kiln --completion`\n"
         "_kiln() {\n"
         "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n"
         "    if ((COMP_CWORD == 1)); then");
    printf("        words='");
    for (size_t i = 0; i < kt_command_count; i++) printf("%s ", kt_commands[i].name);
    puts("--help --version'\n    else\n"
         "        case $before in\n"
         "        --device|-d) words='host amd nvidia sim:gfx942' ;;\n"
         "        --peer) words='all openblas memory cublaslt hipblaslt' ;;");
    printf("        --template) words='%s' ;;\n", kt_template_names(names, sizeof names, " ", " "));
    puts("        --op) words=$(command kiln list --json 2>/dev/null | sed -n 's/.*\"op\": "
         "\"\\([a-z0-9_]*\\)\".*/\\1/p' | sort -u) ;;\n"
         "        "
         "--folder|--modules|--output|-o|--problems|--from-tunableop|--html|--tuned|--trace|--plot|"
         "--from) "
         "mapfile -t COMPREPLY < <(compgen -f -- \"$word\"); return ;;\n"
         "        *)\n"
         "            case ${COMP_WORDS[1]} in");
    for (size_t i = 0; i < kt_command_count; i++) {
        printf("            %s) words='", kt_commands[i].name);
        for (const struct argp_option *o = kt_commands[i].options; o->name; o++)
            printf("--%s ", o->name);
        puts("--help' ;;");
    }
    puts("            esac ;;\n"
         "        esac\n"
         "    fi\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
         "}\n"
         "complete -F _kiln kiln");
}

/* Whatever ends the program, argp's help too: what could not be written is said.  A stream that
 * was closed from the start harms nobody who writes nothing. */
static void close_stdout(void)
{
    const int failed = ferror(stdout), pending = __fpending(stdout) > 0;
    errno = 0;
    if (!fclose(stdout) && !failed) return;
    if (!failed && !pending && errno == EBADF) return;
    kt_message("standard output: %s", errno ? strerror(errno) : "not all of it could be written");
    _exit(EXIT_USAGE);
}

int main(int argc, char **argv)
{
    atexit(close_stdout);
    argp_err_exit_status = EXIT_USAGE;
    setenv("ARGP_HELP_FMT", "rmargin=110", 0); /* examples are longer than argp's 79 columns */
    const char *name = argc > 1 ? argv[1] : "";
    for (size_t i = 0; i < kt_command_count; i++)
        if (!strcmp(name, kt_commands[i].name))
            return run_command(&kt_commands[i], argc - 1, argv + 1);
    if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help"))
        print_help(stdout);
    else if (!strcmp(name, "--version") || !strcmp(name, "-V"))
        printf("kiln %s\n", kiln_version());
    else if (!strcmp(name, "--completion"))
        print_completion();
    else {
        if (*name)
            kt_message("'%s' is not a command; `kiln --help` lists them", name);
        else
            print_help(stderr);
        return EXIT_USAGE;
    }
    return EXIT_PASS;
}
