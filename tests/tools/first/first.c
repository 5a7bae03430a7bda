// SPDX-License-Identifier: MIT
// What kiln_find takes where KILN_TUNE is set, or not:
//   first find PROBLEM...         each on one context, after the other
//   first threads N PROBLEM       by N threads at once, until all have the same
//   first graph PROBLEM           while a graph is recorded, then again
// Prints a line for each: the instance's name, or the error.  What was refused goes to stderr.
#include <kiln.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static kiln_ctx *ctx;

static const char *find(const char *text)
{
    static _Thread_local kiln_kernel_info info;
    const kiln_kernel *k;
    kiln_problem p;
    info.struct_size = sizeof info;
    if (kiln_problem_parse(text, &p) || kiln_find(ctx, &p, &k) || kiln_kernel_describe(k, &info))
        return kiln_error();
    return info.name;
}

static pthread_barrier_t ready;
static void *find_once(void *problem)
{
    pthread_barrier_wait(&ready);
    return (void *)(size_t)find(problem);
}

/* The last one to tune may still do so when others have the model's choice. */
static void by_threads(int n, char *problem)
{
    pthread_t *thread = calloc((size_t)n, sizeof *thread);
    pthread_barrier_init(&ready, NULL, (unsigned)n);
    for (int i = 0; i < n; i++) pthread_create(&thread[i], NULL, find_once, problem);
    for (int i = 0; i < n; i++) pthread_join(thread[i], NULL);
    free(thread);
    puts(find(problem));
}

static int by_graph(const char *problem)
{
    void *stream, *graph;
    if (kiln_stream_create(ctx, &stream) || kiln_graph_begin(ctx, stream)) return 1;
    puts(find(problem));
    fputs("recorded\n", stderr);
    if (kiln_graph_end(ctx, stream, &graph)) return 1;
    puts(find(problem));
    kiln_graph_destroy(ctx, graph);
    kiln_stream_destroy(ctx, stream);
    return 0;
}

int main(int argc, char **argv)
{
    int code = 0;
    setvbuf(stderr, NULL, _IOLBF, 0);
    if (argc < 3 || kiln_open(&ctx, NULL)) return fprintf(stderr, "%s\n", kiln_error()), 2;
    for (size_t i = 0; kiln_refused_at(ctx, i); i++)
        fprintf(stderr, "refused: %s\n", kiln_refused_at(ctx, i));
    if (!strcmp(argv[1], "threads") && argc == 4)
        by_threads(atoi(argv[2]), argv[3]);
    else if (!strcmp(argv[1], "graph"))
        code = by_graph(argv[2]);
    else
        for (int i = 2; i < argc; i++) puts(find(argv[i]));
    kiln_close(ctx);
    return code;
}
