// SPDX-License-Identifier: MIT
// How long kiln_find and kiln_open take on a registry of 10,000 rows: writes such a module,
// compiles and seals it, opens it and prints nanoseconds per find with one and two threads,
// allocations per find, nanoseconds per launch of an empty kernel, and milliseconds per open, with
// and without a tuning file of 100,000 rows: medians, each time over the core's pace around it
// (pace.h). As a gate (--check) it prints TAP: 150 ns, 1 us, 5 ms and 50 ms more, times
// KILN_BENCH_SLACK (2).
#define _GNU_SOURCE
#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include "../unit/fixture_families.h"
#include "../unit/runtime_test.h"
#include "pace.h"

enum {
    OPS = 500,
    KEYS = 5,
    INSTANCES = 4,
    ROWS = OPS * KEYS * INSTANCES,
    PROBLEMS = 512,
    TUNED = 100000,
    FINDS = 100000,
    LAUNCHES = 50000,
    REPEATS = 21
};

/* ---- the module ---- */
static char strings[1 << 20];
static uint32_t strings_size = 1;

static kiln_str put(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const kiln_str at = strings_size;
    strings_size += 1 + (uint32_t)vsnprintf(strings + at, sizeof strings - at, format, args);
    va_end(args);
    return at;
}

static const uint8_t types[KEYS] = {KILN_F32, KILN_F16, KILN_BF16, KILN_I8, KILN_F8E4M3};
static kiln_family family;
static kiln_op_row ops[OPS];
static kiln_row rows[ROWS];

static int by_key(const void *x, const void *y)
{
    const kiln_row *a = x, *b = y;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return strcmp(strings + a->name, strings + b->name);
}

static void fill_row(kiln_row *r, int op, int key, int instance)
{
    const uint8_t type = types[key], acc = type == KILN_I8 ? KILN_I32 : KILN_F32;
    *r = (kiln_row){.op = (uint32_t)op,
                    .sig = {type, type, type, acc, KILN_ROW, KILN_COL, KILN_ROW},
                    .t = {16 << instance, 10 * instance}};
    const char *name = kiln_dtype_name((kiln_dtype)type);
    r->name = put("host/fused_op_%03d/%s_%s_%s/rcr/plain_%dx%d", op, name, name, name,
                  16 << instance, 16 << instance);
    r->key = kiln_key_of(kiln_name_hash(strings + ops[op].name), r->sig, 7);
}

static void write_source(void)
{
    static const char source[] =
        "#include <kiln.h>\n#include <kiln_module.h>\n"
        "#define BIN(name) __asm__(\".section .rodata\\n.balign 64\\n\" #name \": .incbin \\\"\" "
        "#name \".bin\\\"\\n"
        ".byte 0\\n.text\\n\"); extern const char name[] __attribute__((visibility(\"hidden\")))\n"
        "BIN(rows); BIN(ops); BIN(families); BIN(strings);\n"
        "static uint32_t check(const kiln_shape *s, const int32_t *t) { return t[0] > 16 && "
        "s->size[2] % 8 ? 1 : 0; }\n"
        "static void plan(const kiln_shape *s, const int32_t *t, kiln_plan *p) { (void)s; (void)t; "
        "p->stages = 1; }\n"
        "static uint64_t workspace(const kiln_shape *s, const int32_t *t) { (void)s; (void)t; "
        "return 0; }\n"
        "static double cost(const kiln_shape *s, const int32_t *t)\n"
        "{ return (double)((s->size[0] + t[0] - 1) / t[0] * ((s->size[1] + t[0] - 1) / t[0])) * "
        "t[0] + t[1]; "
        "}\n"
        "static const kiln_str rule[] = { SCHEDULE }, slot[] = { SCHEDULE, SCHEDULE };\n"
        "static const kiln_schedule schedule = { SCHEDULE, 1, rule, 2, 2, slot, check, plan, "
        "workspace, cost };\n"
        "static void run(const void *a, kiln_each each) { (void)a, (void)each; }\n"
        "static const kiln_host_fn fn[] = { run };\n"
        "static const kiln_xnode node = { KILN_X_ACC, 0, { 0 }, 0 };\n"
        "__attribute__((visibility(\"default\"))) const kiln_module kiln_module_table = {\n"
        "    .magic = KILN_MODULE_MAGIC, .abi_version = KILN_ABI_VERSION, .size = "
        "sizeof(kiln_module),\n"
        "    .row_size = sizeof(kiln_row), .op_size = sizeof(kiln_op_row), .family_size = "
        "sizeof(kiln_family), .nfamilies = 1, .families = (const kiln_family *)families, .target = "
        "TARGET, "
        ".version = VERSION,\n"
        "    .id = 7, .nrows = ROWS, .nops = OPS, .nschedules = 1, .nnodes = 1, .nhost_fns = 1,\n"
        "    .strings_size = STRINGS, .rows = (const kiln_row *)rows, .ops = (const kiln_op_row "
        "*)ops,\n"
        "    .schedules = &schedule, .nodes = &node, .host_fns = fn, .strings = strings };\n";
    write_bytes("module.c", source, sizeof source - 1);
}

static void make_module(void)
{
#define X(name, text) const kiln_str name = put(text);
    GEMM_STRINGS(X)
#undef X
#define S(name) name
    family = (kiln_family)GEMM_FAMILY;
    const kiln_str target = put("host"), version = put(KILN_VERSION), schedule = put("plain");
    for (int op = 0; op < OPS; op++)
        ops[op] = (kiln_op_row){.hash = (uint64_t)op,
                                .name = put("fused_op_%03d", op),
                                .products = 1,
                                GEMM_TYPES,
                                .ntensors = 3,
                                .tensor = {GEMM_A, GEMM_B(f_big_b, 0), GEMM_E(0)},
                                .function = {{0, 1}}};
    for (int i = 0; i < ROWS; i++)
        fill_row(&rows[i], i / (KEYS * INSTANCES), i / INSTANCES % KEYS, i % INSTANCES);
    qsort(rows, ROWS, sizeof *rows, by_key);
    write_bytes("rows.bin", rows, sizeof rows);
    write_bytes("ops.bin", ops, sizeof ops);
    write_bytes("families.bin", &family, sizeof family);
    write_bytes("strings.bin", strings, strings_size);
    write_source();
    char command[1000], path[400];
    const char *cc = getenv("CC");
    snprintf(command, sizeof command,
             "cd '%s' && %s -std=gnu11 -O2 -fPIC -shared -I'%s/abi' -I'%s/runtime' -DTARGET=%u "
             "-DVERSION=%u -DSCHEDULE=%u -DROWS=%d -DOPS=%d -DSTRINGS=%u -o module.so module.c",
             test_folder, cc ? cc : "cc", KILN_TEST_ROOT, KILN_TEST_ROOT, target, version, schedule,
             ROWS, OPS, strings_size);
    if (system(command)) {
        fprintf(stderr, "find_bench: no module without a C compiler\n");
        exit(77);
    }
    snprintf(path, sizeof path, "%s/module.so", test_folder);
    bytes b = read_bytes(path);
    seal_bytes(&b);
    write_bytes("libkiln-host.so", b.p, b.size);
    free(b.p);
}

/* ---- timing ---- */
typedef double (*timed)(const void *with); /* seconds that what is timed takes once */

static int by_value(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* The median of so many, each over the pace before and behind it. */
static double median(timed run, const void *with)
{
    double ratio[REPEATS], before = pace();
    for (int i = 0; i < REPEATS; i++) {
        const double seconds = run(with), behind = pace();
        ratio[i] = seconds / ((before + behind) / 2);
        before = behind;
    }
    qsort(ratio, REPEATS, sizeof *ratio, by_value);
    return ratio[REPEATS / 2];
}

static kiln_ctx *ctx;
static kiln_problem problems[PROBLEMS];

/* Like an inference server: many problems, each asked again and again. */
static void make_problems(void)
{
    for (int i = 0; i < PROBLEMS; i++) {
        kiln_problem *p = &problems[i];
        *p = (kiln_problem){
            .struct_size = sizeof *p, .m = 1 + i, .n = 4096 + 64 * (i % 7), .k = 1024};
        snprintf(p->op, sizeof p->op, "fused_op_%03d", i * 37 % OPS);
        p->a.dtype = p->b.dtype = p->e.dtype = (kiln_dtype)types[i % KEYS];
        p->a.layout = p->e.layout = KILN_ROW;
        p->b.layout = KILN_COL;
    }
}

static void *find_all(void *seconds)
{
    const kiln_kernel *k;
    const double start = pace_now();
    for (int i = 0; i < FINDS; i++)
        if (kiln_find(ctx, &problems[i % PROBLEMS], &k)) abort();
    *(double *)seconds = pace_now() - start;
    return NULL;
}

/* Of so many threads at once, the slowest. */
static double find_seconds(const void *threads)
{
    const int n = *(const int *)threads;
    pthread_t id[2];
    double seconds[2] = {0}, worst = 0;
    for (int t = 0; t < n; t++) pthread_create(&id[t], NULL, find_all, &seconds[t]);
    for (int t = 0; t < n; t++) pthread_join(id[t], NULL);
    for (int t = 0; t < n; t++) worst = fmax(worst, seconds[t]);
    return worst;
}

static double find_ns(int threads)
{
    return median(find_seconds, &threads) * 1e9 / FINDS;
}

/* What a launch costs before the kernel: checks, arguments, plan.  The module's kernel is empty. */
static double launch_seconds(const void *unused)
{
    static float a[64], b[64], e[64];
    kiln_problem p;
    const kiln_kernel *k;
    const kiln_args args = {.struct_size = sizeof args, .a = a, .b = {b}, .e = e};
    (void)unused;
    if (kiln_problem_parse("fused_op_001 f32,f32,f32 rcr m=8 n=8 k=8", &p) ||
        kiln_find(ctx, &p, &k))
        abort();
    const double start = pace_now();
    for (int i = 0; i < LAUNCHES; i++)
        if (kiln_launch(ctx, k, &p, &args, NULL)) abort();
    return pace_now() - start;
}

static double open_seconds(const void *tuning)
{
    kiln_config config = test_config("host");
    config.tuning = tuning;
    const double start = pace_now();
    if (kiln_open(&ctx, &config)) {
        fprintf(stderr, "find_bench: %s\n", kiln_error());
        exit(1);
    }
    const double seconds = pace_now() - start;
    if (kiln_refused_at(ctx, 0)) {
        fprintf(stderr, "find_bench: %s\n", kiln_refused_at(ctx, 0));
        exit(1);
    }
    kiln_close(ctx);
    return seconds;
}

/* A row for each of 40 shapes of each key, a third of them of the problems that are found. */
static void write_tuning(const char *path)
{
    kiln_device_info dev = {.struct_size = sizeof dev};
    static uint32_t instance[OPS * KEYS];
    FILE *f = fopen(path, "w");
    ctx = open_ctx("host");
    if (!f || kiln_device_describe(ctx, &dev)) abort();
    fprintf(f,
            "Validator,KILN_VERSION,%s\nValidator,TARGET,host\nValidator,DEVICE,\"%s\"\n"
            "Validator,UNITS,%d\n",
            KILN_VERSION, dev.name, dev.units);
    for (int i = 0; i < TUNED; i++) {
        const int key = i % (OPS * KEYS), shape = i / (OPS * KEYS);
        const char *type = kiln_dtype_name((kiln_dtype)types[key % KEYS]);
        char name[128];
        const kiln_kernel *k;
        snprintf(name, sizeof name, "host/fused_op_%03d/%s_%s_%s/rcr/plain_16x16", key / KEYS, type,
                 type, type);
        uint32_t *const at = &instance[key];
        if (shape == 0)
            while (strcmp(kr_kernel_name(&ctx->kernel[*at]), name) != 0) ++*at;
        k = &ctx->kernel[*at];
        fprintf(
            f,
            "\"fused_op_%03d %s,%s,%s rcr m=%d n=%d k=1024 align=256\",%s,%d.125,0.0003,%016llx\n",
            key / KEYS, type, type, type, 1 + shape * 13, 4096 + 64 * (shape % 7), name, i % 97,
            (unsigned long long)kr_content(k));
    }
    fclose(f);
    kiln_close(ctx);
}

int main(int argc, char **argv)
{
    const bool check = argc > 1 && strcmp(argv[1], "--check") == 0;
    const char *slack_text = getenv("KILN_BENCH_SLACK");
    const double slack = slack_text ? atof(slack_text) : 2;
    make_folder();
    make_module();
    char tuning[400];
    snprintf(tuning, sizeof tuning, "%s/tuning.csv", test_folder);
    const double open = 1e3 * median(open_seconds, NULL);
    write_tuning(tuning);
    const double tuned_open = 1e3 * median(open_seconds, tuning);
    ctx = open_ctx("host");
    make_problems();
    double warm;
    find_all(&warm);
    const size_t before = mallinfo2().uordblks;
    const double one = find_ns(1), two = find_ns(2),
                 launch = median(launch_seconds, NULL) * 1e9 / LAUNCHES;
    const size_t after = mallinfo2().uordblks;
    kiln_close(ctx);
    kiln_config config = test_config("host");
    config.tuning = tuning;
    if (kiln_open(&ctx, &config) || ctx->ntuned != TUNED) abort();
    find_all(&warm);
    const double tuned = find_ns(1);
    kiln_close(ctx);
    printf(
        "# %d rows: find %.0f ns with one thread, %.0f ns with two; launch %.0f ns; open %.2f ms; "
        "pace %.2f\n",
        ROWS, one, two, launch, open, pace());
    printf("# %d tuned rows: find %.0f ns, open %.2f ms\n", TUNED, tuned, tuned_open);
    if (!check) return 0;
    const bool ok[] = {one <= 150 * slack,
                       two <= 1.5 * one || two <= 150 * slack,
                       open <= 5 * slack,
                       launch <= 1000 * slack,
                       after <= before + 65536,
                       tuned <= 1.5 * one || tuned <= 150 * slack,
                       tuned_open - open <= 50 * slack};
    static const char *const name[] = {"find takes no longer than it may",
                                       "a second thread costs nothing",
                                       "open takes no longer than it may",
                                       "launch takes no longer than it may",
                                       "finding leaves no memory behind",
                                       "find takes no longer with tuned rows",
                                       "so many tuned rows load in no longer than they may"};
    bool all = true;
    printf("1..7\n");
    for (int i = 0; i < 7; i++) {
        printf("%sok %d - %s\n", ok[i] ? "" : "not ", i + 1, name[i]);
        all = all && ok[i];
    }
    return !all;
}
