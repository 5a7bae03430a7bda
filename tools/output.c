// SPDX-License-Identifier: MIT
// Files that commands make: output.h.
#define _GNU_SOURCE
#include "output.h"
#include "command.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int wrong(const char *name)
{
    kt_message("%s: %s", name, strerror(errno));
    return EXIT_USAGE;
}

int kt_output_check(const char *name)
{
    struct stat st;
    if (!stat(name, &st)) {
        errno = EISDIR;
        return S_ISDIR(st.st_mode) || access(name, W_OK) ? wrong(name) : 0;
    }
    const char *slash = strrchr(name, '/');
    char *folder = slash > name ? strndup(name, (size_t)(slash - name)) : strdup(slash ? "/" : ".");
    if (!folder) return kt_failed(KILN_NO_MEMORY, name);
    errno = ENOENT;
    const int code = !*name || access(folder, W_OK | X_OK) ? wrong(name) : 0;
    free(folder);
    return code;
}

int kt_output_open(const char *name, kt_output *o)
{
    struct stat st;
    const int exists = !stat(name, &st);
    *o = (kt_output){.name = name, .mode = exists ? st.st_mode & 0777 : 0};
    if (exists && !S_ISREG(st.st_mode)) {
        o->f = fopen(name, "we");
        return o->f ? 0 : wrong(name);
    }
    if (exists ? !realpath(name, o->path)
               : snprintf(o->path, sizeof o->path, "%s", name) >= (int)sizeof o->path) {
        if (!exists) errno = ENAMETOOLONG;
        return wrong(name);
    }
    snprintf(o->beside, sizeof o->beside, "%s.%ld.new", o->path, (long)getpid()); /* one a run */
    o->f = fopen(o->beside, "we");
    if (o->f) return 0;
    if (exists) { /* a folder that takes no new file */
        *o->beside = 0;
        o->f = fopen(o->path, "we");
    }
    return o->f ? 0 : wrong(name);
}

int kt_output_close(kt_output *o)
{
    int failed = ferror(o->f);
    failed |= fflush(o->f);
    if (*o->beside) failed |= (o->mode && fchmod(fileno(o->f), o->mode)) || fsync(fileno(o->f));
    failed |= fclose(o->f);
    if (*o->beside && !failed) failed = rename(o->beside, o->path);
    const int code = failed ? wrong(o->name) : 0;
    if (*o->beside && failed) unlink(o->beside);
    return code;
}
