// SPDX-License-Identifier: MIT
// Preloaded into kiln-gen: kills it at its KILL_AT-th change of the file system, before that change
// is made.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void step(void)
{
    static int n;
    const char *at = getenv("KILL_AT");
    if (at && ++n == atoi(at)) raise(SIGKILL);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int rename(const char *from, const char *to)
{
    step();
    return REAL(rename)(from, to);
}

int unlink(const char *path)
{
    step();
    return REAL(unlink)(path);
}

int rmdir(const char *path)
{
    step();
    return REAL(rmdir)(path);
}

int mkdir(const char *path, mode_t mode)
{
    step();
    return REAL(mkdir)(path, mode);
}

ssize_t write(int fd, const void *p, size_t n)
{
    step();
    return REAL(write)(fd, p, n);
}

int open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    if (flags & O_CREAT) {
        va_list args;
        va_start(args, flags);
        mode = va_arg(args, mode_t);
        va_end(args);
        step();
    }
    return REAL(open)(path, flags, mode);
}
