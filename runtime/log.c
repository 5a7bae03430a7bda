// SPDX-License-Identifier: MIT
// What KILN_LOG asks for: a log (a path, or `stderr`), or the problems of a run, one a line, each
// once (problems:FILE).  The library prints nothing anywhere else.
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "internal.h"

enum { SEEN = 1 << 15, PROBES = 64, TEXT = 4096 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static FILE *file;                  /* set once */
static int problems = -1;           /* set once: the file of problems */
static char failure[600];           /* why it could not be opened, or "" */
static _Atomic uint64_t seen[SEEN]; /* hashes of problems that were written; 0: free */

static void open_problems(const char *path)
{
    if (*path == ':') path++;
    if (!*path) path = "kiln.problems";
    problems = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (problems < 0)
        snprintf(failure, sizeof failure,
                 "KILN_LOG=problems:%.400s: %s: no problems are written; name a file that can be "
                 "written",
                 path, strerror(errno));
}

static void open_log(void)
{
    static const char word[] = "problems";
    const char *path = getenv("KILN_LOG");
    if (!path || !*path) return;
    const char *rest = path + strlen(word);
    if (strncmp(path, word, strlen(word)) == 0 && (!*rest || *rest == ':')) {
        open_problems(rest);
        return;
    }
    file = strcmp(path, "stderr") == 0 ? stderr : fopen(path, "ae");
    if (!file)
        snprintf(failure, sizeof failure,
                 "KILN_LOG=%.400s: %s: no log; name a file that can be written, or stderr", path,
                 strerror(errno));
    if (file && file != stderr) setvbuf(file, NULL, _IOLBF, 0);
}

const char *kr_log_failure(void)
{
    pthread_once(&once, open_log);
    return *failure ? failure : NULL;
}

bool kr_log_on(void)
{
    pthread_once(&once, open_log);
    return file != NULL;
}

void kr_log(const char *format, ...)
{
    if (!kr_log_on()) return;
    va_list args;
    va_start(args, format);
    flockfile(file); /* lines of threads do not mix */
    fputs("kiln: ", file);
    vfprintf(file, format, args);
    fputc('\n', file);
    funlockfile(file);
    va_end(args);
}

/* Whether this is the first with the hash.  Where the table is full all count as seen. */
static bool is_new(uint64_t hash)
{
    if (!hash) hash = 1;
    for (uint64_t i = 0; i < PROBES; i++) {
        _Atomic uint64_t *const slot = &seen[(hash + i) % SEEN];
        uint64_t there = atomic_load_explicit(slot, memory_order_relaxed);
        if (!there && atomic_compare_exchange_strong(slot, &there, hash)) return true;
        if (there == hash) return false;
    }
    return false;
}

/* A problem without an alignment promises that of its elements alone, which `kiln tune` is told. */
void kr_log_problem(const kiln_problem *p)
{
    char line[TEXT];
    kr_text text = {line, sizeof line, 0};
    bool aligned = false;
    pthread_once(&once, open_log);
    if (problems < 0 || kr_put_problem(p, &text)) return;
    for (int i = 0; i < KILN_MAX_TENSORS; i++) aligned |= p->tensor[i].align != 0;
    kr_put(&text, aligned ? "\n" : " align=1\n");
    if (text.len >= sizeof line || !is_new(kiln_name_hash(line))) return;
    if (write(problems, line, text.len) < 0) return; /* whole lines, whoever else appends */
}
