// SPDX-License-Identifier: MIT
// The log that KILN_LOG=path (or `stderr`) opens.  The library prints nothing anywhere else.
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static FILE *file;        /* set once */
static char failure[600]; /* why it could not be opened, or "" */

static void open_log(void)
{
    const char *path = getenv("KILN_LOG");
    if (!path || !*path) return;
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
